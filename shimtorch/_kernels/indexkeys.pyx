"""Coordinates of sparse entries packed into 64-bit keys that compare as the coordinates do.

Each dimension gets as many bits as its size needs, the first dimension the highest, so that unpacking is a shift
and a mask where a row-major number would need divisions.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memset

from shimtorch._kernels.sparsetypes cimport IndexSet


cdef int key_bits(const int64_t* sizes, int dims, int* bits) noexcept nogil:
    """Bits for each dimension; returns their sum, which may exceed 64."""
    cdef int d, total = 0
    for d in range(dims):
        bits[d] = 0
        while bits[d] < 63 and (sizes[d] - 1) >> bits[d] > 0:
            bits[d] += 1
        total += bits[d]
    return total


cdef KeyOrder pack_keys(const IndexSet* entries, int first, int last, const int* bits, const int64_t* order,
                        uint64_t* keys) noexcept nogil:
    """Keys of every entry from its dimensions first..last, at most 64 bits together; says how the keys lie.

    With `order`, keys[x] is that of entry order[x].
    """
    cdef Py_ssize_t x, step = entries.entry_step
    cdef const int64_t* a
    cdef const int64_t* b
    cdef uint64_t key, before = 0
    cdef int d, shift
    cdef bint descends = False, repeats = False
    if last - first == 2 and order == NULL:
        a = entries.data + first * entries.dim_step
        b = a + entries.dim_step
        shift = bits[first + 1]
        for x in range(entries.nnz):
            key = <uint64_t>a[x * step] << shift | <uint64_t>b[x * step]
            keys[x] = key
            descends |= key < before
            repeats |= key == before and x > 0
            before = key
    else:
        memset(keys, 0, entries.nnz * sizeof(uint64_t))
        for d in range(first, last):
            a = entries.data + d * entries.dim_step
            shift = bits[d]
            if order == NULL:
                for x in range(entries.nnz):
                    keys[x] = keys[x] << shift | <uint64_t>a[x * step]
            else:
                for x in range(entries.nnz):
                    keys[x] = keys[x] << shift | <uint64_t>a[order[x] * step]
        for x in range(1, entries.nnz):
            descends |= keys[x] < keys[x - 1]
            repeats |= keys[x] == keys[x - 1]
    return UNSORTED if descends else SORTED if repeats else DISTINCT


cdef void unpack_keys(const uint64_t* keys, Py_ssize_t n, const int* bits, int dims, int64_t* out) noexcept nogil:
    """Coordinates (dims, n) of keys that were packed from all dimensions."""
    cdef Py_ssize_t x
    cdef int d, shift = 0
    cdef uint64_t mask
    for d in range(dims - 1, -1, -1):
        if bits[d] == 0:
            memset(out + d * n, 0, n * sizeof(int64_t))
        else:
            mask = (<uint64_t>1 << bits[d]) - 1
            for x in range(n):
                out[d * n + x] = <int64_t>(keys[x] >> shift & mask)
        shift += bits[d]
