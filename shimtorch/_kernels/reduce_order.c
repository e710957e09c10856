/* Reductions that compare: max, min and their indices. A NaN counts as the extreme; the first of equals is taken. */
#include "reduce.h"

#define ITSELF(t, x) (x)

/* ---- values ---- */

#define EXTREMES(t, LOWEST, HIGHEST)                                                                                 \
    REDUCTION(max, t, t, t, LOWEST, ITSELF, MAX)                                                                     \
    REDUCTION(min, t, t, t, HIGHEST, ITSELF, MIN)

/* ---- indices ---- */

/* x is a better candidate than the best so far */
#define ABOVE(x, best) ((x) > (best) || ((x) != (x) && (best) == (best)))
#define BELOW(x, best) ((x) < (best) || ((x) != (x) && (best) == (best)))

/* of n_out <= COLUMNS columns side by side; and of one row whose extreme is known */
#define INDEX_OF(op, t, BETTER)                                                                                      \
    static ST_OUTLINED void arg_columns_##op##_##t(t *restrict best, i64 *restrict where,                            \
                                                                 const char *a, ptrdiff_t n_red, ptrdiff_t s_red,    \
                                                                 ptrdiff_t n_out, ptrdiff_t s_in, int kind) {        \
        _Alignas(64) t buffer[COLUMNS];                                                                              \
        const int direct = is_direct(kind, s_in, sizeof(t));                                                         \
        for (ptrdiff_t i = 0; i < n_red; i++) {                                                                      \
            const t *row = direct ? (const t *)(const void *)(a + i * s_red) : buffer;                               \
            if (!direct) st_load(kind, (char *)buffer, a + i * s_red, s_in, n_out);                                  \
            if (i == 0) {                                                                                            \
                for (ptrdiff_t j = 0; j < n_out; j++) best[j] = row[j], where[j] = 0;                                \
                continue;                                                                                            \
            }                                                                                                        \
            IVDEP for (ptrdiff_t j = 0; j < n_out; j++) {                                                            \
                const int better = BETTER(row[j], best[j]);                                                          \
                where[j] = better ? i : where[j];                                                                    \
                best[j] = better ? row[j] : best[j];                                                                 \
            }                                                                                                        \
        }                                                                                                            \
    }                                                                                                                \
    static ST_OUTLINED i64 arg_row_##op##_##t(t best, const char *a, ptrdiff_t s, ptrdiff_t n,                       \
                                                            int kind) {                                              \
        _Alignas(64) t buffer[COLUMNS];                                                                              \
        for (ptrdiff_t start = 0; start < n; start += COLUMNS) {                                                     \
            const ptrdiff_t m = n - start < COLUMNS ? n - start : COLUMNS;                                           \
            const t *v = (const t *)(const void *)(a + start * s);                                                   \
            if (!is_direct(kind, s, sizeof(t))) {                                                                    \
                st_load(kind, (char *)buffer, a + start * s, s, m);                                                  \
                v = buffer;                                                                                          \
            }                                                                                                        \
            int hits = 0;                                                                                            \
            for (ptrdiff_t i = 0; i < m; i++) hits |= v[i] == best || (v[i] != v[i]);                                \
            for (ptrdiff_t i = 0; hits && i < m; i++)                                                                \
                if (best == best ? v[i] == best : v[i] != v[i]) return start + i;                                    \
        }                                                                                                            \
        return 0;                                                                                                    \
    }

/* both outputs: values of dtype m (skipped where out is NULL) and indices */
#define INDEX_LOOPS(op, m, t, KIND)                                                                                  \
    static void indexed_##op##_##m(char *out, ptrdiff_t s_out, char *idx, ptrdiff_t s_idx, const char *a,            \
                                   ptrdiff_t n_red, ptrdiff_t s_red, ptrdiff_t n_out, ptrdiff_t s_in) {              \
        const int kind = (KIND), columns = by_columns(n_red, s_red, n_out, s_in);                                    \
        const ptrdiff_t step = columns ? COLUMNS : 1;                                                                \
        t best[COLUMNS];                                                                                             \
        i64 where[COLUMNS];                                                                                          \
        for (ptrdiff_t j = 0; j < n_out && n_red > 0; j += step) {                                                   \
            const ptrdiff_t n = n_out - j < step ? n_out - j : step;                                                 \
            if (columns) {                                                                                           \
                arg_columns_##op##_##t(best, where, a + j * s_in, n_red, s_red, n, s_in, kind);                      \
            } else {                                                                                                 \
                best[0] = tree_##op##_##t(a + j * s_in, s_red, n_red, kind, NULL);                                   \
                where[0] = arg_row_##op##_##t(best[0], a + j * s_in, s_red, n_red, kind);                            \
            }                                                                                                        \
            for (ptrdiff_t k = 0; k < n; k++) {                                                                      \
                if (out != NULL) put_##m(out + (j + k) * s_out, best[k]);                                            \
                put_i64(idx + (j + k) * s_idx, where[k]);                                                            \
            }                                                                                                        \
        }                                                                                                            \
    }                                                                                                                \
    static void r_arg##op##_##m(char *out, const char *a, ptrdiff_t n_red, ptrdiff_t s_red, ptrdiff_t n_out,         \
                                ptrdiff_t s_in, ptrdiff_t s_out, const void *param) {                                \
        (void)param;                                                                                                 \
        indexed_##op##_##m(NULL, 0, out, s_out, a, n_red, s_red, n_out, s_in);                                       \
    }                                                                                                                \
    static void r_##op##_arg_##m(char *out, const char *a, ptrdiff_t n_red, ptrdiff_t s_red, ptrdiff_t n_out,        \
                                 ptrdiff_t s_in, ptrdiff_t s_out, const void *param) {                               \
        const st_index_out *index = (const st_index_out *)param;                                                     \
        indexed_##op##_##m(out, s_out, index->idx, index->s_idx, a, n_red, s_red, n_out, s_in);                      \
    }

#define KERNELS(t, LOWEST, HIGHEST) EXTREMES(t, LOWEST, HIGHEST) INDEX_OF(max, t, ABOVE) INDEX_OF(min, t, BELOW)
#define LOOPS(m, t, KIND)                                                                                            \
    REDUCE_LOOP(max, m, t, t, m, KIND)                                                                               \
    REDUCE_LOOP(min, m, t, t, m, KIND)                                                                               \
    INDEX_LOOPS(max, m, t, KIND)                                                                                     \
    INDEX_LOOPS(min, m, t, KIND)
KERNELS(f32, -INFINITY, INFINITY)
KERNELS(f64, -(f64)INFINITY, (f64)INFINITY)
KERNELS(i32, INT32_MIN, INT32_MAX)
KERNELS(i64, INT64_MIN, INT64_MAX)
KERNELS(u64, 0, UINT64_MAX)
LOOPS(f32, f32, PLAIN(f32))
LOOPS(f64, f64, PLAIN(f64))
LOOPS(f16, f32, PLAIN(f16))
LOOPS(bf16, f32, PLAIN(bf16))
LOOPS(u8, i32, KIND_U8_I32)
LOOPS(i8, i32, KIND_I8_I32)
LOOPS(u16, i32, KIND_U16_I32)
LOOPS(i16, i32, KIND_I16_I32)
LOOPS(i32, i32, PLAIN(i32))
LOOPS(u32, i64, KIND_U32_I64)
LOOPS(i64, i64, PLAIN(i64))
LOOPS(u64, u64, PLAIN(u64))

#define ROWS_AS(m, like)                                                                                             \
    RED_ENTRY_AS(max, m, max, like) RED_ENTRY_AS(min, m, min, like) RED_ENTRY_AS(amax, m, max, like)                 \
    RED_ENTRY_AS(amin, m, min, like) RED_ENTRY_AS(argmax, m, argmax, like) RED_ENTRY_AS(argmin, m, argmin, like)     \
    RED_ENTRY_AS(max_arg, m, max_arg, like) RED_ENTRY_AS(min_arg, m, min_arg, like)
#define ROWS(t) ROWS_AS(t, t)

const st_entry ISA_NAME(st_entries_reduce_order)[] = {
    ROWS(f32) ROWS(f64) ROWS(f16) ROWS(bf16) ROWS(u8) ROWS(i8) ROWS(u16) ROWS(i16) ROWS(u32) ROWS(i32) ROWS(u64)
    ROWS(i64) ROWS_AS(b8, u8) ST_END};
