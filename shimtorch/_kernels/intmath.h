/* Integer arithmetic that C leaves undefined, or lacks: wrapping, division of any sign, powers, gcd, shifts. */
#ifndef SHIMTORCH_KERNELS_INTMATH_H
#define SHIMTORCH_KERNELS_INTMATH_H

#include "base.h"

#define SIGNED_INTEGERS(X) X(i8) X(i16) X(i32) X(i64)
#define UNSIGNED_INTEGERS(X) X(u8) X(u16) X(u32) X(u64)
#define INTEGERS(X) SIGNED_INTEGERS(X) UNSIGNED_INTEGERS(X)

/* an unsigned type to compute in: at least as wide as unsigned int, so that nothing is promoted to int */
#define WIDE_i8 u32
#define WIDE_i16 u32
#define WIDE_i32 u32
#define WIDE_i64 u64
#define WIDE_u8 u32
#define WIDE_u16 u32
#define WIDE_u32 u32
#define WIDE_u64 u64
#define WIDE(t) WIDE_##t

/* Divisors are not 0; -1 is apart because the smallest integer has no opposite. */
#define DEFINE_SIGNED(t)                                                                                             \
    static inline t trunc_divide_##t(t x, t y) { return y == -1 ? (t)(0 - (WIDE(t))x) : (t)(x / y); }                \
    static inline t fmod_##t(t x, t y) { return y == -1 ? 0 : (t)(x % y); }                                          \
    static inline t floor_divide_##t(t x, t y) {                                                                     \
        const t q = trunc_divide_##t(x, y);                                                                          \
        return (t)(q - (fmod_##t(x, y) != 0 && (x ^ y) < 0));                                                        \
    }                                                                                                                \
    static inline t remainder_##t(t x, t y) {                                                                        \
        const t r = fmod_##t(x, y);                                                                                  \
        return (t)(r != 0 && (r ^ y) < 0 ? r + y : r);                                                               \
    }                                                                                                                \
    static inline t magnitude_##t(t x) { return x < 0 ? (t)(0 - (WIDE(t))x) : x; }                                   \
    /* shifts outside 0 .. width - 1 leave the sign */                                                               \
    static inline t rshift_##t(t x, t y) {                                                                           \
        const int top = 8 * (int)sizeof(t) - 1;                                                                      \
        return (t)(x >> (y < 0 || y > top ? top : (int)y));                                                          \
    }

#define DEFINE_UNSIGNED(t)                                                                                           \
    static inline t trunc_divide_##t(t x, t y) { return (t)(x / y); }                                                \
    static inline t fmod_##t(t x, t y) { return (t)(x % y); }                                                        \
    static inline t floor_divide_##t(t x, t y) { return (t)(x / y); }                                                \
    static inline t remainder_##t(t x, t y) { return (t)(x % y); }                                                   \
    static inline t magnitude_##t(t x) { return x; }                                                                 \
    static inline t rshift_##t(t x, t y) { return (t)(y < 8 * sizeof(t) ? x >> y : 0); }

#define DEFINE_ANY(t)                                                                                                \
    static inline t wrap_mul_##t(t x, t y) { return (t)((WIDE(t))x * (WIDE(t))y); }                                  \
    static inline t lshift_##t(t x, t y) {                                                                           \
        return (WIDE(t))y < 8 * sizeof(t) ? (t)((WIDE(t))x << y) : 0;                                                \
    }                                                                                                                \
    static inline t gcd_##t(t x, t y) {                                                                              \
        t a = magnitude_##t(x), b = magnitude_##t(y);                                                                \
        while (b != 0) {                                                                                             \
            const t r = fmod_##t(a, b);                                                                              \
            a = b;                                                                                                   \
            b = r;                                                                                                   \
        }                                                                                                            \
        return magnitude_##t(a);                                                                                     \
    }                                                                                                                \
    static inline t lcm_##t(t x, t y) {                                                                              \
        const t g = gcd_##t(x, y);                                                                                   \
        return g == 0 ? 0 : magnitude_##t(wrap_mul_##t(trunc_divide_##t(x, g), y));                                  \
    }                                                                                                                \
    /* negative powers are 0, but for the powers of 1 and -1 */                                                      \
    static inline t int_pow_##t(t x, i64 n) {                                                                        \
        if (n < 0) return (t)(x == 1 ? 1 : x == (t)-1 && (t)-1 < 1 ? (n & 1 ? (t)-1 : 1) : 0);                       \
        WIDE(t) power = 1, square = (WIDE(t))x;                                                                      \
        for (u64 left = (u64)n; left != 0; left >>= 1, square *= square)                                             \
            if (left & 1) power *= square;                                                                           \
        return (t)power;                                                                                             \
    }

SIGNED_INTEGERS(DEFINE_SIGNED)
UNSIGNED_INTEGERS(DEFINE_UNSIGNED)
INTEGERS(DEFINE_ANY)

#endif
