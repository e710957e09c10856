"""What copying and making fresh tensors of their kind do to sparse operands."""
from .._core import factory
from .._core.device import as_device, sparse_coo, strided
from .._core.tensor import TensorBase
from ._sparse_parts import is_compressed, is_coo, on_sparse, parts
from .sparse import empty_sparse, legacy_sparse_tensor
from .sparse_arithmetic import cast_entries
from .sparse_compressed import copy as copy_compressed
from .sparse_compressed import empty_like as empty_compressed


@on_sparse("clone", compressed=True)
def clone(self, *, memory_format=None):
    if not is_coo(self):
        return copy_compressed(self)
    p = parts.parts(self)
    return parts.make_coo(p.indices.clone(), p.values.clone(), self.shape, p.coalesced, True)


@on_sparse("contiguous", compressed=True)
def contiguous(self, memory_format=None):
    return self


@on_sparse("is_contiguous", composite=True, compressed=True)
def is_contiguous(self, memory_format=None):
    return False


@on_sparse("zero", inplace=True)
def zero_(self):
    return parts.become(self, _like(self))


@on_sparse("fill", inplace=True)
def fill_(self, value):
    """Zeros; or, in a compressed layout, the value in place of what is stored, as torch does."""
    if not is_coo(self):
        self.values().fill_(value)
        return self
    if isinstance(value, TensorBase) or value != 0:
        raise NotImplementedError("fill_: not implemented for a sparse tensor and a value that is not 0, where the "
                                  "result would be dense; use to_dense()")
    return zero_(self)


@on_sparse("copy", inplace=True)
def copy_(self, src, non_blocking=False):
    if not isinstance(src, TensorBase) or self.layout is not src.layout:
        if isinstance(src, TensorBase):
            from .._typed import type_name
            raise RuntimeError("copy_() between dense and sparse Tensors is not implemented! Found self type = "
                               f"{type_name(self)} and src type = {type_name(src)}")
        raise TypeError(f"copy_(): argument 'other' (position 1) must be Tensor, not {type(src).__name__}")
    return parts.become(self, cast_entries(clone(src.to(self.device)), self.dtype))


@on_sparse("to_device", compressed=True)
def to_device(self, device, non_blocking=False):
    """A copy on another device, and the device that it was on."""
    def moved(*tensors):
        return [x.to(device, non_blocking=non_blocking) for x in tensors]

    if is_coo(self):
        p = parts.parts(self)
        return parts.make_coo(*moved(p.indices, p.values), self.shape, p.coalesced, True), self.device
    p = parts.compressed_parts(self)
    return parts.make_compressed(p.layout, *moved(p.pointers, p.plain, p.values), self.shape), self.device


def _like(self, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False, memory_format=None):
    device = self.device if device is None else as_device(device)
    dtype = self.dtype if dtype is None else dtype
    if layout is None:
        layout = self.layout
    if layout is strided:
        t = self.new_zeros(self.shape, dtype=dtype, layout=strided)
    elif is_compressed(self) and layout is self.layout:
        t = empty_compressed(self, dtype)
    elif layout is sparse_coo:
        t = empty_sparse(self.shape, dtype, self.sparse_dim() if self.layout is not strided else None, device)
    else:
        raise NotImplementedError(f"zeros_like: from layout {self.layout} to {layout} is not implemented")
    t = t.to(device)
    return t.requires_grad_() if requires_grad else t


on_sparse("zeros_like", "empty_like", composite=True, compressed=True)(_like)


def _filled_like(name, self, value, *, layout=None, requires_grad=False, **options):
    """A tensor full of a number: dense if the caller asks for that, sparse if it is 0.

    In a compressed layout the number takes the place of what is stored, as torch has it.
    """
    if layout is None and is_compressed(self):
        result = cast_entries(clone(self.detach()), options.get("dtype") or self.dtype).fill_(value)
    elif value == 0 or layout is strided:
        result = _like(self, layout=layout, **options).fill_(value)
    else:
        raise NotImplementedError(f"{name}: not implemented for sparse tensors, where it would be dense; pass "
                                  "layout=torch.strided")
    return result.requires_grad_(requires_grad)


@on_sparse("ones_like", composite=True, compressed=True)
def ones_like(self, **options):
    return _filled_like("ones_like", self, 1, **options)


@on_sparse("full_like", composite=True, compressed=True)
def full_like(self, fill_value, **options):
    return _filled_like("full_like", self, fill_value, **options)


@on_sparse("new_tensor", composite=True, compressed=True)
def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    """A copy of a sparse tensor."""
    if not isinstance(data, TensorBase) or data.layout is strided:
        raise NotImplementedError("new_tensor: not implemented for a sparse tensor and dense data")
    copy = clone(data.detach().to(self.device if device is None else as_device(device)))
    return cast_entries(copy, dtype or data.dtype).requires_grad_(requires_grad)


def _new(self, *size, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    if len(size) == 1 and isinstance(size[0], (tuple, list)):
        size = size[0]
    if layout is strided:
        t = factory.zero(factory.new_empty(size, self.dtype if dtype is None else dtype, self))
        t = t if device is None else t.to(as_device(device))
    else:
        t = empty_sparse(size, self.dtype if dtype is None else dtype, None, self.device if device is None else device)
    return t.requires_grad_() if requires_grad else t


on_sparse("new_zeros", "new_empty", composite=True, compressed=True)(_new)


@on_sparse("new", composite=True, compressed=True)
def new(self, *args):
    return legacy_sparse_tensor(self.dtype, args, {}).to(self.device)
