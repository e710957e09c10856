/* Convolutions whose groups have few channels (depthwise ones, images as input, images made of features).
 *
 * A matrix product would be too thin. Instead a plane of the map is laid out with its padding (conv_weight.h has the
 * layout), one for each remainder of the positions modulo the stride: then what a tap sees of a whole plane is one run of
 * memory, and a plane of the result the sum of such runs, kept in registers. Included once for every `real`. */

#ifndef SHIMTORCH_CONV_FLAT_H
#define SHIMTORCH_CONV_FLAT_H

/* the most channels of the big map in a group, of the weight's rows in one pass, columns of its gradient in one pass */
enum { FEW = 4, FLAT_ROWS = 4, MANY_COLUMNS = 9, SOME_COLUMNS = 3 };

/* Whether a convolution is done this way. Sums over few taps of one channel repay no layout, but neither a product. */
static int is_flat(int what, const st_conv_shape *s) {
    if (what == ST_CONV_WEIGHT) return s->groups > 1 && s->small_channels * s->big_channels <= FEW;
    return s->big_channels <= FEW;
}

#endif

#define LANES ((ptrdiff_t)(VECTOR_BYTES / sizeof(real)))

/* to[r, i] = start[r] + sum over taps k of w[r, k] * from[at[k] + i]; n is made up of whole VECS vectors */
static inline __attribute__((always_inline)) void ST_CAT(flat_sums, real)(
    const int rows, const int vecs, const real *from, const ptrdiff_t *at, ptrdiff_t taps, const real *w,
    ptrdiff_t w_row, const real *start, ptrdiff_t n, real *to) {
    for (ptrdiff_t i = 0; i < n; i += vecs * LANES) {
        vec acc[FLAT_ROWS][4];
        for (int r = 0; r < rows; r++)
            for (int v = 0; v < vecs; v++) acc[r][v] = start[r] - (vec){0};
        for (ptrdiff_t k = 0; k < taps; k++) {
            const loose *x = (const loose *)(const void *)(from + at[k] + i);
            for (int r = 0; r < rows; r++) {
                const vec y = w[r * w_row + k] - (vec){0};
                for (int v = 0; v < vecs; v++) acc[r][v] = FMA(y, x[v], acc[r][v]);
            }
        }
        for (int r = 0; r < rows; r++)
            for (int v = 0; v < vecs; v++) ((loose *)(void *)(to + r * n + i))[v] = acc[r][v];
    }
}

static ST_OUTLINED void ST_CAT(flat_rows, real)(ptrdiff_t rows, const real *from, const ptrdiff_t *at, ptrdiff_t taps,
                                                const real *w, ptrdiff_t w_row, const real *start, ptrdiff_t n, real *to) {
    if (rows == 1) ST_CAT(flat_sums, real)(1, 4, from, at, taps, w, w_row, start, n, to);
    else if (rows == 2) ST_CAT(flat_sums, real)(2, 4, from, at, taps, w, w_row, start, n, to);
    else if (rows == 3) ST_CAT(flat_sums, real)(3, 2, from, at, taps, w, w_row, start, n, to);
    else ST_CAT(flat_sums, real)(4, 2, from, at, taps, w, w_row, start, n, to);
}

/* sums[j] += a . b[j] */
static inline __attribute__((always_inline)) void ST_CAT(flat_products, real)(const int columns, const real *a,
                                                                              const real *const *b, ptrdiff_t n,
                                                                              real *sums) {
    vec acc[MANY_COLUMNS];
    for (int j = 0; j < columns; j++) acc[j] = (vec){0};
    for (ptrdiff_t k = 0; k < n; k += LANES) {
        const vec x = *(const loose *)(const void *)(a + k);
        for (int j = 0; j < columns; j++) acc[j] = FMA(x, *(const loose *)(const void *)(b[j] + k), acc[j]);
    }
    for (int j = 0; j < columns; j++) {
        real lanes[LANES], sum = 0;
        memcpy(lanes, &acc[j], sizeof lanes);
        for (int k = 0; k < LANES; k++) sum += lanes[k];
        sums[j] += sum;
    }
}

/* A row of the gradient of the weight: out[j] += a . (b from column[j] on). */
static ST_OUTLINED void ST_CAT(flat_weights, real)(const real *a, const real *b, const ptrdiff_t *column,
                                                   ptrdiff_t columns, ptrdiff_t n, real *out) {
    for (ptrdiff_t first = 0; first < n; first += LONG)
        for (ptrdiff_t j = 0, wide; j < columns; j += wide) {
            const ptrdiff_t length = Min(LONG, n - first);
            const real *seen[MANY_COLUMNS];
            real sums[MANY_COLUMNS] = {0};
            wide = columns - j > MANY_COLUMNS - SOME_COLUMNS ? MANY_COLUMNS : SOME_COLUMNS;
            for (ptrdiff_t k = 0; k < wide; k++) seen[k] = b + column[Min(j + k, columns - 1)] + first;
            if (wide == MANY_COLUMNS) ST_CAT(flat_products, real)(MANY_COLUMNS, a + first, seen, length, sums);
            else ST_CAT(flat_products, real)(SOME_COLUMNS, a + first, seen, length, sums);
            for (ptrdiff_t k = 0; k < Min(wide, columns - j); k++) out[j + k] += sums[k];
        }
}

typedef struct {
    const st_conv_shape *s;
    int what;
    layout l;
    const real *a, *b, *bias;
    real *out;
    int failed;
} ST_CAT(flat, real);

/* The small map of an example and group out of the big one, whose padding in `laid` is there. */
static void ST_CAT(flat_gather, real)(const ST_CAT(flat, real) *c, ptrdiff_t example, ptrdiff_t group, real *laid,
                                      real *sums, const ptrdiff_t *at) {
    const st_conv_shape *const s = c->s;
    const layout *const l = &c->l;
    const ptrdiff_t taps = s->big_channels * product(s->kernel), n = s->small_channels, index = example * s->groups + group;
    /* up to the last position of the small map */
    const ptrdiff_t used = ((s->small[0] - 1) * l->pitch[1] + s->small[1] - 1) * l->pitch[2] + s->small[2];
    const ptrdiff_t length = Min(l->length, ROUND_UP(used, LONG / 16));
    const ptrdiff_t tall = s->small[1], wide = s->small[2], pitch = l->pitch[2];
    const real *w = c->b + group * n * taps;
    ST_CAT(lay_big, real)(s, l, c->a + index * s->big_channels * product(s->big), 1, 0, s->big_channels, laid);
    for (ptrdiff_t o = 0, rows; o < n; o += rows) {
        real start[FLAT_ROWS] = {0};
        rows = Min(FLAT_ROWS, n - o);
        for (ptrdiff_t r = 0; r < rows && c->bias != NULL; r++) start[r] = c->bias[group * n + o + r];
        ST_CAT(flat_rows, real)(rows, laid, at, taps, w + o * taps, taps, start, length, sums);
        for (ptrdiff_t r = 0; r < rows; r++) {
            real *to = c->out + (index * n + o + r) * product(s->small);
            for (ptrdiff_t z = 0; z < s->small[0]; z++) {
                const real *line = sums + r * length + z * l->pitch[1] * pitch;
                for (ptrdiff_t y = 0; y < tall; y++, to += wide, line += pitch) ST_CAT(copy_line, real)(to, line, wide);
            }
        }
    }
}

/* A plane of the big map from the positions of one phase, which lie in it a stride apart. */
static void ST_CAT(unlay_big, real)(const st_conv_shape *s, const layout *l, const ptrdiff_t *r, const real *from, real *to) {
    const ptrdiff_t step = s->stride[2], shift = r[2] - s->before[2]; /* from[x] goes to x * step + shift */
    const ptrdiff_t low = shift < 0 ? (-shift + step - 1) / step : 0;
    const ptrdiff_t high = Min(l->pitch[2], (s->big[2] - shift + step - 1) / step);
    for (ptrdiff_t z = 0; z < l->pitch[0]; z++)
        for (ptrdiff_t y = 0; y < l->pitch[1]; y++) {
            const ptrdiff_t bz = z * s->stride[0] + r[0] - s->before[0], by = y * s->stride[1] + r[1] - s->before[1];
            if (bz < 0 || bz >= s->big[0] || by < 0 || by >= s->big[1]) continue;
            const real *line = from + (z * l->pitch[1] + y) * l->pitch[2];
            real *out = to + (bz * s->big[1] + by) * s->big[2];
            if (step == 1) ST_CAT(copy_line, real)(out + low + shift, line + low, high - low);
            else if (step == 2)
                IVDEP for (ptrdiff_t x = low; x < high; x++) out[x * 2 + shift] = line[x];
            else
                for (ptrdiff_t x = low; x < high; x++) out[x * step + shift] = line[x];
        }
}

/* The big map of an example and group out of the small one, phase by phase; w, at: room for the taps of a phase. */
static void ST_CAT(flat_spread, real)(const ST_CAT(flat, real) *c, ptrdiff_t example, ptrdiff_t group, real *laid,
                                      real *sums, const ptrdiff_t *column, real *w, ptrdiff_t *at) {
    const st_conv_shape *const s = c->s;
    const layout *const l = &c->l;
    const ptrdiff_t taps = product(s->kernel), n = s->small_channels, rows = s->big_channels, plane = product(s->big);
    const ptrdiff_t row = l->length + l->reach, index = example * s->groups + group, most = n * taps;
    const real *weight = c->b + group * n * rows * taps;
    real *out = c->out + index * rows * plane, start[FEW] = {0};
    for (ptrdiff_t o = 0; o < rows; o++) {
        if (c->bias != NULL) start[o] = c->bias[group * rows + o];
        for (ptrdiff_t i = 0; i < plane; i++) out[o * plane + i] = start[o];
    }
    ST_CAT(lay_small, real)(s, l, c->a + index * n * product(s->small), 1, 0, n, l->reach, laid);
    for (ptrdiff_t phase = 0; phase < l->phases; phase++) {
        const ptrdiff_t r[3] = {phase / (l->phase[1] * l->phase[2]), phase / l->phase[2] % l->phase[1],
                                phase % l->phase[2]};
        ptrdiff_t k = 0;
        for (ptrdiff_t j = 0; j < n; j++)
            for (ptrdiff_t t = 0; t < taps; t++) {
                if (column[t] / row != phase) continue;
                at[k] = j * row + l->reach - column[t] % row;
                for (ptrdiff_t o = 0; o < rows; o++) w[o * most + k] = weight[(j * rows + o) * taps + t];
                k++;
            }
        if (k == 0) continue;
        ST_CAT(flat_rows, real)(rows, laid, at, k, w, most, start, l->length, sums);
        for (ptrdiff_t o = 0; o < rows; o++)
            ST_CAT(unlay_big, real)(s, l, r, sums + o * l->length, out + o * plane);
    }
}

/* The gradient of the weight of a group. */
static void ST_CAT(flat_weigh, real)(const ST_CAT(flat, real) *c, ptrdiff_t group, real *small, real *big,
                                     const ptrdiff_t *column) {
    const st_conv_shape *const s = c->s;
    const layout *const l = &c->l;
    const ptrdiff_t columns = s->big_channels * product(s->kernel), n = s->small_channels;
    real *out = c->out + group * n * columns;
    memset(out, 0, (size_t)(n * columns) * sizeof(real));
    for (ptrdiff_t e = 0; e < s->batch; e += l->examples) {
        const ptrdiff_t examples = Min(l->examples, s->batch - e), index = e * s->groups + group;
        ST_CAT(lay_small, real)(s, l, c->a + index * n * product(s->small), examples, 0, n, 0, small);
        ST_CAT(clear_big, real)(l, 0, s->big_channels, big);
        ST_CAT(lay_big, real)(s, l, c->b + index * s->big_channels * product(s->big), examples, 0, s->big_channels, big);
        for (ptrdiff_t r = 0; r < n; r++)
            ST_CAT(flat_weights, real)(small + r * l->length, big, column, columns, l->length, out + r * columns);
    }
}

/* Pairs of an example and a group; groups, for the gradient of the weight. */
static void ST_CAT(flat_piece, real)(void *context, ptrdiff_t begin, ptrdiff_t end) {
    ST_CAT(flat, real) *const c = context;
    const st_conv_shape *const s = c->s;
    const layout *const l = &c->l;
    const ptrdiff_t taps = product(s->kernel), row = l->length + l->reach, size = (ptrdiff_t)sizeof(real);
    const ptrdiff_t inputs = c->what == ST_CONV_SPREAD ? s->small_channels : s->big_channels;
    const ptrdiff_t laid = (c->what == ST_CONV_SPREAD ? 1 : l->phases) * inputs * row * size;
    const ptrdiff_t other = Max(FLAT_ROWS, s->small_channels) * l->length * size;
    const ptrdiff_t weights = FEW * s->small_channels * taps * size;
    const ptrdiff_t places = inputs * taps * (ptrdiff_t)sizeof(ptrdiff_t), bytes = laid + other + weights + 2 * places;
    char *memory = (char *)malloc((size_t)(bytes + 6 * 64)), *work = (char *)ROUND_UP((uintptr_t)memory, 64);
    if (memory == NULL) {
        __atomic_store_n(&c->failed, 1, __ATOMIC_RELAXED);
        return;
    }
    real *const in = take(&work, laid), *const sums = take(&work, other), *const w = take(&work, weights);
    ptrdiff_t *const column = take(&work, places), *const at = take(&work, places);
    find_columns(s, l, column);
    if (c->what == ST_CONV_GATHER) ST_CAT(clear_big, real)(l, 0, inputs, in);
    if (c->what != ST_CONV_SPREAD)
        for (ptrdiff_t j = taps; j < inputs * taps; j++) column[j] = column[j - taps] + l->phases * row;
    for (ptrdiff_t i = begin; i < end; i++) {
        if (c->what == ST_CONV_GATHER) ST_CAT(flat_gather, real)(c, i / s->groups, i % s->groups, in, sums, column);
        else if (c->what == ST_CONV_SPREAD)
            ST_CAT(flat_spread, real)(c, i / s->groups, i % s->groups, in, sums, column, w, at);
        else ST_CAT(flat_weigh, real)(c, i, sums, in, column);
    }
    free(memory);
}

/* Whether it was done: not without memory. */
static int ST_CAT(run_flat, real)(int what, const st_conv_shape *s, const real *a, const real *b, const real *bias,
                                  real *out) {
    ST_CAT(flat, real) c = {.s = s, .what = what, .a = a, .b = b, .bias = bias, .out = out};
    c.l = plan_examples(s, what == ST_CONV_WEIGHT ? 0 : 1);
    const ptrdiff_t one = c.l.length * product(s->kernel) * s->small_channels * s->big_channels;
    const ptrdiff_t task = what == ST_CONV_WEIGHT ? one / Max(c.l.examples, 1) * s->batch : one;
    st_parallel(what == ST_CONV_WEIGHT ? s->groups : s->batch * s->groups, PRODUCTS / (task + 1) + 1,
                ST_CAT(flat_piece, real), &c);
    return !c.failed;
}

#undef LANES
