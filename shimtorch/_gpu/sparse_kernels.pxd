# The entry points of the kernels for sparse tensors: see kernels/sparse.h.
from libc.stdint cimport int64_t, uint64_t

from .cudart cimport cudaError_t, cudaStream_t

cdef extern from "sparse.h" nogil:
    enum:
        SHIM_SPARSE_DIMS
        SHIM_SEGMENT_SUM
        SHIM_SEGMENT_PROD
        SHIM_SEGMENT_MAX
        SHIM_SEGMENT_MIN
    ctypedef struct shim_entries:
        const int64_t* data
        int64_t nnz
        int64_t dim_step
        int64_t entry_step
        int dims
    ctypedef struct shim_number:
        double re
        double im
        int64_t whole
    ctypedef struct shim_product:
        const int64_t* pointer
        const int64_t* columns
        const int64_t* order
        const void* values
        const void* other
        void* out
        int64_t n_rows
        int64_t width
        int64_t other_step
        int64_t out_step
        shim_number alpha
        shim_number beta
        int conjugate
    int64_t shim_prefix_space(int64_t n)
    int64_t shim_sort_keys_space(int64_t n)
    cudaError_t shim_prefix(const int64_t* in_, int64_t* out, int64_t n, int exclusive, void* space,
                            cudaStream_t stream)
    cudaError_t shim_pack(const shim_entries* e, int first, int last, const int* bits, const int64_t* order,
                          uint64_t* keys, cudaStream_t stream)
    int shim_sort_keys_turns(int bits)
    cudaError_t shim_sort_keys(uint64_t* keys, int64_t* order, uint64_t* other_keys, int64_t* other_order, int64_t n,
                               int bits, int fresh, void* space, cudaStream_t stream)
    cudaError_t shim_heads(const shim_entries* e, const int64_t* order, int64_t* heads, cudaStream_t stream)
    cudaError_t shim_starts(const int64_t* sums, int64_t n, int64_t count, int64_t* starts, cudaStream_t stream)
    cudaError_t shim_inverse(const int64_t* sums, const int64_t* order, int64_t n, int64_t* inverse,
                             cudaStream_t stream)
    cudaError_t shim_outside(const shim_entries* e, const int64_t* sizes, uint64_t* found, cudaStream_t stream)
    cudaError_t shim_cells(const shim_entries* e, const int64_t* steps, int64_t* out, cudaStream_t stream)
    cudaError_t shim_coordinates(const int64_t* cells, int64_t n, int dims, const int64_t* sizes, int64_t* out,
                                 cudaStream_t stream)
    cudaError_t shim_row_pointer(const int64_t* rows, int64_t step, int64_t nnz, int64_t n_rows, int64_t* pointer,
                                 cudaStream_t stream)
    cudaError_t shim_row_numbers(const int64_t* pointer, int64_t n_rows, int64_t nnz, int64_t* rows,
                                 cudaStream_t stream)
    cudaError_t shim_take_blocks(const void* from_, const int64_t* numbers, int64_t n, int64_t bytes, int unit,
                                 void* to, cudaStream_t stream)
    cudaError_t shim_put_blocks(const void* from_, const int64_t* numbers, int64_t n, int64_t bytes, int unit, void* to,
                                cudaStream_t stream)
    cudaError_t shim_row_counts(const int64_t* pointer, const int64_t* chosen, int64_t n, int64_t* counts,
                                cudaStream_t stream)
    cudaError_t shim_row_entries(const int64_t* pointer, const int64_t* chosen, const int64_t* starts, int64_t n,
                                 int64_t total, int64_t* entries, int64_t* numbers, cudaStream_t stream)
    cudaError_t shim_segments(int how, int dtype, const void* values, int64_t width, const int64_t* order,
                              const int64_t* starts, int64_t count, int64_t n, void* out, cudaStream_t stream)
    cudaError_t shim_multiply(int dtype, const shim_product* p, cudaStream_t stream)
    cudaError_t shim_sample_product(int dtype, const int64_t* rows, const int64_t* columns, int64_t n, const void* a,
                                    int64_t a_step, const void* b, int64_t b_step, int64_t width, void* out,
                                    cudaStream_t stream)
    cudaError_t shim_pair_products(int dtype, const void* a, const int64_t* left, const void* b, const int64_t* right,
                                   int64_t n, void* out, cudaStream_t stream)
