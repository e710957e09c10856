# The kernels of kernels.h, linked once here, for every other compiled module.
from .conv cimport st_conv_kernels
from .kernels cimport (
    ST_NEST_DIMS, ST_NEST_FACTORS, ST_NO_MEMORY, ST_NOT_IMPLEMENTED, ST_SMALL_DEPTH, ST_ZERO_DIVISION, st_bounds,
    st_factor, st_index_out, st_loop, st_nest_dim, st_nest_fn, st_reduce, st_rows, st_small_fn,
)
from .norm cimport st_norm_kernels
from .parallel cimport st_body
from .pool cimport st_pool_kernels

# body(context, begin, end) for pieces of 0 ... n, at least grain long, on several threads: see parallel.h
cdef void st_parallel(Py_ssize_t n, Py_ssize_t grain, st_body body, void* context) noexcept nogil

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
cdef const st_pool_kernels* st_find_pool(int dtype) noexcept nogil
cdef const st_norm_kernels* st_find_norm(int dtype) noexcept nogil
cdef st_nest_fn st_find_nest(int dtype) noexcept nogil
cdef st_small_fn st_find_small(int dtype) noexcept nogil
