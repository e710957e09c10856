"""Products of a sparse matrix with dense ones."""

from libc.stdint cimport int32_t, int64_t

cdef bint has_products(int dtype) noexcept nogil
cdef int csr_matmul(int dtype, const int64_t* pointer, const int64_t* columns, const void* values, Py_ssize_t n_rows,
                    const void* dense, Py_ssize_t dense_step, Py_ssize_t width, const void* alpha, bint add, void* out,
                    Py_ssize_t out_step) noexcept nogil
cdef int csr_vector(int dtype, const int64_t* pointer, const int32_t* columns, const void* values, Py_ssize_t n_rows,
                    const void* dense, Py_ssize_t dense_step, const void* alpha, bint add, void* out,
                    Py_ssize_t out_step) noexcept nogil
cdef void coo_matmul(int dtype, const int64_t* rows, const int64_t* columns, const void* values, Py_ssize_t nnz,
                     const void* dense, Py_ssize_t dense_step, Py_ssize_t width, const void* alpha, void* out,
                     Py_ssize_t out_step) noexcept nogil
cdef void sampled_matmul(int dtype, const int64_t* rows, const int64_t* columns, Py_ssize_t nnz, const void* left,
                         Py_ssize_t left_step, const void* right, Py_ssize_t right_step, Py_ssize_t width,
                         void* out) noexcept nogil
