/* Reductions in two passes: var (around the mean) and logsumexp (below the maximum). */
#include "reduce.h"
#include "vecmath.h"

#define ITSELF(t, x) (x)
#define LESS_TOP(t, x) st_quick_exp_##t((x) - ((const t *)param)[0])

REDUCTION(sum, f32, f32, f64, 0, ITSELF, ADD)
REDUCTION(sum, f64, f64, f64, 0, ITSELF, ADD)
REDUCTION(max, f32, f32, f32, -INFINITY, ITSELF, MAX)
REDUCTION(max, f64, f64, f64, -(f64)INFINITY, ITSELF, MAX)
REDUCTION(sum_exp, f32, f32, f64, 0, LESS_TOP, ADD)
REDUCTION(sum_exp, f64, f64, f64, 0, LESS_TOP, ADD)

/* ---- variance: the squares of x - shift, corrected for what the rounding of the mean to `shift` left ---- */

#define DEVIATIONS(t)                                                                                                \
    static ST_OUTLINED void deviations_row_##t(t shift, f64 *sums, const char *a, ptrdiff_t s,                       \
                                                             ptrdiff_t n, int kind) {                                \
        enum { LANES = LANE_BYTES / sizeof(t) };                                                                     \
        _Alignas(64) t buffer[LEAF];                                                                                 \
        const t *v = (const t *)(const void *)a;                                                                     \
        t first[LANES], second[LANES];                                                                               \
        ptrdiff_t i = 0;                                                                                             \
        if (!is_direct(kind, s, sizeof(t))) {                                                                        \
            st_load(kind, (char *)buffer, a, s, n);                                                                  \
            v = buffer;                                                                                              \
        }                                                                                                            \
        for (int k = 0; k < LANES; k++) first[k] = second[k] = 0;                                                    \
        for (; i + LANES <= n; i += LANES)                                                                           \
            for (int k = 0; k < LANES; k++) {                                                                        \
                const t d = v[i + k] - shift;                                                                        \
                first[k] += d;                                                                                       \
                second[k] += d * d;                                                                                  \
            }                                                                                                        \
        for (int k = 0; k < LANES; k++) {                                                                            \
            sums[0] += first[k];                                                                                     \
            sums[1] += second[k];                                                                                    \
        }                                                                                                            \
        for (; i < n; i++) {                                                                                         \
            const f64 d = v[i] - shift;                                                                              \
            sums[0] += d;                                                                                            \
            sums[1] += d * d;                                                                                        \
        }                                                                                                            \
    }                                                                                                                \
    static ST_OUTLINED void deviations_columns_##t(const t *shift, f64 *restrict first,                              \
                                                                 f64 *restrict second, const char *a,                \
                                                                 ptrdiff_t n_red, ptrdiff_t s_red, ptrdiff_t n_out,  \
                                                                 ptrdiff_t s_in, int kind) {                         \
        _Alignas(64) t buffer[COLUMNS];                                                                              \
        for (ptrdiff_t j = 0; j < n_out; j++) first[j] = second[j] = 0;                                              \
        for (ptrdiff_t i = 0; i < n_red; i++) {                                                                      \
            const t *v = (const t *)(const void *)(a + i * s_red);                                                   \
            if (!is_direct(kind, s_in, sizeof(t))) {                                                                 \
                st_load(kind, (char *)buffer, a + i * s_red, s_in, n_out);                                           \
                v = buffer;                                                                                          \
            }                                                                                                        \
            IVDEP for (ptrdiff_t j = 0; j < n_out; j++) {                                                            \
                const f64 d = v[j] - shift[j];                                                                       \
                first[j] += d;                                                                                       \
                second[j] += d * d;                                                                                  \
            }                                                                                                        \
        }                                                                                                            \
    }
DEVIATIONS(f32)
DEVIATIONS(f64)

static inline f64 variance(f64 first, f64 second, ptrdiff_t n, f64 correction) {
    const f64 freedom = (f64)n - correction;
    return (second - first * first / (f64)n) / (freedom > 0 ? freedom : 0);
}

#define VAR(m, t)                                                                                                    \
    static void r_var_##m(char *out, const char *a, ptrdiff_t n_red, ptrdiff_t s_red, ptrdiff_t n_out,               \
                          ptrdiff_t s_in, ptrdiff_t s_out, const void *param) {                                      \
        const int kind = KIND_##m[0];                                                                                \
        const f64 correction = ((const f64 *)param)[0];                                                              \
        if (by_columns(n_red, s_red, n_out, s_in)) {                                                                 \
            f64 first[COLUMNS], second[COLUMNS];                                                                     \
            t shift[COLUMNS];                                                                                        \
            for (ptrdiff_t j = 0; j < n_out; j += COLUMNS) {                                                         \
                const ptrdiff_t n = n_out - j < COLUMNS ? n_out - j : COLUMNS;                                       \
                columns_sum_##t(first, a + j * s_in, n_red, s_red, n, s_in, kind, NULL);                             \
                for (ptrdiff_t k = 0; k < n; k++) shift[k] = (t)(first[k] / (f64)n_red);                             \
                deviations_columns_##t(shift, first, second, a + j * s_in, n_red, s_red, n, s_in, kind);             \
                for (ptrdiff_t k = 0; k < n; k++)                                                                    \
                    put_##m(out + (j + k) * s_out, (t)variance(first[k], second[k], n_red, correction));             \
            }                                                                                                        \
            return;                                                                                                  \
        }                                                                                                            \
        for (ptrdiff_t j = 0; j < n_out; j++) {                                                                      \
            const char *row = a + j * s_in;                                                                          \
            const t shift = (t)(tree_sum_##t(row, s_red, n_red, kind, NULL) / (f64)n_red);                           \
            f64 sums[2] = {0, 0};                                                                                    \
            for (ptrdiff_t i = 0; i < n_red; i += LEAF)                                                              \
                deviations_row_##t(shift, sums, row + i * s_red, s_red, n_red - i < LEAF ? n_red - i : LEAF, kind);  \
            put_##m(out + j * s_out, (t)variance(sums[0], sums[1], n_red, correction));                              \
        }                                                                                                            \
    }
VAR(f32, f32)
VAR(f64, f64)
VAR(f16, f32)
VAR(bf16, f32)

/* ---- logsumexp: an infinite maximum is not subtracted, so that it comes out itself ---- */

#define EXP_COLUMNS(t)                                                                                               \
    static ST_OUTLINED void exp_columns_##t(f64 *restrict total, const t *top, const char *a, ptrdiff_t n_red,       \
                                            ptrdiff_t s_red, ptrdiff_t n_out, ptrdiff_t s_in, int kind) {            \
        _Alignas(64) t buffer[COLUMNS], lane[COLUMNS];                                                               \
        for (ptrdiff_t j = 0; j < n_out; j++) total[j] = 0;                                                          \
        for (ptrdiff_t i = 0; i < n_red;) {                                                                          \
            const ptrdiff_t end = n_red - i < FLUSH ? n_red : i + FLUSH;                                             \
            for (ptrdiff_t j = 0; j < n_out; j++) lane[j] = 0;                                                       \
            for (; i < end; i++) {                                                                                   \
                const t *v = (const t *)(const void *)(a + i * s_red);                                               \
                if (!is_direct(kind, s_in, sizeof(t))) {                                                             \
                    st_load(kind, (char *)buffer, a + i * s_red, s_in, n_out);                                       \
                    v = buffer;                                                                                      \
                }                                                                                                    \
                IVDEP for (ptrdiff_t j = 0; j < n_out; j++) lane[j] += st_quick_exp_##t(v[j] - top[j]);                    \
            }                                                                                                        \
            for (ptrdiff_t j = 0; j < n_out; j++) total[j] += lane[j];                                               \
        }                                                                                                            \
    }                                                                                                                \
    static inline t finite_top_##t(t top) { return st_fabs_##t(top) == (t)INFINITY ? 0 : top; }
EXP_COLUMNS(f32)
EXP_COLUMNS(f64)

#define LOGSUMEXP(m, t)                                                                                              \
    static void r_logsumexp_##m(char *out, const char *a, ptrdiff_t n_red, ptrdiff_t s_red, ptrdiff_t n_out,         \
                                ptrdiff_t s_in, ptrdiff_t s_out, const void *param) {                                \
        const int kind = KIND_##m[0];                                                                                \
        (void)param;                                                                                                 \
        if (by_columns(n_red, s_red, n_out, s_in)) {                                                                 \
            f64 total[COLUMNS];                                                                                      \
            t top[COLUMNS];                                                                                          \
            for (ptrdiff_t j = 0; j < n_out; j += COLUMNS) {                                                         \
                const ptrdiff_t n = n_out - j < COLUMNS ? n_out - j : COLUMNS;                                       \
                columns_max_##t(top, a + j * s_in, n_red, s_red, n, s_in, kind, NULL);                               \
                for (ptrdiff_t k = 0; k < n; k++) top[k] = finite_top_##t(top[k]);                                   \
                exp_columns_##t(total, top, a + j * s_in, n_red, s_red, n, s_in, kind);                              \
                for (ptrdiff_t k = 0; k < n; k++) put_##m(out + (j + k) * s_out, (t)(top[k] + log(total[k])));       \
            }                                                                                                        \
            return;                                                                                                  \
        }                                                                                                            \
        for (ptrdiff_t j = 0; j < n_out; j++) {                                                                      \
            const char *row = a + j * s_in;                                                                          \
            const t top = finite_top_##t(tree_max_##t(row, s_red, n_red, kind, NULL));                               \
            const f64 sum = tree_sum_exp_##t(row, s_red, n_red, kind, &top);                                         \
            put_##m(out + j * s_out, (t)(top + log(sum)));                                                           \
        }                                                                                                            \
    }
LOGSUMEXP(f32, f32)
LOGSUMEXP(f64, f64)
LOGSUMEXP(f16, f32)
LOGSUMEXP(bf16, f32)

#define ROWS(m) RED_ENTRY(var, m) RED_ENTRY(logsumexp, m)
const st_entry ISA_NAME(st_entries_reduce_moment)[] = {ROWS(f32) ROWS(f64) ROWS(f16) ROWS(bf16) ST_END};
