"""Stable sort of 64-bit keys, carrying the position each key came from."""

from libc.stdint cimport int64_t, uint64_t


cdef int sort_keys(uint64_t* keys, int64_t* positions, Py_ssize_t n, int low, int high) noexcept nogil
