/* The kernels of kernels.h over many elements, shared among threads where these are enough to pay for it.
 *
 * How the work is cut depends on the sizes alone, never on the number of threads, and so do the results. */
#ifndef SHIMTORCH_KERNELS_SHARED_H
#define SHIMTORCH_KERNELS_SHARED_H

#include "kernels.h"

enum {
    ST_LOOP_DIMS = 64,
    ST_LOOP_OPERANDS = 5,
    ST_GRAIN = 1 << 15,             /* elements of a cheap op that are worth a thread */
    ST_SHARED_FROM = 2 * ST_GRAIN   /* fewer elements are never shared */
};

/* loop at every place of shape, whose innermost dimension comes first. strides[k * ST_LOOP_DIMS + i] is operand k's in
 * dimension i. Returns the statuses of all loops, or-ed. */
int st_shared_loop(st_loop loop, int operands, int ndim, const ptrdiff_t *shape, const ptrdiff_t *strides,
                   char *const *ptrs, const void *param);

/* The same for n elements in a row: strides[k] is operand k's. */
int st_shared_flat(st_loop loop, int operands, ptrdiff_t n, const ptrdiff_t *strides, char *const *ptrs,
                   const void *param);

/* Reduces n_red elements of a, s_red apart, at every place of `kept` (innermost first), to out, which is contiguous.
 * `dtype` is a's. The indices of kernels that give some go to index, contiguous too; else it is NULL. */
void st_shared_reduce(st_reduce kernel, int dtype, char *out, ptrdiff_t s_out, const char *a, ptrdiff_t n_red,
                      ptrdiff_t s_red, int n_kept, const ptrdiff_t *kept, const ptrdiff_t *kept_strides,
                      const void *param, char *index);

/* Whether kernel's result does not depend on the order of the elements; and the kernel that makes one of the results of
 * several parts, which have the result's dtype: NULL if there is none. */
int st_any_order(st_reduce kernel, int dtype);
st_reduce st_combining(st_reduce kernel, int dtype);

/* kernel over n_rows rows at each of n_outer places, outer_step bytes apart in every operand */
int st_shared_rows(st_rows kernel, int operands, char *const *ptrs, const ptrdiff_t *row_strides,
                   const ptrdiff_t *col_strides, ptrdiff_t n_outer, ptrdiff_t outer_step, ptrdiff_t n_rows,
                   ptrdiff_t n_cols);

void st_shared_copy(void *to, const void *from, size_t bytes); /* they do not overlap */
/* n rows of so many bytes, from_step and to_step apart */
void st_shared_copy_rows(char *to, ptrdiff_t to_step, const char *from, ptrdiff_t from_step, ptrdiff_t n, size_t bytes);
void st_shared_zero(void *to, size_t bytes);

#endif
