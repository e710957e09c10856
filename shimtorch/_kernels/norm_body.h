/* Normalisation of one type. Sums are kept in LANES lanes, which the compiler puts into vectors. */

#ifndef SHIMTORCH_NORM_BODY_H
#define SHIMTORCH_NORM_BODY_H
enum { LANES = 32, PIECE = 4096 };
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
        for (int l = 0; l < LANES; l++) total += (double)lanes[l];                   \
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

static void ST_CAT(rows, real)(const st_norm_rows *s, double eps, const void *x_, const void *weight, const void *bias,
                               void *mean_, void *scale_, void *out_) {
    real *mean = mean_, *scale = scale_;
    for (ptrdiff_t r = 0; r < s->rows; r++) {
        const real *x = (const real *)x_ + r * s->n;
        real *out = (real *)out_ + r * s->n;
        const real m = (real)(ST_CAT(sum, real)(x, s->n) / (double)s->n);
        const real k = (real)(1.0 / sqrt(ST_CAT(sum_squares, real)(x, m, s->n) / (double)s->n + eps));
        const ptrdiff_t first = r % s->groups * (s->n / s->run);
        const real *w = weight == NULL ? NULL : (const real *)weight + first;
        const real *b = bias == NULL ? NULL : (const real *)bias + first;
        mean[r] = m, scale[r] = k;
        if (s->run > 1 || w == NULL || b == NULL) {
            for (ptrdiff_t c = 0; c < s->n / s->run; c++) {
                const real f = w == NULL ? k : k * w[c], a = (b == NULL ? 0 : b[c]);
                const real *v = x + c * s->run;
                real *o = out + c * s->run;
                IVDEP for (ptrdiff_t i = 0; i < s->run; i++) o[i] = (v[i] - m) * f + a;
            }
        } else {
            IVDEP for (ptrdiff_t i = 0; i < s->n; i++) out[i] = (x[i] - m) * k * w[i] + b[i];
        }
    }
}

static void ST_CAT(rows_backward, real)(const st_norm_rows *s, const void *g_, const void *x_, const void *weight,
                                        const void *mean_, const void *scale_, void *dx_, void *dweight, void *dbias) {
    const real *mean = mean_, *scale = scale_;
    const ptrdiff_t run = s->run, channels = s->n / run;
    for (ptrdiff_t r = 0; r < s->rows; r++) {
        const real *x = (const real *)x_ + r * s->n, *g = (const real *)g_ + r * s->n;
        const real m = mean[r], k = scale[r];
        const ptrdiff_t first = r % s->groups * channels;
        const real *w = weight == NULL ? NULL : (const real *)weight + first;
        real *dw = dweight == NULL ? NULL : (real *)dweight + first, *db = dbias == NULL ? NULL : (real *)dbias + first;
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
                const double a = ST_CAT(sum, real)(g + c * run, run);
                const double b = ST_CAT(sum_centered, real)(x + c * run, m, g + c * run, run);
                const double f = w == NULL ? 1 : (double)w[c];
                if (dw != NULL) dw[c] += (real)(b * (double)k);
                if (db != NULL) db[c] += (real)a;
                sum_g += a * f, sum_gx += b * f;
            }
        }
        if (dx_ == NULL) continue;
        real *dx = (real *)dx_ + r * s->n;
        const double mean_g = sum_g / (double)s->n, slope = sum_gx * (double)k * (double)k / (double)s->n;
        const real a = (real)mean_g, b = (real)slope;
        if (run == 1 && w != NULL) {
            IVDEP for (ptrdiff_t i = 0; i < s->n; i++) dx[i] = (g[i] * w[i] - a - (x[i] - m) * b) * k;
        } else {
            for (ptrdiff_t c = 0; c < channels; c++) {
                const real f = w == NULL ? 1 : w[c];
                IVDEP for (ptrdiff_t i = c * run; i < (c + 1) * run; i++) dx[i] = (g[i] * f - a - (x[i] - m) * b) * k;
            }
        }
    }
}

/* v: the run of channel c in example o */
#define FOR_RUNS(s)                                         \
    for (ptrdiff_t o = 0; o < (s)->outer; o++)              \
        for (ptrdiff_t c = 0; c < (s)->channels; c++)
#define RUN(s) ((o * (s)->channels + c) * (s)->inner)

static void ST_CAT(moments, real)(const st_norm_channels *s, const void *x_, void *mean, void *var) {
    const real *x = x_;
    const double n = (double)(s->outer * s->inner);
    for (ptrdiff_t c = 0; c < s->channels; c++) {
        double total = 0, squares = 0;
        for (ptrdiff_t o = 0; o < s->outer; o++) total += ST_CAT(sum, real)(x + RUN(s), s->inner);
        const real m = (real)(total / n);
        for (ptrdiff_t o = 0; o < s->outer; o++) squares += ST_CAT(sum_squares, real)(x + RUN(s), m, s->inner);
        ((real *)mean)[c] = m;
        ((real *)var)[c] = (real)(squares / n);
    }
}

static void ST_CAT(affine, real)(const st_norm_channels *s, const void *x, const void *factor, const void *summand,
                                 void *out) {
    FOR_RUNS(s) {
        const real f = ((const real *)factor)[c], b = ((const real *)summand)[c];
        const real *v = (const real *)x + RUN(s);
        real *to = (real *)out + RUN(s);
        IVDEP for (ptrdiff_t i = 0; i < s->inner; i++) to[i] = v[i] * f + b;
    }
}

static void ST_CAT(sums, real)(const st_norm_channels *s, const void *g_, const void *x_, const void *mean, void *sum_g,
                               void *sum_gx) {
    const real *g = g_, *x = x_;
    for (ptrdiff_t c = 0; c < s->channels; c++) {
        const real m = ((const real *)mean)[c];
        double a = 0, b = 0;
        for (ptrdiff_t o = 0; o < s->outer; o++) {
            a += ST_CAT(sum, real)(g + RUN(s), s->inner);
            b += ST_CAT(sum_centered, real)(x + RUN(s), m, g + RUN(s), s->inner);
        }
        ((real *)sum_g)[c] = (real)a;
        ((real *)sum_gx)[c] = (real)b;
    }
}

static void ST_CAT(blend, real)(const st_norm_channels *s, const void *g, const void *x, const void *a, const void *b,
                                const void *c_, void *out) {
    FOR_RUNS(s) {
        const real p = ((const real *)a)[c], q = ((const real *)b)[c], r = ((const real *)c_)[c];
        const real *v = (const real *)x + RUN(s), *h = (const real *)g + RUN(s);
        real *to = (real *)out + RUN(s);
        IVDEP for (ptrdiff_t i = 0; i < s->inner; i++) to[i] = h[i] * p + v[i] * q + r;
    }
}

#undef SUM_UP
#undef FOR_RUNS
#undef RUN
