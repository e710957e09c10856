"""Distances between rows by the norms that need no powers: 1, 2 and infinity, and the number of unlike elements (0)."""
from libc.math cimport sqrt

from .parallel cimport st_body
from .table cimport st_parallel

ctypedef fused real:
    float
    double

cdef enum:
    GRAIN = 1 << 14                    # elements that are worth a thread
    LANES = 16                         # sums that run side by side

# What the pieces share; a piece is a function of any element type, called through st_body.
ctypedef struct Pairs:
    const void* a
    const void* b
    void* out
    Py_ssize_t n, m, width
    double p


cdef inline real part(real a, real b, int kind) noexcept nogil:
    cdef real gap = a - b
    if kind == 2:
        return gap * gap
    if kind == 0:
        return 1 if gap != 0 else 0
    return -gap if gap < 0 else gap


cdef inline real joined(real a, real b, int kind) noexcept nogil:
    cdef real most
    if kind == 3:
        most = b if b > a else a
        return b if b != b else most   # NaN wins, and one that is there stays
    return a + b


cdef inline real distance(const real* a, const real* b, Py_ssize_t width, int kind) noexcept nogil:
    cdef real lanes[LANES]
    cdef real total = 0
    cdef Py_ssize_t i = 0, k
    for k in range(LANES):
        lanes[k] = 0
    while i + LANES <= width:
        for k in range(LANES):
            lanes[k] = joined(lanes[k], part(a[i + k], b[i + k], kind), kind)
        i += LANES
    while i < width:
        total = joined(total, part(a[i], b[i], kind), kind)
        i += 1
    for k in range(LANES):
        total = joined(total, lanes[k], kind)
    return <real>sqrt(total) if kind == 2 else total


cdef inline void fill(const real* a, const real* b, real* out, Py_ssize_t n, Py_ssize_t width,
                      double p) noexcept nogil:
    """The distances of the row a from n rows b."""
    cdef Py_ssize_t j
    if p == 2:
        for j in range(n):
            out[j] = distance(a, b + j * width, width, 2)
    elif p == 1:
        for j in range(n):
            out[j] = distance(a, b + j * width, width, 1)
    elif p == 0:
        for j in range(n):
            out[j] = distance(a, b + j * width, width, 0)
    else:
        for j in range(n):
            out[j] = distance(a, b + j * width, width, 3)


cdef void between_rows(real* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Pairs* c = <Pairs*>context
    cdef Py_ssize_t i
    for i in range(begin, end):
        fill(<const real*>c.a + i * c.width, <const real*>c.b + i // c.n * c.m * c.width, <real*>c.out + i * c.m, c.m,
             c.width, c.p)


cdef void within_rows(real* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Pairs* c = <Pairs*>context
    cdef Py_ssize_t i
    for i in range(begin, end):
        fill(<const real*>c.a + i * c.width, <const real*>c.a + (i + 1) * c.width,
             <real*>c.out + i * (2 * c.n - i - 1) // 2, c.n - i - 1, c.width, c.p)


def between(const real[:, :, ::1] a, const real[:, :, ::1] b, real[:, :, ::1] out, double p):
    """``out[k, i, j]``: the distance of ``a[k, i]`` from ``b[k, j]``; p is 0, 1, 2 or infinity."""
    cdef Pairs c
    if not out.shape[0] * out.shape[1] * out.shape[2] * a.shape[2]:
        return
    c.a, c.b, c.out, c.p = &a[0, 0, 0], &b[0, 0, 0], &out[0, 0, 0], p
    c.n, c.m, c.width = a.shape[1], b.shape[1], a.shape[2]
    with nogil:
        st_parallel(out.shape[0] * c.n, GRAIN // (c.m * c.width) + 1, <st_body>between_rows[real], &c)


def within(const real[:, ::1] a, real[::1] out, double p):
    """The distances of each two rows: of the first from all after it, and so on."""
    cdef Pairs c
    if not out.shape[0] * a.shape[1]:
        return
    c.a, c.b, c.out, c.p, c.n, c.m, c.width = &a[0, 0], NULL, &out[0], p, a.shape[0], 0, a.shape[1]
    with nogil:
        st_parallel(c.n, GRAIN // (c.n * c.width) + 1, <st_body>within_rows[real], &c)
