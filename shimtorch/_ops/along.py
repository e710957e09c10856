"""Picking and writing along one dimension: index_select, gather, scatter and their kin."""
import numpy as np

from .._core import OPS
from .._core.declaring import inplace_op, op
from .._core.device import contiguous_format
from .._core.dtype import scalar_type
from .._core.factory import fitting
from .._core.tensor import TensorBase, wrap_ndarray
from .._kernels import along as kernels
from ._rules import where
from .indexing import WORDS, add_at
from .samples import Draw, Samples, call, integers
from .shape import wrap

_ADDED = ("float32", "float64", "uint8", "int8", "int16", "int32", "int64")


def _in_three(array, d):
    """A contiguous array as (before dimension d, d, after it)."""
    shape = array.shape
    outer = inner = 1
    for n in shape[:d]:
        outer *= n
    for n in shape[d + 1:]:
        inner *= n
    return array.reshape(outer, shape[d], inner)


def _add_slices(array, d, places, values):
    """``array[places[i]] += values[i]`` along dimension d."""
    if (array.dtype.name in _ADDED and array.flags.c_contiguous and values.shape[:d] == array.shape[:d]
            and values.shape[d + 1:] == array.shape[d + 1:]):
        kernels.index_add(_in_three(array, d), places.astype(np.int64, copy=False),
                          _in_three(np.ascontiguousarray(values), d))
    else:
        add_at(array, (slice(None),) * d + (places,), values)


def _index_array(t, message):
    if t.dtype.name not in ("int64", "int32"):
        raise RuntimeError(message)
    return t._ndarray()


def _check_range(a, n, dim, message=None, low=0):
    """Indices must lie in [low, n)."""
    if a.size:
        least, most = int(a.min()), int(a.max())
        if least < low or most >= n:
            bad = least if least < low else most
            raise IndexError(message or f"index {bad} is out of bounds for dimension {dim} with size {n}")


# ---------------------------------------------------------------- slices named by a vector of indices

@op(out=True, samples=Samples([call(Draw(3, 4), 0, integers(2)), call(Draw(3, 4), -1, integers(5, high=4)),
                               call(Draw(), 0, integers(1, high=1)), call(Draw(3, 4), 1, integers(high=4))], "number"),
    grads={"self": lambda g, self_shape, dim, index: index_add_zeros(g, self_shape, dim, index)})
def index_select(self, dim, index):
    """The slices along a dimension that a 1-d index tensor names."""
    d = wrap(dim, self.dim())
    if index.dim() > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    places = _index_array(index, "index_select(): Expected dtype int32 or int64 for index").reshape(-1)
    _check_range(places, self.shape[d] if self.dim() else 1, d, "index out of range in self")
    if self.dim() == 0:
        if places.size != 1:
            raise RuntimeError("index_select(): Index to scalar can have only 1 value")
        return self.clone()
    if not self.is_contiguous() or self.element_size() not in WORDS:
        return wrap_ndarray(self._ndarray().take(places, axis=d))
    result, word = self.new_empty(self.shape[:d] + (places.size,) + self.shape[d + 1:]), WORDS[self.element_size()]
    kernels.pick(_in_three(self._ndarray().view(word), d), np.ascontiguousarray(places, np.int64),
                 _in_three(result._ndarray().view(word), d))
    return result


@op(method=False, function=False, grads={"grad": lambda g, dim, index: g.index_select(dim, index)})
def index_add_zeros(grad, shape, dim, index):
    """Slices of gradients added up in zeros of a shape."""
    result = grad.new_zeros(shape)
    if not shape:
        result.copy_(grad.sum())
        return result
    _add_slices(result._ndarray(), dim % len(shape), index._ndarray().reshape(-1), grad._ndarray())
    return result


def check_slices(self, d, count, source, name):
    """Refuse a source that does not hold as many slices as there are indices, of the size of self's."""
    if name == "index_add_" and self.dim() and source.dim() not in (0, self.dim()):
        raise RuntimeError("source tensor shape must match self tensor shape, excluding the specified dimension. Got "
                           f"self.shape = {list(self.shape)} source.shape = {list(source.shape)}")
    n = source.shape[d] if source.dim() > d else 1
    if n != count:
        error = RuntimeError if name == "index_add_" else IndexError
        raise error(f"{name}(): Number of indices ({count}) should be equal to source.size(dim)"
                    + (f": ({n}), for dim: {d}" if name == "index_add_" else f" ({n})"))
    if self.dim() and source.dim():
        ours, theirs = self.shape[:d] + self.shape[d + 1:], source.shape[:d] + source.shape[d + 1:]
        if ours != theirs:
            raise RuntimeError(f"{name}(): Source/destination tensor must have same slice shapes. Destination slice "
                               f"shape: {' '.join(map(str, ours))} at dimension {d} and source slice shape: "
                               f"{' '.join(map(str, theirs))} at dimension 0.")


def _slices(self, dim, index, source, name):
    """Dimension, indices, and the values of source shaped to be written to those slices of self."""
    d = wrap(dim, self.dim())
    if index.dim() > 1:
        raise IndexError(f"{name}(): Index should have dimension 1 or 0 (got {index.dim()})")
    places = _index_array(index, f"{name}(): Expected dtype int32/int64 for index but got: "
                          f"{scalar_type(index.dtype)}").reshape(-1)
    if source.dtype is not self.dtype:
        raise RuntimeError(f"{name}(): self and source expected to have the same dtype, but got (self) "
                           f"{scalar_type(self.dtype)} and (source) {scalar_type(source.dtype)}")
    _check_range(places, self.shape[d] if self.dim() else 1, d)
    check_slices(self, d, places.size, source, name)
    values = source._ndarray()
    return (slice(None),) * d + (places,) if self.dim() else (), values if self.dim() == source.dim() else (
        values.reshape(()) if not self.dim() else values.reshape(self._ndarray()[(slice(None),) * d + (places,)].shape))


_slice_calls = [call(Draw(3, 4), 0, integers(2, low=1), Draw(2, 4)),
                call(Draw(3, 4), -1, integers(3, high=4), Draw(3, 3)),
                call(Draw(3), 0, integers(), Draw(1))]
_distinct_calls = [call(Draw(3, 4), 0, Draw(2, distinct=True, dtype="int64"), Draw(2, 4)),
                   call(Draw(3, 4), -1, Draw(3, distinct=True, dtype="int64"), Draw(3, 3)),
                   call(Draw(3), 0, integers(), Draw(1))]


@inplace_op(renames={"tensor": "source"}, samples=Samples(_slice_calls, "number"),
            grads={"self": lambda g: g, "source": lambda g, dim, index, alpha, source_shape: (
                g.index_select(dim, index) * alpha).reshape(source_shape)})
def index_add_(self, dim, index, source, *, alpha=1):
    """``self[index[i]] += alpha * source[i]`` along a dimension."""
    places, values = _slices(self, dim, index, source, "index_add_")
    values = values if alpha == 1 else values * np.asarray(alpha).astype(values.dtype)
    if places and isinstance(places[-1], np.ndarray):
        _add_slices(self._ndarray(), len(places) - 1, np.ascontiguousarray(places[-1]), values)
    else:
        add_at(self._ndarray(), places, values)
    return self


@op(out=True, renames={"tensor": "source"}, samples=Samples(
    _slice_calls + [call(Draw(3, 4), 0, integers(2), Draw(2, 4), alpha=2),
                    call(Draw(3, 4), 0, integers(2), Draw(2, 4), alpha=-1)], "number"))
def index_add(self, dim, index, source, *, alpha=1):
    """The out-of-place form of ``index_add_``."""
    return self.clone().index_add_(dim, index, source, alpha=alpha)


@inplace_op(renames={"tensor": "source"}, samples=Samples(_distinct_calls, "number"),
            grads={"self": lambda g, dim, index: g.index_fill(dim, index, 0),
                   "source": lambda g, dim, index, source_shape: g.index_select(dim, index).reshape(source_shape)})
def index_copy_(self, dim, index, source):
    """``self[index[i]] = source[i]`` along a dimension."""
    places, values = _slices(self, dim, index, source, "index_copy_")
    self._ndarray()[places] = values
    return self


@op(out=True, renames={"tensor": "source"}, samples=Samples(_distinct_calls, "number"))
def index_copy(self, dim, index, source):
    """The out-of-place form of ``index_copy_``."""
    return self.clone().index_copy_(dim, index, source)


_fill_calls = [call(Draw(3, 4), 0, integers(2), 1), call(Draw(3, 4), 1, integers(2, low=-4, high=4), Draw()),
               call(Draw(3), 0, integers(), 0)]


@inplace_op(renames={"val": "value"}, samples=Samples(_fill_calls, "number"),
            grads={"self": lambda g, dim, index: g.index_fill(dim, index, 0),
                   "value": lambda g, dim, index: (g - g.index_fill(dim, index, 0)).sum()})
def index_fill_(self, dim, index, value):
    """Set the slices along a dimension that an index tensor names."""
    d = wrap(dim, self.dim())
    if index.dim() > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    places = _index_array(index, "index_fill_(): Expected dtype int64 for index.").reshape(-1)
    n = self.shape[d] if self.dim() else 1
    _check_range(places, n, d, low=-n)
    if isinstance(value, TensorBase):
        if value.dim():
            raise RuntimeError("index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
                               f"{value.dim()} dimension(s).")
        value = value.item()
    if isinstance(value, complex) and not self.is_complex():
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")
    array = self._ndarray()
    number = np.asarray(fitting(self, value, "index_fill_"))
    array[(slice(None),) * d + (places,) if self.dim() else ()] = number.astype(array.dtype)
    return self


@op(samples=Samples(_fill_calls, "number"), renames={"val": "value"})
def index_fill(self, dim, index, value):
    """The out-of-place form of ``index_fill_``."""
    return self.clone().index_fill_(dim, index, value)


# ---------------------------------------------------------------- elements named by a tensor of indices

def _check_index_shape(x, d, index, name):
    if index.numel() == 0:
        return
    if max(index.dim(), 1) != max(x.dim(), 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as "
                           f"{'input' if name == 'gather' else 'self'} tensor")
    for i in range(index.dim()):
        if i != d and index.shape[i] > x.shape[i]:
            raise RuntimeError(f"Size does not match at dimension {i} expected index {list(index.shape)} to be no "
                               f"larger than self {list(x.shape)} apart from dimension {d}")


def _others_alike(x, index, d):
    """Whether two tensors have the same size in all dimensions but d."""
    return x.dim() == index.dim() > 0 and all(
        a == b or i == d for i, (a, b) in enumerate(zip(x.shape, index.shape)))


def _along(array, d):
    """NumPy's index for elements picked along dimension d, at the other dimensions' own places."""
    grid = list(np.ogrid[tuple(slice(n) for n in array.shape)])
    grid[d] = array
    return tuple(grid)


def _element_places(x, dim, index, name):
    d = wrap(dim, x.dim())
    places = _index_array(index, f"{name}(): Expected dtype int32/int64 for index")
    _check_index_shape(x, d, index, name)
    n = x.shape[d] if x.dim() else 1
    if places.size:
        low, high = int(places.min()), int(places.max())
        if low < 0 or high >= n:
            raise RuntimeError(f"index {low if low < 0 else high} is out of bounds for dimension {d} with size {n}")
    return _along(places, d) if places.ndim else (places,)


@op(out=True, samples=Samples([
        call(Draw(3, 4), 1, integers(3, 2, high=4)), call(Draw(3, 4), 0, integers(2, 4)), call(Draw(3), 0, integers()),
        call(Draw(), 0, integers(1, high=1)), call(Draw(2, 3, 4), 2, integers(1, 2, 5, high=4))], "number"),
    grads={"self": lambda g, self_shape, dim, index: g.new_zeros(self_shape).scatter_add(dim, index, g)
           if index.numel() else g.new_zeros(self_shape)})
def gather(self, dim, index, *, sparse_grad=False):
    """``out[i][j] = self[index[i][j]][j]`` for dim 0, and so on: elements picked along a dimension."""
    if index.numel() == 0:
        return self.new_empty(index.shape)
    d = wrap(dim, self.dim())
    if _others_alike(self, index, d) and index.dtype.name in ("int64", "int32"):
        result = self.new_empty(index.shape)
        word = WORDS[self.element_size()]
        if kernels.gather(*(_in_three(np.ascontiguousarray(x), d) for x in (
                self._ndarray().view(word), index._ndarray().astype(np.int64, copy=False))),
                _in_three(result._ndarray().view(word), d)):
            return result
    places = _element_places(self, dim, index, "gather")         # which says what is wrong, if anything is
    return wrap_ndarray(np.asarray(self._ndarray().reshape(self.shape or (1,))[places]).reshape(index.shape))


@op(out=True, samples=Samples([call(Draw(3, 4), integers(3, 1, high=4), 1), call(Draw(3, 4), integers(1, 4), 0),
                               call(Draw(3, 4), integers(5, high=12)),
                               call(Draw(3, 4), integers(3, 2, low=-4, high=4), 1)], "number"))
def take_along_dim(self, indices, dim=None):
    """Elements picked along a dimension; self and indices broadcast in the others."""
    if dim is None:
        return self.reshape(-1).gather(0, indices.reshape(-1))
    d = wrap(dim, self.dim())
    if indices.dim() != self.dim():
        raise RuntimeError("torch.take_along_dim(): input and indices should have the same number of dimensions, but "
                           f"got {self.dim()} dimensions for input, and {indices.dim()} dimensions for indices")
    if indices.dtype.name != "int64":
        raise RuntimeError("torch.take_along_dim(): dtype of indices should be Long but got "
                           f"{scalar_type(indices.dtype)}")
    from .shape import merged_shape
    shape = merged_shape([1 if i == d else n for i, n in enumerate(self.shape)],
                         [1 if i == d else n for i, n in enumerate(indices.shape)])
    sizes = [[x.shape[d] if i == d else n for i, n in enumerate(shape)] for x in (self, indices)]
    n = self.shape[d]
    return self.expand(sizes[0]).gather(d, (indices % n if n else indices).expand(sizes[1]))


# ---------------------------------------------------------------- scatter

def _source_values(x, index, src, name):
    if not isinstance(src, TensorBase):
        if src is None:
            raise TypeError(f"{name}() missing 1 required positional arguments: \"src\"")
        return np.asarray(fitting(x, src, name)).astype(x._ndarray().dtype)
    if src.dtype is not x.dtype:
        raise RuntimeError(f"{name}(): Expected self.dtype to be equal to src.dtype")
    if any(i > s for i, s in zip(index.shape, src.shape)):
        raise RuntimeError(f"Expected index {list(index.shape)} to be no larger than self {list(x.shape)} apart from "
                           f"dimension 0 and to be no larger size than src {list(src.shape)}")
    values = src._ndarray().reshape(src.shape or (1,))
    return values[tuple(slice(n) for n in index.shape or (1,))].reshape(index.shape)


def _write(x, dim, index, src, name, how):
    """Write src to the places that index names: how(array, places, values)."""
    if isinstance(src, TensorBase) and index.numel() and max(src.dim(), 1) != max(index.dim(), 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    places = _element_places(x, dim, index, name)
    if index.numel():
        values = _source_values(x, index, src, name)
        how(x._ndarray().reshape(x.shape or (1,)) if x.is_contiguous() else x._ndarray(), places, values)
    return x


def _assign(array, places, values):
    array[places] = values


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
    how = {"add": add_at, "multiply": np.multiply.at}.get(reduce, _assign)
    return _write(self, dim, index, src, "scatter", how)


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
    if (isinstance(src, TensorBase) and src.dtype is self.dtype and self.dtype.name in _ADDED and self.is_contiguous()
            and index.numel() and src.shape == index.shape and self.dim()
            and _others_alike(self, index, wrap(dim, self.dim()))):
        d = wrap(dim, self.dim())
        _element_places(self, d, index, "scatter_add")
        kernels.scatter_add(_in_three(self._ndarray(), d), *(_in_three(np.ascontiguousarray(x), d) for x in (
            index._ndarray().astype(np.int64, copy=False), src._ndarray())))
        return self
    return _write(self, dim, index, src, "scatter_add", add_at)


@op(out=True, samples=Samples(_add_calls, "number"))
def scatter_add(self, dim, index, src):
    """The out-of-place form of ``scatter_add_``."""
    return self.clone().scatter_add_(dim, index, src)


# ---------------------------------------------------------------- scatter with other reductions

_REDUCERS = {"sum": add_at, "mean": add_at, "prod": np.multiply.at, "amax": np.maximum.at, "amin": np.minimum.at}


def _neutral(reduce, dtype):
    """What changes nothing when reduced with."""
    if reduce in ("sum", "mean"):
        return 0
    if reduce == "prod" or dtype.kind == "b":
        return reduce in ("prod", "amin")
    limits = np.iinfo(dtype) if dtype.kind in "iu" else None
    if reduce == "amax":
        return limits.min if limits else -np.inf
    return limits.max if limits else np.inf


def reduce_at(array, places, values, reduce, include_self):
    """Reduce values into the named places of an array, with what is there or without."""
    if reduce not in _REDUCERS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if not include_self:
        array[places] = _neutral(reduce, array.dtype)
    _REDUCERS[reduce](array, places, values)
    if reduce == "mean":
        count = np.full(array.shape, int(include_self))
        np.add.at(count, places, 1)
        count[count == 0] = 1
        array[...] = array // count if array.dtype.kind in "iu" else array / count


_reduce_calls = [call(Draw(3, 4, distinct=True), 0, integers(2, 4), Draw(2, 4), how, include_self=keep)
                 for how in ("sum", "mean", "prod", "amax", "amin") for keep in (True, False)]


@inplace_op(samples=Samples(_reduce_calls, "real"), grads={
    "self": lambda g, self, dim, index, src, reduce, include_self, out: _reduce_grads(
        g, self, dim, index, src, reduce, include_self, out)[0],
    "src": lambda g, self, dim, index, src, reduce, include_self, out: _reduce_grads(
        g, self, dim, index, src, reduce, include_self, out)[1]})
def scatter_reduce_(self, dim, index, src, reduce, *, include_self=True):
    """Reduce elements of src into the places that index names: sum, prod, mean, amax or amin."""
    return _write(self, dim, index, src, "scatter_reduce", lambda array, places, values: reduce_at(
        array, places, values, reduce, include_self))


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
    return self.clone().scatter_reduce_(dim, index, src, reduce, include_self=include_self)


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
    places, values = _slices(self, dim, index, source, "index_reduce_")
    reduce_at(self._ndarray(), places, values, reduce, include_self)
    return self


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
    return self.clone().index_reduce_(dim, index, source, reduce, include_self=include_self)
