/* Sine, cosine and tangent for |x| <= SINCOS_LIMIT, in the manner of vecmath.h (which includes this file):
 * x = n pi/2 + r. Beyond the limit libm takes over. */
#ifndef SHIMTORCH_KERNELS_VECMATH_CIRCULAR_H
#define SHIMTORCH_KERNELS_VECMATH_CIRCULAR_H

#include "vecmath.h"

#define SINCOS_LIMIT 1e6

/* ---- of float32, computed in float64 ---- */

typedef struct {
    f64 sin, cos;
    u64 quadrant;
} sincos_parts_f32;

static inline sincos_parts_f32 sincos_f32(f32 a) {
    const f64 x = a, shifted = x * 0x1.45f306dc9c883p-1 + ROUNDER_F64, n = shifted - ROUNDER_F64;
    const f64 r = MADD(n, -0x1.0b4611a626331p-34, MADD(n, -0x1.921fb544p+0, x)), z = r * r;
    f64 s = 0x1.6dbe0838a06e9p-19;
    s = MADD(s, z, -0x1.a013a793b98cep-13);
    s = MADD(s, z, 0x1.11110def2e1c9p-7);
    s = MADD(s, z, -0x1.555555545e0acp-3);
    f64 c = 0x1.9a6f2bb019f50p-16;
    c = MADD(c, z, -0x1.6c0e087f57eebp-10);
    c = MADD(c, z, 0x1.55554cbb440f1p-5);
    c = MADD(c, z, -0x1.fffffffab1da6p-2);
    return (sincos_parts_f32){r * MADD(s, z, 1.0), MADD(c, z, 1.0), bits_of_f64(shifted)};
}

static inline f32 st_near_sin_f32(f32 x) {
    const sincos_parts_f32 t = sincos_f32(x);
    const f64 r = t.quadrant & 1 ? t.cos : t.sin;
    return (f32)(t.quadrant & 2 ? -r : r);
}

static inline f32 st_near_cos_f32(f32 x) {
    const sincos_parts_f32 t = sincos_f32(x);
    const f64 r = t.quadrant & 1 ? t.sin : t.cos;
    return (f32)((t.quadrant + 1) & 2 ? -r : r);
}

static inline f32 st_near_tan_f32(f32 x) {
    const sincos_parts_f32 t = sincos_f32(x);
    return (f32)(t.quadrant & 1 ? -t.cos / t.sin : t.sin / t.cos);
}

/* ---- of float64, with what each step loses carried along; with fused multiply-adds at most 1 ulp off ---- */

/* (sin(r) - r) / r^3 and (cos(r) - 1 + z / 2) / z^2 of z = r^2, |r| <= pi/4 */
static inline f64 sin_tail(f64 z) {
    f64 p = -0x1.ab17bdcbd3414p-41;
    p = MADD(p, z, 0x1.61217ee5cca1bp-33);
    p = MADD(p, z, -0x1.ae64541295cdfp-26);
    p = MADD(p, z, 0x1.71de3a54607a5p-19);
    p = MADD(p, z, -0x1.a01a01a019937p-13);
    p = MADD(p, z, 0x1.1111111111110p-7);
    return MADD(p, z, -0x1.5555555555555p-3);
}

static inline f64 cos_tail(f64 z) {
    f64 p = -0x1.907d8f29fe831p-37;
    p = MADD(p, z, 0x1.1eeb68cd22f56p-29);
    p = MADD(p, z, -0x1.27e4fa17bf139p-22);
    p = MADD(p, z, 0x1.a01a019f4e9b4p-16);
    p = MADD(p, z, -0x1.6c16c16c16967p-10);
    return MADD(p, z, 0x1.5555555555555p-5);
}

typedef struct {
    f64 sin, sin_low, cos, cos_low;
    u64 quadrant;
} sincos_parts_f64;

/* pi/2 in four parts; n has 20 bits, the first three 33, so that their products are exact */
static inline sincos_parts_f64 sincos_f64(f64 x) {
    const f64 shifted = x * 0x1.45f306dc9c883p-1 + ROUNDER_F64, n = shifted - ROUNDER_F64;
    const f64 a = x - n * 0x1.921fb544p+0, w2 = n * 0x1.0b4611a6p-34, b = a - w2;
    const f64 w3 = n * 0x1.3198a2e0p-69, c = b - w3, c_low = ((b - c) - w3) + ((a - b) - w2);
    const f64 less = n * 0x1.b839a252049c1p-104 - c_low, r = c - less, r_low = (c - r) - less;
    const f64 z = r * r, half = 0.5 * z, w = 1.0 - half;
    const f64 s = MADD(r * z, sin_tail(z), r_low * w), t = ((1.0 - w) - half) + MADD(z * z, cos_tail(z), -r * r_low);
    const f64 sine = r + s, cosine = w + t;
    return (sincos_parts_f64){sine, (r - sine) + s, cosine, (w - cosine) + t, bits_of_f64(shifted)};
}

static inline f64 st_near_sin_f64(f64 x) {
    const sincos_parts_f64 t = sincos_f64(x);
    const f64 r = t.quadrant & 1 ? t.cos : t.sin;
    return x == 0.0 ? x : t.quadrant & 2 ? -r : r;
}

static inline f64 st_near_cos_f64(f64 x) {
    const sincos_parts_f64 t = sincos_f64(x);
    const f64 r = t.quadrant & 1 ? t.sin : t.cos;
    return (t.quadrant + 1) & 2 ? -r : r;
}

static inline f64 st_near_tan_f64(f64 x) {
    const sincos_parts_f64 t = sincos_f64(x);
    const f64 top = t.quadrant & 1 ? -t.cos : t.sin, top_low = t.quadrant & 1 ? -t.cos_low : t.sin_low;
    const f64 bottom = t.quadrant & 1 ? t.sin : t.cos, bottom_low = t.quadrant & 1 ? t.sin_low : t.cos_low;
    const f64 y = top / bottom, rest = MADD(-y, bottom, top) + (top_low - y * bottom_low);
    return x == 0.0 ? x : y + rest / bottom;
}

#endif
