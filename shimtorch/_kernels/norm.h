/* Normalisation, forward and backward. All arrays are contiguous; weight and bias may be NULL. */
#ifndef SHIMTORCH_KERNELS_NORM_H
#define SHIMTORCH_KERNELS_NORM_H

#include <stddef.h>

/* rows of n elements, each normalised on its own. Element i of row r has the weight `i / run + r % groups * (n / run)`:
 * run 1 and groups 1 for one weight an element, run L and groups G for one a channel of length L. */
typedef struct {
    ptrdiff_t rows, n, run, groups;
} st_norm_rows;

/* an array (outer, channels, inner), every channel normalised on its own */
typedef struct {
    ptrdiff_t outer, channels, inner;
} st_norm_channels;

typedef struct {
    /* mean and 1 / standard deviation of every row, and the result */
    void (*rows)(const st_norm_rows *s, double eps, const void *x, const void *weight, const void *bias, void *mean,
                 void *scale, void *out);
    /* dx, and sums added to dweight and dbias; each may be NULL */
    void (*rows_backward)(const st_norm_rows *s, const void *g, const void *x, const void *weight, const void *mean,
                          const void *scale, void *dx, void *dweight, void *dbias);
    /* mean and mean square distance from it of every channel */
    void (*moments)(const st_norm_channels *s, const void *x, void *mean, void *var);
    /* out = x * factor + summand, one of each a channel */
    void (*affine)(const st_norm_channels *s, const void *x, const void *factor, const void *summand, void *out);
    /* sums over a channel of g and of g * (x - mean) */
    void (*sums)(const st_norm_channels *s, const void *g, const void *x, const void *mean, void *sum_g, void *sum_gx);
    /* out = g * a + x * b + c, one of each a channel */
    void (*blend)(const st_norm_channels *s, const void *g, const void *x, const void *a, const void *b, const void *c,
                  void *out);
} st_norm_kernels;

const st_norm_kernels *st_find_norm(int dtype); /* float and double; NULL for others */

#endif
