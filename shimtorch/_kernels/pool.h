/* Maximum and mean over windows of one to three dimensions. All tensors are contiguous; with fewer than three dimensions
 * the first ones are 1. */
#ifndef SHIMTORCH_KERNELS_POOL_H
#define SHIMTORCH_KERNELS_POOL_H

#include <stddef.h>
#include <stdint.h>

/* Window o of dimension d: elements start[d][o], start[d][o] + step[d], ... before stop[d][o]. It divides by count[d][o].
 * Where `stride` is not 0, all windows that lie inside the input have `taps` elements and start `stride` apart in the last
 * dimension: those between `inner[0]` and `inner[1]`. */
typedef struct {
    ptrdiff_t planes, size[3], out[3], step[3];
    const ptrdiff_t *start[3], *stop[3], *count[3];
    ptrdiff_t divisor; /* instead of the counts, unless 0 */
    ptrdiff_t stride, taps, inner[2];
} st_windows;

typedef struct {
    /* the largest element (the first of equals; NaN wins) and, unless at is NULL, its place in the plane */
    void (*largest)(const st_windows *w, const void *in, void *out, int64_t *at);
    void (*mean)(const st_windows *w, const void *in, void *out);
    /* what every element gets of the means' gradients */
    void (*spread_mean)(const st_windows *w, const void *grad, void *out);
} st_pool_kernels;

const st_pool_kernels *st_find_pool(int dtype); /* float, double and int64; NULL for others */

#endif
