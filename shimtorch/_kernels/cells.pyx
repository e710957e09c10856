"""Sums of sparse entries with one accumulator for each possible coordinate.

It suits a space not much larger than the number of entries; its cells are numbered row by row. Floats are summed in
double and integers in 64 bits, in the order in which the entries stand. Many entries are cut into pieces, which depend
on the sizes alone and have accumulators of their own; threads share the pieces.
"""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memset

from shimtorch._kernels.kernels cimport (
    ST_BOOL, ST_COMPLEX64, ST_COMPLEX128, ST_FLOAT32, ST_FLOAT64, ST_INT8, ST_INT16, ST_INT32, ST_INT64, ST_UINT8,
)
from shimtorch._kernels.scratch cimport release, scratch
from shimtorch._kernels.sparsetypes cimport IndexSet, cbool, real_t
from shimtorch._kernels.table cimport st_parallel

cdef fused sum_t:
    double
    int64_t

cdef enum:
    CELLS_PER_ENTRY = 4     # accumulators per entry above which sorting is cheaper
    MOST_CELLS = 1 << 17    # about what the second-level cache holds
    SHARE = 1 << 17         # entries of a piece, at least
    FILLED = 4              # and for each cell: what its accumulators cost is little beside them
    MOST_PIECES = 8
    NUMBERS = 1 << 16       # cells whose coordinates are worth a thread


cdef Py_ssize_t count_cells(const IndexSet* entries, const int64_t* sizes) noexcept nogil:
    """Product of the sizes, or -1 where that is too large for cells to pay."""
    cdef Py_ssize_t cells = 1
    cdef Py_ssize_t most = min(CELLS_PER_ENTRY * entries.nnz, <Py_ssize_t>MOST_CELLS)
    cdef Py_ssize_t d
    for d in range(entries.dims):
        if sizes[d] == 0 or cells > most // sizes[d]:
            return -1
        cells *= sizes[d]
    return cells


cdef struct Summing
ctypedef void (*fill_t)(const Summing*, const void*, Py_ssize_t) noexcept nogil

cdef struct Summing:
    const IndexSet* entries
    const int64_t* sizes
    const void* values
    Py_ssize_t width                # reals of an entry
    Py_ssize_t n_cells
    Py_ssize_t pieces
    double* sums                    # (pieces, n_cells, width), or as many int64
    char* used                      # (pieces, n_cells): which cells of integers have entries
    fill_t fill


cdef inline void _add_up(const Summing* s, const real_t* values, Py_ssize_t begin, Py_ssize_t end, sum_t* cells,
                         char* used, sum_t zero) noexcept nogil:
    """Add entries begin..end to their cells; `used` marks those that have any, unless it is NULL."""
    cdef Py_ssize_t x, cell, d, column, width = s.width
    cdef const IndexSet* entries = s.entries
    cdef const int64_t* a = entries.data
    cdef Py_ssize_t step = entries.entry_step
    if width == 1 and entries.dims == 1:
        if used != NULL:
            for x in range(begin, end):
                used[a[x * step]] = 1
                cells[a[x * step]] += <sum_t>values[x]
        elif step == 1:
            for x in range(begin, end):
                cells[a[x]] += <sum_t>values[x] + zero
        else:
            for x in range(begin, end):
                cells[a[x * step]] += <sum_t>values[x] + zero
        return
    for x in range(begin, end):
        cell = a[x * step] if entries.dims else 0
        for d in range(1, entries.dims):
            cell = cell * s.sizes[d] + a[d * entries.dim_step + x * step]
        if used != NULL:
            used[cell] = 1
        for column in range(width):
            cells[cell * width + column] += <sum_t>values[x * width + column] + zero


cdef void _fill_piece(const Summing* s, const real_t* values, Py_ssize_t piece) noexcept nogil:
    """Sums of one piece of the entries. Those of floats begin as -0.0, which no sum of numbers + 0.0 is: unused."""
    cdef Py_ssize_t x, n = s.n_cells * s.width, nnz = s.entries.nnz
    cdef Py_ssize_t begin = nnz * piece // s.pieces, end = nnz * (piece + 1) // s.pieces
    cdef double* sums = s.sums + piece * n
    cdef char* used
    if real_t is float or real_t is double:
        for x in range(n):
            sums[x] = -0.0
        _add_up(s, values, begin, end, sums, NULL, <double>0)
    else:
        used = s.used + piece * s.n_cells
        memset(used, 0, s.n_cells)
        memset(sums, 0, n * sizeof(double))
        _add_up(s, values, begin, end, <int64_t*>sums, used, <int64_t>0)


cdef void _fill_pieces(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef const Summing* s = <const Summing*>context
    cdef Py_ssize_t piece
    for piece in range(begin, end):
        s.fill(s, s.values, piece)


cdef inline void _join(const Summing* s, sum_t* sums) noexcept nogil:
    """Add the cells of the other pieces to those of the first."""
    cdef Py_ssize_t piece, x, n = s.n_cells * s.width
    for piece in range(1, s.pieces):
        for x in range(n):
            sums[x] += sums[piece * n + x]
        if sum_t is int64_t:
            for x in range(s.n_cells):
                s.used[x] |= s.used[piece * s.n_cells + x]


cdef inline bint _is_used(const double* sums, Py_ssize_t place) noexcept nogil:
    return (<const uint64_t*>sums)[place] != <uint64_t>1 << 63


cdef Py_ssize_t _take_used(const Summing* s, int64_t* out_indices, real_t* out_values) noexcept nogil:
    """The sums of the used cells go to out_values, the numbers of these to out_indices; returns how many."""
    cdef Py_ssize_t cell, column, found = 0, total = 0, width = s.width
    cdef const double* sums = s.sums
    if real_t is float or real_t is double:
        _join(s, s.sums)
        for cell in range(s.n_cells):
            total += _is_used(sums, cell * width)
    else:
        _join(s, <int64_t*>s.sums)
        for cell in range(s.n_cells):
            total += s.used[cell]
    cell = 0
    while found < total:        # an unused cell writes too, and is written over: no branch to mispredict
        out_indices[found] = cell
        for column in range(width):
            if real_t is float or real_t is double:
                out_values[found * width + column] = <real_t>sums[cell * width + column]
            else:
                out_values[found * width + column] = <real_t>(<const int64_t*>sums)[cell * width + column]
        if real_t is float or real_t is double:
            found += _is_used(sums, cell * width)
        else:
            found += s.used[cell]
        cell += 1
    return found


ctypedef struct Numbered:
    const int64_t* cells
    Py_ssize_t n
    int dims
    const int64_t* sizes
    int64_t* out


cdef void _indices_piece(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef const Numbered* c = <const Numbered*>context
    cdef Py_ssize_t x, n = c.n
    cdef int d, dims = c.dims
    cdef const int64_t* cells = c.cells
    cdef int64_t* out = c.out
    cdef int64_t rest, start = 0, length = c.sizes[dims - 1] if dims else 1
    for x in range(begin, end):
        # Most cells lie in the same innermost row as the one before: then only the last coordinate moves.
        if x > begin and cells[x] - start < length:
            for d in range(dims - 1):
                out[d * n + x] = out[d * n + x - 1]
        else:
            rest = cells[x] // length
            start = rest * length
            for d in range(dims - 2, -1, -1):
                out[d * n + x] = rest % c.sizes[d]
                rest //= c.sizes[d]
        if dims:
            out[(dims - 1) * n + x] = cells[x] - start


cdef void cell_indices(const int64_t* cells, Py_ssize_t n, int dims, const int64_t* sizes, int64_t* out) noexcept nogil:
    """Coordinates (dims, n) of ascending row-major cell numbers."""
    cdef Numbered c
    c.cells, c.n, c.dims, c.sizes, c.out = cells, n, dims, sizes, out
    st_parallel(n, NUMBERS, _indices_piece, &c)


# ---------------------------------------------------------------- dispatch over dtypes

ctypedef Py_ssize_t (*take_used_t)(const Summing*, int64_t*, void*) noexcept nogil

ctypedef struct Kernels:
    fill_t fill
    take_used_t take_used
    Py_ssize_t parts        # reals in an element

cdef Kernels[ST_COMPLEX128 + 1] _kernels


cdef void _bind(int dtype, Py_ssize_t parts, real_t* tag):
    _kernels[dtype].fill = <fill_t>_fill_piece[real_t]
    _kernels[dtype].take_used = <take_used_t>_take_used[real_t]
    _kernels[dtype].parts = parts


_bind(ST_BOOL, 1, <cbool*>NULL)
_bind(ST_UINT8, 1, <uint8_t*>NULL)
_bind(ST_INT8, 1, <int8_t*>NULL)
_bind(ST_INT16, 1, <int16_t*>NULL)
_bind(ST_INT32, 1, <int32_t*>NULL)
_bind(ST_INT64, 1, <int64_t*>NULL)
_bind(ST_FLOAT32, 1, <float*>NULL)
_bind(ST_FLOAT64, 1, <double*>NULL)
_bind(ST_COMPLEX64, 2, <float*>NULL)
_bind(ST_COMPLEX128, 2, <double*>NULL)


cdef Py_ssize_t sum_cells(const IndexSet* entries, const int64_t* sizes, int dtype, const void* values,
                          Py_ssize_t width, int64_t* out_indices, void* out_values) noexcept nogil:
    """Coalesce by one accumulator for each coordinate; outputs have room for min(nnz, product of sizes) entries.

    Returns how many were found (out_indices holds that many numbers of cells, row-major in sizes), -1 when there
    is no memory, or -2 when sorting is the better way.
    """
    cdef Summing s
    cdef Py_ssize_t found = -1
    s.entries, s.sizes, s.values, s.width = entries, sizes, values, width * _kernels[dtype].parts
    s.n_cells, s.fill = count_cells(entries, sizes), _kernels[dtype].fill
    if s.n_cells < 0 or not 0 < s.width <= MOST_WIDTH:
        return -2
    s.pieces = min(entries.nnz // SHARE, entries.nnz // (FILLED * max(s.n_cells, <Py_ssize_t>1)))
    s.pieces = min(max(s.pieces, <Py_ssize_t>1), <Py_ssize_t>MOST_PIECES)
    s.sums = <double*>scratch(s.pieces * s.n_cells * s.width * sizeof(double))
    s.used = <char*>scratch(s.pieces * s.n_cells)
    if s.sums != NULL and s.used != NULL:
        st_parallel(s.pieces, 1, _fill_pieces, &s)
        found = _kernels[dtype].take_used(&s, out_indices, out_values)
    release(s.used)
    release(s.sums)
    return found
