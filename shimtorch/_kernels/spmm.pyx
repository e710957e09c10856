"""Products of a sparse matrix with dense ones: sparse @ dense by rows or by entries; dense @ dense sampled at entries.

Dense matrices are row-major: their columns are neighbours, their rows `step` elements apart. Indices lie within the
matrices. Sums run in the elements' own type; the entries of a row in the order in which they stand.
"""

cimport numpy as cnp
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t

from shimtorch._kernels.kernels cimport (
    ST_COMPLEX64, ST_COMPLEX128, ST_FLOAT32, ST_FLOAT64, ST_INT8, ST_INT16, ST_INT32, ST_INT64, ST_UINT8,
)
from shimtorch._kernels.sparsetypes cimport dtype_code, int64_data, number_t

cnp.import_array()

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define st_prefetch(p) __builtin_prefetch(p)
    #else
    #define st_prefetch(p) ((void)0)
    #endif
    """
    void prefetch "st_prefetch"(const void*) noexcept nogil

cdef fused column_t:
    int32_t
    int64_t

cdef enum:
    WIDE = 64               # columns summed in registers and the first-level cache
    NARROW = 16             # columns summed in registers
    AHEAD = 12              # entries ahead whose dense row is asked for
    LINE = 64               # bytes in a cache line


cdef inline void _csr_block(const int64_t* pointer, const int64_t* columns, const number_t* values, Py_ssize_t n_rows,
                            const number_t* dense, Py_ssize_t dense_step, Py_ssize_t lanes, number_t alpha, bint add,
                            number_t* out, Py_ssize_t out_step) noexcept nogil:
    """out = or += alpha * sparse @ dense for `lanes` columns; inlined with the number of lanes known."""
    cdef number_t[WIDE] sums
    cdef number_t value
    cdef const number_t* row
    cdef Py_ssize_t r, x, k, last = pointer[n_rows] - 1
    for r in range(n_rows):
        if add and pointer[r] == pointer[r + 1]:
            continue
        for k in range(lanes):
            sums[k] = 0
        for x in range(pointer[r], pointer[r + 1]):
            row = dense + columns[x + AHEAD if x + AHEAD < last else last] * dense_step
            k = 0
            while k * <Py_ssize_t>sizeof(number_t) < lanes * <Py_ssize_t>sizeof(number_t):
                prefetch(row + k)
                k += LINE // <Py_ssize_t>sizeof(number_t)
            value = values[x]
            row = dense + columns[x] * dense_step
            for k in range(lanes):
                sums[k] += value * row[k]
        if add:
            for k in range(lanes):
                out[r * out_step + k] += alpha * sums[k]
        else:
            for k in range(lanes):
                out[r * out_step + k] = alpha * sums[k]


cdef inline void _vector(const int64_t* pointer, const column_t* columns, const number_t* values, Py_ssize_t n_rows,
                         const number_t* dense, Py_ssize_t dense_step, number_t alpha, bint add, number_t* out,
                         Py_ssize_t out_step) noexcept nogil:
    cdef Py_ssize_t r, x
    cdef number_t total
    for r in range(n_rows):
        total = 0
        for x in range(pointer[r], pointer[r + 1]):
            total += values[x] * dense[columns[x] * dense_step]
        out[r * out_step] = out[r * out_step] + alpha * total if add else alpha * total


cdef void _csr_vector(const int64_t* pointer, const int32_t* columns, const number_t* values, Py_ssize_t n_rows,
                      const number_t* dense, Py_ssize_t dense_step, const number_t* alpha, bint add, number_t* out,
                      Py_ssize_t out_step) noexcept nogil:
    cdef number_t factor = 1
    if alpha != NULL:
        factor = alpha[0]
    if dense_step == 1 and out_step == 1:
        _vector(pointer, columns, values, n_rows, dense, 1, factor, add, out, 1)
    else:
        _vector(pointer, columns, values, n_rows, dense, dense_step, factor, add, out, out_step)


cdef void _csr_matmul(const int64_t* pointer, const int64_t* columns, const number_t* values, Py_ssize_t n_rows,
                      const number_t* dense, Py_ssize_t dense_step, Py_ssize_t width, const number_t* alpha, bint add,
                      number_t* out, Py_ssize_t out_step) noexcept nogil:
    cdef Py_ssize_t column = 0
    cdef number_t factor = 1
    if alpha != NULL:
        factor = alpha[0]
    if width == 1:
        _vector(pointer, columns, values, n_rows, dense, dense_step, factor, add, out, out_step)
        return
    while column + WIDE <= width:
        _csr_block(pointer, columns, values, n_rows, dense + column, dense_step, WIDE, factor, add, out + column,
                   out_step)
        column += WIDE
    while column + NARROW <= width:
        _csr_block(pointer, columns, values, n_rows, dense + column, dense_step, NARROW, factor, add,
                   out + column, out_step)
        column += NARROW
    if column < width:
        _csr_block(pointer, columns, values, n_rows, dense + column, dense_step, width - column, factor, add,
                   out + column, out_step)


cdef void _coo_matmul(const int64_t* rows, const int64_t* columns, const number_t* values, Py_ssize_t nnz,
                      const number_t* dense, Py_ssize_t dense_step, Py_ssize_t width, const number_t* alpha,
                      number_t* out, Py_ssize_t out_step) noexcept nogil:
    cdef Py_ssize_t x, k
    cdef number_t value, factor = 1
    cdef const number_t* row
    cdef number_t* target
    if alpha != NULL:
        factor = alpha[0]
    if width == 1:
        for x in range(nnz):
            out[rows[x] * out_step] += factor * values[x] * dense[columns[x] * dense_step]
        return
    for x in range(nnz):
        value = factor * values[x]
        row = dense + columns[x] * dense_step
        target = out + rows[x] * out_step
        for k in range(width):
            target[k] += value * row[k]


cdef void _sampled_matmul(const int64_t* rows, const int64_t* columns, Py_ssize_t nnz, const number_t* left,
                          Py_ssize_t left_step, const number_t* right, Py_ssize_t right_step, Py_ssize_t width,
                          number_t* out) noexcept nogil:
    cdef Py_ssize_t x, k, lane
    cdef number_t total
    cdef number_t[NARROW] sums
    cdef const number_t* a
    cdef const number_t* b
    for x in range(nnz):
        a = left + rows[x] * left_step
        b = right + columns[x] * right_step
        total = 0
        k = 0
        if width >= NARROW:
            for lane in range(NARROW):
                sums[lane] = 0
            while k + NARROW <= width:
                for lane in range(NARROW):
                    sums[lane] += a[k + lane] * b[k + lane]
                k += NARROW
            for lane in range(NARROW):
                total += sums[lane]
        while k < width:
            total += a[k] * b[k]
            k += 1
        out[x] = total


# ---------------------------------------------------------------- dispatch over dtypes

ctypedef void (*csr_t)(const int64_t*, const int64_t*, const void*, Py_ssize_t, const void*, Py_ssize_t,
                       Py_ssize_t, const void*, bint, void*, Py_ssize_t) noexcept nogil
ctypedef void (*coo_t)(const int64_t*, const int64_t*, const void*, Py_ssize_t, const void*, Py_ssize_t,
                       Py_ssize_t, const void*, void*, Py_ssize_t) noexcept nogil
ctypedef void (*sampled_t)(const int64_t*, const int64_t*, Py_ssize_t, const void*, Py_ssize_t, const void*,
                           Py_ssize_t, Py_ssize_t, void*) noexcept nogil

ctypedef void (*vector_t)(const int64_t*, const int32_t*, const void*, Py_ssize_t, const void*, Py_ssize_t,
                          const void*, bint, void*, Py_ssize_t) noexcept nogil

ctypedef struct Kernels:
    csr_t csr
    vector_t vector
    coo_t coo
    sampled_t sampled

cdef Kernels[ST_COMPLEX128 + 1] _kernels


cdef void _bind(int dtype, number_t* tag):
    _kernels[dtype].csr = <csr_t>_csr_matmul[number_t]
    _kernels[dtype].vector = <vector_t>_csr_vector[number_t]
    _kernels[dtype].coo = <coo_t>_coo_matmul[number_t]
    _kernels[dtype].sampled = <sampled_t>_sampled_matmul[number_t]


_bind(ST_UINT8, <uint8_t*>NULL)
_bind(ST_INT8, <int8_t*>NULL)
_bind(ST_INT16, <int16_t*>NULL)
_bind(ST_INT32, <int32_t*>NULL)
_bind(ST_INT64, <int64_t*>NULL)
_bind(ST_FLOAT32, <float*>NULL)
_bind(ST_FLOAT64, <double*>NULL)
_bind(ST_COMPLEX64, <float complex*>NULL)
_bind(ST_COMPLEX128, <double complex*>NULL)


cdef bint has_products(int dtype) noexcept nogil:
    """Whether the products below take the dtype."""
    return 0 <= dtype <= ST_COMPLEX128 and _kernels[dtype].csr != NULL


cdef void csr_matmul(int dtype, const int64_t* pointer, const int64_t* columns, const void* values, Py_ssize_t n_rows,
                     const void* dense, Py_ssize_t dense_step, Py_ssize_t width, const void* alpha, bint add, void* out,
                     Py_ssize_t out_step) noexcept nogil:
    """out = alpha * sparse @ dense, or += with `add`; alpha is one element, or NULL for 1."""
    _kernels[dtype].csr(pointer, columns, values, n_rows, dense, dense_step, width, alpha, add, out, out_step)


cdef void csr_vector(int dtype, const int64_t* pointer, const int32_t* columns, const void* values, Py_ssize_t n_rows,
                     const void* dense, Py_ssize_t dense_step, const void* alpha, bint add, void* out,
                     Py_ssize_t out_step) noexcept nogil:
    """`csr_matmul` with one column, the sparse matrix's columns as numbers of 32 bits."""
    _kernels[dtype].vector(pointer, columns, values, n_rows, dense, dense_step, alpha, add, out, out_step)


cdef void coo_matmul(int dtype, const int64_t* rows, const int64_t* columns, const void* values, Py_ssize_t nnz,
                     const void* dense, Py_ssize_t dense_step, Py_ssize_t width, const void* alpha, void* out,
                     Py_ssize_t out_step) noexcept nogil:
    """out += alpha * sparse @ dense, entry by entry in any order; with rows and columns swapped, the transpose's."""
    _kernels[dtype].coo(rows, columns, values, nnz, dense, dense_step, width, alpha, out, out_step)


cdef void sampled_matmul(int dtype, const int64_t* rows, const int64_t* columns, Py_ssize_t nnz, const void* left,
                         Py_ssize_t left_step, const void* right, Py_ssize_t right_step, Py_ssize_t width,
                         void* out) noexcept nogil:
    """out[x] = left[rows[x], :] . right[columns[x], :], both `width` wide: left @ right.T at the entries."""
    _kernels[dtype].sampled(rows, columns, nnz, left, left_step, right, right_step, width, out)


# ---------------------------------------------------------------- NumPy interface

cdef Py_ssize_t _row_step(cnp.ndarray a) except -1:
    """Elements from row to row of a matrix whose columns are neighbours."""
    cdef Py_ssize_t itemsize = cnp.PyArray_ITEMSIZE(a)
    if cnp.PyArray_NDIM(a) != 2 or not cnp.PyArray_ISBEHAVED_RO(a):
        raise TypeError("expected an aligned matrix of native byte order")
    if cnp.PyArray_DIM(a, 1) > 1 and cnp.PyArray_STRIDE(a, 1) != itemsize:
        raise TypeError("the columns of a dense matrix must be contiguous")
    if cnp.PyArray_STRIDE(a, 0) % itemsize or (cnp.PyArray_STRIDE(a, 0) < 0):
        raise TypeError("the row stride of a dense matrix must be a multiple of its element, and not negative")
    return cnp.PyArray_STRIDE(a, 0) // itemsize


cdef int _same_type(cnp.ndarray a, cnp.ndarray b) except -1:
    if cnp.PyArray_TYPE(a) != cnp.PyArray_TYPE(b):
        raise TypeError(f"product of {a.dtype} and {b.dtype}")
    if not has_products(dtype_code(a)):
        raise TypeError(f"no sparse product for {a.dtype}")
    return 0


cdef int _check(cnp.ndarray values, Py_ssize_t nnz, cnp.ndarray dense, cnp.ndarray out) except -1:
    _same_type(values, dense)
    _same_type(values, out)
    if not cnp.PyArray_ISCARRAY_RO(values) or cnp.PyArray_NDIM(values) != 1 or cnp.PyArray_DIM(values, 0) != nnz:
        raise ValueError(f"expected {nnz} contiguous values")
    if not cnp.PyArray_ISWRITEABLE(out):
        raise ValueError("the output is read-only")
    if cnp.PyArray_DIM(dense, 1) != cnp.PyArray_DIM(out, 1):            # both are matrices: _row_step saw them
        raise ValueError("dense and out must be matrices of as many columns")
    return 0


cdef cnp.ndarray _scalar(alpha, cnp.ndarray like):
    cdef cnp.npy_intp[1] shape
    shape[0] = 1
    cdef cnp.ndarray out = cnp.PyArray_EMPTY(1, shape, cnp.PyArray_TYPE(like), 0)
    out[0] = alpha
    return out


def matmul_csr(cnp.ndarray pointer not None, cnp.ndarray columns not None, cnp.ndarray values not None,
               cnp.ndarray dense not None, cnp.ndarray out not None, alpha=1):
    """out += alpha * sparse @ dense; sparse is (n, m) in compressed rows, dense (m, p), out (n, p).

    The pointer (n + 1,) and the columns (nnz,) must describe such a matrix.
    """
    cdef Py_ssize_t n_rows = cnp.PyArray_SIZE(pointer) - 1, nnz = cnp.PyArray_SIZE(columns)
    cdef Py_ssize_t dense_step = _row_step(dense), out_step = _row_step(out), width
    cdef const int64_t* p = int64_data(pointer)
    cdef const int64_t* c = int64_data(columns)
    _check(values, nnz, dense, out)
    if n_rows != cnp.PyArray_DIM(out, 0) or p[n_rows] != nnz:
        raise ValueError(f"expected a pointer to {cnp.PyArray_DIM(out, 0)} rows of {nnz} entries")
    cdef int dtype = dtype_code(values)
    cdef cnp.ndarray factor = _scalar(alpha, values)
    cdef const void* a = cnp.PyArray_DATA(factor)
    cdef const void* v = cnp.PyArray_DATA(values)
    cdef const void* d = cnp.PyArray_DATA(dense)
    cdef void* o = cnp.PyArray_DATA(out)
    width = cnp.PyArray_DIM(dense, 1)
    if width and nnz:
        with nogil:
            csr_matmul(dtype, p, c, v, n_rows, d, dense_step, width, a, True, o, out_step)


def matmul_coo(cnp.ndarray rows not None, cnp.ndarray columns not None, cnp.ndarray values not None,
               cnp.ndarray dense not None, cnp.ndarray out not None, alpha=1):
    """out += alpha * sparse @ dense; sparse is (n, m) with entries in any order, dense (m, p), out (n, p).

    rows and columns (nnz,) must lie within; swapped, the product is that of the transpose.
    """
    cdef Py_ssize_t nnz = cnp.PyArray_SIZE(columns)
    cdef Py_ssize_t dense_step = _row_step(dense), out_step = _row_step(out), width
    cdef const int64_t* r = int64_data(rows)
    cdef const int64_t* c = int64_data(columns)
    _check(values, nnz, dense, out)
    if cnp.PyArray_SIZE(rows) != nnz:
        raise ValueError(f"{cnp.PyArray_SIZE(rows)} rows for {nnz} columns")
    cdef int dtype = dtype_code(values)
    cdef cnp.ndarray factor = _scalar(alpha, values)
    cdef const void* a = cnp.PyArray_DATA(factor)
    cdef const void* v = cnp.PyArray_DATA(values)
    cdef const void* d = cnp.PyArray_DATA(dense)
    cdef void* o = cnp.PyArray_DATA(out)
    width = cnp.PyArray_DIM(dense, 1)
    if width and nnz:
        with nogil:
            coo_matmul(dtype, r, c, v, nnz, d, dense_step, width, a, o, out_step)


def matmul_sampled(cnp.ndarray rows not None, cnp.ndarray columns not None, cnp.ndarray left not None,
                   cnp.ndarray right not None):
    """(left @ right.T)[rows, columns] as (nnz,) values; left is (n, p), right (m, p), and the indices lie within."""
    cdef Py_ssize_t nnz = cnp.PyArray_SIZE(columns), width
    cdef Py_ssize_t left_step = _row_step(left), right_step = _row_step(right)
    cdef const int64_t* r = int64_data(rows)
    cdef const int64_t* c = int64_data(columns)
    cdef cnp.npy_intp[1] shape
    _same_type(left, right)
    if cnp.PyArray_SIZE(rows) != nnz:
        raise ValueError(f"{cnp.PyArray_SIZE(rows)} rows for {nnz} columns")
    if cnp.PyArray_DIM(left, 1) != cnp.PyArray_DIM(right, 1):
        raise ValueError("left and right must be matrices of as many columns")
    shape[0] = nnz
    cdef cnp.ndarray out = cnp.PyArray_EMPTY(1, shape, cnp.PyArray_TYPE(left), 0)
    cdef int dtype = dtype_code(left)
    cdef const void* a = cnp.PyArray_DATA(left)
    cdef const void* b = cnp.PyArray_DATA(right)
    cdef void* o = cnp.PyArray_DATA(out)
    width = cnp.PyArray_DIM(left, 1)
    with nogil:
        sampled_matmul(dtype, r, c, nnz, a, left_step, b, right_step, width, o)
    return out
