/* How gamma and Dirichlet numbers move with their parameters: implicit derivatives, -(dF/da) / (dF/dx), of their
 * distribution functions F, by integrating over the shorter tail. */
#include "random_samplers.h"

/* d log Gamma / dx for x > 0 */
static f64 digamma(f64 x) {
    f64 shift = 0.0;
    for (; x < 12.0; x += 1.0) shift -= 1.0 / x;
    const f64 z = 1.0 / (x * x);
    return shift + log(x) - 0.5 / x
           - z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * 691.0 / 32760)))));
}

typedef struct {
    f64 x, a, b, center; /* center: the mean of the logarithm */
} st_point;

typedef f64 (*st_integrand)(f64 s, const st_point *p, f64 *factor);

/* Integral over s > 0 of exp(f(s)) * factor, where f(0) = 0 and f falls: Gauss-Legendre rules of 5 points on panels
 * that widen from 0 on, up to where exp(f) is negligible. */
static f64 integrate(st_integrand f, const st_point *p) {
    enum { PANELS = 64 };
    static const f64 nodes[5] = {-0.9061798459386640, -0.5384693101056831, 0.0, 0.5384693101056831, 0.9061798459386640};
    static const f64 weights[5] = {0.2369268850561891, 0.4786286704993665, 0.5688888888888889, 0.4786286704993665,
                                   0.2369268850561891};
    f64 factor, limit = 1e-6, left = 0.0, sum = 0.0;
    for (int doubled = 0; doubled < 80 && f(limit, p, &factor) > -45.0; doubled++) limit *= 2.0;
    for (int k = 1; k <= PANELS; k++) {
        const f64 part = (f64)k / PANELS, right = limit * part * part * part, half = 0.5 * (right - left);
        for (int i = 0; i < 5; i++) {
            const f64 height = exp(f(left + half * (1.0 + nodes[i]), p, &factor));
            sum += half * weights[i] * height * factor;
        }
        left = right;
    }
    return sum;
}

/* ---- gamma ---- */

/* t = x exp(-s) below x */
static f64 gamma_below(f64 s, const st_point *p, f64 *factor) {
    *factor = -(log(p->x) - s - p->center);
    return -p->a * s - p->x * expm1(-s);
}

/* t = x (1 + s) above x */
static f64 gamma_above(f64 s, const st_point *p, f64 *factor) {
    *factor = log(p->x) + log1p(s) - p->center;
    return -p->x * s + (p->a - 1.0) * log1p(s);
}

static f64 gamma_grad(f64 alpha, f64 x) {
    const st_point p = {x, alpha, 0.0, digamma(alpha)};
    if (!(alpha > 0.0 && x > 0.0)) return alpha != alpha || x != x ? alpha + x : 0.0;
    return x * integrate(x <= alpha ? gamma_below : gamma_above, &p);
}

int st_sample_gamma_grad(st_rng *rng, const st_request *r, int style) {
    (void)rng, (void)style;
    if (r->dtype != ST_FLOAT32 && r->dtype != ST_FLOAT64) return ST_DRAW_NO_DTYPE;
    for (ptrdiff_t i = 0; i < r->n_rows * r->n; i++)
        st_store(r->out, r->dtype, i, gamma_grad(st_load(r->a, r->dtype, i), st_load(r->b, r->dtype, i)));
    return ST_DRAW_OK;
}

/* ---- one coordinate of a Dirichlet number: Beta(a, b), over 1-x ---- */

/* t = x exp(-s) */
static f64 beta_below(f64 s, const st_point *p, f64 *factor) {
    *factor = -(log(p->x) - s - p->center);
    return -p->a * s + (p->b - 1.0) * log1p(-p->x * expm1(-s) / (1.0 - p->x));
}

/* 1-t = (1-x) exp(-s) */
static f64 beta_above(f64 s, const st_point *p, f64 *factor) {
    const f64 y = 1.0 - p->x;
    *factor = log1p(-y * exp(-s)) - p->center;
    return -p->b * s + (p->a - 1.0) * log1p(-y * expm1(-s) / p->x);
}

static f64 dirichlet_grad(f64 x, f64 alpha, f64 total) {
    const f64 beta = total - alpha;
    const st_point p = {x, alpha, beta, digamma(alpha) - digamma(total)};
    if (!(alpha > 0.0 && beta > 0.0 && x > 0.0 && x < 1.0)) return x != x || alpha != alpha || total != total ? x : 0.0;
    if (x * total <= alpha) return x / (1.0 - x) * integrate(beta_below, &p);
    return integrate(beta_above, &p);
}

/* the coordinates, and their parameters and totals in pairs */
int st_sample_dirichlet_grad(st_rng *rng, const st_request *r, int style) {
    (void)rng, (void)style;
    if (r->dtype != ST_FLOAT32 && r->dtype != ST_FLOAT64) return ST_DRAW_NO_DTYPE;
    for (ptrdiff_t i = 0; i < r->n_rows * r->n; i++) {
        const f64 alpha = st_load(r->b, r->dtype, 2 * i), total = st_load(r->b, r->dtype, 2 * i + 1);
        st_store(r->out, r->dtype, i, dirichlet_grad(st_load(r->a, r->dtype, i), alpha, total));
    }
    return ST_DRAW_OK;
}
