/* softmax and log_softmax along rows, and their gradients.
 *
 * A row's maximum is subtracted as it is: where it is infinite or NaN the row becomes NaN, as it should. */
#include "rows.h"
#include "vecmath.h"

enum { CHUNK = 1024, LANE_BYTES = 256, FLUSH = 64 };

/* ---- one row: sums of pieces of at most CHUNK elements, in lanes, added up in float64 ---- */

#define LANES(t) (int)(LANE_BYTES / sizeof(t))
#define SUM(t, VALUE)                                                                                                \
    f64 total = 0;                                                                                                   \
    ptrdiff_t i = 0;                                                                                                 \
    if (n >= LANES(t)) {                                                                                             \
        t lane[LANE_BYTES / sizeof(t)];                                                                              \
        for (int k = 0; k < LANES(t); k++) lane[k] = 0;                                                              \
        for (; i + LANES(t) <= n; i += LANES(t))                                                                     \
            for (int k = 0; k < LANES(t); k++) lane[k] += VALUE(i + k);                                              \
        for (int k = 0; k < LANES(t); k++) total += lane[k];                                                         \
    }                                                                                                                \
    for (; i < n; i++) total += VALUE(i);                                                                            \
    return total;
#define ELEMENT(i) a[i]
#define PRODUCT(i) a[i] * b[i]
#define EXPONENTIAL_f32(i) exp_below_f32(a[i] - top)
#define EXPONENTIAL_f64(i) exp_below_f64(a[i] - top)

/* exp(x) of x <= 0, or NaN of NaN; nothing is lost by making numbers near the smallest normal one zero, for they are
 * parts of sums of at least 1, or of nothing else. */
static inline f32 exp_below_f32(f32 x) {
    const f32 y = quick_exp_near_f32(x < -87.0f ? -87.0f : x);
    return x < -87.0f ? 0.0f : y;
}

static inline f64 exp_below_f64(f64 x) { return st_quick_exp_f64(x); }

#define DEFINE_SUMS(t)                                                                                               \
    static ST_OUTLINED f64 exp_sum_##t(const t *a, t top, ptrdiff_t n) { SUM(t, EXPONENTIAL_##t) }                   \
    static ST_OUTLINED f64 sum_##t(const t *a, ptrdiff_t n) { SUM(t, ELEMENT) }                                      \
    static ST_OUTLINED f64 dot_##t(const t *a, const t *b, ptrdiff_t n) { SUM(t, PRODUCT) }                          \
    static ST_OUTLINED f64 exp_chunk_##t(t *o, const t *a, t top, ptrdiff_t n) {                                     \
        IVDEP for (ptrdiff_t i = 0; i < n; i++) o[i] = exp_below_##t(a[i] - top);                                    \
        return sum_##t(o, n);                                                                                        \
    }                                                                                                                \
    static ST_OUTLINED t highest_##t(const t *a, ptrdiff_t n) {                                                      \
        t top = -(t)INFINITY;                                                                                        \
        ptrdiff_t i = 0;                                                                                             \
        if (n >= LANES(t)) {                                                                                         \
            t lane[LANE_BYTES / sizeof(t)];                                                                          \
            for (int k = 0; k < LANES(t); k++) lane[k] = a[k];                                                       \
            for (i = LANES(t); i + LANES(t) <= n; i += LANES(t))                                                     \
                for (int k = 0; k < LANES(t); k++) lane[k] = a[i + k] > lane[k] ? a[i + k] : lane[k];                \
            for (int k = 0; k < LANES(t); k++) top = lane[k] > top ? lane[k] : top;                                  \
        }                                                                                                            \
        for (; i < n; i++) top = a[i] > top ? a[i] : top;                                                            \
        return top;                                                                                                  \
    }

#define IN_CHUNKS(total, start, m, VALUE)                                    \
    f64 total = 0;                                                           \
    for (ptrdiff_t start = 0; start < n; start += CHUNK) {                   \
        const ptrdiff_t m = n - start < CHUNK ? n - start : CHUNK;           \
        total += VALUE;                                                      \
    }

#define DEFINE_ROWS(t)                                                                                               \
    ROW_KERNEL(softmax, t) {                                                                                         \
        OUT(t);                                                                                                      \
        IN(t, a, 1);                                                                                                 \
        const t top = highest_##t(a, n);                                                                             \
        IN_CHUNKS(total, start, m, exp_chunk_##t(o + start, a + start, top, m))                                      \
        const t scale = (t)(1 / total);                                                                              \
        IVDEP for (ptrdiff_t i = 0; i < n; i++) o[i] *= scale;                                                       \
    }                                                                                                                \
    ROW_KERNEL(log_softmax, t) {                                                                                     \
        OUT(t);                                                                                                      \
        IN(t, a, 1);                                                                                                 \
        const t top = highest_##t(a, n);                                                                             \
        IN_CHUNKS(total, start, m, exp_sum_##t(a + start, top, m))                                             \
        const t log_total = (t)log(total);                                                                           \
        IVDEP for (ptrdiff_t i = 0; i < n; i++) o[i] = a[i] - top - log_total;                                       \
    }                                                                                                                \
    ROW_KERNEL(softmax_backward, t) {                                                                                \
        OUT(t);                                                                                                      \
        IN(t, g, 1);                                                                                                 \
        IN(t, y, 2);                                                                                                 \
        IN_CHUNKS(total, start, m, dot_##t(g + start, y + start, m))                                                 \
        const t mean = (t)total;                                                                                     \
        IVDEP for (ptrdiff_t i = 0; i < n; i++) o[i] = (g[i] - mean) * y[i];                                         \
    }                                                                                                                \
    ROW_KERNEL(log_softmax_backward, t) {                                                                            \
        OUT(t);                                                                                                      \
        IN(t, g, 1);                                                                                                 \
        IN(t, y, 2);                                                                                                 \
        IN_CHUNKS(total, start, m, sum_##t(g + start, m))                                                            \
        const t sum = (t)total;                                                                                      \
        IVDEP for (ptrdiff_t i = 0; i < n; i++) o[i] = g[i] - exp_below_##t(y[i]) * sum;                             \
    }

#define DEFINE_SHARED(t)                                                                                             \
    /* the gradient of a row of which the result's gradient has the sum g[0], but for where that lies */             \
    ROW_KERNEL(log_softmax_shared, t) {                                                                              \
        OUT(t);                                                                                                      \
        IN(t, g, 1);                                                                                                 \
        IN(t, y, 2);                                                                                                 \
        const t sum = g[0];                                                                                          \
        IVDEP for (ptrdiff_t i = 0; i < n; i++) o[i] = 0 - exp_below_##t(y[i]) * sum;                                \
    }

/* ---- a band of rows: lanes across the rows, flushed into float64 totals ---- */

#define COLUMN(t, name, k, j) const t *name = (const t *)(const void *)(p[k] + (j) * s[k])
#define OUT_COLUMN(t, j) t *o = (t *)(void *)(p[0] + (j) * s[0])
#define ACROSS IVDEP for (ptrdiff_t r = 0; r < w; r++)

#define DEFINE_BAND_SUMS(t)                                                                                          \
    static ST_OUTLINED void band_highest_##t(t *restrict top, char *const *p, const ptrdiff_t *s, ptrdiff_t w,       \
                                             ptrdiff_t n) {                                                          \
        for (ptrdiff_t r = 0; r < w; r++) top[r] = -(t)INFINITY;                                                     \
        for (ptrdiff_t j = 0; j < n; j++) {                                                                          \
            COLUMN(t, a, 1, j);                                                                                      \
            ACROSS top[r] = a[r] > top[r] ? a[r] : top[r];                                                           \
        }                                                                                                            \
    }                                                                                                                \
    /* sums of exp(x - top); the exponentials stay in the output if `keep` */                                        \
    static ST_OUTLINED void band_exp_##t(f64 *restrict total, const t *restrict top, int keep, char *const *p,       \
                                         const ptrdiff_t *s, ptrdiff_t w, ptrdiff_t n) {                             \
        t part[BAND], scratch[BAND];                                                                                 \
        for (ptrdiff_t r = 0; r < w; r++) total[r] = 0;                                                              \
        for (ptrdiff_t j = 0; j < n;) {                                                                              \
            const ptrdiff_t end = n - j < FLUSH ? n : j + FLUSH;                                                     \
            for (ptrdiff_t r = 0; r < w; r++) part[r] = 0;                                                           \
            for (; j < end; j++) {                                                                                   \
                COLUMN(t, a, 1, j);                                                                                  \
                OUT_COLUMN(t, j);                                                                                    \
                t *e = keep ? o : scratch;                                                                           \
                ACROSS {                                                                                             \
                    const t value = st_quick_exp_##t(a[r] - top[r]);                                                       \
                    part[r] += value;                                                                                \
                    e[r] = value;                                                                                    \
                }                                                                                                    \
            }                                                                                                        \
            for (ptrdiff_t r = 0; r < w; r++) total[r] += part[r];                                                   \
        }                                                                                                            \
    }

#define DEFINE_BANDS(t)                                                                                              \
    BAND_KERNEL(softmax, t) {                                                                                        \
        t top[BAND], scale[BAND];                                                                                    \
        f64 total[BAND];                                                                                             \
        band_highest_##t(top, p, s, w, n);                                                                           \
        band_exp_##t(total, top, 1, p, s, w, n);                                                                     \
        for (ptrdiff_t r = 0; r < w; r++) scale[r] = (t)(1 / total[r]);                                              \
        for (ptrdiff_t j = 0; j < n; j++) {                                                                          \
            OUT_COLUMN(t, j);                                                                                        \
            ACROSS o[r] *= scale[r];                                                                                 \
        }                                                                                                            \
    }                                                                                                                \
    BAND_KERNEL(log_softmax, t) {                                                                                    \
        t top[BAND], log_total[BAND];                                                                                \
        f64 total[BAND];                                                                                             \
        band_highest_##t(top, p, s, w, n);                                                                           \
        band_exp_##t(total, top, 0, p, s, w, n);                                                                     \
        for (ptrdiff_t r = 0; r < w; r++) log_total[r] = (t)log(total[r]);                                           \
        for (ptrdiff_t j = 0; j < n; j++) {                                                                          \
            COLUMN(t, a, 1, j);                                                                                      \
            OUT_COLUMN(t, j);                                                                                        \
            ACROSS o[r] = a[r] - top[r] - log_total[r];                                                              \
        }                                                                                                            \
    }                                                                                                                \
    BAND_KERNEL(softmax_backward, t) {                                                                               \
        f64 total[BAND];                                                                                             \
        for (ptrdiff_t r = 0; r < w; r++) total[r] = 0;                                                              \
        for (ptrdiff_t j = 0; j < n; j++) {                                                                          \
            COLUMN(t, g, 1, j);                                                                                      \
            COLUMN(t, y, 2, j);                                                                                      \
            ACROSS total[r] += g[r] * y[r];                                                                          \
        }                                                                                                            \
        for (ptrdiff_t j = 0; j < n; j++) {                                                                          \
            COLUMN(t, g, 1, j);                                                                                      \
            COLUMN(t, y, 2, j);                                                                                      \
            OUT_COLUMN(t, j);                                                                                        \
            ACROSS o[r] = (g[r] - (t)total[r]) * y[r];                                                               \
        }                                                                                                            \
    }                                                                                                                \
    BAND_KERNEL(log_softmax_backward, t) {                                                                           \
        f64 total[BAND];                                                                                             \
        for (ptrdiff_t r = 0; r < w; r++) total[r] = 0;                                                              \
        for (ptrdiff_t j = 0; j < n; j++) {                                                                          \
            COLUMN(t, g, 1, j);                                                                                      \
            ACROSS total[r] += g[r];                                                                                 \
        }                                                                                                            \
        for (ptrdiff_t j = 0; j < n; j++) {                                                                          \
            COLUMN(t, g, 1, j);                                                                                      \
            COLUMN(t, y, 2, j);                                                                                      \
            OUT_COLUMN(t, j);                                                                                        \
            ACROSS o[r] = g[r] - st_quick_exp_##t(y[r]) * (t)total[r];                                                     \
        }                                                                                                            \
    }

#define LOOPS(m, t)                                                                                                  \
    ROW_LOOP(softmax, m, t, 2)                                                                                       \
    ROW_LOOP(log_softmax, m, t, 2)                                                                                   \
    ROW_LOOP(softmax_backward, m, t, 3)                                                                              \
    ROW_LOOP(log_softmax_backward, m, t, 3)
#define DEFINE(t) DEFINE_SUMS(t) DEFINE_ROWS(t) DEFINE_BAND_SUMS(t) DEFINE_BANDS(t) LOOPS(t, t)
DEFINE(f32)
DEFINE(f64)
DEFINE_SHARED(f32)
DEFINE_SHARED(f64)
/* rows alone: there are no strides of a g that has one element a row */
#define band_log_softmax_shared_f32 NULL
#define band_log_softmax_shared_f64 NULL
ROW_LOOP(log_softmax_shared, f32, f32, 3)
ROW_LOOP(log_softmax_shared, f64, f64, 3)
LOOPS(f16, f32)
LOOPS(bf16, f32)

#define ENTRIES(m)                                                                                                   \
    ROW_ENTRY(softmax, m, m) ROW_ENTRY(log_softmax, m, m) ROW_ENTRY(softmax_backward, m, m)                          \
    ROW_ENTRY(log_softmax_backward, m, m)
const st_entry ISA_NAME(st_entries_rows_softmax)[] = {
    ENTRIES(f32) ENTRIES(f64) ENTRIES(f16) ENTRIES(bf16)
    ROW_ENTRY(log_softmax_shared, f32, f32) ROW_ENTRY(log_softmax_shared, f64, f64) ST_END};
