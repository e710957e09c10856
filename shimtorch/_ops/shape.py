"""Views and rearrangements: another shape on the same elements."""
from .._core import OPS, factory, views
from .._core.op import inplace_op, op
from .._core.tensor import TensorBase
from . import samples
from .samples import Draw, Samples, call

_number = dict(dtypes="number")

op(views.view, function=False, samples=Samples([call(Draw(3, 4), 12), call(Draw(3, 4), -1, 2), call(Draw(3, 4), (2, 6)),
                                                call(Draw(), 1), call(Draw(0, 2), 0)], **_number),
   grads={"self": lambda g, self_shape: g.reshape(self_shape)})
op(views.transpose, aliases=("swapaxes", "swapdims"), renames={"axis0": "dim0", "axis1": "dim1"}, sparse=None,
   samples=Samples([call(Draw(2, 3, 4), 0, 1), call(Draw(2, 3, 4), -1, 0), call(Draw(), 0, 0)], **_number),
   grads={"self": lambda g, dim0, dim1: g.transpose(dim0, dim1)})
op(views.t, samples=Samples([call(Draw(3, 4)), call(Draw(3)), call(Draw())], **_number),
   grads={"self": lambda g: g.t()}, backward_name="TBackward0")
op(views.permute, samples=Samples([call(Draw(2, 3, 4), 2, 0, 1), call(Draw(2, 3), (1, 0))], **_number),
   grads={"self": lambda g, dims: g.permute(_inverse(dims))})
op(views.select, samples=Samples([call(Draw(3, 4), 0, 1), call(Draw(3, 4), -1, -2)], **_number),
   grads={"self": lambda g, self_shape, dim, index: select_backward(g, self_shape, dim, index)})
op(views.narrow, samples=Samples([call(Draw(3, 4), 1, 1, 2), call(Draw(3, 4), -1, -3, 3), call(Draw(3), 0, 3, 0)],
                                 **_number),
   grads={"self": lambda g, self_shape, dim, start, length: slice_backward(
       g, self_shape, dim, int(start) % self_shape[dim] if self_shape[dim] else 0, length, 1)})
op(views.expand, function=False, samples=Samples([call(Draw(3, 1), 3, 4), call(Draw(3), 2, -1), call(Draw(), (2, 2)),
                                                  call(Draw(1, 3), -1, 3)], **_number),
   grads={"self": lambda g, self_shape: g.sum_to_size(self_shape)})
op(views.squeeze, samples=Samples([call(Draw(1, 3, 1)), call(Draw(1, 3, 1), 0), call(Draw(1, 3, 1), (0, -1)),
                                   call(Draw(2, 3), 0), call(Draw())], **_number),
   grads={"self": lambda g, self_shape: g.reshape(self_shape)})
op(views.unsqueeze, samples=Samples([call(Draw(2, 3), 0), call(Draw(2, 3), -1), call(Draw(), 0)], **_number),
   grads={"self": lambda g, dim: g.squeeze(dim)})
op(views.diagonal, samples=Samples([call(Draw(3, 4)), call(Draw(3, 3), 1), call(Draw(2, 3, 3), -1, 1, 2)], **_number),
   grads={"self": lambda g, self_shape, offset, dim1, dim2: diagonal_backward(g, self_shape, offset, dim1, dim2)})
op(views.unfold, function=False, samples=Samples([call(Draw(7), 0, 3, 2), call(Draw(2, 5), 1, 2, 1)], **_number),
   grads={"self": lambda g, self_shape, dimension, size, step: unfold_backward(g, self_shape, dimension, size, step)})
op(views.as_strided, samples=Samples([call(Draw(4, 4), (2, 2), (1, 4)), call(Draw(6), (3, 2), (1, 1), 1)], **_number),
   grads={"self": lambda g, self_shape, size, stride, storage_offset: as_strided_backward(
       g, self_shape, size, stride, storage_offset)})
op(views.unbind, samples=Samples([call(Draw(3, 2)), call(Draw(3, 2), 1)], **_number),
   grads={"self": lambda g, dim: OPS["torch.stack"](list(g) if isinstance(g, (list, tuple)) else [g], dim)})
op(views.is_contiguous, function=False)


@op(method=False, function=False, name="slice", grads={
    "self": lambda g, self_shape, dim, start, length, step: slice_backward(g, self_shape, dim, start, length, step)})
def slice_(self, dim, start, length, step):
    from .._core.indexing import slice_view
    return slice_view(self, dim, start, length, step)


def _inverse(dims):
    if len(dims) == 1 and isinstance(dims[0], (tuple, list)):
        dims = dims[0]
    inverse = [0] * len(dims)
    for i, d in enumerate(dims):
        inverse[d % len(dims)] = i
    return inverse


# ---------------------------------------------------------------- the inverses of views, as ops of their own

@op(method=False, function=False, grads={"grad": lambda g, dim, index: g.select(dim, index)})
def select_backward(grad, shape, dim, index):
    result = grad.new_zeros(shape)
    views.select(result, dim, index).copy_(grad)
    return result


@op(method=False, function=False, grads={
    "grad": lambda g, dim, start, length, step: slice_(g, dim % g.dim(), start, length, step)})
def slice_backward(grad, shape, dim, start, length, step):
    from .._core.indexing import slice_view
    result = grad.new_zeros(shape)
    slice_view(result, dim % len(shape), start, length, step).copy_(grad)
    return result


@op(method=False, function=False, grads={
    "grad": lambda g, offset, dim1, dim2: g.diagonal(offset, dim1, dim2)})
def diagonal_backward(grad, shape, offset, dim1, dim2):
    result = grad.new_zeros(shape)
    views.diagonal(result, offset, dim1, dim2).copy_(grad)
    return result


@op(method=False, function=False, grads={"grad": lambda g, dimension, size, step: g.unfold(dimension, size, step)})
def unfold_backward(grad, shape, dimension, size, step):
    import numpy as np
    result = grad.new_zeros(shape)
    windows = views.unfold(result, dimension, size, step)
    _add_at_strides(result, windows, grad, np)
    return result


@op(method=False, function=False, grads={
    "grad": lambda g, size, stride, storage_offset: g.contiguous().as_strided(size, stride, storage_offset)})
def as_strided_backward(grad, shape, size, stride, storage_offset):
    import numpy as np
    result = grad.new_zeros(shape)
    _add_at_strides(result, views.as_strided(result, size, stride, storage_offset), grad, np)
    return result


def _add_at_strides(base, view, grad, np):
    """Add grad to base through a view of it that may show one element several times."""
    flat = np.arange(base.numel())
    where = np.lib.stride_tricks.as_strided(flat[view.storage_offset():], view.shape,
                                            [s * flat.itemsize for s in view.stride()])
    np.add.at(base._ndarray().reshape(-1), where, grad._ndarray())


@op(function=True, samples=Samples([call(Draw(3, 4), Draw(2, 2), (2, 2), (4, 1), 1)]), grads={
    "self": lambda g, src_shape, size, stride, storage_offset: as_strided_scatter(
        g, g.new_zeros(src_shape), size, stride, storage_offset),
    "src": lambda g, size, stride, storage_offset: g.contiguous().as_strided(size, stride, storage_offset)})
def as_strided_scatter(self, src, size, stride, storage_offset=None):
    """A copy of self with src written to the elements that ``as_strided`` of the same arguments shows."""
    result = factory.clone(self).contiguous()
    views.as_strided(result, size, stride, storage_offset).copy_(src)
    return result


# ---------------------------------------------------------------- built on views

@op(samples=Samples([call(Draw(3, 4), (2, 6)), call(Draw(3, 4), -1), call(Draw(3, 4), 4, 3)], **_number))
def reshape(self, *shape):
    """The elements in another shape: a view where the memory allows it, else a copy."""
    if views.can_view(self, shape):
        return self.view(*shape)
    return self.contiguous().view(*shape)


@op(function=False, samples=Samples([call(Draw(3, 4), Draw(2, 6))], **_number))
def view_as(self, other):
    """``self.view(other.size())``."""
    return self.view(other.size())


@op(function=False, samples=Samples([call(Draw(3, 4), Draw(2, 6))], **_number))
def reshape_as(self, other):
    """``self.reshape(other.size())``."""
    return self.reshape(other.size())


@op(function=False, samples=Samples([call(Draw(3, 1), Draw(3, 4))], **_number))
def expand_as(self, other):
    """``self.expand(other.size())``."""
    return self.expand(other.size())


@op(samples=Samples([call(Draw(2, 3, 4)), call(Draw(2, 3, 4), 1), call(Draw()), call(Draw(2, 3, 4), 0, 1)], **_number))
def flatten(self, start_dim=0, end_dim=-1):
    """Dimensions from start_dim to end_dim as one."""
    if self.dim() == 0:
        return self.reshape(1)
    start, end = _wrap(start_dim, self.dim()), _wrap(end_dim, self.dim())
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if start == end:
        return self
    return self.reshape(self.shape[:start] + (self.shape[start:end + 1].numel(),) + self.shape[end + 1:])


@op(samples=Samples([call(Draw(2, 12), 1, (3, 4)), call(Draw(12), 0, (-1, 4))], **_number))
def unflatten(self, dim, sizes):
    """One dimension as several."""
    d = _wrap(dim, self.dim())
    return self.view(self.shape[:d] + tuple(sizes) + self.shape[d + 1:])


@op(samples=Samples([call(Draw(3, 4))], **_number))
def ravel(self):
    """The elements as a 1-d tensor."""
    return self.reshape(-1)


def _wrap(dim, ndim):
    n = max(ndim, 1)
    if not -n <= dim < n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    return dim % n


@op(samples=Samples([call(Draw(2, 3, 4), 0, 2), call(Draw(2, 3, 4), (0, 1), (1, 2))], **_number), aliases=("moveaxis",))
def movedim(self, source, destination):
    """Dimensions moved to other places; the rest keep their order."""
    source = [source] if isinstance(source, int) else list(source)
    destination = [destination] if isinstance(destination, int) else list(destination)
    if len(source) != len(destination):
        raise RuntimeError("movedim: Invalid source or destination dims: source and destination must contain the same "
                           "number of elements")
    n = self.dim()
    source, destination = [_wrap(d, n) for d in source], [_wrap(d, n) for d in destination]
    order = [None] * n
    for s, d in zip(source, destination):
        order[d] = s
    rest = iter(d for d in range(n) if d not in source)
    return self.permute([next(rest) if o is None else o for o in order])


@op(samples=Samples([call(Draw(5, 2), 2), call(Draw(5, 2), (1, 4)), call(Draw(5, 4), 3, 1)], **_number))
def split(self, split_size, dim=0):
    """Pieces of a size (the last may be smaller), or of the listed sizes, along a dimension."""
    n = self.shape[_wrap(dim, self.dim())] if self.dim() else 1
    if isinstance(split_size, (tuple, list)):
        if sum(split_size) != n:
            raise RuntimeError(f"split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size at "
                               f"dimension {dim}), but got split_sizes={list(split_size)}")
        return split_sizes(self, list(split_size), dim)
    if split_size < 0 or (split_size == 0 and n):
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={split_size}")
    if n == 0:
        return split_sizes(self, [0], dim)
    return split_sizes(self, [min(split_size, n - i) for i in range(0, n, split_size)], dim)


@op(name="split_with_sizes", backward_name="SplitBackward0", samples=Samples([call(Draw(5, 2), [2, 3])], **_number),
    grads={"self": lambda g, dim: OPS["torch.cat"](list(g) if isinstance(g, (list, tuple)) else [g], dim)})
def split_sizes(self, split_sizes, dim=0):
    """Pieces of the listed sizes along a dimension."""
    return views.several(self, dim, split_sizes)


@op(samples=Samples([call(Draw(5, 2), 2), call(Draw(2, 4), 3, 1)], **_number))
def chunk(self, chunks, dim=0):
    """At most ``chunks`` pieces of equal size (the last may be smaller) along a dimension."""
    if chunks <= 0:
        raise RuntimeError("chunk expects `chunks` to be greater than 0, got: " + str(chunks))
    n = self.shape[_wrap(dim, self.dim())]
    return self.split(max(-(-n // chunks), 1), dim)


@op(samples=Samples([call(Draw(3, 4), (2, 2)), call(Draw(3), 2), call(Draw(2, 3), 2, 1, 2)], **_number), function=False)
def repeat(self, *sizes):
    """Copies of the tensor beside each other, so many along each dimension."""
    sizes = tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes
    if len(sizes) < self.dim():
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    extra = len(sizes) - self.dim()
    shape = (1,) * extra + tuple(self.shape)
    x = self.reshape([n for s in shape for n in (1, s)])
    x = x.expand([n for r, s in zip(sizes, shape) for n in (r, s)])
    return x.reshape([r * s for r, s in zip(sizes, shape)])


@op(samples=Samples([call(Draw(3, 4), (0,)), call(Draw(3, 4), 0, 1), call(Draw(3, 4), -1)], **_number),
    grads={"self": lambda g, dims: g.flip(*dims)})
def flip(self, *dims):
    """The order of the elements reversed along dimensions."""
    import numpy as np

    from .._core.tensor import wrap_ndarray
    dims = dims[0] if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else dims
    return wrap_ndarray(np.ascontiguousarray(np.flip(self._ndarray(), [_wrap(d, self.dim()) for d in dims])))


@op(samples=Samples([call(Draw(3, 4), 0), call(Draw(3, 4), 1), call(Draw(4, 4), -1)], **_number))
def tril(self, diagonal=0):
    """The lower triangle of matrices; the rest is 0."""
    return self * _triangle(self, diagonal, True)


@op(samples=Samples([call(Draw(3, 4), 0), call(Draw(3, 4), 1), call(Draw(4, 4), -1)], **_number))
def triu(self, diagonal=0):
    """The upper triangle of matrices; the rest is 0."""
    return self * _triangle(self, diagonal, False)


def _triangle(x, diagonal, lower):
    import numpy as np

    from .._core.tensor import wrap_ndarray
    mask = (np.tri(*x.shape[-2:], diagonal, dtype=bool) if lower
            else ~np.tri(*x.shape[-2:], diagonal - 1, dtype=bool))
    return wrap_ndarray(mask).to(x.dtype)


@op(samples=Samples([call(Draw(3)), call(Draw(3), 1), call(Draw(3, 4)), call(Draw(3, 3), -1)], **_number))
def diag(self, diagonal=0):
    """A vector as the diagonal of a matrix, or the diagonal of a matrix."""
    if self.dim() == 1:
        n = self.shape[0] + (diagonal if diagonal >= 0 else -diagonal)
        return diagonal_backward(self, (n, n), diagonal, 0, 1)
    if self.dim() != 2:
        raise RuntimeError("diag(): Supports 1D or 2D tensors. Got " f"{self.dim()}D")
    return self.diagonal(diagonal).clone()


# ---------------------------------------------------------------- broadcasting

@op(method=False, takes_list=True)
def broadcast_tensors(*tensors):
    """Tensors expanded to their common shape."""
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tensors[0]
    size = broadcast_shapes(*(t.shape for t in tensors))
    return tuple([t.expand(size) for t in tensors])


def broadcast_shapes(*shapes):
    """The common shape that tensors of these shapes broadcast to."""
    from .._core.tensor import Size
    shapes = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    n = max((len(s) for s in shapes), default=0)
    result = [1] * n
    for shape in shapes:
        for i, size in enumerate(shape):
            k = n - len(shape) + i
            if size != 1:
                if result[k] not in (1, size):
                    raise RuntimeError("Shape mismatch: objects cannot be broadcast to a single shape")
                result[k] = size
    return Size(result)


@op(samples=Samples([call(Draw(3, 1), (3, 4))], **_number))
def broadcast_to(self, size):
    """The tensor expanded to a shape."""
    return self.expand(size)


@op(function=False, samples=Samples([call(Draw(2, 3), (1, 3)), call(Draw(2, 3), 3)], **_number))
def sum_to_size(self, *size):
    """The sum over the dimensions that broadcasting from ``size`` to this shape would repeat."""
    size = tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
    lead = self.dim() - len(size)
    if lead < 0 or any(s != 1 and s != n for s, n in zip(size, self.shape[lead:])):
        raise RuntimeError(f"size {{{list(size)}}} is not expandable to size {{{list(self.shape)}}}.")
    dims = list(range(lead)) + [lead + i for i, s in enumerate(size) if s == 1 and self.shape[lead + i] != 1]
    result = self.sum(dims, True) if dims else self
    return result.reshape(size) if lead else result


# ---------------------------------------------------------------- complex numbers as pairs

op(views.view_as_real, samples=Samples([call(Draw(2, 3))], dtypes="complex"),
   grads={"self": lambda g: g.contiguous().view_as_complex()})
op(views.view_as_complex, samples=Samples([call(Draw(3, 2))]), grads={"self": lambda g: g.contiguous().view_as_real()})


@op(method=False, grads={"self": lambda g, self_dtype: g.to(self_dtype)})
def real(self):
    """The real part, a view; a real tensor as it is."""
    return views.part(self, 0) if self.is_complex() else self


@op(method=False, grads={"self": lambda g, self_dtype: g.to(self_dtype) * 1j})
def imag(self):
    """The imaginary part of a complex tensor, a view."""
    if not self.is_complex():
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return views.part(self, 1)


# ---------------------------------------------------------------- in place, on the geometry alone

def _in_place_view(name, view):
    @inplace_op(name=name)
    def forward(self, *args):
        if self.requires_grad:
            raise NotImplementedError(f"{name}: changing the shape of a tensor that requires grad is not implemented")
        factory.set_data(self, view(self.detach(), *args))
        return self
    return forward


for _name in ("t", "transpose", "squeeze", "unsqueeze"):
    _in_place_view(_name + "_", getattr(views, _name))


@inplace_op
def resize_(self, *sizes, memory_format=None):
    """Change the size in place; more memory is added where needed, and what is new is not initialised."""
    sizes = tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes
    if self.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    numel = 1
    for n in sizes:
        if n < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {list(sizes)}")
        numel *= n
    factory.grow_storage(self, (self.storage_offset() + numel) * self.element_size())
    strides, step = [], 1
    for n in reversed(sizes):
        strides.insert(0, step)
        step *= max(n, 1)
    return factory.set_geometry(self, self._memory(), self.storage_offset(), sizes, strides)


@inplace_op
def resize_as_(self, other, *, memory_format=None):
    """Change the size in place to that of another tensor."""
    return resize_(self, other.size())


@inplace_op
def set_(self, source=None, storage_offset=0, size=None, stride=None):
    """View another tensor's memory, or a storage, from now on."""
    from .._storages import _Storage
    if source is None:
        factory.set_data(self, factory.new_empty((0,), self.dtype))
    elif isinstance(source, TensorBase):
        if source.dtype is not self.dtype:
            raise RuntimeError(f"Could not set tensor of dtype {source.dtype} to a tensor of dtype {self.dtype}")
        if size is None:
            factory.set_data(self, source)
        else:
            factory.set_data(self, views.as_strided(source.detach(), size, stride or _row_strides(size),
                                                    storage_offset))
    elif isinstance(source, _Storage):
        flat = source._tensor()
        size = (len(source) - storage_offset,) if size is None else size
        factory.set_data(self, views.as_strided(flat, size, stride or _row_strides(size), storage_offset))
    else:
        raise TypeError(f"set_(): argument 'source' must be Tensor or Storage, not {type(source).__name__}")
    return self


def _row_strides(size):
    strides, step = [], 1
    for n in reversed(size):
        strides.insert(0, step)
        step *= max(n, 1)
    return strides
