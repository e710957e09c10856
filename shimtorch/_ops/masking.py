"""Masks and conditions, and elements counted as if a tensor were one-dimensional."""
import numpy as np

from .._core import OPS
from .._core.declaring import inplace_op, op
from .._core.device import contiguous_format
from .._core.dtype import int64, scalar_type
from .._core.factory import fitting, full
from .._core.pointwise import chosen
from .._core.policy import policy
from .._core.promotion import result_type
from .._core.tensor import TensorBase, wrap_ndarray
from .._kernels import masks
from . import samples
from ._arguments import flag
from ._placing import WORDS, put_slices
from .indexing import chosen_by_mask, masks_whole, true_before
from .samples import Draw, Samples, call, integers, mask
from .shape import merged_shape

_C_TYPES = {"uint8": "unsigned char", "int8": "signed char", "int16": "short", "int32": "int", "int64": "int64_t",
            "float32": "float", "float64": "double", "float16": "c10::Half", "bfloat16": "c10::BFloat16",
            "complex64": "c10::complex<float>", "complex128": "c10::complex<double>"}


def _as_mask(mask, name, complaint):
    """A bool mask; a uint8 one, which old scripts have, with a warning where the era had one."""
    if mask.dtype.name == "bool":
        return mask
    if mask.dtype.name != "uint8":
        raise RuntimeError(complaint)
    if not policy.compare_uint8:
        import warnings
        warnings.warn(f"{name} received a mask with dtype torch.uint8, this behavior is now deprecated, please use a "
                      "mask with dtype torch.bool instead.", UserWarning, stacklevel=3)
    return mask


# ---------------------------------------------------------------- where

@op(out=True, method=False, overloads=True, tensors_only=False, samples=Samples([
    call(mask(3, 4), Draw(3, 4), Draw(3, 4)), call(mask(3, 4), Draw(4), 1.0), call(mask(3, 4), 0, Draw()),
    call(mask(3, 1), Draw(4), Draw(3, 4, dtype="float64")), call(mask(3, 4)), call(mask(2), 1, 0)], "number"))
def where(condition, input=None, other=None):
    """Elements of input where the condition holds, of other elsewhere; without them the places of true elements."""
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    return where_op(condition, input, other)


@op(method=False, function=False, backward_name="WhereBackward0", grads={
    "input": lambda g, condition: where_op(condition, g, 0),
    "other": lambda g, condition: where_op(condition, 0, g)})
def where_op(condition, input, other):
    """``where`` of three arguments."""
    if condition.dtype.name not in ("bool", "uint8"):
        raise RuntimeError("where expected condition to be a boolean tensor, but got a tensor with dtype "
                           f"{scalar_type(condition.dtype)}")
    if isinstance(input, TensorBase) or isinstance(other, TensorBase):
        dtype = result_type(input, other)
    else:
        dtype = result_type(full((), input), full((), other))
    a, b = (_in_dtype(x, dtype) if isinstance(x, TensorBase) else full((), x, dtype=dtype) for x in (input, other))
    return chosen(condition, a, b)


def _in_dtype(x, dtype):
    return x if x.dtype is dtype else x.to(dtype)


@op(function=False, name="where", samples=Samples([call(Draw(3, 4), mask(3, 4), Draw(4)), call(Draw(3, 4), mask(4), 0)],
                                                  "number"))
def _where_method(self, condition, other):
    """Elements of self where the condition holds, of other elsewhere."""
    return where_op(condition, self, other)


OPS["torch.where"], OPS["torch.Tensor.where"] = where, _where_method


# ---------------------------------------------------------------- masked fill, select, scatter

def _fill_value(x, value, name):
    if isinstance(value, TensorBase):
        if value.dim() > 0:
            raise RuntimeError("masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
                               f"{value.dim()} dimension(s).")
        if value.dtype is not x.dtype:
            fitting(x, value)
        return value.to(x.dtype)
    if not isinstance(value, (int, float, complex, np.number, np.bool_)):
        raise TypeError(f"{name}() received an invalid combination of arguments - got "
                        f"(Tensor, {type(value).__name__}), but expected one of:\n * (Tensor mask, Tensor value)"
                        "\n * (Tensor mask, Number value)")
    return full((), fitting(x, value, name), dtype=x.dtype)


def _fill_mask(mask):
    return _as_mask(mask, "masked_fill_", "masked_fill_ only supports boolean masks, but got mask with dtype "
                    + _C_TYPES.get(mask.dtype.name, mask.dtype.name))


_fills = [call(Draw(3, 4), mask(3, 4), 1), call(Draw(3, 4), mask(4), Draw()), call(Draw(3, 4), mask(3, 1), 0),
          call(Draw(), mask(), 1)]


@inplace_op(samples=Samples(_fills, "number"), overloads=True,
            grads={"self": lambda g, mask: g.masked_fill(mask, 0), "value": lambda g, mask: where_op(mask, g, 0).sum()})
def masked_fill_(self, mask, value):
    """Set the elements where the mask is true."""
    mask, value = _fill_mask(mask), _fill_value(self, value, "masked_fill_")
    if merged_shape(self.shape, mask.shape) != list(self.shape):
        raise RuntimeError(f"output with shape {list(self.shape)} doesn't match the broadcast shape "
                           f"{merged_shape(self.shape, mask.shape)}")
    return self.copy_(chosen(mask, value, self))


@op(samples=Samples(_fills + [call(Draw(4), mask(3, 4), 1)], "number"), overloads=True,
    grads={"self": lambda g, mask: g.masked_fill(mask, 0), "value": lambda g, mask: where_op(mask, g, 0).sum()})
def masked_fill(self, mask, value):
    """A copy with the elements where the mask is true set to a value."""
    mask = _fill_mask(mask)
    return chosen(mask.contiguous() if mask.shape == self.shape else mask, _fill_value(self, value, "masked_fill"),
                  self.contiguous())


@op(out=True, samples=Samples([call(Draw(3, 4), mask(3, 4)), call(Draw(3, 4), mask(4)), call(Draw(4), mask(3, 1)),
                               call(Draw(), mask())], "number"))
def masked_select(self, mask):
    """The elements where the mask is true, as a 1-d tensor."""
    mask = _as_mask(mask, "masked_select", "masked_select: expected BoolTensor for mask")
    mask, self = OPS["torch.broadcast_tensors"](mask, self)
    if self.dim() == 0:
        self, mask = self.reshape(1), mask.reshape(1)
    if mask.is_cuda:
        return OPS["torch.index"](self, list(mask.nonzero(as_tuple=True)))
    if masks_whole(self, mask):
        return chosen_by_mask(self, mask)
    return OPS["torch.index"](self, [wrap_ndarray(p) for p in np.nonzero(mask._ndarray())])


_scatters = [call(Draw(3, 4), mask(3, 4), Draw(3, 4)), call(Draw(3, 4), mask(4), Draw(13)),
             call(Draw(4), mask(3, 1), Draw(13))]


@inplace_op(samples=Samples(_scatters, "number"), aliases=("masked_copy_",), grads={
    "self": lambda g, mask: g.masked_fill(mask, 0),
    "source": lambda g, source_shape, mask: _pad_flat(g.masked_select(mask), source_shape)})
def masked_scatter_(self, mask, source):
    """Write the elements of source, in order, to the places where the mask is true."""
    mask = _as_mask(mask, "masked_scatter_", "masked_scatter_ only supports boolean masks, but got mask with dtype "
                    + _C_TYPES.get(mask.dtype.name, mask.dtype.name))
    if source.dtype is not self.dtype:
        raise RuntimeError("masked_scatter: expected self and source to have same dtypes but got"
                           f"{scalar_type(self.dtype)} and {scalar_type(source.dtype)}")
    flags = (mask.expand(self.shape)._ndarray() != 0).view(np.uint8).reshape(-1)
    starts = true_before(flags)
    if starts[-1] > source.numel():
        raise RuntimeError("Number of elements of source < number of ones in mask")
    array, word = self._ndarray(), WORDS[self.element_size()]
    flat = np.ascontiguousarray(array).reshape(-1)
    masks.give(flat.view(word), flags, starts, np.ascontiguousarray(source._ndarray()).reshape(-1).view(word))
    if not array.flags.c_contiguous:
        array[...] = flat.reshape(array.shape)
    return self


def _pad_flat(g, shape):
    n = shape.numel()
    return OPS["torch.cat"]([g, g.new_zeros(n - g.numel())]).reshape(shape)


@op(samples=Samples(_scatters, "number"), aliases=("masked_copy",))
def masked_scatter(self, mask, source):
    """The out-of-place form of ``masked_scatter_``; self and mask broadcast."""
    shape = merged_shape(self.shape, mask.shape)
    return self.expand(shape).clone(memory_format=contiguous_format).masked_scatter_(mask, source)


# ---------------------------------------------------------------- the places of what is not zero

@op(out=True, samples=Samples([call(Draw(3, 4)), call(Draw(3, 4), as_tuple=True), call(Draw()),
                               call(Draw(0, 2))], dtypes="number", gradcheck=False))
def nonzero(self, *, as_tuple=False):
    """The places of the elements that are not zero: one row each, or one index tensor per dimension."""
    flag(as_tuple)
    if self.is_cuda:
        from .._gpu import indexing
        return indexing.nonzero(self, as_tuple=as_tuple)
    places = np.nonzero(self._ndarray() if self.dim() else self._ndarray().reshape(1))
    if as_tuple:
        return tuple(wrap_ndarray(np.ascontiguousarray(p)) for p in places)
    if self.dim() == 0:
        return wrap_ndarray(np.zeros((len(places[0]), 0), dtype=np.int64))
    return wrap_ndarray(np.stack(places).T)


@op(samples=samples.unary(dtypes="number", gradcheck=False))
def argwhere(self):
    """The places of the elements that are not zero, one row each."""
    return self.nonzero()


# ---------------------------------------------------------------- elements by number

def _flat_places(index, n, name):
    """The places that an index tensor names among n elements, counted from the first."""
    if index.dtype.name != "int64":
        raise RuntimeError(f"{name}(): Expected a long tensor for index, but got {scalar_type(index.dtype)}")
    places = index._ndarray()
    if places.size:
        if n == 0:
            raise IndexError(f"{name}(): tried to {'take from' if name == 'take' else 'put elements into'} an empty "
                             "tensor")
        for bad in (int(places.min()), int(places.max())):
            if not -n <= bad < n:
                raise IndexError(f"out of range: tried to access index {bad} on a tensor of {n} elements.")
    return places % n if places.size and places.min() < 0 else places


@op(out=True, renames={"indices": "index"}, samples=Samples([
    call(Draw(3, 4), integers(2, 2, high=12)), call(Draw(3, 4), integers(3, low=-12, high=12)),
    call(Draw(), integers(high=1))],
    "number"))
def take(self, index):
    """The elements at places counted as if the tensor were 1-d."""
    flat = self.reshape(-1)
    _flat_places(index, flat.numel(), "take")
    return OPS["torch.index"](flat, [index])


_puts = [call(Draw(3, 4), Draw(2, distinct=True, dtype="int64"), Draw(2)),
         call(Draw(3, 4), integers(5, low=-12, high=12), Draw(5), True)]


@inplace_op(renames={"indices": "index", "tensor": "source"}, samples=Samples(_puts, "number"), grads={
    "self": lambda g, self_shape, index, accumulate: g if accumulate else g.put(index, g.new_zeros(index.shape)),
    "source": lambda g, index, source_shape: g.take(index).reshape(source_shape)})
def put_(self, index, source, accumulate=False):
    """Write source to places counted as if the tensor were 1-d; add it if ``accumulate``."""
    if source.numel() != index.numel():
        raise IndexError("put_(): Expected source and index to have the same number of elements, but got "
                         f"source.numel() = {source.numel()}, index.numel() = {index.numel()}")
    if source.dtype is not self.dtype:
        raise RuntimeError("put_(): self and source expected to have the same dtype, but got self.dtype = "
                           f"{scalar_type(self.dtype)} and source.dtype = {scalar_type(source.dtype)}")
    places = _flat_places(index, self.numel(), "put_").reshape(-1)
    array, values = self._ndarray(), source._ndarray().reshape(-1)
    flat = np.ascontiguousarray(array).reshape(-1)
    put_slices(flat, 0, places, values, "sum" if accumulate else None)
    if not array.flags.c_contiguous:
        array[...] = flat.reshape(array.shape)
    return self


@op(renames={"indices": "index", "tensor": "source"}, samples=Samples(_puts, "number"))
def put(self, index, source, accumulate=False):
    """The out-of-place form of ``put_``."""
    return self.clone().put_(index, source, accumulate)


@op(method=False, samples=Samples([call(integers(4, high=12), (3, 4)), call(integers(high=24), (2, 3, 4)),
                                   call(integers(3, high=99), (3, 4)),
                                   call(integers(3, high=99, dtype="uint8"), (500, 600)), call(integers(3), 6)]))
def unravel_index(indices, shape):
    """Numbers of elements as an index tensor for each dimension of a shape."""
    if isinstance(shape, TensorBase) or not isinstance(shape, (tuple, list)) and not hasattr(shape, "__index__"):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    if indices.is_floating_point() or indices.is_complex() or indices.dtype.name == "bool":
        raise TypeError("expected 'indices' to be integer dtype, but got " + str(indices.dtype))
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    if not all(hasattr(size, "__index__") for size in shape):
        raise TypeError(f"expected 'shape' sequence to only contain ints, but got {shape}")
    if any(size < 0 for size in shape):
        raise ValueError(f"'shape' cannot have negative values, but got {shape}")
    rest, places = indices.to(int64)._ndarray(), []
    for size in reversed(shape):
        places.insert(0, wrap_ndarray(np.asarray(rest % max(size, 1))))
        rest = rest // max(size, 1)
    return tuple(places)
