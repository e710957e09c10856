/* Products of a big matrix of float32 or float64 with a thin one, b, of a few columns.
 *
 * Such a product is bound by reading a once, which a BLAS packs before it multiplies. Here tiles of ROWS rows by two
 * vectors are summed in registers while a is read where it lies; only b is packed, into panels padded with zeros.
 * The sum is cut into blocks of the depth, whatever the number of threads. */
#include "parallel.h"
#include "vectors.h"

#include <stdlib.h>

enum {
    ROWS = 6,
    BUNDLE = 8 * ROWS,  /* rows that are multiplied with all panels in turn */
    DEPTH = 512,        /* of a block: its panel stays in the cache, and rounding errors small */
    DEPTH_TURNED = 128, /* the same where the columns of a are contiguous: a page of memory for each */
    AHEAD = 128,        /* bytes of such a column that are fetched ahead */
    PRODUCTS = 1 << 16  /* worth a thread */
};

#define THIN(t)                                                                                                      \
    enum { LANES_##t = sizeof(vec_##t) / sizeof(t), WIDTH_##t = 2 * LANES_##t };                                     \
    typedef struct {                                                                                                 \
        ptrdiff_t m, n, k;                                                                                           \
        const char *a;                                                                                               \
        char *c;                                                                                                     \
        const ptrdiff_t *sa, *sc;                                                                                    \
        const t *panels;                                                                                             \
    } thin_##t;                                                                                                      \
    static t *pack_##t(ptrdiff_t n, ptrdiff_t k, const char *b, const ptrdiff_t *sb) {                               \
        const ptrdiff_t panels = (n + WIDTH_##t - 1) / WIDTH_##t;                                                    \
        t *const packed = (t *)malloc((size_t)(panels * k) * WIDTH_##t * sizeof(t)), *o = packed;                    \
        for (ptrdiff_t j0 = 0; packed != NULL && j0 < n; j0 += WIDTH_##t) {                                          \
            const ptrdiff_t width = n - j0 < WIDTH_##t ? n - j0 : WIDTH_##t;                                         \
            for (ptrdiff_t l = 0; l < k; l++, o += WIDTH_##t) {                                                      \
                const char *line = b + l * sb[0] + j0 * sb[1];                                                       \
                for (ptrdiff_t j = 0; j < width; j++) o[j] = *(const t *)(const void *)(line + j * sb[1]);           \
                for (ptrdiff_t j = width; j < WIDTH_##t; j++) o[j] = 0;                                              \
            }                                                                                                        \
        }                                                                                                            \
        return packed;                                                                                               \
    }                                                                                                                \
    static inline __attribute__((always_inline)) void thin_tile_##t(                                                 \
        const int R, const int NV, const int ahead, int fresh, ptrdiff_t depth, const char *a, const ptrdiff_t *sa,  \
        const t *b, char *c, const ptrdiff_t *sc, ptrdiff_t width) {                                                 \
        vec_##t acc[ROWS][2] = {{{0}}};                                                                              \
        for (ptrdiff_t l = 0; l < depth; l++, a += sa[1], b += WIDTH_##t) {                                          \
            const loose_##t *v = (const loose_##t *)(const void *)b;                                                 \
            if (ahead) __builtin_prefetch(a + AHEAD);                                                                \
            for (int i = 0; i < R; i++) {                                                                            \
                const vec_##t x = SPREAD(t, *(const t *)(const void *)(a + i * sa[0]));                              \
                for (int j = 0; j < NV; j++) acc[i][j] = VECTOR_PRODUCT_##t(x, v[j], acc[i][j]);                     \
            }                                                                                                        \
        }                                                                                                            \
        for (int i = 0; i < R; i++, c += sc[0]) {                                                                    \
            t line[WIDTH_##t];                                                                                       \
            if (width == NV * LANES_##t && sc[1] == (ptrdiff_t)sizeof(t)) {                                          \
                for (int j = 0; j < NV; j++) {                                                                       \
                    loose_##t *o = (loose_##t *)(void *)c + j;                                                       \
                    *o = fresh ? acc[i][j] : acc[i][j] + *o;                                                         \
                }                                                                                                    \
                continue;                                                                                            \
            }                                                                                                        \
            for (int j = 0; j < NV; j++) *((loose_##t *)(void *)line + j) = acc[i][j];                               \
            for (ptrdiff_t j = 0; j < width; j++) {                                                                  \
                t *o = (t *)(void *)(c + j * sc[1]);                                                                 \
                *o = fresh ? line[j] : line[j] + *o;                                                                 \
            }                                                                                                        \
        }                                                                                                            \
    }                                                                                                                \
    static inline __attribute__((always_inline)) void thin_rows_##t(                                                 \
        const int NV, const int ahead, int fresh, ptrdiff_t m, ptrdiff_t depth, const char *a, const ptrdiff_t *sa,  \
        const t *b, char *c, const ptrdiff_t *sc, ptrdiff_t width) {                                                 \
        for (; m >= ROWS; m -= ROWS, a += ROWS * sa[0], c += ROWS * sc[0])                                           \
            thin_tile_##t(ROWS, NV, ahead, fresh, depth, a, sa, b, c, sc, width);                                    \
        for (; m >= 2; m -= 2, a += 2 * sa[0], c += 2 * sc[0])                                                       \
            thin_tile_##t(2, NV, ahead, fresh, depth, a, sa, b, c, sc, width);                                       \
        if (m == 1) thin_tile_##t(1, NV, ahead, fresh, depth, a, sa, b, c, sc, width);                               \
    }                                                                                                                \
    static ST_OUTLINED void thin_panel_##t(int narrow, int ahead, int fresh, ptrdiff_t m, ptrdiff_t depth,           \
                                           const char *a, const ptrdiff_t *sa, const t *b, char *c,                  \
                                           const ptrdiff_t *sc, ptrdiff_t width) {                                   \
        if (narrow && ahead) thin_rows_##t(1, 1, fresh, m, depth, a, sa, b, c, sc, width);                           \
        else if (narrow) thin_rows_##t(1, 0, fresh, m, depth, a, sa, b, c, sc, width);                               \
        else if (ahead) thin_rows_##t(2, 1, fresh, m, depth, a, sa, b, c, sc, width);                                \
        else thin_rows_##t(2, 0, fresh, m, depth, a, sa, b, c, sc, width);                                           \
    }                                                                                                                \
    /* bundles begin ... end of ROWS rows */                                                                         \
    static void thin_some_##t(void *context, ptrdiff_t begin, ptrdiff_t end) {                                       \
        const thin_##t *s = (const thin_##t *)context;                                                               \
        const int turned = s->sa[0] == (ptrdiff_t)sizeof(t) && s->sa[1] != (ptrdiff_t)sizeof(t);                     \
        const ptrdiff_t depth = turned ? DEPTH_TURNED : DEPTH, first = begin * ROWS;                                 \
        const ptrdiff_t last = end * ROWS < s->m ? end * ROWS : s->m;                                                \
        for (ptrdiff_t l = 0; l < s->k; l += depth)                                                                  \
            for (ptrdiff_t i = first; i < last; i += BUNDLE)                                                         \
                for (ptrdiff_t j = 0; j < s->n; j += WIDTH_##t) {                                                    \
                    const ptrdiff_t width = s->n - j < WIDTH_##t ? s->n - j : WIDTH_##t;                             \
                    thin_panel_##t(width <= LANES_##t, turned && j == 0, l == 0,                                     \
                                   last - i < BUNDLE ? last - i : BUNDLE, s->k - l < depth ? s->k - l : depth,       \
                                   s->a + i * s->sa[0] + l * s->sa[1], s->sa, s->panels + j * s->k + l * WIDTH_##t,  \
                                   s->c + i * s->sc[0] + j * s->sc[1], s->sc, width);                                \
                }                                                                                                    \
    }                                                                                                                \
    static int thin_product_##t(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, const char *a, const ptrdiff_t *sa,           \
                                const char *b, const ptrdiff_t *sb, char *c, const ptrdiff_t *sc) {                  \
        t *const panels = pack_##t(n, k, b, sb);                                                                     \
        thin_##t share = {m, n, k, a, c, sa, sc, panels};                                                            \
        if (panels == NULL) return ST_NO_MEMORY;                                                                     \
        st_parallel((m + ROWS - 1) / ROWS, PRODUCTS / (ROWS * n * k) + 1, thin_some_##t, &share);                    \
        free(panels);                                                                                                \
        return ST_OK;                                                                                                \
    }
THIN(f32)
THIN(f64)

const st_gemm_fn ISA_NAME(st_thins)[ST_NDTYPES] = {[ST_FLOAT32] = thin_product_f32, [ST_FLOAT64] = thin_product_f64};
