"""Matrix products by the BLAS that NumPy uses: strides in elements, any layout that a BLAS can read."""

cdef bint blas_serves(int dtype) noexcept nogil
cdef bint blas_lies(Py_ssize_t rows, Py_ssize_t cols, Py_ssize_t s_row, Py_ssize_t s_col) noexcept nogil
cdef void blas_product(
    int dtype, bint add, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k,
    const char* a, Py_ssize_t a_row, Py_ssize_t a_col,
    const char* b, Py_ssize_t b_row, Py_ssize_t b_col, char* c, Py_ssize_t c_row,
) noexcept nogil
