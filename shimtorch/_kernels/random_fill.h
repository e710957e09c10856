/* What the files that fill a block with one distribution share. */
#ifndef SHIMTORCH_RANDOM_FILL_H
#define SHIMTORCH_RANDOM_FILL_H

#include "half.h"
#include "random_bulk.h"
#include "random_walk.h"

enum { CHUNK = 512 }; /* numbers made before they are stored */

/* for the next m of the numbers that are left */
#define FOR_CHUNKS(m, left) for (ptrdiff_t m; (left) > 0 && ((m = (left) < CHUNK ? (left) : CHUNK), 1); (left) -= m)

int st_fill_uniform(st_rng *rng, const st_strided *out, const st_draw_params *params, int style);
int st_fill_normal(st_rng *rng, const st_strided *out, const st_draw_params *params, int style);
int st_fill_exponential(st_rng *rng, const st_strided *out, const st_draw_params *params, int style);
int st_fill_cauchy(st_rng *rng, const st_strided *out, const st_draw_params *params, int style);
int st_fill_log_normal(st_rng *rng, const st_strided *out, const st_draw_params *params, int style);
int st_fill_geometric(st_rng *rng, const st_strided *out, const st_draw_params *params, int style);
int st_fill_bernoulli(st_rng *rng, const st_strided *out, const st_draw_params *params, int style);
int st_fill_bernoulli_each(st_rng *rng, const st_strided *out, const st_draw_params *params, int style);
int st_fill_range(st_rng *rng, const st_strided *out, const st_draw_params *params, int style);
int st_fill_whole(st_rng *rng, const st_strided *out, const st_draw_params *params, int style);

static inline int is_float(int dtype) { return dtype >= ST_FLOAT16 && dtype <= ST_FLOAT64; }

static inline int is_integer(int dtype) { return dtype >= ST_UINT8 && dtype <= ST_INT64; }

/* x as a 16-bit float holds it */
static inline f32 round_half(f32 x, int dtype) {
    return dtype == ST_FLOAT16 ? f32_of_f16(f16_of_f32(x)) : f32_of_bf16(bf16_of_f32(x));
}

/* as PyTorch 1.11 made 16-bit floats: of as many random bits as the type has digits */
static inline f32 short_uniform(u32 word, int dtype) {
    return dtype == ST_FLOAT16 ? (f32)(word & 0x7ffu) * 0x1p-11f : (f32)(word & 0xffu) * 0x1p-8f;
}

static inline void begin_walk(st_walk *walk, const st_strided *out, int style) {
    st_walk_begin(walk, out, out, (style & ST_DRAW_LOGICAL) != 0);
}

#endif
