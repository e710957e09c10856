# The entry points of the kernels: see kernels/kernels.h.
from libc.stdint cimport int64_t, uint64_t

from .cudart cimport cudaError_t, cudaStream_t

cdef extern from "kernels.h" nogil:
    enum:
        SHIM_DIMS
        SHIM_OPERANDS
    ctypedef struct shim_nest:
        int64_t count
        int ndim
        int by_value
        int64_t shape[12]
        int64_t strides[4][12]
        char* at[4]
        double values[4][2]
    ctypedef struct shim_params:
        double d[5]
    ctypedef struct shim_reduction:
        int64_t n_kept
        int64_t n_reduced
        int kept_ndim
        int reduced_ndim
        int64_t kept_shape[12]
        int64_t kept_strides[12]
        int64_t reduced_shape[12]
        int64_t reduced_strides[12]
        const char* from_ "from"
        char* out
        int64_t* index
        double param
    int shim_has_loop(int op, int dtype)
    cudaError_t shim_loop(int op, int dtype, const shim_nest* nest, const shim_params* params, cudaStream_t stream)
    cudaError_t shim_cast(int from_, int to, const shim_nest* nest, cudaStream_t stream)
    int shim_has_reduction(int op, int dtype)
    cudaError_t shim_reduce(int op, int dtype, const shim_reduction* r, cudaStream_t stream)
    enum:
        SHIM_INDICES
        SHIM_TAKE
        SHIM_PUT
        SHIM_ADD
        SHIM_MULTIPLY
        SHIM_GREATEST
        SHIM_LEAST
        SHIM_UNIFORM
        SHIM_NORMAL
        SHIM_BERNOULLI
        SHIM_EXPONENTIAL
        SHIM_CAUCHY
        SHIM_LOG_NORMAL
        SHIM_GEOMETRIC
    ctypedef struct shim_lookup:
        int64_t count
        int ndim
        int n_indices
        int wraps
        int64_t shape[12]
        int64_t value_strides[12]
        int64_t source_strides[12]
        int64_t index_strides[6][12]
        const int64_t* indices[6]
        int64_t sizes[6]
        int64_t steps[6]
        char* value
        char* source
        int64_t* failure
    cudaError_t shim_look_up(int mode, int dtype, const shim_lookup* u, cudaStream_t stream)
    cudaError_t shim_scan(int op, int dtype, const void* from_, void* to, int64_t rows, int64_t n, int64_t inner,
                          cudaStream_t stream)
    cudaError_t shim_compact(const void* flags, const int64_t* sums, int64_t* out, int64_t n, cudaStream_t stream)
    cudaError_t shim_draw(int kind, int dtype, void* out, int64_t n, uint64_t seed, uint64_t offset, double a, double b,
                          int grid, cudaStream_t stream)
