"""Changes in place of a tensor's shape, strides and memory; its elements stay as they are."""
from .._core import factory, views
from .._core.declaring import inplace_op
from .._core.device import channels_last, channels_last_3d, contiguous_format, preserve_format
from .._core.tensor import TensorBase
from .samples import Draw, Samples, call

_number = dict(dtypes="number")


def _in_place_view(name, view, grads, calls, aliases=()):
    @inplace_op(name=name, grads=grads, aliases=aliases, minds_overlap=True, samples=Samples(calls, **_number))
    def forward(self, *args):
        if self.requires_grad and self._is_view():
            raise NotImplementedError(f"{name}: changing the shape of a view that requires grad is not implemented")
        factory.set_data(self, view(self.detach(), *args))
        return self
    forward.__doc__ = f"``{name[:-1]}`` in place: the tensor itself gets the other shape."


_in_place_view("t_", views.t, {"self": lambda g: g.t()}, [call(Draw(3, 4)), call(Draw(3))])
_in_place_view("transpose_", views.transpose, {"self": lambda g, args: g.transpose(*args)},
               [call(Draw(2, 3, 4), 0, 2), call(Draw(2, 3), -1, 0)], ("swapaxes_", "swapdims_"))
_in_place_view("squeeze_", views.squeeze, {"self": lambda g, self: g.reshape(self.shape)},
               [call(Draw(1, 3, 1)), call(Draw(1, 3, 1), 0), call(Draw(2, 3), 1)])
_in_place_view("unsqueeze_", views.unsqueeze, {"self": lambda g, args: g.squeeze(*args)},
               [call(Draw(2, 3), 0), call(Draw(2, 3), -1)])


@inplace_op(function=True, minds_history=True, minds_overlap=True,
            samples=Samples([call(Draw(4, 4), (2, 3), (4, 1)), call(Draw(6), (3, 2), (2, 1), 0)],
                            gradcheck=False))
def as_strided_(self, size, stride, storage_offset=None):
    """``as_strided`` in place."""
    _refuse_grad(self)
    factory.set_data(self, views.as_strided(self.detach(), size, stride, storage_offset))
    return self


def _refuse_grad(x):
    if x.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")


@inplace_op(minds_history=True, minds_overlap=True,
            samples=Samples([call(Draw(3, 4), 2, 2), call(Draw(3, 4), (2, 6)), call(Draw(), 1)], gradcheck=False))
def resize_(self, *sizes, memory_format=None):
    """Change the size in place; more memory is added where needed, and what is new is not initialised.

    A tensor that has the size keeps its strides, unless memory_format says otherwise.
    """
    sizes = tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes
    _refuse_grad(self)
    strides = _strides(sizes, memory_format)
    numel = 1
    for n in sizes:
        if n < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {list(sizes)}")
        numel *= n
    if numel > 1 << 60:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(sizes)}")
    if strides is None:
        if tuple(sizes) == tuple(self.shape):
            return self
        strides = row_strides(sizes)
    if numel:
        factory.grow_storage(self, (self.storage_offset() + numel) * self.element_size())
    return factory.set_geometry(self, self._memory(), self.storage_offset(), sizes, strides)


def _strides(size, memory_format):
    """The strides that a layout of memory gives a size; None where none is asked for."""
    if memory_format is None:
        return None
    if memory_format is preserve_format:
        raise RuntimeError("Unsupported memory formatPreserve")
    if memory_format is contiguous_format:
        return row_strides(size)
    rank = 4 if memory_format is channels_last else 5
    if len(size) != rank:
        raise RuntimeError(f"required rank {rank} tensor to use {memory_format.name} format")
    strides = row_strides((size[0], *size[2:], size[1]))
    return strides[0], strides[-1], *strides[1:-1]


@inplace_op(function=True, minds_history=True, minds_overlap=True,
            samples=Samples([call(Draw(3, 4), Draw(2, 2))], gradcheck=False))
def resize_as_(self, other, *, memory_format=None):
    """Change the size in place to that of another tensor; ``torch.preserve_format`` takes its order of channels too."""
    if memory_format is preserve_format:
        last = channels_last if other.dim() == 4 else channels_last_3d
        memory_format = last if other.dim() in (4, 5) and other.is_contiguous(memory_format=last) and (
            not other.is_contiguous()) else contiguous_format
    return resize_(self, other.size(), memory_format=memory_format)


@inplace_op(minds_history=True, minds_overlap=True,
            samples=Samples([call(Draw(3, 4), Draw(2, 2)), call(Draw(3)), call(Draw(2), Draw(4, 4), 1, (2, 3), (4, 1))],
                            gradcheck=False))
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
            factory.set_data(self, views.as_strided(source.detach(), size, stride or row_strides(size),
                                                    storage_offset))
    elif isinstance(source, _Storage):
        flat = source._tensor()
        size = (len(source) - storage_offset,) if size is None else size
        factory.set_data(self, views.as_strided(flat, size, stride or row_strides(size), storage_offset))
    else:
        raise TypeError(f"set_(): argument 'source' must be Tensor or Storage, not {type(source).__name__}")
    return self


def row_strides(size):
    """The strides of contiguous memory."""
    strides, step = [], 1
    for n in reversed(size):
        strides.insert(0, step)
        step *= max(n, 1)
    return strides

