/* MT19937, shared by the files that draw from it. */
#ifndef SHIMTORCH_RANDOM_ENGINE_H
#define SHIMTORCH_RANDOM_ENGINE_H

#include "base.h"
#include "random.h"

/* the next 624 words; left becomes 625 until one of them is taken */
void st_mt_twist(st_rng *rng);

static inline u32 mt_temper(u32 y) {
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

static inline u32 draw_u32(st_rng *rng) {
    if (rng->left <= 1) st_mt_twist(rng);
    rng->left--;
    return mt_temper(rng->word[rng->next++]);
}

static inline u64 draw_u64(st_rng *rng) {
    const u64 high = draw_u32(rng);
    return high << 32 | draw_u32(rng);
}

/* uniform on [0, 1): of 24 bits for float32, of 53 for float64 */
static inline f32 draw_f24(st_rng *rng) { return (f32)(draw_u32(rng) & 0xffffffu) * 0x1p-24f; }

static inline f64 draw_f53(st_rng *rng) { return (f64)(i64)(draw_u64(rng) & 0x1fffffffffffffull) * 0x1p-53; }

/* A standard normal of 53 bits; pairs of them are made together, the second waits for the next call. */
static inline f64 draw_normal(st_rng *rng, int style) {
    if (rng->has_normal) {
        rng->has_normal = 0;
        return rng->normal;
    }
    const f64 u1 = draw_f53(rng), u2 = draw_f53(rng);
    const f64 radius = sqrt(-2.0 * (style & ST_DRAW_1_X ? log(1.0 - u2) : log1p(-u2)));
    const f64 theta = 2.0 * 3.14159265358979323846 * u1;
    rng->normal = radius * sin(theta);
    rng->has_normal = 1;
    return radius * cos(theta);
}

#endif
