/* How a reduction becomes an st_reduce.
 *
 * A reduction is a map of an element and an associative fold. It is computed either row by row (the reduced elements of
 * one output together, in many lanes) or column by column (many outputs side by side, their elements added row after
 * row), whichever reads memory in order. Lanes have type L and are folded, after at most a leaf of elements, into
 * totals of type A; rows fold as a balanced tree. So rounding errors stay small: float32 lanes, float64 totals.
 *
 * t is the element's type in the kernel, `kind` how it lies in memory (see loops.h). */
#ifndef SHIMTORCH_KERNELS_REDUCE_H
#define SHIMTORCH_KERNELS_REDUCE_H

#include "half.h"
#include "loops.h"

enum {
    LEAF = 1024,     /* elements that are converted at a time */
    RUN = 16 * LEAF, /* elements that need no conversion and are a leaf of the tree */
    STEPS = 32,      /* folds into a lane before it goes into a total: longer lanes would lose digits */
    COLUMNS = 1024,  /* outputs reduced side by side, */
    FLUSH = 64,      /* and rows that their lanes take */
    FEW = 12,        /* fewer elements are folded one by one, */
    SHORT = 640,     /* fewer than these in registers */
    LANE_BYTES = 128,
    LINE = 64, /* bytes of a cache line */
    AHEAD = 2048
};

static inline int is_direct(int kind, ptrdiff_t s, size_t size) { return kind <= 16 && s == (ptrdiff_t)size; }

/* By columns if neighbours in memory belong to different outputs, or if rows are too short for lanes. */
static inline int by_columns(ptrdiff_t n_red, ptrdiff_t s_red, ptrdiff_t n_out, ptrdiff_t s_in) {
    const ptrdiff_t step_red = s_red < 0 ? -s_red : s_red, step_out = s_in < 0 ? -s_in : s_in;
    return n_out >= 4 && (step_out < step_red || (n_red < 16 && n_out >= 16));
}

/* kind of a dtype that is reduced as it is, or in float32 */
#define PLAIN(m) KIND_##m[0]

/* ---- folds: FOLD(T, a, b) of two values of type T; NaN wins in max and min ---- */

#define ADD(T, a, b) ((a) + (b))
#define ADD_SINGLY(T, a, b) ((a) + (b)) /* of maps too large to be written out for four rows */
#define MUL(T, a, b) ((a) * (b))
#define CMUL(T, a, b) cmul_##T(a, b)
#define MAX(T, a, b) ((a) > (b) || (a) != (a) ? (a) : (b))
#define MIN(T, a, b) ((a) < (b) || (a) != (a) ? (a) : (b))

/* rows folded into each other before they are folded into the lanes; nested comparisons would not be vectorised */
#define ROWS_ADD 4
#define ROWS_ADD_SINGLY 1
#define ROWS_MUL 4
#define ROWS_CMUL 1
#define ROWS_MAX 1
#define ROWS_MIN 1

/* Lanes folded into `total`; elements from `at` on, which fill no lane, join in where as many lanes are left. */
#define FOLD_LANES(t, L, A, MAP, FOLD, lanes, count, v, at, n)                                                       \
    for (int w = count / 2; w >= 4; w /= 2) {                                                                        \
        for (int k = 0; k < w; k++) lanes[k] = FOLD(L, lanes[k], lanes[k + w]);                                      \
        if (!((n - at) & w)) continue;                                                                               \
        for (int k = 0; k < w; k++) {                                                                                \
            const L value = MAP(t, v[at + k]);                                                                       \
            lanes[k] = FOLD(L, lanes[k], value);                                                                     \
        }                                                                                                            \
        at += w;                                                                                                     \
    }                                                                                                                \
    const A left = FOLD(A, (A)lanes[0], (A)lanes[1]), right = FOLD(A, (A)lanes[2], (A)lanes[3]);                     \
    total = FOLD(A, left, right);                                                                                    \
    for (; at < n; at++) {                                                                                           \
        const A value = MAP(t, v[at]);                                                                               \
        total = FOLD(A, total, value);                                                                               \
    }

/* MAP(t, x) may use `param`. */
#define REDUCTION(op, t, L, A, INIT, MAP, FOLD)                                                                      \
    static ST_OUTLINED A leaf_##op##_##t(const char *a, ptrdiff_t s, ptrdiff_t n, int kind,                          \
                                                       const void *param) {                                          \
        enum { LANES = ROWS_##FOLD > 1 ? 16 : 32, STEP = ROWS_##FOLD * LANES };              \
        _Alignas(64) t buffer[LEAF];                                                                                 \
        const t *v = (const t *)(const void *)a;                                                                     \
        A total = INIT;                                                                                              \
        (void)param;                                                                                                 \
        if (!is_direct(kind, s, sizeof(t))) {                                                                        \
            st_load(kind, (char *)buffer, a, s, n);                                                                  \
            v = buffer;                                                                                              \
        }                                                                                                            \
        if (n < FEW) {                                                                                               \
            for (ptrdiff_t i = 0; i < n; i++) {                                                                      \
                const A value = MAP(t, v[i]);                                                                        \
                total = FOLD(A, total, value);                                                                       \
            }                                                                                                        \
            return total;                                                                                            \
        }                                                                                                            \
        if (ROWS_##FOLD > 1 && n < SHORT) { /* lanes that stay in registers from the first element to the total */   \
            L few[LANES];                                                                                            \
            ptrdiff_t at = 0;                                                                                        \
            for (int k = 0; k < LANES; k++) few[k] = INIT;                                                           \
            for (; at + LANES <= n; at += LANES)                                                                     \
                for (int k = 0; k < LANES; k++) {                                                                    \
                    const L value = MAP(t, v[at + k]);                                                               \
                    few[k] = FOLD(L, few[k], value);                                                                 \
                }                                                                                                    \
            FOLD_LANES(t, L, A, MAP, FOLD, few, LANES, v, at, n)                                                     \
            return total;                                                                                            \
        }                                                                                                            \
        A lane[LANES];                                                                                               \
        L run[LANES];                                                                                                \
        ptrdiff_t i = 0;                                                                                             \
        for (int k = 0; k < LANES; k++) lane[k] = INIT;                                                              \
        while (n - i >= STEP) {                                                                                      \
            const ptrdiff_t end = n - i < STEPS * STEP ? n : i + STEPS * STEP;                                       \
            for (int k = 0; k < LANES; k++) run[k] = INIT;                                                           \
            for (; i + STEP <= end; i += STEP) {                                                                     \
                for (size_t b = 0; b + LINE <= STEP * sizeof(t); b += LINE)                                          \
                    __builtin_prefetch((const char *)(v + i) + b + AHEAD);                                           \
                for (int k = 0; k < LANES; k++) {                                                                    \
                    L value = MAP(t, v[i + k]);                                                                      \
                    if (ROWS_##FOLD == 4) {                                                                          \
                        const L v1 = MAP(t, v[i + LANES + k]), v01 = FOLD(L, value, v1);                             \
                        const L v2 = MAP(t, v[i + 2 * LANES + k]), v3 = MAP(t, v[i + 3 * LANES + k]);                \
                        const L v23 = FOLD(L, v2, v3);                                                               \
                        value = FOLD(L, v01, v23);                                                                   \
                    }                                                                                                \
                    run[k] = FOLD(L, run[k], value);                                                                 \
                }                                                                                                    \
            }                                                                                                        \
            for (int k = 0; k < LANES; k++) lane[k] = FOLD(A, lane[k], (A)run[k]);                                   \
        }                                                                                                            \
        for (; i + LANES <= n; i += LANES)                                                                           \
            for (int k = 0; k < LANES; k++) {                                                                        \
                const L value = MAP(t, v[i + k]);                                                                    \
                lane[k] = FOLD(A, lane[k], (A)value);                                                                \
            }                                                                                                        \
        FOLD_LANES(t, A, A, MAP, FOLD, lane, LANES, v, i, n)                                                         \
        return total;                                                                                                \
    }                                                                                                                \
    static ST_OUTLINED A tree_##op##_##t(const char *a, ptrdiff_t s, ptrdiff_t n, int kind, const void *param) {     \
        const ptrdiff_t leaf = is_direct(kind, s, sizeof(t)) ? RUN : LEAF;                                           \
        if (n <= leaf) return leaf_##op##_##t(a, s, n, kind, param);                                                 \
        const ptrdiff_t half = ((n + leaf - 1) / leaf + 1) / 2 * leaf;                                               \
        const A left = tree_##op##_##t(a, s, half, kind, param);                                                     \
        const A right = tree_##op##_##t(a + half * s, s, n - half, kind, param);                                     \
        return FOLD(A, left, right);                                                                                 \
    }                                                                                                                \
    /* columns j < n_out <= COLUMNS, reduced into total */                                                           \
    ST_UNUSED static ST_OUTLINED void columns_##op##_##t(A *restrict total, const char *a, ptrdiff_t n_red,          \
                                                             ptrdiff_t s_red, ptrdiff_t n_out, ptrdiff_t s_in,       \
                                                             int kind, const void *param) {                          \
        _Alignas(64) t buffer[4][COLUMNS];                                                                           \
        _Alignas(64) L lane[COLUMNS];                                                                                \
        const int direct = is_direct(kind, s_in, sizeof(t));                                                         \
        (void)param;                                                                                                 \
        for (ptrdiff_t j = 0; j < n_out; j++) total[j] = INIT;                                                       \
        for (ptrdiff_t i = 0; i < n_red;) {                                                                          \
            const ptrdiff_t end = n_red - i < FLUSH ? n_red : i + FLUSH;                                             \
            for (ptrdiff_t j = 0; j < n_out; j++) lane[j] = INIT;                                                    \
            while (i < end) {                                                                                        \
                const t *row[4];                                                                                     \
                const int n_rows = end - i >= ROWS_##FOLD ? ROWS_##FOLD : 1;                                         \
                for (int r = 0; r < n_rows; r++, i++) {                                                              \
                    row[r] = direct ? (const t *)(const void *)(a + i * s_red) : buffer[r];                          \
                    if (!direct) st_load(kind, (char *)buffer[r], a + i * s_red, s_in, n_out);                       \
                }                                                                                                    \
                if (n_rows == 4) {                                                                                   \
                    const t *r0 = row[0], *r1 = row[1], *r2 = row[2], *r3 = row[3];                                  \
                    IVDEP for (ptrdiff_t j = 0; j < n_out; j++) {                                                    \
                        const L v0 = MAP(t, r0[j]), v1 = MAP(t, r1[j]), v2 = MAP(t, r2[j]), v3 = MAP(t, r3[j]);      \
                        const L v01 = FOLD(L, v0, v1), v23 = FOLD(L, v2, v3), v = FOLD(L, v01, v23);                 \
                        lane[j] = FOLD(L, lane[j], v);                                                               \
                    }                                                                                                \
                } else {                                                                                             \
                    const t *r0 = row[0];                                                                            \
                    IVDEP for (ptrdiff_t j = 0; j < n_out; j++) {                                                    \
                        const L v = MAP(t, r0[j]);                                                                   \
                        lane[j] = FOLD(L, lane[j], v);                                                               \
                    }                                                                                                \
                }                                                                                                    \
            }                                                                                                        \
            IVDEP for (ptrdiff_t j = 0; j < n_out; j++) total[j] = FOLD(A, total[j], (A)lane[j]);                    \
        }                                                                                                            \
    }

/* the st_reduce of memory dtype m, which runs through kernel type t; put_<u> stores an output */
#define REDUCE_LOOP(op, m, t, A, u, KIND) REDUCE_AS(op, op, m, t, A, put_##u, KIND)
#define REDUCE_AS(name, op, m, t, A, PUT, KIND)                                                                      \
    static void r_##name##_##m(char *out, const char *a, ptrdiff_t n_red, ptrdiff_t s_red, ptrdiff_t n_out,          \
                             ptrdiff_t s_in, ptrdiff_t s_out, const void *param) {                                   \
        const int kind = (KIND);                                                                                     \
        if (by_columns(n_red, s_red, n_out, s_in)) {                                                                 \
            A total[COLUMNS];                                                                                        \
            for (ptrdiff_t j = 0; j < n_out; j += COLUMNS) {                                                         \
                const ptrdiff_t n = n_out - j < COLUMNS ? n_out - j : COLUMNS;                                       \
                columns_##op##_##t(total, a + j * s_in, n_red, s_red, n, s_in, kind, param);                         \
                for (ptrdiff_t k = 0; k < n; k++) PUT(out + (j + k) * s_out, total[k]);                              \
            }                                                                                                        \
        } else {                                                                                                     \
            for (ptrdiff_t j = 0; j < n_out; j++)                                                                    \
                PUT(out + j * s_out, tree_##op##_##t(a + j * s_in, s_red, n_red, kind, param));                      \
        }                                                                                                            \
    }

#define DEFINE_PUT(u) ST_UNUSED static ST_OUTLINED void put_##u(char *o, u value) { *(u *)(void *)o = value; }
DEFINE_PUT(f32)
DEFINE_PUT(f64)
DEFINE_PUT(c64)
DEFINE_PUT(c128)
DEFINE_PUT(i8)
DEFINE_PUT(u8)
DEFINE_PUT(u16)
DEFINE_PUT(u32)
DEFINE_PUT(i16)
DEFINE_PUT(i32)
DEFINE_PUT(i64)
DEFINE_PUT(u64)
ST_UNUSED ST_OUTLINED static void put_f16(char *o, f32 value) { *(f16 *)(void *)o = f16_of_f32(value); }
ST_UNUSED ST_OUTLINED static void put_bf16(char *o, f32 value) { *(bf16 *)(void *)o = bf16_of_f32(value); }

#define RED_ENTRY(op, m) {ST_RED_##op, CODE_##m, (st_function)r_##op##_##m},
#define RED_ENTRY_AS(op, m, like, lm) {ST_RED_##op, CODE_##m, (st_function)r_##like##_##lm},

#endif
