/* Storing a stream of numbers into a strided block, in the order in which PyTorch visits its elements. */
#ifndef SHIMTORCH_RANDOM_WALK_H
#define SHIMTORCH_RANDOM_WALK_H

#include "base.h"
#include "random.h"

enum { WALK_DIMS = 65 }; /* a complex block has one dimension more than its tensor */

typedef struct {
    char *at; /* the next element */
    int dtype, ndim;
    ptrdiff_t size[WALK_DIMS], step[WALK_DIMS], index[WALK_DIMS]; /* innermost dimension first; steps in bytes */
    ptrdiff_t numel;
    int contiguous; /* in index order */
} st_walk;

/* Complex elements are visited as pairs of real ones; the walk then has the real dtype. The order is that of the
 * leader's strides, a block of the same shape, or the index order. */
void st_walk_begin(st_walk *walk, const st_strided *block, const st_strided *leader, int index_order);

/* store the next n elements, converted from a dtype, or load them, converted to one */
void st_walk_store(st_walk *walk, int from, const void *values, ptrdiff_t n);
void st_walk_load(st_walk *walk, int to, void *values, ptrdiff_t n);

/* address of the first element where all that is visited lies side by side, else NULL */
void *st_walk_dense(const st_walk *walk);

ptrdiff_t st_itemsize(int dtype);

/* n elements converted from one dtype to another; strides in bytes */
void st_convert(int from, const void *a, ptrdiff_t stride_a, int to, void *out, ptrdiff_t stride_out, ptrdiff_t n);

#endif
