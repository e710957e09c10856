/* Pooling of one element type: a stretch of outputs of one row at a time, all taps of the row's windows one after
 * another, each for the outputs whose tap lies in the map; uneven windows and those of short rows one by one.
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
#define LARGER(x, m) (((x) > (m)) | ((x) != (x)) ? (x) : (m))

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

/* the same without places */
static ST_OUTLINED void ST_CAT(raise, number)(number *restrict m, const number *restrict v, ptrdiff_t stride,
                                              ptrdiff_t n) {
    if (stride == 1) {
        IVDEP for (ptrdiff_t i = 0; i < n; i++) m[i] = LARGER(v[i], m[i]);
    } else if (stride == 2) {
        IVDEP for (ptrdiff_t i = 0; i < n; i++) m[i] = LARGER(v[i * 2], m[i]);
    } else {
        IVDEP for (ptrdiff_t i = 0; i < n; i++) m[i] = LARGER(v[i * stride], m[i]);
    }
}

/* all taps, `step` apart, of windows that lie in the map, where no NaN is */
#define TAP(k) v[i * (stride) + (k) * step]
#define MORE(x, m) ((x) > (m) ? (x) : (m))
#define RAISE_ALL(stride)                                                                             \
    {                                                                                                 \
        for (; taps >= 3; taps -= 3, v += 3 * step)                                                   \
            IVDEP for (ptrdiff_t i = 0; i < n; i++) {                                                 \
                const number x = MORE(TAP(0), m[i]), y = MORE(TAP(1), x);                             \
                m[i] = MORE(TAP(2), y);                                                               \
            }                                                                                         \
        if (taps == 2)                                                                                \
            IVDEP for (ptrdiff_t i = 0; i < n; i++) {                                                 \
                const number x = MORE(TAP(0), m[i]);                                                  \
                m[i] = MORE(TAP(1), x);                                                               \
            }                                                                                         \
        if (taps == 1)                                                                                \
            IVDEP for (ptrdiff_t i = 0; i < n; i++) m[i] = MORE(TAP(0), m[i]);                        \
    }
static ST_OUTLINED void ST_CAT(raise_all, number)(number *restrict m, const number *restrict v, ptrdiff_t taps,
                                                  ptrdiff_t step, ptrdiff_t stride, ptrdiff_t n) {
    if (stride == 1) {
        RAISE_ALL(1)
    } else if (stride == 2 && step == 1) {
#define step 1
        RAISE_ALL(2)
#undef step
    } else {
        RAISE_ALL(stride)
    }
}

static ST_OUTLINED int ST_CAT(any_nan, number)(const number *v, ptrdiff_t n) {
    place any = 0;
    for (ptrdiff_t i = 0; i < n; i++) any |= !(v[i] >= 0) & !(v[i] < 0); /* a NaN is neither */
    return any != 0;
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

/* ---- one window, run by run of its elements ---- */

/* the largest of v[0], v[step], ... and its place, if it is larger than *m; the places begin with `first` */
static ST_OUTLINED void ST_CAT(run_largest, number)(const number *v, ptrdiff_t first, ptrdiff_t step, ptrdiff_t n,
                                                    number *m, place *at) {
    if (step == 1 && n >= LONG) {
        number lane[RUN], top = *m;
        ptrdiff_t i;
        for (int k = 0; k < RUN; k++) lane[k] = v[k];
        for (i = RUN; i + RUN <= n; i += RUN)
            for (int k = 0; k < RUN; k++) lane[k] = LARGER(v[i + k], lane[k]);
        for (int k = 0; k < RUN; k++) top = LARGER(lane[k], top);
        for (; i < n; i++) top = LARGER(v[i], top);
        if (top == top) {
            if (top > *m) {
                for (i = 0; v[i] != top;) i++;
                *m = top;
                *at = (place)(first + i);
            }
            return;
        }
    }
    for (ptrdiff_t i = 0; i < n * step; i += step)
        if ((v[i] > *m) | (v[i] != v[i])) {
            *m = v[i];
            *at = (place)(first + i);
        }
}

#define eight ST_CAT(eight, number)
typedef number eight __attribute__((vector_size(8 * sizeof(number)), aligned(sizeof(number)), may_alias));

static ST_OUTLINED number ST_CAT(run_sum, number)(const number *v, ptrdiff_t step, ptrdiff_t n) {
    number sum = 0;
    if (step == 1 && n >= 8) {
        const eight *x = (const eight *)(const void *)v;
        eight a = *x++, b = {0};
        number h[8];
        ptrdiff_t i = n / 8 - 1;
        for (; i >= 2; i -= 2, x += 2) a += x[0], b += x[1];
        if (i == 1) b += *x++;
        a += b;
        memcpy(h, &a, sizeof h);
        v = (const number *)x;
        for (i = 0; i < n % 8; i++) sum += v[i];
        return sum + (((h[0] + h[4]) + (h[2] + h[6])) + ((h[1] + h[5]) + (h[3] + h[7])));
    }
    for (ptrdiff_t i = 0; i < n; i++) sum += v[i * step];
    return sum;
}
#undef eight

/* Lines of a window that is as wide as the map follow one another: they are one run. */
#define FOR_RUNS(w, oz, oy, o, at, step, n)                                                                          \
    const ptrdiff_t low_ = w->start[2][o], wide_ = (w->stop[2][o] - low_ + w->step[2] - 1) / w->step[2];             \
    const ptrdiff_t tall_ = (w->stop[1][oy] - w->start[1][oy] + w->step[1] - 1) / w->step[1];                        \
    const int merged_ = w->step[1] == 1 && wide_ == w->size[2] && (wide_ == 1 || w->step[2] == 1);                   \
    const ptrdiff_t step = merged_ ? 1 : w->step[2], n = merged_ ? wide_ * tall_ : wide_, lines_ = merged_ ? 1 : tall_; \
    for (ptrdiff_t z_ = w->start[0][oz]; z_ < w->stop[0][oz]; z_ += w->step[0])                                      \
        for (ptrdiff_t y_ = 0, at = (z_ * w->size[1] + w->start[1][oy]) * w->size[2] + low_; y_ < lines_;            \
             y_++, at += w->step[1] * w->size[2])

static inline void ST_CAT(window_largest, number)(const st_windows *w, ptrdiff_t oz, ptrdiff_t oy, ptrdiff_t o,
                                                  const number *x, number *m, place *at) {
    FOR_RUNS(w, oz, oy, o, begin, step, n) ST_CAT(run_largest, number)(x + begin, begin, step, n, m, at);
}

static inline number ST_CAT(window_sum, number)(const st_windows *w, ptrdiff_t oz, ptrdiff_t oy, ptrdiff_t o,
                                                const number *x) {
    number sum = 0;
    FOR_RUNS(w, oz, oy, o, begin, step, n) sum += ST_CAT(run_sum, number)(x + begin, step, n);
    return sum;
}

/* ---- outputs low ... high of a row: if windows are even and many, side by side ---- */

#define FOR_ROW_STRETCHES(w)                                                                   \
    for (ptrdiff_t plane = 0, row = 0; plane < w->planes; plane++)                             \
        for (ptrdiff_t oz = 0; oz < w->out[0]; oz++)                                           \
            for (ptrdiff_t oy = 0; oy < w->out[1]; oy++, row++)                                \
                for (ptrdiff_t low = 0; low < w->out[2]; low += STRETCH)

/* first: of the window of output 0, maybe beyond the map */
#define ROW_PLACES(w)                                                                          \
    const ptrdiff_t in_size = w->size[0] * w->size[1] * w->size[2], high = Min(low + STRETCH, w->out[2]); \
    const int beside = high - low >= FEW && w->inner[1] > w->inner[0] && w->taps > 0;          \
    const ptrdiff_t first = beside ? w->start[2][w->inner[0]] - w->inner[0] * w->stride : 0;

/* tap k: at place `tap` of output 0, in the map for outputs from ... to */
#define FOR_TAPS(w, k)                                                                         \
    for (ptrdiff_t k = 0, tap = first, from, to; k < w->taps                                   \
         && (from = ST_CAT(inside_from, number)(w, tap, low, high), to = ST_CAT(inside_to, number)(w, tap, from, high), 1); \
         k++, tap += w->step[2])

static inline ptrdiff_t ST_CAT(inside_from, number)(const st_windows *w, ptrdiff_t tap, ptrdiff_t low, ptrdiff_t high) {
    while (low < high && tap + low * w->stride < 0) low++;
    return low;
}
static inline ptrdiff_t ST_CAT(inside_to, number)(const st_windows *w, ptrdiff_t tap, ptrdiff_t low, ptrdiff_t high) {
    while (low < high && tap + (high - 1) * w->stride >= w->size[2]) high--;
    return high;
}

#define FOR_LINES(w)                                                                           \
    for (ptrdiff_t z = w->start[0][oz]; z < w->stop[0][oz]; z += w->step[0])                   \
        for (ptrdiff_t y = w->start[1][oy]; y < w->stop[1][oy]; y += w->step[1])

/* whether the only window is the plane */
static inline int ST_CAT(is_plane, number)(const st_windows *w) {
    int whole = 1;
    for (int d = 0; d < 3; d++) whole &= w->step[d] == 1 && w->stop[d][0] - w->start[d][0] == w->size[d];
    return whole;
}

/* the only window of every plane */
static void ST_CAT(largest_one, number)(const st_windows *w, const number *x, number *out, int64_t *indices) {
    const ptrdiff_t size = w->size[0] * w->size[1] * w->size[2];
    const int whole = ST_CAT(is_plane, number)(w);
    for (ptrdiff_t plane = 0; plane < w->planes; plane++, x += size) {
        number m = LOWEST;
        place at = (place)((w->start[0][0] * w->size[1] + w->start[1][0]) * w->size[2] + w->start[2][0]);
        if (whole) ST_CAT(run_largest, number)(x, 0, 1, size, &m, &at);
        else ST_CAT(window_largest, number)(w, 0, 0, 0, x, &m, &at);
        out[plane] = m;
        if (indices != NULL) indices[plane] = at;
    }
}

/* outputs low ... high of a row, without places */
static void ST_CAT(highest_row, number)(const st_windows *w, const number *line, ptrdiff_t first, ptrdiff_t low,
                                        ptrdiff_t high, number *m) {
    const ptrdiff_t whole = Min(Max(w->inner[0], low), high), end = Min(Max(w->inner[1], whole), high);
    if (ST_CAT(any_nan, number)(line, w->size[2])) {
        FOR_TAPS(w, k)
            ST_CAT(raise, number)(m + from - low, line + tap + from * w->stride, w->stride, to - from);
        return;
    }
    ST_CAT(raise_all, number)(m + whole - low, line + first + whole * w->stride, w->taps, w->step[2], w->stride, end - whole);
    for (ptrdiff_t o = whole > low ? low : end; o < high; o = o + 1 == whole ? end : o + 1) /* windows that reach out */
        for (ptrdiff_t k = 0, p = first + o * w->stride; k < w->taps; k++, p += w->step[2])
            if (p >= 0 && p < w->size[2]) m[o - low] = MORE(line[p], m[o - low]);
}

static void ST_CAT(largest, number)(const st_windows *w, const void *in, void *out, int64_t *indices) {
    place at[STRETCH];
    if (w->out[0] * w->out[1] * w->out[2] == 1) {
        ST_CAT(largest_one, number)(w, (const number *)in, (number *)out, indices);
        return;
    }
    FOR_ROW_STRETCHES(w) {
        ROW_PLACES(w)
        const number *x = (const number *)in + plane * in_size;
        number *m = (number *)out + row * w->out[2] + low;
        for (ptrdiff_t o = low; o < high; o++) m[o - low] = LOWEST;
        if (beside && indices == NULL) {
            FOR_LINES(w) ST_CAT(highest_row, number)(w, x + (z * w->size[1] + y) * w->size[2], first, low, high, m);
            continue;
        }
        const ptrdiff_t corner = (w->start[0][oz] * w->size[1] + w->start[1][oy]) * w->size[2];
        for (ptrdiff_t o = low; o < high; o++) at[o - low] = (place)(corner + w->start[2][o]);
        if (beside) {
            FOR_LINES(w) {
                const ptrdiff_t line = (z * w->size[1] + y) * w->size[2];
                FOR_TAPS(w, k) {
                    const ptrdiff_t p = line + tap + from * w->stride;
                    ST_CAT(larger, number)(m + from - low, at + from - low, x + p, p, w->stride, to - from);
                }
            }
        } else {
            for (ptrdiff_t o = low; o < high; o++)
                ST_CAT(window_largest, number)(w, oz, oy, o, x, m + o - low, at + o - low);
        }
        if (indices != NULL)
            for (ptrdiff_t o = low; o < high; o++) indices[row * w->out[2] + o] = at[o - low];
    }
}

static inline number ST_CAT(window_count, number)(const st_windows *w, ptrdiff_t oz, ptrdiff_t oy, ptrdiff_t ox) {
    return (number)(w->divisor ? w->divisor : w->count[0][oz] * w->count[1][oy] * w->count[2][ox]);
}

static void ST_CAT(mean_one, number)(const st_windows *w, const number *x, number *out) {
    const ptrdiff_t size = w->size[0] * w->size[1] * w->size[2];
    const number count = ST_CAT(window_count, number)(w, 0, 0, 0);
    const int whole = ST_CAT(is_plane, number)(w);
    for (ptrdiff_t plane = 0; plane < w->planes; plane++, x += size)
        out[plane] = (whole ? ST_CAT(run_sum, number)(x, 1, size) : ST_CAT(window_sum, number)(w, 0, 0, 0, x)) / count;
}

static void ST_CAT(mean, number)(const st_windows *w, const void *in, void *out) {
    number sum[STRETCH];
    if (w->out[0] * w->out[1] * w->out[2] == 1) {
        ST_CAT(mean_one, number)(w, (const number *)in, (number *)out);
        return;
    }
    FOR_ROW_STRETCHES(w) {
        ROW_PLACES(w)
        const number *x = (const number *)in + plane * in_size;
        number *result = (number *)out + row * w->out[2];
        if (beside) {
            for (ptrdiff_t o = low; o < high; o++) sum[o - low] = 0;
            FOR_LINES(w) {
                const number *line = x + (z * w->size[1] + y) * w->size[2];
                FOR_TAPS(w, k)
                    ST_CAT(add_up, number)(sum + from - low, line + tap + from * w->stride, w->stride, to - from);
            }
        } else {
            for (ptrdiff_t o = low; o < high; o++) sum[o - low] = ST_CAT(window_sum, number)(w, oz, oy, o, x);
        }
        for (ptrdiff_t o = low; o < high; o++) result[o] = sum[o - low] / ST_CAT(window_count, number)(w, oz, oy, o);
    }
}

/* the same for a single window, which fills the plane or lies in it */
static void ST_CAT(spread_one, number)(const st_windows *w, const number *grad, number *out) {
    const ptrdiff_t size = w->size[0] * w->size[1] * w->size[2];
    const int whole = ST_CAT(is_plane, number)(w);
    for (ptrdiff_t plane = 0; plane < w->planes; plane++, out += size) {
        const number share = grad[plane] / ST_CAT(window_count, number)(w, 0, 0, 0);
        if (whole) {
            for (ptrdiff_t i = 0; i < size; i++) out[i] = share;
            continue;
        }
        memset(out, 0, (size_t)size * sizeof(number));
        FOR_RUNS(w, 0, 0, 0, begin, step, n)
            for (ptrdiff_t i = 0; i < n; i++) out[begin + i * step] = share;
    }
}

static void ST_CAT(spread_mean, number)(const st_windows *w, const void *grad, void *out) {
    if (w->out[0] * w->out[1] * w->out[2] == 1) {
        ST_CAT(spread_one, number)(w, (const number *)grad, (number *)out);
        return;
    }
    memset(out, 0, (size_t)(w->planes * w->size[0] * w->size[1] * w->size[2]) * sizeof(number));
    FOR_ROW_STRETCHES(w) {
        ROW_PLACES(w)
        number *x = (number *)out + plane * in_size;
        const number *g = (const number *)grad + row * w->out[2];
        const ptrdiff_t *const start = w->start[2], *const stop = w->stop[2];
        number share[STRETCH];
        for (ptrdiff_t o = low; o < high; o++) share[o - low] = g[o] / ST_CAT(window_count, number)(w, oz, oy, o);
        FOR_LINES(w) {
            number *line = x + (z * w->size[1] + y) * w->size[2];
            for (ptrdiff_t o = low; o < high; o++)
                for (ptrdiff_t i = start[o]; i < stop[o]; i += w->step[2]) line[i] += share[o - low];
        }
        (void)first;
    }
}

#undef ONE_TAP
#undef LARGER
#undef TAP
#undef MORE
#undef RAISE_ALL
#undef FOR_RUNS
#undef FOR_TAPS
#undef FOR_ROW_STRETCHES
#undef ROW_PLACES
#undef FOR_LINES
