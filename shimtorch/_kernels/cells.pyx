"""Sums of sparse entries with one accumulator for each possible coordinate.

It suits a space not much larger than the number of entries; its cells are numbered row by row. Floats are summed in
double and integers in 64 bits, in the order in which the entries stand.
"""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memset

from shimtorch._kernels.kernels cimport (
    ST_BOOL, ST_COMPLEX64, ST_COMPLEX128, ST_FLOAT32, ST_FLOAT64, ST_INT8, ST_INT16, ST_INT32, ST_INT64, ST_UINT8,
)
from shimtorch._kernels.scratch cimport release, scratch, zeroed_scratch
from shimtorch._kernels.sparsetypes cimport IndexSet, cbool, real_t

cdef fused sum_t:
    double
    int64_t

cdef enum:
    CELLS_PER_ENTRY = 4     # accumulators per entry above which sorting is cheaper
    MOST_CELLS = 1 << 17    # about what the second-level cache holds


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


cdef inline void _fill_cells(const IndexSet* entries, const int64_t* sizes, const real_t* values, Py_ssize_t width,
                             sum_t* cells, char* used, sum_t zero) noexcept nogil:
    """Add up values; `used` marks the cells that have entries, unless it is NULL."""
    cdef Py_ssize_t x, cell, d, column
    cdef const int64_t* a = entries.data
    cdef Py_ssize_t step = entries.entry_step
    if width == 1 and entries.dims == 1:
        if used != NULL:
            for x in range(entries.nnz):
                used[a[x * step]] = 1
                cells[a[x * step]] += <sum_t>values[x]
        elif step == 1:
            for x in range(entries.nnz):
                cells[a[x]] += <sum_t>values[x] + zero
        else:
            for x in range(entries.nnz):
                cells[a[x * step]] += <sum_t>values[x] + zero
        return
    for x in range(entries.nnz):
        cell = a[x * step] if entries.dims else 0
        for d in range(1, entries.dims):
            cell = cell * sizes[d] + a[d * entries.dim_step + x * step]
        if used != NULL:
            used[cell] = 1
        for column in range(width):
            cells[cell * width + column] += <sum_t>values[x * width + column] + zero


cdef inline bint _is_used(const double* sums, Py_ssize_t place) noexcept nogil:
    """Whether anything was added to a sum that began as -0.0: no sum of numbers + 0.0 is that."""
    return (<const uint64_t*>sums)[place] != <uint64_t>1 << 63


cdef Py_ssize_t _sum_cells(const IndexSet* entries, const int64_t* sizes, Py_ssize_t n_cells, const real_t* values,
                           Py_ssize_t width, int64_t* out_indices, real_t* out_values) noexcept nogil:
    """Sums by cell; the values found go to out_values, the numbers of their cells to out_indices; returns how many."""
    cdef char* used = NULL
    cdef double* sums = <double*>scratch(n_cells * width * sizeof(double))      # or as many int64
    cdef Py_ssize_t cell, column, found = 0, total = 0
    if sums == NULL:
        return -1
    if real_t is float or real_t is double:
        for cell in range(n_cells * width):
            sums[cell] = -0.0
        _fill_cells(entries, sizes, values, width, sums, NULL, <double>0)
        for cell in range(n_cells):
            total += _is_used(sums, cell * width)
    else:
        used = <char*>zeroed_scratch(n_cells)
        if used == NULL:
            release(sums)
            return -1
        memset(sums, 0, n_cells * width * sizeof(double))
        _fill_cells(entries, sizes, values, width, <int64_t*>sums, used, <int64_t>0)
        for cell in range(n_cells):
            total += used[cell]
    cell = 0
    while found < total:        # an unused cell writes too, and is written over: no branch to mispredict
        out_indices[found] = cell
        for column in range(width):
            if real_t is float or real_t is double:
                out_values[found * width + column] = <real_t>sums[cell * width + column]
            else:
                out_values[found * width + column] = <real_t>(<int64_t*>sums)[cell * width + column]
        if real_t is float or real_t is double:
            found += _is_used(sums, cell * width)
        else:
            found += used[cell]
        cell += 1
    release(used)
    release(sums)
    return found


cdef void cell_indices(const int64_t* cells, Py_ssize_t n, int dims, const int64_t* sizes, int64_t* out) noexcept nogil:
    """Coordinates (dims, n) of ascending row-major cell numbers."""
    cdef Py_ssize_t x
    cdef int d
    cdef int64_t rest, start = 0, length = sizes[dims - 1] if dims else 1
    for x in range(n):
        # Most cells lie in the same innermost row as the one before: then only the last coordinate moves.
        if x and cells[x] - start < length:
            for d in range(dims - 1):
                out[d * n + x] = out[d * n + x - 1]
        else:
            rest = cells[x] // length
            start = rest * length
            for d in range(dims - 2, -1, -1):
                out[d * n + x] = rest % sizes[d]
                rest //= sizes[d]
        if dims:
            out[(dims - 1) * n + x] = cells[x] - start


# ---------------------------------------------------------------- dispatch over dtypes

ctypedef Py_ssize_t (*sum_cells_t)(const IndexSet*, const int64_t*, Py_ssize_t, const void*, Py_ssize_t, int64_t*,
                                   void*) noexcept nogil

ctypedef struct Kernels:
    sum_cells_t sum_cells
    Py_ssize_t parts        # reals in an element

cdef Kernels[ST_COMPLEX128 + 1] _kernels


cdef void _bind(int dtype, Py_ssize_t parts, real_t* tag):
    _kernels[dtype].sum_cells = <sum_cells_t>_sum_cells[real_t]
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
    cdef Py_ssize_t cells = count_cells(entries, sizes)
    width *= _kernels[dtype].parts
    if cells < 0 or not 0 < width <= MOST_WIDTH:
        return -2
    return _kernels[dtype].sum_cells(entries, sizes, cells, values, width, out_indices, out_values)
