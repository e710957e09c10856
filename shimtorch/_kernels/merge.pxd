"""Two ascending key lists merged: union with summed values, and intersection."""

from libc.stdint cimport int64_t, uint8_t, uint64_t

from shimtorch._kernels.sparsetypes cimport IndexSet

cdef enum:
    TOGETHER = 4            # pieces of a merge that go side by side
    MOST_LANES = 256

ctypedef struct Keys:
    # key x is high[x*step] << shift | low[x*step]
    const uint64_t* high
    const uint64_t* low
    int shift
    Py_ssize_t step
    Py_ssize_t n

ctypedef struct Lane:
    # a piece of a merge: i0..i_end of one list, j0..j_end of the other, and how far it has come
    Py_ssize_t i0, i, i_end
    Py_ssize_t j0, j, j_end
    Py_ssize_t start, n     # its results, where they were put down
    Py_ssize_t out          # its first place in the whole result

cdef struct Merge
ctypedef void (*merge_kernel)(const Merge*, const Lane*, const void*) noexcept nogil

cdef struct Merge:
    Keys a
    Keys b
    uint8_t* origins        # of a union: which list has each key, or both
    int64_t* in_a           # of what is common: places in both lists
    int64_t* in_b
    Lane[MOST_LANES] lanes
    Py_ssize_t n_lanes
    Py_ssize_t count
    const IndexSet* a_entries
    const IndexSet* b_entries
    int64_t* indices
    const void* a_values
    const void* b_values
    void* values
    Py_ssize_t width
    merge_kernel kernel     # the values
    merge_kernel both       # coordinates and values, in two dimensions and of one real number

cdef void merge_source(const IndexSet* entries, const int* bits, uint64_t* packed, Keys* keys) noexcept nogil
cdef void split_merge(const Keys* a, const Keys* b, uint8_t* origins, Merge* merge) noexcept nogil
cdef Py_ssize_t merge_keys(Merge* merge) noexcept nogil
cdef Py_ssize_t common_keys(Merge* merge, int64_t* in_a, int64_t* in_b) noexcept nogil
cdef void fill_merge(Merge* merge, Py_ssize_t n, const IndexSet* a, const IndexSet* b, int64_t* indices, int dtype,
                     const void* a_values, const void* b_values, Py_ssize_t width, void* values) noexcept nogil
