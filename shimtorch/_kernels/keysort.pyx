"""Stable sort of 64-bit keys, carrying the position each key came from.

One counting pass scatters the keys into buckets by their top bits; a bucket then fits in the first-level cache
and is finished there, by insertion when short and by byte-wise radix passes when long. A key and its position travel
together in 8 bytes where both fit, else in 16. Threads share stretches of the keys, then buckets.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset

import numpy as np

from shimtorch._kernels.scratch cimport release, scratch, zeroed_scratch
from shimtorch._kernels.table cimport st_parallel


ctypedef struct Narrow:
    uint32_t key
    uint32_t position

ctypedef struct Wide:
    uint64_t key
    uint64_t position

cdef fused item_t:
    Narrow
    Wide

cdef enum:
    SHORT = 24                  # items below which insertion beats a radix pass
    MOST_BUCKET_BITS = 10       # more buckets than this and the scattering pass misses the cache
    BUCKET_SIZE_BITS = 3
    DIGIT_BITS = 8
    DIGITS = 1 << DIGIT_BITS
    GRAIN = 1 << 16             # keys that are worth a thread
    MOST_CHUNKS = 16


cdef inline void _insertion(item_t* items, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t x, y
    cdef item_t item
    for x in range(1, n):
        item = items[x]
        y = x
        while y > 0 and items[y - 1].key > item.key:
            items[y] = items[y - 1]
            y -= 1
        items[y] = item


cdef inline item_t* _radix(item_t* items, item_t* spare, Py_ssize_t n, int low, int high) noexcept nogil:
    """Sort by the bits low..high of the keys; the result is in whichever of the two buffers is returned."""
    cdef Py_ssize_t[DIGITS] count
    cdef Py_ssize_t x, start, here
    cdef int shift = low
    cdef int z
    cdef item_t* swap
    while shift < high:
        memset(count, 0, sizeof(count))
        for x in range(n):
            count[(items[x].key >> shift) & (DIGITS - 1)] += 1
        if count[(items[0].key >> shift) & (DIGITS - 1)] != n:      # else all share this digit
            start = 0
            for z in range(DIGITS):
                here = count[z]
                count[z] = start
                start += here
            for x in range(n):
                z = (items[x].key >> shift) & (DIGITS - 1)
                spare[count[z]] = items[x]
                count[z] += 1
            swap = items
            items = spare
            spare = swap
        shift += DIGIT_BITS
    return items


cdef struct Sort
ctypedef void (*sort_kernel)(Sort*, const void*, Py_ssize_t, Py_ssize_t) noexcept nogil

cdef struct Sort:
    uint64_t* keys
    int64_t* positions
    Py_ssize_t n
    int low                     # bits low and up are sorted by; those from `rest` up choose the bucket
    int rest
    Py_ssize_t buckets
    Py_ssize_t chunks           # stretches of the keys that are counted and scattered each by itself
    Py_ssize_t* fill            # (chunks, buckets): keys there, then where the next of them goes
    Py_ssize_t* starts          # (buckets + 1,)
    void* items
    int failed
    sort_kernel scatter
    sort_kernel finish


cdef void _count_piece(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Sort* s = <Sort*>context
    cdef Py_ssize_t* fill
    cdef Py_ssize_t chunk, x
    for chunk in range(begin, end):
        fill = s.fill + chunk * s.buckets
        for x in range(s.n * chunk // s.chunks, s.n * (chunk + 1) // s.chunks):
            fill[s.keys[x] >> s.rest] += 1


cdef void _scatter(Sort* s, const item_t* tag, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Py_ssize_t* fill
    cdef item_t* items = <item_t*>s.items
    cdef uint64_t mask = (<uint64_t>1 << s.rest) - 1
    cdef const uint64_t* keys = s.keys
    cdef int rest = s.rest
    cdef Py_ssize_t chunk, x, b
    for chunk in range(begin, end):
        fill = s.fill + chunk * s.buckets
        for x in range(s.n * chunk // s.chunks, s.n * (chunk + 1) // s.chunks):
            b = keys[x] >> rest
            items[fill[b]].key = keys[x] & mask
            items[fill[b]].position = x
            fill[b] += 1


cdef void _finish(Sort* s, const item_t* tag, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """Sort buckets first..last and write them back."""
    cdef Py_ssize_t b, x, length, longest = 0
    cdef item_t* spare = NULL
    cdef item_t* bucket
    cdef uint64_t top
    for b in range(first, last):
        longest = max(longest, s.starts[b + 1] - s.starts[b])
    if longest > SHORT and s.rest > s.low:
        spare = <item_t*>scratch(longest * sizeof(item_t))
        if spare == NULL:
            s.failed = -1
            return
    for b in range(first, last):
        length = s.starts[b + 1] - s.starts[b]
        bucket = <item_t*>s.items + s.starts[b]
        if s.rest > s.low:
            if length <= SHORT:
                _insertion(bucket, length)
            else:
                bucket = _radix(bucket, spare, length, s.low, s.rest)
        top = <uint64_t>b << s.rest
        for x in range(length):
            s.keys[s.starts[b] + x] = top | bucket[x].key
            s.positions[s.starts[b] + x] = bucket[x].position
    release(spare)


cdef void _scatter_piece(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Sort* s = <Sort*>context
    s.scatter(s, NULL, begin, end)


cdef Py_ssize_t _bucket_at(const Sort* s, Py_ssize_t place) noexcept nogil:
    """The first bucket that begins at a place or after it."""
    cdef Py_ssize_t low = 0, high = s.buckets, middle
    while low < high:
        middle = (low + high) // 2
        if s.starts[middle] < place:
            low = middle + 1
        else:
            high = middle
    return low


cdef void _finish_piece(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Sort* s = <Sort*>context
    s.finish(s, NULL, _bucket_at(s, begin), _bucket_at(s, end))


cdef int _sort_buckets(Sort* s, Py_ssize_t item) noexcept nogil:
    cdef Py_ssize_t b, chunk, here, total = 0
    s.chunks = min(max(s.n // GRAIN, <Py_ssize_t>1), <Py_ssize_t>MOST_CHUNKS)
    s.failed = 0
    s.fill = <Py_ssize_t*>zeroed_scratch(s.chunks * s.buckets * sizeof(Py_ssize_t))
    s.starts = <Py_ssize_t*>scratch((s.buckets + 1) * sizeof(Py_ssize_t))
    s.items = scratch(s.n * item)
    if s.fill == NULL or s.starts == NULL or s.items == NULL:
        s.failed = -1
    else:
        st_parallel(s.chunks, 1, _count_piece, s)
        for b in range(s.buckets):
            s.starts[b] = total
            for chunk in range(s.chunks):
                here = s.fill[chunk * s.buckets + b]
                s.fill[chunk * s.buckets + b] = total
                total += here
        s.starts[s.buckets] = total
        st_parallel(s.chunks, 1, _scatter_piece, s)
        st_parallel(s.n, GRAIN, _finish_piece, s)
    release(s.fill)
    release(s.starts)
    release(s.items)
    return s.failed


cdef int sort_keys(uint64_t* keys, int64_t* positions, Py_ssize_t n, int low, int high) noexcept nogil:
    """Sort keys[0..n) by their bits low..high (no bit is set from high on), in place and stably.

    positions[x] becomes the place where keys[x] stood. Among keys that agree from bit `low` on, the bits below must
    ascend already. Returns -1 when there is no memory.
    """
    cdef Py_ssize_t x, y
    cdef uint64_t key
    cdef Sort sort
    cdef int bucket_bits = 1
    if n <= SHORT:
        for x in range(n):
            key = keys[x]
            y = x
            while y > 0 and keys[y - 1] > key:
                keys[y] = keys[y - 1]
                positions[y] = positions[y - 1]
                y -= 1
            keys[y] = key
            positions[y] = x
        return 0
    if high <= low:
        for x in range(n):
            positions[x] = x
        return 0
    while bucket_bits < MOST_BUCKET_BITS and (n >> (bucket_bits + BUCKET_SIZE_BITS)) > 0:
        bucket_bits += 1
    if bucket_bits > high - low:
        bucket_bits = high - low
    sort.keys, sort.positions, sort.n, sort.low, sort.rest = keys, positions, n, low, high - bucket_bits
    sort.buckets = <Py_ssize_t>1 << bucket_bits
    if sort.rest <= 32 and <uint64_t>n >> 32 == 0:
        sort.scatter, sort.finish = <sort_kernel>_scatter[Narrow], <sort_kernel>_finish[Narrow]
        return _sort_buckets(&sort, sizeof(Narrow))
    sort.scatter, sort.finish = <sort_kernel>_scatter[Wide], <sort_kernel>_finish[Wide]
    return _sort_buckets(&sort, sizeof(Wide))


def stable_sort(keys, int low=0, int high=64):
    """Sorted copy of a 1-d uint64 array and the int64 position of each key in the original; see `sort_keys`."""
    cdef uint64_t[::1] out = np.array(keys, dtype=np.uint64)
    cdef int64_t[::1] positions = np.empty(out.shape[0], np.int64)
    cdef int failed = 0
    if not 0 <= low <= high <= 64:
        raise ValueError(f"stable_sort: bits {low}..{high} are not within 0..64")
    if high < 64 and out.shape[0] and int(np.asarray(out).max()) >> high:
        raise ValueError(f"stable_sort: a key has a bit set from {high} on")
    if out.shape[0]:
        with nogil:
            failed = sort_keys(&out[0], &positions[0], out.shape[0], low, high)
    if failed:
        raise MemoryError(f"stable_sort of {out.shape[0]} keys")
    return np.asarray(out), np.asarray(positions)
