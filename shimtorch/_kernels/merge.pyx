"""Two coalesced coordinate lists merged in one pass: their union with summed values, and what they have in common.

Both lists ascend without repeats, in the same sizes, whose packed keys fit in 64 bits (`fits` says so; sorting
the joined lists does the rest). Threads share the pieces into which long lists are cut.
"""

cimport numpy as cnp
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint64_t, uintptr_t
from libc.string cimport memmove, memset

from shimtorch._kernels.indexkeys cimport key_bits, pack_keys
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
    FROM_A = 1
    FROM_B = 2
    SHARE = 1 << 16         # keys of both lists that are worth a thread

cdef inline uint64_t _key(const Keys* keys, Py_ssize_t x) noexcept nogil:
    return keys.high[x * keys.step] << keys.shift | keys.low[x * keys.step]


cdef void merge_source(const IndexSet* entries, const int* bits, uint64_t* packed, Keys* keys) noexcept nogil:
    """Keys of coalesced entries. Those of two dimensions are read where they stand, others packed into nnz places."""
    keys.n = entries.nnz
    if entries.dims == 2:
        keys.high = <const uint64_t*>entries.data
        keys.low = keys.high + entries.dim_step
        keys.shift = bits[1]
        keys.step = entries.entry_step
    else:
        pack_keys(entries, 0, <int>entries.dims, bits, NULL, packed)
        keys.high = keys.low = packed
        keys.shift = 0
        keys.step = 1


cdef inline Py_ssize_t _not_below(const Keys* b, uint64_t key) noexcept nogil:
    """The first place in b whose key is not below the given one."""
    cdef Py_ssize_t low = 0, high = b.n, middle
    while low < high:
        middle = (low + high) // 2
        if _key(b, middle) < key:
            low = middle + 1
        else:
            high = middle
    return low


cdef void split_merge(const Keys* a, const Keys* b, uint8_t* origins, Merge* merge) noexcept nogil:
    """Cut two ascending key lists into pieces that are merged each by itself; a is not empty.

    Several go side by side in one thread, since one step of a merge has to wait for the one before.
    """
    cdef Py_ssize_t k, n = min(max((a.n + b.n) // SHARE, <Py_ssize_t>1), <Py_ssize_t>(MOST_LANES // TOGETHER))
    n *= TOGETHER
    merge.a = a[0]
    merge.b = b[0]
    merge.origins = origins
    merge.n_lanes = n
    for k in range(n):
        merge.lanes[k].i0 = a.n * k // n
        merge.lanes[k].j0 = _not_below(b, _key(a, merge.lanes[k].i0)) if k else 0
    for k in range(n):
        merge.lanes[k].i_end = merge.lanes[k + 1].i0 if k + 1 < n else a.n
        merge.lanes[k].j_end = merge.lanes[k + 1].j0 if k + 1 < n else b.n
        merge.lanes[k].i = merge.lanes[k].i0
        merge.lanes[k].j = merge.lanes[k].j0


cdef Py_ssize_t _place_lanes(Merge* merge) noexcept nogil:
    """Where the result of each piece begins in the whole one; returns how long that is."""
    cdef Py_ssize_t k, total = 0
    for k in range(merge.n_lanes):
        merge.lanes[k].out = total
        total += merge.lanes[k].n - merge.lanes[k].start
    return total


cdef inline void _union_step(const Merge* merge, Lane* lane) noexcept nogil:
    cdef uint64_t x = _key(&merge.a, lane.i)
    cdef uint64_t y = _key(&merge.b, lane.j)
    cdef bint take_a = x <= y               # which list is next can't be predicted: no branches
    cdef bint take_b = y <= x
    merge.origins[lane.n] = <uint8_t>(take_a + 2 * take_b)
    lane.i += take_a
    lane.j += take_b
    lane.n += 1


cdef inline uint64_t _pair(const uint64_t* high, const uint64_t* low, int shift, Py_ssize_t x) noexcept nogil:
    return high[x] << shift | low[x]


cdef void _union_of_pairs(const Merge* merge, Lane* lanes) noexcept nogil:
    """As far as all of TOGETHER lanes go on, of keys that stand one after the other: `_union_step` in registers."""
    cdef const uint64_t* a_high = merge.a.high
    cdef const uint64_t* a_low = merge.a.low
    cdef const uint64_t* b_high = merge.b.high
    cdef const uint64_t* b_low = merge.b.low
    cdef uint8_t* origins = merge.origins
    cdef int shift = merge.a.shift
    cdef Py_ssize_t i0 = lanes[0].i, i1 = lanes[1].i, i2 = lanes[2].i, i3 = lanes[3].i
    cdef Py_ssize_t j0 = lanes[0].j, j1 = lanes[1].j, j2 = lanes[2].j, j3 = lanes[3].j
    cdef uint8_t* o0 = origins + lanes[0].n
    cdef uint8_t* o1 = origins + lanes[1].n
    cdef uint8_t* o2 = origins + lanes[2].n
    cdef uint8_t* o3 = origins + lanes[3].n
    cdef Py_ssize_t steps, _
    cdef uint64_t x, y
    cdef uint8_t take_a, take_b
    while True:
        steps = lanes[0].i_end - i0             # none can end before so many steps are done
        steps = min(steps, lanes[0].j_end - j0)
        steps = min(steps, lanes[1].i_end - i1)
        steps = min(steps, lanes[1].j_end - j1)
        steps = min(steps, lanes[2].i_end - i2)
        steps = min(steps, lanes[2].j_end - j2)
        steps = min(steps, lanes[3].i_end - i3)
        steps = min(steps, lanes[3].j_end - j3)
        if steps <= 0:
            break
        for _ in range(steps):
            x = _pair(a_high, a_low, shift, i0)
            y = _pair(b_high, b_low, shift, j0)
            take_a, take_b = x <= y, y <= x
            o0[0] = take_a + 2 * take_b
            o0 += 1
            i0 += take_a
            j0 += take_b
            x = _pair(a_high, a_low, shift, i1)
            y = _pair(b_high, b_low, shift, j1)
            take_a, take_b = x <= y, y <= x
            o1[0] = take_a + 2 * take_b
            o1 += 1
            i1 += take_a
            j1 += take_b
            x = _pair(a_high, a_low, shift, i2)
            y = _pair(b_high, b_low, shift, j2)
            take_a, take_b = x <= y, y <= x
            o2[0] = take_a + 2 * take_b
            o2 += 1
            i2 += take_a
            j2 += take_b
            x = _pair(a_high, a_low, shift, i3)
            y = _pair(b_high, b_low, shift, j3)
            take_a, take_b = x <= y, y <= x
            o3[0] = take_a + 2 * take_b
            o3 += 1
            i3 += take_a
            j3 += take_b
    lanes[0].i, lanes[1].i, lanes[2].i, lanes[3].i = i0, i1, i2, i3
    lanes[0].j, lanes[1].j, lanes[2].j, lanes[3].j = j0, j1, j2, j3
    lanes[0].n, lanes[1].n, lanes[2].n, lanes[3].n = o0 - origins, o1 - origins, o2 - origins, o3 - origins


cdef void _union_piece(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Merge* merge = <Merge*>context
    cdef Lane* lane
    cdef Py_ssize_t group, k
    for group in range(begin, end):
        if merge.a.step == 1 and merge.b.step == 1:
            _union_of_pairs(merge, merge.lanes + group * TOGETHER)
        for k in range(TOGETHER):
            lane = merge.lanes + group * TOGETHER + k
            while lane.i < lane.i_end and lane.j < lane.j_end:
                _union_step(merge, lane)
            memset(merge.origins + lane.n, FROM_A, lane.i_end - lane.i)
            lane.n += lane.i_end - lane.i
            memset(merge.origins + lane.n, FROM_B, lane.j_end - lane.j)
            lane.n += lane.j_end - lane.j


cdef Py_ssize_t merge_keys(Merge* merge) noexcept nogil:
    """Union of two ascending key lists: where each of its keys comes from; returns how many there are."""
    cdef Py_ssize_t k
    for k in range(merge.n_lanes):
        merge.lanes[k].start = merge.lanes[k].n = merge.lanes[k].i0 + merge.lanes[k].j0
    st_parallel(merge.n_lanes // TOGETHER, 1, _union_piece, merge)
    return _place_lanes(merge)


cdef inline bint _goes_on(const Lane* lane) noexcept nogil:
    return lane.i < lane.i_end and lane.j < lane.j_end


cdef inline void _common_step(const Merge* merge, Lane* lane) noexcept nogil:
    cdef uint64_t x = _key(&merge.a, lane.i)
    cdef uint64_t y = _key(&merge.b, lane.j)
    merge.in_a[lane.n] = lane.i             # safe before it is known, for there is room for all of the shorter list
    merge.in_b[lane.n] = lane.j
    lane.n += x == y
    lane.i += x <= y
    lane.j += y <= x


cdef void _common_piece(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Merge* merge = <Merge*>context
    cdef Lane[TOGETHER] lanes
    cdef Py_ssize_t group, k
    for group in range(begin, end):
        for k in range(TOGETHER):
            lanes[k] = merge.lanes[group * TOGETHER + k]
        while _goes_on(&lanes[0]) and _goes_on(&lanes[1]) and _goes_on(&lanes[2]) and _goes_on(&lanes[3]):
            for k in range(TOGETHER):
                _common_step(merge, &lanes[k])
        for k in range(TOGETHER):
            while _goes_on(&lanes[k]):
                _common_step(merge, &lanes[k])
            merge.lanes[group * TOGETHER + k] = lanes[k]


cdef Py_ssize_t common_keys(Merge* merge, int64_t* in_a, int64_t* in_b) noexcept nogil:
    """Places in both lists of the keys they share: min(a.n, b.n) places; returns how many are filled."""
    cdef Py_ssize_t k, n, total
    cdef Lane* lane
    merge.in_a, merge.in_b = in_a, in_b
    for k in range(merge.n_lanes):
        lane = &merge.lanes[k]
        lane.start = lane.n = lane.i0 if merge.a.n <= merge.b.n else lane.j0
    st_parallel(merge.n_lanes // TOGETHER, 1, _common_piece, merge)
    total = _place_lanes(merge)
    for k in range(merge.n_lanes):
        lane = &merge.lanes[k]
        n = lane.n - lane.start
        memmove(in_a + lane.out, in_a + lane.start, n * sizeof(int64_t))
        memmove(in_b + lane.out, in_b + lane.start, n * sizeof(int64_t))
    return total


cdef void _fill_piece(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Merge* merge = <Merge*>context
    cdef Py_ssize_t k
    for k in range(begin * TOGETHER, end * TOGETHER):
        if merge.a_entries.dims == 2 and merge.width == 1:
            merge.both(merge, &merge.lanes[k], merge.a_values)
            continue
        _coordinates(merge, &merge.lanes[k])
        if merge.width:
            merge.kernel(merge, &merge.lanes[k], merge.a_values)


cdef void _coordinates(const Merge* merge, const Lane* lane) noexcept nogil:
    cdef Py_ssize_t x, d, n = merge.count
    cdef uint64_t from_a
    cdef const IndexSet* a = merge.a_entries
    cdef const IndexSet* b = merge.b_entries
    cdef uintptr_t next_a = <uintptr_t>(a.data + lane.i0 * a.entry_step)
    cdef uintptr_t next_b = <uintptr_t>(b.data + lane.j0 * b.entry_step)
    cdef uintptr_t step_a = a.entry_step * sizeof(int64_t), step_b = b.entry_step * sizeof(int64_t)
    cdef const uint8_t* origins = merge.origins + lane.start
    cdef int64_t* out = merge.indices + lane.out
    cdef const int64_t* source
    cdef Py_ssize_t step, dims = a.dims
    for x in range(lane.n - lane.start):
        from_a = -<uint64_t>(origins[x] & FROM_A)       # all ones or zero: a mask, where compilers put a branch
        source = <const int64_t*>((next_a & from_a) | (next_b & ~from_a))
        step = (a.dim_step & from_a) | (b.dim_step & ~from_a)
        next_a += step_a & from_a
        next_b += step_b * (origins[x] >> 1)
        if dims == 2:
            out[x] = source[0]
            out[n + x] = source[step]
        else:
            for d in range(dims):
                out[d * n + x] = source[d * step]


cdef void _fill_pairs(const Merge* merge, const Lane* lane, const real_t* a) noexcept nogil:
    """Coordinates and values of a piece in two dimensions, one number to an entry."""
    cdef Py_ssize_t x = 0, i = lane.i0, j = lane.j0, n = merge.count, size = lane.n - lane.start, p, q, steps
    cdef Py_ssize_t last_a = merge.a.n - 1, last_b = merge.b.n - 1
    cdef Py_ssize_t step_a = merge.a_entries.entry_step, step_b = merge.b_entries.entry_step
    cdef const int64_t* a_first = merge.a_entries.data
    cdef const int64_t* a_second = a_first + merge.a_entries.dim_step
    cdef const int64_t* b_first = merge.b_entries.data
    cdef const int64_t* b_second = b_first + merge.b_entries.dim_step
    cdef const real_t* b = <const real_t*>merge.b_values
    cdef const uint8_t* origins = merge.origins + lane.start
    cdef int64_t* first = merge.indices + lane.out
    cdef int64_t* second = first + n
    cdef real_t* out = <real_t*>merge.values + lane.out
    cdef int64_t from_a                     # all ones or zero: a mask, where compilers put a branch
    cdef uint8_t origin
    cdef real_t[4] candidates
    candidates[0] = 0
    if step_a == 1 and step_b == 1:         # as long as neither list can end: nothing to look out for
        while True:
            steps = min(min(last_a - i, last_b - j), size - x)
            if steps <= 0:
                break
            for x in range(x, x + steps):
                origin = origins[x]
                from_a = -<int64_t>(origin & FROM_A)
                first[x] = (a_first[i] & from_a) | (b_first[j] & ~from_a)
                second[x] = (a_second[i] & from_a) | (b_second[j] & ~from_a)
                candidates[FROM_A] = a[i]
                candidates[FROM_B] = b[j]
                candidates[FROM_A | FROM_B] = candidates[FROM_A] + candidates[FROM_B]
                out[x] = candidates[origin]
                i += origin & FROM_A
                j += origin >> 1
            x += 1
    for x in range(x, size):
        p, q = i if i < last_a else last_a, j if j < last_b else last_b
        from_a = -<int64_t>(origins[x] & FROM_A)
        first[x] = (a_first[p * step_a] & from_a) | (b_first[q * step_b] & ~from_a)
        second[x] = (a_second[p * step_a] & from_a) | (b_second[q * step_b] & ~from_a)
        candidates[FROM_A] = a[p]
        candidates[FROM_B] = b[q]
        candidates[FROM_A | FROM_B] = candidates[FROM_A] + candidates[FROM_B]
        out[x] = candidates[origins[x]]
        i += origins[x] & FROM_A
        j += origins[x] >> 1


cdef void _merge_values(const Merge* merge, const Lane* lane, const real_t* a) noexcept nogil:
    cdef Py_ssize_t x, column, i = lane.i0, j = lane.j0, width = merge.width, na = merge.a.n, nb = merge.b.n
    cdef const real_t* b = <const real_t*>merge.b_values
    cdef real_t* out = <real_t*>merge.values + lane.out * width
    cdef const uint8_t* origins = merge.origins + lane.start
    cdef real_t[4] candidates
    if width == 1:
        candidates[0] = 0
        for x in range(lane.n - lane.start):
            candidates[FROM_A] = a[i if i < na else na - 1]
            candidates[FROM_B] = b[j if j < nb else nb - 1]
            candidates[FROM_A | FROM_B] = candidates[FROM_A] + candidates[FROM_B]
            out[x] = candidates[origins[x]]
            i += origins[x] & FROM_A
            j += origins[x] >> 1
        return
    for x in range(lane.n - lane.start):
        if origins[x] == FROM_A:
            st_move(out + x * width, a + i * width, width * sizeof(real_t))
        elif origins[x] == FROM_B:
            st_move(out + x * width, b + j * width, width * sizeof(real_t))
        else:
            for column in range(width):
                out[x * width + column] = a[i * width + column] + b[j * width + column]
        i += origins[x] & FROM_A
        j += origins[x] >> 1


ctypedef struct Kernels:
    merge_kernel merge_values
    merge_kernel pairs              # of real numbers in two dimensions
    Py_ssize_t parts                # reals in an element

cdef Kernels[ST_COMPLEX128 + 1] _kernels


cdef void _bind(int dtype, Py_ssize_t parts, real_t* tag):
    _kernels[dtype].pairs = <merge_kernel>_fill_pairs[real_t]
    _kernels[dtype].merge_values = <merge_kernel>_merge_values[real_t]
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


cdef void fill_merge(Merge* merge, Py_ssize_t n, const IndexSet* a, const IndexSet* b, int64_t* indices, int dtype,
                     const void* a_values, const void* b_values, Py_ssize_t width, void* values) noexcept nogil:
    """Coordinates (dims, n) of a union, and its values (n, width), added where both lists have one; none is empty."""
    merge.count, merge.a_entries, merge.b_entries, merge.indices = n, a, b, indices
    merge.a_values, merge.b_values, merge.values = a_values, b_values, values
    merge.width, merge.kernel = width * _kernels[dtype].parts, _kernels[dtype].merge_values
    merge.both = _kernels[dtype].pairs
    st_parallel(merge.n_lanes // TOGETHER, 1, _fill_piece, merge)


# ---------------------------------------------------------------- NumPy interface

cdef class _Pair:
    """Keys of two index arrays."""

    cdef IndexSet[2] entries
    cdef Keys[2] keys
    cdef uint64_t* packed[2]
    cdef int dims

    def __cinit__(self, cnp.ndarray a not None, cnp.ndarray b not None, sizes):
        cdef int64_t[MAX_DIMS] lengths
        cdef int[MAX_DIMS] bits
        cdef int side
        cdef IndexSet* entries
        index_set(a, &self.entries[0])
        index_set(b, &self.entries[1])
        self.dims = read_sizes(sizes, lengths)
        if self.entries[0].dims != self.dims or self.entries[1].dims != self.dims:
            raise ValueError("two index arrays of different dimensions")
        if key_bits(lengths, self.dims, bits) > 64:
            raise OverflowError("coordinates do not fit in 64 bits")
        for side in range(2):
            entries = &self.entries[side]
            if self.dims != 2:
                self.packed[side] = <uint64_t*>scratch(entries.nnz * sizeof(uint64_t))
                if self.packed[side] == NULL:
                    raise MemoryError("no memory to merge sparse entries")
            merge_source(entries, bits, self.packed[side], &self.keys[side])

    def __dealloc__(self):
        release(self.packed[0])
        release(self.packed[1])


def fits(sizes):
    """Whether coordinates within `sizes` pack into 64 bits."""
    cdef int64_t[MAX_DIMS] lengths
    cdef int[MAX_DIMS] bits
    cdef int dims = read_sizes(sizes, lengths)
    return key_bits(lengths, dims, bits) <= 64


def union(cnp.ndarray a_indices not None, cnp.ndarray a_values not None, cnp.ndarray b_indices not None,
          cnp.ndarray b_values not None, sizes):
    """Sum of two coalesced lists: their (dims, nnz) indices and (nnz, ...) contiguous values of one dtype and shape.

    Returns indices, ascending and distinct, and values.
    """
    cdef _Pair pair = _Pair(a_indices, b_indices, sizes)
    cdef Py_ssize_t na = pair.entries[0].nnz, nb = pair.entries[1].nnz, n, width = 1
    cdef int dtype = dtype_code(a_values), ndim = cnp.PyArray_NDIM(a_values), d
    cdef const void* a = contiguous_data(a_values)
    cdef const void* b = contiguous_data(b_values)
    cdef cnp.npy_intp[MAX_DIMS] shape
    cdef cnp.npy_intp[2] index_shape
    cdef Merge merge
    cdef cnp.ndarray indices, values
    cdef int64_t* index
    cdef void* target
    if cnp.PyArray_TYPE(b_values) != cnp.PyArray_TYPE(a_values):
        raise TypeError(f"union of {a_values.dtype} and {b_values.dtype} values")
    if ndim < 1 or ndim != cnp.PyArray_NDIM(b_values) or cnp.PyArray_DIM(a_values, 0) != na or (
            cnp.PyArray_DIM(b_values, 0) != nb):
        raise ValueError("values do not match their indices")
    for d in range(1, ndim):
        shape[d] = cnp.PyArray_DIM(a_values, d)
        width *= shape[d]
        if shape[d] != cnp.PyArray_DIM(b_values, d):
            raise ValueError("values of different shapes")
    if na == 0:
        return b_indices.copy(), b_values.copy()
    if nb == 0:
        return a_indices.copy(), a_values.copy()
    cdef uint8_t* origins = <uint8_t*>scratch(na + nb)
    try:
        if origins == NULL:
            raise MemoryError("no memory to merge sparse entries")
        with nogil:
            split_merge(&pair.keys[0], &pair.keys[1], origins, &merge)
            n = merge_keys(&merge)
        shape[0] = n
        index_shape[0] = pair.dims
        index_shape[1] = n
        indices = cnp.PyArray_EMPTY(2, index_shape, cnp.NPY_INT64, 0)
        values = cnp.PyArray_EMPTY(ndim, shape, cnp.PyArray_TYPE(a_values), 0)
        index = <int64_t*>cnp.PyArray_DATA(indices)
        target = cnp.PyArray_DATA(values)
        with nogil:
            fill_merge(&merge, n, &pair.entries[0], &pair.entries[1], index, dtype, a, b, width, target)
    finally:
        release(origins)
    return indices, values


def intersection(cnp.ndarray a_indices not None, cnp.ndarray b_indices not None, sizes):
    """Where two coalesced lists agree: the places of their common entries in a and in b, two int64 arrays."""
    cdef _Pair pair = _Pair(a_indices, b_indices, sizes)
    cdef cnp.npy_intp[1] shape
    cdef Py_ssize_t n
    shape[0] = min(pair.entries[0].nnz, pair.entries[1].nnz)
    cdef cnp.ndarray in_a = cnp.PyArray_EMPTY(1, shape, cnp.NPY_INT64, 0)
    cdef cnp.ndarray in_b = cnp.PyArray_EMPTY(1, shape, cnp.NPY_INT64, 0)
    cdef int64_t* a = <int64_t*>cnp.PyArray_DATA(in_a)
    cdef int64_t* b = <int64_t*>cnp.PyArray_DATA(in_b)
    cdef Merge merge
    if shape[0] == 0:
        return in_a, in_b
    with nogil:
        split_merge(&pair.keys[0], &pair.keys[1], NULL, &merge)
        n = common_keys(&merge, a, b)
    return in_a[:n], in_b[:n]
