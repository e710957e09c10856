"""Normalisation on raw memory; see norm.h."""

cdef extern from "norm.h" nogil:
    ctypedef struct st_norm_rows:
        Py_ssize_t rows
        Py_ssize_t n
        Py_ssize_t run
        Py_ssize_t groups

    ctypedef struct st_norm_channels:
        Py_ssize_t outer
        Py_ssize_t channels
        Py_ssize_t inner

    ctypedef struct st_norm_kernels:
        void (*rows)(const st_norm_rows *s, double eps, const void *x, const void *weight, const void *bias,
                     void *mean, void *scale, void *out) noexcept nogil
        void (*rows_backward)(const st_norm_rows *s, const void *g, const void *x, const void *weight, const void *mean,
                              const void *scale, void *dx, void *dweight, void *dbias) noexcept nogil
        void (*moments)(const st_norm_channels *s, const void *x, void *mean, void *var) noexcept nogil
        void (*affine)(const st_norm_channels *s, const void *x, const void *factor, const void *summand,
                       void *out) noexcept nogil
        void (*sums)(const st_norm_channels *s, const void *g, const void *x, const void *mean, void *sum_g,
                     void *sum_gx) noexcept nogil
        void (*blend)(const st_norm_channels *s, const void *g, const void *x, const void *a, const void *b,
                      const void *c, void *out) noexcept nogil

    const st_norm_kernels *st_find_norm(int dtype) noexcept
