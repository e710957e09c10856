"""Pooling on raw memory; see pool.h."""
from libc.stdint cimport int64_t

cdef extern from "pool.h" nogil:
    ctypedef struct st_windows:
        Py_ssize_t planes
        Py_ssize_t size[3]
        Py_ssize_t out[3]
        Py_ssize_t step[3]
        const Py_ssize_t *start[3]
        const Py_ssize_t *stop[3]
        const Py_ssize_t *count[3]
        Py_ssize_t divisor
        Py_ssize_t stride
        Py_ssize_t taps
        Py_ssize_t inner[2]

    ctypedef struct st_pool_kernels:
        void (*largest)(const st_windows *w, const void *source, void *out, int64_t *at) noexcept nogil
        void (*mean)(const st_windows *w, const void *source, void *out) noexcept nogil
        void (*spread_mean)(const st_windows *w, const void *grad, void *out) noexcept nogil

    const st_pool_kernels *st_find_pool(int dtype) noexcept
