"""Matrix products by the BLAS that NumPy uses: found once in the process, called without the GIL.

Where none is found, or ``SHIMTORCH_BLAS=none`` is set, `blas_serves` says no, and the kernels of this library do it.
"""
from .kernels cimport ST_COMPLEX128, ST_FLOAT32

cdef extern from "blas.h" nogil:
    int ST_NO_TRANS, ST_TRANS
    int st_blas_load()
    void st_blas_gemm(int which, int add, int ta, int tb, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k, const void* a,
                      Py_ssize_t lda, const void* b, Py_ssize_t ldb, void* c, Py_ssize_t ldc)
    void st_blas_gemv(int which, int add, int ta, Py_ssize_t m, Py_ssize_t n, const void* a, Py_ssize_t lda,
                      const void* x, Py_ssize_t sx, void* y, Py_ssize_t sy)

cdef int found = -1                    # whether there is one; -1: not looked for yet


cdef bint blas_serves(int dtype) noexcept nogil:
    """Whether products of a dtype can be had."""
    global found
    if found < 0:
        found = st_blas_load()
    return found and ST_FLOAT32 <= dtype <= ST_COMPLEX128


cdef bint blas_lies(Py_ssize_t rows, Py_ssize_t cols, Py_ssize_t s_row, Py_ssize_t s_col) noexcept nogil:
    """Whether a BLAS can read a matrix: its rows or its columns are contiguous, and do not overlap."""
    return ((s_col == 1 or cols == 1) and (s_row >= cols or rows == 1)) or (
        (s_row == 1 or rows == 1) and (s_col >= rows or cols == 1))


cdef void blas_product(
    int dtype, bint add, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k,
    const char* a, Py_ssize_t a_row, Py_ssize_t a_col,
    const char* b, Py_ssize_t b_row, Py_ssize_t b_col, char* c, Py_ssize_t c_row,
) noexcept nogil:
    """c = a @ b, or c += a @ b, for matrices that `blas_lies` of; the rows of c are contiguous."""
    cdef int which = dtype - ST_FLOAT32, ta = ST_NO_TRANS, tb = ST_NO_TRANS
    cdef Py_ssize_t lda = a_row, ldb = b_row
    cdef bint a_rows = (a_col == 1 or k == 1) and (a_row >= k or m == 1)
    cdef bint b_rows = (b_col == 1 or n == 1) and (b_row >= n or k == 1)
    if not a_rows:
        ta, lda = ST_TRANS, a_col
    if not b_rows:
        tb, ldb = ST_TRANS, b_col
    lda = max(lda, k if a_rows else m)
    ldb = max(ldb, n if b_rows else k)
    if n == 1 and b_row > 0:
        if a_rows:
            st_blas_gemv(which, add, ST_NO_TRANS, m, k, a, lda, b, b_row, c, c_row if c_row > 0 else 1)
        else:
            st_blas_gemv(which, add, ST_TRANS, k, m, a, lda, b, b_row, c, c_row if c_row > 0 else 1)
    elif m == 1 and a_col > 0:
        if b_rows:
            st_blas_gemv(which, add, ST_TRANS, k, n, b, ldb, a, a_col, c, 1)
        else:
            st_blas_gemv(which, add, ST_NO_TRANS, n, k, b, ldb, a, a_col, c, 1)
    else:
        st_blas_gemm(which, add, ta, tb, m, n, k, a, lda, b, ldb, c, max(c_row, n))
