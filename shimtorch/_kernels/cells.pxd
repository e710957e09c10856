"""Sums of sparse entries with one accumulator for each possible coordinate."""

from libc.stdint cimport int64_t

from shimtorch._kernels.sparsetypes cimport IndexSet

cdef enum:
    MOST_WIDTH = 4          # reals of an entry that are summed in cells

cdef Py_ssize_t count_cells(const IndexSet* entries, const int64_t* sizes) noexcept nogil
cdef void cell_indices(const int64_t* cells, Py_ssize_t n, int dims, const int64_t* sizes, int64_t* out) noexcept nogil
cdef Py_ssize_t sum_cells(const IndexSet* entries, const int64_t* sizes, int dtype, const void* values,
                          Py_ssize_t width, int64_t* out_indices, void* out_values) noexcept nogil
