"""Picking along one dimension of C-contiguous arrays (outer, n, inner)."""

from libc.stdint cimport int64_t

cdef bint gather_places(const void* source, Py_ssize_t size, const int64_t* places, Py_ssize_t outer, Py_ssize_t n,
                        Py_ssize_t inner, void* out, int itemsize) noexcept
cdef void pick_slices(const void* source, Py_ssize_t size, const int64_t* places, Py_ssize_t outer, Py_ssize_t n,
                      Py_ssize_t inner, void* out, int itemsize) noexcept
