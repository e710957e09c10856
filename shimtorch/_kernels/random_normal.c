/* Normal numbers: pair by pair, or in blocks of 16 where a block of memory is contiguous. */
#include "random_fill.h"

static void normal_slow(st_rng *rng, st_walk *walk, f64 mean, f64 std, int style) {
    f64 x[CHUNK];
    ptrdiff_t left = walk->numel;
    FOR_CHUNKS(m, left) {
        for (ptrdiff_t i = 0; i < m; i++) {
            const f64 normal = draw_normal(rng, style);
            x[i] = style & ST_DRAW_PLAIN ? normal * std + mean : fma(normal, std, mean);
        }
        st_walk_store(walk, ST_FLOAT64, x, m);
    }
}

/* Blocks of 16. A last incomplete block is drawn, then overwritten: 16 new numbers take the place of the last 16. */
static void normal_f32(st_rng *rng, f32 *x, ptrdiff_t n, f32 mean, f32 std, int fused) {
    const st_bulk *bulk = st_find_bulk();
    const ptrdiff_t rest = n % 16;
    ptrdiff_t left = n - rest;
    f32 *last = x + n - 16;
    FOR_CHUNKS(m, left) {
        bulk->f24(rng, x, m);
        bulk->normal(x, m / 16, mean, std, fused);
        x += m;
    }
    if (rest == 0) return;
    bulk->f24(rng, x, rest);
    bulk->f24(rng, last, 16);
    bulk->normal(last, 1, mean, std, fused);
}

static void normal_block_f64(f64 *x, f64 mean, f64 std, int fused) {
    for (int i = 0; i < 8; i++) {
        const f64 radius = sqrt(-2.0 * log(1.0 - x[i])), theta = 2.0 * 3.14159265358979323846 * x[i + 8];
        const f64 c = radius * cos(theta), s = radius * sin(theta);
        x[i] = fused ? fma(c, std, mean) : c * std + mean;
        x[i + 8] = fused ? fma(s, std, mean) : s * std + mean;
    }
}

static void normal_f64(st_rng *rng, f64 *x, ptrdiff_t n, f64 mean, f64 std, int fused) {
    const st_bulk *bulk = st_find_bulk();
    bulk->f53(rng, x, n);
    for (ptrdiff_t i = 0; i + 16 <= n; i += 16) normal_block_f64(x + i, mean, std, fused);
    if (n % 16 == 0) return;
    bulk->f53(rng, x + n - 16, 16);
    normal_block_f64(x + n - 16, mean, std, fused);
}

static void store_block(const st_walk *walk, const f32 x[16], ptrdiff_t first) {
    st_convert(ST_FLOAT32, x, sizeof(f32), walk->dtype, walk->at + first * (ptrdiff_t)sizeof(u16), sizeof(u16), 16);
}

/* Each block is drawn when its turn comes, the last incomplete one only in its final place. */
static void normal_half(st_rng *rng, st_walk *walk, f32 mean, f32 std) {
    const st_bulk *bulk = st_find_bulk();
    const ptrdiff_t n = walk->numel;
    f32 x[16];
    for (ptrdiff_t i = 0; i < n; i += 16) {
        bulk->f24(rng, x, 16);
        bulk->normal(x, 1, mean, std, 1);
        store_block(walk, x, i + 16 <= n ? i : n - 16);
    }
}

/* PyTorch 1.11 rounded every step to bfloat16, but only some to float16. */
static void normal_block_short(f32 *x, int dtype, f32 mean, f32 std) {
    const int every = dtype == ST_BFLOAT16;
#define STEP(y) (every ? round_half(y, dtype) : (y))
    for (int i = 0; i < 8; i++) {
        const f32 u1 = round_half(1.0f - x[i], dtype);
        const f32 radius = round_half(sqrtf(STEP(-2.0f * STEP(logf(u1)))), dtype);
        const f32 theta = round_half((f32)(2.0 * 3.14159265358979323846 * x[i + 8]), dtype);
        const f32 c = STEP(radius * STEP(cosf(theta))), s = STEP(radius * STEP(sinf(theta)));
        x[i] = every ? round_half(c * std, dtype) + mean : fmaf(c, std, mean);
        x[i + 8] = every ? round_half(s * std, dtype) + mean : fmaf(s, std, mean);
    }
#undef STEP
}

static void normal_short_half(st_rng *rng, st_walk *walk, f32 mean, f32 std) {
    const ptrdiff_t n = walk->numel;
    const f32 rounded_mean = round_half(mean, walk->dtype), rounded_std = round_half(std, walk->dtype);
    f32 x[16];
    for (ptrdiff_t i = 0; i < n; i += 16) {
        const ptrdiff_t full = i + 16 <= n;
        if (!full)
            for (ptrdiff_t k = i; k < n; k++) draw_u32(rng);
        for (int k = 0; k < 16; k++) x[k] = short_uniform(draw_u32(rng), walk->dtype);
        normal_block_short(x, walk->dtype, rounded_mean, rounded_std);
        store_block(walk, x, full ? i : n - 16);
    }
}

int st_fill_normal(st_rng *rng, const st_strided *out, const st_draw_params *params, int style) {
    const int fused = !(style & ST_DRAW_PLAIN);
    const f64 mean = params->a;
    f64 std = params->b;
    st_walk walk;
    begin_walk(&walk, out, style);
    if (!is_float(walk.dtype)) return ST_DRAW_NO_DTYPE;
    if (walk.dtype != out->dtype) std /= sqrt(2.0); /* the variance of a complex number is that of its two parts */
    if (walk.numel < 16 || !walk.contiguous)
        normal_slow(rng, &walk, mean, std, style);
    else if (walk.dtype == ST_FLOAT32)
        normal_f32(rng, (f32 *)(void *)walk.at, walk.numel, (f32)mean, (f32)std, fused);
    else if (walk.dtype == ST_FLOAT64)
        normal_f64(rng, (f64 *)(void *)walk.at, walk.numel, mean, std, fused);
    else if (style & ST_DRAW_1_X)
        normal_short_half(rng, &walk, (f32)mean, (f32)std);
    else
        normal_half(rng, &walk, (f32)mean, (f32)std);
    return ST_DRAW_OK;
}
