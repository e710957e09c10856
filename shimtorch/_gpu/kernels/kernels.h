/* The kernels' entry points. Everything runs on the given stream; pointers are the device's unless told otherwise.
 * Ops and dtypes have the codes of _kernels/ops.h and _kernels/kernels.h; strides are in bytes. cudaErrorNotSupported:
 * there is no such kernel. */
#pragma once
#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SHIM_DIMS = 12, SHIM_OPERANDS = 4 };

/* Operands that are read or written together; [0] is the output, the last dimension varies fastest. */
typedef struct {
    int64_t count;
    int ndim;
    int by_value; /* bit k: operand k is the number in values[k] */
    int64_t shape[SHIM_DIMS];
    int64_t strides[SHIM_OPERANDS][SHIM_DIMS];
    char *at[SHIM_OPERANDS];
    double values[SHIM_OPERANDS][2];
} shim_nest;

typedef struct { /* of ops with parameters: the bytes of what _kernels/kernels.h has for them */
    double d[5];
} shim_params;

int shim_has_loop(int op, int dtype);
/* An integer divided by 0 gives 0, and is not reported. */
cudaError_t shim_loop(int op, int dtype, const shim_nest *nest, const shim_params *params, cudaStream_t stream);
cudaError_t shim_cast(int from, int to, const shim_nest *nest, cudaStream_t stream);

/* out[kept] = reduction over the reduced dimensions, in their order; index: where int64 indices go, or NULL */
typedef struct {
    int64_t n_kept, n_reduced;
    int kept_ndim, reduced_ndim;
    int64_t kept_shape[SHIM_DIMS], kept_strides[SHIM_DIMS];
    int64_t reduced_shape[SHIM_DIMS], reduced_strides[SHIM_DIMS];
    const char *from;
    char *out;
    int64_t *index;
    double param;
} shim_reduction;

int shim_has_reduction(int op, int dtype);
cudaError_t shim_reduce(int op, int dtype, const shim_reduction *r, cudaStream_t stream);

enum { SHIM_INDICES = 6, SHIM_TAKE = 0, SHIM_PUT = 1, SHIM_ADD = 2, SHIM_MULTIPLY = 3, SHIM_GREATEST = 4, SHIM_LEAST = 5 };

/* value[i] = source[where the indices say], or the other way, or combined, for every i of the iteration. An index moves the place in
 * source by its steps; negative ones count from the end if it wraps. failure[0]: 1 + the number of an index that lies outside its
 * size, failure[1]: the index. */
typedef struct {
    int64_t count;
    int ndim, n_indices, wraps;
    int64_t shape[SHIM_DIMS], value_strides[SHIM_DIMS], source_strides[SHIM_DIMS];
    int64_t index_strides[SHIM_INDICES][SHIM_DIMS]; /* in elements */
    const int64_t *indices[SHIM_INDICES];
    int64_t sizes[SHIM_INDICES], steps[SHIM_INDICES];
    char *value, *source;
    int64_t *failure;
} shim_lookup;

cudaError_t shim_look_up(int mode, int dtype, const shim_lookup *u, cudaStream_t stream);

/* cumsum and cumprod (codes of rows in _kernels/ops.h) of contiguous elements: see scan.cu */
cudaError_t shim_scan(int op, int dtype, const void *from, void *to, int64_t rows, int64_t n, int64_t inner,
                      cudaStream_t stream);
cudaError_t shim_compact(const void *flags, const int64_t *sums, int64_t *out, int64_t n, cudaStream_t stream);

enum {
    SHIM_UNIFORM = 0,
    SHIM_NORMAL = 1,
    SHIM_BERNOULLI = 2,
    SHIM_EXPONENTIAL = 3,
    SHIM_CAUCHY = 4,
    SHIM_LOG_NORMAL = 5,
    SHIM_GEOMETRIC = 6
};

/* a, b: the bounds; mean and standard deviation; the probability of b, where the others are 0; the rate; median and
 * scale; mean and standard deviation of the logarithm; the probability of success */
cudaError_t shim_draw(int kind, int dtype, void *out, int64_t n, uint64_t seed, uint64_t offset, double a, double b,
                      int grid, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
