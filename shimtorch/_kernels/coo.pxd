"""Coordinate lists against dense memory: checking, scattering, gathering, finding what is not zero."""

from libc.stdint cimport int64_t

from shimtorch._kernels.sparsetypes cimport IndexSet

cdef Py_ssize_t first_outside(const IndexSet* entries, const int64_t* sizes) noexcept nogil
cdef void scatter_add(const IndexSet* entries, int dtype, const void* values, Py_ssize_t width, void* out,
                      const int64_t* steps) noexcept nogil
cdef void gather(const IndexSet* entries, const char* dense, const int64_t* steps, Py_ssize_t block,
                 char* out) noexcept nogil
cdef void spread(const IndexSet* entries, const char* values, Py_ssize_t block, char* out, Py_ssize_t size,
                 const int64_t* steps) noexcept nogil
cdef Py_ssize_t shares_of(Py_ssize_t cells) noexcept nogil
cdef Py_ssize_t count_nonzero(int dtype, const void* dense, Py_ssize_t cells, Py_ssize_t width,
                              int64_t* counts) noexcept nogil
cdef void take_nonzero(int dtype, const void* dense, Py_ssize_t cells, Py_ssize_t width, int64_t* counts,
                       int64_t* numbers, void* values) noexcept nogil
