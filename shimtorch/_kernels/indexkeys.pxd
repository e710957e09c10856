"""Coordinates of sparse entries packed into 64-bit keys that compare as the coordinates do."""

from libc.stdint cimport int64_t, uint64_t

from shimtorch._kernels.sparsetypes cimport IndexSet

cdef enum KeyOrder:
    UNSORTED
    SORTED              # ascending, with repeats
    DISTINCT            # ascending, without

cdef int key_bits(const int64_t* sizes, int dims, int* bits) noexcept nogil
cdef KeyOrder pack_keys(const IndexSet* entries, int first, int last, const int* bits, const int64_t* order,
                        uint64_t* keys) noexcept nogil
cdef void unpack_keys(const uint64_t* keys, const int64_t* places, Py_ssize_t n, const int* bits, int dims,
                      int64_t* out) noexcept nogil
