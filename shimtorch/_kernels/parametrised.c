/* Unary pointwise ops with parameters: powers by a number, clamp, and the activations that have constants. */
#include "complexmath.h"
#include "intmath.h"
#include "loops.h"
#include "vecmath.h"

#define Q(t, k) const t q##k = (t)((const f64 *)param)[k]

#define DEFINE_FINITE(t)                                                 \
    static inline t finite_##t(t x, t for_nan, t for_inf, t for_minus) { \
        const t y = x == (t)INFINITY ? for_inf : x;                      \
        const t z = x == -(t)INFINITY ? for_minus : y;                   \
        return x != x ? for_nan : z;                                     \
    }
DEFINE_FINITE(f32)
DEFINE_FINITE(f64)

#define DEFINE_HUBER(t)                                         \
    static inline t huber_##t(t x, t delta) {                   \
        const t d = x < 0 ? -x : x, bent = d > delta ? delta : d; \
        return bent * (d - bent / 2);                           \
    }
DEFINE_HUBER(f32)
DEFINE_HUBER(f64)

/* name, type, parameters, value for x */
#define OPS(X, t)                                                                                                    \
    X(leaky_relu, t, Q(t, 0), x > 0 ? x : x * q0)                                                                    \
    X(elu, t, Q(t, 0); Q(t, 1); Q(t, 2), x > 0 ? x * q1 : F(expm1, t)(x * q2) * (q0 * q1))                           \
    X(celu, t, Q(t, 0); const t inverse = 1 / q0, x > 0 ? x : F(expm1, t)(x * inverse) * q0)                         \
    X(softplus, t, Q(t, 0); Q(t, 1), x * q0 > q1 ? x : F(log1p, t)(F(exp, t)(x * q0)) / q0)                          \
    X(threshold, t, Q(t, 0); Q(t, 1), x <= q0 ? q1 : x)                                                              \
    X(hardshrink, t, Q(t, 0), x >= -q0 && x <= q0 ? 0 : x)                                                           \
    X(softshrink, t, Q(t, 0), x > q0 ? x - q0 : x < -q0 ? x + q0 : x * 0)                                            \
    X(huber, t, Q(t, 0), huber_##t(x, q0))                                                                           \
    X(nan_to_num, t, Q(t, 0); Q(t, 1); Q(t, 2), finite_##t(x, q0, q1, q2))

/* A missing bound is infinite. A NaN, in x or as a bound, comes through. */
#define BOUNDS(t)                                                                                                    \
    const st_bounds *bounds = (const st_bounds *)param;                                                              \
    const t lo = bounds->has_lo ? (t)bounds->lo : -(t)INFINITY, hi = bounds->has_hi ? (t)bounds->hi : (t)INFINITY
/* x < lo is false for NaN, which comes through */
#define CLAMP(t)                                                                         \
    KERNEL_HEAD(clamp, t) {                                                              \
        t *o = (t *)(void *)p[0];                                                        \
        const t *a = (const t *)(const void *)p[1];                                      \
        BOUNDS(t);                                                                       \
        const t none = lo + hi;                                                          \
        if (lo != lo || hi != hi) {                                                      \
            for (ptrdiff_t i = 0; i < n; i++) o[i] = none;                               \
            return ST_OK;                                                                \
        }                                                                                \
        IVDEP for (ptrdiff_t i = 0; i < n; i++) {                                        \
            const t x = a[i], y = x < lo ? lo : x;                                       \
            o[i] = hi < y ? hi : y;                                                      \
        }                                                                                \
        return ST_OK;                                                                    \
    }

#define CLAMP_INT(t, t_min, t_max)                                                                                   \
    KERNEL1P(clamp, t, t, const st_bounds *bounds = (const st_bounds *)param;                                        \
             const t lo = bounds->has_lo ? (t)bounds->ilo : t_min;                                                   \
             const t hi = bounds->has_hi ? (t)bounds->ihi : t_max, (x > lo ? x : lo) < hi ? (x > lo ? x : lo) : hi)  \
    LOOP1(clamp, t, t, t)

/* Exponents with an exact form have it; the others go through pow. */
#define POWERS(t, X)                                                                                                 \
    X(2, x * x) X(3, x * x * x) X(0.5, F(sqrt, t)(x)) X(-0.5, 1 / F(sqrt, t)(x)) X(1, x) X(-1, 1 / x) X(-2, 1 / (x * x))
#define POWER_LOOP(value, EXPR)                    \
    if (exponent == (value)) {                     \
        IVDEP for (ptrdiff_t i = 0; i < n; i++) {  \
            const T x = a[i];                      \
            o[i] = (EXPR);                         \
        }                                          \
        return ST_OK;                              \
    }
#define POW_SCALAR(t)                                                                                                \
    KERNEL_HEAD(pow_scalar, t) {                                                                                     \
        typedef t T;                                                                                                 \
        T *o = (T *)(void *)p[0];                                                                                    \
        const T *a = (const T *)(const void *)p[1];                                                                  \
        const f64 exponent = ((const st_factor *)param)->re;                                                         \
        POWERS(t, POWER_LOOP)                                                                                        \
        IVDEP for (ptrdiff_t i = 0; i < n; i++) o[i] = F(pow, t)(a[i], (T)exponent);                                 \
        return ST_OK;                                                                                                \
    }
POW_SCALAR(f32)
POW_SCALAR(f64)
CLAMP(f32)
CLAMP(f64)

#define DEFINE(op, t, SETUP, EXPR) KERNEL1P(op, t, t, SETUP, EXPR) LOOP1(op, t, t, t)
#define DEFINE_HALF(op, m, SETUP, EXPR) HALF1(op, m, m)
OPS(DEFINE, f32)
OPS(DEFINE, f64)
OPS(DEFINE_HALF, f16)
OPS(DEFINE_HALF, bf16)
LOOP1(pow_scalar, f32, f32, f32)
LOOP1(pow_scalar, f64, f64, f64)
HALF1(pow_scalar, f16, f16)
HALF1(pow_scalar, bf16, bf16)
LOOP1(clamp, f32, f32, f32)
LOOP1(clamp, f64, f64, f64)
HALF1(clamp, f16, f16)
HALF1(clamp, bf16, bf16)

CLAMP_INT(i8, INT8_MIN, INT8_MAX)
CLAMP_INT(i16, INT16_MIN, INT16_MAX)
CLAMP_INT(i32, INT32_MIN, INT32_MAX)
CLAMP_INT(i64, INT64_MIN, INT64_MAX)
CLAMP_INT(u8, 0, UINT8_MAX)
CLAMP_INT(u16, 0, UINT16_MAX)
CLAMP_INT(u32, 0, UINT32_MAX)
CLAMP_INT(u64, 0, UINT64_MAX)

#define POW_INT(t)                                                                                              \
    KERNEL1P(pow_scalar, t, t, const i64 exponent = ((const st_factor *)param)->i, int_pow_##t(x, exponent))    \
    LOOP1(pow_scalar, t, t, t)
INTEGERS(POW_INT)

#define EXPONENT(t)                                \
    const st_factor *q = (const st_factor *)param; \
    const t exponent = make_##t((REAL(t))q->re, (REAL(t))q->im)
KERNEL1P(pow_scalar, c64, c64, EXPONENT(c64), st_cpow_c64(x, exponent))
KERNEL1P(pow_scalar, c128, c128, EXPONENT(c128), st_cpow_c128(x, exponent))
LOOP1(pow_scalar, c64, c64, c64)
LOOP1(pow_scalar, c128, c128, c128)

#define ROW(op, t, SETUP, EXPR) ENTRY(op, t)
#define FLOAT_ROWS(t) OPS(ROW, t) ENTRY(pow_scalar, t) ENTRY(clamp, t)
#define INT_ROWS(t) ENTRY(pow_scalar, t) ENTRY(clamp, t)
const st_entry ISA_NAME(st_entries_parametrised)[] = {
    FLOAT_ROWS(f32) FLOAT_ROWS(f64) FLOAT_ROWS(f16) FLOAT_ROWS(bf16)
    INTEGERS(INT_ROWS)
    ENTRY(pow_scalar, c64) ENTRY(pow_scalar, c128)
    ST_END};
