"""Picking and writing slices along one dimension, and picking elements: index_select, index_add, gather and more."""
import numpy as np

from .._core import places as core
from .._core.declaring import inplace_op, op
from .._core.device import contiguous_format
from .._core.dtype import scalar_type
from .._core.factory import fitting
from .._core.tensor import TensorBase, wrap_ndarray
from . import _placing
from .samples import Draw, Samples, call, integers
from .shape import wrap


def check_index(t, message):
    if t.dtype.name not in ("int64", "int32"):
        raise RuntimeError(message)


def put_slices(x, d, places, values, how=None):
    """Write or reduce tensors or numbers into the slices that a checked int64 index names."""
    if core.put_slices(x, d, places, values, how) is None:
        array = x._ndarray() if x.dim() else x._ndarray().reshape(1)
        values = values._ndarray() if isinstance(values, TensorBase) else np.asarray(values, array.dtype)
        _placing.put_slices(array, d, places._ndarray().reshape(-1), values, how)


# ---------------------------------------------------------------- slices named by a vector of indices

@op(out=True, samples=Samples([call(Draw(3, 4), 0, integers(2)), call(Draw(3, 4), -1, integers(5, high=4)),
                               call(Draw(), 0, integers(1, high=1)), call(Draw(3, 4), 1, integers(high=4))], "number"),
    grads={"self": lambda g, self_shape, dim, index: index_add_zeros(g, self_shape, dim, index)})
def index_select(self, dim, index):
    """The slices along a dimension that a 1-d index tensor names."""
    d = wrap(dim, self.dim())
    if index.dim() > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    check_index(index, "index_select(): Expected dtype int32 or int64 for index")
    if self.dim() == 0 and index.numel() != 1:
        raise RuntimeError(f"index_select(): Index to scalar can have only 1 value, got {index.numel()} value(s)")
    if self.dim() and not self.shape[d] and index.numel():
        raise RuntimeError("index_select(): self indexing axis dim should be positive")
    places = core.checked(index, d, self.shape[d] if self.dim() else 1, "index out of range in self")
    if self.dim() == 0:
        return self.clone()
    places = places if index.dim() else places.reshape(1)
    if not self.is_contiguous() and places.numel() < self.shape[d] // 4:       # too few for a copy of the whole
        self = wrap_ndarray(self._ndarray()[(slice(None),) * d + (places._ndarray(),)])
        return self.contiguous()
    return core.select(self, d, places)


@op(method=False, function=False, grads={"grad": lambda g, dim, index: g.index_select(dim, index)})
def index_add_zeros(grad, shape, dim, index):
    """Slices of gradients added up in zeros of a shape."""
    result = grad.new_zeros(shape)
    if not shape:
        result.copy_(grad.sum())
        return result
    d = dim % len(shape)
    put_slices(result, d, core.checked(index, d, shape[d]), grad, "sum")
    return result


def check_slices(self, d, count, source, name):
    """Refuse a source that does not hold as many slices as there are indices, of the size of self's."""
    if name != "index_copy_" and (source.dim() not in (0, self.dim()) or source.dim() and any(
            a != b for i, (a, b) in enumerate(zip(self.shape, source.shape)) if i != d)):
        raise RuntimeError("source tensor shape must match self tensor shape, excluding the specified dimension. Got "
                           f"self.shape = {list(self.shape)} source.shape = {list(source.shape)}")
    n = source.shape[d] if source.dim() > d else 1
    if n != count:
        error = RuntimeError if name == "index_add_" else IndexError
        raise error(f"{name}(): Number of indices ({count}) should be equal to source.size(dim)"
                    + (f": ({n}), for dim: {d}" if name == "index_add_" else f" ({n})"))
    if self.dim() and source.dim() not in (0, self.dim()):
        raise IndexError(f"{name}(): When source and destination are not scalars, their dimensionality must match. "
                         f"Source dimensionality ({source.dim()}), destination dimensionality ({self.dim()})")
    if self.dim() and source.dim() or source.dim() > 1:
        ours, theirs = self.shape[:d] + self.shape[d + 1:], source.shape[:d] + source.shape[d + 1:]
        if ours != theirs:
            raise RuntimeError(f"{name}(): Source/destination tensor must have same slice shapes. Destination slice "
                               f"shape: {' '.join(map(str, ours))} at dimension {d} and source slice shape: "
                               f"{' '.join(map(str, theirs))} at dimension 0.")


def slices_of(self, dim, index, source, name):
    """The dimension, the places in it, and the values of source for these slices."""
    d = wrap(dim, self.dim())
    if index.dim() > 1:
        raise IndexError(f"{name}(): Index should have dimension 1 or 0 (got {index.dim()})")
    check_index(index, f"{name}(): Expected dtype int32/int64 for index but got: {scalar_type(index.dtype)}")
    if source.dtype is not self.dtype:
        raise RuntimeError(f"{name}(): self and source expected to have the same dtype, but got (self) "
                           f"{scalar_type(self.dtype)} and (source) {scalar_type(source.dtype)}")
    n = index.numel()
    check_slices(self, d, n, source, name)
    places = core.checked(index, d, self.shape[d] if self.dim() else 1)
    shape = self.shape or (1,)
    return d, places, source if source.dim() == len(shape) else source.reshape(shape[:d] + (n,) + shape[d + 1:])


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
    d, places, values = slices_of(self, dim, index, source, "index_add_")
    if alpha != 1:
        values = values._ndarray()
        values = wrap_ndarray(values * np.asarray(alpha).astype(values.dtype))
    put_slices(self, d, places, values, "sum")
    return self


@op(out=True, renames={"tensor": "source"}, samples=Samples(
    _slice_calls + [call(Draw(3, 4), 0, integers(2), Draw(2, 4), alpha=2),
                    call(Draw(3, 4), 0, integers(2), Draw(2, 4), alpha=-1)], "number"))
def index_add(self, dim, index, source, *, alpha=1):
    """The out-of-place form of ``index_add_``."""
    return self.clone(memory_format=contiguous_format).index_add_(dim, index, source, alpha=alpha)


@inplace_op(renames={"tensor": "source"}, samples=Samples(_distinct_calls, "number"),
            grads={"self": lambda g, dim, index: g.index_fill(dim, index, 0),
                   "source": lambda g, dim, index, source_shape: g.index_select(dim, index).reshape(source_shape)})
def index_copy_(self, dim, index, source):
    """``self[index[i]] = source[i]`` along a dimension."""
    put_slices(self, *slices_of(self, dim, index, source, "index_copy_"))
    return self


@op(out=True, renames={"tensor": "source"}, samples=Samples(_distinct_calls, "number"))
def index_copy(self, dim, index, source):
    """The out-of-place form of ``index_copy_``."""
    return self.clone(memory_format=contiguous_format).index_copy_(dim, index, source)


_fill_calls = [call(Draw(3, 4), 0, integers(2), 1), call(Draw(3, 4), 1, integers(2, low=-4, high=4), Draw()),
               call(Draw(3), 0, integers(), 0)]


@inplace_op(renames={"val": "value"}, minds_overlap=True, samples=Samples(_fill_calls, "number"),
            grads={"self": lambda g, dim, index: g.index_fill(dim, index, 0),
                   "value": lambda g, dim, index: (g - g.index_fill(dim, index, 0)).sum()})
def index_fill_(self, dim, index, value):
    """Set the slices along a dimension that an index tensor names."""
    d = wrap(dim, self.dim())
    if index.dim() > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    if index.dtype.name != "int64":
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    n = self.shape[d] if self.dim() else 1
    places = core.checked(index, d, n, None, -n)
    if isinstance(value, TensorBase):
        if value.dim():
            raise RuntimeError("index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
                               f"{value.dim()} dimension(s).")
        value = value.item()
    if isinstance(value, complex) and not self.is_complex():
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")
    put_slices(self, d, places, fitting(self, value, "index_fill_"))
    return self


@op(samples=Samples(_fill_calls, "number"), renames={"val": "value"})
def index_fill(self, dim, index, value):
    """The out-of-place form of ``index_fill_``."""
    return self.clone().index_fill_(dim, index, value)


# ---------------------------------------------------------------- elements named by a tensor of indices

def check_index_shape(x, d, index, name):
    if index.numel() == 0:
        return
    if max(index.dim(), 1) != max(x.dim(), 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as "
                           f"{'input' if name == 'gather' else 'self'} tensor")
    for i in range(index.dim()):
        if i != d and index.shape[i] > x.shape[i]:
            raise RuntimeError(f"Size does not match at dimension {i} expected index {list(index.shape)} to be no "
                               f"larger than self {list(x.shape)} apart from dimension {d}")


def outside(index, d, n):
    """Raise for places that do not all lie within dimension d of size n."""
    places = index._ndarray()
    low, high = int(places.min()), int(places.max())
    raise RuntimeError(f"index {low if low < 0 else high} is out of bounds for dimension {d} with size {n}")


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
    check_index(index, "gather(): Expected dtype int32/int64 for index")
    check_index_shape(self, d, index, "gather")
    result = core.gather(self, d, index)
    if result is None:
        outside(index, d, self.shape[d] if self.dim() else 1)
    return result


@op(out=True, samples=Samples([call(Draw(3, 4), integers(3, 1, high=4), 1), call(Draw(3, 4), integers(1, 4), 0),
                               call(Draw(3, 4), integers(5, high=12)),
                               call(Draw(3, 4), integers(3, 2, low=-4, high=4), 1)], "number"))
def take_along_dim(self, indices, dim=None):
    """Elements picked along a dimension; self and indices broadcast in the others."""
    if dim is None:
        return self.reshape(-1).gather(0, indices.reshape(-1))
    if indices.dim() != self.dim():
        raise RuntimeError("torch.take_along_dim(): input and indices should have the same number of dimensions, but "
                           f"got {self.dim()} dimensions for input, and {indices.dim()} dimensions for indices")
    d = wrap(dim, self.dim())
    if indices.dtype.name != "int64":
        raise RuntimeError("torch.take_along_dim(): dtype of indices should be Long but got "
                           f"{scalar_type(indices.dtype)}")
    from .shape import merged_shape
    shape = merged_shape([1 if i == d else n for i, n in enumerate(self.shape)],
                         [1 if i == d else n for i, n in enumerate(indices.shape)])
    sizes = [[x.shape[d] if i == d else n for i, n in enumerate(shape)] for x in (self, indices)]
    n = self.shape[d]
    return self.expand(sizes[0]).gather(d, (indices % n if n else indices).expand(sizes[1]))


