"""Elements in other places: reversed, rolled, the triangles of matrices; forwards of ops in ``_ops/arranging.py``."""
from libc.string cimport memset

from .._kernels.table cimport st_cast
from .dtype cimport ITEMSIZE
from .iterate cimport alloc_alike, contiguous_copy, copy_into, run1
from .tensor cimport MAX_DIMS, TensorBase, empty, ptr, strided_alias


def flipped(TensorBase t not None, list dims):
    """t with dimensions, counted from 0, in reverse, in the memory order of t."""
    cdef Py_ssize_t strides[MAX_DIMS]
    cdef Py_ssize_t offset = t.offset
    cdef TensorBase r = alloc_alike(t.code, t.ndim_, t.shape_, t, None)
    cdef int i
    if t.count == 0:
        return r
    for i in range(t.ndim_):
        strides[i] = t.strides_[i]
        if i in dims:
            offset += (t.shape_[i] - 1) * t.strides_[i] * ITEMSIZE[t.code]
            strides[i] = -strides[i]
    run1(st_cast(t.code, t.code), r, strided_alias(t, t.ndim_, t.shape_, strides, offset), NULL)
    return r


cdef int copy_blocks(TensorBase r, TensorBase t, const Py_ssize_t* shifts, int d, Py_ssize_t* shape, Py_ssize_t to,
                     Py_ssize_t source) except -1:
    """Copy what stays together when the dimensions from d on are rolled; to, source: places in elements."""
    cdef Py_ssize_t n, shift
    while d < t.ndim_ and not shifts[d]:
        d += 1
    if d == t.ndim_:
        copy_into(strided_alias(r, t.ndim_, shape, r.strides_, r.offset + to * ITEMSIZE[r.code]),
                  strided_alias(t, t.ndim_, shape, t.strides_, t.offset + source * ITEMSIZE[t.code]))
        return 0
    n, shift = t.shape_[d], shifts[d]
    shape[d] = n - shift
    copy_blocks(r, t, shifts, d + 1, shape, to + shift * r.strides_[d], source)
    shape[d] = shift
    copy_blocks(r, t, shifts, d + 1, shape, to, source + (n - shift) * t.strides_[d])
    shape[d] = n
    return 0


def rolled(TensorBase t not None, tuple shifts, list dims):
    """t with dimensions, counted from 0, moved by shifts, contiguous; without dims, its elements in a row."""
    cdef Py_ssize_t by[MAX_DIMS]
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef TensorBase r, flat
    cdef int i
    r = empty(t.code, t.ndim_, t.shape_)
    if t.count == 0:
        return r
    if not dims:
        shape[0], by[0] = t.count, shifts[0] % t.count
        flat = t if t.contiguous_ else contiguous_copy(t)
        copy_blocks(in_a_row(r), in_a_row(flat), by, 0, shape, 0, 0)
        return r
    for i in range(t.ndim_):
        shape[i], by[i] = t.shape_[i], 0
    for shift, d in zip(shifts, dims):
        i = d
        by[i] = (by[i] + shift) % t.shape_[i]
    copy_blocks(r, t, by, 0, shape, 0, 0)
    return r


cdef TensorBase in_a_row(TensorBase t):
    cdef Py_ssize_t one = 1
    return strided_alias(t, 1, &t.count, &one, t.offset)


def triangle(TensorBase t not None, Py_ssize_t diagonal, bint lower):
    """Matrices t (..., n, m) with zeros above (lower) or below the diagonal of that number; contiguous."""
    cdef TensorBase r = empty(t.code, t.ndim_, t.shape_)
    cdef Py_ssize_t rows = t.shape_[t.ndim_ - 2], columns = t.shape_[t.ndim_ - 1], size = ITEMSIZE[t.code]
    cdef Py_ssize_t _matrix, row, at
    cdef char* to
    copy_into(r, t)
    if r.count == 0:
        return r
    to = ptr(r)
    with nogil:
        for _matrix in range(r.count // (rows * columns)):
            for row in range(rows):
                at = min(max(row + diagonal + lower, <Py_ssize_t>0), columns)       # the first place of the other part
                if lower:
                    memset(to + at * size, 0, (columns - at) * size)
                else:
                    memset(to, 0, at * size)
                to += columns * size
    return r
