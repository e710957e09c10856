/* Poisson, gamma, Dirichlet and binomial numbers: rejection samplers in float64, one element after another. */
#include "random_samplers.h"

#include <float.h>
#include <stdlib.h>

/* ---- poisson ---- */

/* Hoermann's transformed rejection with squeeze, PTRS */
static f64 poisson_large(st_rng *rng, f64 rate) {
    const f64 log_rate = log(rate), b = 0.931 + 2.53 * sqrt(rate), a = -0.059 + 0.02483 * b;
    const f64 inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2.0);
    for (;;) {
        const f64 u = draw_f53(rng) - 0.5, v = draw_f53(rng), us = 0.5 - fabs(u);
        const f64 k = floor((2.0 * a / us + b) * u + rate + 0.43);
        if (us >= 0.07 && v <= v_r) return k;
        if (k < 0.0 || (us < 0.013 && v > us)) continue;
        if (log(v) + log(inverse_alpha) - log(a / (us * us) + b) <= -rate + k * log_rate - lgamma(k + 1.0)) return k;
    }
}

static f64 poisson_small(st_rng *rng, f64 rate) {
    const f64 limit = exp(-rate);
    f64 product = 1.0, k = 0.0;
    for (;; k++) {
        product *= draw_f53(rng);
        if (product <= limit) return k;
    }
}

int st_sample_poisson(st_rng *rng, const st_request *r, int style) {
    const ptrdiff_t n = r->n_rows * r->n;
    (void)style;
    if (!is_float(r->dtype)) return ST_DRAW_NO_DTYPE;
    for (ptrdiff_t i = 0; i < n; i++)
        if (!(st_load(r->a, r->dtype, i) >= 0.0)) return ST_DRAW_BAD_VALUE;
    for (ptrdiff_t i = 0; i < n; i++) {
        const f64 rate = st_load(r->a, r->dtype, i);
        const f64 k = rate == 0.0 ? 0.0 : rate < 10.0 ? poisson_small(rng, rate) : poisson_large(rng, rate);
        st_store(r->out, r->dtype, i, k);
    }
    return ST_DRAW_OK;
}

/* ---- gamma ---- */

/* Marsaglia and Tsang's method; alpha and the boost below 1 keep the precision of the tensor (single or double). */
static f64 gamma_sample(st_rng *rng, f64 alpha, int single, int style) {
    f64 scale = 1.0;
    if (alpha < 1.0) {
        if (alpha == 0.0) return 0.0;
        scale = pow(1.0 - draw_f53(rng), single ? (f64)(1.0f / (f32)alpha) : 1.0 / alpha);
        alpha = single ? (f64)((f32)alpha + 1.0f) : alpha + 1.0;
    }
    const f32 third = 1.0f / 3.0f;
    const f64 d = single ? (f64)((f32)alpha - third) : alpha - third, c = 1.0 / sqrt(9.0 * d);
    for (;;) {
        f64 x, y;
        do {
            x = draw_normal(rng, style);
            y = 1.0 + c * x;
        } while (y <= 0.0);
        const f64 v = y * y * y, u = 1.0 - draw_f53(rng), xx = x * x;
        if (u < 1.0 - 0.0331f * xx * xx || log(u) < 0.5 * xx + d * (1.0 - v + log(v))) return scale * d * v;
    }
}

int st_sample_gamma(st_rng *rng, const st_request *r, int style) {
    const int single = r->dtype == ST_FLOAT32;
    const f64 tiny = single ? FLT_MIN : DBL_MIN;
    if (!single && r->dtype != ST_FLOAT64) return ST_DRAW_NO_DTYPE;
    for (ptrdiff_t i = 0; i < r->n_rows * r->n; i++) {
        const f64 x = gamma_sample(rng, st_load(r->a, r->dtype, i), single, style);
        st_store(r->out, r->dtype, i, x < tiny ? tiny : x);
    }
    return ST_DRAW_OK;
}

/* ---- dirichlet ---- */

/* The order in which PyTorch adds up a row: four lanes, four accumulators of lanes, then what is left over. */
static f64 row_sum(const f64 *x, ptrdiff_t n) {
    const ptrdiff_t vectors = n / 4, quads = vectors / 4;
    f64 lanes[4] = {0.0, 0.0, 0.0, 0.0}, total = 0.0;
    f64 acc[4][4] = {{0.0}};
    for (ptrdiff_t q = 0; q < quads; q++)
        for (int k = 0; k < 4; k++)
            for (int lane = 0; lane < 4; lane++) acc[k][lane] += x[16 * q + 4 * k + lane];
    for (ptrdiff_t v = 4 * quads; v < vectors; v++)
        for (int lane = 0; lane < 4; lane++) acc[0][lane] += x[4 * v + lane];
    for (int lane = 0; lane < 4; lane++) lanes[lane] = ((acc[0][lane] + acc[1][lane]) + acc[2][lane]) + acc[3][lane];
    for (ptrdiff_t i = 4 * vectors; i < n; i++) total += x[i];
    for (int lane = 0; lane < 4; lane++) total += lanes[lane];
    return total;
}

static void dirichlet_row(char *out, int dtype, ptrdiff_t first, const f64 *gamma, ptrdiff_t n) {
    const f64 tiny = dtype == ST_FLOAT32 ? FLT_MIN : DBL_MIN;
    const f64 below_one = dtype == ST_FLOAT32 ? 1.0 - 0x1p-24 : 1.0 - 0x1p-53;
    const f64 total = row_sum(gamma, n);
    for (ptrdiff_t k = 0; k < n; k++) {
        const f64 share = gamma[k] / total, x = dtype == ST_FLOAT32 ? (f64)(f32)share : share;
        st_store(out, dtype, first + k, x < tiny ? tiny : x > below_one ? below_one : x);
    }
}

int st_sample_dirichlet(st_rng *rng, const st_request *r, int style) {
    if (r->dtype != ST_FLOAT32 && r->dtype != ST_FLOAT64) return ST_DRAW_NO_DTYPE;
    f64 *gamma = malloc((size_t)(r->n > 0 ? r->n : 1) * sizeof *gamma);
    if (gamma == NULL) return ST_DRAW_NO_MEMORY;
    for (ptrdiff_t first = 0; first < r->n_rows * r->n; first += r->n) {
        for (ptrdiff_t k = 0; k < r->n; k++) {
            const f64 x = gamma_sample(rng, st_load(r->a, r->dtype, first + k), 0, style);
            gamma[k] = x < DBL_MIN ? DBL_MIN : x;
        }
        dirichlet_row(r->out, r->dtype, first, gamma, r->n);
    }
    free(gamma);
    return ST_DRAW_OK;
}

/* ---- binomial ---- */

/* log k! minus its Stirling approximation */
static f64 stirling_tail(f64 k) {
    static const f64 table[] = {0.0810614667953272,  0.0413406959554092,  0.0276779256849983,  0.02079067210376509,
                                0.0166446911898211,  0.0138761288230707,  0.0118967099458917,  0.0104112652619720,
                                0.00925546218271273, 0.00833056343336287};
    if (k <= 9.0) return table[(int)k];
    const f64 next = (k + 1.0) * (k + 1.0);
    return (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1260.0 / next) / next) / (k + 1.0);
}

/* Hoermann's transformed rejection with squeeze, BTRS. The products are formed in the precision of the tensor. */
static f64 binomial_large(st_rng *rng, f64 count, f64 prob, int single) {
    const f32 n = (f32)count, p = (f32)prob;
    const f64 sd = single ? (f64)sqrtf(n * p * (1 - p)) : sqrt(count * prob * (1.0 - prob));
    const f64 mean = single ? (f64)(n * p) : count * prob, odds = single ? (f64)(p / (1 - p)) : prob / (1.0 - prob);
    const f64 b = 1.15 + 2.53 * sd, a = -0.0873 + 0.0248 * b + 0.01 * prob, c = mean + 0.5;
    const f64 v_r = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * sd;
    const f64 mode = floor(single ? (f64)((n + 1) * p) : (count + 1.0) * prob);
    for (;;) {
        const f64 u = draw_f53(rng) - 0.5, v = draw_f53(rng), us = 0.5 - fabs(u);
        const f64 k = floor((2.0 * a / us + b) * u + c);
        if (us >= 0.07 && v <= v_r) return k;
        if (k < 0.0 || k > count) continue;
        const f64 bound = (mode + 0.5) * log((mode + 1.0) / (odds * (count - mode + 1.0)))
                          + (count + 1.0) * log((count - mode + 1.0) / (count - k + 1.0))
                          + (k + 0.5) * log(odds * (count - k + 1.0) / (k + 1.0))
                          + stirling_tail(mode) + stirling_tail(count - mode) - stirling_tail(k)
                          - stirling_tail(count - k);
        if (log(v * alpha / (a / (us * us) + b)) <= bound) return k;
    }
}

/* distances between successes, until they exceed the number of trials */
static f64 binomial_small(st_rng *rng, f64 count, f64 prob, int single) {
    const f64 log_q = single ? (f64)log1pf(-(f32)prob) : log1p(-prob);
    f64 sum = 0.0, k = 0.0;
    for (;; k++) {
        sum += ceil(log(draw_f53(rng)) / log_q);
        if (sum > count) return k;
    }
}

static f64 binomial_sample(st_rng *rng, f64 count, f64 prob, int single) {
    if (count != count || prob != prob) return count + prob;
    if (count <= 0.0 || prob <= 0.0) return 0.0;
    if (prob >= 1.0) return count;
    if (prob > 0.5) {
        const f64 q = single ? (f64)(f32)(1.0 - prob) : 1.0 - prob;
        return count - binomial_sample(rng, count, q, single);
    }
    const f64 mean = single ? (f64)((f32)count * (f32)prob) : count * prob;
    return mean >= 10.0 ? binomial_large(rng, count, prob, single) : binomial_small(rng, count, prob, single);
}

int st_sample_binomial(st_rng *rng, const st_request *r, int style) {
    const int single = r->dtype != ST_FLOAT64;
    (void)style;
    if (!is_float(r->dtype)) return ST_DRAW_NO_DTYPE;
    for (ptrdiff_t i = 0; i < r->n_rows * r->n; i++) {
        const f64 count = st_load(r->a, r->dtype, i), prob = st_load(r->b, r->dtype, i);
        st_store(r->out, r->dtype, i, binomial_sample(rng, count, prob, single));
    }
    return ST_DRAW_OK;
}
