/* Elementary functions the compiler can vectorise: no branches, no calls, no tables.
 *
 * st_<f>_f32 and st_<f>_f64, with fused multiply-adds less than 1 ulp off (erfc and erfinv of float64 1.1, sigmoid and
 * pow of float32 and libm's own 2). What the rounding of an addition or a product lost is carried along in variables
 * called low, lost, rest. The circular, the hyperbolic and the inverse, and the special functions have headers of their
 * own, which this one includes. The polynomials are interpolations at Chebyshev nodes made for these intervals.
 * Infinities, NaN, zeros and subnormals come out as in C's libm. */
#ifndef SHIMTORCH_KERNELS_VECMATH_H
#define SHIMTORCH_KERNELS_VECMATH_H

#include "half.h"

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define MADD(a, b, c) _Generic((c), f32: __builtin_fmaf, default: __builtin_fma)(a, b, c)
#else
#define MADD(a, b, c) ((a) * (b) + (c))
#endif

/* Adding and subtracting these rounds to an integer; the sum's low bits are that integer. */
#define ROUNDER_F32 0x1.8p23f
#define ROUNDER_F64 0x1.8p52

/* the function f of type t */
#define F(f, t) st_##f##_##t

/* a number and what its rounding lost */
typedef struct {
    f32 high, low;
} parts_f32;

typedef struct {
    f64 high, low;
} parts_f64;

/* ---- what is libm's ---- */

#define LIBM_BOTH(X) X(sqrt) X(floor) X(ceil) X(trunc) X(rint) X(lgamma) X(fabs)
#define LIBM_F64(X) X(sin) X(cos) X(tan)
#define LIBM_F32(X) X(sin) X(cos) X(tan)
#define LIBM_BINARY(X) X(copysign) X(nextafter) X(fmod)

#define WRAP_F32(fn) static inline f32 st_##fn##_f32(f32 x) { return fn##f(x); }
#define WRAP_F64(fn) static inline f64 st_##fn##_f64(f64 x) { return fn(x); }
#define WRAP_BINARY(fn)                                                   \
    static inline f32 st_##fn##_f32(f32 x, f32 y) { return fn##f(x, y); }                                            \
    static inline f64 st_##fn##_f64(f64 x, f64 y) { return fn(x, y); }
LIBM_BOTH(WRAP_F32)
LIBM_BOTH(WRAP_F64)
LIBM_F32(WRAP_F32)
LIBM_F64(WRAP_F64)
LIBM_BINARY(WRAP_BINARY)

#define LOG2E 0x1.71547652b82fep+0
#define LN2 0x1.62e42fefa39efp-1

/* ---- exponentials: x = n ln2 + r, |r| <= ln2 / 2 ---- */

/* (exp(r) - 1 - r - r^2 / 2) / r^3, and (exp(r) - 1 - r) / r^2 */
static inline f32 exp_third_f32(f32 r) {
    f32 p = 0x1.a125f6p-13f;
    p = MADD(p, r, 0x1.6d444ap-10f);
    p = MADD(p, r, 0x1.1110e0p-7f);
    p = MADD(p, r, 0x1.5554e8p-5f);
    return MADD(p, r, 0x1.555556p-3f);
}

static inline f64 exp_third_f64(f64 r) {
    f64 p = 0x1.1f66df7fca49fp-29;
    p = MADD(p, r, 0x1.af38a9b0ec855p-26);
    p = MADD(p, r, 0x1.27e4e1f48534fp-22);
    p = MADD(p, r, 0x1.71de0dae63bb3p-19);
    p = MADD(p, r, 0x1.a01a01a47b054p-16);
    p = MADD(p, r, 0x1.a01a01a7c41d5p-13);
    p = MADD(p, r, 0x1.6c16c16c167e1p-10);
    p = MADD(p, r, 0x1.11111111109b3p-7);
    p = MADD(p, r, 0x1.5555555555555p-5);
    return MADD(p, r, 0x1.5555555555556p-3);
}

static inline f32 exp_tail_f32(f32 r) { return MADD(exp_third_f32(r), r, 0.5f); }
static inline f64 exp_tail_f64(f64 r) { return MADD(exp_third_f64(r), r, 0.5); }

/* y * 2^n in two steps, so that overflow and subnormals round once; -300 < n < 300 (f64: 2000) */
static inline f32 scale_f32(f32 y, i32 n) {
    const i32 half = n >> 1;
    return y * f32_of_bits((u32)(half + 127) << 23) * f32_of_bits((u32)(n - half + 127) << 23);
}

static inline f64 scale_f64(f64 y, i64 n) {
    const u64 half = ((u64)n + 4096) >> 1; /* biased by 2048: AVX2 has no arithmetic shift of 64 bits */
    return y * f64_of_bits((half - 2048 + 1023) << 52) * f64_of_bits(((u64)n - half + 2048 + 1023) << 52);
}

/* r with what its rounding lost, and the bits of n */
#define DEFINE_EXPONENTIALS(t, u, i, MANTISSA, BIAS, ROUNDER, LN2_HIGH, LN2_LOW, EXP_MAX, EXP_MIN, EXP2_MAX, EXP2_MIN, \
                            EXPM1_MIN, TINY)                                                                         \
    typedef struct {                                                                                                 \
        t r, low;                                                                                                    \
        u n;                                                                                                         \
    } exp_parts_##t;                                                                                                 \
    static inline exp_parts_##t exp_split_##t(t x) {                                                                 \
        const t shifted = MADD(x, (t)LOG2E, ROUNDER), n = shifted - ROUNDER;                                         \
        const t high = MADD(n, -LN2_HIGH, x), r = MADD(n, -LN2_LOW, high);                                           \
        return (exp_parts_##t){r, MADD(n, -LN2_LOW, high - r), bits_of_##t(shifted) - bits_of_##t(ROUNDER)};         \
    }                                                                                                                \
    static inline t exp_of_##t(t r, t low) {                                                                         \
        const t sum = 1 + r;                                                                                         \
        return sum + MADD(exp_tail_##t(r) * r, r, low + ((1 - sum) + r));                                            \
    }                                                                                                                \
    static inline t st_exp_##t(t x) {                                                                                \
        t y = EXP_MAX < x ? EXP_MAX : x;                                                                             \
        y = EXP_MIN > y ? EXP_MIN : y;                                                                               \
        const exp_parts_##t p = exp_split_##t(y);                                                                    \
        return scale_##t(exp_of_##t(p.r, p.low), (i)p.n);                                                            \
    }                                                                                                                \
    /* to about 1 ulp, for what is added to other numbers */                                                         \
    static inline t quick_exp_of_##t(t r) { return 1 + MADD(exp_tail_##t(r) * r, r, r); }                            \
    static inline t st_quick_exp_##t(t x) {                                                                          \
        t y = EXP_MAX < x ? EXP_MAX : x;                                                                             \
        y = EXP_MIN > y ? EXP_MIN : y;                                                                               \
        const exp_parts_##t p = exp_split_##t(y);                                                                    \
        return scale_##t(quick_exp_of_##t(p.r), (i)p.n);                                                             \
    }                                                                                                                \
    static inline t st_exp2_##t(t x) {                                                                               \
        t y = EXP2_MAX < x ? EXP2_MAX : x;                                                                           \
        y = EXP2_MIN > y ? EXP2_MIN : y;                                                                             \
        const t shifted = y + ROUNDER, part = y - (shifted - ROUNDER), r = part * (t)LN2;                            \
        const t low = MADD(part, LN2_LOW, MADD(part, LN2_HIGH, -r));                                                 \
        return scale_##t(exp_of_##t(r, low), (i)(bits_of_##t(shifted) - bits_of_##t(ROUNDER)));                      \
    }                                                                                                                \
    /* half of e^x - 1 = 2^n (e^r - 1) + (2^n - 1), in two parts; for x that exp does not overflow at, and not too */\
    /* negative for 2^n */                                                                                           \
    static inline parts_##t half_expm1_##t(t x) {                                                                    \
        const exp_parts_##t p = exp_split_##t(x);                                                                    \
        const t s = t##_of_bits((p.n + BIAS - 1) << MANTISSA), whole = s - (t)0.5, part = s * p.r;                   \
        const t half = (t)0.5 * p.r, square = half * p.r, low = p.low + MADD(half, p.r, -square);                    \
        const t some = whole + part, sum = MADD(s, square, some);                                                    \
        const t lost = ((s - whole) - (t)0.5) + ((whole - some) + part) + MADD(s, square, some - sum);               \
        const t rest = MADD(s, MADD(2 * square * p.r, exp_third_##t(p.r), low), lost), y = sum + rest;               \
        return (parts_##t){y, (sum - y) + rest};                                                                     \
    }                                                                                                                \
    static inline t st_expm1_##t(t x) {                                                                              \
        t y = EXP_MAX < x ? EXP_MAX : x;                                                                             \
        y = EXPM1_MIN > y ? EXPM1_MIN : y;                                                                           \
        const t e = 2 * half_expm1_##t(y).high;                                                                      \
        return F(fabs, t)(x) < TINY ? x : EXP_MAX < x ? (t)INFINITY : e;                                             \
    }                                                                                                                \
    static inline t st_sigmoid_##t(t x) { return 1 / (1 + st_quick_exp_##t(-x)); }                                   \
    /* h / (h + 1) with h = (e^2|x| - 1) / 2. Selected at the end: of a clipped argument the compiler would make a */\
    /* branch. */                                                                                                    \
    static inline t st_tanh_##t(t x) {                                                                               \
        const t a = F(fabs, t)(x);                                                                                   \
        const parts_##t h = half_expm1_##t(2 * a);                                                                   \
        const t below = h.high + 1, part = below - h.high, lost = (h.high - (below - part)) + (1 - part) + h.low;    \
        const t inverse = 1 / below, y = h.high * inverse;                                                           \
        const t rest = MADD(-y, below, h.high) + MADD(-y, lost, h.low);                                              \
        return F(copysign, t)(a > 20 ? (t)1 : a < TINY ? a : MADD(rest, inverse, y), x);                             \
    }

DEFINE_EXPONENTIALS(f32, u32, i32, 23, 127u, ROUNDER_F32, 0x1.62e4p-1f, 0x1.7f7d1cp-20f,
                    89.0f, -104.0f, 129.0f, -151.0f, -40.0f, 1e-8f)
DEFINE_EXPONENTIALS(f64, u64, i64, 52, 1023u, ROUNDER_F64, 0x1.62e42feep-1, 0x1.a39ef35793c76p-33,
                    710.0, -746.0, 1025.0, -1076.0, -80.0, 1e-17)

/* for |x| < 87, where nothing overflows */
static inline f32 quick_exp_near_f32(f32 x) {
    const exp_parts_f32 p = exp_split_f32(x);
    return quick_exp_of_f32(p.r) * f32_of_bits((p.n + 127u) << 23);
}

/* ---- logarithms: x = 2^e (1 + f), sqrt(1/2) <= 1 + f < sqrt(2) ---- */

typedef struct {
    f32 e, f;
} log_parts_f32;

typedef struct {
    f64 e, f;
} log_parts_f64;

static inline log_parts_f32 log_split_f32(f32 x) {
    const u32 root_half = 0x3f3504f3u;
    const f32 y = x < 0x1p-126f ? x * 0x1p23f : x;
    const u32 u = bits_of_f32(y) - root_half;
    return (log_parts_f32){(f32)((i32)u >> 23) - (x < 0x1p-126f ? 23.0f : 0.0f),
                           f32_of_bits((u & 0x7fffffu) + root_half) - 1.0f};
}

static inline log_parts_f64 log_split_f64(f64 x) {
    const u64 root_half = 0x3fe6a09e667f3bcdu;
    const f64 y = x < 0x1p-1022 ? x * 0x1p52 : x;
    const u64 u = bits_of_f64(y) - root_half;
    /* the exponent, shifted logically with a bias and turned into a double through its bits (for AVX2) */
    const u64 biased = (u + (1024ull << 52)) >> 52;
    return (log_parts_f64){(f64_of_bits(0x4330000000000000u | biased) - (0x1p52 + 1024.0)) -
                               (x < 0x1p-1022 ? 52.0 : 0.0),
                           f64_of_bits((u & 0xfffffffffffffu) + root_half) - 1.0};
}

/* log(1 + f) - (f - f^2 / 2) + low */
static inline f32 log_rest_f32(f32 f, f32 low) {
    f32 p = 0x1.1d8ea6p-4f;
    p = MADD(p, f, -0x1.d635bcp-4f);
    p = MADD(p, f, 0x1.dea282p-4f);
    p = MADD(p, f, -0x1.fcf4c6p-4f);
    p = MADD(p, f, 0x1.23d21ap-3f);
    p = MADD(p, f, -0x1.555b4ap-3f);
    p = MADD(p, f, 0x1.999d5ap-3f);
    p = MADD(p, f, -0x1.fffffcp-3f);
    p = MADD(p, f, 0x1.555554p-2f);
    return MADD(p * f, f * f, low);
}

/* with s = f / (2 + f), log(1 + f) = 2 s + s^3 P(s^2) = f - s (f - s^2 P) */
static inline f64 log_rest_f64(f64 f, f64 low) {
    const f64 s = f / (2.0 + f), s2 = s * s;
    f64 p = 0x1.0c039c49989c6p-3;
    p = MADD(p, s2, 0x1.0fbe95d716020p-3);
    p = MADD(p, s2, 0x1.3b1c355a8f7a2p-3);
    p = MADD(p, s2, 0x1.745cf9048dd95p-3);
    p = MADD(p, s2, 0x1.c71c720159177p-3);
    p = MADD(p, s2, 0x1.2492492476cccp-2);
    p = MADD(p, s2, 0x1.9999999999a38p-2);
    p = MADD(p, s2, 0x1.5555555555555p-1);
    return MADD(s, MADD(p, s2, 0.5 * f * f), low);
}

/* log(1 + f) + e ln2, with what each sum loses; low, to be added, holds what the high part of ln2 used here lacks */
#define DEFINE_LOG_OF_PARTS(t, LN2_HIGH)                                                                             \
    static inline parts_##t log_of_parts_##t(t f, t e, t low) {                                                      \
        const t half = (t)0.5 * f, square = half * f, less = f - square, whole = e * LN2_HIGH, sum = whole + less;   \
        const t lost = ((f - less) - square) - MADD(half, f, -square) + ((whole - sum) + less);                      \
        const t rest = lost + log_rest_##t(f, low), y = sum + rest;                                                  \
        return (parts_##t){y, (sum - y) + rest};                                                                     \
    }
DEFINE_LOG_OF_PARTS(f32, 0x1.62e4p-1f)
DEFINE_LOG_OF_PARTS(f64, 0x1.62e42feep-1)

/* To the bases 2 and 10: both factors of log(1 + f) and of e in a high part of few bits, whose products are exact, and
 * a low one. */
#define DEFINE_LOG_TO_BASE(op, t, MASK, PER_LN_HIGH, PER_LN_LOW, PER_2_HIGH, PER_2_LOW)                              \
    static inline t st_##op##_##t(t x) {                                                                             \
        const log_parts_##t m = log_split_##t(x);                                                                    \
        const t half_f2 = (t)0.5 * m.f * m.f, high = t##_of_bits(bits_of_##t(m.f - half_f2) & MASK);                 \
        const t low = ((m.f - high) - half_f2) + log_rest_##t(m.f, 0);                                               \
        const t whole = m.e * PER_2_HIGH, part = high * PER_LN_HIGH, sum = whole + part, lost = (whole - sum) + part;\
        const t less = MADD(low, PER_LN_HIGH, MADD(low + high, PER_LN_LOW, m.e * PER_2_LOW));                        \
        return log_ends_##t(x, sum + (less + lost));                                                                 \
    }
#define DEFINE_LOG(t, LN2_LOW)                                                                                       \
    static inline t log_ends_##t(t x, t log_x) {                                                                     \
        return x > 0 && x < (t)INFINITY ? log_x : x == 0 ? -(t)INFINITY : x > 0 ? x : (t)NAN;                        \
    }                                                                                                                \
    static inline t st_log_##t(t x) {                                                                                \
        const log_parts_##t m = log_split_##t(x);                                                                    \
        return log_ends_##t(x, log_of_parts_##t(m.f, m.e, m.e * LN2_LOW).high);                                      \
    }
DEFINE_LOG(f32, 0x1.7f7d1cp-20f)
DEFINE_LOG(f64, 0x1.a39ef35793c76p-33)
DEFINE_LOG_TO_BASE(log2, f32, 0xfffff000u, 0x1.714p+0f, 0x1.47652cp-12f, 1.0f, 0.0f)
DEFINE_LOG_TO_BASE(log2, f64, 0xffffffff00000000u, 0x1.71547p+0, 0x1.94ae0bf85ddf4p-22, 1.0, 0.0)
DEFINE_LOG_TO_BASE(log10, f32, 0xfffff000u, 0x1.bcap-2f, 0x1.7b1526p-14f, 0x1.344p-2f, 0x1.3509f8p-18f)
DEFINE_LOG_TO_BASE(log10, f64, 0xffffffff00000000u, 0x1.bcb7bp-2, 0x1.526e50e32a6abp-26, 0x1.34413509f7p-2,
                   0x1.3fde623e2566bp-43)

/* with what the sum 1 + x loses */
#define DEFINE_LOG1P(t, LN2_LOW)                                                                                     \
    static inline t st_log1p_##t(t x) {                                                                              \
        const t u = 1 + x, lost = (x - (u - 1)) / u;                                                                 \
        const log_parts_##t m = log_split_##t(u);                                                                    \
        const t y = log_of_parts_##t(m.f, m.e, MADD(m.e, LN2_LOW, lost)).high;                                       \
        return u == 1 || x == (t)INFINITY ? x : u > 0 ? y : log_ends_##t(u, y);                                      \
    }
DEFINE_LOG1P(f32, 0x1.7f7d1cp-20f)
DEFINE_LOG1P(f64, 0x1.a39ef35793c76p-33)

/* ---- pow of float32 through float64 logarithms ---- */

/* log2 of a float32 that is positive and finite (others give nonsense), to about 2^-35 */
static inline f64 log2_for_pow(f64 x) {
    const u64 root_half = 0x3fe6a09e667f3bcdu, u = bits_of_f64(x) - root_half;
    const u64 biased = (u + (1024ull << 52)) >> 52;
    const f64 e = f64_of_bits(0x4330000000000000u | biased) - (0x1p52 + 1024.0);
    const f64 f = f64_of_bits((u & 0xfffffffffffffu) + root_half) - 1.0, s = f / (2.0 + f), z = s * s;
    f64 p = 0x1.58aa645416868p-2;
    p = MADD(p, z, 0x1.a5c972b72cd09p-2);
    p = MADD(p, z, 0x1.2777000a29e69p-1);
    p = MADD(p, z, 0x1.ec709db5b9a5bp-1);
    return MADD(MADD(p, z, 0x1.71547652b82fep+1), s, e);
}

/* 2^x to about 2^-33, for a result that is rounded to float32 */
static inline f64 exp2_for_pow(f64 x) {
    f64 y = 200.0 < x ? 200.0 : x;
    y = -200.0 > y ? -200.0 : y;
    const f64 shifted = y + ROUNDER_F64, r = y - (shifted - ROUNDER_F64);
    f64 p = 0x1.00b9d1662ab71p-16;
    p = MADD(p, r, 0x1.4440a484b06bfp-13);
    p = MADD(p, r, 0x1.5d8785554db73p-10);
    p = MADD(p, r, 0x1.3b2a1acc462fap-7);
    p = MADD(p, r, 0x1.c6b08d97635ecp-5);
    p = MADD(p, r, 0x1.ebfbe04670d84p-3);
    p = MADD(p, r, 0x1.62e42fefa11dcp-1);
    return MADD(p, r, 1.0) * f64_of_bits((bits_of_f64(shifted) - bits_of_f64(ROUNDER_F64) + 1023u) << 52);
}

/* The sign is that of an odd integer power; a fraction of a negative number (that is neither -0 nor -inf) is NaN. From
 * 2^24 on all float32 are even. Written as selections of doubles, which is what the compiler can vectorise. */
static inline f32 st_pow_f32(f32 base, f32 exponent) {
    const f64 x = base, y = exponent, size = fabs(x);
    const f64 finite = log2_for_pow(size), at_zero = size == 0.0 ? -(f64)INFINITY : size; /* or infinity, or NaN */
    const f64 log2_x = size > 0.0 && size < (f64)INFINITY ? finite : at_zero;
    const f64 magnitude = exp2_for_pow(log2_x == 0.0 ? 0.0 : y * log2_x);
    const f64 a = fabs(y), b = a > 0x1p25 ? 0x1p25 : a, half = 0.5 * b;
    const f64 of_fraction = x < 0.0 ? (x > -(f64)INFINITY ? (f64)NAN : 1.0) : 1.0;
    const f64 of_integer = (half + ROUNDER_F64) - ROUNDER_F64 == half ? 1.0 : -1.0;
    const f64 of_negative = (b + ROUNDER_F64) - ROUNDER_F64 == b ? of_integer : of_fraction;
    const f64 r = (copysign(1.0, x) < 0.0 ? of_negative : 1.0) * magnitude;
    return (f32)(y == 0.0 ? 1.0 : r);
}

static inline f64 st_pow_f64(f64 x, f64 y) { return pow(x, y); }

/* ---- bounds: a NaN in either comes through ---- */

#define DEFINE_LIMITS(t)                                                                \
    static inline t st_at_least_##t(t x, t lo) { return x > lo || x != x ? x : lo; }                                 \
    static inline t st_at_most_##t(t x, t hi) { return x < hi || x != x ? x : hi; }
DEFINE_LIMITS(f32)
DEFINE_LIMITS(f64)

/* ---- length of (x, y): infinite if either is, even beside NaN ---- */

static inline f32 st_hypot_f32(f32 x, f32 y) {
    const f64 a = x, b = y, r = sqrt(a * a + b * b);
    return fabsf(x) == INFINITY || fabsf(y) == INFINITY ? INFINITY : (f32)r;
}

/* scaled, so that no square overflows or loses digits */
static inline f64 st_hypot_f64(f64 x, f64 y) {
    const f64 p = fabs(x), q = fabs(y), long_ = p > q ? p : q, short_ = p > q ? q : p;
    const f64 scale = long_ > 0x1p500 ? 0x1p-600 : long_ < 0x1p-400 ? 0x1p600 : 1.0;
    const f64 back = long_ > 0x1p500 ? 0x1p600 : long_ < 0x1p-400 ? 0x1p-600 : 1.0;
    const f64 a = long_ * scale, b = short_ * scale, r = sqrt(MADD(a, a, b * b)) * back;
    return p == (f64)INFINITY || q == (f64)INFINITY ? (f64)INFINITY : r;
}

#include "vecmath_arc.h"
#include "vecmath_circular.h"
#include "vecmath_special.h"

#endif
