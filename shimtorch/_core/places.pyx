"""Picking from and writing to named places along one dimension of tensors: what ops of ``_ops/along.py``,
``_ops/scattering.py`` and ``_ops/indexing.py`` do where the memory is the CPU's and the dtype one of C's."""
from libc.stdint cimport int64_t

from .._kernels.along cimport gather_places, pick_slices
from .._kernels.placing cimport Places, assign_places, combine_places
from .dtype cimport INT64, ITEMSIZE
from .iterate cimport as_code_tensor, contiguous_copy
from .tensor cimport MAX_DIMS, TensorBase, empty, ptr, scalar_tensor, strided_alias


cdef bint in_three(int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides, int d, Py_ssize_t* sizes,
                   Py_ssize_t* steps) noexcept:
    """Sizes and strides as (before dimension d, d, after it); False where the memory is not in such an order."""
    cdef int i, part
    sizes[0] = sizes[1] = sizes[2] = 1
    steps[0] = steps[1] = steps[2] = 0
    for i in range(ndim - 1, -1, -1):
        part = 0 if i < d else 1 if i == d else 2
        if shape[i] == 1:
            continue
        if sizes[part] == 1:
            steps[part] = strides[i]
        elif strides[i] != steps[part] * sizes[part]:
            return False
        sizes[part] *= shape[i]
    return True


cdef TensorBase int64_index(TensorBase index):
    if index.code != INT64:
        index = as_code_tensor(index, INT64)
    return index if index.contiguous_ else contiguous_copy(index)


cdef Py_ssize_t find_outside(const int64_t* at, Py_ssize_t n, int64_t low, int64_t high) noexcept nogil:
    """The first place that is not in [low, high), -1 if there is none."""
    cdef Py_ssize_t i
    for i in range(n):
        if not low <= at[i] < high:
            return i
    return -1


cdef TensorBase from_start(TensorBase index, int64_t n):
    """The index with negative places counted from the end of n; itself if there are none."""
    cdef Py_ssize_t i
    cdef const int64_t* at = <const int64_t*>ptr(index)
    cdef int64_t* to
    cdef TensorBase r
    if find_outside(at, index.count, 0, n) < 0:
        return index
    r = empty(INT64, index.ndim_, index.shape_)
    to = <int64_t*>ptr(r)
    for i in range(index.count):
        to[i] = at[i] + n if at[i] < 0 else at[i]
    return r


cdef object outside(int64_t place, int d, Py_ssize_t n, message):
    if message:
        return IndexError(message.replace("%d", str(place)))
    return IndexError(f"index {place} is out of bounds for dimension {d} with size {n}")


def checked(TensorBase index not None, int d, Py_ssize_t n, message=None, Py_ssize_t low=0):
    """The index, int64 and contiguous, counted from 0, once each place is in [low, n); low is 0 or -n.

    message: of the error; %d in it is the place.
    """
    cdef TensorBase t = int64_index(index)
    cdef const int64_t* at = <const int64_t*>ptr(t)
    cdef Py_ssize_t bad = find_outside(at, t.count, low, n)
    if bad >= 0:
        raise outside(at[bad], d, n, message)
    return from_start(t, n) if low else t


def select(TensorBase t not None, int d, TensorBase index not None):
    """The slices along dimension d that an index, as from ``checked``, names; its shape takes the place of d."""
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef Py_ssize_t outer = 1, inner = 1
    cdef int i, n = 0
    cdef TensorBase r
    if not t.contiguous_:
        t = contiguous_copy(t)
    if t.ndim_ + index.ndim_ - 1 > MAX_DIMS:
        raise RuntimeError(f"shimtorch tensors have at most {MAX_DIMS} dimensions")
    for i in range(d):
        outer *= t.shape_[i]
        shape[n] = t.shape_[i]
        n += 1
    for i in range(index.ndim_):
        shape[n] = index.shape_[i]
        n += 1
    for i in range(d + 1, t.ndim_):
        inner *= t.shape_[i]
        shape[n] = t.shape_[i]
        n += 1
    r = empty(t.code, n, shape)
    if r.count and find_outside(<const int64_t*>ptr(index), index.count, 0, t.shape_[d]) >= 0:
        raise IndexError("index out of range in self")
    pick_slices(ptr(t), t.shape_[d], <const int64_t*>ptr(index), outer, index.count, inner, ptr(r), ITEMSIZE[t.code])
    return r


def gather(TensorBase t not None, int d, TensorBase index not None):
    """``out[.., j, ..] = t[.., index[.., j, ..], ..]`` along dimension d, index not larger than t in the others.

    None if a place lies outside.
    """
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef Py_ssize_t outer = 1, inner = 1
    cdef int i
    cdef bint alike = True
    cdef TensorBase r = empty(t.code, index.ndim_, index.shape_), at = int64_index(index)
    for i in range(index.ndim_):
        shape[i] = index.shape_[i]
        if i == d:
            shape[i] = t.shape_[i]
        elif i < d:
            outer *= shape[i]
        else:
            inner *= shape[i]
        alike = alike and (not t.ndim_ or shape[i] == t.shape_[i])
    if not alike:
        t = strided_alias(t, t.ndim_, shape, t.strides_, t.offset)
    if not t.contiguous_:
        t = contiguous_copy(t)
    return r if gather_places(ptr(t), t.shape_[d] if t.ndim_ else 1, <const int64_t*>ptr(at), outer,
                              at.shape_[d] if at.ndim_ else 1, inner, ptr(r), ITEMSIZE[t.code]) else None


cdef int write(TensorBase t, int d, int ndim, const Py_ssize_t* shape, TensorBase index, const Py_ssize_t* steps,
               values, bint larger, str how) except -2:
    """Write at places of the given shape, in which the index has these steps: 1, 0 if one lies outside, -1 if no
    loop serves. larger: values may be larger than that shape."""
    cdef Py_ssize_t sizes[3]
    cdef Py_ssize_t own[3]
    cdef Py_ssize_t across[MAX_DIMS]
    cdef Py_ssize_t strides[MAX_DIMS]
    cdef Places c
    cdef int i, k
    cdef TensorBase v = values if isinstance(values, TensorBase) else scalar_tensor(t.code, values)
    if v.code != t.code or v.ndim_ > ndim:
        return -1
    for i in range(ndim):
        k = i - ndim + v.ndim_
        strides[i] = 0 if k < 0 or v.shape_[k] == 1 else v.strides_[k]
        if k >= 0 and v.shape_[k] != 1 and (v.shape_[k] < shape[i] or not larger and v.shape_[k] != shape[i]):
            return -1
        across[i] = shape[i]
    if not (in_three(ndim, shape, strides, d, sizes, c.by) and in_three(ndim, shape, steps, d, sizes, c.at)):
        return -1
    c.n, c.inner = sizes[1], sizes[2]
    across[d] = t.shape_[d] if t.ndim_ else 1
    if not in_three(ndim, across, t.strides_, d, own, c.to):
        return -1
    t.need_memory("scatter")
    c.target, c.places, c.values, c.size = ptr(t), <const int64_t*>ptr(index), ptr(v), across[d]
    if how is None:
        return assign_places(&c, sizes[0], ITEMSIZE[t.code])
    return combine_places(&c, sizes[0], t.code, how)


def put(TensorBase t not None, int d, TensorBase index not None, values, str how=None):
    """``t[.., index[.., j, ..], ..] = values[.., j, ..]`` along dimension d; or what `how` makes of both.

    index is not larger than t in the other dimensions, nor than values; how is None, sum, prod, amax or amin. values,
    or a number, may have size 1 where the index has more. False, and a part of the values written, if a place lies
    outside; None where no loop serves.
    """
    cdef TensorBase at = index if index.code == INT64 else as_code_tensor(index, INT64)
    cdef Py_ssize_t one = 1
    cdef int done
    if not at.ndim_:
        done = write(t, 0, 1, &one, at, &one, values, True, how)
    else:
        done = write(t, d, at.ndim_, at.shape_, at, at.strides_, values, True, how)
    return None if done < 0 else done == 1


def put_slices(TensorBase t not None, int d, TensorBase index not None, values, str how=None):
    """The same where a vector, as from ``checked``, names whole slices: ``t[.., index[j], ..] = values[.., j, ..]``."""
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef Py_ssize_t steps[MAX_DIMS]
    cdef int i, done, ndim = max(t.ndim_, 1)
    shape[0] = 1
    for i in range(t.ndim_):
        shape[i], steps[i] = t.shape_[i], 0
    shape[d], steps[d] = index.count, 1
    done = write(t, d, ndim, shape, index, steps, values, False, how)
    return None if done < 0 else done == 1
