"""Transposes: entries sorted by their other coordinate, by counting.

The entries are cut into chunks that depend on the sizes alone; threads share the chunks. Each has a place for the next
entry of every row, after those of the chunks before it, so entries of a row keep their order.
"""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy, memset

from shimtorch._kernels.csr cimport line_of
from shimtorch._kernels.scratch cimport release, scratch
from shimtorch._kernels.sparsetypes cimport int64_data
from shimtorch._kernels.table cimport st_parallel

from shimtorch._kernels.csr import check_pointer, check_within

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
    GRAIN = 1 << 17         # entries that are worth a thread
    MOST_CHUNKS = 8
    FILLED = 4              # entries of a chunk per row, at least: places cost little beside them

ctypedef struct Narrow:
    int32_t other
    int32_t value           # the bits of any type of this size

ctypedef struct Wide:
    int64_t other
    int64_t value

cdef fused pair_t:
    Narrow
    Wide


cdef struct Sorting
ctypedef void (*scatter_t)(const Sorting*, Py_ssize_t, Py_ssize_t, int64_t*) noexcept nogil

cdef struct Sorting:
    const int64_t* rows             # by which the entries are sorted
    const int64_t* others           # (nnz,) their other coordinates
    const int64_t* lines            # in place of these, where each of the n_lines lines that the entries lie in begins
    Py_ssize_t n_lines
    const char* values              # (nnz,) of `size` bytes
    Py_ssize_t size
    Py_ssize_t nnz
    Py_ssize_t n_rows
    Py_ssize_t chunks
    int64_t* pointer                # (n_rows + 1,) the result's; from its second place on those of the last chunk
    int64_t* places                 # (chunks - 1, n_rows) those of the others
    scatter_t scatter
    void* pairs                     # other coordinate and value side by side, sorted
    int64_t* out_others
    char* out_values


cdef inline int64_t* _places(const Sorting* s, Py_ssize_t chunk) noexcept nogil:
    return s.places + chunk * s.n_rows if chunk < s.chunks - 1 else s.pointer + 1


cdef void _count_chunk(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef const Sorting* s = <const Sorting*>context
    cdef Py_ssize_t chunk, x
    cdef int64_t* places
    for chunk in range(begin, end):
        places = _places(s, chunk)
        memset(places, 0, s.n_rows * sizeof(int64_t))
        for x in range(s.nnz * chunk // s.chunks, s.nnz * (chunk + 1) // s.chunks):
            places[s.rows[x]] += 1


cdef void _scatter_chunk(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef const Sorting* s = <const Sorting*>context
    cdef Py_ssize_t chunk
    for chunk in range(begin, end):
        s.scatter(s, s.nnz * chunk // s.chunks, s.nnz * (chunk + 1) // s.chunks, _places(s, chunk))


cdef int _sort(Sorting* s) noexcept nogil:
    """Scatter all entries and leave their row pointer; -1: no memory."""
    cdef Py_ssize_t row, chunk, start = 0, n
    cdef int64_t* places
    s.chunks = min(s.nnz // GRAIN, s.nnz // (FILLED * max(s.n_rows, <Py_ssize_t>1)))
    s.chunks = min(max(s.chunks, <Py_ssize_t>1), <Py_ssize_t>MOST_CHUNKS)
    s.places = <int64_t*>scratch((s.chunks - 1) * s.n_rows * sizeof(int64_t))
    if s.places == NULL:
        return -1
    st_parallel(s.chunks, 1, _count_chunk, s)
    for row in range(s.n_rows):
        for chunk in range(s.chunks):
            places = _places(s, chunk) + row
            n = places[0]
            places[0] = start
            start += n
    s.pointer[0] = 0                # and the last chunk's places become the ends of the rows
    st_parallel(s.chunks, 1, _scatter_chunk, s)
    release(s.places)
    return 0


# ---------------------------------------------------------------- of compressed rows

cdef void _scatter_order(const Sorting* s, Py_ssize_t begin, Py_ssize_t end, int64_t* places) noexcept nogil:
    cdef Py_ssize_t x = begin, line = line_of(s.lines, s.n_lines, begin), stop
    cdef int64_t place
    cdef int64_t* order = <int64_t*>s.out_values
    while x < end:
        stop = min(s.lines[line + 1], end)
        while x < stop:
            place = places[s.rows[x]]
            places[s.rows[x]] = place + 1
            s.out_others[place] = line
            order[place] = x
            x += 1
        line += 1


cdef int transpose(const int64_t* pointer, const int64_t* columns, Py_ssize_t n_rows, Py_ssize_t n_columns,
                   int64_t* out_pointer, int64_t* out_columns, int64_t* order) noexcept nogil:
    """Pointer and columns of the transpose, and which entry each of its entries is. -1: no memory."""
    cdef Sorting s
    s.rows, s.lines, s.n_lines, s.nnz = columns, pointer, n_rows, pointer[n_rows]
    s.n_rows, s.pointer, s.out_others, s.out_values = n_columns, out_pointer, out_columns, <char*>order
    s.scatter = _scatter_order
    return _sort(&s)


# ---------------------------------------------------------------- of coordinates

ctypedef struct Crossing:
    const int64_t* rows
    const int64_t* columns
    bint wrong                      # set by any piece that finds an entry out of order


cdef void _crossing_piece(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Crossing* c = <Crossing*>context
    cdef const int64_t* rows = c.rows
    cdef const int64_t* columns = c.columns
    cdef Py_ssize_t x
    cdef bint wrong = False
    for x in range(max(begin, <Py_ssize_t>1), end):
        wrong |= (columns[x] < columns[x - 1]) | ((columns[x] == columns[x - 1]) & (rows[x] <= rows[x - 1]))
        if wrong and x & 1023 == 0:
            break
    if wrong:
        c.wrong = True


cdef bint lies_crosswise(const int64_t* rows, const int64_t* columns, Py_ssize_t nnz) noexcept nogil:
    """Whether entries ascend by column, those of a column by row, and none repeats: a transposed coalesced matrix."""
    cdef Crossing c
    c.rows, c.columns, c.wrong = rows, columns, False
    _crossing_piece(&c, 0, min(nnz, <Py_ssize_t>1024))         # most that lie otherwise show it at once
    if not c.wrong:
        st_parallel(nnz, GRAIN, _crossing_piece, &c)
    return not c.wrong


cdef inline void _scatter_pairs(const Sorting* s, Py_ssize_t begin, Py_ssize_t end, int64_t* places,
                                pair_t* pairs) noexcept nogil:
    """Coordinate and value go to their place together: one write to memory in any order for each entry, not two."""
    cdef Py_ssize_t x
    cdef int64_t place
    for x in range(begin, end):
        if x + AHEAD < end:
            prefetch_written(pairs + places[s.rows[x + AHEAD]])
        place = places[s.rows[x]]
        places[s.rows[x]] = place + 1
        if pair_t is Narrow:
            pairs[place].other = <int32_t>s.others[x]
            pairs[place].value = (<const int32_t*>s.values)[x]
        else:
            pairs[place].other = s.others[x]
            pairs[place].value = (<const int64_t*>s.values)[x]


cdef void _scatter_narrow(const Sorting* s, Py_ssize_t begin, Py_ssize_t end, int64_t* places) noexcept nogil:
    _scatter_pairs(s, begin, end, places, <Narrow*>s.pairs)


cdef void _scatter_wide(const Sorting* s, Py_ssize_t begin, Py_ssize_t end, int64_t* places) noexcept nogil:
    _scatter_pairs(s, begin, end, places, <Wide*>s.pairs)


cdef void _scatter_blocks(const Sorting* s, Py_ssize_t begin, Py_ssize_t end, int64_t* places) noexcept nogil:
    cdef Py_ssize_t x
    cdef int64_t place
    for x in range(begin, end):
        place = places[s.rows[x]]
        places[s.rows[x]] = place + 1
        s.out_others[place] = s.others[x]
        memcpy(s.out_values + place * s.size, s.values + x * s.size, s.size)


cdef void _part_narrow(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Coordinates and values of sorted pairs, each to its own list."""
    cdef const Sorting* s = <const Sorting*>context
    cdef const Narrow* pairs = <const Narrow*>s.pairs
    cdef Py_ssize_t x
    for x in range(begin, end):
        s.out_others[x] = pairs[x].other
        (<int32_t*>s.out_values)[x] = pairs[x].value


cdef void _part_wide(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef const Sorting* s = <const Sorting*>context
    cdef const Wide* pairs = <const Wide*>s.pairs
    cdef Py_ssize_t x
    for x in range(begin, end):
        s.out_others[x] = pairs[x].other
        (<int64_t*>s.out_values)[x] = pairs[x].value


cdef int turn(const int64_t* rows, const int64_t* columns, const char* values, Py_ssize_t size, Py_ssize_t nnz,
              Py_ssize_t n_rows, Py_ssize_t n_columns, int64_t* pointer, int64_t* out_columns,
              char* out_values) noexcept nogil:
    """Row pointer, columns and values (of `size` bytes) of a matrix whose entries lie crosswise.

    Returns -1 when there is no memory.
    """
    cdef Sorting s
    cdef bint narrow = size == 4 and n_columns <= 0x7fffffff
    cdef int failed
    s.rows, s.others, s.values, s.size, s.nnz, s.n_rows = rows, columns, values, size, nnz, n_rows
    s.pointer, s.out_others, s.out_values = pointer, out_columns, out_values
    if not narrow and size != 8:
        s.scatter = _scatter_blocks
        return _sort(&s)
    s.scatter = _scatter_narrow if narrow else _scatter_wide
    s.pairs = scratch(nnz * <Py_ssize_t>(sizeof(Narrow) if narrow else sizeof(Wide)))
    if s.pairs == NULL:
        return -1
    failed = _sort(&s)
    if not failed:
        st_parallel(nnz, GRAIN, _part_narrow if narrow else _part_wide, &s)
    release(s.pairs)
    return failed


# ---------------------------------------------------------------- NumPy interface

def transposed(cnp.ndarray pointer not None, cnp.ndarray columns not None, Py_ssize_t n_columns):
    """Row pointer and columns of the transpose, and the (nnz,) order in which it takes the entries."""
    cdef Py_ssize_t nnz = cnp.PyArray_SIZE(columns), n_rows = cnp.PyArray_SIZE(pointer) - 1
    cdef cnp.npy_intp[1] shape
    cdef int failed
    check_pointer(pointer, nnz)
    check_within(columns, n_columns)
    cdef const int64_t* p = int64_data(pointer)
    cdef const int64_t* c = int64_data(columns)
    shape[0] = n_columns + 1
    cdef cnp.ndarray out_pointer = cnp.PyArray_EMPTY(1, shape, cnp.NPY_INT64, 0)
    shape[0] = nnz
    cdef cnp.ndarray out_columns = cnp.PyArray_EMPTY(1, shape, cnp.NPY_INT64, 0)
    cdef cnp.ndarray order = cnp.PyArray_EMPTY(1, shape, cnp.NPY_INT64, 0)
    cdef int64_t* op = <int64_t*>cnp.PyArray_DATA(out_pointer)
    cdef int64_t* oc = <int64_t*>cnp.PyArray_DATA(out_columns)
    cdef int64_t* o = <int64_t*>cnp.PyArray_DATA(order)
    with nogil:
        failed = transpose(p, c, n_rows, n_columns, op, oc, o)
    if failed:
        raise MemoryError("no memory for a transpose")
    return out_pointer, out_columns, order
