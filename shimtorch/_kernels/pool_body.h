/* Pooling of one element type: a stretch of outputs of one row at a time, all taps of the row's windows one after another.
 * Included for every `number`; `place` is an integer as wide. */

/* m, at: the largest so far and its place; v[i * stride] for the next tap at places first + i * stride */
#define ONE_TAP(stride)                                                    \
    IVDEP for (ptrdiff_t i = 0; i < n; i++) {                              \
        const number x = v[i * (stride)];                                  \
        const place p = (place)(first + i * (stride));                     \
        const int better = (x > m[i]) | (x != x);                          \
        at[i] = better ? p : at[i];                                        \
        m[i] = better ? x : m[i];                                          \
    }

static ST_OUTLINED void ST_CAT(larger, number)(number *restrict m, place *restrict at, const number *restrict v,
                                               ptrdiff_t first, ptrdiff_t stride, ptrdiff_t n) {
    if (stride == 1) {
        ONE_TAP(1)
    } else if (stride == 2) {
        ONE_TAP(2)
    } else {
        ONE_TAP(stride)
    }
}

static ST_OUTLINED void ST_CAT(add_up, number)(number *restrict sum, const number *restrict v, ptrdiff_t stride,
                                               ptrdiff_t n) {
    if (stride == 1) {
        IVDEP for (ptrdiff_t i = 0; i < n; i++) sum[i] += v[i];
    } else if (stride == 2) {
        IVDEP for (ptrdiff_t i = 0; i < n; i++) sum[i] += v[i * 2];
    } else {
        IVDEP for (ptrdiff_t i = 0; i < n; i++) sum[i] += v[i * stride];
    }
}

/* outputs low ... high of a row; the uniform windows among them are inner[0] ... inner[1] */
#define FOR_ROW_STRETCHES(w)                                                                   \
    for (ptrdiff_t row = 0; row < w->planes * w->out[0] * w->out[1]; row++)                    \
        for (ptrdiff_t low = 0; low < w->out[2]; low += STRETCH)

#define ROW_PLACES(w)                                                                          \
    const ptrdiff_t oz = row / w->out[1] % w->out[0], oy = row % w->out[1];                    \
    const ptrdiff_t plane = row / (w->out[0] * w->out[1]), high = Min(low + STRETCH, w->out[2]); \
    const ptrdiff_t in_size = w->size[0] * w->size[1] * w->size[2];                                  \
    const ptrdiff_t from = Max(low, w->inner[0]), to = Max(Min(high, w->inner[1]), from);      \
    const ptrdiff_t *const start = w->start[2], *const stop = w->stop[2];

#define FOR_LINES(w)                                                                           \
    for (ptrdiff_t z = w->start[0][oz]; z < w->stop[0][oz]; z += w->step[0])                   \
        for (ptrdiff_t y = w->start[1][oy]; y < w->stop[1][oy]; y += w->step[1])

static void ST_CAT(largest, number)(const st_windows *w, const void *in, void *out, int64_t *indices) {
    number m[STRETCH];
    place at[STRETCH];
    FOR_ROW_STRETCHES(w) {
        ROW_PLACES(w)
        const number *x = (const number *)in + plane * in_size;
        for (ptrdiff_t o = low; o < high; o++) {
            m[o - low] = LOWEST;
            at[o - low] = (place)((w->start[0][oz] * w->size[1] + w->start[1][oy]) * w->size[2] + start[o]);
        }
        FOR_LINES(w) {
            const ptrdiff_t line = (z * w->size[1] + y) * w->size[2];
            for (ptrdiff_t k = 0; k < w->taps && to > from; k++) {
                const ptrdiff_t first = line + start[from] + k * w->step[2];
                ST_CAT(larger, number)(m + from - low, at + from - low, x + first, first, w->stride, to - from);
            }
            for (ptrdiff_t o = low; o < high; o++) {
                if (o == from) o = to;
                if (o >= high) break;
                for (ptrdiff_t i = start[o]; i < stop[o]; i += w->step[2])
                    ST_CAT(larger, number)(m + o - low, at + o - low, x + line + i, line + i, 1, 1);
            }
        }
        memcpy((number *)out + row * w->out[2] + low, m, (size_t)(high - low) * sizeof(number));
        if (indices != NULL)
            for (ptrdiff_t o = low; o < high; o++) indices[row * w->out[2] + o] = at[o - low];
    }
}

static inline number ST_CAT(window_count, number)(const st_windows *w, ptrdiff_t oz, ptrdiff_t oy, ptrdiff_t ox) {
    return (number)(w->divisor ? w->divisor : w->count[0][oz] * w->count[1][oy] * w->count[2][ox]);
}

static void ST_CAT(mean, number)(const st_windows *w, const void *in, void *out) {
    number sum[STRETCH];
    FOR_ROW_STRETCHES(w) {
        ROW_PLACES(w)
        const number *x = (const number *)in + plane * in_size;
        number *result = (number *)out + row * w->out[2];
        for (ptrdiff_t i = 0; i < high - low; i++) sum[i] = 0;
        FOR_LINES(w) {
            const number *line = x + (z * w->size[1] + y) * w->size[2];
            for (ptrdiff_t k = 0; k < w->taps && to > from; k++)
                ST_CAT(add_up, number)(sum + from - low, line + start[from] + k * w->step[2], w->stride, to - from);
            for (ptrdiff_t o = low; o < high; o++) {
                if (o == from) o = to;
                if (o >= high) break;
                for (ptrdiff_t i = start[o]; i < stop[o]; i += w->step[2]) sum[o - low] += line[i];
            }
        }
        for (ptrdiff_t o = low; o < high; o++) result[o] = sum[o - low] / ST_CAT(window_count, number)(w, oz, oy, o);
    }
}

static void ST_CAT(spread_mean, number)(const st_windows *w, const void *grad, void *out) {
    memset(out, 0, (size_t)(w->planes * w->size[0] * w->size[1] * w->size[2]) * sizeof(number));
    FOR_ROW_STRETCHES(w) {
        ROW_PLACES(w)
        number *x = (number *)out + plane * in_size;
        const number *g = (const number *)grad + row * w->out[2];
        number share[STRETCH];
        for (ptrdiff_t o = low; o < high; o++) share[o - low] = g[o] / ST_CAT(window_count, number)(w, oz, oy, o);
        FOR_LINES(w) {
            number *line = x + (z * w->size[1] + y) * w->size[2];
            for (ptrdiff_t o = low; o < high; o++)
                for (ptrdiff_t i = start[o]; i < stop[o]; i += w->step[2]) line[i] += share[o - low];
        }
        (void)from, (void)to;
    }
}

#undef ONE_TAP
#undef FOR_ROW_STRETCHES
#undef ROW_PLACES
#undef FOR_LINES
