/* Unary pointwise ops of the floating types; float16 and bfloat16 run through the float32 kernels. */
#include "loops.h"
#include "vecmath.h"

#define R(t, v) ((t)(v))

/* name, type, value for x */
#define SAME_TYPE(X, t)                                                                                              \
    X(neg, t, -x)                                                                                                    \
    X(abs, t, F(fabs, t)(x))                                                                                         \
    X(exp, t, F(exp, t)(x))                                                                                          \
    X(exp2, t, F(exp2, t)(x))                                                                                        \
    X(expm1, t, F(expm1, t)(x))                                                                                      \
    X(log, t, F(log, t)(x))                                                                                          \
    X(log2, t, F(log2, t)(x))                                                                                        \
    X(log10, t, F(log10, t)(x))                                                                                      \
    X(log1p, t, F(log1p, t)(x))                                                                                      \
    X(sqrt, t, F(sqrt, t)(x))                                                                                        \
    X(rsqrt, t, R(t, 1) / F(sqrt, t)(x))                                                                             \
    X(asin, t, F(asin, t)(x))                                                                                        \
    X(acos, t, F(acos, t)(x))                                                                                        \
    X(atan, t, F(atan, t)(x))                                                                                        \
    X(sinh, t, F(sinh, t)(x))                                                                                        \
    X(cosh, t, F(cosh, t)(x))                                                                                        \
    X(tanh, t, F(tanh, t)(x))                                                                                        \
    X(asinh, t, F(asinh, t)(x))                                                                                      \
    X(acosh, t, F(acosh, t)(x))                                                                                      \
    X(atanh, t, F(atanh, t)(x))                                                                                      \
    X(sigmoid, t, F(sigmoid, t)(x))                                                                                  \
    X(logsigmoid, t, (x < 0 ? x : R(t, 0)) - F(log1p, t)(F(exp, t)(-F(fabs, t)(x))))                                 \
    X(relu, t, x <= 0 ? R(t, 0) : x)                                                                                 \
    X(softsign, t, x / (R(t, 1) + F(fabs, t)(x)))                                                                    \
    X(reciprocal, t, R(t, 1) / x)                                                                                    \
    X(square, t, x * x)                                                                                              \
    X(sign, t, R(t, (x > 0) - (x < 0)))                                                                              \
    X(floor, t, F(floor, t)(x))                                                                                      \
    X(ceil, t, F(ceil, t)(x))                                                                                        \
    X(round, t, F(rint, t)(x))                                                                                       \
    X(trunc, t, F(trunc, t)(x))                                                                                      \
    X(frac, t, x - F(trunc, t)(x))                                                                                   \
    X(erf, t, F(erf, t)(x))                                                                                          \
    X(erfc, t, F(erfc, t)(x))                                                                                        \
    X(erfinv, t, F(erfinv, t)(x))                                                                                    \
    X(silu, t, x / (R(t, 1) + F(quick_exp, t)(-x)))                                                                  \
    X(gelu, t, x * normal_cdf_##t(x))                                                                                \
    X(gelu_tanh, t,                                                                                                  \
      R(t, 0.5) * x * (R(t, 1) + F(tanh, t)(R(t, 0x1.9884533d43651p-1) * (x + R(t, 0.044715) * x * x * x))))         \
    X(mish, t, F(mish, t)(x))                                                                                        \
    X(hardswish, t, x * F(gate, t)(x) / 6)                                                                           \
    X(hardsigmoid, t, F(gate, t)(x) / 6)                                                                             \
    X(angle, t, x < 0 ? R(t, 3.14159265358979323846) : x != x ? x : R(t, 0))

#define TO_BOOL(X, t)                                                                                                \
    X(logical_not, t, x == 0)                                                                                        \
    X(isnan, t, x != x)                                                                                              \
    X(isinf, t, F(fabs, t)(x) == R(t, INFINITY))                                                                     \
    X(isfinite, t, F(fabs, t)(x) < R(t, INFINITY))                                                                   \
    X(signbit, t, F(copysign, t)(1, x) < 0)

/* x tanh(log(1 + e^x)); beyond 20 that is x */
#define DEFINE_HELPERS(t)                                                                                            \
    static inline t st_mish_##t(t x) {                                                                               \
        const t e = F(exp, t)(20 < x ? R(t, 20) : x), p = e * (e + 2);                                               \
        return 20 < x ? x : x * (p / (p + 2));                                                                       \
    }                                                                                                                \
    static inline t st_gate_##t(t x) {                                                                               \
        const t y = x + 3, up = y < 0 ? R(t, 0) : y;                                                                 \
        return up > 6 ? R(t, 6) : up;                                                                                \
    }
DEFINE_HELPERS(f32)
DEFINE_HELPERS(f64)

#define DEFINE(op, t, EXPR) KERNEL1(op, t, t, EXPR) LOOP1(op, t, t, t)
#define DEFINE_BOOL(op, t, EXPR) KERNEL1(op, t, b8, EXPR) LOOP1(op, t, t, b8)
/* of float64 these are SciPy's */
#define BESSEL(X, t)                                                                                                 \
    X(i0, t, F(i0, t)(x))                                                                                            \
    X(i0e, t, F(i0e, t)(x))                                                                                          \
    X(i1, t, F(i1, t)(x))                                                                                            \
    X(i1e, t, F(i1e, t)(x))
BESSEL(DEFINE, f32)
SAME_TYPE(DEFINE, f32)
SAME_TYPE(DEFINE, f64)
TO_BOOL(DEFINE_BOOL, f32)
TO_BOOL(DEFINE_BOOL, f64)

/* functions that are libm's outside of a range, INSIDE, of the numbers: pieces with others go one by one */
#define WITHIN(op, t, INSIDE)                                                                                        \
    KERNEL_HEAD(op, t) {                                                                                             \
        t *o = (t *)(void *)p[0];                                                                                    \
        const t *a = (const t *)(const void *)p[1];                                                                  \
        (void)param;                                                                                                 \
        for (ptrdiff_t start = 0; start < n; start += 128, o += 128, a += 128) {                                     \
            const ptrdiff_t m = n - start < 128 ? n - start : 128;                                                   \
            int outside = 0;                                                                                         \
            for (ptrdiff_t i = 0; i < m; i++) outside |= !(INSIDE(t, a[i]));                                         \
            if (outside) {                                                                                           \
                for (ptrdiff_t i = 0; i < m; i++) o[i] = INSIDE(t, a[i]) ? F(near_##op, t)(a[i]) : F(op, t)(a[i]);   \
            } else {                                                                                                 \
                IVDEP for (ptrdiff_t i = 0; i < m; i++) o[i] = F(near_##op, t)(a[i]);                                \
            }                                                                                                        \
        }                                                                                                            \
        return ST_OK;                                                                                                \
    }                                                                                                                \
    LOOP1(op, t, t, t)
#define SINCOS_RANGE(t, x) (F(fabs, t)(x) <= (t)SINCOS_LIMIT)
#define POSITIVE(t, x) ((x) > 0)
#define TRIGONOMETRIC(op, t, EXPR) WITHIN(op, t, SINCOS_RANGE)
#define TRIGONOMETRIC_OPS(X, t, EXPR) X(sin, t, EXPR) X(cos, t, EXPR) X(tan, t, EXPR)
TRIGONOMETRIC_OPS(TRIGONOMETRIC, f32, 0)
TRIGONOMETRIC_OPS(TRIGONOMETRIC, f64, 0)
WITHIN(lgamma, f32, POSITIVE)
DEFINE(lgamma, f64, F(lgamma, f64)(x))

#define DEFINE_HALF(op, m, EXPR) HALF1(op, m, m)
#define DEFINE_HALF_BOOL(op, m, EXPR) HALF1(op, m, b8)
#define HALVES(m)                                                                                                    \
    SAME_TYPE(DEFINE_HALF, m) BESSEL(DEFINE_HALF, m) TRIGONOMETRIC_OPS(DEFINE_HALF, m, 0) DEFINE_HALF(lgamma, m, 0)  \
    TO_BOOL(DEFINE_HALF_BOOL, m)
HALVES(f16)
HALVES(bf16)

#define ROW(op, t, EXPR) ENTRY(op, t)
#define SGN(t) {ST_OP_sgn, CODE_##t, (st_function)l_sign_##t},
#define ROWS(t) SAME_TYPE(ROW, t) ROW(lgamma, t, 0) TRIGONOMETRIC_OPS(ROW, t, 0) TO_BOOL(ROW, t) SGN(t)

const st_entry ISA_NAME(st_entries_unary_float)[] = {
    ROWS(f32) ROWS(f64) ROWS(f16) ROWS(bf16) BESSEL(ROW, f32) BESSEL(ROW, f16) BESSEL(ROW, bf16) ST_END};
