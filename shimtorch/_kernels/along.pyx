"""Loops along one dimension of C-contiguous arrays (outer, n, inner): picking, the largest few.

Arrays are ndarrays; places are int64 and, except for `gather`, were checked to lie within the dimension.
"""
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint64_t

from .elements cimport doublecomplex, power_of, word
from .move cimport st_move
from .parallel cimport st_body
from .table cimport st_parallel

ctypedef fused ordered:
    float
    double
    uint8_t
    int32_t
    int64_t


# What the pieces of a loop share. A piece is a function of any element type, called through st_body: its first
# parameter, a pointer to the elements, stands for the context.
ctypedef struct Lines:
    void* target
    const int64_t* places
    const void* values
    Py_ssize_t size, n, inner          # of the dimension: in the array that is looked into, and in the other
    Py_ssize_t k
    bint largest, outside              # outside: a place does not lie in the dimension

cdef enum:
    GRAIN = 1 << 15                    # elements that are worth a thread


# By the power of two that is an element's size.
cdef st_body[5] GATHER
cdef st_body[5] PICK


cdef void gather_lines(word* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Lines (o, j) of the result."""
    cdef Lines* c = <Lines*>context
    cdef Py_ssize_t line = begin, stop, i, inner = c.inner
    cdef uint64_t size = c.size
    cdef const uint64_t* at
    cdef const word* source
    cdef word* out
    while line < end:
        stop = min(end, (line // c.n + 1) * c.n)
        source = <const word*>c.values + line // c.n * c.size * inner
        at, out = <const uint64_t*>c.places, <word*>c.target
        if inner == 1:
            for i in range(line, stop):
                if at[i] >= size:      # negative ones too
                    c.outside = True
                    return
                out[i] = source[at[i]]
            line = stop
            continue
        while line < stop:
            for i in range(inner):
                if at[line * inner + i] >= size:
                    c.outside = True
                    return
                out[line * inner + i] = source[at[line * inner + i] * inner + i]
            line += 1


cdef bint gather_places(const void* source, Py_ssize_t size, const int64_t* places, Py_ssize_t outer, Py_ssize_t n,
                        Py_ssize_t inner, void* out, int itemsize) noexcept:
    """``out[o, j, i] = source[o, places[o, j, i], i]``; False, and no result, if a place lies outside."""
    cdef Lines c
    if not outer * n * inner:
        return True
    c.target, c.places, c.values, c.size, c.n, c.inner, c.outside = out, places, source, size, n, inner, False
    with nogil:
        st_parallel(outer * n, GRAIN // inner + 1, GATHER[power_of(itemsize)], &c)
    return not c.outside


cdef void pick_lines(word* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Lines (o, j) of the result."""
    cdef Lines* c = <Lines*>context
    cdef Py_ssize_t line = begin, stop, i, j, inner = c.inner
    cdef const word* source
    cdef word* out
    while line < end:
        stop = min(end, (line // c.n + 1) * c.n)
        source = <const word*>c.values + line // c.n * c.size * inner
        out, j = <word*>c.target + line * inner, line % c.n
        if inner == 1:
            for i in range(stop - line):
                out[i] = source[c.places[j + i]]
        else:
            for i in range(stop - line):
                st_move(out + i * inner, source + c.places[j + i] * inner, inner * sizeof(word))
        line = stop


cdef void pick_slices(const void* source, Py_ssize_t size, const int64_t* places, Py_ssize_t outer, Py_ssize_t n,
                      Py_ssize_t inner, void* out, int itemsize) noexcept:
    """``out[o, j, i] = source[o, places[j], i]``."""
    cdef Lines c
    if not outer * n * inner:
        return
    c.target, c.places, c.values, c.size, c.n, c.inner = out, places, source, size, n, inner
    with nogil:
        st_parallel(outer * n, GRAIN // inner + 1, PICK[power_of(itemsize)], &c)


GATHER[:] = [<st_body>gather_lines[uint8_t], <st_body>gather_lines[int16_t], <st_body>gather_lines[float],
             <st_body>gather_lines[double], <st_body>gather_lines[doublecomplex]]
PICK[:] = [<st_body>pick_lines[uint8_t], <st_body>pick_lines[int16_t], <st_body>pick_lines[float],
           <st_body>pick_lines[double], <st_body>pick_lines[doublecomplex]]


# ---------------------------------------------------------------- the largest few

cdef inline bint before(ordered a, ordered b) noexcept nogil:
    """Whether a is smaller; NaN is the largest of all."""
    if ordered is float or ordered is double:
        return a < b or (b != b and a == a)
    return a < b


cdef void sift(ordered* heap, int64_t* at, Py_ssize_t i, Py_ssize_t n, bint largest) noexcept nogil:
    """Put the element at i where it belongs in a heap whose root is the worst of the chosen."""
    cdef Py_ssize_t child
    cdef ordered value = heap[i]
    cdef int64_t place = at[i]
    while True:
        child = 2 * i + 1
        if child >= n:
            break
        if child + 1 < n and (before(heap[child + 1], heap[child]) if largest
                              else before(heap[child], heap[child + 1])):
            child += 1
        if not (before(heap[child], value) if largest else before(value, heap[child])):
            break
        heap[i], at[i] = heap[child], at[child]
        i = child
    heap[i], at[i] = value, place


cdef void choose(const ordered* row, Py_ssize_t n, ordered* heap, int64_t* at, Py_ssize_t k,
                 bint largest) noexcept nogil:
    """The k largest (or smallest) elements of a row, in order, and where they were."""
    cdef Py_ssize_t i
    cdef ordered x
    cdef int64_t place
    for i in range(k):
        heap[i], at[i] = row[i], i
    for i in range(k // 2 - 1, -1, -1):
        sift(heap, at, i, k, largest)
    for i in range(k, n):
        x = row[i]
        if before(heap[0], x) if largest else before(x, heap[0]):
            heap[0], at[0] = x, i
            sift(heap, at, 0, k, largest)
    for i in range(k - 1, 0, -1):                # the worst of what is left goes last
        x, place = heap[0], at[0]
        heap[0], at[0] = heap[i], at[i]
        heap[i], at[i] = x, place
        sift(heap, at, 0, i, largest)


cdef void topk_rows(ordered* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Lines* c = <Lines*>context
    cdef Py_ssize_t i
    for i in range(begin, end):
        choose(<const ordered*>c.values + i * c.n, c.n, <ordered*>c.target + i * c.k, <int64_t*>c.places + i * c.k, c.k,
               c.largest)


def topk(const ordered[:, ::1] rows, ordered[:, ::1] values, int64_t[:, ::1] places, bint largest):
    """The largest (or smallest) elements of each row, in order, and where they were."""
    cdef Lines c
    if not values.shape[0] * values.shape[1]:
        return
    c.target, c.places, c.values = &values[0, 0], &places[0, 0], &rows[0, 0]
    c.n, c.k, c.largest = rows.shape[1], values.shape[1], largest
    with nogil:
        st_parallel(rows.shape[0], GRAIN // c.n + 1, <st_body>topk_rows[ordered], &c)
