"""Compressed rows: building, selecting."""

from libc.stdint cimport int64_t

cdef void compress(const int64_t* rows, Py_ssize_t nnz, Py_ssize_t n_rows, int64_t* pointer) noexcept nogil
cdef Py_ssize_t line_of(const int64_t* pointer, Py_ssize_t n_rows, Py_ssize_t entry) noexcept nogil
cdef void expand(const int64_t* pointer, Py_ssize_t n_rows, int64_t* rows) noexcept nogil
cdef void take_rows(const int64_t* pointer, Py_ssize_t nnz, const int64_t* columns, const char* values,
                    Py_ssize_t size, const int64_t* chosen, Py_ssize_t n, const int64_t* out_pointer,
                    int64_t* out_rows, int64_t* out_columns, char* out_values) noexcept nogil
cdef void take_entries(const char* source, Py_ssize_t step, Py_ssize_t size, const int64_t* places, Py_ssize_t n,
                       char* out) noexcept nogil
