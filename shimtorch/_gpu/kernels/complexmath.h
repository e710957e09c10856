/* Complex arithmetic and elementary functions for device code. */
#pragma once
#include "numbers.h"

namespace shim {

template <typename T>
SHIM_BOTH complex<T> operator+(complex<T> a, complex<T> b) {
    return {a.re + b.re, a.im + b.im};
}
template <typename T>
SHIM_BOTH complex<T> operator-(complex<T> a, complex<T> b) {
    return {a.re - b.re, a.im - b.im};
}
template <typename T>
SHIM_BOTH complex<T> operator-(complex<T> a) {
    return {-a.re, -a.im};
}
template <typename T>
SHIM_BOTH complex<T> operator*(complex<T> a, complex<T> b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <typename T>
SHIM_BOTH complex<T> operator*(complex<T> a, T b) {
    return {a.re * b, a.im * b};
}
template <typename T>
SHIM_BOTH bool operator==(complex<T> a, complex<T> b) {
    return a.re == b.re && a.im == b.im;
}
template <typename T>
SHIM_BOTH bool operator!=(complex<T> a, complex<T> b) {
    return !(a == b);
}

/* by the larger part of the divisor, so that nothing overflows on the way */
template <typename T>
SHIM_BOTH complex<T> operator/(complex<T> x, complex<T> y) {
    const T c = y.re < 0 ? -y.re : y.re, d = y.im < 0 ? -y.im : y.im;
    if (c >= d) {
        if (c == 0) return {x.re / c, x.im / d};
        const T ratio = y.im / y.re, scale = 1 / (y.re + y.im * ratio);
        return {(x.re + x.im * ratio) * scale, (x.im - x.re * ratio) * scale};
    }
    const T ratio = y.re / y.im, scale = 1 / (y.re * ratio + y.im);
    return {(x.re * ratio + x.im) * scale, (x.im * ratio - x.re) * scale};
}

template <typename T>
SHIM_BOTH complex<T> conj(complex<T> x) {
    return {x.re, -x.im};
}
template <typename T>
SHIM_BOTH T size_of(complex<T> x) {
    return hypot(x.re, x.im);
}
template <typename T>
SHIM_BOTH T angle_of(complex<T> x) {
    return atan2(x.im, x.re);
}
template <typename T>
SHIM_BOTH complex<T> one_plus(complex<T> x) {
    return {1 + x.re, x.im};
}
template <typename T>
SHIM_BOTH complex<T> times_i(complex<T> x) {
    return {-x.im, x.re};
}
template <typename T>
SHIM_BOTH complex<T> over_i(complex<T> x) {
    return {x.im, -x.re};
}

template <typename T>
SHIM_BOTH complex<T> c_exp(complex<T> x) {
    const T size = exp(x.re);
    if (x.im == 0) return {size, x.im};
    return {size * cos(x.im), size * sin(x.im)};
}
template <typename T>
SHIM_BOTH complex<T> c_log(complex<T> x) {
    return {log(size_of(x)), angle_of(x)};
}
template <typename T>
SHIM_BOTH complex<T> c_sqrt(complex<T> x) {
    const T size = size_of(x);
    if (size == 0) return {T(0), x.im};
    const T half = sqrt((size + fabs(x.re)) / 2);
    if (x.re >= 0) return {half, x.im / (2 * half)};
    return {fabs(x.im) / (2 * half), copysign(half, x.im)};
}
template <typename T>
SHIM_BOTH complex<T> c_sinh(complex<T> x) {
    return {sinh(x.re) * cos(x.im), cosh(x.re) * sin(x.im)};
}
template <typename T>
SHIM_BOTH complex<T> c_cosh(complex<T> x) {
    return {cosh(x.re) * cos(x.im), sinh(x.re) * sin(x.im)};
}
template <typename T>
SHIM_BOTH complex<T> c_tanh(complex<T> x) {
    if (fabs(x.re) > T(20)) return {copysign(T(1), x.re), T(0)}; /* the rest is below the precision */
    const T t = tan(x.im), h = tanh(x.re), c = 1 + h * h * t * t;
    return {h * (1 + t * t) / c, t * (1 - h * h) / c};
}
template <typename T>
SHIM_BOTH complex<T> c_sin(complex<T> x) {
    return over_i(c_sinh(times_i(x)));
}
template <typename T>
SHIM_BOTH complex<T> c_cos(complex<T> x) {
    return c_cosh(times_i(x));
}
template <typename T>
SHIM_BOTH complex<T> c_tan(complex<T> x) {
    return over_i(c_tanh(times_i(x)));
}
template <typename T>
SHIM_BOTH complex<T> c_sigmoid(complex<T> x) {
    return complex<T>{1, 0} / one_plus(c_exp(-x));
}
template <typename T>
SHIM_BOTH complex<T> c_sign(complex<T> x) {
    const T size = size_of(x);
    return size == 0 ? complex<T>{0, 0} : complex<T>{x.re / size, x.im / size};
}

/* powers of zero by rule; small whole exponents by multiplication */
template <typename T>
SHIM_BOTH complex<T> c_pow(complex<T> x, complex<T> y) {
    const T n = y.re;
    if (y.im == 0) {
        if (n == 0) return {1, 0};
        if (n == 1) return x;
        if (n == 2) return x * x;
        if (n == 3) return x * x * x;
        if (n == -1) return complex<T>{1, 0} / x;
    }
    if (x.re == 0 && x.im == 0 && n > 0) return {0, 0};
    return c_exp(y * c_log(x));
}

}  // namespace shim
