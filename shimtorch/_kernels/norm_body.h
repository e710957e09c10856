/* Normalisation of one type. Sums are kept in LANES lanes, which the compiler puts into vectors. */

#ifndef SHIMTORCH_NORM_BODY_H
#define SHIMTORCH_NORM_BODY_H
enum { LANES = 32, PIECE = 4096, GRAIN = 1 << 15, PARTS = 8 };

/* a loop shared among threads: what it reads and writes */
typedef struct {
    const st_norm_rows *rows;
    const st_norm_channels *channels;
    double eps;
    const void *g, *x, *weight, *bias, *mean, *scale, *a, *b, *c;
    void *to_mean, *to_scale, *out, *dweight, *dbias; /* to_mean, to_scale: the two numbers of a row or channel */
    ptrdiff_t part, weights; /* rows of a part, elements of the weight: each part sums up gradients of its own */
} norm_task;

static void share_runs(const st_norm_channels *s, st_body body, norm_task *task) {
    st_parallel(s->outer * s->channels, GRAIN / (s->inner + 1) + 1, body, task);
}

/* Channels of short runs are done as columns of the matrix (outer, channels * inner), a block of them at a time. */
enum { NARROW = 16, BLOCK = 256, FLOAT_ROWS = 64 };
static int is_narrow(const st_norm_channels *s) { return s->inner < NARROW && s->channels > 1; }

static void share_channels(const st_norm_channels *s, st_body body, norm_task *task) {
    st_parallel(s->channels, GRAIN / (s->outer * s->inner + 1) + 1, body, task);
}
#endif

/* total += the sum of EXPR over i < n, in pieces whose sums are added in double */
#define SUM_UP(total, n, EXPR)                                                       \
    for (ptrdiff_t start = 0; start < (n); start += PIECE) {                         \
        const ptrdiff_t end = (n) - start < PIECE ? (n) : start + PIECE;             \
        real lanes[LANES] = {0};                                                     \
        ptrdiff_t at = start;                                                        \
        for (; at + LANES <= end; at += LANES)                                       \
            for (int l = 0; l < LANES; l++) {                                        \
                const ptrdiff_t i = at + l;                                          \
                lanes[l] += (EXPR);                                                  \
            }                                                                        \
        for (ptrdiff_t i = at; i < end; i++) lanes[i - at] += (EXPR);                \
        double few[8] = {0};                                                         \
        for (int l = 0; l < LANES; l++) few[l % 8] += (double)lanes[l];              \
        total += ((few[0] + few[1]) + (few[2] + few[3])) + ((few[4] + few[5]) + (few[6] + few[7])); \
    }

static ST_OUTLINED double ST_CAT(sum, real)(const real *x, ptrdiff_t n) {
    double total = 0;
    SUM_UP(total, n, x[i])
    return total;
}

/* of (x - c) * y; a row's squares where y is x - c itself */
static ST_OUTLINED double ST_CAT(sum_centered, real)(const real *x, real c, const real *y, ptrdiff_t n) {
    double total = 0;
    SUM_UP(total, n, (x[i] - c) * y[i])
    return total;
}

static ST_OUTLINED double ST_CAT(sum_squares, real)(const real *x, real c, ptrdiff_t n) {
    double total = 0;
    SUM_UP(total, n, (x[i] - c) * (x[i] - c))
    return total;
}

/* of g, and of (x - c) * g; many lanes would be most of the work for few elements */
static ST_OUTLINED void ST_CAT(both_sums, real)(const real *g, const real *x, real c, ptrdiff_t n, double *sum_g,
                                                double *sum_gx) {
    if (n >= 4 * LANES) {
        *sum_g = ST_CAT(sum, real)(g, n);
        *sum_gx = ST_CAT(sum_centered, real)(x, c, g, n);
        return;
    }
    typedef real eight __attribute__((vector_size(8 * sizeof(real)), aligned(sizeof(real)), may_alias));
    eight a = {0}, b = {0};
    real p[8], q[8];
    ptrdiff_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const eight y = *(const eight *)(const void *)(g + i), z = *(const eight *)(const void *)(x + i);
        a += y, b += (z - c) * y;
    }
    memcpy(p, &a, sizeof p);
    memcpy(q, &b, sizeof q);
    for (int l = 0; l < n - i; l++) p[l] += g[i + l], q[l] += (x[i + l] - c) * g[i + l];
#define IN_DOUBLE(v)                                                                                       \
    ((((double)v[0] + (double)v[4]) + ((double)v[1] + (double)v[5]))                                       \
     + (((double)v[2] + (double)v[6]) + ((double)v[3] + (double)v[7])))
    *sum_g = IN_DOUBLE(p), *sum_gx = IN_DOUBLE(q);
#undef IN_DOUBLE
}

static void ST_CAT(some_rows, real)(void *context, ptrdiff_t begin, ptrdiff_t end) {
    const norm_task *const t = context;
    const st_norm_rows *const s = t->rows;
    const void *const weight = t->weight, *const bias = t->bias;
    real *mean = t->to_mean, *scale = t->to_scale;
    for (ptrdiff_t r = begin; r < end; r++) {
        const real *x = (const real *)t->x + r * s->n;
        real *out = (real *)t->out + r * s->n;
        const real m = (real)(ST_CAT(sum, real)(x, s->n) / (double)s->n);
        const real k = (real)(1.0 / sqrt(ST_CAT(sum_squares, real)(x, m, s->n) / (double)s->n + t->eps));
        const ptrdiff_t first = r % s->groups * (s->n / s->run);
        const real *w = weight == NULL ? NULL : (const real *)weight + first;
        const real *b = bias == NULL ? NULL : (const real *)bias + first;
        mean[r] = m, scale[r] = k;
        if (w == NULL && b == NULL) {
            IVDEP for (ptrdiff_t i = 0; i < s->n; i++) out[i] = (x[i] - m) * k;
        } else if (s->run > 1 || w == NULL || b == NULL) {
            for (ptrdiff_t c = 0; c < s->n / s->run; c++) {
                const real f = w == NULL ? k : k * w[c], a = b == NULL ? 0 : b[c];
                const real *v = x + c * s->run;
                real *o = out + c * s->run;
                IVDEP for (ptrdiff_t i = 0; i < s->run; i++) o[i] = (v[i] - m) * f + a;
            }
        } else {
            IVDEP for (ptrdiff_t i = 0; i < s->n; i++) out[i] = (x[i] - m) * k * w[i] + b[i];
        }
    }
}

static void ST_CAT(rows, real)(const st_norm_rows *s, double eps, const void *x, const void *weight, const void *bias,
                               void *mean, void *scale, void *out) {
    norm_task t = {.rows = s, .eps = eps, .x = x, .weight = weight, .bias = bias, .to_mean = mean, .to_scale = scale,
                   .out = out};
    st_parallel(s->rows, GRAIN / (s->n + 1) + 1, ST_CAT(some_rows, real), &t);
}

static void ST_CAT(some_rows_backward, real)(const norm_task *t, ptrdiff_t begin, ptrdiff_t end, real *dweight,
                                             real *dbias) {
    const st_norm_rows *const s = t->rows;
    const void *const weight = t->weight;
    const real *mean = t->mean, *scale = t->scale;
    const ptrdiff_t run = s->run, channels = s->n / run;
    for (ptrdiff_t r = begin; r < end; r++) {
        const real *x = (const real *)t->x + r * s->n, *g = (const real *)t->g + r * s->n;
        const real m = mean[r], k = scale[r];
        const ptrdiff_t first = r % s->groups * channels;
        const real *w = weight == NULL ? NULL : (const real *)weight + first;
        real *dw = dweight == NULL ? NULL : dweight + first, *db = dbias == NULL ? NULL : dbias + first;
        double sum_g = 0, sum_gx = 0;
        if (run == 1) {
            if (dw != NULL) {
                IVDEP for (ptrdiff_t i = 0; i < s->n; i++) dw[i] += g[i] * ((x[i] - m) * k);
            }
            if (db != NULL) {
                IVDEP for (ptrdiff_t i = 0; i < s->n; i++) db[i] += g[i];
            }
            if (w == NULL) {
                sum_g = ST_CAT(sum, real)(g, s->n), sum_gx = ST_CAT(sum_centered, real)(x, m, g, s->n);
            } else {
                SUM_UP(sum_g, s->n, g[i] * w[i])
                SUM_UP(sum_gx, s->n, (x[i] - m) * (g[i] * w[i]))
            }
        } else {
            for (ptrdiff_t c = 0; c < channels; c++) {
                const double f = w == NULL ? 1 : (double)w[c];
                double a, b;
                ST_CAT(both_sums, real)(g + c * run, x + c * run, m, run, &a, &b);
                if (dw != NULL) dw[c] += (real)(b * (double)k);
                if (db != NULL) db[c] += (real)a;
                sum_g += a * f, sum_gx += b * f;
            }
        }
        if (t->out == NULL) continue;
        real *dx = (real *)t->out + r * s->n;
        const double mean_g = sum_g / (double)s->n, slope = sum_gx * (double)k * (double)k / (double)s->n;
        const real a = (real)mean_g, b = (real)slope;
        if (w == NULL) {
            IVDEP for (ptrdiff_t i = 0; i < s->n; i++) dx[i] = (g[i] - a - (x[i] - m) * b) * k;
        } else if (run == 1) {
            IVDEP for (ptrdiff_t i = 0; i < s->n; i++) dx[i] = (g[i] * w[i] - a - (x[i] - m) * b) * k;
        } else {
            for (ptrdiff_t c = 0; c < channels; c++) {
                const real f = w[c];
                IVDEP for (ptrdiff_t i = c * run; i < (c + 1) * run; i++) dx[i] = (g[i] * f - a - (x[i] - m) * b) * k;
            }
        }
    }
}

static void ST_CAT(parts_backward, real)(void *context, ptrdiff_t begin, ptrdiff_t end) {
    const norm_task *const t = context;
    for (ptrdiff_t i = begin; i < end; i++) {
        const ptrdiff_t first = i * t->part, last = first + t->part, at = i * t->weights;
        ST_CAT(some_rows_backward, real)(t, first, last < t->rows->rows ? last : t->rows->rows,
                                         t->dweight == NULL ? NULL : (real *)t->dweight + at,
                                         t->dbias == NULL ? NULL : (real *)t->dbias + at);
    }
}

static void ST_CAT(add_parts, real)(real *to, const real *parts, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < PARTS; i++)
        IVDEP for (ptrdiff_t j = 0; j < n; j++) to[j] += parts[i * n + j];
}

static void ST_CAT(rows_backward, real)(const st_norm_rows *s, const void *g, const void *x, const void *weight,
                                        const void *mean, const void *scale, void *dx, void *dweight, void *dbias) {
    norm_task t = {.rows = s, .g = g, .x = x, .weight = weight, .mean = mean, .scale = scale, .out = dx,
                   .weights = s->groups * (s->n / s->run)};
    real *parts = NULL;
    if (s->rows >= 2 * PARTS && s->rows * s->n >= 2 * GRAIN)
        parts = (real *)calloc((size_t)(2 * PARTS * t.weights), sizeof(real));
    if (parts == NULL) {
        ST_CAT(some_rows_backward, real)(&t, 0, s->rows, dweight, dbias);
        return;
    }
    t.part = (s->rows + PARTS - 1) / PARTS;
    t.dweight = dweight == NULL ? NULL : parts;
    t.dbias = dbias == NULL ? NULL : parts + PARTS * t.weights;
    st_parallel((s->rows + t.part - 1) / t.part, 1, ST_CAT(parts_backward, real), &t);
    if (dweight != NULL) ST_CAT(add_parts, real)(dweight, t.dweight, t.weights);
    if (dbias != NULL) ST_CAT(add_parts, real)(dbias, t.dbias, t.weights);
    free(parts);
}

/* the run of channel c in example o */
#define RUN(s) ((o * (s)->channels + c) * (s)->inner)

/* totals[j] = the sum over all rows of EXPR for column first + j; row: where it begins. Pieces are added in double. */
#define SUM_COLUMNS(s, totals, first, n, EXPR)                                                           \
    memset(totals, 0, sizeof(double) * (size_t)(n));                                                     \
    for (ptrdiff_t start = 0; start < (s)->outer; start += FLOAT_ROWS) {                                 \
        const ptrdiff_t end = (s)->outer - start < FLOAT_ROWS ? (s)->outer : start + FLOAT_ROWS;         \
        real part[BLOCK] = {0};                                                                          \
        for (ptrdiff_t o = start; o < end; o++) {                                                        \
            const ptrdiff_t row = o * (s)->channels * (s)->inner + (first);                              \
            IVDEP for (ptrdiff_t j = 0; j < (n); j++) part[j] += (EXPR);                                 \
        }                                                                                                \
        for (ptrdiff_t j = 0; j < (n); j++) totals[j] += (double)part[j];                                \
    }

/* the same for channels begin ... end of short runs */
static void ST_CAT(narrow_moments, real)(const norm_task *t, ptrdiff_t begin, ptrdiff_t end) {
    const st_norm_channels *const s = t->channels;
    const real *const x = t->x;
    const ptrdiff_t inner = s->inner, block = BLOCK / inner;
    const double n = (double)(s->outer * inner);
    for (ptrdiff_t c = begin; c < end; c += block) {
        const ptrdiff_t count = end - c < block ? end - c : block, columns = count * inner;
        double totals[BLOCK];
        real mean[BLOCK];
        SUM_COLUMNS(s, totals, c * inner, columns, x[row + j])
        for (ptrdiff_t k = 0; k < count; k++) {
            double total = 0;
            for (ptrdiff_t i = 0; i < inner; i++) total += totals[k * inner + i];
            for (ptrdiff_t i = 0; i < inner; i++) mean[k * inner + i] = (real)(total / n);
        }
        SUM_COLUMNS(s, totals, c * inner, columns, (x[row + j] - mean[j]) * (x[row + j] - mean[j]))
        for (ptrdiff_t k = 0; k < count; k++) {
            double squares = 0;
            for (ptrdiff_t i = 0; i < inner; i++) squares += totals[k * inner + i];
            ((real *)t->to_mean)[c + k] = mean[k * inner];
            ((real *)t->to_scale)[c + k] = (real)(squares / n);
        }
    }
}

static void ST_CAT(narrow_sums, real)(const norm_task *t, ptrdiff_t begin, ptrdiff_t end) {
    const st_norm_channels *const s = t->channels;
    const real *const g = t->g, *const x = t->x;
    const ptrdiff_t inner = s->inner, block = BLOCK / inner;
    for (ptrdiff_t c = begin; c < end; c += block) {
        const ptrdiff_t count = end - c < block ? end - c : block, columns = count * inner;
        double of_g[BLOCK], of_gx[BLOCK];
        real mean[BLOCK];
        for (ptrdiff_t j = 0; j < columns; j++) mean[j] = ((const real *)t->mean)[c + j / inner];
        SUM_COLUMNS(s, of_g, c * inner, columns, g[row + j])
        SUM_COLUMNS(s, of_gx, c * inner, columns, (x[row + j] - mean[j]) * g[row + j])
        for (ptrdiff_t k = 0; k < count; k++) {
            double a = 0, b = 0;
            for (ptrdiff_t i = 0; i < inner; i++) a += of_g[k * inner + i], b += of_gx[k * inner + i];
            ((real *)t->to_mean)[c + k] = (real)a;
            ((real *)t->to_scale)[c + k] = (real)b;
        }
    }
}

static void ST_CAT(some_moments, real)(void *context, ptrdiff_t begin, ptrdiff_t end) {
    const norm_task *const t = context;
    const st_norm_channels *const s = t->channels;
    if (is_narrow(s)) {
        ST_CAT(narrow_moments, real)(t, begin, end);
        return;
    }
    const real *x = t->x;
    const double n = (double)(s->outer * s->inner);
    for (ptrdiff_t c = begin; c < end; c++) {
        double total = 0, squares = 0;
        for (ptrdiff_t o = 0; o < s->outer; o++) total += ST_CAT(sum, real)(x + RUN(s), s->inner);
        const real m = (real)(total / n);
        for (ptrdiff_t o = 0; o < s->outer; o++) squares += ST_CAT(sum_squares, real)(x + RUN(s), m, s->inner);
        ((real *)t->to_mean)[c] = m;
        ((real *)t->to_scale)[c] = (real)(squares / n);
    }
}

static void ST_CAT(moments, real)(const st_norm_channels *s, const void *x, void *mean, void *var) {
    norm_task t = {.channels = s, .x = x, .to_mean = mean, .to_scale = var};
    share_channels(s, ST_CAT(some_moments, real), &t);
}

static void ST_CAT(some_affine, real)(void *context, ptrdiff_t begin, ptrdiff_t end) {
    const norm_task *const t = context;
    const ptrdiff_t n = t->channels->inner, channels = t->channels->channels;
    if (n == 1) {
        for (ptrdiff_t r = begin, stop; r < end; r = stop) {
            const ptrdiff_t c = r % channels;
            const real *f = (const real *)t->a + c, *b = (const real *)t->b + c, *v = (const real *)t->x + r;
            real *to = (real *)t->out + r;
            stop = r + channels - c < end ? r + channels - c : end;
            IVDEP for (ptrdiff_t i = 0; i < stop - r; i++) to[i] = v[i] * f[i] + b[i];
        }
        return;
    }
    for (ptrdiff_t r = begin, c = r % channels; r < end; r++, c = c + 1 < channels ? c + 1 : 0) {
        const real f = ((const real *)t->a)[c], b = ((const real *)t->b)[c];
        const real *v = (const real *)t->x + r * n;
        real *to = (real *)t->out + r * n;
        IVDEP for (ptrdiff_t i = 0; i < n; i++) to[i] = v[i] * f + b;
    }
}

static void ST_CAT(affine, real)(const st_norm_channels *s, const void *x, const void *factor, const void *summand,
                                 void *out) {
    norm_task t = {.channels = s, .x = x, .a = factor, .b = summand, .out = out};
    share_runs(s, ST_CAT(some_affine, real), &t);
}

static void ST_CAT(some_sums, real)(void *context, ptrdiff_t begin, ptrdiff_t end) {
    const norm_task *const t = context;
    const st_norm_channels *const s = t->channels;
    if (is_narrow(s)) {
        ST_CAT(narrow_sums, real)(t, begin, end);
        return;
    }
    const real *g = t->g, *x = t->x;
    for (ptrdiff_t c = begin; c < end; c++) {
        const real m = ((const real *)t->mean)[c];
        double a = 0, b = 0;
        for (ptrdiff_t o = 0; o < s->outer; o++) {
            a += ST_CAT(sum, real)(g + RUN(s), s->inner);
            b += ST_CAT(sum_centered, real)(x + RUN(s), m, g + RUN(s), s->inner);
        }
        ((real *)t->to_mean)[c] = (real)a;
        ((real *)t->to_scale)[c] = (real)b;
    }
}

static void ST_CAT(sums, real)(const st_norm_channels *s, const void *g, const void *x, const void *mean, void *sum_g,
                               void *sum_gx) {
    norm_task t = {.channels = s, .g = g, .x = x, .mean = mean, .to_mean = sum_g, .to_scale = sum_gx};
    share_channels(s, ST_CAT(some_sums, real), &t);
}

static void ST_CAT(some_blend, real)(void *context, ptrdiff_t begin, ptrdiff_t end) {
    const norm_task *const t = context;
    const ptrdiff_t n = t->channels->inner, channels = t->channels->channels;
    if (n == 1) {
        for (ptrdiff_t k = begin, stop; k < end; k = stop) {
            const ptrdiff_t c0 = k % channels;
            const real *p = (const real *)t->a + c0, *q = (const real *)t->b + c0, *r = (const real *)t->c + c0;
            const real *v = (const real *)t->x + k, *h = (const real *)t->g + k;
            real *to = (real *)t->out + k;
            stop = k + channels - c0 < end ? k + channels - c0 : end;
            IVDEP for (ptrdiff_t i = 0; i < stop - k; i++) to[i] = h[i] * p[i] + v[i] * q[i] + r[i];
        }
        return;
    }
    for (ptrdiff_t k = begin, c = k % channels; k < end; k++, c = c + 1 < channels ? c + 1 : 0) {
        const real p = ((const real *)t->a)[c], q = ((const real *)t->b)[c], r = ((const real *)t->c)[c];
        const real *v = (const real *)t->x + k * n, *h = (const real *)t->g + k * n;
        real *to = (real *)t->out + k * n;
        IVDEP for (ptrdiff_t i = 0; i < n; i++) to[i] = h[i] * p + v[i] * q + r;
    }
}

static void ST_CAT(blend, real)(const st_norm_channels *s, const void *g, const void *x, const void *a, const void *b,
                                const void *c, void *out) {
    norm_task t = {.channels = s, .g = g, .x = x, .a = a, .b = b, .c = c, .out = out};
    share_runs(s, ST_CAT(some_blend, real), &t);
}

#undef SUM_UP
#undef SUM_COLUMNS
#undef RUN
