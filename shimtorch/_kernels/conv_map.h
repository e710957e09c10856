/* One map made from another through taps: out[o, p] = sum over channels i and taps t of w[o, i, t] * in[i, p * step + t].
 *
 * It is a matrix product whose second factor, the input as every output position sees it, never exists as a whole: a
 * block of positions is packed for a stretch of the sum, just as a matrix product would pack it. The tile in registers is
 * LINES x WIDE sums. With many output channels these lie along the vectors, so that small maps waste nothing; with few
 * channels, or short sums, the positions do. Included once for every `real`. */

#ifndef SHIMTORCH_CONV_MAP_H
#define SHIMTORCH_CONV_MAP_H

#if defined(__AVX512F__)
enum { LINES = 14 };
#else
enum { LINES = 6 };
#endif
enum { PANELS = 16, DEPTH = 320, MOST_PLACES = 512 };
/* what is worth a thread: products, elements packed; into how many tasks a map is cut, of at least how many channels */
enum { PRODUCTS = 1 << 20, PACKED = 1 << 16, TASKS = 8, CHANNELS = 64 };

typedef struct {
    ptrdiff_t at[3], flat, weight; /* where it looks in the input, and its element of the weight */
} tap;

typedef struct {
    ptrdiff_t batch, in_channels, out_channels; /* channels of the group */
    ptrdiff_t size[3], in_batch;                /* the input; elements from one example to the next */
    ptrdiff_t grid[3], step[3];                 /* output positions; input positions between them */
    ptrdiff_t n_taps;
    const tap *taps;
    ptrdiff_t w_out, w_in;                                    /* strides of the weight */
    ptrdiff_t out_batch, out_channel, out_start, out_step[3]; /* of the output */
} map;

typedef struct {
    ptrdiff_t n, base[MOST_PLACES], at[3][MOST_PLACES], out[MOST_PLACES];
} places;

/* where positions first ... first + n of the grid look, and where their results go */
static void locate(const map *m, ptrdiff_t first, ptrdiff_t n, places *p) {
    ptrdiff_t rest = first, x[3], example;
    for (int d = 2; d >= 0; d--) x[d] = rest % m->grid[d], rest /= m->grid[d];
    example = rest;
    p->n = n;
    for (ptrdiff_t i = 0; i < n; i++) {
        p->base[i] = example * m->in_batch;
        p->out[i] = example * m->out_batch + m->out_start;
        for (int d = 0; d < 3; d++) {
            p->at[d][i] = x[d] * m->step[d];
            p->base[i] = d ? p->base[i] + p->at[d][i] * (d == 1 ? m->size[2] : 1)
                           : p->base[i] + p->at[d][i] * m->size[1] * m->size[2];
            p->out[i] += x[d] * m->out_step[d];
        }
        for (int d = 2; d >= 0; d--) {
            if (++x[d] < m->grid[d]) break;
            x[d] = 0;
            if (d == 0) example++;
        }
    }
}

/* the input element that a tap shows to every position, or -1 outside the input */
static void look(const map *m, const places *p, const tap *t, ptrdiff_t n, ptrdiff_t *seen) {
    for (ptrdiff_t i = 0; i < p->n; i++) {
        const size_t z = (size_t)(p->at[0][i] + t->at[0]), y = (size_t)(p->at[1][i] + t->at[1]),
                     x = (size_t)(p->at[2][i] + t->at[2]);
        const int inside = (z < (size_t)m->size[0]) & (y < (size_t)m->size[1]) & (x < (size_t)m->size[2]);
        seen[i] = inside ? p->base[i] + t->flat : -1;
    }
    for (ptrdiff_t i = p->n; i < n; i++) seen[i] = -1;
}

/* whether positions lie side by side */
static int adjacent(const ptrdiff_t *at, ptrdiff_t n) {
    int so = at[0] >= 0;
    for (ptrdiff_t i = 1; i < n; i++) so &= at[i] == at[0] + i;
    return so;
}

#endif

#define WIDE ((ptrdiff_t)(2 * VECTOR_BYTES / sizeof(real)))
#define vec ST_CAT(vec, real)
#define loose ST_CAT(loose, real)
#define FMA ST_CAT(VECTOR_PRODUCT, real)

/* sums (LINES, WIDE) of the products of a (depth, LINES) and b (depth, WIDE) */
static ST_OUTLINED void ST_CAT(conv_tile, real)(real *sums, int fresh, ptrdiff_t depth, const real *a, const real *b) {
    vec acc[LINES][2], *const s = (vec *)(void *)sums;
    for (int i = 0; i < LINES; i++)
        for (int j = 0; j < 2; j++) acc[i][j] = fresh ? (vec){0} : s[i * 2 + j];
    for (ptrdiff_t k = 0; k < depth; k++, a += LINES, b += WIDE) {
        const vec *v = (const vec *)(const void *)b;
        for (int i = 0; i < LINES; i++) {
            const vec x = a[i] - (vec){0};
            for (int j = 0; j < 2; j++) acc[i][j] = FMA(x, v[j], acc[i][j]);
        }
    }
    for (int i = 0; i < LINES; i++)
        for (int j = 0; j < 2; j++) s[i * 2 + j] = acc[i][j];
}

/* the weight in blocks of `width` output channels: (blocks, taps, in_channels, width), zero beyond the last channel;
 * block ... last of them */
static void ST_CAT(pack_weight, real)(const map *m, const real *w, ptrdiff_t width, ptrdiff_t block, ptrdiff_t last,
                                      real *out) {
    const ptrdiff_t depth = m->n_taps * m->in_channels;
    out += block * depth * width;
    for (ptrdiff_t o = block * width; block < last; block++, o += width, out += depth * width) {
        const ptrdiff_t n = Min(width, m->out_channels - o);
        if (n < width) memset(out, 0, (size_t)(depth * width) * sizeof(real));
        for (ptrdiff_t i = 0; i < m->in_channels; i++)
            for (ptrdiff_t t = 0; t < m->n_taps; t++) {
                const real *from = w + o * m->w_out + i * m->w_in + m->taps[t].weight;
                real *to = out + (t * m->in_channels + i) * width;
                for (ptrdiff_t r = 0; r < n; r++) to[r] = from[r * m->w_out];
            }
    }
}

static inline __attribute__((always_inline)) void ST_CAT(pack_panel, real)(const real *in, const ptrdiff_t *seen,
                                                                           ptrdiff_t channel, ptrdiff_t n,
                                                                           ptrdiff_t width, real *out) {
    if (adjacent(seen, width)) {
        in += seen[0];
        for (; n; n--, in += channel, out += width) memcpy(out, in, (size_t)width * sizeof(real));
    } else {
        for (; n; n--, in += channel, out += width)
            for (ptrdiff_t i = 0; i < width; i++) out[i] = seen[i] < 0 ? 0 : in[seen[i]];
    }
}

/* the input as the positions see it, elements first ... last of the sum: (panels, last - first, width) */
static void ST_CAT(pack_input, real)(const map *m, const real *in, const places *p, ptrdiff_t width, ptrdiff_t first,
                                     ptrdiff_t last, real *out) {
    const ptrdiff_t panels = (p->n + width - 1) / width, channel = product(m->size);
    ptrdiff_t seen[MOST_PLACES];
    for (ptrdiff_t k = first; k < last;) {
        const ptrdiff_t i = k % m->in_channels, n = Min(m->in_channels - i, last - k);
        look(m, p, m->taps + k / m->in_channels, panels * width, seen);
        for (ptrdiff_t j = 0; j < panels; j++) {
            real *to = out + (j * (last - first) + k - first) * width;
            if (width == LINES) ST_CAT(pack_panel, real)(in + i * channel, seen + j * width, channel, n, LINES, to);
            else ST_CAT(pack_panel, real)(in + i * channel, seen + j * width, channel, n, WIDE, to);
        }
        k += n;
    }
}

/* a tile of sums (LINES, WIDE) to where it belongs; lines: positions, or channels if `flipped` */
static void ST_CAT(store_tile, real)(const map *m, const real *sums, const places *p, ptrdiff_t place,
                                     ptrdiff_t channel, const real *bias, int flipped, real *out) {
    const ptrdiff_t n = Min(flipped ? WIDE : LINES, p->n - place);
    const ptrdiff_t c = Min(flipped ? LINES : WIDE, m->out_channels - channel);
    const ptrdiff_t *at = p->out + place;
    out += channel * m->out_channel;
    bias = bias == NULL ? NULL : bias + channel;
    if (!flipped) {
        for (ptrdiff_t o = 0; o < c; o++) {
            const real b = bias == NULL ? 0 : bias[o];
            for (ptrdiff_t i = 0; i < n; i++) out[o * m->out_channel + at[i]] = sums[i * WIDE + o] + b;
        }
        return;
    }
    const int side_by_side = adjacent(at, n);
    for (ptrdiff_t o = 0; o < c; o++) {
        const real b = bias == NULL ? 0 : bias[o];
        real *to = out + o * m->out_channel;
        if (side_by_side) {
            to += at[0];
            IVDEP for (ptrdiff_t i = 0; i < n; i++) to[i] = sums[o * WIDE + i] + b;
        } else {
            for (ptrdiff_t i = 0; i < n; i++) to[at[i]] = sums[o * WIDE + i] + b;
        }
    }
}

static int ST_CAT(flips, real)(const map *m) {
    return m->out_channels < WIDE / 2 + 1 || m->n_taps * m->in_channels < 64;
}

/* ---- a map, shared among threads: a task is a block of positions and a stretch of blocks of output channels ---- */

typedef struct {
    const map *m;
    const real *in, *bias, *weights; /* the weight packed */
    real *out;
    ptrdiff_t place_width, channel_width, depth, stretch, total, blocks;
    ptrdiff_t share; /* blocks of channels of a task */
    int flipped, failed;
} ST_CAT(mapping, real);

/* bytes that a thread needs for the input as it is seen and for the sums */
static ptrdiff_t ST_CAT(task_work, real)(ptrdiff_t place_width, ptrdiff_t stretch, ptrdiff_t channels) {
    return PANELS * place_width * (stretch + channels) * (ptrdiff_t)sizeof(real) + 3 * 64;
}

/* for either orientation */
static ptrdiff_t ST_CAT(map_work, real)(ptrdiff_t depth, ptrdiff_t out_channels) {
    const ptrdiff_t widest = Max(LINES, WIDE), channels = out_channels + widest;
    return channels * depth * (ptrdiff_t)sizeof(real) + ST_CAT(task_work, real)(widest, Min(depth, DEPTH), channels);
}

static void ST_CAT(map_tasks, real)(const ST_CAT(mapping, real) *c, ptrdiff_t begin, ptrdiff_t end, char *work) {
    const map *const m = c->m;
    const ptrdiff_t place_width = c->place_width, channel_width = c->channel_width, depth = c->depth;
    const ptrdiff_t shares = (c->blocks + c->share - 1) / c->share;
    real *seen = take(&work, PANELS * place_width * c->stretch * (ptrdiff_t)sizeof(real));
    real *sums = take(&work, PANELS * place_width * c->share * channel_width * (ptrdiff_t)sizeof(real));
    places p;

    for (; begin < end; begin++) {
        const ptrdiff_t first = begin / shares * PANELS * place_width, block = begin % shares * c->share;
        const ptrdiff_t last_block = Min(block + c->share, c->blocks);
        locate(m, first, Min(PANELS * place_width, c->total - first), &p);
        const ptrdiff_t panels = (p.n + place_width - 1) / place_width;
        for (ptrdiff_t k = 0; k < depth || k == 0; k += c->stretch ? c->stretch : 1) {
            const ptrdiff_t n = Min(c->stretch, depth - k);
            ST_CAT(pack_input, real)(m, c->in, &p, place_width, k, k + n, seen);
            for (ptrdiff_t b = block; b < last_block; b++)
                for (ptrdiff_t j = 0; j < panels; j++) {
                    real *tile = sums + ((b - block) * PANELS + j) * LINES * WIDE;
                    const real *x = seen + j * n * place_width, *y = c->weights + (b * depth + k) * channel_width;
                    ST_CAT(conv_tile, real)(tile, k == 0, n, c->flipped ? y : x, c->flipped ? x : y);
                    if (k + n >= depth)
                        ST_CAT(store_tile, real)(m, tile, &p, j * place_width, b * channel_width, c->bias, c->flipped,
                                                 c->out);
                }
        }
    }
}

static void ST_CAT(map_piece, real)(void *context, ptrdiff_t begin, ptrdiff_t end) {
    ST_CAT(mapping, real) *const c = context;
    const ptrdiff_t bytes = ST_CAT(task_work, real)(c->place_width, c->stretch, c->share * c->channel_width);
    char *memory = (char *)malloc((size_t)bytes + 64);
    if (memory == NULL) {
        __atomic_store_n(&c->failed, 1, __ATOMIC_RELAXED);
        return;
    }
    ST_CAT(map_tasks, real)(c, begin, end, (char *)ROUND_UP((uintptr_t)memory, 64));
    free(memory);
}

typedef struct {
    const map *m;
    const real *w;
    ptrdiff_t width;
    real *out;
} ST_CAT(packing, real);

static void ST_CAT(pack_piece, real)(void *context, ptrdiff_t begin, ptrdiff_t end) {
    const ST_CAT(packing, real) *const c = context;
    ST_CAT(pack_weight, real)(c->m, c->w, c->width, begin, end, c->out);
}

/* one group */
static void ST_CAT(run_map, real)(const map *m, const real *in, const real *w, const real *bias, real *out, char *work) {
    const int flipped = ST_CAT(flips, real)(m);
    const ptrdiff_t place_width = flipped ? WIDE : LINES, channel_width = flipped ? LINES : WIDE;
    const ptrdiff_t depth = m->n_taps * m->in_channels, total = m->batch * product(m->grid);
    const ptrdiff_t blocks = (m->out_channels + channel_width - 1) / channel_width;
    const ptrdiff_t stretches = (depth + DEPTH - 1) / DEPTH, stretch = stretches ? (depth + stretches - 1) / stretches : 0;
    const ptrdiff_t place_blocks = (total + PANELS * place_width - 1) / (PANELS * place_width);
    real *weights = take(&work, blocks * channel_width * depth * (ptrdiff_t)sizeof(real));
    ST_CAT(packing, real) packing = {m, w, channel_width, weights};
    ST_CAT(mapping, real) c = {m,     in,      bias,  weights, out,    place_width, channel_width,
                               depth, stretch, total, blocks,  blocks, flipped,     0};

    st_parallel(blocks, PACKED / (depth * channel_width + 1) + 1, ST_CAT(pack_piece, real), &packing);
    if (total * depth * m->out_channels < 2 * PRODUCTS) {
        ST_CAT(map_tasks, real)(&c, 0, place_blocks, work);
        return;
    }
    if (place_blocks < TASKS) { /* few positions: the channels are shared too, though each share packs the input anew */
        const ptrdiff_t wanted = (blocks * place_blocks + TASKS - 1) / TASKS;
        const ptrdiff_t least = (CHANNELS + channel_width - 1) / channel_width;
        c.share = Min(Max(wanted, least), blocks);
    }
    const ptrdiff_t task = PANELS * place_width * depth * c.share * channel_width;
    const ptrdiff_t tasks = place_blocks * ((blocks + c.share - 1) / c.share);
    st_parallel(tasks, PRODUCTS / (task + 1) + 1, ST_CAT(map_piece, real), &c);
    if (c.failed) {
        c.share = blocks;
        ST_CAT(map_tasks, real)(&c, 0, place_blocks, work);
    }
}
