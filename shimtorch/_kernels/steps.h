/* Products of many thin matrices, one after another, with the same matrix b (k, m), which is packed once: a recurrent
 * network's steps. All matrices are contiguous, but b before it is packed. */
#ifndef SHIMTORCH_KERNELS_STEPS_H
#define SHIMTORCH_KERNELS_STEPS_H

#include <stddef.h>

typedef struct {
    size_t (*size)(ptrdiff_t k, ptrdiff_t m); /* bytes of b packed */
    void (*pack)(ptrdiff_t k, ptrdiff_t m, const void *b, ptrdiff_t row, ptrdiff_t column, void *packed); /* strides */
    void (*run)(ptrdiff_t n, ptrdiff_t k, ptrdiff_t m, const void *a, const void *packed, void *c); /* c = a @ b */
} st_steps_kernels;

const st_steps_kernels *st_find_steps(int dtype); /* NULL for what is neither float nor double */

#endif
