/* float16 and bfloat16 to and from float32, rounding to nearest even. */
#ifndef SHIMTORCH_KERNELS_HALF_H
#define SHIMTORCH_KERNELS_HALF_H

#include "base.h"

#ifdef __F16C__
#include <immintrin.h>
#endif

static inline u32 bits_of_f32(f32 x) {
    u32 u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static inline f32 f32_of_bits(u32 u) {
    f32 x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static inline u64 bits_of_f64(f64 x) {
    u64 u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static inline f64 f64_of_bits(u64 u) {
    f64 x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static inline f32 f32_of_bf16(bf16 h) { return f32_of_bits((u32)h.bits << 16); }

static inline bf16 bf16_of_f32(f32 x) {
    const u32 u = bits_of_f32(x);
    const u32 rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
    return (bf16){(u16)(x != x ? 0x7fc0u : rounded)};
}

/* Multiplying by 2^112 moves the exponent bias from 15 to 127 and normalises subnormals; inf and NaN
 * (largest half exponent) need their exponent set by hand. */
static inline f32 f32_of_f16(f16 h) {
    const u32 sign = (u32)(h.bits & 0x8000u) << 16, rest = (u32)(h.bits & 0x7fffu) << 13;
    const f32 scaled = f32_of_bits(rest) * 0x1p112f;
    const u32 magnitude = rest >= 0x0f800000u ? (rest | 0x7f800000u) : bits_of_f32(scaled);
    return f32_of_bits(sign | magnitude);
}

static inline f16 f16_of_f32(f32 x) {
    const u32 u = bits_of_f32(x), sign = (u >> 16) & 0x8000u, mag = u & 0x7fffffffu;
    /* subnormal result: adding 0.5 leaves the rounded half's bits at the bottom of the sum */
    const u32 small = bits_of_f32(f32_of_bits(mag) + 0.5f) - 0x3f000000u;
    const u32 normal = (mag - 0x38000000u + 0xfffu + ((mag >> 13) & 1u)) >> 13;
    const u32 finite = mag < 0x38800000u ? small : normal;
    const u32 half = mag > 0x7f800000u ? 0x7e00u : mag >= 0x477ff000u ? 0x7c00u : finite;
    return (f16){(u16)(sign | half)};
}

ST_UNUSED static void f32_from_f16s(f32 *restrict out, const f16 *a, ptrdiff_t n) {
    ptrdiff_t i = 0;
#ifdef __F16C__
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(a + i))));
#endif
    for (; i < n; i++) out[i] = f32_of_f16(a[i]);
}

ST_UNUSED static void f16s_from_f32(f16 *restrict out, const f32 *a, ptrdiff_t n) {
    ptrdiff_t i = 0;
#ifdef __F16C__
    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128((__m128i *)(void *)(out + i),
                         _mm256_cvtps_ph(_mm256_loadu_ps(a + i), _MM_FROUND_TO_NEAREST_INT));
#endif
    for (; i < n; i++) out[i] = f16_of_f32(a[i]);
}

ST_UNUSED static void f32_from_bf16s(f32 *restrict out, const bf16 *a, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++) out[i] = f32_of_bf16(a[i]);
}

ST_UNUSED static void bf16s_from_f32(bf16 *restrict out, const f32 *a, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++) out[i] = bf16_of_f32(a[i]);
}

#endif
