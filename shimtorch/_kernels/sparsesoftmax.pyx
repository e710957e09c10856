"""Softmax over groups of sparse entries, and its derivative.

The groups are those of a `Grouping`; values are (nnz, width) and each of the width columns is a softmax of its own.
What is not stored counts as minus infinity.
"""

cimport numpy as cnp
from libc.math cimport INFINITY, exp, log

from shimtorch._kernels.coalesce cimport Grouping, Groups
from shimtorch._kernels.sparsetypes cimport contiguous_data

cnp.import_array()

cdef extern from "<math.h>" nogil:
    float expf(float)

cdef fused float_t:
    float
    double


cdef inline float_t _exp(float_t x) noexcept nogil:
    if float_t is float:
        return expf(x)
    else:
        return exp(x)


cdef inline Py_ssize_t _entry(const Groups* groups, Py_ssize_t x) noexcept nogil:
    return groups.order[x] if groups.order != NULL else x


cdef void _softmax(const Groups* groups, const float_t* values, Py_ssize_t width, bint logarithm,
                   float_t* out) noexcept nogil:
    cdef Py_ssize_t g, x, column, start, end, place
    cdef float_t greatest
    cdef double total
    for g in range(groups.count):
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


cdef void _backward(const Groups* groups, const float_t* grad, const float_t* result, Py_ssize_t width, bint logarithm,
                    float_t* out) noexcept nogil:
    cdef Py_ssize_t g, x, column, start, end, place
    cdef double total
    for g in range(groups.count):
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


cdef Py_ssize_t _width(Grouping grouping, cnp.ndarray values) except -1:
    if cnp.PyArray_NDIM(values) < 1 or cnp.PyArray_DIM(values, 0) != grouping.groups.nnz:
        raise ValueError(f"expected values for {grouping.groups.nnz} entries")
    if cnp.PyArray_TYPE(values) != cnp.NPY_FLOAT32 and cnp.PyArray_TYPE(values) != cnp.NPY_FLOAT64:
        raise TypeError(f"softmax of {values.dtype} entries")
    return cnp.PyArray_SIZE(values) // grouping.groups.nnz if grouping.groups.nnz else 0


def softmax(Grouping grouping not None, cnp.ndarray values not None, bint logarithm=False):
    """Softmax, or its logarithm, of (nnz, ...) float32 or float64 values within each group."""
    cdef Py_ssize_t width = _width(grouping, values)
    cdef cnp.ndarray out = cnp.PyArray_EMPTY(cnp.PyArray_NDIM(values), cnp.PyArray_DIMS(values),
                                             cnp.PyArray_TYPE(values), 0)
    cdef void* source = contiguous_data(values)
    cdef void* target = cnp.PyArray_DATA(out)
    cdef bint single = cnp.PyArray_TYPE(values) == cnp.NPY_FLOAT32
    if width:
        with nogil:
            if single:
                _softmax(&grouping.groups, <const float*>source, width, logarithm, <float*>target)
            else:
                _softmax(&grouping.groups, <const double*>source, width, logarithm, <double*>target)
    return out


def softmax_backward(Grouping grouping not None, cnp.ndarray grad not None, cnp.ndarray result not None,
                     bint logarithm=False):
    """Gradient for the values from that of the result, both (nnz, ...) and of one dtype."""
    cdef Py_ssize_t width = _width(grouping, result)
    if cnp.PyArray_TYPE(grad) != cnp.PyArray_TYPE(result) or cnp.PyArray_SIZE(grad) != cnp.PyArray_SIZE(result):
        raise ValueError("gradient and result of different dtype or size")
    cdef cnp.ndarray out = cnp.PyArray_EMPTY(cnp.PyArray_NDIM(result), cnp.PyArray_DIMS(result),
                                             cnp.PyArray_TYPE(result), 0)
    cdef void* g = contiguous_data(grad)
    cdef void* r = contiguous_data(result)
    cdef void* target = cnp.PyArray_DATA(out)
    cdef bint single = cnp.PyArray_TYPE(result) == cnp.NPY_FLOAT32
    if width:
        with nogil:
            if single:
                _backward(&grouping.groups, <const float*>g, <const float*>r, width, logarithm, <float*>target)
            else:
                _backward(&grouping.groups, <const double*>g, <const double*>r, width, logarithm, <double*>target)
    return out
