/* Conversions between all dtypes (from a dtype to itself copy.c is used).
 *
 * A conversion is one of a few contiguous kernels between arithmetic types; how an element lies in memory (half
 * precision, the real part of a complex number) is st_blocked's business. Complex to real takes the real part; to bool
 * is "not zero"; a float out of an integer's range gives what an x86 processor's conversion gives. */
#include "half.h"
#include "loops.h"

/* ---- float to integer without undefined behaviour ---- */

static inline i32 i32_of(f64 x) { return x > -2147483649.0 && x < 2147483648.0 ? (i32)x : INT32_MIN; }
static inline i64 i64_of(f64 x) { return x >= -0x1p63 && x < 0x1p63 ? (i64)x : INT64_MIN; }
static inline u64 u64_of(f64 x) { return x < 0x1p63 ? (u64)i64_of(x) : x < 0x1p64 ? (u64)x : 0; }

/* the kernels' sources and targets; an integer's sign matters in a source only */
#define FROM_INT(X) X(u8) X(i8) X(u16) X(i16) X(u32) X(i32) X(u64) X(i64)
#define CONVERT(from, to, EXPR)                                                                                      \
    static ST_OUTLINED int k_##from##_to_##to(char *const *p, ptrdiff_t n, const void *param) {                      \
        to *o = (to *)(void *)p[0];                                                                                  \
        const from *a = (const from *)(const void *)p[1];                                                            \
        (void)param;                                                                                                 \
        IVDEP for (ptrdiff_t i = 0; i < n; i++) {                                                                    \
            const from x = a[i];                                                                                     \
            o[i] = (EXPR);                                                                                           \
        }                                                                                                            \
        return ST_OK;                                                                                                \
    }

#define FROM_ANY_INT(t)                                                                                              \
    CONVERT(t, b8, x != 0)                                                                                           \
    CONVERT(t, u8, (u8)x)                                                                                            \
    CONVERT(t, u16, (u16)x)                                                                                          \
    CONVERT(t, u32, (u32)x)                                                                                          \
    CONVERT(t, u64, (u64)x)                                                                                          \
    CONVERT(t, f32, (f32)x)                                                                                          \
    CONVERT(t, f64, (f64)x)
#define FROM_FLOAT(t)                                                                                                \
    CONVERT(t, b8, x != 0)                                                                                           \
    CONVERT(t, u8, (u8)i64_of(x))                                                                                    \
    CONVERT(t, i8, (i8)i32_of(x))                                                                                    \
    CONVERT(t, u16, (u16)i32_of(x))                                                                                  \
    CONVERT(t, i32, i32_of(x))                                                                                       \
    CONVERT(t, u32, (u32)i64_of(x))                                                                                  \
    CONVERT(t, i64, i64_of(x))                                                                                       \
    CONVERT(t, u64, u64_of(x))                                                                                       \
    CONVERT(t, f32, (f32)x)                                                                                          \
    CONVERT(t, f64, (f64)x)
FROM_INT(FROM_ANY_INT)
FROM_FLOAT(f32)
FROM_FLOAT(f64)
CONVERT(c64, c128, x)
CONVERT(c128, c64, (c64)x)
CONVERT(c64, b8, crealf(x) != 0 || cimagf(x) != 0)
CONVERT(c64, c64, x)
CONVERT(c128, c128, x)
CONVERT(c128, b8, creal(x) != 0 || cimag(x) != 0)

/* ---- which kernel serves a pair of dtypes ---- */

#define SOURCE_b8 u8
#define SOURCE_u8 u8
#define SOURCE_i8 i8
#define SOURCE_u16 u16
#define SOURCE_i16 i16
#define SOURCE_u32 u32
#define SOURCE_i32 i32
#define SOURCE_u64 u64
#define SOURCE_i64 i64
#define SOURCE_f16 f32
#define SOURCE_bf16 f32
#define SOURCE_f32 f32
#define SOURCE_f64 f64
#define SOURCE_c64 f32
#define SOURCE_c128 f64

/* targets, from integers (which wrap alike whatever the sign) and from floats */
#define TARGET_INT_b8 b8
#define TARGET_INT_u8 u8
#define TARGET_INT_i8 u8
#define TARGET_INT_u16 u16
#define TARGET_INT_i16 u16
#define TARGET_INT_u32 u32
#define TARGET_INT_i32 u32
#define TARGET_INT_u64 u64
#define TARGET_INT_i64 u64
#define TARGET_INT_f16 f32
#define TARGET_INT_bf16 f32
#define TARGET_INT_f32 f32
#define TARGET_INT_f64 f64
#define TARGET_INT_c64 f32
#define TARGET_INT_c128 f64
#define TARGET_FLOAT_b8 b8
#define TARGET_FLOAT_u8 u8
#define TARGET_FLOAT_i8 i8
#define TARGET_FLOAT_u16 u16
#define TARGET_FLOAT_i16 u16
#define TARGET_FLOAT_u32 u32
#define TARGET_FLOAT_i32 i32
#define TARGET_FLOAT_u64 u64
#define TARGET_FLOAT_i64 i64
#define TARGET_FLOAT_f16 f32
#define TARGET_FLOAT_bf16 f32
#define TARGET_FLOAT_f32 f32
#define TARGET_FLOAT_f64 f64
#define TARGET_FLOAT_c64 f32
#define TARGET_FLOAT_c128 f64

/* A complex output gets its real part from the kernel. A complex input is read as the real type at its own stride. */
#define REAL_PART_c64 "\x22" /* KIND_C64_REAL */
#define REAL_PART_c128 "\x23"

#define CAST(m, n, KERNEL, OUT_KIND, IN_KIND)                                                                        \
    static int cast_##m##_##n(char **p, const ptrdiff_t *s, ptrdiff_t count, const void *param) {                    \
        return st_blocked(KERNEL, OUT_KIND IN_KIND, p, s, count, param);                                             \
    }
#define KERNEL_NAME_(from, to) k_##from##_to_##to
#define KERNEL_NAME(from, to) KERNEL_NAME_(from, to)

/* to every dtype, from one stored as m: G is INT or FLOAT, IN the input's kind */
#define CAST_TO_REALS(m, G, IN)                                                                                      \
    CAST(m, u8, KERNEL_NAME(SOURCE_##m, TARGET_##G##_u8), KIND_u8, IN)                                               \
    CAST(m, i8, KERNEL_NAME(SOURCE_##m, TARGET_##G##_i8), KIND_i8, IN)                                               \
    CAST(m, i16, KERNEL_NAME(SOURCE_##m, TARGET_##G##_i16), KIND_i16, IN)                                            \
    CAST(m, i32, KERNEL_NAME(SOURCE_##m, TARGET_##G##_i32), KIND_i32, IN)                                            \
    CAST(m, i64, KERNEL_NAME(SOURCE_##m, TARGET_##G##_i64), KIND_i64, IN)                                            \
    CAST(m, f16, KERNEL_NAME(SOURCE_##m, TARGET_##G##_f16), KIND_f16, IN)                                            \
    CAST(m, bf16, KERNEL_NAME(SOURCE_##m, TARGET_##G##_bf16), KIND_bf16, IN)                                         \
    CAST(m, f32, KERNEL_NAME(SOURCE_##m, TARGET_##G##_f32), KIND_f32, IN)                                            \
    CAST(m, f64, KERNEL_NAME(SOURCE_##m, TARGET_##G##_f64), KIND_f64, IN)                                            \
    CAST(m, u16, KERNEL_NAME(SOURCE_##m, TARGET_##G##_u16), KIND_u16, IN)                                            \
    CAST(m, u32, KERNEL_NAME(SOURCE_##m, TARGET_##G##_u32), KIND_u32, IN)                                            \
    CAST(m, u64, KERNEL_NAME(SOURCE_##m, TARGET_##G##_u64), KIND_u64, IN)
#define CAST_FROM_REAL(m, G)                                                                                         \
    CAST_TO_REALS(m, G, KIND_##m)                                                                                    \
    CAST(m, b8, KERNEL_NAME(SOURCE_##m, b8), KIND_b8, KIND_##m)                                                      \
    CAST(m, c64, KERNEL_NAME(SOURCE_##m, f32), REAL_PART_c64, KIND_##m)                                              \
    CAST(m, c128, KERNEL_NAME(SOURCE_##m, f64), REAL_PART_c128, KIND_##m)
#define CAST_FROM_COMPLEX(m, IN)                                                                                     \
    CAST_TO_REALS(m, FLOAT, IN)                                                                                      \
    CAST(m, b8, k_##m##_to_b8, KIND_b8, KIND_##m)                                                                    \
    CAST(m, c64, k_##m##_to_c64, KIND_c64, KIND_##m)                                                                 \
    CAST(m, c128, k_##m##_to_c128, KIND_c128, KIND_##m)

CAST_FROM_REAL(b8, INT)
CAST_FROM_REAL(u8, INT)
CAST_FROM_REAL(i8, INT)
CAST_FROM_REAL(i16, INT)
CAST_FROM_REAL(i32, INT)
CAST_FROM_REAL(i64, INT)
CAST_FROM_REAL(u16, INT)
CAST_FROM_REAL(u32, INT)
CAST_FROM_REAL(u64, INT)
CAST_FROM_REAL(f16, FLOAT)
CAST_FROM_REAL(bf16, FLOAT)
CAST_FROM_REAL(f32, FLOAT)
CAST_FROM_REAL(f64, FLOAT)
CAST_FROM_COMPLEX(c64, KIND_f32)
CAST_FROM_COMPLEX(c128, KIND_f64)

/* in the order of the dtype codes */
#define ROW(m)                                                                                                       \
    {cast_##m##_b8,   cast_##m##_u8,  cast_##m##_i8,  cast_##m##_i16, cast_##m##_i32,                                \
     cast_##m##_i64,  cast_##m##_f16, cast_##m##_bf16, cast_##m##_f32, cast_##m##_f64,                               \
     cast_##m##_c64,  cast_##m##_c128, cast_##m##_u16, cast_##m##_u32, cast_##m##_u64}
const st_loop ISA_NAME(st_casts)[ST_NDTYPES][ST_NDTYPES] = {
    ROW(b8),  ROW(u8),  ROW(i8),  ROW(i16),  ROW(i32), ROW(i64), ROW(f16), ROW(bf16),
    ROW(f32), ROW(f64), ROW(c64), ROW(c128), ROW(u16), ROW(u32), ROW(u64)};
