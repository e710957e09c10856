"""Where a view lies in its base: gradients of views and bases that are written to in place go through such windows."""
from .dtype cimport CAT_COMPLEX, CATEGORY, ITEMSIZE
from .tensor cimport TensorBase

cdef object as_strided, as_strided_scatter, as_strided_backward, view_as_real, view_as_complex, copy_dense

# How the dtype of a view relates to that of its base.
cdef enum Between:
    SAME, PARTS_OF_COMPLEX, COMPLEX_OF_PAIRS


def bind_ops(ops):
    """Give the windows the ops that cut out and put in."""
    global as_strided, as_strided_scatter, as_strided_backward, view_as_real, view_as_complex, copy_dense
    as_strided, as_strided_scatter = ops["as_strided"], ops["as_strided_scatter"]
    as_strided_backward, copy_dense = ops["as_strided_backward"], ops["clone"]
    view_as_real, view_as_complex = ops["view_as_real"], ops["view_as_complex"]


cdef class Window:
    """A view's place in its base. It shows in a gradient of the base what the view shows in the base."""

    cdef object opened(self, object g):
        """A gradient of the base laid out in memory as the base is."""
        if self.order is not None:
            g = g.permute(self.order)
        g = g.contiguous()
        if (<TensorBase>g).offset:
            g = copy_dense(g)          # as_strided counts from the start of the storage
        if self.between == PARTS_OF_COMPLEX:
            return view_as_real(g)
        if self.between == COMPLEX_OF_PAIRS:
            return view_as_complex(g.reshape(-1, 2))
        return g

    cdef object closed(self, object g):
        """The inverse of opened."""
        if self.between == PARTS_OF_COMPLEX:
            g = view_as_complex(g)
        elif self.between == COMPLEX_OF_PAIRS:
            g = view_as_real(g).reshape(self.ordered_size)
        return g if self.order is None else g.permute(self.back)

    cdef object take(self, object g):
        """The view's part of a gradient of the base."""
        return as_strided(self.opened(g), self.size, self.stride, self.offset)

    cdef object put(self, object g, object piece):
        """A gradient of the base with piece in the view's place."""
        return self.closed(as_strided_scatter(self.opened(g), piece, self.size, self.stride, self.offset))

    cdef object spread(self, object piece):
        """A gradient of the base that is piece in the view's place, and zero elsewhere."""
        if self.overlapping:
            return self.closed(as_strided_backward(piece, self.opened_size, self.size, self.stride, self.offset))
        zeros = piece.new_zeros(self.opened_size)
        return self.closed(as_strided_scatter(zeros, piece, self.size, self.stride, self.offset))


cdef Window window_of(TensorBase view):
    """The window of a view on its base."""
    cdef TensorBase base = view.base
    cdef Window w = Window.__new__(Window)
    cdef Py_ssize_t nbytes = view.offset - base.offset
    cdef int i, size = ITEMSIZE[view.code]
    cdef list back
    w.size, w.stride, w.code = view.size(), view.stride(), view.code
    w.overlapping = overlaps_itself(view)
    w.offset = nbytes // size
    w.ordered_size = w.opened_size = base.size()
    if not base.contiguous_:
        w.order = dense_order(base)
        if w.order is None:
            raise NotImplementedError("the gradient of a view after an in-place operation is not implemented where its "
                                      "base has gaps in memory: write to a contiguous() copy")
        back = [0] * base.ndim_
        for i in range(base.ndim_):
            back[w.order[i]] = i
        w.back = tuple(back)
        w.ordered_size = w.opened_size = tuple([base.shape_[d] for d in w.order])
    if view.code != base.code:
        if CATEGORY[base.code] == CAT_COMPLEX:
            w.between = PARTS_OF_COMPLEX
            w.opened_size = tuple(w.ordered_size) + (2,)
        else:
            if base.count % 2 or nbytes % size:
                raise NotImplementedError("the gradient of a complex view after an in-place operation is not "
                                          "implemented where its base does not consist of whole pairs")
            w.between = COMPLEX_OF_PAIRS
            w.opened_size = (base.count // 2,)
    return w


cdef object dense_order(TensorBase t):
    """The dimensions in the order of the memory, of a tensor without gaps and overlaps; None for any other."""
    cdef list order = sorted(range(t.ndim_), key=lambda d: -t.strides_[d] if t.shape_[d] != 1 else -t.count - 1)
    cdef Py_ssize_t n = 1
    cdef int d
    if t.count:
        for d in reversed(order):
            if t.shape_[d] != 1:
                if t.strides_[d] != n:
                    return None
                n *= t.shape_[d]
    return tuple(order)


cdef bint overlaps_itself(TensorBase t) noexcept:
    """Whether two places of t could be one element in memory."""
    cdef Py_ssize_t reach = 0, last = -1, step
    cdef int d, times
    if t.contiguous_ or t.count < 2:
        return False
    while True:                        # the dimensions by their strides, the smallest first
        step, times = -1, 0
        for d in range(t.ndim_):
            if t.shape_[d] > 1 and t.strides_[d] > last and (step < 0 or t.strides_[d] < step):
                step = t.strides_[d]
        if step < 0:
            return False
        for d in range(t.ndim_):
            if t.shape_[d] > 1 and t.strides_[d] == step:
                if times or step <= reach:
                    return True
                reach += (t.shape_[d] - 1) * step
                times += 1
        last = step
