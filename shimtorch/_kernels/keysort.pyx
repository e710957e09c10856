"""Stable sort of 64-bit keys, carrying the position each key came from.

One counting pass scatters the keys into buckets by their top bits; a bucket then fits in the first-level cache
and is finished there, by insertion when short and by byte-wise radix passes when long. A key and its position travel
together in 8 bytes where both fit, else in 16.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset

import numpy as np

from shimtorch._kernels.scratch cimport release, scratch, zeroed_scratch


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


cdef int _sort_buckets(uint64_t* keys, int64_t* positions, Py_ssize_t n, int low, int rest, Py_ssize_t buckets,
                       item_t* tag) noexcept nogil:
    """Sort by bits low and up; the bits from `rest` up (there are log2(buckets) of them) choose the bucket."""
    cdef uint64_t mask = (<uint64_t>1 << rest) - 1
    cdef uint64_t top
    cdef Py_ssize_t x, b, length, start = 0, longest = 0
    cdef Py_ssize_t* fill = <Py_ssize_t*>zeroed_scratch((buckets + 1) * sizeof(Py_ssize_t))
    cdef item_t* items = <item_t*>scratch(n * sizeof(item_t))
    cdef item_t* spare = NULL
    cdef item_t* bucket
    if fill == NULL or items == NULL:
        release(fill)
        release(items)
        return -1
    for x in range(n):
        fill[(keys[x] >> rest) + 1] += 1
    for b in range(buckets):
        length = fill[b + 1]
        if length > longest:
            longest = length
        fill[b + 1] += fill[b]
    for x in range(n):
        b = keys[x] >> rest
        items[fill[b]].key = keys[x] & mask
        items[fill[b]].position = x
        fill[b] += 1
    if longest > SHORT and rest > low:
        spare = <item_t*>scratch(longest * sizeof(item_t))
        if spare == NULL:
            release(fill)
            release(items)
            return -1
    for b in range(buckets):
        length = fill[b] - start                        # fill[b] is now the bucket's end
        bucket = items + start
        if rest > low:
            if length <= SHORT:
                _insertion(bucket, length)
            else:
                bucket = _radix(bucket, spare, length, low, rest)
        top = <uint64_t>b << rest
        for x in range(length):
            keys[start + x] = top | bucket[x].key
            positions[start + x] = bucket[x].position
        start += length
    release(fill)
    release(items)
    release(spare)
    return 0


cdef int sort_keys(uint64_t* keys, int64_t* positions, Py_ssize_t n, int low, int high) noexcept nogil:
    """Sort keys[0..n) by their bits low..high (no bit is set from high on), in place and stably.

    positions[x] becomes the place where keys[x] stood. Among keys that agree from bit `low` on, the bits below must
    ascend already. Returns -1 when there is no memory.
    """
    cdef Py_ssize_t x, y
    cdef uint64_t key
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
    if high - bucket_bits <= 32 and <uint64_t>n >> 32 == 0:
        return _sort_buckets(keys, positions, n, low, high - bucket_bits, <Py_ssize_t>1 << bucket_bits, <Narrow*>NULL)
    return _sort_buckets(keys, positions, n, low, high - bucket_bits, <Py_ssize_t>1 << bucket_bits, <Wide*>NULL)


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
