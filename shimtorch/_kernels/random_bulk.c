/* Bulk draws, and the Box-Muller transform of blocks of 16 float32.
 *
 * The transform's logarithm, sine and cosine are the single-precision Cephes polynomials with multiply-adds fused at
 * fixed places; fma is always asked for by name, so that every build gives the same bits. */
#include "random_bulk.h"

#include <float.h>

enum { CHUNK = 256 }; /* numbers worked on together; they stay in the first-level cache */

/* ---- words ---- */

/* words that can be taken from the present ones, at most n */
static ptrdiff_t ready(st_rng *rng, ptrdiff_t n) {
    if (rng->left <= 1) st_mt_twist(rng);
    return n < rng->left - 1 ? n : rng->left - 1;
}

static void taken(st_rng *rng, ptrdiff_t n) {
    rng->next += (int)n;
    rng->left -= (int)n;
}

static void words(st_rng *rng, u32 *restrict out, ptrdiff_t n) {
    while (n > 0) {
        const ptrdiff_t m = ready(rng, n);
        const u32 *restrict w = rng->word + rng->next;
        for (ptrdiff_t i = 0; i < m; i++) out[i] = mt_temper(w[i]);
        taken(rng, m);
        out += m;
        n -= m;
    }
}

static void f24(st_rng *rng, f32 *restrict out, ptrdiff_t n) {
    while (n > 0) {
        const ptrdiff_t m = ready(rng, n);
        const u32 *restrict w = rng->word + rng->next;
        for (ptrdiff_t i = 0; i < m; i++) out[i] = (f32)(i32)(mt_temper(w[i]) & 0xffffffu) * 0x1p-24f;
        taken(rng, m);
        out += m;
        n -= m;
    }
}

static void f53(st_rng *rng, f64 *restrict out, ptrdiff_t n) {
    u32 pair[2 * CHUNK];
    for (ptrdiff_t m; n > 0; out += m, n -= m) {
        m = n < CHUNK ? n : CHUNK;
        words(rng, pair, 2 * m);
        /* both halves are exact in float64, and so is their sum */
        for (ptrdiff_t i = 0; i < m; i++) {
            const f64 high = (i32)(pair[2 * i] & 0x1fffffu), low = (i32)(pair[2 * i + 1] ^ 0x80000000u);
            out[i] = (high * 0x1p32 + (low + 0x1p31)) * 0x1p-53;
        }
    }
}

static void below(st_rng *rng, f32 *restrict out, ptrdiff_t n, u64 threshold, f32 value) {
    u32 pair[2 * CHUNK];
    for (ptrdiff_t m; n > 0; out += m, n -= m) {
        m = n < CHUNK ? n : CHUNK;
        words(rng, pair, 2 * m);
        for (ptrdiff_t i = 0; i < m; i++)
            out[i] = ((u64)(pair[2 * i] & 0x1fffffu) << 32 | pair[2 * i + 1]) < threshold ? value : 0.0f;
    }
}

/* ---- float32 ---- */

static inline f32 madd(f32 a, f32 b, f32 c, int fused) { return fused ? fmaf(a, b, c) : a * b + c; }

static inline f32 f32_from_bits(u32 bits) {
    f32 x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline u32 bits_from_f32(f32 x) {
    u32 bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline f32 log_f32(f32 x, int fused) {
    x = x < FLT_MIN ? FLT_MIN : x;
    const u32 bits = bits_from_f32(x);
    const f32 half = f32_from_bits((bits & 0x007fffffu) | 0x3f000000u); /* in [0.5, 1) */
    const i32 exponent = (i32)(bits >> 23) - 126;
    const int small = half < 0.707106781186547524f;
    const f32 e = (f32)(exponent - small), m = (half - 1.0f) + (small ? half : 0.0f), z = m * m;
    f32 y = 7.0376836292E-2f;
    y = madd(y, m, -1.1514610310E-1f, fused);
    y = madd(y, m, 1.1676998740E-1f, fused);
    y = madd(y, m, -1.2420140846E-1f, fused);
    y = madd(y, m, 1.4249322787E-1f, fused);
    y = madd(y, m, -1.6668057665E-1f, fused);
    y = madd(y, m, 2.0000714765E-1f, fused);
    y = madd(y, m, -2.4999993993E-1f, fused);
    y = madd(y, m, 3.3333331174E-1f, fused);
    y = y * m;
    y = madd(y, z, e * -2.12194440e-4f, fused);
    y = madd(-z, 0.5f, y, fused);
    return madd(e, 0.693359375f, m + y, fused);
}

static inline void sincos_f32(f32 x, f32 *sine, f32 *cosine, int fused) {
    const i32 j = ((i32)(x * 1.27323954473516f) + 1) & ~1;
    const f32 y = (f32)j;
    x = madd(y, -0.78515625f, x, fused);
    x = madd(y, -2.4187564849853515625e-4f, x, fused);
    x = madd(y, -3.77489497744594108e-8f, x, fused);
    const f32 z = x * x;
    f32 c = madd(2.443315711809948E-5f, z, -1.388731625493765E-3f, fused);
    c = madd(c, z, 4.166664568298827E-2f, fused) * z;
    c = madd(c, z, -(z * 0.5f), fused) + 1.0f;
    f32 s = madd(-1.9515295891E-4f, z, 8.3321608736E-3f, fused);
    s = madd(s, z, -1.6666654611E-1f, fused) * z;
    s = madd(s, x, x, fused);
    const int swap = j & 2;
    const u32 sign_s = (u32)(j & 4) << 29, sign_c = (u32)(~(j - 2) & 4) << 29;
    *sine = f32_from_bits(bits_from_f32(swap ? c : s) ^ sign_s);
    *cosine = f32_from_bits(bits_from_f32(swap ? s : c) ^ sign_c);
}

/* Eight pairs lie 8 apart in each block; they are brought side by side, so that the loops are as wide as the
 * processor likes them. */
static inline void normal_chunk(f32 *x, ptrdiff_t blocks, f32 mean, f32 std, int fused) {
    f32 a[CHUNK], b[CHUNK];
    const ptrdiff_t n = 8 * blocks;
    for (ptrdiff_t k = 0; k < blocks; k++) {
        memcpy(a + 8 * k, x + 16 * k, 8 * sizeof(f32));
        memcpy(b + 8 * k, x + 16 * k + 8, 8 * sizeof(f32));
    }
    for (ptrdiff_t i = 0; i < n; i++) {
        f32 s, c;
        const f32 radius = sqrtf(-2.0f * log_f32(1.0f - a[i], fused));
        sincos_f32(6.283185307179586f * b[i], &s, &c, fused);
        a[i] = fmaf(radius * c, std, mean);
        b[i] = fmaf(radius * s, std, mean);
    }
    for (ptrdiff_t k = 0; k < blocks; k++) {
        memcpy(x + 16 * k, a + 8 * k, 8 * sizeof(f32));
        memcpy(x + 16 * k + 8, b + 8 * k, 8 * sizeof(f32));
    }
}

static void normal(f32 *x, ptrdiff_t blocks, f32 mean, f32 std, int fused) {
    for (ptrdiff_t m; blocks > 0; x += 16 * m, blocks -= m) {
        m = blocks < CHUNK / 8 ? blocks : CHUNK / 8;
        if (fused)
            normal_chunk(x, m, mean, std, 1);
        else
            normal_chunk(x, m, mean, std, 0);
    }
}

static void stretch(f32 *x, ptrdiff_t n, f32 width, f32 lo, int fused) {
    if (fused)
        for (ptrdiff_t i = 0; i < n; i++) x[i] = fmaf(x[i], width, lo);
    else
        for (ptrdiff_t i = 0; i < n; i++) x[i] = x[i] * width + lo;
}

const st_bulk ISA_NAME(st_bulk) = {words, f24, f53, below, stretch, normal};
