/* Integer arithmetic that C leaves undefined: wrapping, division of any sign, powers, gcd, shifts. */
#pragma once
#include "numbers.h"

namespace shim {

template <typename T>
struct is_signed {
    static constexpr bool value = T(-1) < T(0);
};

/* an unsigned type at least as wide as int, so that nothing is promoted to int */
template <typename T, bool eight = sizeof(T) == 8>
struct wide {
    typedef uint32_t type;
};
template <typename T>
struct wide<T, true> {
    typedef uint64_t type;
};

template <typename T>
SHIM_BOTH T wrap_add(T x, T y) {
    typedef typename wide<T>::type W;
    return (T)((W)x + (W)y);
}
template <typename T>
SHIM_BOTH T wrap_sub(T x, T y) {
    typedef typename wide<T>::type W;
    return (T)((W)x - (W)y);
}
template <typename T>
SHIM_BOTH T wrap_mul(T x, T y) {
    typedef typename wide<T>::type W;
    return (T)((W)x * (W)y);
}
template <typename T>
SHIM_BOTH T magnitude(T x) {
    return x < 0 ? wrap_sub(T(0), x) : x;
}

/* Divisors are not 0; -1 is apart because the smallest integer has no opposite. */
template <typename T>
SHIM_BOTH T trunc_divide(T x, T y) {
    return is_signed<T>::value && y == T(-1) ? wrap_sub(T(0), x) : (T)(x / y);
}
template <typename T>
SHIM_BOTH T c_remainder(T x, T y) {
    return is_signed<T>::value && y == T(-1) ? T(0) : (T)(x % y);
}
template <typename T>
SHIM_BOTH T floor_divide(T x, T y) {
    const T q = trunc_divide(x, y);
    return is_signed<T>::value && c_remainder(x, y) != 0 && (x < 0) != (y < 0) ? (T)(q - 1) : q;
}
template <typename T>
SHIM_BOTH T python_remainder(T x, T y) {
    const T r = c_remainder(x, y);
    return is_signed<T>::value && r != 0 && (r < 0) != (y < 0) ? (T)(r + y) : r;
}
template <typename T>
SHIM_BOTH T shift_left(T x, T y) {
    typedef typename wide<T>::type W;
    return (W)y < 8 * sizeof(T) ? (T)((W)x << (W)y) : T(0);
}
template <typename T>
SHIM_BOTH T shift_right(T x, T y) {
    const int top = 8 * (int)sizeof(T) - 1;
    if (is_signed<T>::value) return (T)(x >> (y < 0 || y > (T)top ? top : (int)y));
    return (typename wide<T>::type)y <= (unsigned)top ? (T)(x >> (int)y) : T(0);
}
template <typename T>
SHIM_BOTH T common_divisor(T x, T y) {
    T a = magnitude(x), b = magnitude(y);
    while (b != 0) {
        const T r = c_remainder(a, b);
        a = b;
        b = r;
    }
    return magnitude(a);
}
template <typename T>
SHIM_BOTH T common_multiple(T x, T y) {
    const T g = common_divisor(x, y);
    return g == 0 ? T(0) : magnitude(wrap_mul(trunc_divide(x, g), y));
}

/* negative powers are 0, but for the powers of 1 and -1 */
template <typename T>
SHIM_BOTH T int_power(T x, int64_t n) {
    typedef typename wide<T>::type W;
    if (n < 0) return x == 1 ? T(1) : is_signed<T>::value && x == T(-1) ? (T)(n & 1 ? -1 : 1) : T(0);
    W power = 1, square = (W)x;
    for (uint64_t left = (uint64_t)n; left != 0; left >>= 1, square *= square)
        if (left & 1) power *= square;
    return (T)power;
}

}  // namespace shim
