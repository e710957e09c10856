"""Softmax over groups of sparse entries, and its derivative.

The groups are those of a `Grouping`; values are (nnz, width) and each of the width columns is a softmax of its own.
What is not stored counts as minus infinity. Threads share the groups.
"""

cimport numpy as cnp
from libc.math cimport INFINITY, exp, log

from shimtorch._kernels.coalesce cimport Grouping, Groups
from shimtorch._kernels.sparsetypes cimport contiguous_data
from shimtorch._kernels.table cimport st_parallel

cnp.import_array()

cdef extern from "<math.h>" nogil:
    float expf(float)

cdef fused float_t:
    float
    double

cdef enum:
    GRAIN = 1 << 14         # values that are worth a thread

cdef struct Softmax
ctypedef void (*softmax_t)(const Softmax*, const void*, Py_ssize_t, Py_ssize_t) noexcept nogil

cdef struct Softmax:
    const Groups* groups
    const void* values      # of the softmax, or of its gradient
    const void* result      # of which it is the gradient
    Py_ssize_t width
    bint logarithm
    void* out
    softmax_t kernel


cdef inline float_t _exp(float_t x) noexcept nogil:
    if float_t is float:
        return expf(x)
    else:
        return exp(x)


cdef inline Py_ssize_t _entry(const Groups* groups, Py_ssize_t x) noexcept nogil:
    return groups.order[x] if groups.order != NULL else x


cdef void _softmax(const Softmax* s, const float_t* values, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    cdef const Groups* groups = s.groups
    cdef float_t* out = <float_t*>s.out
    cdef Py_ssize_t g, x, column, start, end, place, width = s.width
    cdef bint logarithm = s.logarithm
    cdef float_t greatest
    cdef double total
    for g in range(first, last):
        start = groups.starts[g] if groups.starts != NULL else g
        end = groups.starts[g + 1] if groups.starts != NULL else g + 1
        for column in range(width):
            greatest = -INFINITY
            for x in range(start, end):
                place = _entry(groups, x) * width + column
                if not values[place] <= greatest:           # a NaN gets through
                    greatest = values[place]
            total = 0
            for x in range(start, end):
                place = _entry(groups, x) * width + column
                out[place] = _exp(values[place] - greatest)
                total += out[place]
            if logarithm:
                total = log(total)
            for x in range(start, end):
                place = _entry(groups, x) * width + column
                if logarithm:
                    out[place] = <float_t>(values[place] - greatest - total)
                else:
                    out[place] = <float_t>(out[place] / total)


cdef void _backward(const Softmax* s, const float_t* grad, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    cdef const Groups* groups = s.groups
    cdef const float_t* result = <const float_t*>s.result
    cdef float_t* out = <float_t*>s.out
    cdef Py_ssize_t g, x, column, start, end, place, width = s.width
    cdef bint logarithm = s.logarithm
    cdef double total
    for g in range(first, last):
        start = groups.starts[g] if groups.starts != NULL else g
        end = groups.starts[g + 1] if groups.starts != NULL else g + 1
        for column in range(width):
            total = 0
            for x in range(start, end):
                place = _entry(groups, x) * width + column
                total += grad[place] if logarithm else grad[place] * result[place]
            for x in range(start, end):
                place = _entry(groups, x) * width + column
                if logarithm:
                    out[place] = <float_t>(grad[place] - _exp(result[place]) * total)
                else:
                    out[place] = <float_t>(result[place] * (grad[place] - total))


cdef void _piece(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef const Softmax* s = <const Softmax*>context
    s.kernel(s, s.values, begin, end)


cdef void _run(Softmax* s) noexcept nogil:
    cdef Py_ssize_t n = s.groups.count, in_group = s.groups.nnz * s.width // max(n, <Py_ssize_t>1) + 1
    st_parallel(n, max(GRAIN // in_group, <Py_ssize_t>1), _piece, s)


cdef Py_ssize_t _width(Grouping grouping, cnp.ndarray values) except -1:
    if cnp.PyArray_NDIM(values) < 1 or cnp.PyArray_DIM(values, 0) != grouping.groups.nnz:
        raise ValueError(f"expected values for {grouping.groups.nnz} entries")
    if cnp.PyArray_TYPE(values) != cnp.NPY_FLOAT32 and cnp.PyArray_TYPE(values) != cnp.NPY_FLOAT64:
        raise TypeError(f"softmax of {values.dtype} entries")
    return cnp.PyArray_SIZE(values) // grouping.groups.nnz if grouping.groups.nnz else 0


def softmax(Grouping grouping not None, cnp.ndarray values not None, bint logarithm=False):
    """Softmax, or its logarithm, of (nnz, ...) float32 or float64 values within each group."""
    cdef Softmax s
    s.width, s.groups, s.logarithm = _width(grouping, values), &grouping.groups, logarithm
    cdef cnp.ndarray out = cnp.PyArray_EMPTY(cnp.PyArray_NDIM(values), cnp.PyArray_DIMS(values),
                                             cnp.PyArray_TYPE(values), 0)
    s.values, s.out = contiguous_data(values), cnp.PyArray_DATA(out)
    cdef bint single = cnp.PyArray_TYPE(values) == cnp.NPY_FLOAT32
    s.kernel = <softmax_t>_softmax[float] if single else <softmax_t>_softmax[double]
    if s.width:
        with nogil:
            _run(&s)
    return out


def softmax_backward(Grouping grouping not None, cnp.ndarray grad not None, cnp.ndarray result not None,
                     bint logarithm=False):
    """Gradient for the values from that of the result, both (nnz, ...) and of one dtype."""
    cdef Softmax s
    s.width, s.groups, s.logarithm = _width(grouping, result), &grouping.groups, logarithm
    if cnp.PyArray_TYPE(grad) != cnp.PyArray_TYPE(result) or cnp.PyArray_SIZE(grad) != cnp.PyArray_SIZE(result):
        raise ValueError("gradient and result of different dtype or size")
    cdef cnp.ndarray out = cnp.PyArray_EMPTY(cnp.PyArray_NDIM(result), cnp.PyArray_DIMS(result),
                                             cnp.PyArray_TYPE(result), 0)
    s.values, s.result, s.out = contiguous_data(grad), contiguous_data(result), cnp.PyArray_DATA(out)
    cdef bint single = cnp.PyArray_TYPE(grad) == cnp.NPY_FLOAT32
    s.kernel = <softmax_t>_backward[float] if single else <softmax_t>_backward[double]
    if s.width:
        with nogil:
            _run(&s)
    return out
