# The kernels of kernels.h, linked once here, for every other compiled module.
from .conv cimport st_conv_kernels
from .kernels cimport (
    ST_NEST_DIMS, ST_NEST_FACTORS, ST_NO_MEMORY, ST_NOT_IMPLEMENTED, ST_SMALL_DEPTH, ST_ZERO_DIVISION, st_bounds,
    st_factor, st_index_out, st_loop, st_nest_dim, st_nest_fn, st_reduce, st_rows, st_small_fn,
)
from .norm cimport st_norm_kernels
from .optimise cimport st_step_fn
from .parallel cimport st_body
from .pool cimport st_pool_kernels
from .shared cimport ST_LOOP_DIMS, ST_SHARED_FROM
from .steps cimport st_steps_kernels

# body(context, begin, end) for pieces of 0 ... n, at least grain long, on several threads: see parallel.h
cdef void st_parallel(Py_ssize_t n, Py_ssize_t grain, st_body body, void* context) noexcept nogil

# Kernels over many elements, on several threads where it pays: see shared.h
cdef int st_shared_loop(
    st_loop loop, int operands, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides,
    char** ptrs, const void* param,
) noexcept nogil
cdef int st_shared_flat(
    st_loop loop, int operands, Py_ssize_t n, const Py_ssize_t* strides, char** ptrs, const void* param,
) noexcept nogil
cdef void st_shared_reduce(
    st_reduce kernel, int dtype, char* out, Py_ssize_t s_out, const char* a, Py_ssize_t n_red, Py_ssize_t s_red,
    int n_kept, const Py_ssize_t* kept, const Py_ssize_t* kept_strides, const void* param, char* index,
) noexcept nogil
cdef int st_any_order(st_reduce kernel, int dtype) noexcept nogil
cdef st_reduce st_combining(st_reduce kernel, int dtype) noexcept nogil
cdef int st_shared_rows(
    st_rows kernel, int operands, char** ptrs, const Py_ssize_t* row_strides, const Py_ssize_t* col_strides,
    Py_ssize_t n_outer, Py_ssize_t outer_step, Py_ssize_t n_rows, Py_ssize_t n_cols,
) noexcept nogil
cdef void st_shared_copy(void* to, const void* from_, size_t bytes) noexcept nogil
cdef void st_shared_copy_rows(
    char* to, Py_ssize_t to_step, const char* from_, Py_ssize_t from_step, Py_ssize_t n, size_t bytes,
) noexcept nogil
cdef void st_shared_zero(void* to, size_t bytes) noexcept nogil

cdef int st_op(const char* name) noexcept nogil
cdef st_loop st_find(int op, int dtype) noexcept nogil
cdef st_loop st_cast(int from_, int to) noexcept nogil
cdef int st_reduce_op(const char* name) noexcept nogil
cdef st_reduce st_find_reduce(int op, int dtype) noexcept nogil
cdef int st_reduce_dtype(int op, int dtype) noexcept nogil
cdef int st_rows_op(const char* name) noexcept nogil
cdef st_rows st_find_rows(int op, int dtype) noexcept nogil
cdef int st_gemm(
    int dtype, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k,
    const char* a, Py_ssize_t sa_row, Py_ssize_t sa_col,
    const char* b, Py_ssize_t sb_row, Py_ssize_t sb_col,
    char* c_, Py_ssize_t sc_row, Py_ssize_t sc_col,
) noexcept nogil
cdef const st_conv_kernels* st_find_conv(int dtype) noexcept nogil
cdef const st_steps_kernels* st_find_steps(int dtype) noexcept nogil
cdef const st_pool_kernels* st_find_pool(int dtype) noexcept nogil
cdef const st_norm_kernels* st_find_norm(int dtype) noexcept nogil
cdef st_step_fn st_find_step(int optimiser, int dtype) noexcept nogil
cdef st_nest_fn st_find_nest(int dtype) noexcept nogil
cdef st_small_fn st_find_small(int dtype) noexcept nogil
