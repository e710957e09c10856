"""Running extremes and logarithms of sums of exponentials along the middle dimension of arrays (outer, n, inner)."""
from libc.math cimport INFINITY, exp, log1p
from libc.stdint cimport int64_t

from .elements cimport number, real
from .parallel cimport st_body
from .table cimport st_parallel

cdef enum:
    GRAIN = 1 << 12                    # elements that are worth a thread
    NARROW = 64                        # neighbours that are followed together

# What the pieces share; a piece is a function of any element type, called through st_body.
ctypedef struct Lines:
    const void* x
    void* out
    int64_t* places
    Py_ssize_t n, inner
    bint largest


cdef inline double joined(double a, double b) noexcept nogil:
    """``log(exp(a) + exp(b))``."""
    cdef double low = b if b < a else a, high = b if not b < a else a
    if a != a or b != b:
        return a + b
    return high if low == high and (high == INFINITY or high == -INFINITY) else high + log1p(exp(low - high))


cdef void log_sums(real* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Blocks of columns, outer place after outer place."""
    cdef Lines* c = <Lines*>context
    cdef double totals[NARROW]
    cdef Py_ssize_t piece, _, i, at, count, blocks = (c.inner + NARROW - 1) // NARROW
    for piece in range(begin, end):
        at = piece // blocks * c.n * c.inner + piece % blocks * NARROW
        count = min(<Py_ssize_t>NARROW, c.inner - piece % blocks * NARROW)
        for i in range(count):
            totals[i] = -INFINITY
        for _ in range(c.n):
            for i in range(count):
                totals[i] = joined(totals[i], (<const real*>c.x)[at + i])
                (<real*>c.out)[at + i] = <real>totals[i]
            at += c.inner


def logcumsumexp(const real[:, :, ::1] x, real[:, :, ::1] out):
    """``out[o, j, i]`` is the logarithm of the sum of the exponentials of ``x[o, :j + 1, i]``; summed up in doubles."""
    cdef Lines c
    if not x.shape[0] * x.shape[1] * x.shape[2]:
        return
    c.x, c.out, c.n, c.inner = &x[0, 0, 0], &out[0, 0, 0], x.shape[1], x.shape[2]
    with nogil:
        st_parallel(x.shape[0] * ((c.inner + NARROW - 1) // NARROW),
                    GRAIN // (c.n * min(c.inner, <Py_ssize_t>NARROW)) + 1, <st_body>log_sums[real], &c)


cdef void extremes(number* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Lines* c = <Lines*>context
    cdef number best[NARROW]
    cdef int64_t places[NARROW]
    cdef Py_ssize_t piece, j, i, at, count, blocks = (c.inner + NARROW - 1) // NARROW
    cdef number x
    cdef bint leads
    for piece in range(begin, end):
        at = piece // blocks * c.n * c.inner + piece % blocks * NARROW
        count = min(<Py_ssize_t>NARROW, c.inner - piece % blocks * NARROW)
        for i in range(count):
            best[i], places[i] = (<const number*>c.x)[at + i], 0
        for j in range(c.n):
            for i in range(count):
                x = (<const number*>c.x)[at + i]
                leads = x >= best[i] if c.largest else x <= best[i]
                if number is float or number is double:
                    leads = leads or x != x            # NaN wins, and nothing but NaN wins against it
                if leads:
                    best[i], places[i] = x, j
                (<number*>c.out)[at + i] = best[i]
                c.places[at + i] = places[i]
            at += c.inner


def extreme(const number[:, :, ::1] x, number[:, :, ::1] out, int64_t[:, :, ::1] places, bint largest):
    """The largest (or smallest) of ``x[o, :j + 1, i]``, the last of equals, and where it is."""
    cdef Lines c
    if not x.shape[0] * x.shape[1] * x.shape[2]:
        return
    c.x, c.out, c.places, c.n, c.inner = &x[0, 0, 0], &out[0, 0, 0], &places[0, 0, 0], x.shape[1], x.shape[2]
    c.largest = largest
    with nogil:
        st_parallel(x.shape[0] * ((c.inner + NARROW - 1) // NARROW),
                    GRAIN // (c.n * min(c.inner, <Py_ssize_t>NARROW)) + 1, <st_body>extremes[number], &c)
