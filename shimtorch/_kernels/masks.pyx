"""The elements of a contiguous array where a mask is true: taken out, and given."""
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy

from .elements cimport word
from .parallel cimport st_body
from .table cimport st_parallel

cdef enum:
    BLOCK = 1 << 15                    # elements of a mask that are counted together
    CHUNK = 256                        # elements that are picked in the cache

block_size = BLOCK

# What is true in a mask, block after block of BLOCK elements.
ctypedef struct Chosen:
    const uint8_t* mask
    int64_t* starts                    # the number of trues before each block, and in all
    const void* values
    void* target
    Py_ssize_t n


cdef void count_blocks(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Chosen* c = <Chosen*>context
    cdef Py_ssize_t block, i
    cdef int64_t count
    for block in range(begin, end):
        count = 0
        for i in range(block * BLOCK, min((block + 1) * BLOCK, c.n)):
            count += c.mask[i]
        c.starts[block + 1] = count


def count_true(const uint8_t[::1] mask, int64_t[::1] starts):
    """``starts[b]``: how many are true before block b of `block_size` elements; at the end how many there are."""
    cdef Chosen c
    cdef Py_ssize_t block, blocks = starts.shape[0] - 1
    starts[0] = 0
    if not blocks:
        return
    c.mask, c.starts, c.n = &mask[0], &starts[0], mask.shape[0]
    with nogil:
        st_parallel(blocks, 2, count_blocks, &c)
    for block in range(blocks):
        starts[block + 1] += starts[block]


cdef void take_blocks(word* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Chosen* c = <Chosen*>context
    cdef word chunk[CHUNK + 1]
    cdef word* out = <word*>c.target + c.starts[begin]
    cdef const word* values = <const word*>c.values
    cdef Py_ssize_t at = begin * BLOCK, stop = min(end * BLOCK, c.n), i, k
    while at < stop:
        k = 0
        for i in range(at, min(at + CHUNK, stop)):
            chunk[k] = values[i]       # kept if it is chosen, else overwritten
            k += c.mask[i]
        memcpy(out, chunk, k * sizeof(word))
        out += k
        at += CHUNK


def take(const word[::1] values, const uint8_t[::1] mask, int64_t[::1] starts, word[::1] out):
    """The values where the mask is true; `starts` comes from `count_true`."""
    cdef Chosen c
    if not out.shape[0]:
        return
    c.mask, c.starts, c.n = &mask[0], &starts[0], mask.shape[0]
    c.values, c.target = &values[0], &out[0]
    with nogil:
        st_parallel(starts.shape[0] - 1, 1, <st_body>take_blocks[word], &c)


cdef void give_blocks(word* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Chosen* c = <Chosen*>context
    cdef word* out = <word*>c.target
    cdef const word* values = <const word*>c.values
    cdef Py_ssize_t i, k = c.starts[begin], last = c.starts[(c.n + BLOCK - 1) // BLOCK] - 1
    for i in range(begin * BLOCK, min(end * BLOCK, c.n)):
        out[i] = values[min(k, last)] if c.mask[i] else out[i]       # read in any case: that spares a jump
        k += c.mask[i]


def give(word[::1] target, const uint8_t[::1] mask, int64_t[::1] starts, const word[::1] values):
    """Write the values, in order, to where the mask is true; `starts` comes from `count_true`."""
    cdef Chosen c
    if not starts[starts.shape[0] - 1]:
        return
    c.mask, c.starts, c.n = &mask[0], &starts[0], mask.shape[0]
    c.values, c.target = &values[0], &target[0]
    with nogil:
        st_parallel(starts.shape[0] - 1, 1, <st_body>give_blocks[word], &c)
