"""Distances between rows by the norms that need no powers: 1, 2 and infinity, and the number of unlike elements (0)."""
from libc.math cimport sqrt

from .elements cimport real
from .parallel cimport st_body
from .table cimport st_parallel

cdef enum:
    GRAIN = 1 << 14                    # elements that are worth a thread
    BLOCK = 512                        # distances that are summed up together

# What the pieces share; a piece is a function of any element type, called through st_body. The second rows come as
# columns, so that the sums run side by side.
ctypedef struct Pairs:
    const void* a                      # (batch, n, width)
    const void* b                      # (batch, width, m)
    void* out
    Py_ssize_t n, m, width
    int kind                           # the norm; 3 is infinity's
    bint within


cdef inline real joined(real total, real gap, int kind) noexcept nogil:
    cdef real size = -gap if gap < 0 else gap
    cdef real most = size if size > total else total
    if kind == 0:
        return total + (<real>1 if gap != 0 else <real>0)
    if kind == 1:
        return total + size
    if kind == 2:
        return total + gap * gap
    return size if size != size else most              # NaN wins, and one that is there stays


cdef inline void fill(const real* a, const real* b, Py_ssize_t step, real* out, Py_ssize_t n, Py_ssize_t width,
                      int kind) noexcept nogil:
    """The distances of the row a from n columns b."""
    cdef Py_ssize_t start = 0, stop, j, k
    cdef const real* row
    cdef real x
    while start < n:
        stop = min(n, start + BLOCK)
        for j in range(start, stop):
            out[j] = 0
        for k in range(width):
            row, x = b + k * step, a[k]
            for j in range(start, stop):
                out[j] = joined(out[j], x - row[j], kind)
        if kind == 2:
            for j in range(start, stop):
                out[j] = <real>sqrt(out[j])
        start = stop


cdef void fill_rows(real* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Pairs* c = <Pairs*>context
    cdef Py_ssize_t i, n = c.m
    cdef const real* a
    cdef const real* b
    cdef real* out
    for i in range(begin, end):
        a, b = <const real*>c.a + i * c.width, <const real*>c.b + i // c.n * c.m * c.width
        out = <real*>c.out + i * c.m
        if c.within:                   # from the rows after it
            b, out, n = b + i + 1, <real*>c.out + i * (2 * c.n - i - 1) // 2, c.n - i - 1
        if c.kind == 0:
            fill(a, b, c.m, out, n, c.width, 0)
        elif c.kind == 1:
            fill(a, b, c.m, out, n, c.width, 1)
        elif c.kind == 2:
            fill(a, b, c.m, out, n, c.width, 2)
        else:
            fill(a, b, c.m, out, n, c.width, 3)


def between(const real[:, :, ::1] a, const real[:, :, ::1] b, real[:, :, ::1] out, double p):
    """``out[k, i, j]``: how far the row ``a[k, i]`` is from the column ``b[k, :, j]``; p is 0, 1, 2 or infinity."""
    cdef Pairs c
    if not out.shape[0] * out.shape[1] * out.shape[2] * a.shape[2]:
        return
    c.a, c.b, c.out, c.within = &a[0, 0, 0], &b[0, 0, 0], &out[0, 0, 0], False
    c.n, c.m, c.width, c.kind = a.shape[1], b.shape[2], a.shape[2], <int>p if p <= 2 else 3
    with nogil:
        st_parallel(out.shape[0] * c.n, GRAIN // (c.m * c.width) + 1, <st_body>fill_rows[real], &c)


def within(const real[:, ::1] a, const real[:, ::1] columns, real[::1] out, double p):
    """The distances of each two rows: of the first from all after it, and so on; `columns` is a transposed."""
    cdef Pairs c
    if not out.shape[0] * a.shape[1]:
        return
    c.a, c.b, c.out, c.within = &a[0, 0], &columns[0, 0], &out[0], True
    c.n, c.m, c.width, c.kind = a.shape[0], a.shape[0], a.shape[1], <int>p if p <= 2 else 3
    with nogil:
        st_parallel(c.n, GRAIN // (c.n * c.width) + 1, <st_body>fill_rows[real], &c)
