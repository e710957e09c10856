/* See steps.h. b is packed into panels of two vectors' columns. A tile of the result, ROWS rows by one panel, or fewer
 * rows by two, is summed in registers while the rows of a are read where they lie. */
#include "steps.h"

#include "parallel.h"
#include "vectors.h"

enum {
    ROWS = 6,
    DEPTH = 256,       /* of a block: its panel stays in the nearest cache */
    PRODUCTS = 1 << 17 /* worth a thread */
};

#define Min(a, b) ((a) < (b) ? (a) : (b))

#define STEPS(t)                                                                                                     \
    enum { LANES_##t = sizeof(vec_##t) / sizeof(t), WIDTH_##t = 2 * LANES_##t };                                     \
    typedef struct {                                                                                                 \
        ptrdiff_t n, k, m;                                                                                           \
        const t *a, *packed;                                                                                         \
        t *c;                                                                                                        \
    } steps_##t;                                                                                                     \
    static size_t size_##t(ptrdiff_t k, ptrdiff_t m) {                                                               \
        return (size_t)((m + WIDTH_##t - 1) / WIDTH_##t * WIDTH_##t * k) * sizeof(t);                                \
    }                                                                                                                \
    static void pack_##t(ptrdiff_t k, ptrdiff_t m, const void *b, ptrdiff_t row, ptrdiff_t column, void *packed) {   \
        t *o = (t *)packed;                                                                                          \
        for (ptrdiff_t j = 0; j < m; j += WIDTH_##t)                                                                 \
            for (ptrdiff_t l = 0; l < k; l++, o += WIDTH_##t) {                                                      \
                const t *line = (const t *)b + l * row + j * column;                                                 \
                const ptrdiff_t width = Min(WIDTH_##t, m - j);                                                       \
                for (ptrdiff_t i = 0; i < width; i++) o[i] = line[i * column];                                       \
                for (ptrdiff_t i = width; i < WIDTH_##t; i++) o[i] = 0;                                              \
            }                                                                                                        \
    }                                                                                                                \
    /* c (R, P panels) = (or +=, unless fresh) a (R, depth) times as many rows of the panels; the last has `width`   \
     * columns */                                                                                                    \
    static inline __attribute__((always_inline)) void tile_##t(const int R, const int P, int fresh,                  \
                                                               const steps_##t *s, ptrdiff_t depth, const t *a,      \
                                                               const t *b, t *c, ptrdiff_t width) {                  \
        vec_##t acc[ROWS][4] = {{{0}}};                                                                              \
        for (ptrdiff_t l = 0; l < depth; l++, a++, b += WIDTH_##t)                                                   \
            for (int i = 0; i < R; i++) {                                                                            \
                const vec_##t x = SPREAD(t, a[i * s->k]);                                                            \
                for (int p = 0; p < P; p++) {                                                                        \
                    const loose_##t *v = (const loose_##t *)(const void *)(b + p * WIDTH_##t * s->k);                \
                    for (int j = 0; j < 2; j++) acc[i][2 * p + j] = VECTOR_PRODUCT_##t(x, v[j], acc[i][2 * p + j]);  \
                }                                                                                                    \
            }                                                                                                        \
        for (int i = 0; i < R; i++, c += s->m)                                                                       \
            for (int p = 0; p < P; p++) {                                                                            \
                t line[WIDTH_##t];                                                                                   \
                const ptrdiff_t n = p + 1 < P ? WIDTH_##t : width;                                                   \
                for (int j = 0; j < 2; j++) *((loose_##t *)(void *)line + j) = acc[i][2 * p + j];                    \
                if (n == WIDTH_##t && fresh) memcpy(c + p * WIDTH_##t, line, sizeof line);                           \
                else                                                                                                 \
                    for (ptrdiff_t j = 0; j < n; j++)                                                                \
                        c[p * WIDTH_##t + j] = fresh ? line[j] : line[j] + c[p * WIDTH_##t + j];                     \
            }                                                                                                        \
    }                                                                                                                \
    /* panels begin ... end, two at a time for few rows */                                                           \
    static ST_OUTLINED void few_##t(const steps_##t *s, ptrdiff_t begin, ptrdiff_t end) {                            \
        for (ptrdiff_t p = begin; p < end; p += 2) {                                                                 \
            const t *b = s->packed + p * WIDTH_##t * s->k;                                                           \
            t *c = s->c + p * WIDTH_##t;                                                                             \
            const int pair = p + 1 < end;                                                                            \
            const ptrdiff_t width = Min(WIDTH_##t, s->m - (p + pair) * WIDTH_##t);                                   \
            if (s->n == 1 && pair) tile_##t(1, 2, 1, s, s->k, s->a, b, c, width);                                    \
            else if (s->n == 1) tile_##t(1, 1, 1, s, s->k, s->a, b, c, width);                                       \
            else if (s->n == 2 && pair) tile_##t(2, 2, 1, s, s->k, s->a, b, c, width);                               \
            else if (s->n == 2) tile_##t(2, 1, 1, s, s->k, s->a, b, c, width);                                       \
            else if (pair) tile_##t(3, 2, 1, s, s->k, s->a, b, c, width);                                            \
            else tile_##t(3, 1, 1, s, s->k, s->a, b, c, width);                                                      \
        }                                                                                                            \
    }                                                                                                                \
    static void panels_##t(void *context, ptrdiff_t begin, ptrdiff_t end) {                                          \
        const steps_##t *s = (const steps_##t *)context;                                                             \
        if (s->n <= 3) {                                                                                             \
            few_##t(s, begin, end);                                                                                  \
            return;                                                                                                  \
        }                                                                                                            \
        for (ptrdiff_t p = begin; p < end; p++)                                                                      \
            for (ptrdiff_t l = 0; l < s->k; l += DEPTH) {                                                            \
                const t *a = s->a + l, *b = s->packed + (p * s->k + l) * WIDTH_##t;                                  \
                t *c = s->c + p * WIDTH_##t;                                                                         \
                const ptrdiff_t depth = Min(DEPTH, s->k - l), width = Min(WIDTH_##t, s->m - p * WIDTH_##t);          \
                ptrdiff_t rows = s->n;                                                                               \
                for (; rows >= ROWS; rows -= ROWS, a += ROWS * s->k, c += ROWS * s->m)                               \
                    tile_##t(ROWS, 1, l == 0, s, depth, a, b, c, width);                                             \
                if (rows == 5) tile_##t(5, 1, l == 0, s, depth, a, b, c, width);                                     \
                else if (rows == 4) tile_##t(4, 1, l == 0, s, depth, a, b, c, width);                                \
                else if (rows == 3) tile_##t(3, 1, l == 0, s, depth, a, b, c, width);                                \
                else if (rows == 2) tile_##t(2, 1, l == 0, s, depth, a, b, c, width);                                \
                else if (rows == 1) tile_##t(1, 1, l == 0, s, depth, a, b, c, width);                                \
            }                                                                                                        \
    }                                                                                                                \
    static void run_##t(ptrdiff_t n, ptrdiff_t k, ptrdiff_t m, const void *a, const void *packed, void *c) {         \
        steps_##t s = {n, k, m, (const t *)a, (const t *)packed, (t *)c};                                            \
        if (k == 0) memset(c, 0, (size_t)(n * m) * sizeof(t));                                                       \
        else st_parallel((m + WIDTH_##t - 1) / WIDTH_##t, PRODUCTS / (n * k * WIDTH_##t + 1) + 1, panels_##t, &s);   \
    }
STEPS(f32)
STEPS(f64)

const st_steps_kernels ISA_NAME(st_steps)[2] = {{size_f32, pack_f32, run_f32}, {size_f64, pack_f64, run_f64}};
