"""Writing to the elements that an index tensor names: scatter and its reductions; and index_reduce."""
import math

import numpy as np

from .._core import OPS
from .._core import places as core
from .._core.declaring import inplace_op, op
from .._core.device import contiguous_format
from .._core.dtype import float32, float64, int64
from .._core.factory import fitting, full
from .._core.tensor import TensorBase
from ._arguments import flag
from ._placing import put
from ._rules import where
from .along import check_index, check_index_shape, outside, put_slices, slices_of
from .samples import Draw, Samples, call, integers
from .shape import wrap


def _source(x, index, src, name):
    """What is written: a tensor at least as large as index, or a number."""
    if not isinstance(src, TensorBase):
        if src is None:
            raise TypeError(f"{name}() missing 1 required positional arguments: \"src\"")
        return fitting(x, src, name)
    if src.dtype is not x.dtype:
        raise RuntimeError(f"{name}(): Expected self.dtype to be equal to src.dtype")
    if any(i > s for i, s in zip(index.shape, src.shape)):
        raise RuntimeError(f"Expected index {list(index.shape)} to be no larger than self {list(x.shape)} apart from "
                           f"dimension 0 and to be no larger size than src {list(src.shape)}")
    return src


def _write(x, dim, index, src, name, reduce=None, include_self=True):
    """Write src to the places that index names, or reduce it into what is there."""
    if isinstance(src, TensorBase) and index.numel() and max(src.dim(), 1) != max(index.dim(), 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    d = wrap(dim, x.dim())
    check_index(index, f"{name}(): Expected dtype int32/int64 for index")
    check_index_shape(x, d, index, name)
    if not index.numel():
        return x
    values = _source(x, index, src, name)
    done = _reduce(_put, x, d, index, values, reduce, include_self) if reduce else _put(x, d, index, values)
    if not done:
        outside(index, d, x.shape[d] if x.dim() else 1)
    return x


def _put(x, d, index, values, how=None):
    """Whether values, a tensor or a number, could be written: no place lies outside."""
    done = core.put(x, d, index, values, how)
    if done is not None:
        return done
    array = x._ndarray() if x.dim() else x._ndarray().reshape(1)
    shape = index.shape or (1,)
    if isinstance(values, TensorBase):
        values = values._ndarray().reshape(values.shape or (1,))[tuple(slice(n) for n in shape)]
    else:
        values = np.asarray(values).astype(array.dtype)
    return put(array, d, index._ndarray().reshape(shape).astype(np.int64, copy=False), values, how)


def pad_to(g, shape):
    """A gradient of the first elements of each dimension as one of the whole."""
    for d, n in enumerate(shape):
        if g.shape[d] != n:
            g = OPS["torch.cat"]([g, g.new_zeros(g.shape[:d] + (n - g.shape[d],) + g.shape[d + 1:])], d)
    return g


def _picked(g, dim, index, shape):
    return pad_to(g.gather(dim, index), shape) if len(shape) == index.dim() else g.gather(dim, index).reshape(shape)


_unique_index = Draw(1, 4, low=0, high=3, dtype="int64")
_scatter_calls = [call(Draw(3, 4), 0, _unique_index, Draw(1, 4)), call(Draw(3, 4), 0, _unique_index, Draw(2, 5)),
                  call(Draw(3, 4), 1, Draw(3, 1, low=0, high=4, dtype="int64"), 1),
                  call(Draw(), 0, integers(high=1), 1)]


@inplace_op(renames={"value": "src"}, samples=Samples(_scatter_calls + [
                call(Draw(3, 4), 0, integers(2, 4), 2, reduce="add"),
                call(Draw(3, 4), 0, integers(2, 4), Draw(2, 4), reduce="multiply")], "number", gradcheck=False),
            grads={"self": lambda g, dim, index, reduce: _no_reduce(reduce, g.scatter(dim, index, 0)),
                   "src": lambda g, src_shape, dim, index: _picked(g, dim, index, src_shape)})
def scatter_(self, dim, index, src=None, *, reduce=None):
    """``self[index[i][j]][j] = src[i][j]`` for dim 0, and so on; src may be a number. reduce: "add" or "multiply"."""
    if reduce not in (None, "add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    return _write(self, dim, index, src, "scatter", {"add": "sum", "multiply": "prod"}.get(reduce))


def _no_reduce(reduce, g):
    if reduce is not None:
        raise NotImplementedError("scatter(reduce=): the derivative is not implemented; use scatter_reduce")
    return g


@op(out=True, renames={"value": "src"}, samples=Samples(_scatter_calls, "number"))
def scatter(self, dim, index, src, *, reduce=None):
    """The out-of-place form of ``scatter_``."""
    return self.clone(memory_format=contiguous_format).scatter_(dim, index, src, reduce=reduce)


_add_calls = [call(Draw(3, 4), 0, integers(2, 4), Draw(2, 4)), call(Draw(3, 4), 1, integers(2, 5, high=4), Draw(3, 5)),
              call(Draw(), 0, integers(high=1), Draw())]


@inplace_op(samples=Samples(_add_calls, "number"), grads={
    "self": lambda g: g, "src": lambda g, src_shape, dim, index: _picked(g, dim, index, src_shape)})
def scatter_add_(self, dim, index, src):
    """``self[index[i][j]][j] += src[i][j]`` for dim 0, and so on."""
    return _write(self, dim, index, src, "scatter_add", "sum")


@op(out=True, samples=Samples(_add_calls, "number"))
def scatter_add(self, dim, index, src):
    """The out-of-place form of ``scatter_add_``."""
    return self.clone(memory_format=contiguous_format).scatter_add_(dim, index, src)


# ---------------------------------------------------------------- scatter with other reductions

_REDUCTIONS = ("sum", "mean", "prod", "amax", "amin")
_EXACT = (float32, float64)                                   # they count far enough


def _neutral(reduce, dtype):
    """What changes nothing when reduced with."""
    if reduce in ("sum", "mean"):
        return 0
    if reduce == "prod" or dtype.name == "bool":
        return int(reduce in ("prod", "amin"))
    if dtype.is_floating_point:
        return -math.inf if reduce == "amax" else math.inf
    limits = np.iinfo(dtype.name)
    return int(limits.min if reduce == "amax" else limits.max)


def _reduce(put, x, d, index, values, reduce, include_self):
    """Reduce values by `put` into the named places, with what is there or without; False if one lies outside."""
    if not include_self and not put(x, d, index, _neutral(reduce, x.dtype)):
        return False
    if not put(x, d, index, values, "sum" if reduce == "mean" else reduce):
        return False
    if reduce == "mean":
        count = full(x.shape, int(include_self), dtype=x.dtype if x.dtype in _EXACT else int64)
        put(count, d, index, 1, "sum")
        array, count = x._ndarray(), np.maximum(count._ndarray(), 1)
        array[...] = array // count if array.dtype.kind in "iu" else array / count
    return True


_reduce_calls = [call(Draw(3, 4, distinct=True), 0, integers(2, 4), Draw(2, 4), how, include_self=keep)
                 for how in ("sum", "mean", "prod", "amax", "amin") for keep in (True, False)]


@inplace_op(samples=Samples(_reduce_calls, "real"), grads={
    "self": lambda g, self, dim, index, src, reduce, include_self, out: _reduce_grads(
        g, self, dim, index, src, reduce, include_self, out)[0],
    "src": lambda g, self, dim, index, src, reduce, include_self, out: _reduce_grads(
        g, self, dim, index, src, reduce, include_self, out)[1]})
def scatter_reduce_(self, dim, index, src, reduce, *, include_self=True):
    """Reduce elements of src into the places that index names: sum, prod, mean, amax or amin."""
    if reduce not in _REDUCTIONS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    flag(include_self)
    return _write(self, dim, index, src, "scatter_reduce", reduce, include_self)


def _reduce_grads(g, x, dim, index, src, reduce, include_self, out):
    """The gradients of self and src."""
    zeros = x.new_zeros(x.shape)
    counts = zeros.scatter_add(dim, index, src.new_ones(src.shape))
    untouched = counts == 0
    if reduce in ("sum", "mean"):
        if reduce == "mean":
            g = g / where(untouched.logical_or(counts == 0), 1, counts + int(include_self))
        own = g if include_self else where(untouched, g, 0)
        return own, _picked(g, dim, index, src.shape)
    if reduce == "prod":
        safe_x, safe_src = where(x == 0, 1, x), where(src == 0, 1, src)
        start = safe_x if include_self else zeros + 1
        product = start.scatter_reduce(dim, index, safe_src, "prod")
        zero_count = ((x == 0).to(x.dtype) if include_self else zeros).scatter_add(dim, index, (src == 0).to(x.dtype))
        own = where(zero_count == (x == 0).to(x.dtype), product / safe_x, 0) * g
        others = zero_count.gather(dim, index) == (_cut(src, index) == 0).to(x.dtype)
        theirs = where(others, (g * product).gather(dim, index) / _cut(safe_src, index), 0)
        return own if include_self else where(untouched, g, 0), pad_to(theirs, src.shape)
    mine = (x == out).to(g.dtype) if include_self else untouched.to(g.dtype)
    hits = (_cut(src, index) == out.gather(dim, index)).to(g.dtype)
    shares = g / where(untouched, 1, (mine if include_self else zeros).scatter_add(dim, index, hits))
    return (where(untouched, g, shares * mine if include_self else 0),
            pad_to(shares.gather(dim, index) * hits, src.shape))


def _cut(src, index):
    """The part of src that index reaches."""
    return src[tuple(slice(n) for n in index.shape)] if index.dim() else src


@op(out=True, samples=Samples(_reduce_calls, "real"))
def scatter_reduce(self, dim, index, src, reduce, *, include_self=True):
    """The out-of-place form of ``scatter_reduce_``."""
    return self.clone(memory_format=contiguous_format).scatter_reduce_(dim, index, src, reduce,
                                                                       include_self=include_self)


_index_reduce_calls = [call(Draw(3, 4, distinct=True), 0, integers(4), Draw(4, 4), how, include_self=keep)
                       for how in ("mean", "prod", "amax", "amin") for keep in (True, False)]


@inplace_op(samples=Samples(_index_reduce_calls, "real"), grads={
    "self": lambda g, self, dim, index, source, reduce, include_self, out: _reduce_grads(
        g, self, dim, _slice_index(self, dim, index, source), source, reduce, include_self, out)[0],
    "source": lambda g, self, dim, index, source, reduce, include_self, out: _reduce_grads(
        g, self, dim, _slice_index(self, dim, index, source), source, reduce, include_self, out)[1]})
def index_reduce_(self, dim, index, source, reduce, *, include_self=True):
    """Reduce the slices of source into those of self that index names: mean, prod, amax or amin."""
    if reduce not in ("mean", "prod", "amax", "amin"):
        raise RuntimeError(f"reduce argument must be either prod, mean, amax or amin, got {reduce}.")
    flag(include_self)
    d, places, values = slices_of(self, dim, index, source, "index_reduce_")
    _reduce(_put_slices, self, d, places, values, reduce, include_self)
    return self


def _put_slices(x, d, places, values, how=None):
    put_slices(x, d, places, values, how)
    return True


def _slice_index(x, dim, index, source):
    """The indices of slices as ``scatter`` takes them: one for each element of source."""
    if not source.dim():
        return index.reshape(())
    shape = [1] * source.dim()
    shape[wrap(dim, x.dim())] = -1
    return index.reshape(shape).expand(source.shape)


@op(out=True, samples=Samples(_index_reduce_calls, "real"))
def index_reduce(self, dim, index, source, reduce, *, include_self=True):
    """The out-of-place form of ``index_reduce_``."""
    return self.clone(memory_format=contiguous_format).index_reduce_(dim, index, source, reduce,
                                                                     include_self=include_self)
