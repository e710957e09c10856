/* Tensor contraction where no BLAS serves: nests of loops over sums of products, and batches of small matrices.
 *
 * A nest adds to the output the product of its factors at every place of all its dimensions; a stride of 0 says that an
 * operand lacks a dimension. The innermost dimension is either summed (the output's stride is 0), kept in registers,
 * or runs along the output; then several places of a summed dimension are added at once. */
#include "vectors.h"

enum { CHUNK = 256 };

/* ---- one line: o[i] += a[i] * b[i], or o[0] += a[i] * b[i] ---- */

#define PLAIN_DOT(t)                                                                                                 \
    static inline t run_dot_##t(ptrdiff_t n, const t *a, const t *b) {                                               \
        vec_##t acc[4] = {{0}, {0}, {0}, {0}};                                                                       \
        const ptrdiff_t w = sizeof(vec_##t) / sizeof(t);                                                             \
        ptrdiff_t i = 0;                                                                                             \
        for (; i + 4 * w <= n; i += 4 * w)                                                                           \
            for (int j = 0; j < 4; j++)                                                                              \
                acc[j] = VECTOR_PRODUCT_##t(*(const loose_##t *)(const void *)(a + i + j * w),                       \
                                            *(const loose_##t *)(const void *)(b + i + j * w), acc[j]);              \
        for (; i + w <= n; i += w)                                                                                   \
            acc[0] = VECTOR_PRODUCT_##t(*(const loose_##t *)(const void *)(a + i),                                   \
                                        *(const loose_##t *)(const void *)(b + i), acc[0]);                          \
        acc[0] = (acc[0] + acc[1]) + (acc[2] + acc[3]);                                                              \
        t sum = 0;                                                                                                   \
        for (ptrdiff_t j = 0; j < w; j++) sum += acc[0][j];                                                          \
        for (; i < n; i++) sum += (t)(a[i] * b[i]);                                                                  \
        return sum;                                                                                                  \
    }
#define COMPLEX_DOT(t)                                                                                               \
    static inline t run_dot_##t(ptrdiff_t n, const t *a, const t *b) {                                               \
        t sum[2] = {0, 0};                                                                                           \
        for (ptrdiff_t i = 0; i < n; i++) sum[i & 1] += cmul_##t(a[i], b[i]);                                        \
        return sum[0] + sum[1];                                                                                      \
    }
PLAIN_DOT(f32)
PLAIN_DOT(f64)
PLAIN_DOT(u8)
PLAIN_DOT(u16)
PLAIN_DOT(u32)
PLAIN_DOT(u64)
COMPLEX_DOT(c64)
COMPLEX_DOT(c128)

#define TIMES(a, b) ((a) * (b))
#define MUL_f32 TIMES
#define MUL_f64 TIMES
#define MUL_u8(a, b) (u8)((a) * (b))
#define MUL_u16(a, b) (u16)((u32)(a) * (b))
#define MUL_u32 TIMES
#define MUL_u64 TIMES
#define MUL_c64 cmul_c64
#define MUL_c128 cmul_c128
#define AT(t, p) (*(const t *)(const void *)(p))

#define LINES(t)                                                                                                     \
    static ST_OUTLINED void line_##t(ptrdiff_t n, char *out, ptrdiff_t so, const char *a, ptrdiff_t sa,              \
                                     const char *b, ptrdiff_t sb) {                                                  \
        const ptrdiff_t size = sizeof(t);                                                                            \
        t *const o = (t *)(void *)out;                                                                               \
        const t *const x = (const t *)(const void *)a, *const y = (const t *)(const void *)b;                        \
        if (so == 0) {                                                                                               \
            if (sa == size && sb == size) {                                                                          \
                *o += run_dot_##t(n, x, y);                                                                          \
                return;                                                                                              \
            }                                                                                                        \
            t sum[4] = {0, 0, 0, 0};                                                                                 \
            for (ptrdiff_t i = 0; i < n; i++) sum[i & 3] += MUL_##t(AT(t, a + i * sa), AT(t, b + i * sb));           \
            *o += (t)((t)(sum[0] + sum[1]) + (t)(sum[2] + sum[3]));                                                  \
        } else if (so == size && sa == size && sb == size) {                                                         \
            IVDEP for (ptrdiff_t i = 0; i < n; i++) o[i] += MUL_##t(x[i], y[i]);                                     \
        } else if (so == size && sa == 0 && sb == size) {                                                            \
            const t f = *x;                                                                                          \
            IVDEP for (ptrdiff_t i = 0; i < n; i++) o[i] += MUL_##t(f, y[i]);                                        \
        } else if (so == size && sa == size && sb == 0) {                                                            \
            const t f = *y;                                                                                          \
            IVDEP for (ptrdiff_t i = 0; i < n; i++) o[i] += MUL_##t(x[i], f);                                        \
        } else {                                                                                                     \
            for (ptrdiff_t i = 0; i < n; i++)                                                                        \
                *(t *)(void *)(out + i * so) += MUL_##t(AT(t, a + i * sa), AT(t, b + i * sb));                       \
        }                                                                                                            \
    }                                                                                                                \
    /* three factors and more: all but the last are multiplied in a buffer */                                        \
    static ST_OUTLINED void wide_##t(ptrdiff_t n, int factors, char *const *p, const ptrdiff_t *s) {                 \
        t product[CHUNK];                                                                                            \
        for (ptrdiff_t at = 0; at < n; at += CHUNK) {                                                                \
            const ptrdiff_t m = n - at < CHUNK ? n - at : CHUNK;                                                     \
            const char *a = p[1] + at * s[1], *b = p[2] + at * s[2];                                                 \
            IVDEP for (ptrdiff_t i = 0; i < m; i++) product[i] = MUL_##t(AT(t, a + i * s[1]), AT(t, b + i * s[2]));  \
            for (int f = 3; f < factors; f++) {                                                                      \
                a = p[f] + at * s[f];                                                                                \
                IVDEP for (ptrdiff_t i = 0; i < m; i++) product[i] = MUL_##t(product[i], AT(t, a + i * s[f]));       \
            }                                                                                                        \
            line_##t(m, p[0] + at * s[0], s[0], (const char *)product, sizeof(t), p[factors] + at * s[factors],      \
                     s[factors]);                                                                                    \
        }                                                                                                            \
    }                                                                                                                \
    static inline __attribute__((always_inline)) void added_##t(                                                     \
        const int K, const int spread, ptrdiff_t n, t *o, const char *a, ptrdiff_t sa, const char *b, ptrdiff_t sb) {\
        const t *const x0 = (const t *)(const void *)a, *const y0 = (const t *)(const void *)b;                      \
        if (K == 1) {                                                                                                \
            IVDEP for (ptrdiff_t i = 0; i < n; i++) o[i] += MUL_##t(x0[spread ? 0 : i], y0[i]);                      \
            return;                                                                                                  \
        }                                                                                                            \
        const t *const x1 = (const t *)(const void *)(a + sa), *const y1 = (const t *)(const void *)(b + sb);        \
        const t *const x2 = (const t *)(const void *)(a + 2 * sa), *const y2 = (const t *)(const void *)(b + 2 * sb);\
        const t *const x3 = (const t *)(const void *)(a + 3 * sa), *const y3 = (const t *)(const void *)(b + 3 * sb);\
        IVDEP for (ptrdiff_t i = 0; i < n; i++) {                                                                    \
            const ptrdiff_t j = spread ? 0 : i;                                                                      \
            const t near = MUL_##t(x0[j], y0[i]) + MUL_##t(x1[j], y1[i]);                                            \
            const t far = MUL_##t(x2[j], y2[i]) + MUL_##t(x3[j], y3[i]);                                             \
            o[i] += (t)(near + far);                                                                                 \
        }                                                                                                            \
    }                                                                                                                \
    /* lines of out, as many as m says, to which k lines of products each are added; of a, every line is one number  \
     * if it is spread */                                                                                            \
    static ST_OUTLINED void sums_##t(int spread, const st_nest_dim *k, const st_nest_dim *m, ptrdiff_t n, char *out, \
                                     const char *a, const char *b, int which) {                                      \
        const ptrdiff_t ka = k->strides[which], kb = k->strides[3 - which];                                          \
        const ptrdiff_t lines = m != NULL ? m->size : 1, mo = m != NULL ? m->strides[0] : 0;                         \
        const ptrdiff_t ma = m != NULL ? m->strides[which] : 0, mb = m != NULL ? m->strides[3 - which] : 0;          \
        for (ptrdiff_t l = 0; l < k->size;) {                                                                        \
            const int several = k->size - l >= 4;                                                                    \
            for (ptrdiff_t i = 0; i < lines; i++) {                                                                  \
                t *const o = (t *)(void *)(out + i * mo);                                                            \
                const char *const x = a + l * ka + i * ma, *const y = b + l * kb + i * mb;                           \
                if (several && spread) added_##t(4, 1, n, o, x, ka, y, kb);                                          \
                else if (several) added_##t(4, 0, n, o, x, ka, y, kb);                                               \
                else if (spread) added_##t(1, 1, n, o, x, ka, y, kb);                                                \
                else added_##t(1, 0, n, o, x, ka, y, kb);                                                            \
            }                                                                                                        \
            l += several ? 4 : 1;                                                                                    \
        }                                                                                                            \
    }                                                                                                                \
    /* Whether the nest was one of lines along the output, to which a summed dimension adds. */                      \
    static int summed_nest_##t(int ndim, const st_nest_dim *dims, char *const *operands) {                           \
        const st_nest_dim *const inner = dims + ndim - 1, *k = NULL, *m = NULL;                                      \
        const ptrdiff_t size = sizeof(t), *const s = inner->strides;                                                 \
        ptrdiff_t count[ST_NEST_DIMS] = {0};                                                                         \
        char *p[3] = {operands[0], operands[1], operands[2]};                                                        \
        if (s[0] != size || s[1] + s[2] == 0 || (s[1] != 0 && s[1] != size) || (s[2] != 0 && s[2] != size)) return 0;\
        for (const st_nest_dim *d = dims; d < inner; d++) {                                                          \
            if (d->strides[0] != 0) m = d;                                                                           \
            else if (k == NULL || d->size > k->size) k = d;                                                          \
        }                                                                                                            \
        if (k == NULL) return 0;                                                                                     \
        const int which = s[2] == 0 ? 2 : 1; /* the factor that may be one number along the line */                  \
        for (;;) {                                                                                                   \
            sums_##t(s[which] == 0, k, m, inner->size, p[0], p[which], p[3 - which], which);                         \
            int d = ndim - 2;                                                                                        \
            for (; d >= 0; d--) {                                                                                    \
                if (dims + d == k || dims + d == m) continue;                                                        \
                for (int f = 0; f <= 2; f++) p[f] += dims[d].strides[f];                                             \
                if (++count[d] < dims[d].size) break;                                                                \
                for (int f = 0; f <= 2; f++) p[f] -= dims[d].strides[f] * dims[d].size;                              \
                count[d] = 0;                                                                                        \
            }                                                                                                        \
            if (d < 0) return 1;                                                                                     \
        }                                                                                                            \
    }                                                                                                                \
    static int nest_##t(int factors, int ndim, const st_nest_dim *dims, char *const *operands) {                     \
        ptrdiff_t count[ST_NEST_DIMS] = {0};                                                                         \
        char *p[ST_NEST_FACTORS + 1];                                                                                \
        if (factors == 2 && summed_nest_##t(ndim, dims, operands)) return ST_OK;                                     \
        const st_nest_dim *inner = dims + ndim - 1;                                                                  \
        for (int f = 0; f <= factors; f++) p[f] = operands[f];                                                       \
        for (;;) {                                                                                                   \
            if (factors == 2)                                                                                        \
                line_##t(inner->size, p[0], inner->strides[0], p[1], inner->strides[1], p[2], inner->strides[2]);    \
            else wide_##t(inner->size, factors, p, inner->strides);                                                  \
            int d = ndim - 2;                                                                                        \
            for (; d >= 0; d--) {                                                                                    \
                for (int f = 0; f <= factors; f++) p[f] += dims[d].strides[f];                                       \
                if (++count[d] < dims[d].size) break;                                                                \
                for (int f = 0; f <= factors; f++) p[f] -= dims[d].strides[f] * dims[d].size;                        \
                count[d] = 0;                                                                                        \
            }                                                                                                        \
            if (d < 0) return ST_OK;                                                                                 \
        }                                                                                                            \
    }
LINES(f32)
LINES(f64)
LINES(c64)
LINES(c128)
LINES(u8)
LINES(u16)
LINES(u32)
LINES(u64)

const st_nest_fn ISA_NAME(st_nests)[ST_NDTYPES] = {
    [ST_UINT8] = nest_u8,    [ST_INT8] = nest_u8,       [ST_INT16] = nest_u16,    [ST_INT32] = nest_u32,
    [ST_INT64] = nest_u64,   [ST_FLOAT32] = nest_f32,   [ST_FLOAT64] = nest_f64,  [ST_COMPLEX64] = nest_c64,
    [ST_COMPLEX128] = nest_c128, [ST_UINT16] = nest_u16,  [ST_UINT32] = nest_u32,   [ST_UINT64] = nest_u64};

/* ---- small matrices of float32 or float64: c = a @ b (or c += a @ b), c's rows contiguous ----
 * A tile of R rows by NV vectors is summed in registers. Panels of b that are too narrow or lie otherwise are packed,
 * padded with zeros. */

#define SMALL(t)                                                                                                     \
    enum { LANES_##t = sizeof(vec_##t) / sizeof(t) };                                                                \
    static inline __attribute__((always_inline)) void small_tile_##t(                                                \
        const int R, const int NV, int add, ptrdiff_t k, const char *a, const ptrdiff_t *sa, const char *b,          \
        ptrdiff_t sb, char *c, ptrdiff_t sc, ptrdiff_t width) {                                                      \
        vec_##t acc[4][2] = {{{0}}};                                                                                 \
        for (ptrdiff_t l = 0; l < k; l++, a += sa[1], b += sb) {                                                     \
            const loose_##t *v = (const loose_##t *)(const void *)b;                                                 \
            for (int i = 0; i < R; i++) {                                                                            \
                const vec_##t x = SPREAD(t, AT(t, a + i * sa[0]));                                                   \
                for (int j = 0; j < NV; j++) acc[i][j] = VECTOR_PRODUCT_##t(x, v[j], acc[i][j]);                     \
            }                                                                                                        \
        }                                                                                                            \
        for (int i = 0; i < R; i++, c += sc) {                                                                       \
            if (width == NV * LANES_##t) {                                                                           \
                for (int j = 0; j < NV; j++) {                                                                       \
                    loose_##t *o = (loose_##t *)(void *)c + j;                                                       \
                    if (add) acc[i][j] += *o;                                                                        \
                    *o = acc[i][j];                                                                                  \
                }                                                                                                    \
            } else {                                                                                                 \
                t line[2 * LANES_##t], *o = (t *)(void *)c;                                                          \
                for (int j = 0; j < NV; j++) *((loose_##t *)(void *)line + j) = acc[i][j];                           \
                for (ptrdiff_t j = 0; j < width; j++) o[j] = add ? o[j] + line[j] : line[j];                         \
            }                                                                                                        \
        }                                                                                                            \
    }                                                                                                                \
    static inline __attribute__((always_inline)) void small_panel_##t(                                               \
        const int NV, int add, ptrdiff_t m, ptrdiff_t k, const char *a, const ptrdiff_t *sa, const char *b,          \
        ptrdiff_t sb, char *c, ptrdiff_t sc, ptrdiff_t width) {                                                      \
        for (; m >= 4; m -= 4, a += 4 * sa[0], c += 4 * sc)                                                          \
            small_tile_##t(4, NV, add, k, a, sa, b, sb, c, sc, width);                                               \
        if (m == 3) small_tile_##t(3, NV, add, k, a, sa, b, sb, c, sc, width);                                       \
        if (m == 2) small_tile_##t(2, NV, add, k, a, sa, b, sb, c, sc, width);                                       \
        if (m == 1) small_tile_##t(1, NV, add, k, a, sa, b, sb, c, sc, width);                                       \
    }                                                                                                                \
    static ST_OUTLINED void small_##t(int add, ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, const char *a,                 \
                                      const ptrdiff_t *sa, const char *b, const ptrdiff_t *sb, char *c,              \
                                      ptrdiff_t sc) {                                                                \
        const ptrdiff_t size = sizeof(t);                                                                            \
        for (ptrdiff_t j = 0; j < n;) {                                                                              \
            const ptrdiff_t left = n - j, wide = left > LANES_##t ? 2 * LANES_##t : LANES_##t;                       \
            const ptrdiff_t width = left < wide ? left : wide;                                                       \
            const char *panel = b + j * sb[1];                                                                       \
            ptrdiff_t s = sb[0];                                                                                     \
            t packed[ST_SMALL_DEPTH * 2 * LANES_##t];                                                                \
            if (width < wide || sb[1] != size) {                                                                     \
                t *o = packed;                                                                                       \
                for (ptrdiff_t l = 0; l < k; l++, o += wide) {                                                       \
                    const char *line = panel + l * s;                                                                \
                    ptrdiff_t i = 0;                                                                                 \
                    for (; i < width; i++) o[i] = AT(t, line + i * sb[1]);                                           \
                    for (; i < wide; i++) o[i] = 0;                                                                  \
                }                                                                                                    \
                panel = (const char *)packed;                                                                        \
                s = wide * size;                                                                                     \
            }                                                                                                        \
            if (wide == LANES_##t) small_panel_##t(1, add, m, k, a, sa, panel, s, c + j * size, sc, width);          \
            else small_panel_##t(2, add, m, k, a, sa, panel, s, c + j * size, sc, width);                            \
            j += width;                                                                                              \
        }                                                                                                            \
    }                                                                                                                \
    static void smalls_##t(int add, ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, const char *a, const ptrdiff_t *sa,       \
                           const char *b, const ptrdiff_t *sb, char *c, ptrdiff_t sc, int ndim,                      \
                           const st_nest_dim *loops) {                                                               \
        ptrdiff_t count[ST_NEST_DIMS] = {0};                                                                         \
        for (;;) {                                                                                                   \
            int d = ndim - 1;                                                                                        \
            small_##t(add, m, n, k, a, sa, b, sb, c, sc);                                                            \
            for (; d >= 0; d--) {                                                                                    \
                const ptrdiff_t *s = loops[d].strides, back = ++count[d] < loops[d].size ? 0 : loops[d].size;        \
                c += s[0] - back * s[0];                                                                             \
                a += s[1] - back * s[1];                                                                             \
                b += s[2] - back * s[2];                                                                             \
                if (back == 0) break;                                                                                \
                count[d] = 0;                                                                                        \
            }                                                                                                        \
            if (d < 0) return;                                                                                       \
        }                                                                                                            \
    }
SMALL(f32)
SMALL(f64)

const st_small_fn ISA_NAME(st_smalls)[ST_NDTYPES] = {[ST_FLOAT32] = smalls_f32, [ST_FLOAT64] = smalls_f64};
