"""Product of two sparse matrices in compressed rows, row by row (Gustavson), each row of the result ascending.

A row of the result is summed in a dense row of accumulators, and a bit set for each column touched. Reading the bits
in order gives the columns sorted; a second level, one bit per word of the first, skips what was not touched.
The columns of the right operand, whose rows are read in any order, are numbers of 32 bits.
"""

cimport numpy as cnp
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint64_t

from shimtorch._kernels.kernels cimport (
    ST_COMPLEX64, ST_COMPLEX128, ST_FLOAT32, ST_FLOAT64, ST_INT8, ST_INT16, ST_INT32, ST_INT64, ST_UINT8,
)
from shimtorch._kernels.scratch cimport release, scratch, zeroed_scratch
from shimtorch._kernels.sparsetypes cimport contiguous_data, dtype_code, int64_data, number_t

cnp.import_array()

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define st_lowest_bit(x) __builtin_ctzll(x)
    #define st_prefetch(p) __builtin_prefetch(p)
    #else
    #define st_prefetch(p) ((void)0)
    static int st_lowest_bit(unsigned long long x) { int n = 0; while (!(x >> n & 1)) n++; return n; }
    #endif
    """
    int lowest_bit "st_lowest_bit"(unsigned long long) noexcept nogil
    void prefetch "st_prefetch"(const void*) noexcept nogil

cdef enum:
    AHEAD = 12           # entries of the left operand ahead whose row of the right one is asked for


cdef int product_pointer(const int64_t* a_pointer, const int64_t* a_columns, Py_ssize_t n_rows,
                         const int64_t* b_pointer, const int32_t* b_columns, Py_ssize_t n_columns,
                         int64_t* pointer) noexcept nogil:
    """Row pointer (n_rows + 1) of the product. Returns -1 when there is no memory."""
    cdef uint64_t* words = <uint64_t*>zeroed_scratch((n_columns // 64 + 1) * sizeof(uint64_t))
    cdef Py_ssize_t row, x, y, count = 0, nnz = a_pointer[n_rows]
    cdef uint64_t column
    if words == NULL:
        return -1
    pointer[0] = 0
    for row in range(n_rows):
        for x in range(a_pointer[row], a_pointer[row + 1]):
            if x + AHEAD < nnz:
                prefetch(b_columns + b_pointer[a_columns[x + AHEAD]])
            for y in range(b_pointer[a_columns[x]], b_pointer[a_columns[x] + 1]):
                column = b_columns[y]
                count += not words[column >> 6] >> (column & 63) & 1
                words[column >> 6] |= <uint64_t>1 << (column & 63)
        for x in range(a_pointer[row], a_pointer[row + 1]):
            for y in range(b_pointer[a_columns[x]], b_pointer[a_columns[x] + 1]):
                words[b_columns[y] >> 6] = 0
        pointer[row + 1] = count
    release(words)
    return 0


cdef int _product_entries(const int64_t* a_pointer, const int64_t* a_columns, const number_t* a_values,
                          Py_ssize_t n_rows, const int64_t* b_pointer, const int32_t* b_columns,
                          const number_t* b_values, Py_ssize_t n_columns, const int64_t* pointer, int64_t* columns,
                          number_t* values) noexcept nogil:
    cdef Py_ssize_t n_words = n_columns // 64 + 1, n_tops = n_words // 64 + 1
    cdef uint64_t* tops = <uint64_t*>zeroed_scratch(n_tops * sizeof(uint64_t))
    cdef uint64_t* words = <uint64_t*>zeroed_scratch(n_words * sizeof(uint64_t))
    cdef number_t* sums = <number_t*>zeroed_scratch((n_columns + 1) * sizeof(number_t))
    cdef Py_ssize_t row, x, y, top, place, nnz = a_pointer[n_rows]
    cdef uint64_t column, word, above, below
    cdef number_t value
    if tops == NULL or words == NULL or sums == NULL:
        release(tops)
        release(words)
        release(sums)
        return -1
    for row in range(n_rows):
        for x in range(a_pointer[row], a_pointer[row + 1]):
            if x + AHEAD < nnz:
                prefetch(b_columns + b_pointer[a_columns[x + AHEAD]])
                prefetch(b_values + b_pointer[a_columns[x + AHEAD]])
            value = a_values[x]
            for y in range(b_pointer[a_columns[x]], b_pointer[a_columns[x] + 1]):
                column = b_columns[y]
                sums[column] += value * b_values[y]
                words[column >> 6] |= <uint64_t>1 << (column & 63)
                tops[column >> 12] |= <uint64_t>1 << (column >> 6 & 63)
        place = pointer[row]
        top = 0
        while place < pointer[row + 1]:
            above = tops[top]
            tops[top] = 0
            while above:
                word = <uint64_t>(top << 6 | lowest_bit(above))
                above &= above - 1
                below = words[word]
                words[word] = 0
                while below:
                    column = word << 6 | <uint64_t>lowest_bit(below)
                    below &= below - 1
                    columns[place] = column
                    values[place] = sums[column]
                    sums[column] = 0
                    place += 1
            top += 1
    release(tops)
    release(words)
    release(sums)
    return 0


# ---------------------------------------------------------------- dispatch over dtypes

ctypedef int (*product_t)(const int64_t*, const int64_t*, const void*, Py_ssize_t, const int64_t*, const int32_t*,
                          const void*, Py_ssize_t, const int64_t*, int64_t*, void*) noexcept nogil

cdef product_t[ST_COMPLEX128 + 1] _kernels


cdef void _bind(int dtype, number_t* tag):
    _kernels[dtype] = <product_t>_product_entries[number_t]


_bind(ST_UINT8, <uint8_t*>NULL)
_bind(ST_INT8, <int8_t*>NULL)
_bind(ST_INT16, <int16_t*>NULL)
_bind(ST_INT32, <int32_t*>NULL)
_bind(ST_INT64, <int64_t*>NULL)
_bind(ST_FLOAT32, <float*>NULL)
_bind(ST_FLOAT64, <double*>NULL)
_bind(ST_COMPLEX64, <float complex*>NULL)
_bind(ST_COMPLEX128, <double complex*>NULL)


cdef int product_entries(int dtype, const int64_t* a_pointer, const int64_t* a_columns, const void* a_values,
                         Py_ssize_t n_rows, const int64_t* b_pointer, const int32_t* b_columns, const void* b_values,
                         Py_ssize_t n_columns, const int64_t* pointer, int64_t* columns, void* values) noexcept nogil:
    """Columns and values of the product whose row pointer is `pointer`. Returns -1 when there is no memory."""
    return _kernels[dtype](a_pointer, a_columns, a_values, n_rows, b_pointer, b_columns, b_values, n_columns, pointer,
                           columns, values)


cdef int32_t* narrowed(const int64_t* numbers, Py_ssize_t n) noexcept nogil:
    """A copy of numbers below 2**31, to be released; NULL when there is no memory."""
    cdef int32_t* out = <int32_t*>scratch(n * sizeof(int32_t))
    cdef Py_ssize_t x
    if out != NULL:
        for x in range(n):
            out[x] = <int32_t>numbers[x]
    return out


# ---------------------------------------------------------------- NumPy interface

def matmul_sparse(cnp.ndarray a_pointer not None, cnp.ndarray a_columns not None, cnp.ndarray a_values not None,
                  cnp.ndarray b_pointer not None, cnp.ndarray b_columns not None, cnp.ndarray b_values not None,
                  Py_ssize_t n_columns):
    """a @ b of matrices in compressed rows, which must be well formed; b has n_columns columns.

    Returns the row pointer (n + 1,), the columns ascending in each row, and the values. What sums to zero is kept.
    """
    cdef Py_ssize_t n_rows = cnp.PyArray_SIZE(a_pointer) - 1
    cdef const int64_t* ap = int64_data(a_pointer)
    cdef const int64_t* ac = int64_data(a_columns)
    cdef const int64_t* bp = int64_data(b_pointer)
    cdef const int64_t* bc = int64_data(b_columns)
    cdef const void* av = contiguous_data(a_values)
    cdef const void* bv = contiguous_data(b_values)
    cdef int dtype = dtype_code(a_values), failed
    cdef cnp.npy_intp[1] shape
    if cnp.PyArray_TYPE(a_values) != cnp.PyArray_TYPE(b_values):
        raise TypeError(f"product of {a_values.dtype} and {b_values.dtype}")
    if _kernels[dtype] == NULL:
        raise TypeError(f"no sparse product for {a_values.dtype}")
    if n_rows < 0 or ap[n_rows] != cnp.PyArray_SIZE(a_columns) or (
            bp[cnp.PyArray_SIZE(b_pointer) - 1] != cnp.PyArray_SIZE(b_columns)):
        raise ValueError("row pointers that do not match their columns")
    if cnp.PyArray_SIZE(a_columns) != cnp.PyArray_SIZE(a_values) or (
            cnp.PyArray_SIZE(b_columns) != cnp.PyArray_SIZE(b_values)):
        raise ValueError("values that do not match their columns")
    if n_columns > 0x7fffffff:
        raise ValueError(f"{n_columns} columns are too many")
    shape[0] = n_rows + 1
    cdef cnp.ndarray pointer = cnp.PyArray_EMPTY(1, shape, cnp.NPY_INT64, 0), columns, values
    cdef int64_t* p = <int64_t*>cnp.PyArray_DATA(pointer)
    cdef int64_t* c
    cdef void* v
    cdef Py_ssize_t n = cnp.PyArray_SIZE(b_columns)
    cdef int32_t* narrow = narrowed(bc, n)
    try:
        if narrow == NULL:
            raise MemoryError("no memory for a sparse product")
        with nogil:
            failed = product_pointer(ap, ac, n_rows, bp, narrow, n_columns, p)
        if failed:
            raise MemoryError("no memory for a sparse product")
        shape[0] = p[n_rows]
        columns = cnp.PyArray_EMPTY(1, shape, cnp.NPY_INT64, 0)
        values = cnp.PyArray_EMPTY(1, shape, cnp.PyArray_TYPE(a_values), 0)
        c, v = <int64_t*>cnp.PyArray_DATA(columns), cnp.PyArray_DATA(values)
        with nogil:
            failed = product_entries(dtype, ap, ac, av, n_rows, bp, narrow, bv, n_columns, p, c, v)
        if failed:
            raise MemoryError("no memory for a sparse product")
    finally:
        release(narrow)
    return pointer, columns, values
