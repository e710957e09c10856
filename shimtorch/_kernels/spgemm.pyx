"""Product of two sparse matrices in compressed rows, row by row (Gustavson), each row of the result ascending.

A row of the result is summed in a dense row of accumulators, and a bit set for each column touched. Reading the bits
in order gives the columns sorted; a second level, one bit per word of the first, skips what was not touched.
The columns of the right operand, whose rows are read in any order, are numbers of 32 bits.

A small product is made in one pass, its rows in scratch memory for as many entries as there are products of elements,
and then moved together; a large one is counted first. Threads share the rows, each about as many products of elements.
"""

cimport numpy as cnp
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from shimtorch._kernels.kernels cimport (
    ST_COMPLEX64, ST_COMPLEX128, ST_FLOAT32, ST_FLOAT64, ST_INT8, ST_INT16, ST_INT32, ST_INT64, ST_UINT8,
)
from shimtorch._kernels.scratch cimport release, scratch, zeroed_scratch
from shimtorch._kernels.sparsetypes cimport contiguous_data, dtype_code, int64_data, number_t
from shimtorch._kernels.table cimport st_parallel

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

cdef fused out_column_t:
    int32_t
    int64_t

cdef enum:
    AHEAD = 12              # entries of the left operand ahead whose row of the right one is asked for
    GRAIN = 1 << 16         # products of elements that are worth a thread
    ONE_PASS = 1 << 21      # products of elements up to which rows are made before they are counted
    FEW_WORDS = 512         # words of marks that are looked through one by one


ctypedef int (*rows_kernel)(const Product*, const void*, Py_ssize_t, Py_ssize_t) noexcept nogil

cdef struct Product:
    const int64_t* a_pointer
    const int64_t* a_columns
    const void* a_values
    Py_ssize_t n_rows
    const int64_t* b_pointer
    const int32_t* b_columns
    const void* b_values
    Py_ssize_t n_columns
    int64_t* work               # products of elements before each row, (n_rows + 1,)
    int64_t* pointer            # entries before each row; at first, how many are in row r at pointer[r + 1]
    int32_t* made_columns       # one pass: a row's columns and values from place work[r] on
    void* made_values
    int64_t* columns
    void* values
    Py_ssize_t item             # bytes of an element
    int failed
    rows_kernel kernel


cdef inline Py_ssize_t _row_at(const Product* p, Py_ssize_t place) noexcept nogil:
    """The first row with as much work before it; work counts products of elements and rows."""
    cdef Py_ssize_t low = 0, high = p.n_rows, middle
    while low < high:
        middle = (low + high) // 2
        if middle + p.work[middle] < place:
            low = middle + 1
        else:
            high = middle
    return low


cdef void _count_work(Product* p) noexcept nogil:
    cdef Py_ssize_t row, x, total = 0
    for row in range(p.n_rows):
        p.work[row] = total
        for x in range(p.a_pointer[row], p.a_pointer[row + 1]):
            total += p.b_pointer[p.a_columns[x] + 1] - p.b_pointer[p.a_columns[x]]
    p.work[p.n_rows] = total


cdef int _count_rows(const Product* p, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """How many entries rows first..last have."""
    cdef int64_t* seen = <int64_t*>scratch((p.n_columns + 1) * sizeof(int64_t))     # the last row with this column
    cdef const int64_t* b_pointer = p.b_pointer
    cdef const int64_t* a_columns = p.a_columns
    cdef const int32_t* b_columns = p.b_columns
    cdef Py_ssize_t row, x, y, count, nnz = p.a_pointer[p.n_rows]
    if seen == NULL:
        return -1
    memset(seen, 0xff, p.n_columns * sizeof(int64_t))
    for row in range(first, last):
        count = 0
        for x in range(p.a_pointer[row], p.a_pointer[row + 1]):
            if x + AHEAD < nnz:
                prefetch(b_columns + b_pointer[a_columns[x + AHEAD]])
            for y in range(b_pointer[a_columns[x]], b_pointer[a_columns[x] + 1]):
                count += seen[b_columns[y]] != row
                seen[b_columns[y]] = row
        p.pointer[row + 1] = count
    release(seen)
    return 0


cdef inline Py_ssize_t _take_two(uint64_t* below, Py_ssize_t word, number_t* sums, out_column_t* columns,
                                 number_t* values, Py_ssize_t place) noexcept nogil:
    """The first entries of a word of marks, at most two: the second is written before it is known whether there is
    one, for how many marks a word has can't be predicted."""
    cdef uint64_t column = <uint64_t>word << 6 | <uint64_t>lowest_bit(below[0])
    columns[place] = <out_column_t>column
    values[place] = sums[column]
    sums[column] = 0
    place += 1
    below[0] &= below[0] - 1
    column = <uint64_t>word << 6 | <uint64_t>lowest_bit(below[0] | <uint64_t>1 << 63)
    columns[place] = <out_column_t>column
    values[place] = sums[column]
    sums[column] = 0                # zero already where the word is empty
    place += below[0] != 0
    below[0] &= below[0] - 1
    return place


cdef inline Py_ssize_t _take_word(uint64_t below, Py_ssize_t word, number_t* sums, out_column_t* columns,
                                  number_t* values, Py_ssize_t place) noexcept nogil:
    """The entries of a word of marks, to place and on; returns the place after them."""
    cdef uint64_t column
    while below:
        column = <uint64_t>word << 6 | <uint64_t>lowest_bit(below)
        below &= below - 1
        columns[place] = <out_column_t>column
        values[place] = sums[column]
        sums[column] = 0
        place += 1
    return place


cdef inline int _make_rows(const Product* p, const number_t* b_values, Py_ssize_t first, Py_ssize_t last,
                           const int64_t* places, out_column_t* columns, number_t* values, bint counts) noexcept nogil:
    """Entries of rows first..last, each row's from places[row] on; writes down how many they are if it `counts`."""
    cdef Py_ssize_t n_words = p.n_columns // 64 + 1, n_tops = n_words // 64 + 1
    cdef bint few = n_words <= FEW_WORDS
    cdef uint64_t* tops = <uint64_t*>zeroed_scratch(n_tops * sizeof(uint64_t))
    cdef uint64_t* words = <uint64_t*>zeroed_scratch(n_words * sizeof(uint64_t))
    cdef number_t* sums = <number_t*>zeroed_scratch((p.n_columns + 1) * sizeof(number_t))
    cdef const number_t* a_values = <const number_t*>p.a_values
    cdef const int64_t* a_columns = p.a_columns
    cdef const int64_t* b_pointer = p.b_pointer
    cdef const int32_t* b_columns = p.b_columns
    cdef Py_ssize_t row, x, y, top, place, word, k, marked, nnz = p.a_pointer[p.n_rows]
    cdef uint64_t column, above, below
    cdef number_t value
    cdef int16_t[FEW_WORDS + 1] filled      # the words with marks
    if tops == NULL or words == NULL or sums == NULL:
        release(tops)
        release(words)
        release(sums)
        return -1
    for row in range(first, last):
        for x in range(p.a_pointer[row], p.a_pointer[row + 1]):
            if x + AHEAD < nnz:
                prefetch(b_columns + b_pointer[a_columns[x + AHEAD]])
                prefetch(b_values + b_pointer[a_columns[x + AHEAD]])
            value = a_values[x]
            if few:
                for y in range(b_pointer[a_columns[x]], b_pointer[a_columns[x] + 1]):
                    column = b_columns[y]
                    sums[column] += value * b_values[y]
                    words[column >> 6] |= <uint64_t>1 << (column & 63)
            else:
                for y in range(b_pointer[a_columns[x]], b_pointer[a_columns[x] + 1]):
                    column = b_columns[y]
                    sums[column] += value * b_values[y]
                    words[column >> 6] |= <uint64_t>1 << (column & 63)
                    tops[column >> 12] |= <uint64_t>1 << (column >> 6 & 63)
        place = places[row]
        if p.a_pointer[row] == p.a_pointer[row + 1]:
            pass
        elif few:
            marked = 0
            for word in range(n_words):     # written down in any case: no branch to mispredict
                filled[marked] = <int16_t>word
                marked += words[word] != 0
            for k in range(marked):
                word = filled[k]
                below = words[word]
                words[word] = 0
                if k < marked - 1:          # what may be written after the row's end belongs to another thread
                    place = _take_two(&below, word, sums, columns, values, place)
                place = _take_word(below, word, sums, columns, values, place)
        else:
            for top in range(n_tops):
                above = tops[top]
                tops[top] = 0
                while above:
                    word = top << 6 | lowest_bit(above)
                    above &= above - 1
                    below = words[word]
                    words[word] = 0
                    place = _take_word(below, word, sums, columns, values, place)
        if counts:
            p.pointer[row + 1] = place - places[row]
    release(tops)
    release(words)
    release(sums)
    return 0


cdef int _rows(const Product* p, const number_t* b_values, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    if p.made_columns != NULL:
        return _make_rows(p, b_values, first, last, p.work, p.made_columns, <number_t*>p.made_values, True)
    return _make_rows(p, b_values, first, last, p.pointer, p.columns, <number_t*>p.values, False)


# ---------------------------------------------------------------- sharing among threads

cdef void _count_piece(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Product* p = <Product*>context
    if _count_rows(p, _row_at(p, begin), _row_at(p, end)):
        p.failed = -1


cdef void _rows_piece(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Product* p = <Product*>context
    if p.kernel(p, p.b_values, _row_at(p, begin), _row_at(p, end)):
        p.failed = -1


cdef void _move_piece(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Rows that were made before they were counted, to their places."""
    cdef const Product* p = <const Product*>context
    cdef Py_ssize_t row, x, count
    cdef const int32_t* source
    cdef int64_t* target
    for row in range(_row_at(p, begin), _row_at(p, end)):
        count = p.pointer[row + 1] - p.pointer[row]
        source, target = p.made_columns + p.work[row], p.columns + p.pointer[row]
        for x in range(count):
            target[x] = source[x]
        memcpy(<char*>p.values + p.pointer[row] * p.item, <const char*>p.made_values + p.work[row] * p.item,
               count * p.item)


# ---------------------------------------------------------------- dispatch over dtypes

ctypedef struct Kernels:
    rows_kernel rows
    Py_ssize_t item

cdef Kernels[ST_COMPLEX128 + 1] _kernels


cdef void _bind(int dtype, number_t* tag):
    _kernels[dtype].rows = <rows_kernel>_rows[number_t]
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


cdef Product* begin_product(int dtype, const int64_t* a_pointer, const int64_t* a_columns, const void* a_values,
                            Py_ssize_t n_rows, const int64_t* b_pointer, const int32_t* b_columns,
                            const void* b_values, Py_ssize_t n_columns, int64_t* pointer) noexcept nogil:
    """Write the row pointer (n_rows + 1) of a product, for `end_product` to fill in. NULL when there is no memory."""
    cdef Product* p = <Product*>scratch(sizeof(Product))
    cdef Py_ssize_t row, total
    if p == NULL:
        return NULL
    p.a_pointer, p.a_columns, p.a_values, p.n_rows = a_pointer, a_columns, a_values, n_rows
    p.b_pointer, p.b_columns, p.b_values, p.n_columns = b_pointer, b_columns, b_values, n_columns
    p.pointer, p.made_columns, p.made_values, p.failed = pointer, NULL, NULL, 0
    p.kernel, p.item = _kernels[dtype].rows, _kernels[dtype].item
    p.work = <int64_t*>scratch((n_rows + 1) * sizeof(int64_t))
    if p.work == NULL:
        drop_product(p)
        return NULL
    _count_work(p)
    total = p.work[n_rows]
    if total <= ONE_PASS:
        p.made_columns = <int32_t*>scratch(total * sizeof(int32_t))
        p.made_values = scratch(total * p.item)
        if p.made_columns == NULL or p.made_values == NULL:
            drop_product(p)
            return NULL
    pointer[0] = 0
    st_parallel(n_rows + total, GRAIN, _rows_piece if p.made_columns != NULL else _count_piece, p)
    if p.failed:
        drop_product(p)
        return NULL
    for row in range(n_rows):
        pointer[row + 1] += pointer[row]
    return p


cdef int end_product(Product* p, int64_t* columns, void* values) noexcept nogil:
    """Columns and values of a product that was begun, which is dropped. Returns -1 when there is no memory."""
    cdef int failed
    p.columns, p.values = columns, values
    st_parallel(p.n_rows + p.work[p.n_rows], GRAIN, _move_piece if p.made_columns != NULL else _rows_piece, p)
    failed = p.failed
    drop_product(p)
    return failed


cdef void drop_product(Product* p) noexcept nogil:
    """Give back the memory of a product that was begun; NULL is ignored."""
    if p != NULL:
        release(p.work)
        release(p.made_columns)
        release(p.made_values)
        release(p)


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
    if _kernels[dtype].rows == NULL:
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
    cdef Product* product = NULL
    cdef Py_ssize_t n = cnp.PyArray_SIZE(b_columns)
    cdef int32_t* narrow = narrowed(bc, n)
    try:
        if narrow == NULL:
            raise MemoryError("no memory for a sparse product")
        with nogil:
            product = begin_product(dtype, ap, ac, av, n_rows, bp, narrow, bv, n_columns, p)
        if product == NULL:
            raise MemoryError("no memory for a sparse product")
        shape[0] = p[n_rows]
        columns = cnp.PyArray_EMPTY(1, shape, cnp.NPY_INT64, 0)
        values = cnp.PyArray_EMPTY(1, shape, cnp.PyArray_TYPE(a_values), 0)
        c, v = <int64_t*>cnp.PyArray_DATA(columns), cnp.PyArray_DATA(values)
        with nogil:
            failed = end_product(product, c, v)
        product = NULL
        if failed:
            raise MemoryError("no memory for a sparse product")
    finally:
        drop_product(product)
        release(narrow)
    return pointer, columns, values
