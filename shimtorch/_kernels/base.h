/* What every kernel file shares: element types, names per instruction set, the tables a file hands to dispatch.c. */
#ifndef SHIMTORCH_KERNELS_BASE_H
#define SHIMTORCH_KERNELS_BASE_H

#include "kernels.h"
#include "ops.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#define ST_CAT_(a, b) a##_##b
#define ST_CAT(a, b) ST_CAT_(a, b)

/* ISA_NAME(x): x with the suffix of the instruction set this file is being compiled for */
#ifdef ST_ISA
#define ISA_NAME(name) ST_CAT(name, ST_ISA)
#endif

typedef uint8_t b8; /* a bool in memory, 0 or 1 */
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t i8;
typedef int16_t i16;
typedef int32_t i32;
typedef int64_t i64;
typedef float f32;
typedef double f64;
typedef float _Complex c64;
typedef double _Complex c128;
typedef struct { u16 bits; } f16;
typedef struct { u16 bits; } bf16;

/* dtype code of a type name */
#define CODE_b8 ST_BOOL
#define CODE_u8 ST_UINT8
#define CODE_i8 ST_INT8
#define CODE_i16 ST_INT16
#define CODE_i32 ST_INT32
#define CODE_i64 ST_INT64
#define CODE_f16 ST_FLOAT16
#define CODE_bf16 ST_BFLOAT16
#define CODE_f32 ST_FLOAT32
#define CODE_f64 ST_FLOAT64
#define CODE_c64 ST_COMPLEX64
#define CODE_c128 ST_COMPLEX128
#define CODE_u16 ST_UINT16
#define CODE_u32 ST_UINT32
#define CODE_u64 ST_UINT64

/* Elements of a loop are independent of each other (an output may still be one of the inputs). */
#ifdef __clang__
#define IVDEP _Pragma("clang loop vectorize(assume_safety)")
#else
#define IVDEP _Pragma("GCC ivdep")
#endif

#define ST_UNUSED __attribute__((unused))
/* for long functions in a loop that is to be vectorised: the compiler would call them */
#define ST_INLINE static inline __attribute__((always_inline))
/* one copy of the function in the binary: neither inlined nor cloned for constant arguments */
#ifdef __clang__
#define ST_OUTLINED __attribute__((noinline))
#else
#define ST_OUTLINED __attribute__((noinline, noclone))
#endif

typedef void (*st_function)(void);

/* one row of a table: which function serves an op for a dtype */
typedef struct {
    int op, dtype;
    st_function fn;
} st_entry;

#define ST_END {-1, -1, 0}

/* c[m,n] = a[m,k] @ b[k,n]; strides of rows and columns in bytes */
typedef int (*st_gemm_fn)(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, const char *a, const ptrdiff_t *sa, const char *b,
                          const ptrdiff_t *sb, char *c, const ptrdiff_t *sc);

#endif
