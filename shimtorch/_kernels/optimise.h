/* Steps of optimisers, one pass over a parameter. The elements' arithmetic is in optimise_body.h, for the CPU and for
 * devices alike. */
#ifndef SHIMTORCH_KERNELS_OPTIMISE_H
#define SHIMTORCH_KERNELS_OPTIMISE_H

#include <stddef.h>

/* The optimisers; what their state and numbers are is said in optimise_body.h. */
enum {
    ST_SGD, ST_ADAM, ST_ADADELTA, ST_RMSPROP, ST_ADAGRAD, ST_ADAMAX, ST_NADAM, ST_RADAM, ST_ASGD, ST_RPROP,
    ST_N_OPTIMISERS
};
enum { ST_STEP_STATES = 3, ST_STEP_NUMBERS = 9 };

/* A step of a parameter of n elements. All arrays have its type; they may be the same, or do not overlap. */
typedef struct {
    void *p;
    const void *g;
    void *state[ST_STEP_STATES]; /* NULL: not kept */
    double numbers[ST_STEP_NUMBERS];
    ptrdiff_t n;
    int fresh; /* the state was not there before, and its memory holds nothing */
} st_step;

typedef void (*st_step_fn)(const st_step *s, ptrdiff_t begin, ptrdiff_t end);

st_step_fn st_find_step(int optimiser, int dtype); /* NULL for what is neither float nor double */

#endif
