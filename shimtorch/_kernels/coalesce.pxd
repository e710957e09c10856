"""Sparse entries grouped by equal coordinates, and their sums."""

cimport numpy as cnp
from libc.stdint cimport int64_t, uint64_t

from shimtorch._kernels.sparsetypes cimport MAX_DIMS, IndexSet

ctypedef struct Groups:
    Py_ssize_t nnz          # entries
    Py_ssize_t count        # groups
    int dims
    int[MAX_DIMS] bits      # of each dimension in a key
    bint wide               # coordinates did not fit in 64 bits: keys is NULL
    uint64_t* keys          # packed coordinates of the groups, ascending
    int64_t* order          # entries in order of their group, and as given within it; NULL: as given already
    int64_t* starts         # count + 1 places in `order`; NULL: every group is one entry

cdef int group_entries(const IndexSet* entries, const int64_t* sizes, Groups* out) noexcept nogil
cdef void group_indices(const Groups* groups, const IndexSet* entries, int64_t* out) noexcept nogil
cdef void group_sums(const Groups* groups, int dtype, const void* values, Py_ssize_t width, void* out) noexcept nogil
cdef void free_groups(Groups* groups) noexcept nogil


cdef class Grouping:
    cdef Groups groups
    cdef IndexSet entries
    cdef cnp.ndarray held           # keeps the memory of `entries`
    cdef readonly Py_ssize_t count
    cdef readonly bint distinct
