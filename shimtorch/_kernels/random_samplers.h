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

#endif
