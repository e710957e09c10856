"""Entries of a coordinate list grouped by equal coordinates, and their sums: what coalescing a sparse tensor needs.

Coordinates are packed into one 64-bit key and sorted; where they do not fit, by several keys one after the other, the
last dimensions first. In a space not much larger than the number of entries `coalesce` uses cells instead.

Values are (nnz, width) contiguous. Floats are summed in double and integers in 64 bits, in the order in which the
entries stand; bool sums are true where any entry is. Threads share stretches of the entries, and groups.
"""

cimport numpy as cnp
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint64_t

from shimtorch._kernels.cells cimport MOST_WIDTH, cell_indices, count_cells, sum_cells
from shimtorch._kernels.indexkeys cimport DISTINCT, SORTED, UNSORTED, KeyOrder, key_bits, pack_keys, unpack_keys
from shimtorch._kernels.kernels cimport (
    ST_BOOL, ST_COMPLEX64, ST_COMPLEX128, ST_FLOAT32, ST_FLOAT64, ST_INT8, ST_INT16, ST_INT32, ST_INT64, ST_UINT8,
)
from shimtorch._kernels.keysort cimport sort_keys
from shimtorch._kernels.move cimport st_move
from shimtorch._kernels.scratch cimport release, scratch
from shimtorch._kernels.sparsetypes cimport (
    MAX_DIMS, IndexSet, cbool, contiguous_data, dtype_code, index_set, read_sizes, real_t,
)
from shimtorch._kernels.table cimport st_parallel

cnp.import_array()

cdef fused sum_t:
    double
    int64_t

cdef enum:
    LANES = 32              # columns of a hybrid value summed at a time
    GRAIN = 1 << 16         # entries that are worth a thread
    MOST_CHUNKS = 16


# ---------------------------------------------------------------- groups by sorting

cdef bint _ascends(const IndexSet* entries, int dim) noexcept nogil:
    cdef const int64_t* a = entries.data + dim * entries.dim_step
    cdef Py_ssize_t x
    for x in range(1, entries.nnz):
        if a[x * entries.entry_step] < a[(x - 1) * entries.entry_step]:
            return False
    return True


cdef void free_groups(Groups* groups) noexcept nogil:
    release(groups.keys)
    release(groups.order)
    release(groups.starts)
    groups.keys = NULL
    groups.order = NULL
    groups.starts = NULL


cdef inline bint _same_entry(const IndexSet* entries, int64_t x, int64_t y) noexcept nogil:
    cdef Py_ssize_t d
    cdef const int64_t* a = entries.data
    for d in range(entries.dims):
        if a[d * entries.dim_step + x * entries.entry_step] != a[d * entries.dim_step + y * entries.entry_step]:
            return False
    return True


cdef int _order_wide(const IndexSet* entries, Groups* out) noexcept nogil:
    """Order entries whose packed coordinates exceed 64 bits: by words of whole dimensions, the last ones first."""
    cdef Py_ssize_t x, n = entries.nnz
    cdef uint64_t* keys = <uint64_t*>scratch(n * sizeof(uint64_t))
    cdef int64_t* moved = <int64_t*>scratch(n * sizeof(int64_t))
    cdef int64_t* order = <int64_t*>scratch(n * sizeof(int64_t))
    cdef int64_t* swap
    cdef int first, last = <int>entries.dims, total, failed = 0
    out.order = order
    if keys == NULL or moved == NULL or order == NULL:
        failed = -1
    else:
        for x in range(n):
            order[x] = x
    while not failed and last > 0:
        first = last
        total = 0
        while first > 0 and total + out.bits[first - 1] <= 64:
            first -= 1
            total += out.bits[first]
        if pack_keys(entries, first, last, out.bits, order, keys) == UNSORTED:
            failed = sort_keys(keys, moved, n, 0, total)
            if not failed:
                for x in range(n):
                    moved[x] = order[moved[x]]
                swap = moved
                moved = order
                order = swap
        last = first
    out.order = order
    release(keys)
    release(moved)
    return failed


cdef int group_entries(const IndexSet* entries, const int64_t* sizes, Groups* out) noexcept nogil:
    """Group entries by coordinates, which must lie within sizes; groups ascend. Returns -1 when there is no memory.

    Release `out` with free_groups, whatever is returned.
    """
    cdef int total, low = 0
    cdef KeyOrder state
    cdef Py_ssize_t n = entries.nnz
    out.nnz = n
    out.dims = <int>entries.dims
    out.count = n
    out.keys = NULL
    out.order = NULL
    out.starts = NULL
    total = key_bits(sizes, out.dims, out.bits)
    out.wide = total > 64
    if n == 0:
        return 0
    if out.wide:
        if _order_wide(entries, out):
            return -1
        state = SORTED
    else:
        out.keys = <uint64_t*>scratch(n * sizeof(uint64_t))
        if out.keys == NULL:
            return -1
        state = pack_keys(entries, 0, out.dims, out.bits, NULL, out.keys)
        if state == DISTINCT:
            return 0
        if state == UNSORTED:
            out.order = <int64_t*>scratch(n * sizeof(int64_t))
            if out.order == NULL:
                return -1
            # A transposed matrix is in order of its last dimension: only the bits above are left to sort.
            if out.dims == 2 and _ascends(entries, 1):
                low = out.bits[1]
            if sort_keys(out.keys, out.order, n, low, total):
                return -1
    out.count = _mark_starts(entries, out)
    return 0 if out.count >= 0 else -1


ctypedef struct Marking:
    const IndexSet* entries
    const Groups* groups
    Py_ssize_t chunks
    Py_ssize_t* before      # (chunks + 1,): groups that begin in a chunk, then in those before it
    bint writes


cdef void _mark_piece(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Count the groups that begin in chunks begin..end, or write where they do."""
    cdef Marking* m = <Marking*>context
    cdef Py_ssize_t chunk, x, g, first, last, n = m.groups.nnz
    cdef const uint64_t* keys = m.groups.keys
    cdef const int64_t* order = m.groups.order
    cdef int64_t* starts = m.groups.starts
    for chunk in range(begin, end):
        first, last = max(n * chunk // m.chunks, <Py_ssize_t>1), n * (chunk + 1) // m.chunks
        g = 0
        if not m.writes:
            if m.groups.wide:
                for x in range(first, last):
                    g += not _same_entry(m.entries, order[x], order[x - 1])
            else:
                for x in range(first, last):
                    g += keys[x] != keys[x - 1]
            m.before[chunk + 1] = g
            continue
        # No branch on "same as before?": duplicates are unpredictable, and a start may be written often.
        g = m.before[chunk] + 1
        for x in range(first, last):
            if g > m.before[chunk + 1]:
                break
            starts[g] = x
            if m.groups.wide:
                g += not _same_entry(m.entries, order[x], order[x - 1])
            else:
                g += keys[x] != keys[x - 1]


cdef Py_ssize_t _mark_starts(const IndexSet* entries, Groups* groups) noexcept nogil:
    """Where the groups of sorted entries begin; returns how many there are, or -1 when there is no memory."""
    cdef Marking m
    cdef Py_ssize_t[MOST_CHUNKS + 1] before
    cdef Py_ssize_t chunk, count
    m.entries, m.groups, m.before, m.writes = entries, groups, before, False
    m.chunks = min(max(groups.nnz // GRAIN, <Py_ssize_t>1), <Py_ssize_t>MOST_CHUNKS)
    before[0] = 0
    st_parallel(m.chunks, 1, _mark_piece, &m)
    for chunk in range(m.chunks):
        before[chunk + 1] += before[chunk]
    count = before[m.chunks] + 1
    groups.starts = <int64_t*>scratch((count + 1) * sizeof(int64_t))
    if groups.starts == NULL:
        return -1
    m.writes = True
    st_parallel(m.chunks, 1, _mark_piece, &m)
    groups.starts[0] = 0
    groups.starts[count] = groups.nnz
    return count


cdef void group_indices(const Groups* groups, const IndexSet* entries, int64_t* out) noexcept nogil:
    """Write the (dims, count) coordinates of the groups."""
    cdef Py_ssize_t g, n = groups.count
    cdef int d
    cdef const int64_t* a
    if not groups.wide:
        unpack_keys(groups.keys, groups.starts, n, groups.bits, groups.dims, out)
        return
    for d in range(groups.dims):
        a = entries.data + d * entries.dim_step
        for g in range(n):
            out[d * n + g] = a[groups.order[groups.starts[g]] * entries.entry_step]


cdef struct Summing
ctypedef void (*sums_kernel)(const Summing*, const void*, Py_ssize_t, Py_ssize_t) noexcept nogil

cdef struct Summing:
    const Groups* groups
    const void* values
    Py_ssize_t width
    void* out
    sums_kernel kernel


cdef inline void _group_sums(const Groups* groups, const real_t* values, Py_ssize_t width, real_t* out,
                             Py_ssize_t first, Py_ssize_t last, sum_t zero) noexcept nogil:
    cdef Py_ssize_t g, x, column, lane, lanes
    cdef const int64_t* order = groups.order
    cdef const int64_t* starts = groups.starts
    cdef const real_t* value
    cdef sum_t total
    cdef sum_t[LANES] sums
    if width == 1:
        for g in range(first, last):
            total = zero
            for x in range(starts[g], starts[g + 1]):
                total += <sum_t>values[order[x] if order != NULL else x]
            out[g] = <real_t>total
        return
    for g in range(first, last):
        if starts[g + 1] - starts[g] == 1:
            x = starts[g]
            st_move(out + g * width, values + (order[x] if order != NULL else x) * width, width * sizeof(real_t))
            continue
        column = 0
        while column < width:
            lanes = min(width - column, LANES)
            for lane in range(lanes):
                sums[lane] = zero
            for x in range(starts[g], starts[g + 1]):
                value = values + (order[x] if order != NULL else x) * width + column
                for lane in range(lanes):
                    sums[lane] += <sum_t>value[lane]
            for lane in range(lanes):
                out[g * width + column + lane] = <real_t>sums[lane]
            column += lanes


cdef void _group_sums_any(const Summing* s, const real_t* values, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    if s.groups.starts == NULL:
        st_move(<real_t*>s.out + first * s.width, values + first * s.width, (last - first) * s.width * sizeof(real_t))
    elif real_t is float or real_t is double:
        _group_sums(s.groups, values, s.width, <real_t*>s.out, first, last, <double>0)
    else:
        _group_sums(s.groups, values, s.width, <real_t*>s.out, first, last, <int64_t>0)


cdef void _sums_piece(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef const Summing* s = <const Summing*>context
    s.kernel(s, s.values, begin, end)


# ---------------------------------------------------------------- dispatch over dtypes

ctypedef struct Kernels:
    sums_kernel group_sums
    Py_ssize_t parts        # reals in an element

cdef Kernels[ST_COMPLEX128 + 1] _kernels


cdef void _bind(int dtype, Py_ssize_t parts, real_t* tag):
    _kernels[dtype].group_sums = <sums_kernel>_group_sums_any[real_t]
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


cdef void group_sums(const Groups* groups, int dtype, const void* values, Py_ssize_t width, void* out) noexcept nogil:
    """Sum the (nnz, width) values of each group into (count, width) out."""
    cdef Summing s
    s.groups, s.values, s.width, s.out = groups, values, width * _kernels[dtype].parts, out
    s.kernel = _kernels[dtype].group_sums
    st_parallel(groups.count, max(GRAIN // s.width, <Py_ssize_t>1), _sums_piece, &s)


# ---------------------------------------------------------------- NumPy interface

cdef inline cnp.ndarray _empty(Py_ssize_t rows, Py_ssize_t columns):
    cdef cnp.npy_intp[2] shape
    shape[0] = rows
    shape[1] = columns
    return cnp.PyArray_EMPTY(2, shape, cnp.NPY_INT64, 0)


cdef bint _in_place(const Groups* groups) noexcept nogil:
    """Whether sorting moved nothing."""
    cdef Py_ssize_t x
    if groups.order != NULL:
        for x in range(groups.nnz):
            if groups.order[x] != x:
                return False
    return True


cdef class Grouping:
    """Entries of a (dims, nnz) index array, all within `sizes`, grouped by equal coordinates.

    count: number of groups.  distinct: the entries ascend and none repeats, so every group is one entry, in place.
    """

    def __cinit__(self, cnp.ndarray indices not None, sizes):
        cdef int failed
        cdef int64_t[MAX_DIMS] lengths
        index_set(indices, &self.entries)
        if read_sizes(sizes, lengths) != self.entries.dims:
            raise ValueError(f"{self.entries.dims} rows of indices for {len(sizes)} sizes")
        with nogil:
            failed = group_entries(&self.entries, lengths, &self.groups)
        if failed:
            raise MemoryError(f"no memory to sort {self.entries.nnz} sparse entries")
        self.held = indices
        self.count = self.groups.count
        self.distinct = self.groups.starts == NULL or (self.count == self.entries.nnz and _in_place(&self.groups))

    def __dealloc__(self):
        free_groups(&self.groups)

    def indices(self):
        """Coordinates of the groups, (dims, count), ascending."""
        cdef cnp.ndarray out = _empty(self.groups.dims, self.groups.count)
        cdef int64_t* data = <int64_t*>cnp.PyArray_DATA(out)
        if self.groups.count:
            with nogil:
                group_indices(&self.groups, &self.entries, data)
        return out

    def sum(self, cnp.ndarray values not None):
        """Sum of each group's values: (nnz, ...) to (count, ...), of the same dtype."""
        cdef int dtype = dtype_code(values)
        cdef Py_ssize_t ndim = cnp.PyArray_NDIM(values)
        if ndim < 1 or cnp.PyArray_DIM(values, 0) != self.groups.nnz:
            raise ValueError(f"expected values for {self.groups.nnz} entries")
        cdef const void* data = contiguous_data(values)
        cdef cnp.npy_intp[MAX_DIMS] shape
        cdef Py_ssize_t d, width = 1
        shape[0] = self.groups.count
        for d in range(1, ndim):
            shape[d] = cnp.PyArray_DIM(values, d)
            width *= shape[d]
        cdef cnp.ndarray out = cnp.PyArray_EMPTY(<int>ndim, shape, cnp.PyArray_TYPE(values), 0)
        cdef void* target = cnp.PyArray_DATA(out)
        if width and self.groups.count:
            with nogil:
                group_sums(&self.groups, dtype, data, width, target)
        return out

    def order(self):
        """Entries in order of their groups, (nnz,)."""
        cdef cnp.npy_intp[1] shape
        shape[0] = self.groups.nnz
        cdef cnp.ndarray out = cnp.PyArray_EMPTY(1, shape, cnp.NPY_INT64, 0)
        cdef int64_t* data = <int64_t*>cnp.PyArray_DATA(out)
        cdef Py_ssize_t x
        for x in range(self.groups.nnz):
            data[x] = self.groups.order[x] if self.groups.order != NULL else x
        return out

    def starts(self):
        """Where each group begins in order(), and where the last one ends: (count + 1,)."""
        cdef cnp.npy_intp[1] shape
        shape[0] = self.groups.count + 1
        cdef cnp.ndarray out = cnp.PyArray_EMPTY(1, shape, cnp.NPY_INT64, 0)
        cdef int64_t* data = <int64_t*>cnp.PyArray_DATA(out)
        cdef Py_ssize_t g
        for g in range(self.groups.count + 1):
            data[g] = self.groups.starts[g] if self.groups.starts != NULL else g
        return out

    def inverse(self):
        """Group of each entry, (nnz,)."""
        cdef cnp.npy_intp[1] shape
        shape[0] = self.groups.nnz
        cdef cnp.ndarray out = cnp.PyArray_EMPTY(1, shape, cnp.NPY_INT64, 0)
        cdef int64_t* data = <int64_t*>cnp.PyArray_DATA(out)
        cdef Py_ssize_t g, x
        if self.groups.starts == NULL:
            for x in range(self.groups.nnz):
                data[x] = x
            return out
        for g in range(self.groups.count):
            for x in range(self.groups.starts[g], self.groups.starts[g + 1]):
                data[self.groups.order[x] if self.groups.order != NULL else x] = g
        return out


def coalesce(cnp.ndarray indices not None, cnp.ndarray values not None, sizes):
    """Sum the entries of equal coordinates: (dims, nnz) indices within `sizes` and (nnz, ...) contiguous values.

    Returns indices, ascending and distinct, and the values of each.
    """
    cdef IndexSet entries
    cdef int64_t[MAX_DIMS] lengths
    cdef int dtype = dtype_code(values)
    cdef int ndim = cnp.PyArray_NDIM(values)
    cdef cnp.npy_intp[MAX_DIMS] shape
    cdef const void* data = contiguous_data(values)
    cdef Py_ssize_t d, found, width = 1
    cdef cnp.ndarray out_indices, out_values, cells
    cdef int64_t* target
    cdef int64_t* cell
    index_set(indices, &entries)
    if read_sizes(sizes, lengths) != entries.dims:
        raise ValueError(f"{entries.dims} rows of indices for {len(sizes)} sizes")
    if ndim < 1 or cnp.PyArray_DIM(values, 0) != entries.nnz:
        raise ValueError(f"expected values for {entries.nnz} entries")
    for d in range(1, ndim):
        shape[d] = cnp.PyArray_DIM(values, d)
        width *= shape[d]
    found = count_cells(&entries, lengths)
    if found < 0 or not 0 < width * _kernels[dtype].parts <= MOST_WIDTH:
        grouping = Grouping(indices, sizes)
        return grouping.indices(), grouping.sum(values)
    shape[0] = min(found, entries.nnz)
    out_values = cnp.PyArray_EMPTY(ndim, shape, cnp.PyArray_TYPE(values), 0)
    cells = cnp.PyArray_EMPTY(1, shape, cnp.NPY_INT64, 0)
    cell = <int64_t*>cnp.PyArray_DATA(cells)
    cdef void* sums = cnp.PyArray_DATA(out_values)
    with nogil:
        found = sum_cells(&entries, lengths, dtype, data, width, cell, sums)
    if found == -1:
        raise MemoryError(f"no memory to coalesce {entries.nnz} sparse entries")
    out_indices = _empty(entries.dims, found)
    target = <int64_t*>cnp.PyArray_DATA(out_indices)
    with nogil:
        cell_indices(cell, found, <int>entries.dims, lengths, target)
    return out_indices, out_values[:found]
