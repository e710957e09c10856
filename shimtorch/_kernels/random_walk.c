/* See random_walk.h. */
#include "random_walk.h"

ptrdiff_t st_itemsize(int dtype) {
    static const ptrdiff_t sizes[ST_NDTYPES] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16, 2, 4, 8};
    return sizes[dtype];
}

static int is_contiguous(const st_strided *block) {
    ptrdiff_t n = 1;
    for (int d = block->ndim - 1; d >= 0; d--) {
        if (block->shape[d] != 1 && block->strides[d] != n) return 0;
        n *= block->shape[d];
    }
    return 1;
}

/* Dimensions of more than one element, innermost first: by stride, or as they are indexed. */
static int sort_dimensions(const st_strided *leader, int index_order, int *dims) {
    int n = 0;
    for (int d = leader->ndim - 1; d >= 0; d--) {
        if (leader->shape[d] == 1) continue;
        int k = n++;
        if (!index_order)
            for (; k > 0; k--) {
                const int inner = dims[k - 1];
                const ptrdiff_t apart = leader->strides[inner] - leader->strides[d];
                if (apart < 0 || (apart == 0 && leader->shape[inner] <= leader->shape[d])) break;
                dims[k] = inner;
            }
        dims[k] = d;
    }
    return n;
}

static void add_dimension(st_walk *walk, ptrdiff_t size, ptrdiff_t step) {
    if (walk->ndim > 0) {
        const int last = walk->ndim - 1;
        if (step == walk->step[last] * walk->size[last]) {
            walk->size[last] *= size;
            return;
        }
    }
    walk->size[walk->ndim] = size;
    walk->step[walk->ndim] = step;
    walk->index[walk->ndim] = 0;
    walk->ndim++;
}

void st_walk_begin(st_walk *walk, const st_strided *block, const st_strided *leader, int index_order) {
    int dims[WALK_DIMS];
    const int n = sort_dimensions(leader, index_order, dims);
    const ptrdiff_t itemsize = st_itemsize(block->dtype);
    walk->at = block->data;
    walk->dtype = block->dtype;
    walk->ndim = 0;
    walk->numel = 1;
    walk->contiguous = is_contiguous(block);
    for (int d = 0; d < block->ndim; d++) walk->numel *= block->shape[d];
    if (block->dtype == ST_COMPLEX64 || block->dtype == ST_COMPLEX128) {
        walk->dtype = block->dtype == ST_COMPLEX64 ? ST_FLOAT32 : ST_FLOAT64;
        walk->numel *= 2;
        add_dimension(walk, 2, itemsize / 2);
    }
    for (int k = 0; k < n; k++) add_dimension(walk, block->shape[dims[k]], block->strides[dims[k]] * itemsize);
    if (walk->ndim == 0) add_dimension(walk, 1, itemsize);
}

/* past m elements of the innermost dimension */
static void advance(st_walk *walk, ptrdiff_t m) {
    walk->at += m * walk->step[0];
    walk->index[0] += m;
    for (int d = 0; walk->index[d] == walk->size[d]; d++) {
        walk->at -= walk->size[d] * walk->step[d];
        walk->index[d] = 0;
        if (d + 1 == walk->ndim) break;
        walk->index[d + 1]++;
        walk->at += walk->step[d + 1];
    }
}

static ptrdiff_t next_run(const st_walk *walk, ptrdiff_t n) {
    const ptrdiff_t run = walk->size[0] - walk->index[0];
    return n < run ? n : run;
}

void st_walk_store(st_walk *walk, int from, const void *values, ptrdiff_t n) {
    const ptrdiff_t itemsize = st_itemsize(from);
    const char *source = values;
    for (ptrdiff_t m; n > 0; n -= m, source += m * itemsize) {
        m = next_run(walk, n);
        st_convert(from, source, itemsize, walk->dtype, walk->at, walk->step[0], m);
        advance(walk, m);
    }
}

void st_walk_load(st_walk *walk, int to, void *values, ptrdiff_t n) {
    const ptrdiff_t itemsize = st_itemsize(to);
    char *target = values;
    for (ptrdiff_t m; n > 0; n -= m, target += m * itemsize) {
        m = next_run(walk, n);
        st_convert(walk->dtype, walk->at, walk->step[0], to, target, itemsize, m);
        advance(walk, m);
    }
}

void *st_walk_dense(const st_walk *walk) {
    return walk->ndim == 1 && (walk->size[0] == 1 || walk->step[0] == st_itemsize(walk->dtype)) ? walk->at : NULL;
}
