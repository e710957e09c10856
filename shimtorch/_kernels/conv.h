/* Convolutions of one to three dimensions: what the drivers tell the kernels. All tensors are contiguous, and sizes count
 * elements; with fewer than three dimensions the first ones are 1.
 *
 * A convolution relates a big map (batch, groups * big_channels, *big) and a small one (batch, groups * small_channels,
 * *small): small position s sees big position s * stride + k * dilation - before through tap k of the weight
 * (groups * small_channels, big_channels, *kernel). */
#ifndef SHIMTORCH_KERNELS_CONV_H
#define SHIMTORCH_KERNELS_CONV_H

#include <stddef.h>

typedef struct {
    ptrdiff_t batch, groups, small_channels, big_channels; /* channels of one group */
    ptrdiff_t small[3], big[3], kernel[3], stride[3], dilation[3], before[3];
} st_conv_shape;

/* small = big seen through weight (+ bias): the forward pass of conv, the backward pass of conv_transpose */
#define ST_CONV_GATHER 0
/* big = small spread through weight (+ bias): the forward pass of conv_transpose, the backward pass of conv */
#define ST_CONV_SPREAD 1
/* weight = the products of small and big summed up: the gradient of the weight in both */
#define ST_CONV_WEIGHT 2

/* a, b: big and weight; small and weight; small and big. bias may be NULL. work: as many bytes as `work` says. */
typedef void (*st_conv_fn)(int what, const st_conv_shape *shape, const void *a, const void *b, const void *bias,
                           void *out, void *work);
typedef size_t (*st_conv_work_fn)(int what, const st_conv_shape *shape);

typedef struct {
    st_conv_fn run;
    st_conv_work_fn work;
} st_conv_kernels;

const st_conv_kernels *st_find_conv(int dtype); /* NULL for what is neither float nor double */

#endif
