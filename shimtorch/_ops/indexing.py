"""``x[index]`` and ``x[index] = value`` with tensors, masks and sequences; plain views are served by ``_core``."""
import math

import numpy as np

from .._core import OPS, indexing
from .._core import places as core
from .._core.declaring import inplace_op, op
from .._core.device import strided
from .._core.dtype import bool as bool_
from .._core.dtype import int32, int64, scalar_type, uint8
from .._core.factory import fitting
from .._core.grad_mode import is_grad_enabled
from .._core.indexing import slice_bounds
from .._core.pointwise import chosen
from .._core.policy import inside, policy
from .._core.tensor import TensorBase, bind_operator, wrap_ndarray
from .._kernels import masks, placing
from ._placing import WORDS, add_at, put_slices
from .samples import Draw, Samples, call, integers, mask
from .shape import slice_

_INDEX_DTYPES = ("int64", "int32", "uint8", "bool", "int16", "int8")


# ---------------------------------------------------------------- what an index means

def _general_getitem(x, index):
    """``x[index]`` as a chain of recorded views and, for tensors and masks, one ``index`` op."""
    if x.layout is not strided:
        from .sparse_indexing import sparse_getitem
        return sparse_getitem(x, index)
    if x.dim() == 0 and type(index) is int and index in (0, -1):
        return _scalar_item(x)
    if isinstance(index, TensorBase) and index.dtype is bool_ and masks_whole(x, index):
        return chosen_by_mask(x, index)
    view, tensors = _split_index(x, index)
    return view if tensors is None else OPS["torch.index"](view, tensors)


def masks_whole(x, mask):
    """Whether `chosen_by_mask` serves: a mask over all of x, whose elements are taken without history."""
    return (mask.shape == x.shape and x.dim() > 0 and mask.layout is strided and x.device.type == "cpu" and
            x.device == mask.device and not (x.requires_grad and is_grad_enabled()))


@op(method=False, function=False)
def chosen_by_mask(x, mask):
    """The elements of x where a mask of its shape is true."""
    word, flags = WORDS[x.element_size()], mask.contiguous()._ndarray().reshape(-1).view(np.uint8)
    starts = true_before(flags)
    result = x.new_empty(int(starts[-1]))
    masks.take(x.contiguous()._ndarray().reshape(-1).view(word), flags, starts, result._ndarray().view(word))
    return result


def true_before(flags):
    """How many of the flags are true before each block of the kernels of `masks`; the last is how many are in all."""
    starts = np.empty(-(-flags.size // masks.block_size) + 1, np.int64)
    masks.count_true(flags, starts)
    return starts


def _scalar_item(x):
    """``loss.data[0]``: 0.4 still let a 0-dim tensor be indexed as if its size were (1,)."""
    import warnings
    warnings.warn("invalid index of a 0-dim tensor. This will be an error in PyTorch 0.5. Use tensor.item() to convert "
                  "a 0-dim tensor to a Python number", UserWarning, stacklevel=3)
    return x.view(())


def _split_index(x, index):
    """The basic part of an index applied as views; what remains is a list of index tensors per dimension, or None."""
    items = _as_items(index)
    used = sum(_dims_of(item) for item in items)
    if used > x.dim():
        raise IndexError(f"too many indices for tensor of dimension {x.dim()}") if x.dim() or len(
            items) > 1 else indexing.zero_dim_error()
    tensors, dim, advanced = [], 0, False
    given = 0                              # the dimension of x as it was given
    for position, item in enumerate(items):
        if item is Ellipsis:
            skip = x.dim() - dim - sum(_dims_of(i) for i in items[position + 1:])
            dim, given = dim + skip, given + skip
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
            dim, given = dim + 1, given + 1
        elif isinstance(item, bool):
            x = x.unsqueeze(dim)
            tensors.append(wrap_ndarray(np.zeros(int(item), dtype=np.int64)))
            advanced, dim = True, dim + 1
        elif isinstance(item, int):
            n = x.shape[dim]
            if not -n <= item < n:
                raise IndexError(f"index {item} is out of bounds for dimension {given} with size {n}")
            x = x.select(dim, item)
            given += 1
        else:
            parts = _index_tensors(item, x, dim)
            tensors += parts
            advanced, dim, given = True, dim + len(parts), given + len(parts)
    return (x, tensors) if advanced else (x, None)


def _plain_slice(s):
    return slice(*(int(v) if isinstance(v, TensorBase) else v for v in (s.start, s.stop, s.step)))


def _as_items(index):
    """The index as a list of ints, bools, slices, None, Ellipsis and tensors; one Ellipsis at most."""
    if isinstance(index, tuple):
        items = list(index)
    elif isinstance(index, list) and len(index) < 32 and any(
            isinstance(i, (slice, TensorBase, list, tuple)) or i is None or i is Ellipsis for i in index):
        items = list(index)            # a list with slices, tensors or lists in it counts as a tuple
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
            if isinstance(item, str):
                raise TypeError("new(): invalid data type 'str'")
            if not hasattr(item, "__index__"):
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
    return _check_index_dtype(from_data(data))


def _tensor_item(t):
    _check_index_dtype(t)
    if t.dim() == 0 and t.dtype.name not in ("bool", "uint8"):
        return int(t)
    if t.dim() == 0:
        return bool(t)
    return t


def _check_index_dtype(t):
    if t.dtype.name not in _INDEX_DTYPES:
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
        if dim + i >= x.dim() or t.shape[i] != x.shape[dim + i]:
            raise IndexError(f"The shape of the mask {list(t.shape)} at index {i} does not match the shape of the "
                             f"indexed tensor {list(x.shape)} at index {dim + i}")
    if t.layout is not strided or t.is_cuda:
        return list(t.nonzero(as_tuple=True))
    return [wrap_ndarray(p) for p in np.nonzero(t._ndarray())]


# ---------------------------------------------------------------- the ops

def unlike_indices(tensors):
    """The error for index tensors that do not broadcast."""
    shapes = ", ".join([str(list(t.shape)) for t in tensors])
    return IndexError(f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}")


def _numpy_index(x, tensors):
    """Index tensors as what NumPy indexes with; bounds are checked with torch's messages."""
    if len(tensors) > x.dim():
        raise IndexError(f"too many indices for tensor of dimension {x.dim()} (got {len(tensors)})")
    index = []
    for d, t in enumerate(tensors):
        if t is None:
            index.append(slice(None))
            continue
        a = t._ndarray()
        if a.size:
            low, high = int(a.min()), int(a.max())
            if low < -x.shape[d] or high >= x.shape[d]:
                raise IndexError(f"index {high if high >= x.shape[d] else low} is out of bounds for dimension {d} with "
                                 f"size {x.shape[d]}")
        index.append(a)
    try:
        np.broadcast_shapes(*(a.shape for a in index if not isinstance(a, slice)))
    except ValueError:
        raise unlike_indices([a for a in index if not isinstance(a, slice)]) from None
    return tuple(index)


@op(method=False, function=False, takes_list=True, samples=Samples([
        call(Draw(3, 4), [integers(2)]), call(Draw(3, 4), [None, integers(2, 2)]),
        call(Draw(3, 4, 2), [integers(3), None, integers(1, high=2)]),
        call(Draw(3, 4), [integers(2, low=-3), integers(2, 1)])],
        "number", reference=lambda torch: torch.ops.aten.index.Tensor),
    grads={"self": lambda g, self_shape, indices: index_put_zeros(g, self_shape, indices)})
def index(self, indices):
    """The elements that index tensors name, as NumPy's advanced indexing."""
    if self.is_contiguous() and (one := _one_index(self, indices)) is not None:
        return core.select(self, *one)
    array = self._ndarray()
    if not array.flags.c_contiguous or not array.size or (lines := _in_lines(array, indices)) is None:
        return wrap_ndarray(array[_numpy_index(self, indices)])
    array, d, places = lines
    return core.select(wrap_ndarray(array), d, wrap_ndarray(places))


def _one_index(x, tensors):
    """(d, places) where a single index tensor, of whole numbers, is given, else None."""
    named = [d for d, t in enumerate(tensors) if t is not None]
    if len(named) != 1 or named[0] >= x.dim() or tensors[named[0]].dtype not in (int64, int32):
        return None
    d, n = named[0], x.shape[named[0]]
    return d, core.checked(tensors[d], d, n, None, -n)


def _in_lines(array, tensors):
    """Indices of neighbouring dimensions as places in one: the array with these dimensions as one, which it is, and
    the places as a contiguous int64 array of the indices' common shape. None where dimensions lie between the
    indices, or cannot become one without a copy, and where NumPy's way has a complaint."""
    named = [d for d, t in enumerate(tensors) if t is not None]
    if not named or len(tensors) > array.ndim or len(named) > 1 and not (
            array.flags.c_contiguous and named[-1] - named[0] < len(named)):
        return None
    indices = [tensors[d]._ndarray() for d in named]
    shape = indices[0].shape
    if len(named) > 1:
        try:
            shape = np.broadcast_shapes(*(a.shape for a in indices))
        except ValueError:
            return None
    places = np.zeros(shape, np.int64)
    for d, a in zip(named, indices):
        a = np.ascontiguousarray(a if a.shape == shape else np.broadcast_to(a, shape), np.int64)
        if not placing.join(places.reshape(-1), a.reshape(-1), array.shape[d]):
            return None
    if len(named) > 1:
        first, end = named[0], named[-1] + 1
        array = array.reshape(array.shape[:first] + (math.prod(array.shape[first:end]),) + array.shape[end:])
    return array, named[0], places


OPS["torch.index"] = index


@op(name="index", function=False,
    samples=Samples([call(Draw(3, 4), mask(3, 4)), call(Draw(3, 4), integers(2))], "number",
                    reference=lambda torch: torch.Tensor.__getitem__))
def _index_method(self, m):
    """``self[m]``."""
    return self[m]


OPS["torch.Tensor.index"] = _index_method


@op(method=False, function=False, takes_list=True, grads={"grad": lambda g, indices: index(g, indices)})
def index_put_zeros(grad, shape, indices):
    """Gradients of picked elements added up in zeros of a shape."""
    result = grad.new_zeros(shape)
    _put_at(result, indices, grad._ndarray(), "sum")
    return result


def _put_at(x, tensors, values, how=None):
    """``x[tensors] = values``, or ``+=`` for how "sum", where a place may be named several times."""
    if (one := _one_index(x, tensors)) is not None and one[1].dim() == 1:
        if core.put_slices(x, *one, wrap_ndarray(values), how) is not None:
            return
    array = x._ndarray()
    if (lines := _in_lines(array, tensors)) is not None:
        array, d, places = lines
        before, after = array.shape[:d], array.shape[d + 1:]
        values = np.broadcast_to(values, before + places.shape + after)
        put_slices(array, d, places.reshape(-1),
                   values if places.ndim == 1 else values.reshape(before + (places.size,) + after), how)
    elif how is None:
        array[_numpy_index(x, tensors)] = values
    else:
        add_at(array, _numpy_index(x, tensors), values)


@inplace_op(function=True, takes_list=True, samples=Samples([
        call(Draw(3, 4), [integers(2)], Draw(4)), call(Draw(3, 4), [mask(3, 4)], Draw()),
        call(Draw(3, 4), [integers(3), integers(3)], Draw(3), True)], "number"),
    grads={"self": lambda g, indices, accumulate: g if accumulate else _zero_at(g, indices),
           "values": lambda g, self_shape, indices: index(g, _as_tensors(g, indices))})
def index_put_(self, indices, values, accumulate=False):
    """Write values, broadcast, to the elements that index tensors name; add them if ``accumulate``."""
    if values.dtype is not self.dtype and not accumulate and values.numel() == 1 and indices and all(
            i is not None and i.dtype in (bool_, uint8) for i in indices):
        values = fitting(self, values.reshape(()), "masked_fill_")
        values = self.new_full((), values)
    if values.dtype is not self.dtype:
        raise RuntimeError("Index put requires the source and destination dtypes match, got "
                           f"{scalar_type(self.dtype)} for the destination and {scalar_type(values.dtype)} for the "
                           "source.")
    if not accumulate and values.numel() == 1 and len(indices) == 1 and _is_mask_of(self, indices[0]):
        return self.copy_(chosen(indices[0], values.reshape(()), self))
    tensors = _as_tensors(self, indices)
    try:
        _put_at(self, tensors, values._ndarray(), "sum" if accumulate else None)
    except ValueError:
        raise RuntimeError(f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to "
                           f"indexing result of shape {list(_index_shape(self, tensors))}") from None
    return self


def _is_mask_of(x, mask):
    return mask is not None and mask.dtype is bool_ and mask.shape == x.shape and mask.layout is strided


def _as_tensors(x, indices):
    """Masks among the indices as the index tensors that they stand for."""
    tensors = []
    for t in indices:
        tensors += [None] if t is None else _index_tensors(_check_index_dtype(t), x, len(tensors))
    return tensors


def _zero_at(g, indices):
    result = g.clone()
    index_put_(result, indices, g.new_zeros(()))
    return result


@op(takes_list=True, samples=Samples([call(Draw(3, 4), [integers(2)], Draw(4)), call(Draw(3, 4), [mask(3, 4)], Draw())],
                                     "number"))
def index_put(self, indices, values, accumulate=False):
    """A copy of self with values written to the elements that index tensors name."""
    return self.clone().index_put_(indices, values, accumulate)


# ---------------------------------------------------------------- assignment

def _setitem(x, index, value):
    """``x[index] = value``."""
    with inside():
        _assign_item(x, index, value)


def _assign_item(x, index, value):
    if x.layout is not strided:
        from .sparse_assigning import sparse_setitem
        return sparse_setitem(x, index, value)
    number = isinstance(value, (int, float, complex, bool))
    if number and isinstance(index, TensorBase) and _is_mask_of(x, index):
        return x.masked_fill_(index, value)
    if not number and not isinstance(value, TensorBase):
        from .._core.factory import from_data
        value = from_data(value).to(x.dtype)
    view, tensors = _split_index(x, index)
    if tensors is None:
        if number:
            view.fill_(value)
        else:
            while value.dim() > view.dim() and value.shape[0] == 1:
                value = value.squeeze(0)
            _check_fits(value, view)
            view.copy_(value)
        return
    if number:
        from .._core.factory import full
        value = full((), value, dtype=x.dtype)
    elif value.dtype is not x.dtype:
        value = value.to(x.dtype)
    if value.dim() and value.shape[0] == 1:
        n = len(_index_shape(view, tensors))
        while value.dim() > n and value.shape[0] == 1:
            value = value.squeeze(0)
    view.index_put_(tensors, value)


def _check_fits(value, view):
    """Raise as expand does unless value broadcasts to the view."""
    if policy.same_numel_pointwise and value.numel() == view.numel():
        return
    lead = view.dim() - value.dim()
    if lead < 0 or any(n not in (1, view.shape[lead + d]) for d, n in enumerate(value.shape)):
        value.expand(view.shape)


def _index_shape(x, tensors):
    """The shape of ``x`` indexed with tensors."""
    where = _numpy_index(x, tensors)
    return np.lib.stride_tricks.as_strided(np.empty(1, dtype=np.int8), tuple(x.shape), [0] * x.dim())[where].shape


indexing.bind_general(_general_getitem)
bind_operator("getitem", indexing.getitem)
bind_operator("setitem", _setitem)
