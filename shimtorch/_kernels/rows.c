/* Ops along rows: softmax, log_softmax, their gradients, cumsum, cumprod.
 *
 * Each is a kernel over contiguous rows. Rows that are strided or of half precision are copied through a buffer, a
 * bundle at a time, so that neighbouring columns of memory are read together. */
#include "complexmath.h"
#include "intmath.h"
#include "loops.h"
#include "vecmath.h"

#include <stdlib.h>

typedef void (*st_row_kernel)(char *const *p, ptrdiff_t n);

enum { CHUNK = 1024, BUNDLE = 16, BUNDLE_BYTES = 1 << 17, MAX_OPERANDS = 3, LANE_BYTES = 256 };

#define ROW_KERNEL(op, t) static void row_##op##_##t(char *const *p, ptrdiff_t n)
#define OUT(t) t *o = (t *)(void *)p[0]
#define IN(t, name, k) const t *name = (const t *)(const void *)p[k]

/* ---- kernels over one contiguous row ---- */

#define DEFINE_SUMS(t)                                                                                               \
    static ST_OUTLINED t highest_##t(const t *a, ptrdiff_t n) {                                                      \
        enum { LANES = LANE_BYTES / sizeof(t) };                                                                     \
        t top = -(t)INFINITY;                                                                                        \
        ptrdiff_t i = 0;                                                                                             \
        if (n >= LANES) {                                                                                            \
            t lane[LANES];                                                                                           \
            for (int k = 0; k < LANES; k++) lane[k] = a[k];                                                          \
            for (i = LANES; i + LANES <= n; i += LANES)                                                              \
                for (int k = 0; k < LANES; k++) lane[k] = a[i + k] > lane[k] ? a[i + k] : lane[k];                   \
            for (int k = 0; k < LANES; k++) top = lane[k] > top ? lane[k] : top;                                     \
        }                                                                                                            \
        for (; i < n; i++) top = a[i] > top ? a[i] : top;                                                            \
        return top;                                                                                                  \
    }                                                                                                                \
    /* at most CHUNK elements of a, or of a * b */                                                                   \
    static ST_OUTLINED f64 sum_##t(const t *a, ptrdiff_t n) {                                                        \
        enum { LANES = LANE_BYTES / sizeof(t) };                                                                     \
        f64 total = 0;                                                                                               \
        ptrdiff_t i = 0;                                                                                             \
        if (n >= LANES) {                                                                                            \
            t lane[LANES];                                                                                           \
            for (int k = 0; k < LANES; k++) lane[k] = 0;                                                             \
            for (; i + LANES <= n; i += LANES)                                                                       \
                for (int k = 0; k < LANES; k++) lane[k] += a[i + k];                                                 \
            for (int k = 0; k < LANES; k++) total += lane[k];                                                        \
        }                                                                                                            \
        for (; i < n; i++) total += a[i];                                                                            \
        return total;                                                                                                \
    }                                                                                                                \
    static ST_OUTLINED f64 dot_##t(const t *a, const t *b, ptrdiff_t n) {                                            \
        enum { LANES = LANE_BYTES / sizeof(t) };                                                                     \
        f64 total = 0;                                                                                               \
        ptrdiff_t i = 0;                                                                                             \
        if (n >= LANES) {                                                                                            \
            t lane[LANES];                                                                                           \
            for (int k = 0; k < LANES; k++) lane[k] = 0;                                                             \
            for (; i + LANES <= n; i += LANES)                                                                       \
                for (int k = 0; k < LANES; k++) lane[k] += a[i + k] * b[i + k];                                      \
            for (int k = 0; k < LANES; k++) total += lane[k];                                                        \
        }                                                                                                            \
        for (; i < n; i++) total += (f64)a[i] * b[i];                                                                \
        return total;                                                                                                \
    }

/* calls SUM over pieces, so that float32 lanes never grow long */
#define IN_CHUNKS(total, start, m, SUM)                                      \
    f64 total = 0;                                                           \
    for (ptrdiff_t start = 0; start < n; start += CHUNK) {                   \
        const ptrdiff_t m = n - start < CHUNK ? n - start : CHUNK;           \
        total += SUM;                                                        \
    }

#define DEFINE_ROWS(t)                                                                                               \
    DEFINE_SUMS(t)                                                                                                   \
    static ST_OUTLINED f64 exp_chunk_##t(t *o, const t *a, t top, ptrdiff_t m) {                                     \
        IVDEP for (ptrdiff_t i = 0; i < m; i++) o[i] = st_exp_##t(a[i] - top);                                       \
        return sum_##t(o, m);                                                                                        \
    }                                                                                                                \
    /* an infinite maximum is subtracted as it is: the row becomes NaN, as it should */                              \
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
        t buffer[CHUNK];                                                                                             \
        const t top = highest_##t(a, n);                                                                             \
        IN_CHUNKS(total, start, m, exp_chunk_##t(buffer, a + start, top, m))                                         \
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
        IVDEP for (ptrdiff_t i = 0; i < n; i++) o[i] = g[i] - st_exp_##t(y[i]) * sum;                                \
    }
DEFINE_ROWS(f32)
DEFINE_ROWS(f64)

/* Four elements at a time: the running total waits for one operation, not for four. */
#define SCAN(op, t, A, INIT, FOLD)                                                                                   \
    ROW_KERNEL(op, t) {                                                                                              \
        OUT(t);                                                                                                      \
        IN(t, a, 1);                                                                                                 \
        A total = INIT;                                                                                              \
        ptrdiff_t i = 0;                                                                                             \
        for (; i + 4 <= n; i += 4) {                                                                                 \
            const A v0 = a[i], v1 = FOLD(A, v0, (A)a[i + 1]), v2 = FOLD(A, v1, (A)a[i + 2]);                         \
            const A v3 = FOLD(A, v2, (A)a[i + 3]);                                                                   \
            o[i] = (t)FOLD(A, total, v0);                                                                            \
            o[i + 1] = (t)FOLD(A, total, v1);                                                                        \
            o[i + 2] = (t)FOLD(A, total, v2);                                                                        \
            o[i + 3] = (t)(total = FOLD(A, total, v3));                                                              \
        }                                                                                                            \
        for (; i < n; i++) o[i] = (t)(total = FOLD(A, total, (A)a[i]));                                              \
    }
#define ADD(T, a, b) (T)((a) + (b))
#define MUL(T, a, b) (T)((a) * (b))
#define WRAP_MUL(T, a, b) wrap_mul_##T(a, b)
#define CMUL(T, a, b) cmul_##T(a, b)
#define SCANS(t, A, PRODUCT) SCAN(cumsum, t, A, 0, ADD) SCAN(cumprod, t, A, 1, PRODUCT)
SCANS(f32, f64, MUL)
SCANS(f64, f64, MUL)
SCANS(c64, c128, CMUL)
SCANS(c128, c128, CMUL)
SCANS(u8, u8, WRAP_MUL)
SCANS(u16, u16, WRAP_MUL)
SCANS(u32, u32, WRAP_MUL)
SCANS(u64, u64, WRAP_MUL)

/* ---- rows as they lie in memory ---- */

/* kind is that of every operand, size that of an element in the kernel */
static ST_OUTLINED int for_rows(st_row_kernel kernel, int n_operands, int kind, ptrdiff_t size, char **p,
                                const ptrdiff_t *row_strides, const ptrdiff_t *col_strides, ptrdiff_t n_rows,
                                ptrdiff_t n_cols) {
    char *q[MAX_OPERANDS], *buffer[MAX_OPERANDS] = {NULL};
    char *memory = NULL;
    ptrdiff_t bundle = 1;
    int buffered = 0;

    if (n_rows <= 0 || n_cols <= 0) return ST_OK;
    for (int k = 0; k < n_operands; k++) buffered |= kind > 16 || (col_strides[k] != size && n_cols > 1);
    if (buffered) {
        bundle = BUNDLE_BYTES / (n_cols * size);
        bundle = bundle < 1 ? 1 : bundle > BUNDLE ? BUNDLE : bundle;
        bundle = bundle > n_rows ? n_rows : bundle;
        const ptrdiff_t bytes = (bundle * n_cols * size + 63) / 64 * 64;
        memory = (char *)malloc((size_t)(bytes * n_operands));
        if (memory == NULL) return ST_NO_MEMORY;
        for (int k = 0; k < n_operands; k++) buffer[k] = memory + k * bytes;
    }
    for (ptrdiff_t i = 0; i < n_rows; i += bundle) {
        const ptrdiff_t m = n_rows - i < bundle ? n_rows - i : bundle;
        for (int k = 1; k < n_operands && buffered; k++)
            for (ptrdiff_t r = 0; r < m; r++)
                st_load(kind, buffer[k] + r * n_cols * size, p[k] + (i + r) * row_strides[k], col_strides[k], n_cols);
        for (ptrdiff_t r = 0; r < m; r++) {
            for (int k = 0; k < n_operands; k++)
                q[k] = buffered ? buffer[k] + r * n_cols * size : p[k] + i * row_strides[k];
            kernel(q, n_cols);
        }
        for (ptrdiff_t r = 0; r < m && buffered; r++)
            st_store(kind, p[0] + (i + r) * row_strides[0], col_strides[0], buffer[0] + r * n_cols * size, n_cols);
    }
    free(memory);
    return ST_OK;
}

#define ROW_LOOP(op, m, t, n_operands)                                                                               \
    static int rows_##op##_##m(char **p, const ptrdiff_t *row_strides, const ptrdiff_t *col_strides,                 \
                               ptrdiff_t n_rows, ptrdiff_t n_cols) {                                                 \
        return for_rows(row_##op##_##t, n_operands, KIND_##m[0], sizeof(t), p, row_strides, col_strides, n_rows,     \
                        n_cols);                                                                                     \
    }
#define SCAN_LOOPS(m, t) ROW_LOOP(cumsum, m, t, 2) ROW_LOOP(cumprod, m, t, 2)
#define FLOAT_LOOPS(m, t)                                                                                            \
    ROW_LOOP(softmax, m, t, 2)                                                                                       \
    ROW_LOOP(log_softmax, m, t, 2)                                                                                   \
    ROW_LOOP(softmax_backward, m, t, 3)                                                                              \
    ROW_LOOP(log_softmax_backward, m, t, 3)                                                                          \
    SCAN_LOOPS(m, t)
FLOAT_LOOPS(f32, f32)
FLOAT_LOOPS(f64, f64)
FLOAT_LOOPS(f16, f32)
FLOAT_LOOPS(bf16, f32)
SCAN_LOOPS(c64, c64)
SCAN_LOOPS(c128, c128)
SCAN_LOOPS(u8, u8)
SCAN_LOOPS(u16, u16)
SCAN_LOOPS(u32, u32)
SCAN_LOOPS(u64, u64)

#define ROW_ENTRY(op, m, like) {ST_ROW_##op, CODE_##m, (st_function)rows_##op##_##like},
#define SCAN_ENTRIES(m, like) ROW_ENTRY(cumsum, m, like) ROW_ENTRY(cumprod, m, like)
#define FLOAT_ENTRIES(m)                                                                                             \
    ROW_ENTRY(softmax, m, m) ROW_ENTRY(log_softmax, m, m) ROW_ENTRY(softmax_backward, m, m)                          \
    ROW_ENTRY(log_softmax_backward, m, m) SCAN_ENTRIES(m, m)

const st_entry ISA_NAME(st_entries_rows)[] = {
    FLOAT_ENTRIES(f32) FLOAT_ENTRIES(f64) FLOAT_ENTRIES(f16) FLOAT_ENTRIES(bf16)
    SCAN_ENTRIES(c64, c64) SCAN_ENTRIES(c128, c128)
    SCAN_ENTRIES(u8, u8) SCAN_ENTRIES(i8, u8) SCAN_ENTRIES(u16, u16) SCAN_ENTRIES(i16, u16)
    SCAN_ENTRIES(u32, u32) SCAN_ENTRIES(i32, u32) SCAN_ENTRIES(u64, u64) SCAN_ENTRIES(i64, u64)
    ST_END};
