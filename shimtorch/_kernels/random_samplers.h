/* The samplers that st_sample chooses from. */
#ifndef SHIMTORCH_RANDOM_SAMPLERS_H
#define SHIMTORCH_RANDOM_SAMPLERS_H

#include "random_fill.h"

int st_sample_permutation(st_rng *rng, const st_request *r, int style);
int st_sample_poisson(st_rng *rng, const st_request *r, int style);
int st_sample_gamma(st_rng *rng, const st_request *r, int style);
int st_sample_dirichlet(st_rng *rng, const st_request *r, int style);
int st_sample_binomial(st_rng *rng, const st_request *r, int style);
int st_sample_multinomial(st_rng *rng, const st_request *r, int style);
int st_sample_gamma_grad(st_rng *rng, const st_request *r, int style);
int st_sample_dirichlet_grad(st_rng *rng, const st_request *r, int style);

/* element i as a float64 */
static inline f64 st_load(const char *p, int dtype, ptrdiff_t i) {
    f64 x;
    st_convert(dtype, p + i * st_itemsize(dtype), 0, ST_FLOAT64, &x, 0, 1);
    return x;
}

static inline void st_store(char *p, int dtype, ptrdiff_t i, f64 x) {
    st_convert(ST_FLOAT64, &x, 0, dtype, p + i * st_itemsize(dtype), 0, 1);
}

#endif
