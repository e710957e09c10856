"""Products of a sparse matrix with dense ones: sparse @ dense by rows or by entries; dense @ dense sampled at entries.

Dense matrices are row-major: their columns are neighbours, their rows `step` elements apart. Indices lie within the
matrices. Sums run in the elements' own type; the entries of a row in the order in which they stand, those of a long
row in pieces of one length.

Threads share the rows, each as many entries and rows together, and the pieces of long rows: the result does not depend
on how many threads there are.
"""

cimport numpy as cnp
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t

from shimtorch._kernels.kernels cimport (
    ST_COMPLEX64, ST_COMPLEX128, ST_FLOAT32, ST_FLOAT64, ST_INT8, ST_INT16, ST_INT32, ST_INT64, ST_UINT8,
)
from shimtorch._kernels.scratch cimport release, scratch
from shimtorch._kernels.sparsetypes cimport dtype_code, int64_data, number_t
from shimtorch._kernels.table cimport st_parallel

from shimtorch._kernels.table import isa

cnp.import_array()

cdef extern from "rowdots.h" nogil:
    ctypedef void (*st_row_dots)(const int64_t*, const int32_t*, const void*, Py_ssize_t, Py_ssize_t, Py_ssize_t,
                                 const void*, void*)
    st_row_dots st_find_row_dots(const char*, int)

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
    LONG = 1 << 15          # entries of a row above which threads share it
    GRAIN = 1 << 18         # products that are worth a thread


cdef struct Product
ctypedef void (*part_kernel)(const Product*, const void*, Py_ssize_t, Py_ssize_t) noexcept nogil
ctypedef void (*add_partial_t)(const Product*, const void*, Py_ssize_t, Py_ssize_t) noexcept nogil

cdef struct Product:
    # out = or (add) += alpha * sparse @ dense; the sparse matrix by rows (pointer) or by entries (rows).
    const int64_t* pointer
    const int64_t* rows
    const void* columns             # int64, or int32 for a product with a vector
    const void* values
    Py_ssize_t n_rows
    Py_ssize_t nnz
    const void* dense
    Py_ssize_t dense_step
    Py_ssize_t width
    const void* alpha               # one element, or NULL for 1
    bint add
    void* out
    Py_ssize_t out_step
    part_kernel kernel
    st_row_dots dots                # what the kernel calls, in a product with a contiguous vector
    Py_ssize_t start                # of the long row being summed: its first entry, its end, the sums of its pieces
    Py_ssize_t end
    void* partial
    Py_ssize_t item                 # bytes of an element


cdef inline void _csr_block(const Product* p, const number_t* values, Py_ssize_t first, Py_ssize_t last,
                            Py_ssize_t column, Py_ssize_t lanes, number_t alpha) noexcept nogil:
    """Rows first..last of out for `lanes` columns; inlined with the number of lanes known."""
    cdef number_t[WIDE] sums
    cdef number_t value
    cdef const int64_t* pointer = p.pointer
    cdef const int64_t* columns = <const int64_t*>p.columns
    cdef const number_t* dense = <const number_t*>p.dense + column
    cdef const number_t* row
    cdef number_t* out
    cdef Py_ssize_t r, x, k, end = p.nnz - 1, step = p.dense_step
    for r in range(first, last):
        if pointer[r + 1] - pointer[r] > LONG or (p.add and pointer[r] == pointer[r + 1]):
            continue
        for k in range(lanes):
            sums[k] = 0
        for x in range(pointer[r], pointer[r + 1]):
            row = dense + columns[x + AHEAD if x + AHEAD < end else end] * step
            k = 0
            while k * <Py_ssize_t>sizeof(number_t) < lanes * <Py_ssize_t>sizeof(number_t):
                prefetch(row + k)
                k += LINE // <Py_ssize_t>sizeof(number_t)
            value = values[x]
            row = dense + columns[x] * step
            for k in range(lanes):
                sums[k] += value * row[k]
        out = <number_t*>p.out + r * p.out_step + column
        if p.add:
            for k in range(lanes):
                out[k] += alpha * sums[k]
        else:
            for k in range(lanes):
                out[k] = alpha * sums[k]


cdef inline void _vector(const Product* p, const column_t* columns, const number_t* values, Py_ssize_t first,
                         Py_ssize_t last, Py_ssize_t dense_step, number_t alpha) noexcept nogil:
    cdef const int64_t* pointer = p.pointer
    cdef const number_t* dense = <const number_t*>p.dense
    cdef number_t* out = <number_t*>p.out
    cdef Py_ssize_t r, x
    cdef number_t total
    for r in range(first, last):
        if pointer[r + 1] - pointer[r] > LONG:
            continue
        total = 0
        for x in range(pointer[r], pointer[r + 1]):
            total += values[x] * dense[columns[x] * dense_step]
        out[r * p.out_step] = out[r * p.out_step] + alpha * total if p.add else alpha * total


cdef void _csr_vector(const Product* p, const number_t* values, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    cdef number_t factor = 1
    if p.alpha != NULL:
        factor = (<const number_t*>p.alpha)[0]
    if p.dense_step == 1:
        _vector(p, <const int32_t*>p.columns, values, first, last, 1, factor)
    else:
        _vector(p, <const int32_t*>p.columns, values, first, last, p.dense_step, factor)


cdef void _dots(const Product* p, const void* values, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    p.dots(p.pointer, <const int32_t*>p.columns, values, first, last, LONG, p.dense, p.out)


cdef void _csr_matmul(const Product* p, const number_t* values, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    cdef Py_ssize_t column = 0, width = p.width
    cdef number_t factor = 1
    if p.alpha != NULL:
        factor = (<const number_t*>p.alpha)[0]
    if width == 1:
        _vector(p, <const int64_t*>p.columns, values, first, last, p.dense_step, factor)
        return
    while column + WIDE <= width:
        _csr_block(p, values, first, last, column, WIDE, factor)
        column += WIDE
    while column + NARROW <= width:
        _csr_block(p, values, first, last, column, NARROW, factor)
        column += NARROW
    if column < width:
        _csr_block(p, values, first, last, column, width - column, factor)


cdef void _coo_matmul(const Product* p, const number_t* values, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """out += for columns first..last of the dense matrix."""
    cdef Py_ssize_t x, k
    cdef number_t value, factor = 1
    cdef const int64_t* columns = <const int64_t*>p.columns
    cdef const number_t* row
    cdef number_t* target
    if p.alpha != NULL:
        factor = (<const number_t*>p.alpha)[0]
    if p.width == 1:
        for x in range(p.nnz):
            (<number_t*>p.out)[p.rows[x] * p.out_step] += (
                factor * values[x] * (<const number_t*>p.dense)[columns[x] * p.dense_step])
        return
    for x in range(p.nnz):
        value = factor * values[x]
        row = <const number_t*>p.dense + columns[x] * p.dense_step
        target = <number_t*>p.out + p.rows[x] * p.out_step
        for k in range(first, last):
            target[k] += value * row[k]


cdef void _sampled_matmul(const Product* p, const number_t* left, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """Entries first..last of left @ dense.T; left lies in `values`, its rows out_step apart."""
    cdef Py_ssize_t x, k, lane, width = p.width
    cdef number_t total
    cdef number_t[NARROW] sums
    cdef const int64_t* columns = <const int64_t*>p.columns
    cdef const number_t* a
    cdef const number_t* b
    for x in range(first, last):
        a = left + p.rows[x] * p.out_step
        b = <const number_t*>p.dense + columns[x] * p.dense_step
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
        (<number_t*>p.out)[x] = total


cdef void _add_partial(const Product* p, const number_t* partial, Py_ssize_t pieces, Py_ssize_t row) noexcept nogil:
    """Add the sums of the pieces of a long row, in their order, to its row of out."""
    cdef number_t* out = <number_t*>p.out + row * p.out_step
    cdef number_t total, factor = 1
    cdef Py_ssize_t k, x
    if p.alpha != NULL:
        factor = (<const number_t*>p.alpha)[0]
    for k in range(p.width):
        total = 0
        for x in range(pieces):
            total += partial[x * p.width + k]
        out[k] = out[k] + factor * total if p.add else factor * total


# ---------------------------------------------------------------- sharing among threads

cdef void _rows_piece(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Rows whose place in the work lies in begin..end: that of row r is r + pointer[r], for rows cost as entries do."""
    cdef const Product* p = <const Product*>context
    p.kernel(p, p.values, _first_row(p, begin), _first_row(p, end))


cdef inline Py_ssize_t _first_row(const Product* p, Py_ssize_t place) noexcept nogil:
    cdef Py_ssize_t low = 0, high = p.n_rows, middle
    while low < high:
        middle = (low + high) // 2
        if middle + p.pointer[middle] < place:
            low = middle + 1
        else:
            high = middle
    return low


cdef void _columns_piece(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef const Product* p = <const Product*>context
    p.kernel(p, p.values, begin * NARROW, min(end * NARROW, p.width))


cdef void _entries_piece(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef const Product* p = <const Product*>context
    p.kernel(p, p.values, begin, end)


cdef void _long_piece(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Sums of pieces of a long row, each of LONG entries: rows of a matrix of their own."""
    cdef const Product* p = <const Product*>context
    cdef Product q = p[0]
    cdef int64_t[2] bounds
    cdef Py_ssize_t x
    q.pointer = bounds
    q.n_rows = 1
    q.alpha = NULL
    q.add = False
    for x in range(begin, end):
        bounds[0] = p.start + x * LONG
        bounds[1] = min(bounds[0] + LONG, p.end)
        q.out = <char*>p.partial + x * p.width * p.item
        p.kernel(&q, q.values, 0, 1)


cdef int _by_rows(Product* p, add_partial_t add_partial) noexcept nogil:
    """All rows. A long one is summed in pieces of one length, whatever the number of threads. -1: no memory."""
    cdef Py_ssize_t r, pieces, columns = min(p.width, <Py_ssize_t>WIDE)
    st_parallel(p.n_rows + p.nnz, max(GRAIN // columns, 1), _rows_piece, p)
    if p.nnz <= LONG:
        return 0
    for r in range(p.n_rows):
        if p.pointer[r + 1] - p.pointer[r] > LONG:
            p.start, p.end = p.pointer[r], p.pointer[r + 1]
            pieces = (p.end - p.start + LONG - 1) // LONG
            p.partial = scratch(pieces * p.width * p.item)
            if p.partial == NULL:
                return -1
            st_parallel(pieces, 1, _long_piece, p)
            add_partial(p, p.partial, pieces, r)
            release(p.partial)
    return 0


# ---------------------------------------------------------------- dispatch over dtypes

ctypedef struct Kernels:
    part_kernel csr
    part_kernel vector
    part_kernel coo
    part_kernel sampled
    add_partial_t add_partial
    st_row_dots dots                # of contiguous vectors, or NULL
    Py_ssize_t item

cdef Kernels[ST_COMPLEX128 + 1] _kernels
cdef bytes _isa = isa().encode()


cdef void _bind(int dtype, number_t* tag):
    _kernels[dtype].csr = <part_kernel>_csr_matmul[number_t]
    _kernels[dtype].vector = <part_kernel>_csr_vector[number_t]
    _kernels[dtype].coo = <part_kernel>_coo_matmul[number_t]
    _kernels[dtype].sampled = <part_kernel>_sampled_matmul[number_t]
    _kernels[dtype].add_partial = <add_partial_t>_add_partial[number_t]
    _kernels[dtype].dots = st_find_row_dots(_isa, dtype)
    _kernels[dtype].item = sizeof(number_t)


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


cdef int csr_matmul(int dtype, const int64_t* pointer, const int64_t* columns, const void* values, Py_ssize_t n_rows,
                    const void* dense, Py_ssize_t dense_step, Py_ssize_t width, const void* alpha, bint add, void* out,
                    Py_ssize_t out_step) noexcept nogil:
    """out = alpha * sparse @ dense, or += with `add`; alpha is one element, or NULL for 1. -1: no memory."""
    cdef Product p
    p.pointer, p.rows, p.columns, p.values, p.n_rows, p.nnz = pointer, NULL, columns, values, n_rows, pointer[n_rows]
    p.dense, p.dense_step, p.width, p.alpha, p.add, p.out, p.out_step = (
        dense, dense_step, width, alpha, add, out, out_step)
    p.item, p.kernel = _kernels[dtype].item, _kernels[dtype].csr
    return _by_rows(&p, _kernels[dtype].add_partial)


cdef int csr_vector(int dtype, const int64_t* pointer, const int32_t* columns, const void* values, Py_ssize_t n_rows,
                    const void* dense, Py_ssize_t dense_step, const void* alpha, bint add, void* out,
                    Py_ssize_t out_step) noexcept nogil:
    """`csr_matmul` with one column, the sparse matrix's columns as numbers of 32 bits."""
    cdef Product p
    p.pointer, p.rows, p.columns, p.values, p.n_rows, p.nnz = pointer, NULL, columns, values, n_rows, pointer[n_rows]
    p.dense, p.dense_step, p.width, p.alpha, p.add, p.out, p.out_step = dense, dense_step, 1, alpha, add, out, out_step
    p.item, p.kernel, p.dots = _kernels[dtype].item, _kernels[dtype].vector, _kernels[dtype].dots
    if p.dots != NULL and dense_step == 1 and out_step == 1 and alpha == NULL and not add:
        p.kernel = _dots
    return _by_rows(&p, _kernels[dtype].add_partial)


cdef void coo_matmul(int dtype, const int64_t* rows, const int64_t* columns, const void* values, Py_ssize_t nnz,
                     const void* dense, Py_ssize_t dense_step, Py_ssize_t width, const void* alpha, void* out,
                     Py_ssize_t out_step) noexcept nogil:
    """out += alpha * sparse @ dense, entry by entry in any order; with rows and columns swapped, the transpose's.

    Threads share the columns of the dense matrix.
    """
    cdef Product p
    p.pointer, p.rows, p.columns, p.values, p.n_rows, p.nnz = NULL, rows, columns, values, 0, nnz
    p.dense, p.dense_step, p.width, p.alpha, p.add, p.out, p.out_step = (
        dense, dense_step, width, alpha, True, out, out_step)
    p.kernel = _kernels[dtype].coo
    st_parallel((width + NARROW - 1) // NARROW, max(GRAIN // (NARROW * nnz + 1), 1), _columns_piece, &p)


cdef void sampled_matmul(int dtype, const int64_t* rows, const int64_t* columns, Py_ssize_t nnz, const void* left,
                         Py_ssize_t left_step, const void* right, Py_ssize_t right_step, Py_ssize_t width,
                         void* out) noexcept nogil:
    """out[x] = left[rows[x], :] . right[columns[x], :], both `width` wide: left @ right.T at the entries."""
    cdef Product p
    p.pointer, p.rows, p.columns, p.values, p.n_rows, p.nnz = NULL, rows, columns, left, 0, nnz
    p.dense, p.dense_step, p.width, p.alpha, p.add, p.out, p.out_step = (
        right, right_step, width, NULL, False, out, left_step)
    p.kernel = _kernels[dtype].sampled
    st_parallel(nnz, max(GRAIN // (width + 1), 1), _entries_piece, &p)


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
    cdef int failed = 0
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
            failed = csr_matmul(dtype, p, c, v, n_rows, d, dense_step, width, a, True, o, out_step)
    if failed:
        raise MemoryError("no memory for a sparse product")


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
