"""Where a result is made: in new memory, or in the ``out=`` of the call that waits for it.

A forward that makes its result by `make_result` writes straight into ``out`` if that has the dtype and shape and shares
no memory with the operands. The caller compares what the forward returned with ``out``, so that a call in which
another tensor of that dtype and shape took the place (in a composite) costs no more than the usual copy.
"""
from .policy cimport ThreadState, thread_state
from .tensor cimport ON_DEVICE, REQUIRES_GRAD, SPARSE, VOLATILE, Place, TensorBase, empty_at, ptr, same_shape

cdef TensorBase awaited = None         # the out= whose call is under way
cdef ThreadState* waiting = NULL       # the thread of that call; while it waits, those of other threads copy


cdef TensorBase make_result(Place place, int code, int ndim, const Py_ssize_t* shape):
    """An uninitialised contiguous result at a place; None is the CPU's memory."""
    cdef TensorBase r = awaited_result(place, code, ndim, shape)
    return empty_at(place, code, ndim, shape) if r is None else r


cdef TensorBase awaited_result(Place place, int code, int ndim, const Py_ssize_t* shape):
    """The ``out=`` that waits for a result of this dtype and shape in the CPU's memory; None if there is none."""
    global awaited
    cdef TensorBase r = awaited
    cdef int i
    if r is None or place is not None or waiting != thread_state() or r.code != code or r.ndim_ != ndim:
        return None
    for i in range(ndim):
        if r.shape_[i] != shape[i]:
            return None
    awaited = None
    return r


cdef int await_result(TensorBase out, bint pointwise, object args, object kwargs) except -1:
    """Offer out to the next forward on these arguments, if they stay whole while it writes there.

    pointwise: each element of the result is written after those of the operands at its place were read.
    """
    global awaited, waiting
    forget_result()
    if (out.contiguous_ and not out.flags & (SPARSE | ON_DEVICE | REQUIRES_GRAD | VOLATILE) and out.node is None
            and out.storage.writable and apart(out, pointwise, args) and apart(out, pointwise, kwargs.values())):
        awaited, waiting = out, thread_state()
    return 0


cdef void forget_result() noexcept:
    """No call waits any more."""
    global awaited
    awaited = None


cdef bint apart(TensorBase out, bint pointwise, object args) except -1:
    """Whether all arguments are dense and share no memory with out, other than place by place."""
    cdef TensorBase t
    for x in args:
        if isinstance(x, (tuple, list)):
            if not apart(out, False, x):
                return False
        elif isinstance(x, TensorBase):
            t = <TensorBase>x
            if t.flags & (SPARSE | ON_DEVICE | VOLATILE):
                return False
            if meet(out, t) and not (pointwise and ptr(t) == ptr(out) and t.contiguous_ and t.code == out.code and
                                     same_shape(t, out)):
                return False
    return True


cdef bint meet(TensorBase a, TensorBase b) noexcept:
    """Whether the memory that two dense tensors lie in overlaps."""
    return (a.storage.data < b.storage.data + b.storage.nbytes and
            b.storage.data < a.storage.data + a.storage.nbytes)
