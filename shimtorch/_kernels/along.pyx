"""Loops along one dimension of C-contiguous arrays (outer, n, inner): picking, adding up, the largest few.

Arrays are ndarrays; places are int64 and were checked to lie within the dimension.
"""
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t

ctypedef fused word:
    uint8_t
    int16_t
    float
    double
    double complex

ctypedef fused number:
    float
    double
    uint8_t
    int8_t
    int16_t
    int32_t
    int64_t

ctypedef fused ordered:
    float
    double
    uint8_t
    int32_t
    int64_t


def gather(const word[:, :, ::1] source, const int64_t[:, :, ::1] places, word[:, :, ::1] out):
    """``out[o, j, i] = source[o, places[o, j, i], i]``."""
    cdef Py_ssize_t o, j, i
    with nogil:
        for o in range(places.shape[0]):
            for j in range(places.shape[1]):
                for i in range(places.shape[2]):
                    out[o, j, i] = source[o, places[o, j, i], i]


def scatter_add(number[:, :, ::1] target, const int64_t[:, :, ::1] places, const number[:, :, ::1] values):
    """``target[o, places[o, j, i], i] += values[o, j, i]``."""
    cdef Py_ssize_t o, j, i
    with nogil:
        for o in range(places.shape[0]):
            for j in range(places.shape[1]):
                for i in range(places.shape[2]):
                    target[o, places[o, j, i], i] += values[o, j, i]


def index_add(number[:, :, ::1] target, const int64_t[::1] places, const number[:, :, ::1] values):
    """``target[o, places[j], i] += values[o, j, i]``."""
    cdef Py_ssize_t o, j, i, inner = target.shape[2]
    cdef number* row
    cdef const number* added
    if not inner or not values.shape[1]:
        return
    with nogil:
        for o in range(values.shape[0]):
            for j in range(values.shape[1]):
                row, added = &target[o, places[j], 0], &values[o, j, 0]
                for i in range(inner):
                    row[i] += added[i]


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


def topk(const ordered[:, ::1] rows, ordered[:, ::1] values, int64_t[:, ::1] places, bint largest):
    """The largest (or smallest) elements of each row, in order, and where they were."""
    cdef Py_ssize_t i, k = values.shape[1]
    if not k:
        return
    with nogil:
        for i in range(rows.shape[0]):
            choose(&rows[i, 0], rows.shape[1], &values[i, 0], &places[i, 0], k, largest)
