"""Two ascending key lists merged: union with summed values, and intersection."""

from libc.stdint cimport int64_t, uint8_t, uint64_t

from shimtorch._kernels.sparsetypes cimport IndexSet

ctypedef struct Keys:
    # key x is high[x*step] << shift | low[x*step]
    const uint64_t* high
    const uint64_t* low
    int shift
    Py_ssize_t step
    Py_ssize_t n

cdef void merge_source(const IndexSet* entries, const int* bits, uint64_t* packed, Keys* keys) noexcept nogil
cdef Py_ssize_t merge_keys(const Keys* a, const Keys* b, uint8_t* origins) noexcept nogil
cdef Py_ssize_t common_keys(const Keys* a, const Keys* b, int64_t* in_a, int64_t* in_b) noexcept nogil
cdef void merge_coordinates(const uint8_t* origins, Py_ssize_t n, const IndexSet* a, const IndexSet* b,
                            int64_t* out) noexcept nogil
cdef void merge_values(int dtype, const uint8_t* origins, Py_ssize_t n, const void* a, Py_ssize_t na, const void* b,
                       Py_ssize_t nb, Py_ssize_t width, void* out) noexcept nogil
