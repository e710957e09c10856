"""C kernels of kernels.h: loops on raw memory, chosen by op name and dtype code; strides are in bytes."""

from libc.stdint cimport int64_t

cdef extern from "kernels.h" nogil:
    cdef enum st_dtype:
        ST_BOOL
        ST_UINT8
        ST_INT8
        ST_INT16
        ST_INT32
        ST_INT64
        ST_FLOAT16
        ST_BFLOAT16
        ST_FLOAT32
        ST_FLOAT64
        ST_COMPLEX64
        ST_COMPLEX128
        ST_UINT16
        ST_UINT32
        ST_UINT64
        ST_NDTYPES

    cdef enum st_status:
        ST_OK
        ST_ZERO_DIVISION
        ST_NO_MEMORY
        ST_NOT_IMPLEMENTED

    ctypedef int (*st_loop)(char **ptrs, const Py_ssize_t *strides, Py_ssize_t n, const void *param) noexcept nogil
    ctypedef void (*st_reduce)(
        char *out, const char *a, Py_ssize_t n_red, Py_ssize_t s_red,
        Py_ssize_t n_out, Py_ssize_t s_in, Py_ssize_t s_out, const void *param,
    ) noexcept nogil
    ctypedef int (*st_rows)(
        char **ptrs, const Py_ssize_t *row_strides, const Py_ssize_t *col_strides,
        Py_ssize_t n_rows, Py_ssize_t n_cols,
    ) noexcept nogil

    ctypedef struct st_factor:
        double re
        double im
        int64_t i

    ctypedef struct st_bounds:
        double lo
        double hi
        int64_t ilo
        int64_t ihi
        int has_lo
        int has_hi

    ctypedef struct st_index_out:
        char *idx
        Py_ssize_t s_idx

    int st_op(const char *name) noexcept
    const char *st_op_name(int op) noexcept
    st_loop st_find(int op, int dtype) noexcept
    st_loop st_cast(int from_, int to) noexcept
    int st_reduce_op(const char *name) noexcept
    st_reduce st_find_reduce(int op, int dtype) noexcept
    int st_reduce_dtype(int op, int dtype) noexcept
    int st_rows_op(const char *name) noexcept
    st_rows st_find_rows(int op, int dtype) noexcept
    int st_gemm(
        int dtype, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k,
        const char *a, Py_ssize_t sa_row, Py_ssize_t sa_col,
        const char *b, Py_ssize_t sb_row, Py_ssize_t sb_col,
        char *c, Py_ssize_t sc_row, Py_ssize_t sc_col,
    ) noexcept
    cdef enum:
        ST_NEST_DIMS
        ST_NEST_FACTORS
        ST_SMALL_DEPTH

    ctypedef struct st_nest_dim:
        Py_ssize_t size
        Py_ssize_t strides[9]

    ctypedef int (*st_nest_fn)(int factors, int ndim, const st_nest_dim *dims, char **operands) noexcept nogil
    ctypedef void (*st_small_fn)(
        int add, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k, const char *a, const Py_ssize_t *sa,
        const char *b, const Py_ssize_t *sb, char *c, Py_ssize_t sc, int ndim, const st_nest_dim *loops,
    ) noexcept nogil

    st_nest_fn st_find_nest(int dtype) noexcept
    st_small_fn st_find_small(int dtype) noexcept
    const char *st_isa() noexcept
