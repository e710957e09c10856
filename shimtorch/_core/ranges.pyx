"""The values of ranges: numbers that are one step apart."""
from libc.math cimport fma, fmaf
from libc.stdint cimport int32_t, int64_t, uint64_t

from .dtype cimport FLOAT32, FLOAT64, INT32, INT64, as_code
from .tensor cimport TensorBase, empty, ptr

ctypedef fused number:
    int64_t
    double

ctypedef fused element:
    int32_t
    int64_t
    float
    double

ctypedef fused real:
    float
    double


cdef void _count(element* out, Py_ssize_t n, number start, number step) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        if number is double:
            out[i] = <element>(start + i * step)
        else:                                  # whole numbers wrap around
            out[i] = <element><int64_t>(<uint64_t>start + <uint64_t>i * <uint64_t>step)


cdef _counted(TensorBase t, number start, number step):
    cdef void* out = ptr(t)
    with nogil:
        if t.code == INT64:
            _count(<int64_t*>out, t.count, start, step)
        elif t.code == INT32:
            _count(<int32_t*>out, t.count, start, step)
        elif t.code == FLOAT32:
            _count(<float*>out, t.count, start, step)
        else:
            _count(<double*>out, t.count, start, step)
    return t


def counts(dtype):
    """Whether ``counted`` makes tensors of this dtype."""
    return as_code(dtype) in (INT64, INT32, FLOAT32, FLOAT64)


def counted(Py_ssize_t n, start, step, dtype):
    """A tensor of ``start + i * step`` for i < n, in double precision before it is rounded, or of whole numbers."""
    cdef Py_ssize_t[1] shape = [n]
    cdef TensorBase t = empty(as_code(dtype), 1, shape)
    if type(start) is int and type(step) is int:
        return _counted[int64_t](t, start, step)
    return _counted[double](t, start, step)


cdef void _space(real* out, Py_ssize_t n, real start, real end) noexcept nogil:
    cdef real step = (end - start) / <real>(n - 1) if n > 1 else 0
    cdef Py_ssize_t i, half = n // 2
    for i in range(half):                      # from both ends towards the middle: the last value is exact
        out[i] = fmaf(step, <real>i, start) if real is float else fma(step, <real>i, start)
    for i in range(half, n):
        out[i] = fmaf(-step, <real>(n - 1 - i), end) if real is float else fma(-step, <real>(n - 1 - i), end)
    if n == 1:
        out[0] = start


def spaced(Py_ssize_t n, double start, double end, dtype):
    """A float32 or float64 tensor of n numbers, equally far apart, from start to end; each is rounded once."""
    cdef Py_ssize_t[1] shape = [n]
    cdef TensorBase t = empty(as_code(dtype), 1, shape)
    cdef void* out = ptr(t)
    with nogil:
        if t.code == FLOAT32:
            _space(<float*>out, n, <float>start, <float>end)
        else:
            _space(<double*>out, n, start, end)
    return t


def triangle(Py_ssize_t rows, Py_ssize_t columns, Py_ssize_t offset, bint lower):
    """Rows and columns, (2, n), of the entries on and below a diagonal of a matrix, or on and above it."""
    cdef Py_ssize_t i, j, first, last, k = 0
    cdef Py_ssize_t[2] shape = [2, 0]
    cdef int64_t* out
    cdef TensorBase t
    offset = max(-rows - 1, min(offset, columns + 1))
    for i in range(rows):
        shape[1] += span(i, columns, offset, lower, &first)
    t = empty(INT64, 2, shape)
    out = <int64_t*>ptr(t)
    for i in range(rows):
        last = span(i, columns, offset, lower, &first)
        for j in range(last):
            out[k], out[shape[1] + k] = i, first + j
            k += 1
    return t


cdef Py_ssize_t span(Py_ssize_t row, Py_ssize_t columns, Py_ssize_t offset, bint lower, Py_ssize_t* first) noexcept:
    """How many entries of a row lie in the triangle, and the column of the first."""
    cdef Py_ssize_t at = max(0, min(columns, row + offset + (1 if lower else 0)))
    first[0] = 0 if lower else at
    return at if lower else columns - at
