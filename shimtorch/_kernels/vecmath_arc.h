/* Hyperbolic functions and the inverses of these and of the circular ones, in the manner of vecmath.h (which includes
 * this file): each algorithm is written once for float32 and float64, the polynomials stand before it. */
#ifndef SHIMTORCH_KERNELS_VECMATH_ARC_H
#define SHIMTORCH_KERNELS_VECMATH_ARC_H

#include "vecmath.h"

/* ---- hyperbolic sine and cosine: x = n ln2 + r, and the addition theorems of both ---- */

/* (sinh(r) - r) / r^3 and (cosh(r) - 1) / r^2, of z = r^2, |r| <= ln2 / 2 */
static inline f32 sinh_tail_f32(f32 z) {
    return MADD(MADD(0x1.a12528p-13f, z, 0x1.1110e0p-7f), z, 0x1.555556p-3f);
}

static inline f32 cosh_tail_f32(f32 z) {
    return MADD(MADD(MADD(0x1.a136fap-16f, z, 0x1.6c166cp-10f), z, 0x1.555556p-5f), z, 0.5f);
}

static inline f64 sinh_tail_f64(f64 z) {
    f64 p = 0x1.61bfc9f4f7abcp-33;
    p = MADD(p, z, 0x1.ae642c71ad6fcp-26);
    p = MADD(p, z, 0x1.71de3a5aaaf32p-19);
    p = MADD(p, z, 0x1.a01a01a0196a5p-13);
    p = MADD(p, z, 0x1.1111111111111p-7);
    return MADD(p, z, 0x1.5555555555555p-3);
}

static inline f64 cosh_tail_f64(f64 z) {
    f64 p = 0x1.1f7f454dc2cb1p-29;
    p = MADD(p, z, 0x1.27e4d409439a6p-22);
    p = MADD(p, z, 0x1.a01a01a9ef9a7p-16);
    p = MADD(p, z, 0x1.6c16c16c15a5ap-10);
    p = MADD(p, z, 0x1.5555555555557p-5);
    return MADD(p, z, 0.5);
}

/* Everything but the powers of two is halved until the end, so that nothing overflows early. */
#define DEFINE_HYPERBOLIC(t, u, MANTISSA, BIAS, LIMIT)                                                               \
    typedef struct {                                                                                                 \
        t up, down, sinh, low, cosh; /* e^(n ln2) and e^(-n ln2), by 4; of r: sinh in two parts, and cosh - 1 */     \
    } hyperbolic_##t;                                                                                                \
    static inline hyperbolic_##t hyperbolic_parts_##t(t a) {                                                         \
        const exp_parts_##t p = exp_split_##t(LIMIT < a ? LIMIT : a);                                                \
        const t r = p.r, z = r * r, up = t##_of_bits((p.n + BIAS - 2) << MANTISSA);                                  \
        const t down = a > 40 ? (t)0 : t##_of_bits((BIAS - 2 - p.n) << MANTISSA);                                    \
        return (hyperbolic_##t){up, down, r, MADD(r * z, sinh_tail_##t(z), p.low),                                   \
                                MADD(z, cosh_tail_##t(z), r * p.low)};                                               \
    }                                                                                                                \
    static inline t st_sinh_##t(t x) {                                                                               \
        const t a = F(fabs, t)(x);                                                                                   \
        const hyperbolic_##t h = hyperbolic_parts_##t(a);                                                            \
        const t s = h.up - h.down, c = h.up + h.down, lost = (h.up - s) - h.down;                                    \
        const t sum = MADD(c, h.sinh, s), rest = MADD(c, h.sinh, s - sum);                                           \
        const t y = sum + (rest + MADD(s, h.cosh, MADD(c, h.low, lost)));                                            \
        return F(copysign, t)(LIMIT <= a ? a * (t)INFINITY : 2 * y, x);                                              \
    }                                                                                                                \
    static inline t st_cosh_##t(t x) {                                                                               \
        const t a = F(fabs, t)(x);                                                                                   \
        const hyperbolic_##t h = hyperbolic_parts_##t(a);                                                            \
        const t s = h.up - h.down, c = h.up + h.down, lost = (h.up - c) + h.down;                                    \
        const t sum = MADD(s, h.sinh, c), rest = MADD(s, h.sinh, c - sum);                                           \
        const t y = sum + (rest + MADD(c, h.cosh, MADD(s, h.low, lost)));                                            \
        return LIMIT <= a ? (t)INFINITY : 2 * y;                                                                     \
    }

DEFINE_HYPERBOLIC(f32, u32, 23, 127u, 89.42f)
DEFINE_HYPERBOLIC(f64, u64, 52, 1023u, 710.5)

/* ---- their inverses ---- */

/* (atanh(s) - s) / s^3 of z = s^2, |s| < 0.274 */
static inline f32 atanh_tail_f32(f32 z) {
    return MADD(MADD(MADD(0x1.021f1cp-3f, z, 0x1.23195ap-3f), z, 0x1.999f50p-3f), z, 0x1.555554p-2f);
}

static inline f64 atanh_tail_f64(f64 z) {
    f64 p = 0x1.155db300bc4c8p-4;
    p = MADD(p, z, 0x1.93282d2c5d2b2p-5);
    p = MADD(p, z, 0x1.e46ec8c65e966p-5);
    p = MADD(p, z, 0x1.10ff559f6127ap-4);
    p = MADD(p, z, 0x1.3b1448d085548p-4);
    p = MADD(p, z, 0x1.745d143418059p-4);
    p = MADD(p, z, 0x1.c71c71d039875p-4);
    p = MADD(p, z, 0x1.249249248b6d8p-3);
    p = MADD(p, z, 0x1.99999999999dap-3);
    return MADD(p, z, 0x1.5555555555555p-2);
}

/* a whole number, small and not negative, from an integer */
static inline f32 whole_f32(u32 n) { return (f32)(i32)n; }
static inline f64 whole_f64(u64 n) { return f64_of_bits(0x4330000000000000u | n) - 0x1p52; }

/* (1 + a) / (1 - a) = 2^n (1 + s) / (1 - s), with n from the difference of the logarithms of 1 + a and 1 - a, of which
 * the bits of both are an approximation; below 1/4, n is 0 and s is a. From 1/2 on 1 - a is exact. */
#define DEFINE_ATANH(t, u, MANTISSA, BIAS, LN2_HIGH, LN2_LOW)                                                        \
    static inline t st_atanh_##t(t x) {                                                                              \
        const t a = F(fabs, t)(x), rest = a < (t)0.5 ? (t)1 : 1 - a, one = a < (t)0.5 ? (t)1 : (t)0;                 \
        const u n = (bits_of_##t(1 + a) - bits_of_##t(1 - a) + ((u)1 << (MANTISSA - 2))) >> MANTISSA;                \
        const t scale = t##_of_bits((BIAS - n) << MANTISSA), e = whole_##t(n);                                       \
        const t s = MADD(a, scale + one, scale - rest) / MADD(a, scale - one, scale + rest), z = s * s;              \
        const t whole = e * ((t)0.5 * LN2_HIGH), sum = whole + s, lost = (whole - sum) + s;                          \
        const t y = sum + MADD(s * z, atanh_tail_##t(z), MADD(e, (t)0.5 * LN2_LOW, lost));                           \
        return F(copysign, t)(a < 1 ? y : a == 1 ? (t)INFINITY : (t)NAN, x);                                         \
    }

DEFINE_ATANH(f32, u32, 23, 127u, 0x1.62e4p-1f, 0x1.7f7d1cp-20f)
DEFINE_ATANH(f64, u64, 52, 1023u, 0x1.62e42feep-1, 0x1.a39ef35793c76p-33)

/* log(1 + x + low) + more ln2, x >= 0 and low far below it: 1 + x = 2^n (1 + f) */
static inline f32 log1p_sum_f32(f32 x, f32 low, f32 more) {
    const u32 n = (bits_of_f32(1.0f + x) - 0x3f3504f3u) >> 23;
    const f32 scale = f32_of_bits((127u - n) << 23), scaled = x * scale, f = scaled + (scale - 1.0f);
    const f32 lost = MADD(low, scale, scaled - (f - (scale - 1.0f))), e = whole_f32(n) + more;
    return log_of_parts_f32(f, e, MADD(lost, 1.0f - f, e * 0x1.7f7d1cp-20f)).high;
}

static inline f64 log1p_sum_f64(f64 x, f64 low, f64 more) {
    const u64 n = (bits_of_f64(1.0 + x) - 0x3fe6a09e667f3bcdu) >> 52;
    const f64 scale = f64_of_bits((1023u - n) << 52), scaled = x * scale, f = scaled + (scale - 1.0);
    const f64 lost = MADD(low, scale, scaled - (f - (scale - 1.0))), e = whole_f64(n) + more;
    return log_of_parts_f64(f, e, MADD(lost, 1.0 - f, e * 0x1.a39ef35793c76p-33)).high;
}

/* c - a b, for c near a b: exact with fused multiply-adds; without, a float32's is and a float64's is let be */
static inline f32 product_rest_f32(f32 a, f32 b, f32 c) { return (f32)(c - (f64)a * b); }
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
static inline f64 product_rest_f64(f64 a, f64 b, f64 c) { return MADD(-a, b, c); }
#else
static inline f64 product_rest_f64(f64 a, f64 b, f64 c) { return (void)a, (void)b, (void)c, 0.0; }
#endif

/* asinh(x) = log(1 + a + (sqrt(1 + a^2) - 1)), acosh(x) = log(1 + t + sqrt(t^2 + 2 t)) with t = x - 1; of numbers
 * above LARGE, whose square would overflow, both are log(2 x). */
#define DEFINE_AREA(t, LARGE, SHRINK, SHRUNK_BY)                                                                     \
    static inline t st_asinh_##t(t x) {                                                                              \
        const t a = F(fabs, t)(x), more = a * a / (1 + F(sqrt, t)(MADD(a, a, (t)1)));                                \
        const int large = a > LARGE;                                                                                 \
        const t sum = a + more, w = large ? a * SHRINK : sum, low = large ? (t)0 : (a - sum) + more;                 \
        const t y = log1p_sum_##t(w, low, large ? (t)(SHRUNK_BY + 1) : (t)0);                                        \
        return F(copysign, t)(a < (t)INFINITY ? y : a, x);                                                           \
    }                                                                                                                \
    static inline t st_acosh_##t(t x) {                                                                              \
        const t less = x - 1, square = MADD(less, less, 2 * less), root = F(sqrt, t)(square);                        \
        const t over = root > 0 ? product_rest_##t(root, root, square) / (2 * root) : (t)0;                          \
        const int large = x > LARGE;                                                                                 \
        const t sum = root + less, w = large ? x * SHRINK : sum, low = large ? (t)0 : (root - sum) + less + over;    \
        const t y = log1p_sum_##t(w, low, large ? (t)(SHRUNK_BY + 1) : (t)0);                                        \
        return x >= 1 ? (x < (t)INFINITY ? y : x) : (t)NAN;                                                          \
    }

DEFINE_AREA(f32, 0x1p60f, 0x1p-30f, 30)
DEFINE_AREA(f64, 0x1p400, 0x1p-300, 300)

/* ---- inverse sine and cosine ---- */

/* (asin(s) - s) / s^3 of z = s^2, s <= 1/2 */
static inline f32 asin_tail_f32(f32 z) {
    f32 p = 0x1.14138cp-5f;
    p = MADD(p, z, 0x1.18e1f6p-6f);
    p = MADD(p, z, 0x1.fd921ap-6f);
    p = MADD(p, z, 0x1.6d5b8ep-5f);
    p = MADD(p, z, 0x1.333432p-4f);
    return MADD(p, z, 0x1.555554p-3f);
}

static inline f64 asin_tail_f64(f64 z) {
    f64 p = 0x1.d78189767524ep-6;
    p = MADD(p, z, -0x1.e7a24f548c99dp-7);
    p = MADD(p, z, 0x1.1d661531b222ep-6);
    p = MADD(p, z, 0x1.653a8f8cfd43dp-8);
    p = MADD(p, z, 0x1.524ea8b3aad31p-7);
    p = MADD(p, z, 0x1.78246f32d075cp-7);
    p = MADD(p, z, 0x1.c9cf3759fd8ffp-7);
    p = MADD(p, z, 0x1.1c4d343fa57f6p-6);
    p = MADD(p, z, 0x1.6e8bb1d89492bp-6);
    p = MADD(p, z, 0x1.f1c71c1d4aa0dp-6);
    p = MADD(p, z, 0x1.6db6db6e3292ep-5);
    p = MADD(p, z, 0x1.3333333332ec4p-4);
    return MADD(p, z, 0x1.5555555555556p-3);
}

/* a quarter of pi in two parts, of which small multiples of the first are exact */
#define PI_4_HIGH_f32 0x1.921fb0p-1f
#define PI_4_LOW_f32 0x1.5110b4p-23f
#define PI_4_HIGH_f64 0x1.921fb54442d18p-1
#define PI_4_LOW_f64 0x1.1a62633145c07p-55

/* Beyond 1/2, asin(a) = pi/2 - 2 asin(s) with s^2 = (1 - a) / 2; more: what the root s lacks. */
#define DEFINE_ARCS(t)                                                                                               \
    typedef struct {                                                                                                 \
        t s, more, tail;                                                                                             \
    } arc_parts_##t;                                                                                                 \
    static inline arc_parts_##t arc_parts_of_##t(t x, t a) {                                                         \
        const t half = (t)0.5 * (1 - a), root = F(sqrt, t)(half);                                                    \
        const t more = root > 0 ? product_rest_##t(root, root, half) / (2 * root) : (t)0;                            \
        const int far = !(a < (t)0.5);                                                                               \
        const t z = far ? half : a * a, s = far ? root : x;                                                          \
        return (arc_parts_##t){s, far ? more : (t)0, s * z * asin_tail_##t(z)};                                      \
    }                                                                                                                \
    static inline t st_asin_##t(t x) {                                                                               \
        const t a = F(fabs, t)(x);                                                                                   \
        const arc_parts_##t p = arc_parts_of_##t(a, a);                                                              \
        const t sum = PI_4_HIGH_##t - 2 * p.s, lost = (PI_4_HIGH_##t - sum) - 2 * p.s;                               \
        const t rest = sum + (lost + 2 * (PI_4_LOW_##t - (p.tail + p.more)));                                        \
        return F(copysign, t)(a < (t)0.5 ? p.s + p.tail : PI_4_HIGH_##t + rest, x);                                  \
    }                                                                                                                \
    static inline t st_acos_##t(t x) {                                                                               \
        const t a = F(fabs, t)(x);                                                                                   \
        const arc_parts_##t p = arc_parts_of_##t(x, a);                                                              \
        const t near = 2 * PI_4_HIGH_##t - (p.s - (2 * PI_4_LOW_##t - p.tail));                                      \
        const t below = 4 * PI_4_HIGH_##t - (2 * p.s - (4 * PI_4_LOW_##t - 2 * (p.tail + p.more)));                  \
        return a < (t)0.5 ? near : x < 0 ? below : 2 * (p.s + (p.tail + p.more));                                    \
    }                                                                                                                

DEFINE_ARCS(f32)
DEFINE_ARCS(f64)

/* ---- inverse tangents ---- */

/* (atan(r) - r) / r^3 of z = r^2, |r| <= 1/2 */
static inline f32 atan_tail_f32(f32 z) {
    f32 p = 0x1.5a176ep-5f;
    p = MADD(p, z, -0x1.514dfcp-4f);
    p = MADD(p, z, 0x1.c2d66cp-4f);
    p = MADD(p, z, -0x1.24733ep-3f);
    p = MADD(p, z, 0x1.9998f2p-3f);
    return MADD(p, z, -0x1.555556p-2f);
}

static inline f64 atan_tail_f64(f64 z) {
    f64 p = -0x1.2dd40041c2c27p-7;
    p = MADD(p, z, 0x1.99984c3613cd5p-6);
    p = MADD(p, z, -0x1.37ce51c509047p-5);
    p = MADD(p, z, 0x1.7b1d7856d14a5p-5);
    p = MADD(p, z, -0x1.ad441c37157fap-5);
    p = MADD(p, z, 0x1.e1a795c3fb24fp-5);
    p = MADD(p, z, -0x1.110ea393fffe2p-4);
    p = MADD(p, z, 0x1.3b138e4b5b747p-4);
    p = MADD(p, z, -0x1.745d16016ea5fp-4);
    p = MADD(p, z, 0x1.c71c71c014e0dp-4);
    p = MADD(p, z, -0x1.24924924881f5p-3);
    p = MADD(p, z, 0x1.99999999998e0p-3);
    return MADD(p, z, -0x1.5555555555555p-2);
}

/* of_ratio: the angle between the axis `turns` eighths of a circle on and the direction of `sign` times a / b, for
 * 0 <= a <= b, b > 0; beyond 1/2 it is measured from the axis after it, an eighth on (a - b is exact then). */
#define DEFINE_ATAN(t, LARGE, SHRINK)                                                                                \
    static inline t of_ratio_##t(t a, t b, t turns, t sign) {                                                        \
        const int far = a > (t)0.5 * b;                                                                              \
        const t top = far ? a - b : a, bottom = far ? a + b : b, less = far ? (b - bottom) + a : (t)0;               \
        const t inverse = 1 / bottom, r = top * inverse, z = r * r;                                                  \
        const t r_low = MADD(-r, less, product_rest_##t(r, bottom, top)) * inverse;                                  \
        const t axis = far ? turns + sign : turns, start = axis * PI_4_HIGH_##t, part = sign * r, sum = start + part;\
        const t low = sign * MADD(r * z, atan_tail_##t(z), r_low);                                                   \
        return sum + (((start - sum) + part) + MADD(axis, PI_4_LOW_##t, low));                                       \
    }                                                                                                                \
    static inline t st_atan_##t(t x) {                                                                               \
        const t a = F(fabs, t)(x), b = a > LARGE ? LARGE : a;                                                        \
        const int steep = a > 1;                                                                                     \
        const t y = of_ratio_##t(steep ? (t)1 : b, steep ? b : (t)1, steep ? (t)2 : (t)0, steep ? (t)-1 : (t)1);     \
        return F(copysign, t)(y, x);                                                                                 \
    }                                                                                                                \
    static inline t st_atan2_##t(t y, t x) {                                                                         \
        const t rise = F(fabs, t)(y), run = F(fabs, t)(x);                                                           \
        const int steep = rise > run, left = F(copysign, t)(1, x) < 0;                                               \
        const t less = steep ? run : rise, more = steep ? rise : run;                                                \
        const t scale = more > LARGE ? SHRINK : more < 1 / LARGE ? 1 / SHRINK : (t)1;                                \
        const t a = less == (t)INFINITY ? (t)1 : more == (t)INFINITY ? (t)0 : less * scale;                          \
        const t b = more == (t)INFINITY || more == 0 ? (t)1 : more * scale;                                          \
        const t turns = steep ? (t)2 : left ? (t)4 : (t)0, sign = steep != left ? (t)-1 : (t)1;                      \
        const t angle = of_ratio_##t(a, b, turns, sign);                                                             \
        return x != x ? x : y != y ? y : F(copysign, t)(angle, y);                                                   \
    }

DEFINE_ATAN(f32, 0x1p100f, 0x1p-50f)
DEFINE_ATAN(f64, 0x1p1000, 0x1p-500)

#endif
