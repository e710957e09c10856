/* Whole numbers of a range, and zeros and ones. */
#include "random_fill.h"

/* ---- whole numbers ---- */

static int is_complex(int dtype) { return dtype == ST_COMPLEX64 || dtype == ST_COMPLEX128; }

__extension__ typedef unsigned __int128 st_u128;

typedef struct {
    u32 divisor;
    u64 inverse;
} st_modulus;

/* w % divisor from two multiplications, exact for every 32-bit w */
static st_modulus modulus(u32 divisor) { return (st_modulus){divisor, UINT64_MAX / divisor + 1}; }

static u32 reduce(u32 w, st_modulus m) {
    return m.divisor == 1 ? 0 : (u32)(((st_u128)(m.inverse * w) * m.divisor) >> 64);
}

static void range_32(st_rng *rng, st_walk *walk, i64 base, u32 range) {
    const st_bulk *bulk = st_find_bulk();
    const st_modulus m32 = modulus(range);
    i64 buffer[CHUNK], *dense = walk->dtype == ST_INT64 ? st_walk_dense(walk) : NULL;
    u32 words[CHUNK];
    ptrdiff_t left = walk->numel;
    FOR_CHUNKS(m, left) {
        i64 *x = dense != NULL ? dense : buffer;
        bulk->words(rng, words, m);
        for (ptrdiff_t i = 0; i < m; i++) x[i] = (i64)(reduce(words[i], m32) + (u64)base);
        if (dense != NULL)
            dense += m;
        else
            st_walk_store(walk, ST_INT64, buffer, m);
    }
}

static void range_64(st_rng *rng, st_walk *walk, i64 base, u64 range) {
    i64 x[CHUNK];
    ptrdiff_t left = walk->numel;
    FOR_CHUNKS(m, left) {
        for (ptrdiff_t i = 0; i < m; i++) {
            const u64 word = draw_u64(rng);
            x[i] = (i64)(range == 0 ? word : word % range + (u64)base);
        }
        st_walk_store(walk, ST_INT64, x, m);
    }
}

int st_fill_range(st_rng *rng, const st_strided *out, const st_draw_params *params, int style) {
    const int dtype = out->dtype;
    const u64 range = params->range;
    const int has_wide = dtype == ST_INT64 || dtype == ST_FLOAT64 || dtype == ST_FLOAT32 || dtype == ST_BFLOAT16;
    const int wide = style & ST_DRAW_1_X ? range >= 1ull << 32 && has_wide : range >= 1ull << 28;
    st_walk walk;
    if (is_complex(dtype)) return ST_DRAW_NO_DTYPE;
    begin_walk(&walk, out, style);
    if (range == 0 || wide || range >= 1ull << 32)
        range_64(rng, &walk, params->base, range);
    else
        range_32(rng, &walk, params->base, (u32)range);
    return ST_DRAW_OK;
}

int st_fill_whole(st_rng *rng, const st_strided *out, const st_draw_params *params, int style) {
    static const u64 ranges[ST_NDTYPES] = {
        [ST_BOOL] = 2,
        [ST_UINT8] = 1u << 8,
        [ST_INT8] = 1u << 7,
        [ST_INT16] = 1u << 15,
        [ST_INT32] = 1u << 31,
        [ST_INT64] = 1ull << 63,
        [ST_FLOAT16] = (1u << 11) + 1,
        [ST_BFLOAT16] = (1u << 8) + 1,
        [ST_FLOAT32] = (1u << 24) + 1,
        [ST_FLOAT64] = (1ull << 53) + 1,
    };
    const u64 range = ranges[out->dtype];
    (void)params;
    st_walk walk;
    if (range == 0) return ST_DRAW_NO_DTYPE;
    begin_walk(&walk, out, style);
    if (range > 1ull << 32)
        range_64(rng, &walk, 0, range);
    else
        range_32(rng, &walk, 0, (u32)range);
    return ST_DRAW_OK;
}

/* ---- bernoulli ---- */

/* The congruential generator of MKL: one word seeds it, and each element takes one step. */
static void bernoulli_mcg31(st_rng *rng, st_walk *walk, f64 p, f64 value) {
    const u64 prime = 0x7fffffffu;
    u64 state = draw_u32(rng) % prime;
    f64 x[CHUNK];
    ptrdiff_t left = walk->numel;
    if (state == 0) state = 1;
    FOR_CHUNKS(m, left) {
        for (ptrdiff_t i = 0; i < m; i++) {
            x[i] = (f64)state / (f64)prime < p ? value : 0.0;
            state = 1132489760u * state % prime;
        }
        st_walk_store(walk, ST_FLOAT64, x, m);
    }
}

/* u < p (PyTorch 1.1: u <= p) for u of 53 bits, as a bound on whole numbers */
static u64 threshold_of(f64 p, int or_equal) {
    const f64 scaled = p * 0x1p53, up = ceil(scaled);
    return (u64)up + (or_equal && up == scaled);
}

static void bernoulli_f32(st_rng *rng, st_walk *walk, u64 threshold, f32 value) {
    const st_bulk *bulk = st_find_bulk();
    f32 buffer[CHUNK], *dense = walk->dtype == ST_FLOAT32 ? st_walk_dense(walk) : NULL;
    ptrdiff_t left = walk->numel;
    FOR_CHUNKS(m, left) {
        bulk->below(rng, dense != NULL ? dense : buffer, m, threshold, value);
        if (dense != NULL)
            dense += m;
        else
            st_walk_store(walk, ST_FLOAT32, buffer, m);
    }
}

static void bernoulli_f64(st_rng *rng, st_walk *walk, u64 threshold, f64 value) {
    f64 x[CHUNK];
    ptrdiff_t left = walk->numel;
    FOR_CHUNKS(m, left) {
        for (ptrdiff_t i = 0; i < m; i++) x[i] = (draw_u64(rng) & 0x1fffffffffffffull) < threshold ? value : 0.0;
        st_walk_store(walk, ST_FLOAT64, x, m);
    }
}

int st_fill_bernoulli(st_rng *rng, const st_strided *out, const st_draw_params *params, int style) {
    const f64 p = params->a, value = params->b;
    st_walk walk;
    if (!is_float(out->dtype) && !is_integer(out->dtype) && out->dtype != ST_BOOL) return ST_DRAW_NO_DTYPE;
    if (style & ST_DRAW_MCG31) {
        st_walk_begin(&walk, out, out, 1);
        if (walk.numel > 0) bernoulli_mcg31(rng, &walk, p, value);
        return ST_DRAW_OK;
    }
    const u64 threshold = threshold_of(p, style & ST_DRAW_PLAIN);
    begin_walk(&walk, out, style);
    if (out->dtype == ST_FLOAT64)
        bernoulli_f64(rng, &walk, threshold, value);
    else
        bernoulli_f32(rng, &walk, threshold, (f32)value);
    return ST_DRAW_OK;
}

static int probabilities(const st_strided *p) {
    f64 x[CHUNK];
    st_walk walk;
    st_walk_begin(&walk, p, p, 0);
    ptrdiff_t left = walk.numel;
    FOR_CHUNKS(m, left) {
        st_walk_load(&walk, ST_FLOAT64, x, m);
        for (ptrdiff_t i = 0; i < m; i++)
            if (!(x[i] >= 0.0 && x[i] <= 1.0)) return 0;
    }
    return 1;
}

int st_fill_bernoulli_each(st_rng *rng, const st_strided *out, const st_draw_params *params, int style) {
    const st_strided *p = params->each;
    const int or_equal = (style & ST_DRAW_PLAIN) != 0;
    f64 prob[CHUNK];
    u8 x[CHUNK];
    st_walk to, from;
    if (!is_float(p->dtype)) return ST_DRAW_NO_DTYPE;
    if (!is_float(out->dtype) && !is_integer(out->dtype) && out->dtype != ST_BOOL) return ST_DRAW_NO_DTYPE;
    if (!probabilities(p)) return ST_DRAW_BAD_VALUE;
    begin_walk(&to, out, style);
    st_walk_begin(&from, p, out, (style & ST_DRAW_LOGICAL) != 0);
    ptrdiff_t left = to.numel;
    FOR_CHUNKS(m, left) {
        st_walk_load(&from, ST_FLOAT64, prob, m);
        for (ptrdiff_t i = 0; i < m; i++) {
            const f64 u = p->dtype == ST_FLOAT64 ? draw_f53(rng) : (f64)draw_f24(rng);
            x[i] = u < prob[i] || (or_equal && u == prob[i]);
        }
        st_walk_store(&to, ST_UINT8, x, m);
    }
    return ST_DRAW_OK;
}
