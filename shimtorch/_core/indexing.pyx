"""``x[index]`` for what is a view: ints, slices, None and Ellipsis. The rest is an op (``_ops/indexing.py``)."""
from cpython.slice cimport PySlice_AdjustIndices, PySlice_Unpack

from .dtype cimport ITEMSIZE
from .history cimport recording
from .policy cimport ThreadState, policy, thread_state
from .tensor cimport (
    MAX_DIMS, SPARSE, VOLATILE, TensorBase, describe_shape, seen_flags,
    wrap_dim,
)
from .views cimport make_view, select_dim, slice_dim

cdef object general_getitem = None


def bind_general(f):
    """Give the function that serves what is no plain view, or what autograd records."""
    global general_getitem
    general_getitem = f


def getitem(TensorBase self not None, index):
    """``self[index]``."""
    cdef ThreadState* st
    if policy.wrap_result is None:
        return item_of(self, index)
    st = thread_state()
    st.depth += 1
    try:
        result = item_of(self, index)
    finally:
        st.depth -= 1
    return result if st.depth else policy.wrap_result(None, [self], result)


cdef object item_of(TensorBase self, index):
    cdef TensorBase r
    cdef int flags = seen_flags(self)
    if flags & (SPARSE | VOLATILE) or recording(flags):
        return general_getitem(self, index)
    if type(index) is int:
        if self.ndim_ == 0:
            return general_getitem(self, index)
        return select_dim(self, 0, checked(self, index, 0))
    if type(index) is tuple:
        r = basic_view(self, <tuple>index)
    elif type(index) is slice:
        r = basic_view(self, (index,))
    else:
        r = None
    return general_getitem(self, index) if r is None else r


def zero_dim_error():
    return IndexError("invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to "
                      "convert a 0-dim tensor to a number")


cdef Py_ssize_t checked(TensorBase t, object index, int d) except -1:
    """An index from 0 along dimension d of t."""
    cdef Py_ssize_t n = t.shape_[d], i
    try:
        i = index
    except OverflowError:
        raise IndexError(f"index {index} is out of bounds for dimension {d} with size {n}") from None
    if i < -n or i >= n:
        raise IndexError(f"index {index} is out of bounds for dimension {d} with size {n}")
    return i + n if i < 0 else i


def slice_bounds(s, Py_ssize_t n):
    """Start, length and step of a slice over n indices; steps below 1 are refused."""
    cdef Py_ssize_t start = 0, stop = 0, step = 1, length
    if s.step is not None and isinstance(s.step, TensorBase):
        s = slice(s.start, s.stop, int(s.step))
    PySlice_Unpack(s, &start, &stop, &step)
    if step <= 0:
        raise ValueError("step must be greater than zero")
    length = PySlice_AdjustIndices(n, &start, &stop, step)
    return start, length, step


cdef TensorBase basic_view(TensorBase t, tuple index):
    """The view that ints, slices, None and Ellipsis name; None when the index holds anything else."""
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef Py_ssize_t strides[MAX_DIMS]
    cdef Py_ssize_t offset = t.offset, start = 0, stop = 0, step = 1, length, i
    cdef int used = 0, d = 0, k = 0, _
    cdef bint dots = False
    cdef object item
    for item in index:
        if type(item) is int or type(item) is slice:
            used += 1
        elif item is Ellipsis:
            if dots:
                return None
            dots = True
        elif item is not None:
            return None
    if used > t.ndim_:
        return None
    if t.ndim_ - used + len(index) > MAX_DIMS:
        return None
    for item in index:
        if type(item) is int:
            i = checked(t, item, d)
            offset += i * t.strides_[d] * ITEMSIZE[t.code]
            d += 1
        elif type(item) is slice:
            start, stop, step = 0, 0, 1
            PySlice_Unpack(item, &start, &stop, &step)
            if step <= 0:
                raise ValueError("step must be greater than zero")
            length = PySlice_AdjustIndices(t.shape_[d], &start, &stop, step)
            shape[k], strides[k] = length, t.strides_[d] * step
            if length:
                offset += start * t.strides_[d] * ITEMSIZE[t.code]
            d += 1
            k += 1
        elif item is None:
            shape[k] = 1
            strides[k] = t.shape_[d] * t.strides_[d] if d < t.ndim_ else 1
            k += 1
        else:
            for _ in range(t.ndim_ - used):
                shape[k], strides[k] = t.shape_[d], t.strides_[d]
                d += 1
                k += 1
    while d < t.ndim_:
        shape[k], strides[k] = t.shape_[d], t.strides_[d]
        d += 1
        k += 1
    return make_view(t, k, shape, strides, offset)


def slice_view(TensorBase self not None, int dim, Py_ssize_t start, Py_ssize_t length, Py_ssize_t step):
    """Every step-th index along a dimension; the forward of the ``slice`` op."""
    cdef int d = wrap_dim(dim, self.ndim_)
    if self.ndim_ == 0 or start < 0 or length < 0 or step < 1 or (
            length and (start >= self.shape_[d] or length - 1 > (self.shape_[d] - 1 - start) // step)):
        raise IndexError(f"slice(): {length} indices from {start} in steps of {step} do not lie in dimension {dim} of "
                         f"{describe_shape(self)}")
    return slice_dim(self, d, start, length, step)
