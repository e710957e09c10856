"""Bags of rows of a table: their sums, means and maxima."""
from libc.stdint cimport int64_t

from .elements cimport real
from .parallel cimport st_body
from .table cimport st_parallel

cdef enum:
    GRAIN = 1 << 14                    # elements that are worth a thread
    BLOCK = 16                         # columns that are summed up together

# What the pieces share; a piece is a function of any element type, called through st_body.
ctypedef struct Bags:
    const void* table
    const int64_t* rows
    const int64_t* starts              # of each bag among the rows, and their end
    const void* weights                # of each row, or NULL
    void* out
    int64_t* chosen                    # the rows that the maxima came from, or NULL
    Py_ssize_t width
    bint mean


cdef inline void sum_columns(Bags* c, Py_ssize_t bag, Py_ssize_t first, real* sums, int columns) noexcept nogil:
    """The sums of a bag in some neighbouring columns; with a fixed number of them they stay in registers."""
    cdef Py_ssize_t i
    cdef int k
    cdef const real* row
    cdef const real* weights = <const real*>c.weights
    for k in range(columns):
        sums[k] = 0
    if weights == NULL:
        for i in range(c.starts[bag], c.starts[bag + 1]):
            row = <const real*>c.table + c.rows[i] * c.width + first
            for k in range(columns):
                sums[k] += row[k]
    else:
        for i in range(c.starts[bag], c.starts[bag + 1]):
            row = <const real*>c.table + c.rows[i] * c.width + first
            for k in range(columns):
                sums[k] += weights[i] * row[k]


cdef void sum_bags(real* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Bags* c = <Bags*>context
    cdef real sums[BLOCK]
    cdef Py_ssize_t bag, k, first, columns
    cdef real* out
    cdef real size
    for bag in range(begin, end):
        out, first = <real*>c.out + bag * c.width, 0
        size = <real>(c.starts[bag + 1] - c.starts[bag]) if c.mean else 1
        while first < c.width:
            columns = min(<Py_ssize_t>BLOCK, c.width - first)
            if columns == BLOCK:
                sum_columns(c, bag, first, &sums[0], BLOCK)
            else:
                sum_columns(c, bag, first, &sums[0], <int>columns)
            for k in range(columns):
                out[first + k] = sums[k] / size if size > 1 else sums[k]
            first += columns


cdef void max_bags(real* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """The first of equal rows, and of those with NaN, which is the largest; 0 in an empty bag."""
    cdef Bags* c = <Bags*>context
    cdef Py_ssize_t b, i, k, width = c.width
    cdef const real* row
    cdef real* out
    cdef int64_t* chosen
    for b in range(begin, end):
        out, chosen = <real*>c.out + b * width, c.chosen + b * width
        for k in range(width):
            out[k], chosen[k] = 0, 0
        for i in range(c.starts[b], c.starts[b + 1]):
            row = <const real*>c.table + c.rows[i] * width
            for k in range(width):
                if i == c.starts[b] or row[k] > out[k] or (row[k] != row[k] and out[k] == out[k]):
                    out[k], chosen[k] = row[k], c.rows[i]


def reduce(const real[:, ::1] table, const int64_t[::1] rows, const int64_t[::1] starts, const real[::1] weights,
           real[:, ::1] out, int64_t[:, ::1] chosen, bint mean):
    """Bag b holds the rows ``rows[starts[b]:starts[b + 1]]``: their maxima and where these are, if `chosen` is given;
    else their sum, each row times its weight if `weights` is, or their mean.

    False, and nothing done, if a row does not lie in the table. The starts go up, from 0 to the number of rows.
    """
    cdef Bags c
    cdef Py_ssize_t i, bags = out.shape[0]
    cdef bint inside = True
    for i in range(rows.shape[0]):
        inside &= 0 <= rows[i] < table.shape[0]
    if not inside:
        return False
    if not bags * out.shape[1]:
        return True
    c.table = &table[0, 0] if table.shape[0] else NULL
    c.rows = &rows[0] if rows.shape[0] else NULL
    c.weights = NULL if weights is None else &weights[0] if weights.shape[0] else NULL
    c.starts, c.out, c.width, c.mean = &starts[0], &out[0, 0], out.shape[1], mean
    c.chosen = NULL if chosen is None else &chosen[0, 0]
    cdef Py_ssize_t grain = GRAIN // (c.width * (rows.shape[0] // bags + 1)) + 1
    with nogil:
        st_parallel(bags, grain, <st_body>(sum_bags[real] if c.chosen == NULL else max_bags[real]), &c)
    return True
