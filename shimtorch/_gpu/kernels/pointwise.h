/* What the pointwise ops compute: one list of (op, value) for each kind of number, from which both the kernels' switch
 * and the answer to "is there such a kernel" are made. x, y, z are the operands, p the parameters. */
#pragma once
#include "../../_kernels/ops.h"
#include "complexmath.h"
#include "intmath.h"
#include "nest.h"

namespace shim {

struct Parameters { /* doubles, or a factor (re, im, i), or bounds (lo, hi, ilo, ihi, has_lo, has_hi) */
    double d[5];

    __device__ int64_t factor_integer() const {
        int64_t i;
        memcpy(&i, d + 2, 8);
        return i;
    }
    __device__ int64_t bound_integer(int k) const {
        int64_t i;
        memcpy(&i, d + 2 + k, 8);
        return i;
    }
    __device__ bool has_bound(int k) const {
        int flags[2];
        memcpy(flags, d + 4, 8);
        return flags[k] != 0;
    }
};

/* ---- helpers of the floating types ---- */

template <typename T>
__device__ T f_remainder(T x, T y) {
    const T r = fmod(x, y);
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}
template <typename T>
__device__ T f_floor_divide(T x, T y) {
    if (y == 0) return x / y;
    const T r = fmod(x, y);
    T quotient = (x - r) / y;
    if (r != 0 && (r < 0) != (y < 0)) quotient -= 1;
    if (quotient == 0) return copysign(T(0), x / y);
    const T whole = floor(quotient);
    return quotient - whole > T(0.5) ? whole + 1 : whole;
}
template <typename T>
__device__ T f_logaddexp(T x, T y) {
    const T top = x > y || x != x ? x : y;
    return x == y ? x + T(0.6931471805599453) : top + log1p(exp(-fabs(x - y)));
}
template <typename T>
__device__ T f_sigmoid(T x) {
    if (x >= 0) return 1 / (1 + exp(-x));
    const T e = exp(x);
    return e / (1 + e);
}
template <typename T>
__device__ T f_mish(T x) {
    const T e = exp(x > 20 ? T(20) : x), p = e * (e + 2);
    return x > 20 ? x : x * (p / (p + 2));
}
template <typename T>
__device__ T f_gate(T x) {
    const T y = x + 3, up = y < 0 ? T(0) : y;
    return up > 6 ? T(6) : up;
}
template <typename T>
__device__ T f_huber(T x, T delta) {
    const T d = fabs(x), bent = d > delta ? delta : d;
    return bent * (d - bent / 2);
}
template <typename T>
__device__ T f_clamp(T x, T low, T high) { /* a NaN, in x or as a bound, comes through */
    const T up = low > x || low != low ? (x != x ? x : low) : x;
    return high < up || high != high ? (up != up ? up : high) : up;
}
template <typename T>
__device__ T f_clamp_number(T x, const Parameters &p) {
    return f_clamp(x, p.has_bound(0) ? (T)p.d[0] : -T(INFINITY), p.has_bound(1) ? (T)p.d[1] : T(INFINITY));
}
template <typename T>
__device__ T i_clamp_number(T x, const Parameters &p) {
    if (p.has_bound(0) && x < (T)p.bound_integer(0)) x = (T)p.bound_integer(0);
    return p.has_bound(1) && x > (T)p.bound_integer(1) ? (T)p.bound_integer(1) : x;
}
template <typename T>
__device__ complex<T> c_factor(const Parameters &p) {
    return {(T)p.d[0], (T)p.d[1]};
}

/* ---- floating ---- */

#define SHIM_FLOAT_UNARY(X)                                                                            \
    X(neg, -x) X(abs, fabs(x)) X(exp, exp(x)) X(exp2, exp2(x)) X(expm1, expm1(x)) X(log, log(x))       \
    X(log2, log2(x)) X(log10, log10(x)) X(log1p, log1p(x)) X(sqrt, sqrt(x)) X(rsqrt, T(1) / sqrt(x))   \
    X(sin, sin(x)) X(cos, cos(x)) X(tan, tan(x)) X(asin, asin(x)) X(acos, acos(x)) X(atan, atan(x))    \
    X(sinh, sinh(x)) X(cosh, cosh(x)) X(tanh, tanh(x)) X(asinh, asinh(x)) X(acosh, acosh(x))           \
    X(atanh, atanh(x)) X(sigmoid, f_sigmoid(x)) X(logsigmoid, (x < 0 ? x : T(0)) - log1p(exp(-fabs(x)))) \
    X(relu, x <= 0 ? T(0) : x) X(softsign, x / (T(1) + fabs(x))) X(reciprocal, T(1) / x)               \
    X(square, x *x) X(sign, T((x > 0) - (x < 0))) X(sgn, T((x > 0) - (x < 0))) X(floor, floor(x))      \
    X(ceil, ceil(x)) X(round, rint(x)) X(trunc, trunc(x)) X(frac, x - trunc(x)) X(erf, erf(x))         \
    X(erfc, erfc(x)) X(lgamma, lgamma(x)) X(silu, x / (T(1) + exp(-x)))                                \
    X(gelu, x *T(0.5) * (T(1) + erf(x * T(0.70710678118654752440))))                                   \
    X(gelu_tanh, T(0.5) * x * (T(1) + tanh(T(0.79788456080286535588) * (x + T(0.044715) * x * x * x)))) \
    X(mish, f_mish(x)) X(hardswish, x *f_gate(x) / 6) X(hardsigmoid, f_gate(x) / 6)                                                   \
    X(angle, x < 0 ? T(3.14159265358979323846) : x != x ? x : T(0))                                    \
    X(pow_scalar, pow(x, (T)p.d[0])) X(clamp, f_clamp_number(x, p))                                    \
    X(leaky_relu, x > 0 ? x : x * (T)p.d[0])                                                           \
    X(elu, x > 0 ? x * (T)p.d[1] : expm1(x * (T)p.d[2]) * (T)(p.d[0] * p.d[1]))                        \
    X(celu, x > 0 ? x : expm1(x * (T)(1 / p.d[0])) * (T)p.d[0])                                        \
    X(softplus, x *(T)p.d[0] > (T)p.d[1] ? x : log1p(exp(x * (T)p.d[0])) / (T)p.d[0])                  \
    X(threshold, x <= (T)p.d[0] ? (T)p.d[1] : x)                                                       \
    X(hardshrink, x >= -(T)p.d[0] && x <= (T)p.d[0] ? T(0) : x)                                        \
    X(softshrink, x > (T)p.d[0] ? x - (T)p.d[0] : x < -(T)p.d[0] ? x + (T)p.d[0] : x * 0) \
    X(huber, f_huber(x, (T)p.d[0]))
#define SHIM_FLOAT_TEST(X)                                                           \
    X(logical_not, x == 0) X(isnan, x != x) X(isinf, fabs(x) == T(INFINITY))         \
    X(isfinite, fabs(x) < T(INFINITY)) X(signbit, copysign(T(1), x) < 0)
#define SHIM_FLOAT_BINARY(X)                                                                             \
    X(add, x + y) X(sub, x - y) X(mul, x *y) X(div, x / y) X(floor_divide, f_floor_divide(x, y))         \
    X(trunc_divide, trunc(x / y)) X(remainder, f_remainder(x, y)) X(fmod, fmod(x, y)) X(pow, pow(x, y))  \
    X(atan2, atan2(x, y)) X(maximum, x > y || x != x ? x : y) X(minimum, x < y || x != x ? x : y)        \
    X(fmax, x >= y || y != y ? x : y) X(fmin, x <= y || y != y ? x : y) X(hypot, hypot(x, y))            \
    X(copysign, copysign(x, y)) X(logaddexp, f_logaddexp(x, y)) X(sigmoid_backward, x *(1 - y) * y)      \
    X(tanh_backward, x *(1 - y * y)) X(add_scaled, x + (T)p.d[0] * y)                                    \
    X(threshold_backward, y <= (T)p.d[0] ? T(0) : x)                                                     \
    X(hardswish_backward, y < -3 ? T(0) : y <= 3 ? x * (y / 3 + T(0.5)) : x)
#define SHIM_FLOAT_TERNARY(X)                                                                   \
    X(addcmul, x + (T)p.d[0] * y * z) X(addcdiv, x + (T)p.d[0] * y / z)                         \
    X(lerp, z < T(0.5) && z > T(-0.5) ? x + z * (y - x) : y - (y - x) * (1 - z))                \
    X(clamp_tensor, f_clamp(x, y, z))
#define SHIM_ORDER(X) X(lt, x < y) X(le, x <= y) X(gt, x > y) X(ge, x >= y)
#define SHIM_EQUALITY(X)                                                                  \
    X(eq, x == y) X(ne, x != y) X(logical_and, (x != 0) && (y != 0))                      \
    X(logical_or, (x != 0) || (y != 0)) X(logical_xor, (x != 0) != (y != 0))

/* ---- integers and bool ---- */

#define SHIM_INT_UNARY(X)                                                                              \
    X(neg, wrap_sub(T(0), x)) X(abs, magnitude(x)) X(bitwise_not, (T)~x) X(square, wrap_mul(x, x))     \
    X(sign, T((x > 0) - (x < 0))) X(sgn, T((x > 0) - (x < 0))) X(relu, x < 0 ? T(0) : x) X(floor, x)   \
    X(ceil, x) X(round, x) X(trunc, x) X(clamp, i_clamp_number(x, p))                                  \
    X(pow_scalar, int_power(x, p.factor_integer()))
#define SHIM_INT_TEST(X) \
    X(logical_not, x == 0) X(isnan, false) X(isinf, false) X(isfinite, true) X(signbit, x < 0)
#define SHIM_INT_BINARY(X)                                                                              \
    X(add, wrap_add(x, y)) X(sub, wrap_sub(x, y)) X(mul, wrap_mul(x, y)) X(bitwise_and, (T)(x & y))     \
    X(bitwise_or, (T)(x | y)) X(bitwise_xor, (T)(x ^ y)) X(lshift, shift_left(x, y))                    \
    X(rshift, shift_right(x, y)) X(floor_divide, y == 0 ? T(0) : floor_divide(x, y))                    \
    X(trunc_divide, y == 0 ? T(0) : trunc_divide(x, y)) X(remainder, y == 0 ? T(0) : python_remainder(x, y)) \
    X(fmod, y == 0 ? T(0) : c_remainder(x, y)) X(pow, int_power(x, (int64_t)y))                         \
    X(maximum, x > y ? x : y) X(minimum, x < y ? x : y) X(gcd, common_divisor(x, y))                    \
    X(lcm, common_multiple(x, y)) X(fmax, x > y ? x : y) X(fmin, x < y ? x : y)                         \
    X(add_scaled, wrap_add(x, wrap_mul((T)p.factor_integer(), y)))
#define SHIM_INT_TERNARY(X)                                                              \
    X(addcmul, wrap_add(x, wrap_mul(wrap_mul((T)p.factor_integer(), y), z)))             \
    X(clamp_tensor, (x > y ? x : y) < z ? (x > y ? x : y) : z)
#define SHIM_BOOL_UNARY(X) X(bitwise_not, x == 0) X(sign, x) X(sgn, x)
#define SHIM_BOOL_BINARY(X)                                                                            \
    X(add, x | y) X(mul, x &y) X(bitwise_and, x &y) X(bitwise_or, x | y) X(bitwise_xor, x ^ y)         \
    X(maximum, x | y) X(minimum, x &y) X(fmax, x | y) X(fmin, x &y)                                    \
    X(add_scaled, x | (p.factor_integer() != 0 && y))

/* ---- complex ---- */

#define SHIM_COMPLEX_UNARY(X)                                                                         \
    X(neg, -x) X(conj_physical, conj(x)) X(exp, c_exp(x)) X(exp2, c_exp(x * R(0.69314718055994530942)))   \
    X(log, c_log(x)) X(log2, c_log(x) * R(1.44269504088896340736)) X(log10, c_log(x) * R(0.43429448190325182765)) \
    X(sqrt, c_sqrt(x)) X(rsqrt, T{1, 0} / c_sqrt(x)) X(sin, c_sin(x)) X(cos, c_cos(x)) X(tan, c_tan(x)) \
    X(sinh, c_sinh(x)) X(cosh, c_cosh(x)) X(tanh, c_tanh(x)) X(sigmoid, c_sigmoid(x))                 \
    X(silu, x / one_plus(c_exp(-x))) X(reciprocal, T{1, 0} / x) X(square, x *x) X(sgn, c_sign(x))     \
    X(pow_scalar, c_pow(x, c_factor<R>(p)))
#define SHIM_COMPLEX_REAL(X) X(abs, size_of(x)) X(angle, angle_of(x))
#define SHIM_COMPLEX_TEST(X)                                                                     \
    X(logical_not, x.re == 0 && x.im == 0) X(isnan, x.re != x.re || x.im != x.im)                \
    X(isinf, fabs(x.re) == R(INFINITY) || fabs(x.im) == R(INFINITY))                             \
    X(isfinite, fabs(x.re) < R(INFINITY) && fabs(x.im) < R(INFINITY))
#define SHIM_COMPLEX_BINARY(X)                                                            \
    X(add, x + y) X(sub, x - y) X(mul, x *y) X(div, x / y) X(pow, c_pow(x, y))            \
    X(sigmoid_backward, x *conj((T{1, 0} - y) * y)) X(tanh_backward, x *conj(T{1, 0} - y * y)) \
    X(add_scaled, x + c_factor<R>(p) * y)
#define SHIM_COMPLEX_COMPARE(X)                                                                       \
    X(eq, x == y) X(ne, x != y) X(logical_and, (x != T{0, 0}) && (y != T{0, 0}))                      \
    X(logical_or, (x != T{0, 0}) || (y != T{0, 0})) X(logical_xor, (x != T{0, 0}) != (y != T{0, 0}))
#define SHIM_COMPLEX_TERNARY(X)                                                                       \
    X(addcmul, x + c_factor<R>(p) * y * z) X(addcdiv, x + c_factor<R>(p) * y / z)                     \
    X(lerp, size_of(z) < R(0.5) ? x + z * (y - x) : y - (y - x) * (T{1, 0} - z))

#define SHIM_VALUE(name, ...) \
    case ST_OP_##name: return (__VA_ARGS__);
#define SHIM_IS(name, ...) \
    case ST_OP_##name: return true;

/* A family: its kernels' function and the question whether an op belongs to it. */
#define SHIM_FAMILY(family, LIST) \
    inline bool has_##family(int op) { \
        switch (op) { LIST(SHIM_IS) } \
        return false; \
    }

}  // namespace shim
