/* Running sums and products along rows. */
#include "complexmath.h"
#include "intmath.h"
#include "rows.h"

#define ADD(T, a, b) (T)((a) + (b))
#define MUL(T, a, b) (T)((a) * (b))
#define WRAP_MUL(T, a, b) wrap_mul_##T(a, b)
#define CMUL(T, a, b) cmul_##T(a, b)

/* In a row four elements are taken at a time: the running total, of type A, waits for one operation, not for four. */
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
    }                                                                                                                \
    BAND_KERNEL(op, t) {                                                                                             \
        A total[BAND];                                                                                               \
        for (ptrdiff_t r = 0; r < w; r++) total[r] = INIT;                                                           \
        for (ptrdiff_t j = 0; j < n; j++) {                                                                          \
            t *o = (t *)(void *)(p[0] + j * s[0]);                                                                   \
            const t *a = (const t *)(const void *)(p[1] + j * s[1]);                                                 \
            IVDEP for (ptrdiff_t r = 0; r < w; r++) {                                                                \
                const A next = FOLD(A, total[r], (A)a[r]);                                                           \
                total[r] = next;                                                                                     \
                o[r] = (t)next;                                                                                      \
            }                                                                                                        \
        }                                                                                                            \
    }
#define SCANS(t, A, PRODUCT) SCAN(cumsum, t, A, 0, ADD) SCAN(cumprod, t, A, 1, PRODUCT)
SCANS(f32, f64, MUL)
SCANS(f64, f64, MUL)
SCANS(c64, c128, CMUL)
SCANS(c128, c128, CMUL)
SCANS(u8, u8, WRAP_MUL)
SCANS(u16, u16, WRAP_MUL)
SCANS(u32, u32, WRAP_MUL)
SCANS(u64, u64, WRAP_MUL)

#define LOOPS(m, t) ROW_LOOP(cumsum, m, t, 2) ROW_LOOP(cumprod, m, t, 2)
LOOPS(f32, f32)
LOOPS(f64, f64)
LOOPS(f16, f32)
LOOPS(bf16, f32)
LOOPS(c64, c64)
LOOPS(c128, c128)
LOOPS(u8, u8)
LOOPS(u16, u16)
LOOPS(u32, u32)
LOOPS(u64, u64)

#define ENTRIES(m, like) ROW_ENTRY(cumsum, m, like) ROW_ENTRY(cumprod, m, like)
const st_entry ISA_NAME(st_entries_rows_scan)[] = {
    ENTRIES(f32, f32) ENTRIES(f64, f64) ENTRIES(f16, f16) ENTRIES(bf16, bf16) ENTRIES(c64, c64) ENTRIES(c128, c128)
    ENTRIES(u8, u8) ENTRIES(i8, u8) ENTRIES(u16, u16) ENTRIES(i16, u16)
    ENTRIES(u32, u32) ENTRIES(i32, u32) ENTRIES(u64, u64) ENTRIES(i64, u64)
    ST_END};
