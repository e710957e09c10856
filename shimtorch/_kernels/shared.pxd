# The declarations of shared.h; other modules take these functions from table.pxd.
from .kernels cimport st_loop, st_reduce, st_rows

cdef extern from "shared.h" nogil:
    cdef enum:
        ST_LOOP_DIMS
        ST_SHARED_FROM

    int st_shared_loop(
        st_loop loop, int operands, int ndim, const Py_ssize_t *shape, const Py_ssize_t *strides,
        char **ptrs, const void *param,
    ) noexcept
    int st_shared_flat(
        st_loop loop, int operands, Py_ssize_t n, const Py_ssize_t *strides, char **ptrs, const void *param,
    ) noexcept
    void st_shared_reduce(
        st_reduce kernel, int dtype, char *out, Py_ssize_t s_out, const char *a, Py_ssize_t n_red, Py_ssize_t s_red,
        int n_kept, const Py_ssize_t *kept, const Py_ssize_t *kept_strides, const void *param, char *index,
    ) noexcept
    int st_any_order(st_reduce kernel, int dtype) noexcept
    st_reduce st_combining(st_reduce kernel, int dtype) noexcept
    int st_shared_rows(
        st_rows kernel, int operands, char **ptrs, const Py_ssize_t *row_strides, const Py_ssize_t *col_strides,
        Py_ssize_t n_outer, Py_ssize_t outer_step, Py_ssize_t n_rows, Py_ssize_t n_cols,
    ) noexcept
    void st_shared_copy(void *to, const void *from_, size_t bytes) noexcept
    void st_shared_copy_rows(
        char *to, Py_ssize_t to_step, const char *from_, Py_ssize_t from_step, Py_ssize_t n, size_t bytes,
    ) noexcept
    void st_shared_zero(void *to, size_t bytes) noexcept
