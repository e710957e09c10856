"""Views: another shape on the same elements; their inverses, which carry gradients back; reshaping."""
from operator import index

from .._core import OPS, factory, views
from .._core.declaring import op
from .._core.indexing import slice_view
from .._core.tensor import Size, wrap_ndarray
from .samples import Draw, Samples, call

_number = dict(dtypes="number")

op(views.view, function=False, overloads=True, renames={"dtype": "size"}, samples=Samples([
       call(Draw(3, 4), 12), call(Draw(3, 4), -1, 2), call(Draw(3, 4), (2, 6)), call(Draw(), 1), call(Draw(0, 2), 0),
       call(Draw(3, 4), size=(4, 3))],
       **_number),
   grads={"self": lambda g, self_shape: g.reshape(self_shape)})
op(views.transpose, aliases=("swapaxes", "swapdims"), renames={"axis0": "dim0", "axis1": "dim1"},
   samples=Samples([call(Draw(2, 3, 4), 0, 1), call(Draw(2, 3, 4), -1, 0), call(Draw(), 0, 0)], **_number),
   grads={"self": lambda g, dim0, dim1: g.transpose(dim0, dim1)})
op(views.t, samples=Samples([call(Draw(3, 4)), call(Draw(3)), call(Draw())], **_number),
   grads={"self": lambda g: g.t()}, backward_name="TBackward0")
op(views.permute, samples=Samples([call(Draw(2, 3, 4), (2, 0, 1)), call(Draw(2, 3), (1, 0)),
                                     call(Draw(2, 3), dims=(1, 0))], **_number),
   grads={"self": lambda g, dims: g.permute(_inverse(dims))})
op(views.select, samples=Samples([call(Draw(3, 4), 0, 1), call(Draw(3, 4), -1, -2)], **_number),
   grads={"self": lambda g, self_shape, dim, index: select_backward(g, self_shape, dim, index)})
op(views.narrow, backward_name="SliceBackward0", renames={"dimension": "dim"}, samples=Samples([
       call(Draw(3, 4), 1, 1, 2), call(Draw(3, 4), -1, -3, 3), call(Draw(3), 0, 3, 0)], **_number),
   grads={"self": lambda g, self_shape, dim, start, length: slice_backward(
       g, self_shape, dim, int(start) % self_shape[dim] if self_shape[dim] else 0, length, 1)})
op(views.expand, function=False, samples=Samples([call(Draw(3, 1), 3, 4), call(Draw(3), 2, -1), call(Draw(), (2, 2)),
                                                  call(Draw(1, 3), -1, 3), call(Draw(1, 3), size=(2, 3))], **_number),
   grads={"self": lambda g, self_shape: g.sum_to_size(self_shape)})
op(views.squeeze, overloads=True, backward_name=lambda dim: "SqueezeBackward0" if dim is None else (
       "SqueezeBackward1" if isinstance(dim, int) else "SqueezeBackward2"), samples=Samples([
       call(Draw(1, 3, 1)), call(Draw(1, 3, 1), 0), call(Draw(1, 3, 1), (0, -1)), call(Draw(2, 3), 0), call(Draw())],
       **_number),
   grads={"self": lambda g, self_shape: g.reshape(self_shape)})
op(views.unsqueeze, samples=Samples([call(Draw(2, 3), 0), call(Draw(2, 3), -1), call(Draw(), 0)], **_number),
   grads={"self": lambda g, dim: g.squeeze(dim)})
op(views.diagonal, samples=Samples([call(Draw(3, 4)), call(Draw(3, 3), 1), call(Draw(2, 3, 3), -1, 1, 2)], **_number),
   grads={"self": lambda g, self_shape, offset, dim1, dim2: diagonal_backward(g, self_shape, offset, dim1, dim2)})
op(views.unfold, function=False, renames={"dim": "dimension"},
   samples=Samples([call(Draw(7), 0, 3, 2), call(Draw(2, 5), 1, 2, 1), call(Draw(), 0, 1, 1)], **_number),
   grads={"self": lambda g, self_shape, dimension, size, step: unfold_backward(g, self_shape, dimension, size, step)})
@op(aux=("layout",), samples=Samples([call(Draw(4, 4), (2, 2), (1, 4)), call(Draw(6), (3, 2), (1, 1), 1)], **_number),
    grads={"self": lambda g, self_shape, size, stride, storage_offset, layout: _as_strided_grad(
        g, self_shape, layout, size, stride, storage_offset)})
def as_strided(self, size, stride, storage_offset=None):
    """A view of the given size and strides on the memory of the tensor, from an element of its storage on."""
    return views.as_strided(self, size, stride, storage_offset), (self.stride(), self.storage_offset())


op(views.unbind, samples=Samples([call(Draw(3, 2)), call(Draw(3, 2), 1)], **_number),
   grads={"self": lambda g, dim: OPS["torch.stack"](list(g) if isinstance(g, (list, tuple)) else [g], dim)})
op(views.is_contiguous, function=False, samples=Samples([call(Draw(3, 4)), call(Draw())]))


@op(method=False, function=False, name="slice", grads={
    "self": lambda g, self_shape, dim, start, length, step: slice_backward(g, self_shape, dim, start, length, step)})
def slice_(self, dim, start, length, step):
    """Every step-th index along a dimension, from start on."""
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
    """Zeros of a shape with grad at one index of a dimension."""
    result = grad.new_zeros(shape)
    views.select(result, dim, index).copy_(grad)
    return result


@op(method=False, function=False, grads={
    "grad": lambda g, dim, start, length, step: slice_(g, dim, start, length, step)})
def slice_backward(grad, shape, dim, start, length, step):
    """Zeros of a shape with grad at every step-th index of a dimension."""
    result = grad.new_zeros(shape)
    slice_view(result, dim, start, length, step).copy_(grad)
    return result


@op(method=False, function=False, grads={
    "grad": lambda g, offset, dim1, dim2: g.diagonal(offset, dim1, dim2)})
def diagonal_backward(grad, shape, offset, dim1, dim2):
    """Zeros of a shape with grad on a diagonal."""
    result = grad.new_zeros(shape)
    views.diagonal(result, offset, dim1, dim2).copy_(grad)
    return result


@op(method=False, function=False, grads={"grad": lambda g, dimension, size, step: g.unfold(dimension, size, step)})
def unfold_backward(grad, shape, dimension, size, step):
    """Windows added up where they overlap, in zeros of a shape."""
    result = grad.new_zeros(shape)
    _add_at_strides(result, views.unfold(result, dimension, size, step), grad)
    return result


@op(method=False, function=False, grads={
    "grad": lambda g, size, stride, storage_offset: g.contiguous().as_strided(size, stride, storage_offset)})
def as_strided_backward(grad, shape, size, stride, storage_offset):
    """A strided view's gradient added up in zeros of a shape, contiguous as the base was."""
    result = grad.new_zeros(shape)
    _add_at_strides(result, views.as_strided(result, size, stride, storage_offset), grad)
    return result


def _as_strided_grad(g, shape, layout, size, stride, storage_offset):
    """The gradient that reaches a tensor of a layout through elements which are its own, too."""
    import numpy as np
    strides, start = layout
    offset = start if storage_offset is None else storage_offset
    own = _positions(np, shape, strides, start)
    if offset >= start and np.array_equal(own, np.arange(start, start + own.size)):
        last = max(_positions(np, size, stride, offset).max(initial=0), start)
        if last < start + own.size:
            return as_strided_backward(g, shape, size, stride, offset - start)
    places, inverse, counts = np.unique(own, return_inverse=True, return_counts=True)
    shown = _positions(np, size, stride, offset)
    at = np.searchsorted(places, shown)
    hit = np.flatnonzero(places[np.minimum(at, len(places) - 1)] == shown) if len(places) else at[:0]
    total = g.new_zeros((len(places),)).index_add(0, wrap_ndarray(at[hit]), g.reshape(-1).index_select(
        0, wrap_ndarray(hit)))
    return (total / wrap_ndarray(counts).to(g.dtype)).index_select(0, wrap_ndarray(inverse.reshape(-1))).reshape(shape)


def _positions(np, size, stride, offset):
    """Where in the storage the elements of a strided tensor are."""
    places = np.array(offset)
    for n, step in zip(size, stride):
        places = places[..., None] + np.arange(n) * step
    return places.reshape(-1)


def _add_at_strides(base, view, grad):
    """Add grad to base through a view of it that may show one element several times."""
    if grad.is_cuda:
        from .._gpu import _device
        _device.look_up(_device.ADD, grad, view, tuple(grad.shape), grad.stride(), view.stride(), [])
        return
    import numpy as np
    flat = np.arange(base.numel())
    where = np.lib.stride_tricks.as_strided(flat[view.storage_offset():], view.shape,
                                            [s * flat.itemsize for s in view.stride()])
    np.add.at(base._ndarray().reshape(-1), where, grad._ndarray())


# ---------------------------------------------------------------- a copy with something else where a view shows it

@op(samples=Samples([call(Draw(3, 4), Draw(2, 2), (2, 2), (4, 1), 1)]), grads={
    "self": lambda g, src_shape, size, stride, storage_offset: as_strided_scatter(
        g, g.new_zeros(src_shape), size, stride, storage_offset),
    "src": lambda g, size, stride, storage_offset: g.contiguous().as_strided(size, stride, storage_offset)})
def as_strided_scatter(self, src, size, stride, storage_offset=None):
    """A copy of self with src written to the elements that ``as_strided`` of the same arguments shows."""
    result = factory.clone(self).contiguous()
    views.as_strided(result, size, stride, storage_offset).copy_(src)
    return result


def _fitting(src, view):
    if src.shape != view.shape:
        raise RuntimeError("expected src to have a size equal to the slice of self. src size = "
                           f"{list(src.shape)}, slice size = {list(view.shape)}")
    return src


@op(samples=Samples([call(Draw(3, 4), Draw(3), 1, 2)], **_number))
def select_scatter(self, src, dim, index):
    """A copy of self with src at one index of a dimension."""
    result = self.clone()
    view = result.select(dim, index)
    view.copy_(_fitting(src, view))
    return result


@op(samples=Samples([call(Draw(3, 4), Draw(3), 1), call(Draw(3, 3), Draw(3))], **_number))
def diagonal_scatter(self, src, offset=0, dim1=0, dim2=1):
    """A copy of self with src on a diagonal."""
    result = self.clone()
    view = result.diagonal(offset, dim1, dim2)
    view.copy_(_fitting(src, view))
    return result


@op(out=True, samples=Samples([call(Draw(3, 4), Draw(1, 4), 0, 1, 2),
                               call(Draw(3, 4), Draw(3, 2), 1, None, None, 2)], **_number))
def slice_scatter(self, src, dim=0, start=None, end=None, step=1):
    """A copy of self with src at the indices of a slice along a dimension."""
    result = self.clone()
    view = result.narrow(dim, 0, result.shape[dim])
    view = slice_(view, dim, *_slice_bounds(start, end, step, result.shape[dim]))
    view.copy_(_fitting(src, view))
    return result


def _slice_bounds(start, end, step, n):
    from .._core.indexing import slice_bounds
    if step < 1:
        raise RuntimeError("slice step must be positive")
    return slice_bounds(slice(start, end, step), n)


# ---------------------------------------------------------------- reshaping: views where the memory allows it

@op(samples=Samples([call(Draw(3, 4), (2, 6)), call(Draw(3, 4), (-1,)), call(Draw(3, 4), (4, 3)),
                     call(Draw(3, 4), shape=(4, 3))], **_number))
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
    size = views.flat_size(self, start_dim, end_dim)
    return self if size is None else self.reshape(size)


@op(samples=Samples([call(Draw(2, 12), 1, (3, 4)), call(Draw(12), 0, (-1, 4))], **_number))
def unflatten(self, dim, sizes):
    """One dimension as several."""
    d = wrap(dim, self.dim())
    if not self.dim():
        raise RuntimeError("unflatten: a tensor of no dimensions has none to unflatten")
    sizes, n = tuple(sizes), self.shape[d]
    known = Size([s for s in sizes if s != -1]).numel()
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    if known != n if -1 not in sizes else not known or n % known:
        raise RuntimeError(f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {d} ({n}) in "
                           "the input tensor")
    return self.view(self.shape[:d] + tuple(n // known if s == -1 else s for s in sizes) + self.shape[d + 1:])


@op(samples=Samples([call(Draw(3, 4))], **_number))
def ravel(self):
    """The elements as a 1-d tensor."""
    return self.reshape(-1)


def wrap(dim, ndim):
    """A dimension as a number from 0."""
    n, dim = max(ndim, 1), index(dim)
    if not -n <= dim < n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    return dim % n


@op(samples=Samples([call(Draw(2, 3, 4), 0, 2), call(Draw(2, 3, 4), (0, 1), (1, 2))], **_number), aliases=("moveaxis",))
def movedim(self, source, destination):
    """Dimensions moved to other places; the rest keep their order."""
    source = [source] if hasattr(source, "__index__") else list(source)
    destination = [destination] if hasattr(destination, "__index__") else list(destination)
    if len(source) != len(destination):
        raise RuntimeError(f"movedim: Invalid source or destination dims: source ({source} dims) should contain the "
                           f"same number of dims as destination ({destination} dims)")
    n = self.dim()
    places = [wrap(d, n) for d in source], [wrap(d, n) for d in destination]
    for name, given, dims in (("source", source, places[0]), ("destination", destination, places[1])):
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({given})")
    if n == 0:
        return self
    order = [None] * n
    for s, d in zip(*places):
        order[d] = s
    rest = iter(d for d in range(n) if d not in places[0])
    return self.permute([next(rest) if o is None else o for o in order])


@op(samples=Samples([call(Draw(3, 4)), call(Draw(2, 3, 4))], **_number))
def adjoint(self):
    """The conjugate transpose of matrices."""
    return _turned(self, "adjoint()").conj()


def _turned(x, name):
    """Matrices transposed for one of the names that take numbers too, with a warning, but no vectors."""
    if x.dim() == 0:
        _warn_number(name, "x.conj()" if name != "Tensor.mT" else "x")
        return x
    if x.dim() == 1:
        raise RuntimeError(f"{name.lower() if name[0] == 'T' else name} is only supported on matrices or batches of "
                           "matrices. Got 1-D tensor.")
    return x.transpose(-2, -1)


def _warn_number(name, instead):
    import warnings
    warnings.warn(f"{name} is deprecated on 0-D tensors. Consider using {instead}.", UserWarning, stacklevel=4)


def mT(self):
    """The matrices transposed."""
    return _turned(self, "Tensor.mT")


def mH(self):
    """The matrices' conjugate transposes."""
    return _turned(self, "Tensor.mH").conj()


def H(self):
    """The conjugate transpose of a matrix."""
    if self.dim() == 0:
        _warn_number("Tensor.H", "x.conj()")
        return self.conj()
    if self.dim() != 2:
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {self.dim()}-D tensor."
                           + (" For batches of matrices, consider using tensor.mH" if self.dim() > 2 else ""))
    return self.transpose(0, 1).conj()


# ---------------------------------------------------------------- broadcasting

@op(method=False, takes_list=True, samples=Samples([call(Draw(3, 1), Draw(4)), call(Draw(2, 3), Draw())], **_number))
def broadcast_tensors(*tensors):
    """Tensors expanded to their common shape."""
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tensors[0]
    size = common_shape(tensors)
    return tuple([t.expand(size) for t in tensors])


def common_shape(tensors):
    """The shape that tensors broadcast to; the error names the sizes of a and b as torch's elementwise ops do."""
    result = []
    for t in tensors:
        result = merged_shape(result, t.shape)
    return Size(result)


def merged_shape(a, b):
    """The shape that two shapes broadcast to."""
    n = max(len(a), len(b))
    a, b = [1] * (n - len(a)) + list(a), [1] * (n - len(b)) + list(b)
    for i in range(n - 1, -1, -1):
        if a[i] != b[i] and a[i] != 1 and b[i] != 1:
            raise RuntimeError(f"The size of tensor a ({a[i]}) must match the size of tensor b ({b[i]}) at "
                               f"non-singleton dimension {i}")
    return [y if x == 1 else x for x, y in zip(a, b)]


def broadcast_shapes(*shapes):
    """The common shape that tensors of these shapes broadcast to."""
    shapes = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    result = []
    for i, shape in enumerate(shapes):
        try:
            result = merged_shape(result, shape)
        except RuntimeError:
            raise RuntimeError(f"Shape mismatch: objects cannot be broadcast to a single shape. Mismatching argument "
                               f"at index {i} had {shape}; but expected shape should be broadcastable to {result}"
                               ) from None
    return Size(result)


@op(samples=Samples([call(Draw(3, 1), (3, 4))], **_number))
def broadcast_to(self, size):
    """The tensor expanded to a shape."""
    return self.expand(size)


@op(function=False, samples=Samples([call(Draw(2, 3), (1, 3)), call(Draw(2, 3), (3,)),
                                     call(Draw(2, 3), size=(1, 3)),
                                     call(Draw(), ())], **_number))
def sum_to_size(self, *size):
    """The sum over the dimensions that broadcasting from ``size`` to this shape would repeat."""
    size = tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
    lead = self.dim() - len(size)
    if lead < 0 or any(s != 1 and s != n for s, n in zip(size, self.shape[lead:])):
        raise RuntimeError(f"size {{{list(size)}}} is not expandable to size {{{list(self.shape)}}}.")
    dims = list(range(lead)) + [lead + i for i, s in enumerate(size) if s == 1 and self.shape[lead + i] != 1]
    if not size:
        return self.sum()
    result = self.sum(dims, True) if dims else self
    return result.reshape(size) if lead else result


# ---------------------------------------------------------------- complex numbers as pairs

op(views.view_as_real, samples=Samples([call(Draw(2, 3))], dtypes="complex"),
   grads={"self": lambda g: g.contiguous().view_as_complex()})
op(views.view_as_complex, samples=Samples([call(Draw(3, 2))]), grads={"self": lambda g: g.contiguous().view_as_real()})


@op(method=False, samples=Samples([call(Draw(2, 3))], **_number),
    grads={"self": lambda g, self_dtype: g.to(self_dtype)})
def real(self):
    """The real part, a view; a real tensor as it is."""
    return views.part(self, 0) if self.is_complex() else self


@op(method=False, samples=Samples([call(Draw(2, 3))], dtypes="complex"),
    grads={"self": lambda g, self_dtype: g.to(self_dtype) * 1j})
def imag(self):
    """The imaginary part of a complex tensor, a view."""
    if not self.is_complex():
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return views.part(self, 1)
