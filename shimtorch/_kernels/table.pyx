"""The C kernels, linked into one module; others reach them through its C functions."""
from . cimport conv
from . cimport kernels as c
from . cimport norm
from . cimport optimise
from . cimport parallel
from . cimport pool
from . cimport shared
from . cimport steps


def set_threads(int n):
    """Use at most n threads (n >= 1) from now on."""
    parallel.st_set_threads(n)


def threads():
    """At most how many threads are used."""
    return parallel.st_threads()


def threaded():
    """Whether the kernels were built with threads; if not they use one."""
    return bool(parallel.st_threaded())


cdef void st_parallel(Py_ssize_t n, Py_ssize_t grain, st_body body, void* context) noexcept nogil:
    parallel.st_parallel(n, grain, body, context)


cdef int st_shared_loop(
    st_loop loop, int operands, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides,
    char** ptrs, const void* param,
) noexcept nogil:
    return shared.st_shared_loop(loop, operands, ndim, shape, strides, ptrs, param)


cdef int st_shared_flat(
    st_loop loop, int operands, Py_ssize_t n, const Py_ssize_t* strides, char** ptrs, const void* param,
) noexcept nogil:
    return shared.st_shared_flat(loop, operands, n, strides, ptrs, param)


cdef void st_shared_reduce(
    st_reduce kernel, int dtype, char* out, Py_ssize_t s_out, const char* a, Py_ssize_t n_red, Py_ssize_t s_red,
    int n_kept, const Py_ssize_t* kept, const Py_ssize_t* kept_strides, const void* param, char* index,
) noexcept nogil:
    shared.st_shared_reduce(kernel, dtype, out, s_out, a, n_red, s_red, n_kept, kept, kept_strides, param, index)


cdef int st_any_order(st_reduce kernel, int dtype) noexcept nogil:
    return shared.st_any_order(kernel, dtype)


cdef st_reduce st_combining(st_reduce kernel, int dtype) noexcept nogil:
    return shared.st_combining(kernel, dtype)


cdef int st_shared_rows(
    st_rows kernel, int operands, char** ptrs, const Py_ssize_t* row_strides, const Py_ssize_t* col_strides,
    Py_ssize_t n_outer, Py_ssize_t outer_step, Py_ssize_t n_rows, Py_ssize_t n_cols,
) noexcept nogil:
    return shared.st_shared_rows(
        kernel, operands, ptrs, row_strides, col_strides, n_outer, outer_step, n_rows, n_cols,
    )


cdef void st_shared_copy(void* to, const void* from_, size_t bytes) noexcept nogil:
    shared.st_shared_copy(to, from_, bytes)


cdef void st_shared_copy_rows(
    char* to, Py_ssize_t to_step, const char* from_, Py_ssize_t from_step, Py_ssize_t n, size_t bytes,
) noexcept nogil:
    shared.st_shared_copy_rows(to, to_step, from_, from_step, n, bytes)


cdef void st_shared_zero(void* to, size_t bytes) noexcept nogil:
    shared.st_shared_zero(to, bytes)


cdef int st_op(const char* name) noexcept nogil:
    return c.st_op(name)


cdef st_loop st_find(int op, int dtype) noexcept nogil:
    return c.st_find(op, dtype)


cdef st_loop st_cast(int from_, int to) noexcept nogil:
    return c.st_cast(from_, to)


cdef int st_reduce_op(const char* name) noexcept nogil:
    return c.st_reduce_op(name)


cdef st_reduce st_find_reduce(int op, int dtype) noexcept nogil:
    return c.st_find_reduce(op, dtype)


cdef int st_reduce_dtype(int op, int dtype) noexcept nogil:
    return c.st_reduce_dtype(op, dtype)


cdef int st_rows_op(const char* name) noexcept nogil:
    return c.st_rows_op(name)


cdef st_rows st_find_rows(int op, int dtype) noexcept nogil:
    return c.st_find_rows(op, dtype)


cdef int st_gemm(
    int dtype, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k,
    const char* a, Py_ssize_t sa_row, Py_ssize_t sa_col,
    const char* b, Py_ssize_t sb_row, Py_ssize_t sb_col,
    char* c_, Py_ssize_t sc_row, Py_ssize_t sc_col,
) noexcept nogil:
    return c.st_gemm(dtype, m, n, k, a, sa_row, sa_col, b, sb_row, sb_col, c_, sc_row, sc_col)


cdef const st_steps_kernels* st_find_steps(int dtype) noexcept nogil:
    return steps.st_find_steps(dtype)


cdef const st_conv_kernels* st_find_conv(int dtype) noexcept nogil:
    return conv.st_find_conv(dtype)


cdef const st_pool_kernels* st_find_pool(int dtype) noexcept nogil:
    return pool.st_find_pool(dtype)


cdef const st_norm_kernels* st_find_norm(int dtype) noexcept nogil:
    return norm.st_find_norm(dtype)


cdef st_step_fn st_find_step(int optimiser, int dtype) noexcept nogil:
    return optimise.st_find_step(optimiser, dtype)


cdef st_nest_fn st_find_nest(int dtype) noexcept nogil:
    return c.st_find_nest(dtype)


cdef st_small_fn st_find_small(int dtype) noexcept nogil:
    return c.st_find_small(dtype)


def isa():
    """The instruction set whose kernels are in use."""
    return c.st_isa().decode()
