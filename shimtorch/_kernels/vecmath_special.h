/* Error functions and modified Bessel functions of the first kind, in the manner of vecmath.h (which includes this
 * file). With fused multiply-adds all are at most 2 ulp off the correctly rounded result, mostly 1. Where float32 would
 * lose digits on the way the work is done in float64; long polynomials are summed in two halves, side by side. */
#ifndef SHIMTORCH_KERNELS_VECMATH_SPECIAL_H
#define SHIMTORCH_KERNELS_VECMATH_SPECIAL_H

#include "vecmath.h"

/* (y + y_low) e^(x + x_low) for y in the range of ordinary numbers and -800 < x < 720 */
ST_INLINE f64 times_exp(f64 y, f64 y_low, f64 x, f64 x_low) {
    const f64 shifted = MADD(x, LOG2E, ROUNDER_F64), n = shifted - ROUNDER_F64;
    const f64 high = MADD(n, -0x1.62e42feep-1, x), less = MADD(n, 0x1.a39ef35793c76p-33, -x_low);
    const f64 r = high - less, low = (high - r) - less, more = MADD(exp_tail_f64(r) * r, r, low); /* e^r - 1 - r */
    const f64 part = y * r, sum = y + part, lost = ((y - sum) + part) + MADD(y, r, -part);
    return scale_f64(sum + (lost + MADD(y, more, MADD(y_low, r, y_low))),
                     (i64)(bits_of_f64(shifted) - bits_of_f64(ROUNDER_F64)));
}

/* ---- error function ---- */

/* Both polynomials are summed in pairs, not one term after the other: the processor can work on them side by side. */
static inline f32 st_erf_f32(f32 x) {
    const f32 a = fabsf(x), b = 4.0f < a ? 4.0f : a, z = b * b, z2 = z * z;
    const f32 p01 = MADD(-0x1.812746p-2f, z, 0x1.06eba8p-3f), p23 = MADD(-0x1.b829c8p-6f, z, 0x1.ce2f08p-4f);
    const f32 p45 = MADD(-0x1.bccf66p-11f, z, 0x1.562a60p-8f), p67 = MADD(-0x1.445f48p-17f, z, 0x1.d88750p-14f);
    const f32 p = MADD(MADD(p67, z2, p45), z2 * z2, MADD(p23, z2, p01));
    /* log(1 - erf) */
    const f32 q23 = MADD(-0x1.c2e356p-4f, b, -0x1.437eb4p-1f);
    const f32 q45 = MADD(-0x1.37ecc6p-8f, b, 0x1.b0e246p-6f), q67 = MADD(-0x1.825ce4p-15f, b, 0x1.38e5e6p-11f);
    const f32 q47 = MADD(MADD(0x1.b77830p-20f, z, q67), z, q45), rest = MADD(q47, z2, MADD(q23, z, 0x1.4fb068p-12f));
    const f32 slope = -0x1.2156fap+0f, start = slope * b, q = start + rest;
    const f32 lost = MADD(slope, b, -start) + ((start - q) + rest);
    const exp_parts_f32 e = exp_split_f32(q);
    const f32 tail = 1.0f - exp_of_f32(e.r, e.low + lost) * f32_of_bits((e.n + 127u) << 23);
    return a < 1.0f ? MADD(x, p, x) : copysignf(tail, x);
}

/* erf(x) / x - 1 of z = x^2, |x| <= 1 */
static inline f64 erf_tail_f64(f64 z) {
    f64 p = -0x1.29b6758efffb1p-38;
    p = MADD(p, z, 0x1.7f05c4ce71a84p-34);
    p = MADD(p, z, -0x1.4e603f0ea3f96p-30);
    p = MADD(p, z, 0x1.fc434a34e5273p-27);
    p = MADD(p, z, -0x1.5f6d919248428p-23);
    p = MADD(p, z, 0x1.b9e6508a369ffp-20);
    p = MADD(p, z, -0x1.f4d25619e1da1p-17);
    p = MADD(p, z, 0x1.f9a326c2284bep-14);
    p = MADD(p, z, -0x1.c02db3feeb0c9p-11);
    p = MADD(p, z, 0x1.565bcd0e65018p-8);
    p = MADD(p, z, -0x1.b82ce312889bap-6);
    p = MADD(p, z, 0x1.ce2f21a042bdep-4);
    p = MADD(p, z, -0x1.812746b0379e7p-2);
    return MADD(p, z, 0x1.06eba8214db69p-3);
}

/* With t = (x - k) / (x + k), e^(x^2) erfc(x) (x + k) is a smooth function of t: for k = 1.25 it is its value at 0 plus
 * t times ERFC_SLOPE, nearly, and what erfc_bend says (float64, x >= 1/2); for k = 3 one of few terms (float32,
 * x >= 0). */
#define ERFC_MIDDLE 0x1.d6d0369869419p-1
#define ERFC_MIDDLE_LOW -0x1.fccd05dfda414p-55
#define ERFC_SLOPE -0x1.8ad555c61ca43p-2
ST_INLINE f64 erfc_bend(f64 t) {
    const f64 t2 = t * t;
    f64 even = 0x1.8144d928dafd5p-18;
    even = MADD(even, t2, 0x1.e97ce85ba8ba5p-15);
    even = MADD(even, t2, -0x1.dcb72d2017463p-17);
    even = MADD(even, t2, -0x1.39be32d6d6659p-16);
    even = MADD(even, t2, 0x1.1763eb20aafe7p-17);
    even = MADD(even, t2, 0x1.3faaff35c3266p-17);
    even = MADD(even, t2, 0x1.e82a66aa14884p-17);
    even = MADD(even, t2, -0x1.7174d3e5f04a6p-14);
    even = MADD(even, t2, -0x1.a20ffbd57b2ebp-15);
    even = MADD(even, t2, 0x1.b0dee56c6a446p-11);
    even = MADD(even, t2, -0x1.50d20143ef9e6p-10);
    even = MADD(even, t2, -0x1.5aa762f22db38p-8);
    even = MADD(even, t2, 0x1.8d9ff4c777fe7p-5);
    even *= t2;
    f64 odd = -0x1.fdd39e7607897p-16;
    odd = MADD(odd, t2, -0x1.541053b7f3beep-15);
    odd = MADD(odd, t2, 0x1.4fe28f73ef14cp-15);
    odd = MADD(odd, t2, -0x1.c769a96f7e67ep-17);
    odd = MADD(odd, t2, 0x1.7fea335218552p-19);
    odd = MADD(odd, t2, 0x1.5a757219a462ep-16);
    odd = MADD(odd, t2, -0x1.6a9eeba25e471p-16);
    odd = MADD(odd, t2, -0x1.20a33979b3682p-13);
    odd = MADD(odd, t2, 0x1.41c98dd546ba3p-12);
    odd = MADD(odd, t2, 0x1.8c57889ebd03dp-11);
    odd = MADD(odd, t2, -0x1.61185d3272837p-8);
    odd = MADD(odd, t2, 0x1.cbf80721a591dp-7);
    odd = MADD(odd, t2, -0x1.6906f8f937320p-6);
    return MADD(odd, t, even);
}

static inline f64 erfc_scaled_f64(f64 t) {
    f64 p = 0x1.52290bb0b637cp-15;
    p = MADD(p, t, 0x1.98dcd2ebcd367p-14);
    p = MADD(p, t, -0x1.2d138fbebcd17p-12);
    p = MADD(p, t, -0x1.1ed962db70053p-11);
    p = MADD(p, t, 0x1.8e1c3389d3856p-9);
    p = MADD(p, t, -0x1.3dc2476b72010p-10);
    p = MADD(p, t, -0x1.b78b525b12308p-6);
    p = MADD(p, t, 0x1.e995e175663acp-4);
    p = MADD(p, t, -0x1.3deb2008029a2p-2);
    p = MADD(p, t, 0x1.2e32695d6bf10p-1);
    p = MADD(p, t, -0x1.c44c471c8cbb3p-1);
    return MADD(p, t, 0x1.12f21ddd8b3d0p+0);
}

/* erfc(a), a >= 1/2. What each step loses is carried along (for x^2 without the help of fused multiply-adds). */
ST_INLINE f64 erfc_far(f64 a) {
    const f64 x = 28.0 < a ? 28.0 : a, sum = x + 1.25, y = 1.0 / sum, t = (x - 1.25) * y;
    const f64 x_part = sum - x, sum_low = (x - (sum - x_part)) + (1.25 - x_part);
    const f64 t_low = (MADD(-t, sum, x - 1.25) - t * sum_low) * y, y_less = MADD(sum_low, y, MADD(sum, y, -1.0));
    const f64 change = t * ERFC_SLOPE, line = ERFC_MIDDLE + change, bend = t * erfc_bend(t), p = line + bend;
    const f64 lost = ((ERFC_MIDDLE - line) + change) + MADD(t, ERFC_SLOPE, -change) + ((line - p) + bend);
    const f64 p_low = MADD(t_low, ERFC_SLOPE, lost + ERFC_MIDDLE_LOW);
    const f64 r = p * y, r_low = MADD(p_low, y, MADD(p, y, -r)) - r * y_less;
    const f64 head = f64_of_bits(bits_of_f64(x) & ~(u64)0x7ffffff);
    return times_exp(r, r_low, -head * head, (head - x) * (head + x));
}

ST_INLINE f64 st_erf_f64(f64 x) {
    const f64 a = fabs(x), b = 6.0 < a ? 6.0 : a, y = 1.0 / (b + 1.25), t = (b - 1.25) * y;
    const f64 square = b * b, p = MADD(t, ERFC_SLOPE + erfc_bend(t), ERFC_MIDDLE), r = p * y;
    const f64 r_low = MADD(p, y, -r) - r * MADD(b + 1.25, y, -1.0);
    const f64 far = 1.0 - times_exp(r, r_low, -square, MADD(-b, b, square));
    return a < 1.0 ? MADD(x, erf_tail_f64(x * x), x) : copysign(far, x);
}

ST_INLINE f64 st_erfc_f64(f64 x) {
    const f64 a = fabs(x), far = erfc_far(a), less = 1.0 - x, lost = (1.0 - less) - x;
    const f64 near = less + MADD(-x, erf_tail_f64(x * x), lost);
    return a < 0.5 ? near : x < 0.0 ? 2.0 - far : far;
}

ST_INLINE f32 st_erfc_f32(f32 x) {
    const f64 a = fabsf(x), b = 11.0 < a ? 11.0 : a, y = 1.0 / (b + 3.0);
    const f64 far = erfc_scaled_f64(MADD(-6.0, y, 1.0)) * y * exp2_for_pow(b * b * -LOG2E);
    return (f32)(x < 0.0f ? 2.0 - far : far);
}

/* ---- distribution function of the standard normal distribution ---- */

/* e^(x^2) erfc(x) (x + 3) / 2, of t = (x - 3) / (x + 3) for 0 <= x < 9.3 */
static inline f32 normal_tail_f32(f32 t) {
    f32 p = -0x1.5f771cp-13f;
    p = MADD(p, t, -0x1.07ea80p-12f);
    p = MADD(p, t, 0x1.92e7ecp-10f);
    p = MADD(p, t, -0x1.3f1138p-11f);
    p = MADD(p, t, -0x1.b7aa42p-7f);
    p = MADD(p, t, 0x1.e995f0p-5f);
    p = MADD(p, t, -0x1.3deb00p-3f);
    p = MADD(p, t, 0x1.2e326ap-2f);
    p = MADD(p, t, -0x1.c44c48p-2f);
    return MADD(p, t, 0x1.12f21ep-1f);
}

static inline f32 normal_cdf_f32(f32 x) {
    const f32 a = fabsf(x) * 0x1.6a09e6p-1f, z = 9.3f < a ? 9.3f : a, y = 1.0f / (z + 3.0f), square = z * z;
    const f32 low = MADD(z, z, -square), part = normal_tail_f32(MADD(-6.0f, y, 1.0f)) * y;
    const f32 near = MADD(-part, low, part) * quick_exp_near_f32(-square), tail = a > 9.3f ? 0.0f : near;
    return x > 0.0f ? 1.0f - tail : tail;
}

static inline f64 normal_cdf_f64(f64 x) { return 0.5 * (1.0 + st_erf_f64(x * 0x1.6a09e667f3bcdp-1)); }

/* ---- its inverse: erfinv(x) / x is smooth in w = -log(1 - x^2) for small w, in the root of w for large ones ---- */

/* (erfinv(x) / x - sqrt(pi) / 2) / w, and erfinv(x) / x less the root; t runs from -1 to 1 over the interval */
ST_INLINE f64 erfinv_low_f32(f64 t) {
    f64 p = -0x1.25d1c6a184e20p-18;
    p = MADD(p, t, 0x1.33df1422dd967p-18);
    p = MADD(p, t, 0x1.cdc52d319b703p-16);
    p = MADD(p, t, -0x1.2550b7faa2cb1p-14);
    p = MADD(p, t, -0x1.22981ffc3cedcp-16);
    p = MADD(p, t, 0x1.b246d254ded77p-12);
    p = MADD(p, t, -0x1.adbeeafec31f7p-11);
    p = MADD(p, t, -0x1.08abbe6b56372p-11);
    p = MADD(p, t, 0x1.9687a6199c3dfp-8);
    p = MADD(p, t, -0x1.b849c8b2d277cp-7);
    p = MADD(p, t, -0x1.631e0ee2f3c23p-8);
    return MADD(p, t, 0x1.f6f0fdfbefe9ap-3);
}

ST_INLINE f64 erfinv_high_f32(f64 t) {
    f64 p = -0x1.34b2fb2a4ee82p-19;
    p = MADD(p, t, 0x1.9b08311be810ap-18);
    p = MADD(p, t, 0x1.0d99d07e13770p-19);
    p = MADD(p, t, -0x1.94b7d026c4c8dp-15);
    p = MADD(p, t, 0x1.6430d7605893fp-13);
    p = MADD(p, t, -0x1.a3bc2e72c30c7p-12);
    p = MADD(p, t, 0x1.9d4880cb7cf72p-11);
    p = MADD(p, t, -0x1.9ede8041d78a4p-10);
    p = MADD(p, t, 0x1.8bfcac464dadap-9);
    p = MADD(p, t, 0x1.027d2d2c90c4ep-8);
    return MADD(p, t, -0x1.5433c7f2a5b83p-3);
}

ST_INLINE f64 erfinv_low_f64(f64 t) {
    const f64 t2 = t * t;
    f64 even = 0x1.64769cb416f1fp-34;
    even = MADD(even, t2, 0x1.0571e74fc434fp-30);
    even = MADD(even, t2, -0x1.1b53cadb6a303p-26);
    even = MADD(even, t2, 0x1.82257538a7f4cp-24);
    even = MADD(even, t2, -0x1.407828129f93cp-23);
    even = MADD(even, t2, -0x1.12406b57c346ap-20);
    even = MADD(even, t2, 0x1.027b20226c999p-17);
    even = MADD(even, t2, -0x1.ff3999e50ce10p-17);
    even = MADD(even, t2, -0x1.75e218e68e9d2p-14);
    even = MADD(even, t2, 0x1.897edc4271733p-11);
    even = MADD(even, t2, -0x1.7fc8acbe6fd9bp-10);
    even = MADD(even, t2, -0x1.cf320cf4ac9cbp-7);
    even = MADD(even, t2, 0x1.f52c4ca43c176p-3);
    f64 odd = 0x1.6fb1dae1766a2p-33;
    odd = MADD(odd, t2, -0x1.10bec43f2b088p-29);
    odd = MADD(odd, t2, 0x1.5391d870e2c96p-27);
    odd = MADD(odd, t2, -0x1.ff02fcb0aaa69p-27);
    odd = MADD(odd, t2, -0x1.e855a8bd0c71ap-24);
    odd = MADD(odd, t2, 0x1.b27225373ce10p-21);
    odd = MADD(odd, t2, -0x1.9130224d4ba79p-20);
    odd = MADD(odd, t2, -0x1.3a32612da652ep-17);
    odd = MADD(odd, t2, 0x1.39af0c6a72121p-14);
    odd = MADD(odd, t2, -0x1.42cd680ca27d5p-13);
    odd = MADD(odd, t2, -0x1.ed701be89fa32p-11);
    odd = MADD(odd, t2, 0x1.0fa293c9c168fp-7);
    odd = MADD(odd, t2, -0x1.3780af59a036dp-7);
    return MADD(odd, t, even);
}

ST_INLINE f64 erfinv_high_f64(f64 t) {
    const f64 t2 = t * t;
    f64 even = 0x1.0c70bdc8293e7p-29;
    even = MADD(even, t2, 0x1.01c2b32a758b2p-28);
    even = MADD(even, t2, -0x1.82775b5ad6044p-25);
    even = MADD(even, t2, -0x1.de7936987e58ap-23);
    even = MADD(even, t2, 0x1.3a8a7db3ff826p-20);
    even = MADD(even, t2, 0x1.4443cd36cd97ap-19);
    even = MADD(even, t2, -0x1.8dcc49e7bcacfp-17);
    even = MADD(even, t2, -0x1.88a694744c1e6p-16);
    even = MADD(even, t2, 0x1.be731ec2b1c71p-15);
    even = MADD(even, t2, 0x1.95305217ed524p-13);
    even = MADD(even, t2, 0x1.025c8c57b61d9p-12);
    even = MADD(even, t2, 0x1.951e23ac6b524p-12);
    even = MADD(even, t2, 0x1.8951faa7204fcp-10);
    even = MADD(even, t2, 0x1.a93229029f12bp-10);
    even = MADD(even, t2, -0x1.417b9d0f35c9fp-3);
    f64 odd = -0x1.c62a73c44f6cap-28;
    odd = MADD(odd, t2, 0x1.a7a0531d1145ep-27);
    odd = MADD(odd, t2, 0x1.24d3a69640a8cp-23);
    odd = MADD(odd, t2, -0x1.6ce6801756df1p-24);
    odd = MADD(odd, t2, -0x1.59358110bd7ddp-19);
    odd = MADD(odd, t2, 0x1.0f270224f995cp-19);
    odd = MADD(odd, t2, 0x1.7e160c8bb88bap-16);
    odd = MADD(odd, t2, 0x1.adae331ca2b5ap-28);
    odd = MADD(odd, t2, -0x1.07a7a312df90fp-13);
    odd = MADD(odd, t2, -0x1.e975030c7afa8p-13);
    odd = MADD(odd, t2, -0x1.1aa1ac7310ae6p-12);
    odd = MADD(odd, t2, -0x1.8286c7eb006c4p-11);
    odd = MADD(odd, t2, -0x1.520968eae4f01p-9);
    odd = MADD(odd, t2, 0x1.157b8aec6d16ep-6);
    return MADD(odd, t, even);
}

ST_INLINE f32 st_erfinv_f32(f32 x) {
    const f64 a = fabsf(x), w = log2_for_pow(a < 1.0 ? (1.0 - a) * (1.0 + a) : 1.0) * -LN2;
    const f64 root = sqrt(w > 0.0 ? w : 0.0);
    const f64 near = MADD(w, erfinv_low_f32(MADD(w, 0.32, -1.0)), 0x1.c5bf891b4ef6bp-1);
    const f64 far = root + erfinv_high_f32(MADD(root, 0x1.5555555555555p+0, -0x1.1555555555555p+2));
    const f64 y = x * (w < 6.25 ? near : far);
    return (f32)(a < 1.0 ? y : a == 1.0 ? copysign((f64)INFINITY, y) : (f64)NAN);
}

/* with what each step loses */
ST_INLINE f64 st_erfinv_f64(f64 x) {
    const f64 a = fabs(x);
    const log_parts_f64 m = log_split_f64(a < 1.0 ? (1.0 - a) * (1.0 + a) : 0.5);
    const parts_f64 log = log_of_parts_f64(m.f, m.e, m.e * 0x1.a39ef35793c76p-33);
    const f64 w = -log.high, root = sqrt(w);
    const int near = w < 7.0225;
    const f64 slope = erfinv_low_f64(MADD(w, 0x1.23a250045fdffp-2, -1.0)), part = near ? w * slope : root;
    const f64 near_low = MADD(w, slope, -part) - slope * log.low;
    const f64 far_low = (MADD(-root, root, w) - log.low) / (2.0 * root);
    const f64 far = erfinv_high_f64(MADD(root, 0x1.30c30c30c30c3p-1, -0x1.49e79e79e79e8p+1));
    const f64 rest = near ? 0x1.c5bf891b4ef6bp-1 : far, rest_low = near ? -0x1.618f13eb7ca89p-55 : 0.0;
    const f64 q = part + rest, taken = q - part, lost = (part - (q - taken)) + (rest - taken);
    const f64 y = x * q, y_low = MADD(x, q, -y) + x * ((near ? near_low : far_low) + rest_low + lost);
    return a < 1.0 ? y + y_low : a == 1.0 ? copysign((f64)INFINITY, x) : (f64)NAN;
}

/* ---- logarithm of the gamma function of a positive float32 ---- */

/* lgamma(2 + f) = f (ln2 + (1 - f) bend), 0 <= f < 1 */
ST_INLINE f64 lgamma_bend(f64 f) {
    f64 p = 0x1.27cc63b274f3ap-18;
    p = MADD(p, f, -0x1.0cf1f8c008e1ap-15);
    p = MADD(p, f, 0x1.f83eb8c7999e5p-14);
    p = MADD(p, f, -0x1.5ddb7c6339951p-12);
    p = MADD(p, f, 0x1.b29bd781e65c3p-11);
    p = MADD(p, f, -0x1.0cc82ef7811c6p-9);
    p = MADD(p, f, 0x1.5d7643ec86aabp-8);
    p = MADD(p, f, -0x1.f3a63b8a2330fp-7);
    p = MADD(p, f, 0x1.aad66681947d2p-5);
    return MADD(p, f, -0x1.14d9ff6d2d7abp-2);
}

/* Below 8, gamma(x) is that of 2 + f times a product (below 2, through one); from there on it is Stirling's series. */
ST_INLINE f32 st_near_lgamma_f32(f32 x) {
    const f64 a = x, b = a < 8.0 ? a : 7.5, f = b - floor(b), v = 1.0 / a, v2 = v * v;
    const f64 m34 = (b < 3.0 ? 1.0 : b - 1.0) * (b < 4.0 ? 1.0 : b - 2.0);
    const f64 m56 = (b < 5.0 ? 1.0 : b - 3.0) * (b < 6.0 ? 1.0 : b - 4.0), m7 = b < 7.0 ? 1.0 : b - 5.0;
    const f64 m = b < 2.0 ? (b < 1.0 ? MADD(b, b, b) : b) : m34 * m56 * m7;
    const f64 log = log2_for_pow(a < 8.0 ? m : a) * LN2, series = MADD(v2, MADD(v2, 1.0 / 1260, -1.0 / 360), 1.0 / 12);
    const f64 near = MADD(f, MADD(1.0 - f, lgamma_bend(f), LN2), b < 2.0 ? -log : log);
    const f64 far = MADD(a - 0.5, log, MADD(v, series, 0x1.d67f1c864beb5p-1 - a));
    return (f32)(a < 8.0 ? near : a < (f64)INFINITY ? far : a);
}

/* ---- modified Bessel functions of the first kind, of order 0 and 1, of float32 ---- */

/* near: I0(x) or I1(x) / x of z = x^2, x <= 8; far: e^-x sqrt(x) times either of v = 1 / x */
static inline f64 i0_near(f64 z) {
    f64 p = 0x1.2772a5231d6f6p-81;
    p = MADD(p, z, 0x1.ff5f71023dde2p-74);
    p = MADD(p, z, 0x1.6d39d7902e99bp-64);
    p = MADD(p, z, 0x1.07f989bbe74f1p-55);
    p = MADD(p, z, 0x1.52c2e759c7227p-47);
    p = MADD(p, z, 0x1.5216f4b9d7d37p-39);
    p = MADD(p, z, 0x1.02ea06747420cp-31);
    p = MADD(p, z, 0x1.2345365ed7919p-24);
    p = MADD(p, z, 0x1.c71c790a8b92cp-18);
    p = MADD(p, z, 0x1.c71c7123e326bp-12);
    p = MADD(p, z, 0x1.000000076f576p-6);
    p = MADD(p, z, 0x1.fffffffeefc8dp-3);
    return MADD(p, z, 0x1.000000000671cp+0);
}

static inline f64 i0_far(f64 v) {
    f64 p = 0x1.2271abdb56b7ap+3;
    p = MADD(p, v, -0x1.1241ecc0f59bap+1);
    p = MADD(p, v, 0x1.82526488b047dp-2);
    p = MADD(p, v, 0x1.b715e7297354ep-6);
    p = MADD(p, v, 0x1.e8792198b64dap-6);
    p = MADD(p, v, 0x1.cb6c585d93345p-6);
    p = MADD(p, v, 0x1.9884744ccd573p-5);
    return MADD(p, v, 0x1.9884533be6234p-2);
}

static inline f64 i1_near(f64 z) {
    f64 p = 0x1.bb5e9645db2e2p-77;
    p = MADD(p, z, 0x1.5ffa5ba179b0dp-69);
    p = MADD(p, z, 0x1.c830370b9fc2dp-60);
    p = MADD(p, z, 0x1.291241e309bb4p-51);
    p = MADD(p, z, 0x1.52baffe65364ap-43);
    p = MADD(p, z, 0x1.27d58edd575fep-35);
    p = MADD(p, z, 0x1.845eb21d0b466p-28);
    p = MADD(p, z, 0x1.6c16909d0c135p-21);
    p = MADD(p, z, 0x1.c71c76dc3cb7bp-15);
    p = MADD(p, z, 0x1.5555550f717a7p-9);
    p = MADD(p, z, 0x1.00000002efc9ap-4);
    return MADD(p, z, 0x1.ffffffffd638ep-2);
}

static inline f64 i1_far(f64 v) {
    f64 p = -0x1.46fb3c58482f8p+3;
    p = MADD(p, v, 0x1.33fe9d20666f2p+1);
    p = MADD(p, v, -0x1.be50a33e115f2p-2);
    p = MADD(p, v, -0x1.2fd034a06a9dap-5);
    p = MADD(p, v, -0x1.54ae459fd1314p-5);
    p = MADD(p, v, -0x1.7ee4d47bedf60p-5);
    p = MADD(p, v, -0x1.326347eb18d1fp-3);
    return MADD(p, v, 0x1.9884533ed4847p-2);
}

/* st_i0, st_i1 (NaN of infinity, as torch has it) and, times e^-|x|, st_i0e, st_i1e; OF_X: what the near polynomial is
 * to be multiplied by */
#define DEFINE_BESSEL(order, OF_X, EVEN_OR_ODD)                                                                      \
    ST_INLINE f32 st_i##order##e_f32(f32 x) {                                                                        \
        const f64 a = fabsf(x), b = 8.0 < a ? 8.0 : a, v = 1.0 / (a < 8.0 ? 8.0 : a);                                \
        const f64 near = i##order##_near(b * b) * OF_X(b) * exp2_for_pow(b * -LOG2E);                                \
        const f64 y = a < 8.0 ? near : i##order##_far(v) * sqrt(v);                                                  \
        return (f32)EVEN_OR_ODD(y, x);                                                                               \
    }                                                                                                                \
    ST_INLINE f32 st_i##order##_f32(f32 x) {                                                                         \
        const f64 a = fabsf(x), b = 8.0 < a ? 8.0 : a, c = 120.0 < a ? 120.0 : a, v = 1.0 / (a < 8.0 ? 8.0 : c);     \
        const f64 far = i##order##_far(v) * sqrt(v) * exp2_for_pow(c * LOG2E);                                       \
        const f64 y = a < 8.0 ? i##order##_near(b * b) * OF_X(b) : far;                                              \
        return (f32)EVEN_OR_ODD(a < (f64)INFINITY ? y : (f64)NAN, x);                                                \
    }
#define ONE(b) 1.0
#define ITSELF(b) (b)
#define EVEN(y, x) (y)
#define ODD(y, x) ((x) < 0 ? -(y) : (y))
DEFINE_BESSEL(0, ONE, EVEN)
DEFINE_BESSEL(1, ITSELF, ODD)

#endif
