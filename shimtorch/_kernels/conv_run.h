/* From the shape of a convolution to the maps that make it up. Included once for every `real`. */

#ifndef SHIMTORCH_CONV_RUN_H
#define SHIMTORCH_CONV_RUN_H

static void flatten_tap(const map *m, tap *t) {
    t->flat = (t->at[0] * m->size[1] + t->at[1]) * m->size[2] + t->at[2];
}

/* small from big */
static map gathering(const st_conv_shape *s, tap *taps) {
    const ptrdiff_t n = product(s->small);
    map m = {.batch = s->batch, .in_channels = s->big_channels, .out_channels = s->small_channels,
             .in_batch = s->groups * s->big_channels * product(s->big),
             .taps = taps, .w_out = s->big_channels * product(s->kernel), .w_in = product(s->kernel),
             .out_batch = s->groups * s->small_channels * n, .out_channel = n,
             .out_step = {s->small[1] * s->small[2], s->small[2], 1}};
    for (int d = 0; d < 3; d++) m.size[d] = s->big[d], m.grid[d] = s->small[d], m.step[d] = s->stride[d];
    for (ptrdiff_t z = 0; z < s->kernel[0]; z++)
        for (ptrdiff_t y = 0; y < s->kernel[1]; y++)
            for (ptrdiff_t x = 0; x < s->kernel[2]; x++) {
                const ptrdiff_t k[3] = {z, y, x};
                tap *t = taps + m.n_taps;
                for (int d = 0; d < 3; d++) t->at[d] = k[d] * s->dilation[d] - s->before[d];
                flatten_tap(&m, t);
                t->weight = m.n_taps++;
            }
    return m;
}

/* big from small, at the positions that leave remainders r modulo the stride: those see the same taps */
static map spreading(const st_conv_shape *s, const ptrdiff_t *r, tap *taps) {
    const ptrdiff_t n = product(s->big);
    map m = {.batch = s->batch, .in_channels = s->small_channels, .out_channels = s->big_channels,
             .in_batch = s->groups * s->small_channels * product(s->small), .step = {1, 1, 1},
             .taps = taps, .w_out = product(s->kernel), .w_in = s->big_channels * product(s->kernel),
             .out_batch = s->groups * s->big_channels * n, .out_channel = n,
             .out_start = (r[0] * s->big[1] + r[1]) * s->big[2] + r[2],
             .out_step = {s->stride[0] * s->big[1] * s->big[2], s->stride[1] * s->big[2], s->stride[2]}};
    for (int d = 0; d < 3; d++) m.size[d] = s->small[d], m.grid[d] = (s->big[d] - r[d] + s->stride[d] - 1) / s->stride[d];
    for (ptrdiff_t z = 0; z < s->kernel[0]; z++)
        for (ptrdiff_t y = 0; y < s->kernel[1]; y++)
            for (ptrdiff_t x = 0; x < s->kernel[2]; x++) {
                const ptrdiff_t k[3] = {z, y, x};
                tap *t = taps + m.n_taps;
                int meets = 1;
                for (int d = 0; d < 3; d++) {
                    const ptrdiff_t distance = r[d] + s->before[d] - k[d] * s->dilation[d];
                    meets &= distance % s->stride[d] == 0;
                    t->at[d] = distance / s->stride[d];
                }
                if (!meets) continue;
                flatten_tap(&m, t);
                t->weight = (z * s->kernel[1] + y) * s->kernel[2] + x;
                m.n_taps++;
            }
    return m;
}

#endif

static size_t ST_CAT(work, real)(int what, const st_conv_shape *s) {
    if (what == ST_CONV_WEIGHT) return (size_t)ST_CAT(weight_work, real)(s) + 64;
    const ptrdiff_t taps = product(s->kernel), gather = what == ST_CONV_GATHER;
    const ptrdiff_t bytes = ST_CAT(map_work, real)(taps * (gather ? s->big_channels : s->small_channels),
                                                   gather ? s->small_channels : s->big_channels);
    return (size_t)(bytes + ROUND_UP(taps * (ptrdiff_t)sizeof(tap), 64)) + 64;
}

typedef struct {
    const st_conv_shape *s;
    const map *m;
    const real *in, *w, *bias;
    real *out;
    int failed;
} ST_CAT(grouping, real);

static void ST_CAT(some_groups, real)(const ST_CAT(grouping, real) *c, ptrdiff_t begin, ptrdiff_t end, char *work) {
    const st_conv_shape *const s = c->s;
    const map *const m = c->m;
    for (ptrdiff_t g = begin; g < end; g++)
        ST_CAT(run_map, real)(m, c->in + g * m->in_channels * product(m->size),
                              c->w + g * s->small_channels * s->big_channels * product(s->kernel),
                              c->bias == NULL ? NULL : c->bias + g * m->out_channels,
                              c->out + g * m->out_channels * m->out_channel, work);
}

static void ST_CAT(groups_piece, real)(void *context, ptrdiff_t begin, ptrdiff_t end) {
    ST_CAT(grouping, real) *const c = context;
    const ptrdiff_t bytes = ST_CAT(map_work, real)(c->m->n_taps * c->m->in_channels, c->m->out_channels);
    char *memory = (char *)malloc((size_t)bytes + 64);
    if (memory == NULL) {
        __atomic_store_n(&c->failed, 1, __ATOMIC_RELAXED);
        return;
    }
    ST_CAT(some_groups, real)(c, begin, end, (char *)ROUND_UP((uintptr_t)memory, 64));
    free(memory);
}

/* Groups of little work are shared among threads; those of much are, each on its own. */
static void ST_CAT(run_groups, real)(const st_conv_shape *s, const map *m, const real *in, const real *w,
                                     const real *bias, real *out, char *work) {
    ST_CAT(grouping, real) c = {s, m, in, w, bias, out, 0};
    const ptrdiff_t products = m->batch * product(m->grid) * m->n_taps * m->in_channels * m->out_channels;
    if (s->groups > 1 && products < TASKS * PRODUCTS) {
        st_parallel(s->groups, PRODUCTS / (products + 1) + 1, ST_CAT(groups_piece, real), &c);
        if (!c.failed) return;
    }
    ST_CAT(some_groups, real)(&c, 0, s->groups, work);
}

static void ST_CAT(run, real)(int what, const st_conv_shape *s, const void *a, const void *b, const void *bias,
                              void *out, void *memory) {
    char *work = (char *)ROUND_UP((uintptr_t)memory, 64);
    if (is_flat(what, s) && ST_CAT(run_flat, real)(what, s, a, b, bias, out)) return;
    if (what == ST_CONV_WEIGHT) {
        ST_CAT(run_weight, real)(s, a, b, out, work);
        return;
    }
    tap *taps = take(&work, product(s->kernel) * (ptrdiff_t)sizeof(tap));
    if (what == ST_CONV_GATHER) {
        const map m = gathering(s, taps);
        ST_CAT(run_groups, real)(s, &m, a, b, bias, out, work);
        return;
    }
    ptrdiff_t r[3];
    for (r[0] = 0; r[0] < Min(s->stride[0], s->big[0]); r[0]++)
        for (r[1] = 0; r[1] < Min(s->stride[1], s->big[1]); r[1]++)
            for (r[2] = 0; r[2] < Min(s->stride[2], s->big[2]); r[2]++) {
                const map m = spreading(s, r, taps);
                ST_CAT(run_groups, real)(s, &m, a, b, bias, out, work);
            }
}

#undef vec
#undef loose
#undef FMA
#undef WIDE
