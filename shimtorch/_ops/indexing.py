"""Indexing with tensors, masks and sequences; assignment; gather, scatter and their kin."""
import numpy as np

from .._core import OPS, indexing
from .._core.device import strided
from .._core.indexing import slice_bounds
from .._core.op import inplace_op, op
from .._core.policy import policy
from .._core.tensor import TensorBase, bind_operator, wrap_ndarray
from .samples import Draw, Samples, call
from .shape import slice_


# ---------------------------------------------------------------- x[index]

def _general_getitem(x, index):
    """``x[index]`` as a chain of recorded views and, for tensors and masks, one ``index`` op."""
    if x.layout is not strided:
        from .sparse import sparse_getitem
        return sparse_getitem(x, index)
    view, tensors = _split_index(x, index)
    return view if tensors is None else OPS["torch.index"](view, tensors)


def _split_index(x, index):
    """The basic part of an index applied as views; what remains is a list of index tensors per dimension, or None."""
    items = _as_items(index)
    used = sum(_dims_of(item) for item in items)
    if used > x.dim():
        raise IndexError(f"too many indices for tensor of dimension {x.dim()}") if x.dim() or len(
            items) > 1 else indexing.zero_dim_error()
    tensors, dim, advanced = [], 0, False
    for position, item in enumerate(items):
        if item is Ellipsis:
            skip = x.dim() - dim - sum(_dims_of(i) for i in items[position + 1:])
            dim += skip
            tensors += [None] * skip
        elif item is None:
            x = x.unsqueeze(dim)
            tensors.append(None)
            dim += 1
        elif isinstance(item, slice):
            start, length, step = slice_bounds(_plain_slice(item), x.shape[dim])
            if length != x.shape[dim] or step != 1:
                x = slice_(x, dim, start, length, step)
            tensors.append(None)
            dim += 1
        elif isinstance(item, bool):
            x = x.unsqueeze(dim)
            tensors.append(wrap_ndarray(np.zeros(int(item), dtype=np.int64)))
            advanced, dim = True, dim + 1
        elif isinstance(item, int):
            n = x.shape[dim]
            if not -n <= item < n:
                raise IndexError(f"index {item} is out of bounds for dimension {dim} with size {n}")
            x = x.select(dim, item)
        else:
            parts = _index_tensors(item, x, dim)
            tensors += parts
            advanced, dim = True, dim + len(parts)
    if not advanced:
        return x, None
    return x, tensors


def _plain_slice(s):
    return slice(*(int(v) if isinstance(v, TensorBase) else v for v in (s.start, s.stop, s.step)))


def _as_items(index):
    """The index as a list of ints, bools, slices, None, Ellipsis and tensors; one Ellipsis at most."""
    if isinstance(index, tuple):
        items = list(index)
    elif isinstance(index, list) and any(isinstance(i, (slice, TensorBase, list, tuple)) or i is None or i is Ellipsis
                                         for i in index) and len(index) < 32 and not all(
                                             isinstance(i, (list, tuple)) for i in index):
        items = list(index)            # a list with slices or tensors in it counts as a tuple
    else:
        items = [index]
    result, dots = [], False
    for item in items:
        if item is Ellipsis:
            if dots:
                item = slice(None)     # further ones stand for one full dimension each
            dots = True
        elif isinstance(item, TensorBase):
            item = _tensor_item(item)
        elif isinstance(item, (list, tuple, range)):
            item = _list_index(list(item))
        elif isinstance(item, np.ndarray):
            item = _tensor_item(wrap_ndarray(np.ascontiguousarray(item)))
        elif isinstance(item, np.bool_):
            item = bool(item)
        elif item is not None and not isinstance(item, (int, slice, bool)):
            if isinstance(item, str) or not hasattr(item, "__index__"):
                raise IndexError(f"only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are "
                                 f"valid indices (got {type(item).__name__})")
            item = item.__index__()
        result.append(item)
    return result


def _list_index(data):
    """An index given as a nested list."""
    from .._core.factory import from_data
    if not data:
        return wrap_ndarray(np.zeros(0, dtype=np.int64))
    t = from_data(data)
    return _check_index_dtype(t)


def _tensor_item(t):
    _check_index_dtype(t)
    if t.dim() == 0 and t.dtype.name not in ("bool", "uint8"):
        return int(t)
    if t.dim() == 0 and t.dtype.name == "bool":
        return bool(t)
    return t


def _check_index_dtype(t):
    if t.dtype.name not in ("int64", "int32", "int16", "int8", "uint8", "bool"):
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    return t


def _dims_of(item):
    """How many dimensions of the indexed tensor an item takes."""
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    if isinstance(item, TensorBase) and item.dtype.name in ("bool", "uint8"):
        return item.dim()
    return 1


def _index_tensors(t, x, dim):
    """The int64 index tensors of an index tensor or mask."""
    if t.dtype.name not in ("bool", "uint8"):
        return [t if t.dtype.name == "int64" else t.long()]
    if t.dtype.name == "uint8" and policy.byte_mask_warning:
        import warnings
        warnings.warn("indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.",
                      UserWarning, stacklevel=4)
    for i in range(t.dim()):
        if t.shape[i] != x.shape[dim + i]:
            raise IndexError(f"The shape of the mask {list(t.shape)} at index {i} does not match the shape of the "
                             f"indexed tensor {list(x.shape)} at index {dim + i}")
    return [wrap_ndarray(p) for p in np.nonzero(t._ndarray())]


def _numpy_index(x, tensors):
    """Index tensors as what NumPy indexes with; bounds are checked with torch's messages."""
    index = []
    for d, t in enumerate(tensors):
        if t is None:
            index.append(slice(None))
            continue
        a = t._ndarray()
        if a.size and x.shape[d] >= 0:
            low, high = int(a.min()), int(a.max())
            if low < -x.shape[d] or high >= x.shape[d]:
                raise IndexError(f"index {high if high >= x.shape[d] else low} is out of bounds for dimension {d} with "
                                 f"size {x.shape[d]}")
        index.append(a)
    try:
        np.broadcast_shapes(*(a.shape for a in index if not isinstance(a, slice)))
    except ValueError:
        shapes = ", ".join(str(list(a.shape)) for a in index if not isinstance(a, slice))
        raise IndexError(f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}"
                         ) from None
    return tuple(index)


_index_samples = Samples([])


@op(method=False, function=False, takes_list=True, samples=_index_samples,
    grads={"self": lambda g, self_shape, indices: _index_put_zeros(g, self_shape, indices)})
def index(self, indices):
    """The elements that index tensors name, as NumPy's advanced indexing."""
    where = _numpy_index(self, indices)
    array = self._ndarray()
    if sum(not isinstance(w, slice) for w in where) == 1:
        d = next(i for i, w in enumerate(where) if not isinstance(w, slice))
        return wrap_ndarray(array.take(where[d], axis=d))
    return wrap_ndarray(array[where])


OPS["torch.index"] = index


@op(method=False, function=False, takes_list=True, grads={"grad": lambda g, indices: index(g, indices)})
def _index_put_zeros(grad, shape, indices):
    result = grad.new_zeros(shape)
    _add_at(result._ndarray(), _numpy_index(result, indices), grad._ndarray())
    return result


def _add_at(array, where, values):
    if array.dtype == bool:
        array[where] |= values
    else:
        np.add.at(array, where, values)


@inplace_op(grads={"self": lambda g, indices, values_shape, accumulate: g if accumulate else _zero_at(g, indices),
                   "values": lambda g, indices, values_shape: index(g, indices)}, takes_list=True)
def index_put_(self, indices, values, accumulate=False):
    """Write values, broadcast, to the elements that index tensors name; add them if ``accumulate``."""
    tensors = []
    for t in indices:
        tensors += [None] if t is None else _index_tensors(t, self, len(tensors))
    if values.dtype is not self.dtype:
        raise RuntimeError("Index put requires the source and destination dtypes match, got "
                           f"{_scalar_type(self)} for the destination and {_scalar_type(values)} for the source.")
    where = _numpy_index(self, tensors)
    array = self._ndarray()
    try:
        if accumulate:
            _add_at(array, where, values._ndarray())
        else:
            array[where] = values._ndarray()
    except ValueError:
        raise RuntimeError(f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to indexing "
                           f"result of shape {list(array[where].shape)}") from None
    return self


def _scalar_type(t):
    from .._core.op import scalar_type
    return scalar_type(t.dtype)


def _zero_at(g, indices):
    result = g.clone()
    zero = g.new_zeros(())
    index_put_(result, indices, zero)
    return result


@op(takes_list=True)
def index_put(self, indices, values, accumulate=False):
    """A copy of self with values written to the elements that index tensors name."""
    return self.clone().index_put_(indices, values, accumulate)


def _setitem(x, index, value):
    """``x[index] = value``."""
    if x.layout is not strided:
        raise NotImplementedError("assignment to an index of a sparse tensor is not implemented")
    if not isinstance(value, TensorBase):
        if isinstance(value, (int, float, complex, bool)):
            value_tensor = None
        else:
            from .._core.factory import from_data
            value = value_tensor = from_data(value)
            value = value_tensor = value if value.dtype is x.dtype else value.to(x.dtype)
    else:
        value_tensor = value
    view, tensors = _split_index(x, index)
    if tensors is None:
        if value_tensor is None:
            view.fill_(value)
        else:
            while value.dim() > view.dim() and value.shape[0] == 1:
                value = value.squeeze(0)
            view.copy_(value)
        return
    if value_tensor is None:
        from .._core.factory import full
        value = full((), value, dtype=x.dtype)
    elif value.dtype is not x.dtype:
        value = value.to(x.dtype)
    target = None
    while value.dim() and value.shape[0] == 1:
        if target is None:
            target = len(index_shape(view, tensors))
        if value.dim() <= target:
            break
        value = value.squeeze(0)
    view.index_put_(tensors, value)


def index_shape(x, tensors):
    """The shape of ``x`` indexed with tensors."""
    where = _numpy_index(x, tensors)
    return np.lib.stride_tricks.as_strided(np.empty(1, dtype=np.int8), tuple(x.shape), [0] * x.dim())[where].shape


indexing.bind_general(_general_getitem)
bind_operator("getitem", indexing.getitem)
bind_operator("setitem", _setitem)


# ---------------------------------------------------------------- along one dimension

def _index_array(t, name):
    if t.dtype.name not in ("int64", "int32"):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index but got: {_scalar_type(t)}")
    return t._ndarray()


def _check_range(a, n, name, dim):
    if a.size:
        low, high = int(a.min()), int(a.max())
        if low < 0 or high >= n:
            raise IndexError(f"{name}(): index {low if low < 0 else high} is out of bounds for dimension {dim} with "
                             f"size {n}")


def _dim(dim, ndim):
    n = max(ndim, 1)
    if not -n <= dim < n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    return dim % n


@op(out=True, samples=Samples([call(Draw(3, 4), 0, Draw(2, low=0, high=3, dtype="int64")),
                               call(Draw(3, 4), -1, Draw(5, low=0, high=4, dtype="int64"))], dtypes="number"),
    grads={"self": lambda g, self_shape, dim, index: index_add_zeros(g, self_shape, dim, index)})
def index_select(self, dim, index):
    """The slices along a dimension that a 1-d index tensor names."""
    d = _dim(dim, self.dim())
    if index.dim() > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    where = _index_array(index, "index_select").reshape(-1)
    if self.dim() == 0:
        _check_range(where, 1, "index_select", 0)
        return self.clone()
    _check_range(where, self.shape[d], "index_select", d)
    return wrap_ndarray(self._ndarray().take(where, axis=d))


@op(method=False, function=False, grads={"grad": lambda g, dim, index: g.index_select(dim, index)})
def index_add_zeros(grad, shape, dim, index):
    result = grad.new_zeros(shape)
    if not shape:
        result.copy_(grad.sum())
        return result
    where = (slice(None),) * (dim % len(shape)) + (index._ndarray().reshape(-1),)
    _add_at(result._ndarray(), where, grad._ndarray())
    return result


def _gather_check(x, d, index, name):
    if index.numel() == 0:
        return
    if index.dim() != max(x.dim(), 1) and not (x.dim() == 0 and index.dim() <= 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    for i in range(index.dim()):
        if i != d and index.shape[i] > x.shape[i]:
            raise RuntimeError(f"Size does not match at dimension {i} expected index {list(index.shape)} to be no larger "
                               f"than self {list(x.shape)} apart from dimension {d}")


def _along(index_array, d):
    """NumPy's index for elements picked along dimension d, at the other dimensions' own places."""
    grid = list(np.ogrid[tuple(slice(n) for n in index_array.shape)]) if index_array.ndim else []
    grid[d] = index_array
    return tuple(grid)


@op(out=True, samples=Samples([call(Draw(3, 4), 1, Draw(3, 2, low=0, high=4, dtype="int64")),
                               call(Draw(3, 4), 0, Draw(2, 4, low=0, high=3, dtype="int64"))], dtypes="number"),
    grads={"self": lambda g, self_shape, dim, index: g.new_zeros(self_shape).scatter_add(dim, index, g)})
def gather(self, dim, index, *, sparse_grad=False):
    """``out[i][j] = self[index[i][j]][j]`` for dim 0, and so on: elements picked along a dimension."""
    d = _dim(dim, self.dim())
    if index.dtype.name not in ("int64", "int32"):
        raise RuntimeError("gather(): Expected dtype int32/int64 for index")
    _gather_check(self, d, index, "gather")
    where = index._ndarray()
    if where.size:
        low, high = int(where.min()), int(where.max())
        n = self.shape[d] if self.dim() else 1
        if low < 0 or high >= n:
            raise RuntimeError(f"index {low if low < 0 else high} is out of bounds for dimension {d} with size {n}")
    if self.dim() == 0 or where.ndim == 0:
        return self.expand(index.shape).clone()
    return wrap_ndarray(self._ndarray()[_along(where, d)])


def _scatter_places(x, d, index, src, name):
    where = index._ndarray()
    if index.dtype.name not in ("int64", "int32"):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    if where.size == 0:
        return None, None
    _gather_check(x, d, index, name)
    low, high, n = int(where.min()), int(where.max()), x.shape[d] if x.dim() else 1
    if low < 0 or high >= n:
        raise RuntimeError(f"index {low if low < 0 else high} is out of bounds for dimension {d} with size {n}")
    if isinstance(src, TensorBase):
        if src.dtype is not x.dtype:
            raise RuntimeError(f"{name}(): Expected self.dtype to be equal to src.dtype")
        if src.dim() != index.dim() or any(i > s for i, s in zip(index.shape, src.shape)):
            raise RuntimeError(f"Expected index {list(index.shape)} to be no larger than src {list(src.shape)} in all "
                               "dimensions")
        values = src._ndarray()[tuple(slice(n) for n in where.shape)]
    else:
        values = src
    return _along(where, d) if where.ndim else (), values


@inplace_op(grads={"self": lambda g, dim, index: _zero_scattered(g, dim, index),
                   "src": lambda g, src_shape, dim, index: _pad_to(g.gather(dim, index), src_shape)},
            renames={"value": "src"})
def scatter_(self, dim, index, src=None, *, reduce=None):
    """``self[index[i][j]][j] = src[i][j]`` for dim 0, and so on; src may be a number."""
    if reduce is not None:
        raise NotImplementedError("scatter_(reduce=) is not implemented; use scatter_add_")
    where, values = _scatter_places(self, _dim(dim, self.dim()), index, src, "scatter")
    if where is not None:
        self._ndarray()[where] = values
    return self


def _zero_scattered(g, dim, index):
    result = g.clone()
    scatter_(result, dim, index, 0)
    return result


def _pad_to(g, shape):
    """A gradient of the first elements of each dimension as one of the whole."""
    if tuple(g.shape) == tuple(shape):
        return g
    for d, n in enumerate(shape):
        if g.shape[d] != n:
            g = OPS["torch.cat"]([g, g.new_zeros(g.shape[:d] + (n - g.shape[d],) + g.shape[d + 1:])], d)
    return g


@op(samples=Samples([call(Draw(3, 4), 0, Draw(1, 4, low=0, high=3, dtype="int64"), Draw(1, 4))], dtypes="number"),
    renames={"value": "src"})
def scatter(self, dim, index, src):
    """The out-of-place form of ``scatter_``."""
    return self.clone().scatter_(dim, index, src)


@inplace_op(grads={"self": lambda g: g, "src": lambda g, src_shape, dim, index: _pad_to(g.gather(dim, index),
                                                                                          src_shape)})
def scatter_add_(self, dim, index, src):
    """``self[index[i][j]][j] += src[i][j]`` for dim 0, and so on."""
    where, values = _scatter_places(self, _dim(dim, self.dim()), index, src, "scatter_add")
    if where is not None:
        _add_at(self._ndarray(), where, values)
    return self


@op(samples=Samples([call(Draw(3, 4), 0, Draw(2, 4, low=0, high=3, dtype="int64"), Draw(2, 4))], dtypes="number"))
def scatter_add(self, dim, index, src):
    """The out-of-place form of ``scatter_add_``."""
    return self.clone().scatter_add_(dim, index, src)


@inplace_op(grads={"self": lambda g: g,
                   "source": lambda g, dim, index, alpha: g.index_select(dim, index) * alpha})
def index_add_(self, dim, index, source, *, alpha=1):
    """``self[index[i]] += alpha * source[i]`` along a dimension."""
    d = _dim(dim, self.dim())
    where = _index_array(index, "index_add").reshape(-1)
    if source.dtype is not self.dtype:
        raise RuntimeError(f"index_add_(): self ({_scalar_type(self)}) and source ({_scalar_type(source)}) must have "
                           "the same scalar type")
    if index.dim() > 1:
        raise IndexError("index_add_(): Index is supposed to be a vector, but got dim: "
                         f"{index.dim()} with type: {_scalar_type(index)} and size: {list(index.shape)}")
    _check_range(where, self.shape[d] if self.dim() else 1, "index_add", d)
    if self.dim() and (source.dim() != self.dim() or source.shape[d] != where.size):
        raise RuntimeError(f"index_add_(): Number of indices ({where.size}) should be equal to source.size(dim): "
                           f"({source.shape[d] if source.dim() > d else 1}), for dim: {d}")
    values = source._ndarray()
    _add_at(self._ndarray(), (slice(None),) * d + (where,) if self.dim() else (), values if alpha == 1
            else values * values.dtype.type(alpha))
    return self


@op(samples=Samples([call(Draw(3, 4), 0, Draw(2, low=0, high=3, dtype="int64"), Draw(2, 4))], dtypes="number"))
def index_add(self, dim, index, source, *, alpha=1):
    """The out-of-place form of ``index_add_``."""
    return self.clone().index_add_(dim, index, source, alpha=alpha)


@inplace_op(grads={"self": lambda g, dim, index: g.clone().index_fill_(dim, index, 0),
                   "source": lambda g, dim, index: g.index_select(dim, index)})
def index_copy_(self, dim, index, source):
    """``self[index[i]] = source[i]`` along a dimension."""
    d = _dim(dim, self.dim())
    where = _index_array(index, "index_copy_").reshape(-1)
    _check_range(where, self.shape[d] if self.dim() else 1, "index_copy_", d)
    if source.dtype is not self.dtype:
        raise RuntimeError(f"index_copy_(): self and source expected to have the same dtype, but got (self) "
                           f"{_scalar_type(self)} and (source) {_scalar_type(source)}")
    self._ndarray()[(slice(None),) * d + (where,)] = source._ndarray()
    return self


@op(samples=Samples([call(Draw(3, 4), 0, Draw(2, low=0, high=3, dtype="int64"), 1.5)], dtypes="number"))
def index_fill(self, dim, index, value):
    """The out-of-place form of ``index_fill_``."""
    return self.clone().index_fill_(dim, index, value)


@inplace_op(grads={"self": lambda g, dim, index: g.clone().index_fill_(dim, index, 0)})
def index_fill_(self, dim, index, value):
    """Set the slices along a dimension that an index tensor names."""
    d = _dim(dim, self.dim())
    where = _index_array(index, "index_fill_").reshape(-1)
    n = self.shape[d] if self.dim() else 1
    if where.size and (int(where.min()) < -n or int(where.max()) >= n):
        raise IndexError(f"index_fill_(): index is out of bounds for dimension {d} with size {n}")
    self._ndarray()[(slice(None),) * d + (where,)] = value.item() if isinstance(value, TensorBase) else value
    return self


# ---------------------------------------------------------------- masks and conditions

_mask = Draw(3, 4, low=0, high=2, dtype="bool")


def _as_mask(mask, name):
    if mask.dtype.name == "bool":
        return mask
    if mask.dtype.name != "uint8":
        raise RuntimeError(f"{name}: expected BoolTensor for mask")
    if not policy.compare_uint8:
        import warnings
        warnings.warn(f"{name} received a mask with dtype torch.uint8, this behavior is now deprecated, please use a "
                      "mask with dtype torch.bool instead.", UserWarning, stacklevel=3)
    return mask.bool()


@op(out=True, samples=Samples([call(_mask, Draw(3, 4), Draw(3, 4)), call(_mask, Draw(4), 1.0), call(_mask, 0.0, Draw())],
                              dtypes="number"), method=False)
def where(condition, input=None, other=None):
    """Elements of input where the condition holds, of other elsewhere; without them the places of true elements."""
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    return where_op(condition, input, other)


@op(method=False, function=False, backward_name="WhereBackward0", grads={
    "input": lambda g, condition: where_op(condition, g, 0),
    "other": lambda g, condition: where_op(condition, 0, g)})
def where_op(condition, input, other):
    from .._core.kinds import result_type
    from .._core.tensor import TensorBase
    if condition.dtype.name not in ("bool", "uint8"):
        raise RuntimeError("where expected condition to be a boolean tensor, but got a tensor with dtype "
                           f"{_scalar_type(condition)}")
    dtype = result_type(input, other)
    from .._core.dtype import to_numpy_dtype
    a, b = (t.to(dtype)._ndarray() if isinstance(t, TensorBase) else np.asarray(t).astype(to_numpy_dtype(dtype))
            for t in (input, other))
    try:
        return wrap_ndarray(np.where(condition._ndarray(), a, b))
    except ValueError:
        raise RuntimeError(f"The size of tensor a must match the size of tensor b: cannot broadcast "
                           f"{list(condition.shape)}, {list(a.shape)} and {list(b.shape)}") from None


@op(function=False, name="where")
def _where_method(self, condition, other):
    return where_op(condition, self, other)


OPS["torch.where"] = where


@inplace_op(grads={"self": lambda g, mask: g.masked_fill(mask, 0),
                   "value": lambda g, mask: where_op(mask, g, 0).sum()})
def masked_fill_(self, mask, value):
    """Set the elements where the mask is true."""
    array = self._ndarray()
    chosen = _as_mask(mask, "masked_fill_")._ndarray()
    if isinstance(value, TensorBase):
        if value.dim() > 0:
            raise RuntimeError("masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
                               f"{value.dim()} dimension(s).")
        value = value.item()
    elif isinstance(value, complex) and not self.is_complex():
        raise RuntimeError(f"value cannot be converted to type {self.dtype.name} without overflow")
    try:
        array[np.broadcast_to(chosen, array.shape)] = value
    except ValueError:
        raise RuntimeError(f"The size of tensor a must match the size of tensor b: mask {list(mask.shape)} does not "
                           f"broadcast to {list(self.shape)}") from None
    return self


@op(samples=Samples([call(Draw(3, 4), _mask, 1.5)], dtypes="number"))
def masked_fill(self, mask, value):
    """A copy with the elements where the mask is true set to a value."""
    if tuple(mask.shape) != tuple(self.shape):
        self, mask = OPS["torch.broadcast_tensors"](self, mask)
    return self.clone().masked_fill_(mask, value)


@op(out=True, samples=Samples([call(Draw(3, 4), _mask)], dtypes="number"))
def masked_select(self, mask):
    """The elements where the mask is true, as a 1-d tensor."""
    if mask.dtype.name not in ("bool", "uint8"):
        raise RuntimeError("masked_select: expected BoolTensor or ByteTensor for mask")
    self, mask = OPS["torch.broadcast_tensors"](self, _as_mask(mask, "masked_select"))
    return index(self, [wrap_ndarray(p) for p in np.nonzero(mask._ndarray())]) if self.dim() else (
        self.reshape(1)[:int(mask.item())])


@inplace_op(grads={"self": lambda g, mask: g.masked_fill(mask, 0),
                   "source": lambda g, source_shape, mask: _pad_flat(g.masked_select(mask), source_shape)})
def masked_scatter_(self, mask, source):
    """Write the elements of source, in order, to the places where the mask is true."""
    array = self._ndarray()
    chosen = np.broadcast_to(_as_mask(mask, "masked_scatter_")._ndarray(), array.shape)
    n = int(chosen.sum())
    if n > source.numel():
        raise RuntimeError("masked_scatter: expected self to have at least as many elements as ones in the mask: the "
                           f"source has {source.numel()}, the mask {n}")
    array[chosen] = source._ndarray().reshape(-1)[:n]
    return self


def _pad_flat(g, shape):
    n = shape.numel()
    return OPS["torch.cat"]([g, g.new_zeros(n - g.numel())]).reshape(shape)


@op(samples=Samples([call(Draw(3, 4), _mask, Draw(3, 4))], dtypes="number"))
def masked_scatter(self, mask, source):
    """The out-of-place form of ``masked_scatter_``."""
    return self.clone().masked_scatter_(mask, source)


@op(out=True, samples=Samples([call(Draw(3, 4)), call(Draw(3, 4), as_tuple=True), call(Draw())], dtypes="number",
                              gradcheck=False))
def nonzero(self, *, as_tuple=False):
    """The places of the elements that are not zero: one row each, or one index tensor per dimension."""
    places = np.nonzero(self._ndarray() if self.dim() else self._ndarray().reshape(1))
    if as_tuple:
        return tuple(wrap_ndarray(p) for p in places)
    if self.dim() == 0:
        return wrap_ndarray(np.zeros((len(places[0]), 0), dtype=np.int64))
    return wrap_ndarray(np.stack(places, 1) if places[0].size else np.zeros((0, self.dim()), dtype=np.int64))


@op(out=True, samples=Samples([call(Draw(3, 4), Draw(2, 2, low=0, high=12, dtype="int64"))], dtypes="number"))
def take(self, index):
    """The elements at places counted as if the tensor were 1-d."""
    flat = self.reshape(-1)
    n = flat.numel()
    where = index._ndarray()
    if where.size and (int(where.min()) < -n or int(where.max()) >= n):
        raise IndexError(f"take(): out of range: tried to access index on a tensor of {n} elements.")
    return OPS["torch.index"](flat, [index])
