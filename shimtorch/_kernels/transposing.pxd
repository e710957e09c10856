"""Transposes: entries sorted by their other coordinate, by counting."""

from libc.stdint cimport int64_t

cdef int transpose(const int64_t* pointer, const int64_t* columns, Py_ssize_t n_rows, Py_ssize_t n_columns,
                   int64_t* out_pointer, int64_t* out_columns, int64_t* order) noexcept nogil
cdef bint lies_crosswise(const int64_t* rows, const int64_t* columns, Py_ssize_t nnz) noexcept nogil
cdef int turn(const int64_t* rows, const int64_t* columns, const char* values, Py_ssize_t size, Py_ssize_t nnz,
              Py_ssize_t n_rows, Py_ssize_t n_columns, int64_t* pointer, int64_t* out_columns,
              char* out_values) noexcept nogil
