"""Compressed rows: building, transposing, selecting.

A row pointer holds n_rows + 1 ascending places: row r owns the entries pointer[r] up to pointer[r + 1].
"""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy, memset

from shimtorch._kernels.scratch cimport release, scratch
from shimtorch._kernels.sparsetypes cimport int64_data
from shimtorch._kernels.table cimport st_parallel

cnp.import_array()

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define st_prefetch_written(p) __builtin_prefetch(p, 1)
    #else
    #define st_prefetch_written(p) ((void)0)
    #endif
    """
    void prefetch_written "st_prefetch_written"(const void*) noexcept nogil

cdef enum:
    AHEAD = 16              # entries ahead whose place is asked for
    GRAIN = 1 << 18         # entries that are worth a thread

ctypedef struct Narrow:
    int32_t column
    int32_t value           # the bits of any type of this size

ctypedef struct Wide:
    int64_t column
    int64_t value


ctypedef struct Pointers:
    const int64_t* rows
    Py_ssize_t nnz
    Py_ssize_t n_rows
    int64_t* pointer


cdef void _compress_piece(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Where the rows begin that are numbered from after entry begin - 1 up to entry end - 1."""
    cdef const Pointers* p = <const Pointers*>context
    cdef Py_ssize_t x, row = p.rows[begin - 1] + 1 if begin else 0
    for x in range(begin, end):
        while row <= p.rows[x]:
            p.pointer[row] = x
            row += 1


cdef void compress(const int64_t* rows, Py_ssize_t nnz, Py_ssize_t n_rows, int64_t* pointer) noexcept nogil:
    """Row pointer of ascending row numbers below n_rows."""
    cdef Pointers p
    cdef Py_ssize_t row = rows[nnz - 1] + 1 if nnz else 0
    p.rows, p.nnz, p.n_rows, p.pointer = rows, nnz, n_rows, pointer
    st_parallel(nnz, GRAIN, _compress_piece, &p)
    while row <= n_rows:
        pointer[row] = nnz
        row += 1


ctypedef struct Rows:
    const int64_t* pointer
    Py_ssize_t n_rows
    int64_t* rows


cdef void _expand_piece(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """The row numbers of entries begin..end."""
    cdef const Rows* p = <const Rows*>context
    cdef Py_ssize_t low = 0, high = p.n_rows, row, x = begin, stop
    while low < high:                   # low becomes the first row that ends after entry begin
        row = (low + high) // 2
        if p.pointer[row + 1] <= begin:
            low = row + 1
        else:
            high = row
    row = low
    while x < end:
        stop = min(p.pointer[row + 1], end)
        while x < stop:
            p.rows[x] = row
            x += 1
        row += 1


cdef void expand(const int64_t* pointer, Py_ssize_t n_rows, int64_t* rows) noexcept nogil:
    """Row number of every entry."""
    cdef Rows p
    p.pointer, p.n_rows, p.rows = pointer, n_rows, rows
    st_parallel(pointer[n_rows], GRAIN, _expand_piece, &p)


cdef void transpose(const int64_t* pointer, const int64_t* columns, Py_ssize_t n_rows, Py_ssize_t n_columns,
                    int64_t* out_pointer, int64_t* out_columns, int64_t* order) noexcept nogil:
    """Pointer and columns of the transpose, and which entry each of its entries is."""
    cdef Py_ssize_t row, column, x, place
    cdef Py_ssize_t nnz = pointer[n_rows]
    memset(out_pointer, 0, (n_columns + 1) * sizeof(int64_t))
    for x in range(nnz):
        out_pointer[columns[x] + 1] += 1
    for column in range(n_columns):
        out_pointer[column + 1] += out_pointer[column]
    for row in range(n_rows):                       # out_pointer[c] moves from the start of c's entries to their end
        for x in range(pointer[row], pointer[row + 1]):
            place = out_pointer[columns[x]]
            out_pointer[columns[x]] = place + 1
            out_columns[place] = row
            order[place] = x
    for column in range(n_columns, 0, -1):
        out_pointer[column] = out_pointer[column - 1]
    out_pointer[0] = 0


cdef bint lies_crosswise(const int64_t* rows, const int64_t* columns, Py_ssize_t nnz) noexcept nogil:
    """Whether entries ascend by column, those of a column by row, and none repeats: a transposed coalesced matrix."""
    cdef Py_ssize_t x
    cdef bint wrong = False
    for x in range(1, nnz):
        wrong |= (columns[x] < columns[x - 1]) | ((columns[x] == columns[x - 1]) & (rows[x] <= rows[x - 1]))
        if wrong and x & 1023 == 0:
            return False
    return not wrong


cdef fused pair_t:
    Narrow
    Wide


cdef inline int _turn(const int64_t* rows, const int64_t* columns, const char* values, Py_ssize_t nnz,
                      int64_t* pointer, int64_t* out_columns, char* out_values, pair_t* pairs) noexcept nogil:
    """Column and value go to their place together: one write to memory in any order for each entry, not two."""
    cdef Py_ssize_t x, place
    for x in range(nnz):
        if x + AHEAD < nnz:
            prefetch_written(pairs + pointer[rows[x + AHEAD]])
        place = pointer[rows[x]]
        pointer[rows[x]] = place + 1
        if pair_t is Narrow:
            pairs[place].column = <int32_t>columns[x]
            pairs[place].value = (<const int32_t*>values)[x]
        else:
            pairs[place].column = columns[x]
            pairs[place].value = (<const int64_t*>values)[x]
    for x in range(nnz):
        out_columns[x] = pairs[x].column
        if pair_t is Narrow:
            (<int32_t*>out_values)[x] = pairs[x].value
        else:
            (<int64_t*>out_values)[x] = pairs[x].value
    return 0


cdef int turn(const int64_t* rows, const int64_t* columns, const char* values, Py_ssize_t size, Py_ssize_t nnz,
              Py_ssize_t n_rows, Py_ssize_t n_columns, int64_t* pointer, int64_t* out_columns,
              char* out_values) noexcept nogil:
    """Row pointer, columns and values (of `size` bytes) of a matrix whose entries lie crosswise.

    Returns -1 when there is no memory.
    """
    cdef Py_ssize_t x, row, place
    cdef bint narrow = size == 4 and n_columns <= 0x7fffffff
    cdef void* pairs = NULL
    if narrow or size == 8:
        pairs = scratch(nnz * <Py_ssize_t>(sizeof(Narrow) if narrow else sizeof(Wide)))
        if pairs == NULL:
            return -1
    memset(pointer, 0, (n_rows + 1) * sizeof(int64_t))
    for x in range(nnz):
        pointer[rows[x] + 1] += 1
    for row in range(n_rows):
        pointer[row + 1] += pointer[row]
    if narrow:                                      # pointer[r] moves from the start of r's entries to their end
        _turn(rows, columns, values, nnz, pointer, out_columns, out_values, <Narrow*>pairs)
    elif size == 8:
        _turn(rows, columns, values, nnz, pointer, out_columns, out_values, <Wide*>pairs)
    else:
        for x in range(nnz):
            place = pointer[rows[x]]
            pointer[rows[x]] = place + 1
            out_columns[place] = columns[x]
            memcpy(out_values + place * size, values + x * size, size)
    release(pairs)
    for row in range(n_rows, 0, -1):
        pointer[row] = pointer[row - 1]
    pointer[0] = 0
    return 0


# ---------------------------------------------------------------- NumPy interface

cdef inline cnp.ndarray _empty(Py_ssize_t n):
    cdef cnp.npy_intp[1] shape
    shape[0] = n
    return cnp.PyArray_EMPTY(1, shape, cnp.NPY_INT64, 0)


cdef inline int64_t* _data(cnp.ndarray a) noexcept:
    return <int64_t*>cnp.PyArray_DATA(a)


cdef const int64_t* _pointer(cnp.ndarray pointer, Py_ssize_t nnz) except NULL:
    """Memory of a row pointer, checked: it starts at 0, ascends, and ends at nnz."""
    cdef const int64_t* p = int64_data(pointer)
    cdef Py_ssize_t row, n_rows = cnp.PyArray_SIZE(pointer) - 1
    if n_rows < 0 or p[0] != 0 or p[n_rows] != nnz:
        raise ValueError(f"a row pointer must begin with 0 and end with the number of entries, {nnz}")
    for row in range(n_rows):
        if p[row + 1] < p[row]:
            raise ValueError(f"the row pointer descends after row {row}")
    return p


cdef int _within(const int64_t* a, Py_ssize_t n, int64_t size) except -1:
    """IndexError unless all of a[0..n) are in 0..size."""
    cdef Py_ssize_t x
    cdef bint outside = False
    for x in range(n):
        outside |= <uint64_t>a[x] >= <uint64_t>size
    if outside:
        for x in range(n):
            if <uint64_t>a[x] >= <uint64_t>size:
                raise IndexError(f"index {a[x]} is out of range for size {size}")
    return 0


def check_pointer(cnp.ndarray pointer not None, Py_ssize_t nnz):
    """ValueError unless a row pointer begins with 0, ascends and ends with the number of entries."""
    _pointer(pointer, nnz)


def row_pointer(cnp.ndarray rows not None, Py_ssize_t n_rows):
    """Row pointer (n_rows + 1,) of ascending row numbers (nnz,)."""
    cdef const int64_t* data = int64_data(rows)
    cdef Py_ssize_t x, nnz = cnp.PyArray_SIZE(rows)
    if n_rows < 0:
        raise ValueError(f"negative number of rows {n_rows}")
    _within(data, nnz, n_rows)
    for x in range(1, nnz):
        if data[x] < data[x - 1]:
            raise ValueError("row numbers do not ascend")
    cdef cnp.ndarray out = _empty(n_rows + 1)
    cdef int64_t* target = _data(out)
    with nogil:
        compress(data, nnz, n_rows, target)
    return out


def row_numbers(cnp.ndarray pointer not None):
    """Row of every entry (nnz,), from a row pointer."""
    cdef Py_ssize_t n_rows = cnp.PyArray_SIZE(pointer) - 1
    cdef Py_ssize_t nnz = int64_data(pointer)[n_rows] if n_rows >= 0 else 0
    cdef const int64_t* data = _pointer(pointer, nnz)
    cdef cnp.ndarray out = _empty(nnz)
    cdef int64_t* target = _data(out)
    with nogil:
        expand(data, n_rows, target)
    return out


def transposed(cnp.ndarray pointer not None, cnp.ndarray columns not None, Py_ssize_t n_columns):
    """Row pointer and columns of the transpose, and the (nnz,) order in which it takes the entries."""
    cdef Py_ssize_t nnz = cnp.PyArray_SIZE(columns), n_rows = cnp.PyArray_SIZE(pointer) - 1
    cdef const int64_t* p = _pointer(pointer, nnz)
    cdef const int64_t* c = int64_data(columns)
    if n_columns < 0:
        raise ValueError(f"negative number of columns {n_columns}")
    _within(c, nnz, n_columns)
    cdef cnp.ndarray out_pointer = _empty(n_columns + 1), out_columns = _empty(nnz), order = _empty(nnz)
    cdef int64_t* op = _data(out_pointer)
    cdef int64_t* oc = _data(out_columns)
    cdef int64_t* o = _data(order)
    with nogil:
        transpose(p, c, n_rows, n_columns, op, oc, o)
    return out_pointer, out_columns, order


def select_rows(cnp.ndarray pointer not None, cnp.ndarray index not None):
    """Entries of the rows index[0], index[1], ... one row after the other.

    Returns their places among the entries (m,) and, for each, which element of index asked for it (m,).
    """
    cdef Py_ssize_t n_rows = cnp.PyArray_SIZE(pointer) - 1, n = cnp.PyArray_SIZE(index), k, x, m = 0
    cdef const int64_t* p = _pointer(pointer, int64_data(pointer)[n_rows] if n_rows >= 0 else 0)
    cdef const int64_t* chosen = int64_data(index)
    _within(chosen, n, n_rows)
    for k in range(n):
        m += p[chosen[k] + 1] - p[chosen[k]]
    cdef cnp.ndarray places = _empty(m), asked = _empty(m)
    cdef int64_t* out = _data(places)
    cdef int64_t* who = _data(asked)
    with nogil:
        m = 0
        for k in range(n):
            for x in range(p[chosen[k]], p[chosen[k] + 1]):
                out[m] = x
                who[m] = k
                m += 1
    return places, asked


def select(cnp.ndarray coordinates not None, Py_ssize_t size, cnp.ndarray index not None):
    """Entries whose coordinate (nnz,) below `size` occurs in index, once for each time it does.

    Returns their places among the entries (m,), in order, and the place in index of what they matched (m,).
    """
    cdef const int64_t* a = int64_data(coordinates)
    cdef const int64_t* chosen = int64_data(index)
    cdef Py_ssize_t nnz = cnp.PyArray_SIZE(coordinates), n = cnp.PyArray_SIZE(index), k, x, m = 0
    _within(chosen, n, size)
    _within(a, nnz, size)
    # Lists of the places in index by the coordinate they hold: first[c], then next[k] until -1.
    cdef int64_t* first = <int64_t*>scratch(size * sizeof(int64_t))
    cdef int64_t* counts = <int64_t*>scratch(size * sizeof(int64_t))
    cdef int64_t* following = <int64_t*>scratch(n * sizeof(int64_t))
    cdef cnp.ndarray places, asked
    cdef int64_t* out
    cdef int64_t* who
    try:
        if first == NULL or counts == NULL or following == NULL:
            raise MemoryError("no memory to select sparse entries")
        memset(first, 0xff, size * sizeof(int64_t))
        memset(counts, 0, size * sizeof(int64_t))
        for k in range(n - 1, -1, -1):
            following[k] = first[chosen[k]]
            first[chosen[k]] = k
            counts[chosen[k]] += 1
        for x in range(nnz):
            m += counts[a[x]]
        places = _empty(m)
        asked = _empty(m)
        out = _data(places)
        who = _data(asked)
        m = 0
        for x in range(nnz):
            k = first[a[x]]
            while k >= 0:
                out[m] = x
                who[m] = k
                m += 1
                k = following[k]
    finally:
        release(first)
        release(counts)
        release(following)
    return places, asked
