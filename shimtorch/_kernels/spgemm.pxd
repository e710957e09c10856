"""Product of two sparse matrices in compressed rows."""

from libc.stdint cimport int32_t, int64_t

cdef struct Product

cdef Product* begin_product(int dtype, const int64_t* a_pointer, const int64_t* a_columns, const void* a_values,
                            Py_ssize_t n_rows, const int64_t* b_pointer, const int32_t* b_columns,
                            const void* b_values, Py_ssize_t n_columns, int64_t* pointer) noexcept nogil
cdef int end_product(Product* p, int64_t* columns, void* values) noexcept nogil
cdef void drop_product(Product* p) noexcept nogil
cdef int32_t* narrowed(const int64_t* numbers, Py_ssize_t n) noexcept nogil
