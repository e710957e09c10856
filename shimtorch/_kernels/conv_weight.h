/* The gradient of a convolution's weight: for every tap the inner product of the small map with the big one moved by it.
 *
 * Both are laid out in rows of equal pitch, the big one split by the remainders of its positions modulo the stride, and
 * the gaps of the small one filled with zeros. Then a tap is a distance in memory, and everything is inner products of
 * long vectors, taken ROWS x COLUMNS at a time. Included once for every `real`. */

#ifndef SHIMTORCH_CONV_WEIGHT_H
#define SHIMTORCH_CONV_WEIGHT_H

enum { ROWS = 4, COLUMNS = 3, LONG = 1024, ENOUGH = 2048 };
enum { TILES = 16, LAID = 1 << 16 }; /* tiles of a task; elements laid out that are worth a thread */

typedef struct {
    ptrdiff_t pitch[3], plane, examples, length; /* rows of one example, its size, examples at a time, size of all */
    ptrdiff_t reach;                             /* the furthest tap */
    ptrdiff_t phases, phase[3];                  /* big maps by remainder of the position; how many in each dimension */
} layout;

/* how tap k of dimension d looks: remainder and distance */
static ptrdiff_t tap_phase(const st_conv_shape *s, int d, ptrdiff_t k) { return k * s->dilation[d] % s->stride[d]; }
static ptrdiff_t tap_distance(const st_conv_shape *s, int d, ptrdiff_t k) { return k * s->dilation[d] / s->stride[d]; }

/* for so many examples at a time */
static layout plan_examples(const st_conv_shape *s, ptrdiff_t examples) {
    layout l = {.phases = 1, .plane = 1, .reach = 0};
    for (int d = 0; d < 3; d++) {
        const ptrdiff_t far = tap_distance(s, d, s->kernel[d] - 1);
        l.pitch[d] = s->small[d] + far;
        l.plane *= l.pitch[d];
        l.reach = d ? l.reach * l.pitch[d] + far : far;
        l.phase[d] = Min(s->stride[d], (s->kernel[d] - 1) * s->dilation[d] + 1);
        l.phases *= l.phase[d];
    }
    l.examples = examples > 0 ? examples : Min(Max(ENOUGH / Max(l.plane, 1), 1), s->batch);
    l.length = ROUND_UP(l.examples * l.plane, LONG / 16);
    return l;
}

static layout plan(const st_conv_shape *s) { return plan_examples(s, 0); }

/* where a row of the big map laid out shows what the taps (z, y, x) of channel 0 see */
static void find_columns(const st_conv_shape *s, const layout *l, ptrdiff_t *column) {
    for (ptrdiff_t z = 0; z < s->kernel[0]; z++)
        for (ptrdiff_t y = 0; y < s->kernel[1]; y++)
            for (ptrdiff_t x = 0; x < s->kernel[2]; x++) {
                const ptrdiff_t phase =
                    (tap_phase(s, 0, z) * l->phase[1] + tap_phase(s, 1, y)) * l->phase[2] + tap_phase(s, 2, x);
                *column++ = phase * (l->length + l->reach)
                            + (tap_distance(s, 0, z) * l->pitch[1] + tap_distance(s, 1, y)) * l->pitch[2]
                            + tap_distance(s, 2, x);
            }
}

static ptrdiff_t tiles(ptrdiff_t n, ptrdiff_t unit) { return (n + unit - 1) / unit; }

#endif

/* out[i * out_row + at[j]] += a[i] . b[j] */
static ST_OUTLINED void ST_CAT(inner_products, real)(const real *const *a, const real *const *b, ptrdiff_t n,
                                                     real *const *out, ptrdiff_t rows, ptrdiff_t columns) {
    enum { LANES = VECTOR_BYTES / sizeof(real) };
    vec acc[ROWS][COLUMNS];
    const real *a0 = a[0], *a1 = a[1], *a2 = a[2], *a3 = a[3], *b0 = b[0], *b1 = b[1], *b2 = b[2];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) acc[i][j] = (vec){0};
    for (ptrdiff_t k = 0; k < n; k += LANES) {
        const vec x[ROWS] = {*(const loose *)(const void *)(a0 + k), *(const loose *)(const void *)(a1 + k),
                             *(const loose *)(const void *)(a2 + k), *(const loose *)(const void *)(a3 + k)};
        const vec y[COLUMNS] = {*(const loose *)(const void *)(b0 + k), *(const loose *)(const void *)(b1 + k),
                                *(const loose *)(const void *)(b2 + k)};
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLUMNS; j++) acc[i][j] = FMA(x[i], y[j], acc[i][j]);
    }
    for (ptrdiff_t i = 0; i < rows; i++)
        for (ptrdiff_t j = 0; j < columns; j++) {
            real lanes[LANES], sum = 0;
            memcpy(lanes, &acc[i][j], sizeof lanes);
            for (int k = 0; k < LANES; k++) sum += lanes[k];
            out[i][j] += sum;
        }
}

/* copies a line of a map; most are too short for a call */
static inline void ST_CAT(copy_line, real)(real *to, const real *from, ptrdiff_t n) {
    enum { FOUR = 16 / sizeof(real) };
    typedef real quad __attribute__((vector_size(16), aligned(sizeof(real)), may_alias));
    if (n > 64) {
        memcpy(to, from, (size_t)n * sizeof(real));
        return;
    }
    if (n < FOUR) {
        for (ptrdiff_t i = 0; i < n; i++) to[i] = from[i];
        return;
    }
    for (ptrdiff_t i = 0; i + FOUR <= n; i += FOUR) *(quad *)(void *)(to + i) = *(const quad *)(const void *)(from + i);
    *(quad *)(void *)(to + n - FOUR) = *(const quad *)(const void *)(from + n - FOUR);
}

/* channels c ... last of the small map of one group: (channels, margin + length), zero in the margin and the gaps */
static void ST_CAT(lay_small, real)(const st_conv_shape *s, const layout *l, const real *from, ptrdiff_t examples,
                                    ptrdiff_t c, ptrdiff_t last, ptrdiff_t margin, real *to) {
    const ptrdiff_t n = s->small_channels, size = product(s->small), row = margin + l->length;
    memset(to + c * row, 0, (size_t)((last - c) * row) * sizeof(real));
    for (; c < last; c++)
        for (ptrdiff_t e = 0; e < examples; e++)
            for (ptrdiff_t z = 0; z < s->small[0]; z++)
                for (ptrdiff_t y = 0; y < s->small[1]; y++)
                    ST_CAT(copy_line, real)(to + c * row + margin + e * l->plane + (z * l->pitch[1] + y) * l->pitch[2],
                                            from + (e * s->groups * n + c) * size
                                                + (z * s->small[1] + y) * s->small[2],
                                            s->small[2]);
}

/* to[i] = from[i * step] */
static inline void ST_CAT(gather_line, real)(real *to, const real *from, ptrdiff_t step, ptrdiff_t n) {
    typedef real quad __attribute__((vector_size(4 * sizeof(real)), aligned(sizeof(real)), may_alias));
    if (step == 1) {
        ST_CAT(copy_line, real)(to, from, n);
    } else if (step == 2 && n >= 4) { /* most are too short for wide vectors; nothing is read past the last element */
        for (ptrdiff_t i = 0; i < n; i = i + 8 <= n ? i + 4 : i + 4 < n ? n - 4 : n) {
            const quad a = *(const quad *)(const void *)(from + 2 * i), b = *(const quad *)(const void *)(from + 2 * i + 3);
            *(quad *)(void *)(to + i) = (quad){a[0], a[2], b[1], b[3]};
        }
    } else {
        for (ptrdiff_t i = 0; i < n; i++) to[i] = from[i * step];
    }
}

/* channels c ... last of the big map of one group: (channels, phases, length + reach); the padding is left alone */
static void ST_CAT(lay_big, real)(const st_conv_shape *s, const layout *l, const real *from, ptrdiff_t examples,
                                  ptrdiff_t c, ptrdiff_t last, real *to) {
    const ptrdiff_t n = s->big_channels, size = product(s->big), row = l->length + l->reach, groups = s->groups;
    const ptrdiff_t step = s->stride[2], down = s->stride[1], tall = s->big[1], wide = s->big[2];
    const ptrdiff_t phases = l->phases, pitch = l->pitch[2], plane = l->plane;
    to += c * phases * row;
    for (; c < last; c++)
        for (ptrdiff_t phase = 0; phase < phases; phase++, to += row) {
            const ptrdiff_t r[3] = {phase / (l->phase[1] * l->phase[2]), phase / l->phase[2] % l->phase[1],
                                    phase % l->phase[2]};
            const ptrdiff_t shift = r[2] - s->before[2]; /* out[x] = line[x * step + shift] */
            const ptrdiff_t low = shift < 0 ? (-shift + step - 1) / step : 0;
            const ptrdiff_t n_x = Min(pitch, (wide - shift + step - 1) / step) - low;
            const ptrdiff_t lift = r[1] - s->before[1]; /* the same for lines */
            const ptrdiff_t top = lift < 0 ? (-lift + down - 1) / down : 0;
            const ptrdiff_t bottom = Min(l->pitch[1], (tall - lift + down - 1) / down);
            for (ptrdiff_t e = 0; e < examples; e++)
                for (ptrdiff_t z = 0; z < l->pitch[0]; z++) {
                    const ptrdiff_t bz = z * s->stride[0] + r[0] - s->before[0];
                    if (bz < 0 || bz >= s->big[0]) continue;
                    const real *line = from + (e * groups * n + c) * size + (bz * tall + top * down + lift) * wide
                                       + low * step + shift;
                    real *out = to + e * plane + (z * l->pitch[1] + top) * pitch + low;
                    for (ptrdiff_t y = top; y < bottom; y++, line += down * wide, out += pitch)
                        ST_CAT(gather_line, real)(out, line, step, n_x);
                }
        }
}

/* zeros for channels c ... last of the big map laid out */
static void ST_CAT(clear_big, real)(const layout *l, ptrdiff_t c, ptrdiff_t last, real *to) {
    const ptrdiff_t row = l->phases * (l->length + l->reach);
    memset(to + c * row, 0, (size_t)((last - c) * row) * sizeof(real));
}

static ptrdiff_t ST_CAT(weight_work, real)(const st_conv_shape *s) {
    const layout l = plan(s);
    const ptrdiff_t n = s->small_channels * l.length + s->big_channels * l.phases * (l.length + l.reach);
    return n * (ptrdiff_t)sizeof(real) + s->big_channels * product(s->kernel) * (ptrdiff_t)sizeof(ptrdiff_t) + 3 * 64;
}

typedef struct {
    const st_conv_shape *s;
    const layout *l;
    const real *small, *big;
    real *a, *b, *out;
    const ptrdiff_t *column;
    ptrdiff_t columns, examples;
} ST_CAT(weighing, real);

/* lays out channels of the small map, then of the big one */
static void ST_CAT(lay_channels, real)(void *context, ptrdiff_t begin, ptrdiff_t end) {
    const ST_CAT(weighing, real) *const c = context;
    const ptrdiff_t n = c->s->small_channels;
    if (begin < n) ST_CAT(lay_small, real)(c->s, c->l, c->small, c->examples, begin, Min(end, n), 0, c->a);
    if (end > n) {
        ST_CAT(clear_big, real)(c->l, Max(begin, n) - n, end - n, c->b);
        ST_CAT(lay_big, real)(c->s, c->l, c->big, c->examples, Max(begin, n) - n, end - n, c->b);
    }
}

/* tiles of ROWS channels of the small map and TILES * COLUMNS columns, row after row */
static void ST_CAT(weigh_tiles, real)(void *context, ptrdiff_t begin, ptrdiff_t end) {
    const ST_CAT(weighing, real) *const c = context;
    const layout *const l = c->l;
    const ptrdiff_t channels = c->s->small_channels, columns = c->columns, across = tiles(columns, COLUMNS * TILES);
    for (ptrdiff_t first = 0; first < l->length; first += LONG)
        for (ptrdiff_t t = begin; t < end; t++) {
            const ptrdiff_t i = t / across * ROWS, left = t % across * COLUMNS * TILES;
            const ptrdiff_t right = Min(left + COLUMNS * TILES, columns);
            const ptrdiff_t rows = Min(ROWS, channels - i), n = Min(LONG, l->length - first);
            const real *x[ROWS];
            for (ptrdiff_t r = 0; r < ROWS; r++) x[r] = c->a + (i + Min(r, rows - 1)) * l->length + first;
            for (ptrdiff_t k = left; k < right; k += COLUMNS) {
                const ptrdiff_t n_columns = Min(COLUMNS, columns - k);
                const real *y[COLUMNS];
                real *sums[ROWS];
                for (ptrdiff_t j = 0; j < COLUMNS; j++) y[j] = c->b + c->column[k + Min(j, n_columns - 1)] + first;
                for (ptrdiff_t r = 0; r < ROWS; r++) sums[r] = c->out + (i + Min(r, rows - 1)) * columns + k;
                ST_CAT(inner_products, real)(x, y, n, sums, rows, n_columns);
            }
        }
}

static void ST_CAT(run_weight, real)(const st_conv_shape *s, const real *small, const real *big, real *out, char *work) {
    const layout l = plan(s);
    const ptrdiff_t row = l.length + l.reach, taps = product(s->kernel), columns = s->big_channels * taps;
    real *a = take(&work, s->small_channels * l.length * (ptrdiff_t)sizeof(real));
    real *b = take(&work, s->big_channels * l.phases * row * (ptrdiff_t)sizeof(real));
    ptrdiff_t *column = take(&work, columns * (ptrdiff_t)sizeof(ptrdiff_t));

    find_columns(s, &l, column);
    for (ptrdiff_t j = taps; j < columns; j++) column[j] = column[j - taps] + l.phases * row;
    memset(out, 0, (size_t)(s->groups * s->small_channels * columns) * sizeof(real));
    ST_CAT(weighing, real) c = {.s = s, .l = &l, .a = a, .b = b, .column = column, .columns = columns};
    const ptrdiff_t channels = s->small_channels + s->big_channels, task = ROWS * COLUMNS * TILES * l.length;
    for (ptrdiff_t e = 0; e < s->batch; e += l.examples)
        for (ptrdiff_t g = 0; g < s->groups; g++) {
            c.examples = Min(l.examples, s->batch - e);
            c.small = small + (e * s->groups + g) * s->small_channels * product(s->small);
            c.big = big + (e * s->groups + g) * s->big_channels * product(s->big);
            c.out = out + g * s->small_channels * columns;
            st_parallel(channels, LAID / (l.length * l.phases + 1) + 1, ST_CAT(lay_channels, real), &c);
            st_parallel(tiles(s->small_channels, ROWS) * tiles(columns, COLUMNS * TILES), PRODUCTS / (task + 1) + 1,
                        ST_CAT(weigh_tiles, real), &c);
        }
}
