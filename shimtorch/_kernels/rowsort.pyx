"""Stable sort of rows by radix, of elements of any dtype: their bits are made keys that order as the elements do."""
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

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
