"""Coordinates of sparse entries packed into 64-bit keys that compare as the coordinates do.

Each dimension gets as many bits as its size needs, the first dimension the highest, so that unpacking is a shift
and a mask where a row-major number would need divisions.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memset

from shimtorch._kernels.sparsetypes cimport IndexSet
from shimtorch._kernels.table cimport st_parallel

cdef enum:
    GRAIN = 1 << 17         # entries that are worth a thread


cdef int key_bits(const int64_t* sizes, int dims, int* bits) noexcept nogil:
    """Bits for each dimension; returns their sum, which may exceed 64."""
    cdef int d, total = 0
    for d in range(dims):
        bits[d] = 0
        while bits[d] < 63 and (sizes[d] - 1) >> bits[d] > 0:
            bits[d] += 1
        total += bits[d]
    return total


ctypedef struct Packing:
    const IndexSet* entries
    const int64_t* order
    const int* bits
    int first
    int last
    uint64_t* keys
    bint descends           # set by any piece in which keys do
    bint repeats


cdef void _pack_piece(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Keys begin..end, which are also compared with the one before each but the very first."""
    cdef Packing* p = <Packing*>context
    cdef Py_ssize_t x, step = p.entries.entry_step
    cdef const int64_t* a = p.entries.data + p.first * p.entries.dim_step
    cdef const int64_t* b
    cdef const int64_t* order = p.order
    cdef uint64_t* keys = p.keys
    cdef uint64_t key, before = 0
    cdef int d, shift
    cdef bint descends = False, repeats = False
    if p.last - p.first == 2 and order == NULL:
        b = a + p.entries.dim_step
        shift = p.bits[p.first + 1]
        if begin:
            before = <uint64_t>a[(begin - 1) * step] << shift | <uint64_t>b[(begin - 1) * step]
        for x in range(begin, end):
            key = <uint64_t>a[x * step] << shift | <uint64_t>b[x * step]
            keys[x] = key
            descends |= key < before
            repeats |= key == before and x > 0
            before = key
    else:
        memset(keys + begin, 0, (end - begin) * sizeof(uint64_t))
        for d in range(p.first, p.last):
            a = p.entries.data + d * p.entries.dim_step
            shift = p.bits[d]
            if order == NULL:
                for x in range(begin, end):
                    keys[x] = keys[x] << shift | <uint64_t>a[x * step]
            else:
                for x in range(begin, end):
                    keys[x] = keys[x] << shift | <uint64_t>a[order[x] * step]
        if begin:
            before = _key_of(p, begin - 1)
        for x in range(begin, end):
            descends |= keys[x] < before
            repeats |= keys[x] == before and x > 0
            before = keys[x]
    if descends:
        p.descends = True
    if repeats:
        p.repeats = True


cdef uint64_t _key_of(const Packing* p, Py_ssize_t x) noexcept nogil:
    cdef uint64_t key = 0
    cdef int d
    if p.order != NULL:
        x = p.order[x]
    for d in range(p.first, p.last):
        key = key << p.bits[d] | <uint64_t>p.entries.data[d * p.entries.dim_step + x * p.entries.entry_step]
    return key


cdef KeyOrder pack_keys(const IndexSet* entries, int first, int last, const int* bits, const int64_t* order,
                        uint64_t* keys) noexcept nogil:
    """Keys of every entry from its dimensions first..last, at most 64 bits together; says how the keys lie.

    With `order`, keys[x] is that of entry order[x].
    """
    cdef Packing packing
    packing.entries, packing.order, packing.bits, packing.first, packing.last = entries, order, bits, first, last
    packing.keys, packing.descends, packing.repeats = keys, False, False
    st_parallel(entries.nnz, GRAIN, _pack_piece, &packing)
    return UNSORTED if packing.descends else SORTED if packing.repeats else DISTINCT


ctypedef struct Unpacking:
    const uint64_t* keys
    const int64_t* places
    Py_ssize_t n
    const int* bits
    int dims
    int64_t* out


cdef void _unpack_piece(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef const Unpacking* p = <const Unpacking*>context
    cdef Py_ssize_t x
    cdef int d, shift = 0
    cdef uint64_t mask
    cdef int64_t* out
    for d in range(p.dims - 1, -1, -1):
        out = p.out + d * p.n
        mask = (<uint64_t>1 << p.bits[d]) - 1
        if p.bits[d] == 0:
            memset(out + begin, 0, (end - begin) * sizeof(int64_t))
        elif p.places != NULL:
            for x in range(begin, end):
                out[x] = <int64_t>(p.keys[p.places[x]] >> shift & mask)
        else:
            for x in range(begin, end):
                out[x] = <int64_t>(p.keys[x] >> shift & mask)
        shift += p.bits[d]


cdef void unpack_keys(const uint64_t* keys, const int64_t* places, Py_ssize_t n, const int* bits, int dims,
                      int64_t* out) noexcept nogil:
    """Coordinates (dims, n) of the keys at some places, or of the first n; they were packed from all dimensions."""
    cdef Unpacking unpacking
    unpacking.keys, unpacking.places, unpacking.n, unpacking.bits, unpacking.dims, unpacking.out = (
        keys, places, n, bits, dims, out)
    st_parallel(n, GRAIN, _unpack_piece, &unpacking)
