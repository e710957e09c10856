"""The order in which PyTorch up to 1.8 left equal elements when it sorted: that of a quicksort, which is not stable."""
from libc.stdint cimport int64_t

cdef enum:
    SMALL = 10                         # parts up to this size are left to the insertion at the end
    DEPTH = 64                         # parts that wait; the smaller one is always cut first


cdef inline void exchange(int64_t* ranks, int64_t* places, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    ranks[i], ranks[j] = ranks[j], ranks[i]
    places[i], places[j] = places[j], places[i]


cdef void cut(int64_t* ranks, int64_t* places, Py_ssize_t first, Py_ssize_t last,
              Py_ssize_t* left, Py_ssize_t* right) noexcept nogil:
    """Parts a row's piece at the median of its first, middle and last element: up to `left`, and from `right` on."""
    cdef Py_ssize_t i = first + 1, j = last
    cdef int64_t pivot
    exchange(ranks, places, (first + last) >> 1, first + 1)
    if ranks[first + 1] > ranks[last]:
        exchange(ranks, places, first + 1, last)
    if ranks[first] > ranks[last]:
        exchange(ranks, places, first, last)
    if ranks[first + 1] > ranks[first]:
        exchange(ranks, places, first + 1, first)
    pivot = ranks[first]
    while True:
        i += 1
        while ranks[i] < pivot:
            i += 1
        j -= 1
        while ranks[j] > pivot:
            j -= 1
        if j < i:
            break
        exchange(ranks, places, i, j)
    exchange(ranks, places, first, j)
    left[0], right[0] = j - 1, i


cdef void insert(int64_t* ranks, int64_t* places, Py_ssize_t n) noexcept nogil:
    """Moves every element, from the last one on, behind all that are smaller."""
    cdef Py_ssize_t i, j
    cdef int64_t rank, place
    for i in range(n - 2, -1, -1):
        rank, place, j = ranks[i], places[i], i + 1
        while j < n and ranks[j] < rank:
            ranks[j - 1], places[j - 1] = ranks[j], places[j]
            j += 1
        ranks[j - 1], places[j - 1] = rank, place


cdef void sort_row(int64_t* ranks, int64_t* places, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t firsts[DEPTH]
    cdef Py_ssize_t lasts[DEPTH]
    cdef Py_ssize_t first, last, left, right, waiting = 0
    if n - 1 > SMALL:
        firsts[0], lasts[0], waiting = 0, n - 1, 1
    while waiting:
        waiting -= 1
        first, last = firsts[waiting], lasts[waiting]
        cut(ranks, places, first, last, &left, &right)
        if left - first < last - right:                    # the larger part waits
            if last - right + 1 > SMALL:
                firsts[waiting], lasts[waiting] = right, last
                waiting += 1
            if left - first + 1 > SMALL:
                firsts[waiting], lasts[waiting] = first, left
                waiting += 1
        else:
            if left - first + 1 > SMALL:
                firsts[waiting], lasts[waiting] = first, left
                waiting += 1
            if last - right + 1 > SMALL:
                firsts[waiting], lasts[waiting] = right, last
                waiting += 1
    insert(ranks, places, n)


def order(int64_t[:, ::1] ranks, int64_t[:, ::1] places):
    """Sorts each row of `ranks`, and with it `places`, as it stands."""
    cdef Py_ssize_t row, n = ranks.shape[1]
    if ranks.shape[0] != places.shape[0] or n != places.shape[1]:
        raise ValueError("ranks and places must have one shape")
    with nogil:
        for row in range(ranks.shape[0] if n else 0):
            sort_row(&ranks[row, 0], &places[row, 0], n)
