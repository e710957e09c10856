# The entry points of the kernels of layers, sorting, filling and optimisers: see kernels/dense.h.
from libc.stdint cimport int32_t, int64_t, uint64_t

from .._kernels.optimise cimport st_step
from .cudart cimport cudaError_t, cudaStream_t

cdef extern from "../../_kernels/kernels.h":    # the CPU's, which _device.pxd speaks of
    pass

cdef extern from "dense.h" nogil:
    ctypedef struct shim_windows:
        int64_t planes
        int64_t size[3]
        int64_t out[3]
        int64_t kernel[3]
        int64_t stride[3]
        int64_t before[3]
        int64_t dilation[3]
    cudaError_t shim_unfold(int dtype, const void* maps, void* columns, const shim_windows* w, int64_t channels,
                            int64_t tap_step, int64_t example_step, cudaStream_t stream)
    cudaError_t shim_fold(int dtype, const void* columns, void* maps, const shim_windows* w, int64_t channels,
                          int64_t tap_step, int64_t example_step, cudaStream_t stream)
    ctypedef struct shim_pool:
        shim_windows w
        int even
        int count_padding
        int64_t divisor
    cudaError_t shim_pool_max(int dtype, const void* maps, void* out, int64_t* places, const shim_pool* p,
                              cudaStream_t stream)
    cudaError_t shim_pool_mean(int dtype, const void* maps, void* out, const shim_pool* p, cudaStream_t stream)
    cudaError_t shim_pool_spread(int dtype, const void* grads, void* maps, const shim_pool* p, cudaStream_t stream)
    ctypedef struct shim_rows:
        int64_t rows
        int64_t n
        int64_t run
        int64_t groups
    cudaError_t shim_normalise_rows(int dtype, const shim_rows* r, double eps, const void* x, const void* weight,
                                    const void* bias, void* mean, void* scale, void* out, cudaStream_t stream)
    cudaError_t shim_normalise_rows_backward(int dtype, const shim_rows* r, const void* g, const void* x,
                                             const void* weight, const void* mean, const void* scale, void* dx,
                                             cudaStream_t stream)
    cudaError_t shim_sort(int dtype, const void* from_, void* values, int64_t* indices, int64_t n_rows, int64_t n,
                          int64_t padded, int descending, uint64_t* keys, int64_t* places, cudaStream_t stream)
    cudaError_t shim_search(int dtype, const void* sorted, const void* values, int64_t* out, int64_t rows, int64_t n,
                            int64_t n_values, int one_row, int right, cudaStream_t stream)
    cudaError_t shim_running(int dtype, int largest, const void* from_, void* to, int64_t* places, int64_t rows,
                             int64_t n, int64_t inner, cudaStream_t stream)
    cudaError_t shim_range_whole(int dtype, void* out, int64_t n, int64_t first, int64_t step, cudaStream_t stream)
    cudaError_t shim_range(int dtype, void* out, int64_t n, double first, double step, cudaStream_t stream)
    cudaError_t shim_linspace(int dtype, void* out, int64_t n, double first, double last, cudaStream_t stream)
    cudaError_t shim_draw_whole(int dtype, void* out, int64_t n, uint64_t seed, uint64_t offset, int64_t base,
                                uint64_t range, int wide, int grid, cudaStream_t stream)
    enum:
        SHIM_POISSON
        SHIM_GAMMA
        SHIM_BINOMIAL
    cudaError_t shim_sample(int kind, int dtype, void* out, const void* a, const void* b, int64_t n, uint64_t seed,
                            uint64_t offset, cudaStream_t stream)
    enum:
        SHIM_STEPS
    cudaError_t shim_take_steps(int optimiser, int dtype, const st_step* s, int count, cudaStream_t stream)
    enum:
        SHIM_LSTM
        SHIM_GRU
    ctypedef struct shim_cell:
        int64_t n
        int64_t size
        const void* gates
        const void* share
        const void* bias
        const void* before
        void* active
        void* after
        void* extra
        void* out
    ctypedef struct shim_cell_back:
        int64_t n
        int64_t size
        const void* active
        const void* before
        const void* extra
        const void* dh
        void* dc
        void* da
        void* dshare
    cudaError_t shim_cell_step(int kind, int dtype, const shim_cell* c, cudaStream_t stream)
    cudaError_t shim_cell_step_back(int kind, int dtype, const shim_cell_back* c, cudaStream_t stream)
    cudaError_t shim_lu(int dtype, void* a, int32_t* pivots, int32_t* infos, int64_t batch, int64_t m, int64_t n,
                        cudaStream_t stream)
    cudaError_t shim_cholesky(int dtype, void* a, int32_t* infos, int64_t batch, int64_t n, cudaStream_t stream)
    cudaError_t shim_solve_triangle(int dtype, const void* a, void* b, int64_t batch, int64_t n, int64_t k, int upper,
                                    int unit, cudaStream_t stream)
    cudaError_t shim_order_of(const int32_t* pivots, int64_t* order, int64_t* signs, int64_t batch, int64_t k,
                              int64_t m, cudaStream_t stream)
    cudaError_t shim_reflectors(int dtype, void* a, void* taus, int64_t batch, int64_t m, int64_t n,
                                cudaStream_t stream)
    cudaError_t shim_reflect(int dtype, const void* a, const void* taus, void* columns, int64_t batch, int64_t m,
                             int64_t n, int64_t k, int64_t p, int adjoint, cudaStream_t stream)
    cudaError_t shim_orthogonalise(int dtype, void* a, void* bases, int32_t* infos, int64_t batch, int64_t m, int64_t n,
                                   double least, cudaStream_t stream)
    enum:
        SHIM_ERFINV
        SHIM_DIGAMMA
        SHIM_POLYGAMMA
        SHIM_ZETA
        SHIM_I0
        SHIM_I0E
        SHIM_I1
        SHIM_I1E
    cudaError_t shim_special(int function, int dtype, const void* x, const void* y, double number, void* out, int64_t n,
                             cudaStream_t stream)
