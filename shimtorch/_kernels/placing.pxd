"""Writing to named places along one dimension."""

from libc.stdint cimport int64_t

# What the pieces of a loop share; steps are counted in elements.
ctypedef struct Places:
    void* target
    const int64_t* places
    const void* values
    Py_ssize_t size, n, inner
    Py_ssize_t[3] to, at, by           # the steps of target, places and values
    int how
    bint outside                       # a place does not lie in the dimension

cdef bint assign_places(Places* c, Py_ssize_t outer, int itemsize) noexcept
cdef int combine_places(Places* c, Py_ssize_t outer, int code, str how) except -2
