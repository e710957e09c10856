"""Weighted sums along the middle dimension of arrays (outer, size, inner): each output is of a few inputs."""
from libc.stdint cimport int64_t

from .elements cimport real
from .parallel cimport st_body
from .table cimport st_parallel

cdef enum:
    GRAIN = 1 << 14                    # elements that are worth a thread

# What the pieces share; a piece is a function of any element type, called through st_body.
ctypedef struct Taps:
    const void* x
    void* out
    const int64_t* places              # (n, taps)
    const void* weights
    Py_ssize_t size, n, taps, inner


cdef void weigh_lines(real* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Lines (outer, j) of the output."""
    cdef Taps* c = <Taps*>context
    cdef Py_ssize_t line = begin, stop, j, t, i, taps = c.taps, inner = c.inner
    cdef const real* x
    cdef const real* row
    cdef const real* weights
    cdef const int64_t* places
    cdef real* out
    cdef real total, weight
    while line < end:
        j, stop = line % c.n, min(end, (line // c.n + 1) * c.n)
        x, out = <const real*>c.x + line // c.n * c.size * inner, <real*>c.out + line * inner
        places, weights = c.places + j * taps, <const real*>c.weights + j * taps
        if inner == 1:
            if taps == 2:
                for i in range(stop - line):
                    out[i] = x[places[2 * i]] * weights[2 * i] + x[places[2 * i + 1]] * weights[2 * i + 1]
            else:
                for i in range(stop - line):
                    total = x[places[0]] * weights[0]
                    for t in range(1, taps):
                        total += x[places[t]] * weights[t]
                    out[i] = total
                    places += taps
                    weights += taps
            line = stop
            continue
        line += 1
        row, weight = x + places[0] * inner, weights[0]
        for i in range(inner):
            out[i] = row[i] * weight
        for t in range(1, taps):
            row, weight = x + places[t] * inner, weights[t]
            for i in range(inner):
                out[i] += row[i] * weight


def weigh(const real[:, :, ::1] x, const int64_t[:, ::1] places, const real[:, ::1] weights, real[:, :, ::1] out):
    """``out[o, j, i]`` is the sum over t of ``x[o, places[j, t], i] * weights[j, t]``; the places lie within x."""
    cdef Taps c
    if not out.shape[0] * out.shape[1] * out.shape[2]:
        return
    c.x, c.out, c.places, c.weights = &x[0, 0, 0], &out[0, 0, 0], &places[0, 0], &weights[0, 0]
    c.size, c.n, c.taps, c.inner = x.shape[1], out.shape[1], places.shape[1], x.shape[2]
    with nogil:
        st_parallel(out.shape[0] * c.n, GRAIN // (c.inner * c.taps) + 1, <st_body>weigh_lines[real], &c)


cdef void spread_slices(real* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Outer places."""
    cdef Taps* c = <Taps*>context
    cdef Py_ssize_t o, j, t, i, taps = c.taps, inner = c.inner
    cdef const real* row
    cdef real* out
    cdef real weight
    for o in range(begin, end):
        for j in range(c.n):
            row = <const real*>c.x + (o * c.n + j) * inner
            for t in range(taps):
                out = <real*>c.out + (o * c.size + c.places[j * taps + t]) * inner
                weight = (<const real*>c.weights)[j * taps + t]
                for i in range(inner):
                    out[i] += row[i] * weight


def spread(const real[:, :, ::1] g, const int64_t[:, ::1] places, const real[:, ::1] weights, real[:, :, ::1] out):
    """The transpose of `weigh`: ``g[o, j, i] * weights[j, t]`` is added to ``out[o, places[j, t], i]``."""
    cdef Taps c
    if not g.shape[0] * g.shape[1] * g.shape[2]:
        return
    c.x, c.out, c.places, c.weights = &g[0, 0, 0], &out[0, 0, 0], &places[0, 0], &weights[0, 0]
    c.size, c.n, c.taps, c.inner = out.shape[1], g.shape[1], places.shape[1], g.shape[2]
    with nogil:
        st_parallel(g.shape[0], GRAIN // (c.inner * c.n * c.taps) + 1, <st_body>spread_slices[real], &c)
