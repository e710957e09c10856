"""Compressed rows: building, selecting.

A row pointer holds n_rows + 1 ascending places: row r owns the entries pointer[r] up to pointer[r + 1].
"""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy, memset

from shimtorch._kernels.move cimport st_move
from shimtorch._kernels.scratch cimport release, scratch
from shimtorch._kernels.sparsetypes cimport int64_data
from shimtorch._kernels.table cimport st_parallel

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

cdef enum:
    GRAIN = 1 << 18         # entries that are worth a thread ...
    TAKEN = 1 << 15         # ... when each is copied from another place
    AHEAD = 16              # rows ahead that are asked for: their places follow no pattern
    LINE = 64               # bytes in a cache line


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


cdef Py_ssize_t line_of(const int64_t* pointer, Py_ssize_t n_rows, Py_ssize_t entry) noexcept nogil:
    """The first row that ends after an entry: the one that holds it."""
    cdef Py_ssize_t low = 0, high = n_rows, row
    while low < high:
        row = (low + high) // 2
        if pointer[row + 1] <= entry:
            low = row + 1
        else:
            high = row
    return low


cdef void _expand_piece(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """The row numbers of entries begin..end."""
    cdef const Rows* p = <const Rows*>context
    cdef Py_ssize_t row = line_of(p.pointer, p.n_rows, begin), x = begin, stop
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


# ---------------------------------------------------------------- rows and entries by number

ctypedef struct Taking:
    const int64_t* pointer
    const int64_t* columns
    const char* values
    Py_ssize_t size
    Py_ssize_t nnz
    const int64_t* chosen
    const int64_t* out_pointer
    int64_t* out_rows
    int64_t* out_columns
    char* out


# A row is written in whole lines, two of them at least for its numbers: how many entries a row has can't be predicted,
# but that it has at most sixteen mostly can.

cdef inline void _copy_numbers(int64_t* to, const int64_t* source, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t at = 16
    memcpy(to, source, 2 * LINE)
    while at < n:
        memcpy(to + at, source + at, LINE)
        at += 8


cdef inline void _copy_values(char* to, const char* source, Py_ssize_t size) noexcept nogil:
    cdef Py_ssize_t at = LINE
    memcpy(to, source, LINE)
    while at < size:
        memcpy(to + at, source + at, LINE)
        at += LINE


cdef inline void _repeat(int64_t* to, int64_t number, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t at, k
    for k in range(16):
        to[k] = number
    at = 16
    while at < n:
        for k in range(8):
            to[at + k] = number
        at += 8


cdef void _rows_piece(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef const Taking* t = <const Taking*>context
    cdef Py_ssize_t k, x, to, n, at, room = t.out_pointer[end] - LINE
    for k in range(begin, end):
        x = t.pointer[t.chosen[k + AHEAD if k + AHEAD < end else end - 1]]
        prefetch(t.columns + x)
        prefetch(<const char*>(t.columns + x) + LINE)
        prefetch(t.values + x * t.size)
        x, to = t.pointer[t.chosen[k]], t.out_pointer[k]
        n = t.out_pointer[k + 1] - to
        if to + n <= room and x + n + LINE <= t.nnz:        # more than the row may be read, and written over later
            _repeat(t.out_rows + to, k, n)
            _copy_numbers(t.out_columns + to, t.columns + x, n)
            _copy_values(t.out + to * t.size, t.values + x * t.size, n * t.size)
        else:
            for at in range(to, to + n):
                t.out_rows[at] = k
            st_move(t.out_columns + to, t.columns + x, n * sizeof(int64_t))
            st_move(t.out + to * t.size, t.values + x * t.size, n * t.size)


cdef void take_rows(const int64_t* pointer, Py_ssize_t nnz, const int64_t* columns, const char* values,
                    Py_ssize_t size, const int64_t* chosen, Py_ssize_t n, const int64_t* out_pointer,
                    int64_t* out_rows, int64_t* out_columns, char* out_values) noexcept nogil:
    """Row numbers, columns and values (of `size` bytes) of n chosen rows of nnz entries, to where the result's row
    pointer says."""
    cdef Taking t
    t.pointer, t.nnz, t.columns, t.values, t.size, t.chosen = pointer, nnz, columns, values, size, chosen
    t.out_pointer, t.out_rows, t.out_columns, t.out = out_pointer, out_rows, out_columns, out_values
    st_parallel(n, max(TAKEN // (out_pointer[n] // max(n, <Py_ssize_t>1) + 1), <Py_ssize_t>1), _rows_piece, &t)


ctypedef struct Gathering:
    const char* source
    Py_ssize_t step
    Py_ssize_t size
    const int64_t* places
    char* out


cdef void _entries_piece(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef const Gathering* g = <const Gathering*>context
    cdef Py_ssize_t x
    if g.size == 4:
        for x in range(begin, end):
            (<int32_t*>g.out)[x] = (<const int32_t*>(g.source + g.places[x] * g.step))[0]
    elif g.size == 8:
        for x in range(begin, end):
            (<int64_t*>g.out)[x] = (<const int64_t*>(g.source + g.places[x] * g.step))[0]
    else:
        for x in range(begin, end):
            st_move(g.out + x * g.size, g.source + g.places[x] * g.step, g.size)


cdef void take_entries(const char* source, Py_ssize_t step, Py_ssize_t size, const int64_t* places, Py_ssize_t n,
                       char* out) noexcept nogil:
    """Blocks of `size` bytes, `step` bytes apart, in the order of n places."""
    cdef Gathering g
    g.source, g.step, g.size, g.places, g.out = source, step, size, places, out
    st_parallel(n, max(TAKEN // (size // 64 + 1), <Py_ssize_t>1), _entries_piece, &g)


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


def check_within(cnp.ndarray indices not None, Py_ssize_t size):
    """IndexError unless all of (n,) indices are in 0..size; ValueError for a negative size."""
    if size < 0:
        raise ValueError(f"negative size {size}")
    _within(int64_data(indices), cnp.PyArray_SIZE(indices), size)


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
