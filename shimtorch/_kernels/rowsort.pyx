"""Rows of any dtype sorted by radix, stably, and their k-th elements: bits are keys that order as elements do."""
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from .keysort cimport sort_keys
from .parallel cimport st_body
from .scratch cimport release, scratch
from .table cimport st_parallel

ctypedef fused word:
    uint8_t
    uint16_t
    uint32_t
    uint64_t

cdef enum:
    GRAIN = 1 << 12                    # elements that are worth a thread
    FEW = 24                           # keys that are put in order at once

# What the pieces share. A piece is a function of any word, called through st_body: its first parameter, a pointer to
# words, stands for the context.
ctypedef struct Sort:
    const void* rows
    void* values
    int64_t* places
    Py_ssize_t n
    uint64_t infinity                  # the bits of a float type's, else 0
    bint signed_, descending, failed


cdef inline word key_of(word x, word sign, word infinity, bint signed_) noexcept nogil:
    """A number that orders as x does: NaN after all others, -0 like 0."""
    if not infinity:
        return x ^ sign if signed_ else x
    if (x & <word>~sign) > infinity:
        return <word>~<word>0
    if not x & sign:
        return x | sign
    return sign if x == sign else <word>~x


cdef void sort_rows(word* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Sort* c = <Sort*>context
    cdef int bits = 8 * sizeof(word)
    cdef word sign = <word>1 << (bits - 1), infinity = <word>c.infinity, key
    cdef Py_ssize_t i, j, n = c.n
    cdef const word* row
    cdef word* values
    cdef int64_t* places
    cdef uint64_t* keys = <uint64_t*>scratch(n * sizeof(uint64_t))
    if keys == NULL:
        c.failed = True
        return
    for i in range(begin, end):
        row, values, places = <const word*>c.rows + i * n, <word*>c.values + i * n, c.places + i * n
        for j in range(n):
            key = key_of(row[j], sign, infinity, c.signed_)
            keys[j] = <word>~key if c.descending else key
        if sort_keys(keys, places, n, 0, bits):
            c.failed = True
            break
        for j in range(n):
            values[j] = row[places[j]]
    release(keys)


def sort(const word[:, ::1] rows, word[:, ::1] values, int64_t[:, ::1] places, str kind, uint64_t infinity,
         bint descending):
    """The elements of each row in order, and where they were.

    The elements are given as words. kind "u": unsigned numbers, "i": signed ones, "f": floats whose infinity has the
    bits `infinity`; NaN is the largest of all.
    """
    cdef Sort c
    if not rows.shape[0] * rows.shape[1]:
        return
    c.rows, c.values, c.places, c.n = &rows[0, 0], &values[0, 0], &places[0, 0], rows.shape[1]
    c.infinity, c.signed_, c.descending, c.failed = infinity if kind == "f" else 0, kind == "i", descending, False
    with nogil:
        st_parallel(rows.shape[0], GRAIN // c.n + 1, <st_body>sort_rows[word], &c)
    if c.failed:
        raise MemoryError(f"sort of rows of {c.n} elements")


# ---------------------------------------------------------------- the k-th

ctypedef struct Select:
    const void* rows
    void* values
    int64_t* places
    const int64_t* ranks
    Py_ssize_t n
    uint64_t infinity
    bint signed_, failed


cdef inline word digit_of(word key, int shift) noexcept nogil:
    return (key >> shift) & 255


cdef inline Py_ssize_t narrow(word* keys, Py_ssize_t n, int shift, int64_t* rank) noexcept nogil:
    """Leave those keys whose digit is that of the key of a rank, made one among them; how many they are."""
    cdef Py_ssize_t counts[256]
    cdef Py_ssize_t i, kept = 0
    cdef word digit = 0
    memset(counts, 0, sizeof(counts))
    for i in range(n):
        counts[digit_of(keys[i], shift)] += 1
    while rank[0] >= counts[digit]:
        rank[0] -= counts[digit]
        digit += 1
    if counts[digit] == n:
        return n
    for i in range(n):
        keys[kept] = keys[i]
        kept += digit_of(keys[i], shift) == digit
    return kept


cdef inline word of_few(word* keys, Py_ssize_t n, int64_t* rank) noexcept nogil:
    """The key of a rank, which becomes its rank among its equals."""
    cdef Py_ssize_t i, j
    cdef word key
    for i in range(1, n):
        key, j = keys[i], i
        while j and keys[j - 1] > key:
            keys[j] = keys[j - 1]
            j -= 1
        keys[j] = key
    key, j = keys[rank[0]], rank[0]
    while j and keys[j - 1] == key:
        j -= 1
    rank[0] -= j
    return key


cdef void select_rows(word* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Select* c = <Select*>context
    cdef int shift, bits = 8 * sizeof(word)
    cdef word sign = <word>1 << (bits - 1), infinity = <word>c.infinity, key
    cdef Py_ssize_t i, j, left, n = c.n
    cdef int64_t rank
    cdef const word* row
    cdef word* keys = <word*>scratch(2 * (n + 1) * sizeof(word))     # all, and those that are left
    cdef word* rest = keys + n + 1                                   # one is written past the last that is kept
    if keys == NULL:
        c.failed = True
        return
    for i in range(begin, end):
        row, rank, left, shift = <const word*>c.rows + i * n, c.ranks[i], n, bits
        for j in range(n):
            keys[j] = rest[j] = key_of(row[j], sign, infinity, c.signed_)
        while shift and left > FEW:
            shift -= 8
            left = narrow(rest, left, shift, &rank)
        key, j = of_few(rest, left, &rank), 0
        while True:
            if keys[j] == key:
                if not rank:
                    break
                rank -= 1
            j += 1
        c.places[i] = j
        (<word*>c.values)[i] = row[j]
    release(keys)


def select(const word[:, ::1] rows, const int64_t[::1] ranks, word[::1] values, int64_t[::1] places, str kind,
           uint64_t infinity):
    """Of each row, which is not empty, the element that `sort` puts at a rank within it, and where it was."""
    cdef Select c
    if not rows.shape[0]:
        return
    c.rows, c.values, c.places, c.n, c.ranks = &rows[0, 0], &values[0], &places[0], rows.shape[1], &ranks[0]
    c.infinity, c.signed_, c.failed = infinity if kind == "f" else 0, kind == "i", False
    with nogil:
        st_parallel(rows.shape[0], GRAIN // c.n + 1, <st_body>select_rows[word], &c)
    if c.failed:
        raise MemoryError(f"selection from rows of {c.n} elements")
