"""Two coalesced coordinate lists merged in one pass: their union with summed values, and what they have in common.

Both lists ascend without repeats, in the same sizes, whose packed keys fit in 64 bits (`fits` says so; sorting
the joined lists does the rest).
"""

cimport numpy as cnp
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint64_t, uintptr_t
from libc.string cimport memcpy, memmove, memset

from shimtorch._kernels.indexkeys cimport key_bits, pack_keys
from shimtorch._kernels.kernels cimport (
    ST_BOOL, ST_COMPLEX64, ST_COMPLEX128, ST_FLOAT32, ST_FLOAT64, ST_INT8, ST_INT16, ST_INT32, ST_INT64, ST_UINT8,
)
from shimtorch._kernels.scratch cimport release, scratch
from shimtorch._kernels.sparsetypes cimport (
    MAX_DIMS, IndexSet, cbool, contiguous_data, dtype_code, index_set, read_sizes, real_t,
)

cnp.import_array()

cdef enum:
    FROM_A = 1
    FROM_B = 2

ctypedef struct Lane:                       # how far a merge has come in both lists, and in the result
    Py_ssize_t i, i_end
    Py_ssize_t j, j_end
    Py_ssize_t n


cdef inline uint64_t _key(const Keys* keys, Py_ssize_t x) noexcept nogil:
    return keys.high[x * keys.step] << keys.shift | keys.low[x * keys.step]


cdef inline void _step(const Keys* a, const Keys* b, Lane* lane, uint8_t* origins) noexcept nogil:
    cdef uint64_t x = _key(a, lane.i)
    cdef uint64_t y = _key(b, lane.j)
    cdef bint take_a = x <= y               # which list is next can't be predicted: no branches
    cdef bint take_b = y <= x
    origins[lane.n] = <uint8_t>(take_a + 2 * take_b)
    lane.i += take_a
    lane.j += take_b
    lane.n += 1


cdef inline void _finish(const Keys* a, const Keys* b, Lane* lane, uint8_t* origins) noexcept nogil:
    while lane.i < lane.i_end and lane.j < lane.j_end:
        _step(a, b, lane, origins)
    memset(origins + lane.n, FROM_A, lane.i_end - lane.i)
    lane.n += lane.i_end - lane.i
    memset(origins + lane.n, FROM_B, lane.j_end - lane.j)
    lane.n += lane.j_end - lane.j


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


cdef Py_ssize_t merge_keys(const Keys* a, const Keys* b, uint8_t* origins) noexcept nogil:
    """Union of two ascending key lists: where each of its keys comes from, in room for all; returns how many there are.

    Two halves of the lists are merged side by side, since one step has to wait for the one before.
    """
    cdef Lane one, two
    cdef Py_ssize_t low = 0, high = b.n, middle = a.n // 2
    while low < high:                       # low becomes the first place in b whose key is not below a's middle one
        if middle < a.n and _key(b, (low + high) // 2) < _key(a, middle):
            low = (low + high) // 2 + 1
        else:
            high = (low + high) // 2
    one.i = one.j = one.n = 0
    one.i_end = two.i = middle
    one.j_end = two.j = low
    two.n = middle + low                    # as far as the first half can reach
    two.i_end = a.n
    two.j_end = b.n
    while one.i < one.i_end and one.j < one.j_end and two.i < two.i_end and two.j < two.j_end:
        _step(a, b, &one, origins)
        _step(a, b, &two, origins)
    _finish(a, b, &one, origins)
    _finish(a, b, &two, origins)
    memmove(origins + one.n, origins + middle + low, two.n - middle - low)
    return one.n + two.n - middle - low


cdef Py_ssize_t common_keys(const Keys* a, const Keys* b, int64_t* in_a, int64_t* in_b) noexcept nogil:
    """Places in both lists of the keys they share: min(a.n, b.n) places; returns how many are filled."""
    cdef Py_ssize_t i = 0, j = 0, n = 0
    cdef uint64_t x, y
    while i < a.n and j < b.n:              # n < min(a.n, b.n) holds here, so writing before knowing is safe
        x = _key(a, i)
        y = _key(b, j)
        in_a[n] = i
        in_b[n] = j
        n += x == y
        i += x <= y
        j += y <= x
    return n


cdef void merge_coordinates(const uint8_t* origins, Py_ssize_t n, const IndexSet* a, const IndexSet* b,
                            int64_t* out) noexcept nogil:
    """Coordinates (dims, n) of a union."""
    cdef Py_ssize_t x, d
    cdef uint64_t from_a
    cdef uintptr_t next_a = <uintptr_t>a.data, next_b = <uintptr_t>b.data
    cdef uintptr_t step_a = a.entry_step * sizeof(int64_t), step_b = b.entry_step * sizeof(int64_t)
    cdef const int64_t* source
    cdef Py_ssize_t step
    for x in range(n):
        from_a = -<uint64_t>(origins[x] & FROM_A)       # all ones or zero: a mask, where compilers put a branch
        source = <const int64_t*>((next_a & from_a) | (next_b & ~from_a))
        step = (a.dim_step & from_a) | (b.dim_step & ~from_a)
        next_a += step_a & from_a
        next_b += step_b * (origins[x] >> 1)
        if a.dims == 2:
            out[x] = source[0]
            out[n + x] = source[step]
        else:
            for d in range(a.dims):
                out[d * n + x] = source[d * step]


cdef void _merge_values(const uint8_t* origins, Py_ssize_t n, const real_t* a, Py_ssize_t na, const real_t* b,
                        Py_ssize_t nb, Py_ssize_t width, real_t* out) noexcept nogil:
    cdef Py_ssize_t x, column, i = 0, j = 0
    cdef real_t[4] candidates
    if width == 1:
        candidates[0] = 0
        for x in range(n):
            candidates[FROM_A] = a[i if i < na else na - 1]
            candidates[FROM_B] = b[j if j < nb else nb - 1]
            candidates[FROM_A | FROM_B] = candidates[FROM_A] + candidates[FROM_B]
            out[x] = candidates[origins[x]]
            i += origins[x] & FROM_A
            j += origins[x] >> 1
        return
    for x in range(n):
        if origins[x] == FROM_A:
            memcpy(out + x * width, a + i * width, width * sizeof(real_t))
        elif origins[x] == FROM_B:
            memcpy(out + x * width, b + j * width, width * sizeof(real_t))
        else:
            for column in range(width):
                out[x * width + column] = a[i * width + column] + b[j * width + column]
        i += origins[x] & FROM_A
        j += origins[x] >> 1


ctypedef void (*merge_values_t)(const uint8_t*, Py_ssize_t, const void*, Py_ssize_t, const void*, Py_ssize_t,
                                Py_ssize_t, void*) noexcept nogil

ctypedef struct Kernels:
    merge_values_t merge_values
    Py_ssize_t parts                # reals in an element

cdef Kernels[ST_COMPLEX128 + 1] _kernels


cdef void _bind(int dtype, Py_ssize_t parts, real_t* tag):
    _kernels[dtype].merge_values = <merge_values_t>_merge_values[real_t]
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


cdef void merge_values(int dtype, const uint8_t* origins, Py_ssize_t n, const void* a, Py_ssize_t na, const void* b,
                       Py_ssize_t nb, Py_ssize_t width, void* out) noexcept nogil:
    """Values (n, width) of a union from those of both lists, added where both have one; neither list is empty."""
    _kernels[dtype].merge_values(origins, n, a, na, b, nb, width * _kernels[dtype].parts, out)


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
            n = merge_keys(&pair.keys[0], &pair.keys[1], origins)
        shape[0] = n
        index_shape[0] = pair.dims
        index_shape[1] = n
        indices = cnp.PyArray_EMPTY(2, index_shape, cnp.NPY_INT64, 0)
        values = cnp.PyArray_EMPTY(ndim, shape, cnp.PyArray_TYPE(a_values), 0)
        _fill(pair, dtype, origins, n, a, b, width, indices, values)
    finally:
        release(origins)
    return indices, values


cdef void _fill(_Pair pair, int dtype, const uint8_t* origins, Py_ssize_t n, const void* a, const void* b,
                Py_ssize_t width, cnp.ndarray indices, cnp.ndarray values):
    cdef int64_t* index = <int64_t*>cnp.PyArray_DATA(indices)
    cdef void* target = cnp.PyArray_DATA(values)
    with nogil:
        merge_coordinates(origins, n, &pair.entries[0], &pair.entries[1], index)
        if width:
            merge_values(dtype, origins, n, a, pair.keys[0].n, b, pair.keys[1].n, width, target)


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
    with nogil:
        n = common_keys(&pair.keys[0], &pair.keys[1], a, b)
    return in_a[:n], in_b[:n]
