/* Which function serves a distribution or sampler, which build of the bulk draws, and conversions. */
#include "random_samplers.h"

extern const st_bulk st_bulk_baseline;
#ifdef ST_HAVE_V3
extern const st_bulk st_bulk_v3;
#endif
#ifdef ST_HAVE_V4
extern const st_bulk st_bulk_v4;
#endif

static st_loop (*find_cast)(int from, int to);
static const st_bulk *bulk = &st_bulk_baseline;

void st_random_setup(st_loop (*cast)(int from, int to), const char *isa) {
    find_cast = cast;
#ifdef ST_HAVE_V3
    if (strcmp(isa, "x86-64-v3") == 0) bulk = &st_bulk_v3;
#endif
#ifdef ST_HAVE_V4
    if (strcmp(isa, "x86-64-v4") == 0) bulk = &st_bulk_v4;
#endif
    (void)isa;
}

const st_bulk *st_find_bulk(void) { return bulk; }

void st_convert(int from, const void *a, ptrdiff_t stride_a, int to, void *out, ptrdiff_t stride_out, ptrdiff_t n) {
    char *ptrs[2] = {out, (char *)(uintptr_t)a};
    const ptrdiff_t strides[2] = {stride_out, stride_a};
    find_cast(from, to)(ptrs, strides, n, NULL);
}

int st_draw(st_rng *rng, int distribution, const st_strided *out, const st_draw_params *params, int style) {
    switch (distribution) {
    case ST_DRAW_UNIFORM: return st_fill_uniform(rng, out, params, style);
    case ST_DRAW_NORMAL: return st_fill_normal(rng, out, params, style);
    case ST_DRAW_EXPONENTIAL: return st_fill_exponential(rng, out, params, style);
    case ST_DRAW_CAUCHY: return st_fill_cauchy(rng, out, params, style);
    case ST_DRAW_LOG_NORMAL: return st_fill_log_normal(rng, out, params, style);
    case ST_DRAW_GEOMETRIC: return st_fill_geometric(rng, out, params, style);
    case ST_DRAW_BERNOULLI: return st_fill_bernoulli(rng, out, params, style);
    case ST_DRAW_BERNOULLI_EACH: return st_fill_bernoulli_each(rng, out, params, style);
    case ST_DRAW_RANGE: return st_fill_range(rng, out, params, style);
    default: return st_fill_whole(rng, out, params, style);
    }
}

int st_sample(st_rng *rng, int sampler, const st_request *request, int style) {
    switch (sampler) {
    case ST_SAMPLE_PERMUTATION: return st_sample_permutation(rng, request, style);
    case ST_SAMPLE_POISSON: return st_sample_poisson(rng, request, style);
    case ST_SAMPLE_GAMMA: return st_sample_gamma(rng, request, style);
    case ST_SAMPLE_DIRICHLET: return st_sample_dirichlet(rng, request, style);
    case ST_SAMPLE_BINOMIAL: return st_sample_binomial(rng, request, style);
    case ST_SAMPLE_GAMMA_GRAD: return st_sample_gamma_grad(rng, request, style);
    case ST_SAMPLE_DIRICHLET_GRAD: return st_sample_dirichlet_grad(rng, request, style);
    default: return st_sample_multinomial(rng, request, style);
    }
}
