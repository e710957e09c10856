/* Uniform, exponential, Cauchy, log-normal and geometric numbers. */
#include "random_fill.h"

/* ---- uniform ---- */

static void uniform_f32(st_rng *rng, st_walk *walk, f32 lo, f32 width, int fused) {
    const st_bulk *bulk = st_find_bulk();
    f32 buffer[CHUNK], *dense = st_walk_dense(walk);
    ptrdiff_t left = walk->numel;
    FOR_CHUNKS(m, left) {
        f32 *x = dense != NULL ? dense : buffer;
        bulk->f24(rng, x, m);
        if (lo != 0.0f || width != 1.0f) bulk->stretch(x, m, width, lo, fused);
        if (dense != NULL)
            dense += m;
        else
            st_walk_store(walk, ST_FLOAT32, buffer, m);
    }
}

static void uniform_f64(st_rng *rng, st_walk *walk, f64 lo, f64 width, int fused) {
    f64 x[CHUNK];
    ptrdiff_t left = walk->numel;
    FOR_CHUNKS(m, left) {
        st_find_bulk()->f53(rng, x, m);
        if (fused)
            for (ptrdiff_t i = 0; i < m; i++) x[i] = fma(x[i], width, lo);
        else
            for (ptrdiff_t i = 0; i < m; i++) x[i] = x[i] * width + lo;
        st_walk_store(walk, ST_FLOAT64, x, m);
    }
}

/* Computed in float32. A value that rounds up to the open end becomes the closed one. */
static void uniform_half(st_rng *rng, st_walk *walk, f32 lo, f32 hi, int fused) {
    const f32 first = round_half(lo, walk->dtype), end = round_half(hi, walk->dtype);
    f32 x[CHUNK];
    ptrdiff_t left = walk->numel;
    FOR_CHUNKS(m, left) {
        st_find_bulk()->f24(rng, x, m);
        st_find_bulk()->stretch(x, m, hi - lo, lo, fused);
        for (ptrdiff_t i = 0; i < m; i++)
            if (round_half(x[i], walk->dtype) >= end) x[i] = first;
        st_walk_store(walk, ST_FLOAT32, x, m);
    }
}

static void uniform_short_half(st_rng *rng, st_walk *walk, f32 lo, f32 hi) {
    const f32 from = round_half(lo, walk->dtype), to = round_half(hi, walk->dtype);
    const f32 width = round_half(to - from, walk->dtype);
    f32 x[CHUNK];
    ptrdiff_t left = walk->numel;
    FOR_CHUNKS(m, left) {
        for (ptrdiff_t i = 0; i < m; i++) x[i] = short_uniform(draw_u32(rng), walk->dtype) * width + from;
        st_walk_store(walk, ST_FLOAT32, x, m);
    }
}

int st_fill_uniform(st_rng *rng, const st_strided *out, const st_draw_params *params, int style) {
    const int fused = !(style & ST_DRAW_PLAIN);
    const f64 lo = params->a, hi = params->b;
    st_walk walk;
    begin_walk(&walk, out, style);
    switch (walk.dtype) {
    case ST_FLOAT32: uniform_f32(rng, &walk, (f32)lo, (f32)hi - (f32)lo, fused); return ST_DRAW_OK;
    case ST_FLOAT64: uniform_f64(rng, &walk, lo, hi - lo, fused); return ST_DRAW_OK;
    case ST_FLOAT16:
    case ST_BFLOAT16:
        if (style & ST_DRAW_1_X)
            uniform_short_half(rng, &walk, (f32)lo, (f32)hi);
        else
            uniform_half(rng, &walk, (f32)lo, (f32)hi, fused);
        return ST_DRAW_OK;
    default: return ST_DRAW_NO_DTYPE;
    }
}

/* ---- functions of uniform or normal float64 numbers ---- */

#define EACH(x, m, expression)                                                                                       \
    for (ptrdiff_t i = 0; i < (m); i++) (x)[i] = (expression)

/* x: m uniform numbers made into numbers of the distribution */
static void transform(int distribution, f64 *x, ptrdiff_t m, f64 a, f64 b, int style) {
    const int plain = style & ST_DRAW_PLAIN;
    switch (distribution) {
    case ST_DRAW_EXPONENTIAL:
        if (style & ST_DRAW_1_X)
            EACH(x, m, -1.0 / a * log(1.0 - x[i]));
        else
            EACH(x, m, -1.0 / a * log1p(-x[i]));
        break;
    case ST_DRAW_CAUCHY:
        EACH(x, m, tan(3.14159265358979323846 * (x[i] - 0.5)));
        if (plain)
            EACH(x, m, b * x[i] + a);
        else
            EACH(x, m, fma(b, x[i], a));
        break;
    default: /* geometric; 1.1 mixed up p and 1-p */
        if (plain)
            EACH(x, m, trunc(log(1.0 - x[i]) / log(a)) + 1.0);
        else
            EACH(x, m, ceil(log(x[i]) / log1p(-a)));
    }
}

static int fill_transformed(st_rng *rng, const st_strided *out, int distribution, f64 a, f64 b, int style) {
    f64 x[CHUNK];
    st_walk walk;
    begin_walk(&walk, out, style);
    ptrdiff_t left = walk.numel;
    FOR_CHUNKS(m, left) {
        st_find_bulk()->f53(rng, x, m);
        transform(distribution, x, m, a, b, style);
        st_walk_store(&walk, ST_FLOAT64, x, m);
    }
    return ST_DRAW_OK;
}

int st_fill_exponential(st_rng *rng, const st_strided *out, const st_draw_params *params, int style) {
    if (!is_float(out->dtype)) return ST_DRAW_NO_DTYPE;
    return fill_transformed(rng, out, ST_DRAW_EXPONENTIAL, params->a, 0.0, style);
}

int st_fill_cauchy(st_rng *rng, const st_strided *out, const st_draw_params *params, int style) {
    if (!is_float(out->dtype)) return ST_DRAW_NO_DTYPE;
    return fill_transformed(rng, out, ST_DRAW_CAUCHY, params->a, params->b, style);
}

int st_fill_geometric(st_rng *rng, const st_strided *out, const st_draw_params *params, int style) {
    if (!is_float(out->dtype) && !is_integer(out->dtype)) return ST_DRAW_NO_DTYPE;
    return fill_transformed(rng, out, ST_DRAW_GEOMETRIC, params->a, 0.0, style);
}

int st_fill_log_normal(st_rng *rng, const st_strided *out, const st_draw_params *params, int style) {
    const f64 mean = params->a, std = params->b;
    f64 x[CHUNK];
    st_walk walk;
    if (!is_float(out->dtype)) return ST_DRAW_NO_DTYPE;
    begin_walk(&walk, out, style);
    ptrdiff_t left = walk.numel;
    FOR_CHUNKS(m, left) {
        EACH(x, m, draw_normal(rng, style));
        if (style & ST_DRAW_PLAIN)
            EACH(x, m, exp(x[i] * std + mean));
        else
            EACH(x, m, exp(fma(x[i], std, mean)));
        st_walk_store(&walk, ST_FLOAT64, x, m);
    }
    return ST_DRAW_OK;
}
