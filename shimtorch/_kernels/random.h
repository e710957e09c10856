/* Random numbers as PyTorch draws them on the CPU, public C interface.
 *
 * Everything is serial: the numbers never depend on threads or on the instruction set. Strides are in elements. */
#ifndef SHIMTORCH_RANDOM_H
#define SHIMTORCH_RANDOM_H

#include "kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ST_MT_WORDS = 624, ST_RNG_BYTES = 5056, ST_RNG_BYTES_1_1 = 5048 };

/* A Mersenne Twister (MT19937) and the one double normal that may be left over from the last pair. */
typedef struct {
    uint32_t word[ST_MT_WORDS];
    int left, next; /* 1 and 0 when fresh; 625-k and k after k draws from the present words */
    int has_normal;
    double normal;
    uint64_t seed;
} st_rng;

/* How older versions drew; 0 is PyTorch 2.13. */
enum st_style {
    ST_DRAW_1_X = 1,     /* 1.x: log(1-u), not log1p(-u); ranges take 64 bits from 2^32, not 2^28, on; short halves */
    ST_DRAW_PLAIN = 2,   /* 1.1 and older, with 1_X: unfused arithmetic, the old geometric and multinomial */
    ST_DRAW_LOGICAL = 4, /* 1.1 and older: strided destinations are filled in index order */
    ST_DRAW_MCG31 = 8    /* 1.x on Intel processors: bernoulli(p) by MKL's congruential generator */
};

enum st_draw_status {
    ST_DRAW_OK = 0,
    ST_DRAW_NO_DTYPE = 1,   /* the distribution is not defined for this dtype */
    ST_DRAW_BAD_VALUE = 2,  /* an element of a parameter tensor is out of range */
    ST_DRAW_NO_MEMORY = 3,
    ST_DRAW_NEGATIVE = 4,   /* multinomial: a weight below zero, */
    ST_DRAW_NOT_FINITE = 5, /* one that is infinite or NaN, */
    ST_DRAW_ZERO_SUM = 6    /* a row without positive weight */
};

/* A strided block of elements. */
typedef struct {
    char *data;
    int dtype, ndim;
    const ptrdiff_t *shape, *strides;
} st_strided;

/* Before anything else: the conversion loops and the instruction set of kernels.h, which another library may hold. */
void st_random_setup(st_loop (*cast)(int from, int to), const char *isa);

/* ---- the generator ---- */

void st_rng_seed(st_rng *rng, uint64_t seed);
void st_rng_save(const st_rng *rng, unsigned char bytes[ST_RNG_BYTES]);
/* n is ST_RNG_BYTES or ST_RNG_BYTES_1_1; returns 0, or -1 (rng unchanged) where the bytes are no state */
int st_rng_load(st_rng *rng, const unsigned char *bytes, size_t n);
uint32_t st_rng_u32(st_rng *rng);
uint64_t st_rng_u64(st_rng *rng);

/* ---- one distribution over a strided block, in the order in which PyTorch walks it ---- */

enum st_distribution {
    ST_DRAW_UNIFORM,       /* from a to b */
    ST_DRAW_NORMAL,        /* mean a, standard deviation b */
    ST_DRAW_EXPONENTIAL,   /* rate a */
    ST_DRAW_CAUCHY,        /* median a, scale b */
    ST_DRAW_LOG_NORMAL,    /* mean a and standard deviation b of the logarithm */
    ST_DRAW_GEOMETRIC,     /* probability a */
    ST_DRAW_BERNOULLI,     /* b with probability a, else 0 */
    ST_DRAW_BERNOULLI_EACH,/* probabilities `each`, of the shape of the block */
    ST_DRAW_RANGE,         /* base + word % range, wrapping at 64 bits; with range 0 the bare word */
    ST_DRAW_WHOLE          /* all whole numbers of the dtype from 0 on */
};

typedef struct {
    double a, b;
    int64_t base;
    uint64_t range;
    const st_strided *each;
} st_draw_params;

int st_draw(st_rng *rng, int distribution, const st_strided *out, const st_draw_params *params, int style);

/* ---- samplers on contiguous memory ---- */

enum st_sampler {
    ST_SAMPLE_PERMUTATION, /* 0 .. n-1 in random order */
    ST_SAMPLE_POISSON,     /* rates a */
    ST_SAMPLE_GAMMA,       /* shapes a, scale 1 */
    ST_SAMPLE_DIRICHLET,   /* rows of concentrations a */
    ST_SAMPLE_BINOMIAL,    /* numbers of trials a, probabilities b */
    ST_SAMPLE_MULTINOMIAL, /* n_samples indices (int64) for each row of weights a */
    /* nothing is drawn: derivatives of */
    ST_SAMPLE_GAMMA_GRAD,    /* gamma numbers b by their shapes a */
    ST_SAMPLE_DIRICHLET_GRAD /* Dirichlet numbers a by their concentrations, over 1-a; b: concentration, total, ... */
};

/* rows * n parameters and results of one dtype, where the sampler does not say otherwise */
typedef struct {
    char *out;
    const char *a, *b;
    int dtype, replacement;
    ptrdiff_t n_rows, n, n_samples;
} st_request;

int st_sample(st_rng *rng, int sampler, const st_request *request, int style);

#ifdef __cplusplus
}
#endif
#endif
