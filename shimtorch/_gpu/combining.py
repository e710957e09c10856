"""Writing to the slices, elements and places that indices name, on a device: index_add_ and its kin, put_ and take,
masked_scatter_, scatter with reductions."""
import math

from .._core.dtype import bool as bool_dtype
from .._core.dtype import int64, scalar_type
from .._core.tensor import TensorBase
from .._ops.along import check_slices
from .._ops.shape import wrap
from . import _device, indexing

_MODES = {"sum": _device.ADD, "mean": _device.ADD, "prod": _device.MULTIPLY, "amax": _device.GREATEST,
          "amin": _device.LEAST}


# ---------------------------------------------------------------- slices

def _check_operands(x, d, index, source, name):
    if index.dim() > 1:
        raise IndexError(f"{name}(): Index should have dimension 1 or 0 (got {index.dim()})")
    if index.dtype.name not in ("int64", "int32"):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index but got: {scalar_type(index.dtype)}")
    if source.dtype is not x.dtype:
        raise RuntimeError(f"{name}(): self and source expected to have the same dtype, but got (self) "
                           f"{scalar_type(x.dtype)} and (source) {scalar_type(source.dtype)}")
    check_slices(x, d, index.numel(), source, name)


def _to_slices(x, dim, index, source, mode, name):
    d = wrap(dim, x.dim())
    _check_operands(x, d, index, source, name)
    whole = x if x.dim() else x.reshape(1)
    shape, strides, indices = indexing._along(whole, d, index)
    values = source.reshape(shape)
    _device.look_up(mode, values, whole, shape, values.stride(), strides, indices)
    return x


def index_add_(self, dim, index, source, *, alpha=1):
    """``self[index[i]] += alpha * source[i]`` along a dimension."""
    return _to_slices(self, dim, index, source if alpha == 1 else (source * alpha).to(source.dtype), _device.ADD,
                      "index_add_")


def index_copy_(self, dim, index, source):
    """``self[index[i]] = source[i]`` along a dimension."""
    return _to_slices(self, dim, index, source, _device.PUT, "index_copy_")


def index_fill_(self, dim, index, value):
    """Set the slices along a dimension that an index tensor names."""
    d = wrap(dim, self.dim())
    if index.dim() > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    if index.dtype.name not in ("int64", "int32"):
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if isinstance(value, TensorBase):
        if value.dim():
            raise RuntimeError("index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
                               f"{value.dim()} dimension(s).")
        value = value.item()
    if isinstance(value, complex) and not self.is_complex():
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")
    whole = self if self.dim() else self.reshape(1)
    shape, strides, indices = indexing._along(whole, d, index)
    values = self.new_full((), value).expand(shape)
    _device.look_up(_device.PUT, values, whole, shape, values.stride(), strides, indices, True)
    return self


def index_reduce_(self, dim, index, source, reduce, *, include_self=True):
    """Reduce the slices of source into those of self that index names: mean, prod, amax or amin."""
    if reduce not in ("mean", "prod", "amax", "amin"):
        raise RuntimeError(f"reduce argument must be either prod, mean, amax or amin, got {reduce}.")
    d = wrap(dim, self.dim())
    _check_operands(self, d, index, source, "index_reduce_")
    if not self.dim():
        return _reduced(self, 0, index.reshape(()), source.reshape(()), reduce, include_self)
    shape = [1] * self.dim()
    shape[d] = -1
    values = source.reshape([index.numel() if i == d else n for i, n in enumerate(self.shape)])
    return _reduced(self, d, index.reshape(shape).expand(values.shape), values, reduce, include_self)


# ---------------------------------------------------------------- elements along a dimension

def scatter_(self, dim, index, src=None, *, reduce=None):
    """Write src to the elements that index names along a dimension; reduce: "add" or "multiply" into them."""
    if reduce not in (None, "add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    mode = {"add": _device.ADD, "multiply": _device.MULTIPLY}.get(reduce, _device.PUT)
    return indexing._scatter(self, dim, index, src, "scatter", mode)


def scatter_reduce_(self, dim, index, src, reduce, *, include_self=True):
    """Reduce elements of src into the places that index names: sum, prod, mean, amax or amin."""
    if reduce not in _MODES:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    return _reduced(self, dim, index, src, reduce, include_self)


def _reduced(x, dim, index, src, reduce, include_self):
    if not index.numel():
        return x
    if not include_self:
        indexing._scatter(x, dim, index, _neutral(reduce, x.dtype), "scatter_reduce", _device.PUT)
    indexing._scatter(x, dim, index, src, "scatter_reduce", _MODES[reduce])
    if reduce == "mean":
        count = x.new_full(x.shape, int(include_self), dtype=int64)
        indexing._scatter(count, dim, index, 1, "scatter_reduce", _device.ADD)
        count.clamp_(min=1)
        count = count.to(x.dtype)
        x.copy_(x / count if x.is_floating_point() or x.is_complex() else x.div(count, rounding_mode="floor"))
    return x


def _neutral(reduce, dtype):
    """What changes nothing when reduced with."""
    if reduce in ("sum", "mean"):
        return 0
    if reduce == "prod" or dtype is bool_dtype:
        return int(reduce in ("prod", "amin"))
    if dtype.is_floating_point:
        return -math.inf if reduce == "amax" else math.inf
    bits, signed = 8 * dtype.itemsize, not dtype.name.startswith("u")
    least, greatest = (-1 << bits - 1 if signed else 0), (1 << bits - signed) - 1
    return least if reduce == "amax" else greatest


# ---------------------------------------------------------------- elements by number

def _flat_index(index, n, name):
    if index.dtype.name != "int64":
        raise RuntimeError(f"{name}(): Expected a long tensor for index, but got {scalar_type(index.dtype)}")
    if index.numel() and n == 0:
        raise IndexError(f"{name}(): tried to {'take from' if name == 'take' else 'put elements into'} an empty tensor")


def _out_of_range(error, n):
    return IndexError(f"out of range: tried to access index {str(error).split()[1]} on a tensor of {n} elements.")


def take(self, index):
    """The elements at places counted as if the tensor were 1-d."""
    flat = self.reshape(-1)
    _flat_index(index, flat.numel(), "take")
    try:
        return flat[index]
    except IndexError as error:
        raise _out_of_range(error, flat.numel()) from None


def put_(self, index, source, accumulate=False):
    """Write source to places counted as if the tensor were 1-d; add it if ``accumulate``."""
    if source.numel() != index.numel():
        raise IndexError("put_(): Expected source and index to have the same number of elements, but got "
                         f"source.numel() = {source.numel()}, index.numel() = {index.numel()}")
    if source.dtype is not self.dtype:
        raise RuntimeError("put_(): self and source expected to have the same dtype, but got self.dtype = "
                           f"{scalar_type(self.dtype)} and source.dtype = {scalar_type(source.dtype)}")
    _flat_index(index, self.numel(), "put_")
    flat = self.reshape(-1)                # a copy, if self is not contiguous
    try:
        indexing.index_put_(flat, [index.reshape(-1)], source.reshape(-1), accumulate)
    except IndexError as error:
        raise _out_of_range(error, self.numel()) from None
    return self if self.is_contiguous() else self.copy_(flat.reshape(self.shape))


def masked_scatter_(self, mask, source):
    """Write the elements of source, in order, to the places where the mask is true."""
    if mask.dtype.name not in ("bool", "uint8"):
        raise RuntimeError("masked_scatter_ only supports boolean masks, but got mask with dtype "
                           f"{scalar_type(mask.dtype)}")
    if source.dtype is not self.dtype:
        raise RuntimeError("masked_scatter: expected self and source to have same dtypes but got"
                           f"{scalar_type(self.dtype)} and {scalar_type(source.dtype)}")
    places = indexing.places(mask.expand(self.shape))
    if places.numel() > source.numel():
        raise RuntimeError("Number of elements of source < number of ones in mask")
    return put_(self, places, source.reshape(-1)[:places.numel()])
