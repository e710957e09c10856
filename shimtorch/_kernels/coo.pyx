"""Coordinate lists against dense memory: checking, scattering, gathering, finding what is not zero.

A sparse entry addresses a block of `width` elements, contiguous in values and in the dense array. Steps are
the distances between neighbours along the sparse dimensions of the dense array.
"""

cimport numpy as cnp
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from shimtorch._kernels.cells cimport cell_indices
from shimtorch._kernels.kernels cimport (
    ST_BOOL, ST_COMPLEX64, ST_COMPLEX128, ST_FLOAT32, ST_FLOAT64, ST_INT8, ST_INT16, ST_INT32, ST_INT64, ST_UINT8,
)
from shimtorch._kernels.move cimport st_move
from shimtorch._kernels.scratch cimport release, scratch
from shimtorch._kernels.sparsetypes cimport (
    MAX_DIMS, IndexSet, cbool, contiguous_data, dtype_code, index_set, read_sizes, real_t,
)
from shimtorch._kernels.table cimport st_parallel

cnp.import_array()

cdef enum:
    GRAIN = 1 << 17         # entries that are worth a thread
    SHARE = 1 << 16         # dense cells that are looked through as one
    PIECE = 1 << 14         # bytes zeroed at a time; a multiple of every word

ctypedef Py_ssize_t (*count_nonzero_t)(const void*, Py_ssize_t, Py_ssize_t, Py_ssize_t) noexcept nogil
ctypedef void (*take_nonzero_t)(const void*, Py_ssize_t, Py_ssize_t, Py_ssize_t, Py_ssize_t, int64_t*,
                                void*) noexcept nogil

cdef fused word_t:
    uint8_t
    uint16_t
    uint32_t
    uint64_t


ctypedef struct Checking:
    const IndexSet* entries
    const int64_t* sizes
    bint outside                # set by any piece that finds one


cdef void _check_piece(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Checking* c = <Checking*>context
    cdef Py_ssize_t d, x, step = c.entries.entry_step
    cdef const int64_t* a
    cdef uint64_t size
    cdef bint outside = False
    for d in range(c.entries.dims):
        a = c.entries.data + d * c.entries.dim_step
        size = c.sizes[d]
        for x in range(begin, end):
            outside |= <uint64_t>a[x * step] >= size
    if outside:
        c.outside = True


cdef Py_ssize_t first_outside(const IndexSet* entries, const int64_t* sizes) noexcept nogil:
    """Place d*nnz + x of the first coordinate that is negative or not below its size, or -1 when all are within."""
    cdef Py_ssize_t d, x
    cdef const int64_t* a
    cdef Checking c
    c.entries, c.sizes, c.outside = entries, sizes, False
    st_parallel(entries.nnz, GRAIN, _check_piece, &c)
    if c.outside:
        for d in range(entries.dims):
            a = entries.data + d * entries.dim_step
            for x in range(entries.nnz):
                if <uint64_t>a[x * entries.entry_step] >= <uint64_t>sizes[d]:
                    return d * entries.nnz + x
    return -1


cdef inline Py_ssize_t _offset(const IndexSet* entries, Py_ssize_t x, const int64_t* steps) noexcept nogil:
    cdef Py_ssize_t d, offset = 0
    cdef const int64_t* a = entries.data + x * entries.entry_step
    if entries.dims == 2:
        return a[0] * steps[0] + a[entries.dim_step] * steps[1]
    for d in range(entries.dims):
        offset += a[d * entries.dim_step] * steps[d]
    return offset


# Entries in any order add to any place, so one thread does it: to share the places, each thread would have to read all
# entries, and to share the entries, sort them first, as coalesce does.
cdef void _scatter_add(const IndexSet* entries, const real_t* values, Py_ssize_t width, real_t* out,
                       const int64_t* steps, Py_ssize_t parts) noexcept nogil:
    cdef Py_ssize_t x, column
    cdef real_t* target
    if width == 1:
        for x in range(entries.nnz):
            out[_offset(entries, x, steps)] += values[x]
        return
    for x in range(entries.nnz):
        target = out + _offset(entries, x, steps) * parts
        for column in range(width):
            target[column] += values[x * width + column]


cdef void _gather_words(const IndexSet* entries, const word_t* dense, const int64_t* steps, word_t* out,
                        Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Py_ssize_t x
    for x in range(begin, end):
        out[x] = (<const word_t*>(<const char*>dense + _offset(entries, x, steps)))[0]


ctypedef struct Gathering:
    const IndexSet* entries
    const char* dense
    const int64_t* steps
    Py_ssize_t block
    char* out


cdef void _gather_piece(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef const Gathering* g = <const Gathering*>context
    cdef Py_ssize_t x
    if g.block == 4:
        _gather_words(g.entries, <const uint32_t*>g.dense, g.steps, <uint32_t*>g.out, begin, end)
    elif g.block == 8:
        _gather_words(g.entries, <const uint64_t*>g.dense, g.steps, <uint64_t*>g.out, begin, end)
    elif g.block == 1:
        _gather_words(g.entries, <const uint8_t*>g.dense, g.steps, <uint8_t*>g.out, begin, end)
    elif g.block == 2:
        _gather_words(g.entries, <const uint16_t*>g.dense, g.steps, <uint16_t*>g.out, begin, end)
    else:
        for x in range(begin, end):
            st_move(g.out + x * g.block, g.dense + _offset(g.entries, x, g.steps), g.block)


cdef void gather(const IndexSet* entries, const char* dense, const int64_t* steps, Py_ssize_t block,
                 char* out) noexcept nogil:
    """Copy the block of bytes at each entry's place to out, one after the other; steps are in bytes here."""
    cdef Gathering g
    g.entries, g.dense, g.steps, g.block, g.out = entries, dense, steps, block, out
    st_parallel(entries.nnz, max(GRAIN // (block // 64 + 1), 1), _gather_piece, &g)


cdef inline Py_ssize_t _clean(char* out, Py_ssize_t start, Py_ssize_t end, Py_ssize_t size) noexcept nogil:
    """Zero out from start to at least end, by whole pieces; returns how far it is zeroed."""
    cdef Py_ssize_t stop = (end + PIECE - 1) // PIECE * PIECE
    if stop > size:
        stop = size
    memset(out + start, 0, stop - start)
    return stop


ctypedef struct Spreading:
    const IndexSet* entries
    const char* values
    Py_ssize_t block
    char* out
    Py_ssize_t size
    const int64_t* steps


cdef void _spread_words(const Spreading* s, const word_t* values, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t clean,
                        Py_ssize_t size) noexcept nogil:
    cdef Py_ssize_t x, place, step = s.entries.entry_step
    cdef const int64_t* steps = s.steps
    cdef const int64_t* a = s.entries.data
    cdef const int64_t* b = a + s.entries.dim_step
    cdef char* out = s.out
    if s.entries.dims == 2:
        for x in range(begin, end):
            place = a[x * step] * steps[0] + b[x * step] * steps[1]
            if place >= clean:
                clean = _clean(out, clean, place + <Py_ssize_t>sizeof(word_t), size)
            (<word_t*>(out + place))[0] = values[x]
    elif s.entries.dims == 1:
        for x in range(begin, end):
            place = a[x * step] * steps[0]
            if place >= clean:
                clean = _clean(out, clean, place + <Py_ssize_t>sizeof(word_t), size)
            (<word_t*>(out + place))[0] = values[x]
    else:
        for x in range(begin, end):
            place = _offset(s.entries, x, steps)
            if place >= clean:
                clean = _clean(out, clean, place + <Py_ssize_t>sizeof(word_t), size)
            (<word_t*>(out + place))[0] = values[x]
    memset(out + clean, 0, size - clean)


cdef void _spread_piece(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """The stretch of memory from the place of entry `begin` (or the start) to that of entry `end` (or the end)."""
    cdef const Spreading* s = <const Spreading*>context
    cdef Py_ssize_t clean = _offset(s.entries, begin, s.steps) if begin else 0
    cdef Py_ssize_t size = _offset(s.entries, end, s.steps) if end < s.entries.nnz else s.size
    cdef Py_ssize_t x, place, block = s.block
    if block == 4:
        _spread_words(s, <const uint32_t*>s.values, begin, end, clean, size)
    elif block == 8:
        _spread_words(s, <const uint64_t*>s.values, begin, end, clean, size)
    else:
        for x in range(begin, end):
            place = _offset(s.entries, x, s.steps)
            if place + block > clean:
                clean = _clean(s.out, clean, place + block, size)
            st_move(s.out + place, s.values + x * block, block)
        memset(s.out + clean, 0, size - clean)


cdef void spread(const IndexSet* entries, const char* values, Py_ssize_t block, char* out, Py_ssize_t size,
                 const int64_t* steps) noexcept nogil:
    """Fill out, of `size` bytes, with zeros and the blocks of bytes of entries in ascending order; steps in bytes.

    It is zeroed piece by piece just before it is written to, while the piece is in the cache.
    """
    cdef Spreading s
    if entries.nnz == 0 or size == 0:
        memset(out, 0, size)
        return
    s.entries, s.values, s.block, s.out, s.size, s.steps = entries, values, block, out, size, steps
    st_parallel(entries.nnz, GRAIN, _spread_piece, &s)


cdef Py_ssize_t _count_nonzero(const real_t* dense, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t width) noexcept nogil:
    cdef Py_ssize_t cell, column, count = 0
    cdef bint some
    if width == 1:
        for cell in range(begin, end):
            count += dense[cell] != 0
        return count
    for cell in range(begin, end):
        some = False
        for column in range(width):
            some |= dense[cell * width + column] != 0
        count += some
    return count


cdef void _take_nonzero(const real_t* dense, Py_ssize_t width, Py_ssize_t cell, Py_ssize_t found, Py_ssize_t count,
                        int64_t* cells, real_t* values) noexcept nogil:
    """Cells from `cell` on, to the places found up to count."""
    cdef Py_ssize_t column
    cdef bint some
    if width == 1:
        while found < count:            # zeros are written too, and written over: no branch to mispredict
            cells[found] = cell
            values[found] = dense[cell]
            found += dense[cell] != 0
            cell += 1
        return
    while found < count:
        some = False
        for column in range(width):
            some |= dense[cell * width + column] != 0
        if some:
            cells[found] = cell
            memcpy(values + found * width, dense + cell * width, width * sizeof(real_t))
            found += 1
        cell += 1


ctypedef struct Finding:
    const void* dense
    Py_ssize_t cells
    Py_ssize_t width
    int64_t* counts                     # of each SHARE cells: how many are taken; then how many before them
    int64_t* numbers
    void* values
    count_nonzero_t count
    take_nonzero_t take


cdef void _count_piece(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef const Finding* f = <const Finding*>context
    cdef Py_ssize_t k
    for k in range(begin, end):
        f.counts[k] = f.count(f.dense, k * SHARE, min((k + 1) * SHARE, f.cells), f.width)


cdef void _take_piece(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef const Finding* f = <const Finding*>context
    cdef Py_ssize_t k
    for k in range(begin, end):
        f.take(f.dense, f.width, k * SHARE, f.counts[k], f.counts[k + 1], f.numbers, f.values)


# ---------------------------------------------------------------- dispatch over dtypes

ctypedef void (*scatter_add_t)(const IndexSet*, const void*, Py_ssize_t, void*, const int64_t*,
                               Py_ssize_t) noexcept nogil

ctypedef struct Kernels:
    scatter_add_t scatter_add
    count_nonzero_t count_nonzero
    take_nonzero_t take_nonzero
    Py_ssize_t parts                # reals in an element

cdef Kernels[ST_COMPLEX128 + 1] _kernels


cdef void _bind(int dtype, Py_ssize_t parts, real_t* tag):
    _kernels[dtype].scatter_add = <scatter_add_t>_scatter_add[real_t]
    _kernels[dtype].count_nonzero = <count_nonzero_t>_count_nonzero[real_t]
    _kernels[dtype].take_nonzero = <take_nonzero_t>_take_nonzero[real_t]
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


cdef void scatter_add(const IndexSet* entries, int dtype, const void* values, Py_ssize_t width, void* out,
                      const int64_t* steps) noexcept nogil:
    """Add (nnz, width) values to the blocks of out that the entries address; steps are in elements."""
    cdef Py_ssize_t parts = _kernels[dtype].parts
    _kernels[dtype].scatter_add(entries, values, width * parts, out, steps, parts)


cdef Py_ssize_t shares_of(Py_ssize_t cells) noexcept nogil:
    """How many counts `count_nonzero` makes."""
    return (cells + SHARE - 1) // SHARE + 1


cdef Py_ssize_t count_nonzero(int dtype, const void* dense, Py_ssize_t cells, Py_ssize_t width,
                              int64_t* counts) noexcept nogil:
    """How many of the `cells` blocks of a contiguous array hold something else than zeros; counts are for taking."""
    cdef Finding f
    cdef Py_ssize_t k, n, total = 0, shares = shares_of(cells) - 1
    f.dense, f.cells, f.width, f.counts = dense, cells, width * _kernels[dtype].parts, counts
    f.count = _kernels[dtype].count_nonzero
    st_parallel(shares, 1, _count_piece, &f)
    for k in range(shares):
        n = counts[k]
        counts[k] = total
        total += n
    counts[shares] = total
    return total


cdef void take_nonzero(int dtype, const void* dense, Py_ssize_t cells, Py_ssize_t width, int64_t* counts,
                       int64_t* numbers, void* values) noexcept nogil:
    """Numbers and contents of the blocks that were counted."""
    cdef Finding f
    f.dense, f.cells, f.width, f.counts = dense, cells, width * _kernels[dtype].parts, counts
    f.numbers, f.values, f.take = numbers, values, _kernels[dtype].take_nonzero
    st_parallel(shares_of(cells) - 1, 1, _take_piece, &f)


# ---------------------------------------------------------------- NumPy interface

cdef Py_ssize_t _dense_steps(cnp.ndarray dense, const IndexSet* entries, int64_t* steps) except -1:
    """Strides in bytes along the sparse dimensions; returns the elements of a block, which must be contiguous."""
    cdef int ndim = cnp.PyArray_NDIM(dense)
    cdef Py_ssize_t width = 1, itemsize = cnp.PyArray_ITEMSIZE(dense)
    cdef int d
    if entries.dims > ndim or ndim > MAX_DIMS:
        raise ValueError(f"{entries.dims} rows of indices for an array of {ndim} dimensions")
    if not cnp.PyArray_ISBEHAVED_RO(dense):
        raise TypeError("the dense array must be aligned and of native byte order")
    for d in range(ndim - 1, <int>entries.dims - 1, -1):
        if cnp.PyArray_DIM(dense, d) > 1 and cnp.PyArray_STRIDE(dense, d) != width * itemsize:
            raise TypeError("the dense dimensions must be contiguous")
        width *= cnp.PyArray_DIM(dense, d)
    for d in range(entries.dims):
        steps[d] = cnp.PyArray_STRIDE(dense, d)
    return width


def index_bounds(cnp.ndarray indices not None):
    """Least and greatest coordinate of each dimension of a (dims, nnz) index array, nnz not 0: two lists."""
    cdef IndexSet entries
    cdef int64_t least, greatest, here
    cdef const int64_t* a
    cdef Py_ssize_t d, x
    index_set(indices, &entries)
    if entries.nnz == 0:
        raise ValueError("index_bounds: no entries")
    lows = []
    highs = []
    for d in range(entries.dims):
        a = entries.data + d * entries.dim_step
        least = greatest = a[0]
        for x in range(1, entries.nnz):
            here = a[x * entries.entry_step]
            least = here if here < least else least
            greatest = here if here > greatest else greatest
        lows.append(least)
        highs.append(greatest)
    return lows, highs


def check_indices(cnp.ndarray indices not None, sizes):
    """Place d*nnz + x of the first coordinate outside its size, or -1 when all of (dims, nnz) indices are within."""
    cdef IndexSet entries
    cdef int64_t[MAX_DIMS] lengths
    cdef Py_ssize_t place
    index_set(indices, &entries)
    if read_sizes(sizes, lengths) != entries.dims:
        raise ValueError(f"{entries.dims} rows of indices for {len(sizes)} sizes")
    with nogil:
        place = first_outside(&entries, lengths)
    return place


def add_to_dense(cnp.ndarray out not None, cnp.ndarray indices not None, cnp.ndarray values not None):
    """out[indices] += values, summing where indices repeat; they must lie within out, whose dtype is values'.

    indices (dims, nnz), values (nnz, ...) contiguous, out (sizes..., ...) with any strides in its sparse dimensions.
    """
    cdef IndexSet entries
    cdef int64_t[MAX_DIMS] steps
    cdef int d, dtype = dtype_code(values)
    cdef Py_ssize_t width, itemsize = cnp.PyArray_ITEMSIZE(out)
    index_set(indices, &entries)
    width = _dense_steps(out, &entries, steps)
    if cnp.PyArray_TYPE(out) != cnp.PyArray_TYPE(values):
        raise TypeError(f"cannot add {values.dtype} entries to a {out.dtype} array")
    if not cnp.PyArray_ISWRITEABLE(out):
        raise ValueError("the dense array is read-only")
    if cnp.PyArray_SIZE(values) != entries.nnz * width:
        raise ValueError(f"expected {entries.nnz} values of {width} elements, got {cnp.PyArray_SIZE(values)} elements")
    for d in range(entries.dims):
        if steps[d] % itemsize:
            raise TypeError("strides of the dense array must be multiples of its element")
        steps[d] //= itemsize
    cdef const void* data = contiguous_data(values)
    cdef void* target = cnp.PyArray_DATA(out)
    if width:
        with nogil:
            scatter_add(&entries, dtype, data, width, target, steps)


def spread_ascending(cnp.ndarray indices not None, cnp.ndarray values not None, sizes):
    """The array of `sizes` (and the values' further dimensions) that ascending (dims, nnz) indices and values make."""
    cdef IndexSet entries
    cdef int64_t[MAX_DIMS] steps
    cdef cnp.npy_intp[MAX_DIMS] shape
    cdef int d, ndim = 0
    cdef Py_ssize_t block
    index_set(indices, &entries)
    if cnp.PyArray_NDIM(values) < 1 or cnp.PyArray_DIM(values, 0) != entries.nnz:
        raise ValueError(f"expected values for {entries.nnz} entries")
    if check_indices(indices, sizes) >= 0:
        raise ValueError("indices do not lie within the sizes")
    for size in tuple(sizes) + (<object>values).shape[1:]:
        shape[ndim] = size
        ndim += 1
    cdef cnp.ndarray out = cnp.PyArray_EMPTY(ndim, shape, cnp.PyArray_TYPE(values), 0)
    for d in range(entries.dims):
        steps[d] = cnp.PyArray_STRIDE(out, d)
    block = cnp.PyArray_ITEMSIZE(values)
    for d in range(1, cnp.PyArray_NDIM(values)):
        block *= cnp.PyArray_DIM(values, d)
    cdef Py_ssize_t last = -1, x, place
    for x in range(entries.nnz):
        place = _offset(&entries, x, steps)
        if place <= last and block:
            raise ValueError("indices do not ascend")
        last = place
    spread(&entries, <const char*>contiguous_data(values), block, <char*>cnp.PyArray_DATA(out), cnp.PyArray_NBYTES(out),
           steps)
    return out


def take_from_dense(cnp.ndarray dense not None, cnp.ndarray indices not None):
    """dense[indices]: the (nnz, ...) blocks of a dense array of any dtype at (dims, nnz) indices, which lie within."""
    cdef IndexSet entries
    cdef int64_t[MAX_DIMS] steps
    cdef cnp.npy_intp[MAX_DIMS + 1] shape
    cdef int d, ndim = cnp.PyArray_NDIM(dense)
    cdef Py_ssize_t width
    index_set(indices, &entries)
    width = _dense_steps(dense, &entries, steps)
    shape[0] = entries.nnz
    for d in range(<int>entries.dims, ndim):
        shape[d - <int>entries.dims + 1] = cnp.PyArray_DIM(dense, d)
    cdef cnp.ndarray out = cnp.PyArray_EMPTY(ndim - <int>entries.dims + 1, shape, cnp.PyArray_TYPE(dense), 0)
    cdef const char* source = <const char*>cnp.PyArray_DATA(dense)
    cdef char* target = <char*>cnp.PyArray_DATA(out)
    cdef Py_ssize_t block = width * cnp.PyArray_ITEMSIZE(dense)
    if block:
        with nogil:
            gather(&entries, source, steps, block, target)
    return out


def nonzero(cnp.ndarray dense not None, int dims):
    """Indices (dims, nnz) and values (nnz, ...) of what is not zero in a contiguous array, its first dims being sparse.

    An entry is kept whole when any element of it differs from zero; NaN does, -0.0 does not.
    """
    cdef int64_t[MAX_DIMS] sizes
    cdef cnp.npy_intp[MAX_DIMS + 1] shape
    cdef int d, ndim = cnp.PyArray_NDIM(dense), dtype = dtype_code(dense)
    cdef Py_ssize_t cells = 1, width = 1, count
    cdef const void* source = contiguous_data(dense)
    if not 0 <= dims <= ndim or ndim > MAX_DIMS:
        raise ValueError(f"{dims} sparse dimensions of {ndim}")
    for d in range(ndim):
        if d < dims:
            sizes[d] = cnp.PyArray_DIM(dense, d)
            cells *= sizes[d]
        else:
            shape[d - dims + 1] = cnp.PyArray_DIM(dense, d)
            width *= cnp.PyArray_DIM(dense, d)
    cdef int64_t* counts = <int64_t*>scratch(shares_of(cells) * sizeof(int64_t))
    if counts == NULL:
        raise MemoryError("nonzero: no memory")
    with nogil:
        count = count_nonzero(dtype, source, cells, width, counts)
    shape[0] = count
    cdef cnp.ndarray values = cnp.PyArray_EMPTY(ndim - dims + 1, shape, cnp.PyArray_TYPE(dense), 0)
    cdef cnp.ndarray places = cnp.PyArray_EMPTY(1, shape, cnp.NPY_INT64, 0)
    cdef cnp.npy_intp[2] index_shape
    index_shape[0] = dims
    index_shape[1] = count
    cdef cnp.ndarray indices = cnp.PyArray_EMPTY(2, index_shape, cnp.NPY_INT64, 0)
    cdef int64_t* place = <int64_t*>cnp.PyArray_DATA(places)
    cdef int64_t* index = <int64_t*>cnp.PyArray_DATA(indices)
    cdef void* target = cnp.PyArray_DATA(values)
    with nogil:
        take_nonzero(dtype, source, cells, width, counts, place, target)
        cell_indices(place, count, dims, sizes, index)
    release(counts)
    return indices, values
