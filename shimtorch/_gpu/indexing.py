"""Indexing, gather and scatter on a device: all of them look-ups of the one kernel of ``kernels/index.cu``."""
from .._core import OPS
from .._core.dtype import bool as bool_dtype
from .._core.dtype import int64, scalar_type
from .._ops.indexing import unlike_indices
from .._ops.shape import wrap
from . import _device


def _index(t, device):
    """An index tensor as the kernel reads it: int64, on the device, its own strides."""
    return t if t.device == device and t.dtype is int64 else t.to(device, int64)


# ---------------------------------------------------------------- x[index] with tensors

def _plan(x, tensors):
    """The shape of ``x[tensors]``, the strides of x in it, and the indices as the kernel takes them.

    The dimensions of the indices stand where the first index is; in front, if dimensions without lie between them.
    """
    if len(tensors) > x.dim():
        raise IndexError(f"too many indices for tensor of dimension {x.dim()} (got {len(tensors)})")
    named = [d for d, t in enumerate(tensors) if t is not None]
    given = [_index(tensors[d], x.device) for d in named]
    try:
        given = OPS["torch.broadcast_tensors"](*given)
    except RuntimeError:
        raise unlike_indices(given) from None
    inner = tuple(given[0].shape)
    adjacent = named == list(range(named[0], named[-1] + 1))
    first = named[0] if adjacent else 0
    rest = [d for d in range(x.dim()) if d not in named]
    before, after = rest[:first], rest[first:]
    shape = (*[x.shape[d] for d in before], *inner, *[x.shape[d] for d in after])
    strides = (*[x.stride(d) for d in before], *[0] * len(inner), *[x.stride(d) for d in after])
    pad = [0] * len(before), [0] * len(after)
    indices = [(t, [*pad[0], *t.stride(), *pad[1]], x.shape[d], x.stride(d)) for d, t in zip(named, given)]
    return shape, strides, indices


def index(self, indices):
    """The elements that index tensors name."""
    shape, strides, indices = _plan(self, indices)
    result = self.new_empty(shape)
    _device.look_up(_device.TAKE, result, self, shape, result.stride(), strides, indices, True)
    return result


def index_put_zeros(grad, shape, indices):
    """Gradients of picked elements added up in zeros of a shape."""
    result = grad.new_zeros(shape)
    shape, strides, indices = _plan(result, indices)
    _device.look_up(_device.ADD, grad, result, shape, grad.stride(), strides, indices, True)
    return result


def index_put_(self, indices, values, accumulate=False):
    """Write values, broadcast, to the elements that index tensors name; add them if ``accumulate``."""
    from .._ops.indexing import _as_tensors
    if values.dtype is not self.dtype:
        raise RuntimeError("Index put requires the source and destination dtypes match, got "
                           f"{scalar_type(self.dtype)} for the destination and {scalar_type(values.dtype)} for the "
                           "source.")
    shape, strides, indices = _plan(self, _as_tensors(self, indices))
    try:
        values = values.to(self.device).expand(shape)
    except RuntimeError:
        raise RuntimeError(f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to "
                           f"indexing result of shape {list(shape)}") from None
    mode = _device.ADD if accumulate else _device.PUT
    _device.look_up(mode, values, self, shape, values.stride(), strides, indices, True)
    return self


# ---------------------------------------------------------------- slices along a dimension

def _along(x, dim, index):
    """The arguments of a look-up of x at a 1-d index along a dimension."""
    index = _index(index.reshape(-1), x.device)
    shape = [*x.shape[:dim], index.numel(), *x.shape[dim + 1:]]
    strides = list(x.stride())
    step = strides[dim]
    strides[dim] = 0
    return shape, strides, [(index, [0] * dim + [index.stride(0)] + [0] * (x.dim() - dim - 1), x.shape[dim], step)]


def index_select(self, dim, index):
    """The slices along a dimension that a 1-d index tensor names."""
    if index.dim() > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if index.dtype.name not in ("int64", "int32"):
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    if self.dim() == 0:
        if index.numel() != 1:
            raise RuntimeError("index_select(): Index to scalar can have only 1 value")
        return self.clone()
    shape, strides, indices = _along(self, wrap(dim, self.dim()), index)
    result = self.new_empty(shape)
    _device.look_up(_device.TAKE, result, self, shape, result.stride(), strides, indices)
    return result


def index_add_zeros(grad, shape, dim, index):
    """Slices of gradients added up in zeros of a shape."""
    result = grad.new_zeros(shape)
    if not shape:
        result.copy_(grad.sum())
        return result
    places, strides, indices = _along(result, wrap(dim, len(shape)), index)
    _device.look_up(_device.ADD, grad, result, places, grad.stride(), strides, indices)
    return result


def rows_of(weight, indices, padding_idx=-1):
    """The rows of a table that indices name, for embeddings."""
    flat = weight.index_select(0, indices.reshape(-1))
    return flat.reshape(*indices.shape, *weight.shape[1:])


# ---------------------------------------------------------------- elements along a dimension

def _check_index(x, index, name):
    if index.dtype.name not in ("int64", "int32"):
        raise RuntimeError(f"{name}(): Expected dtype int64 for index")
    if max(x.dim(), 1) != max(index.dim(), 1):
        raise RuntimeError(f"Index tensor must have the same number of dimensions as "
                           f"{'input' if name == 'gather' else 'self'} tensor")


def _elements(x, dim, index, name):
    """The arguments of a look-up of x at the places that an index tensor of its dimensions names."""
    _check_index(x, index, name)
    index = _index(index, x.device)
    if x.dim() == 0:
        x, index = x.reshape(1), index.reshape(1)
    d = wrap(dim, x.dim())
    index = index.reshape(1) if index.dim() == 0 else index
    for i in range(x.dim()):
        if i != d and index.shape[i] > x.shape[i]:
            raise RuntimeError(f"Size does not match at dimension {i} expected index {list(index.shape)} to be no "
                               f"larger than {'self' if name == 'gather' else 'self'} {list(x.shape)} apart from "
                               f"dimension {d}")
    strides = list(x.stride())
    step = strides[d]
    strides[d] = 0
    return x, tuple(index.shape), strides, [(index, index.stride(), x.shape[d], step)]


def gather(self, dim, index, *, sparse_grad=False):
    """``out[i][j] = self[index[i][j]][j]`` for dim 0, and so on."""
    x, shape, strides, indices = _elements(self, dim, index, "gather")
    result = self.new_empty(shape)
    _device.look_up(_device.TAKE, result, x, shape, result.stride(), strides, indices)
    return result.reshape(index.shape)


def _scatter(self, dim, index, src, name, mode):
    x, shape, strides, indices = _elements(self, dim, index, name)
    if isinstance(src, (int, float, complex, bool)):
        src = self.new_full((), src).expand(shape)
    if src.dtype is not self.dtype:
        raise RuntimeError(f"{name}(): Expected self.dtype to be equal to src.dtype")
    src = src.to(self.device)
    src = src.reshape(1) if src.dim() == 0 and shape else src
    for i, n in enumerate(shape):
        if n > src.shape[i]:
            raise RuntimeError(f"Expected index {list(index.shape)} to be no larger than self {list(self.shape)} apart "
                               f"from dimension {wrap(dim, self.dim())} and to be no larger size than src "
                               f"{list(src.shape)}")
    _device.look_up(mode, src, x, shape, src.stride(), strides, indices)
    return self


def scatter_add_(self, dim, index, src):
    """Add src to the elements that index names along a dimension."""
    return _scatter(self, dim, index, src, "scatter", _device.ADD)


# ---------------------------------------------------------------- where something is not zero

def places(x):
    """The places, in a flat contiguous tensor, of the elements that are not 0."""
    flags = (x != 0).reshape(-1).contiguous()
    if not flags.numel():
        return flags.new_empty(0, dtype=int64)
    sums = _device.scan("cumsum", flags.to(int64), 0)
    out = flags.new_empty(int(sums[-1]), dtype=int64)
    if out.numel():
        _device.compact(flags, sums, out)
    return out


def coordinates(x):
    """The places of the elements that are not 0: an int64 tensor for each dimension."""
    flat, found = places(x), []
    for n in reversed(x.shape):
        found.append(flat % n)
        flat = flat.div(n, rounding_mode="trunc")
    return found[::-1]


def nonzero(self, *, as_tuple=False):
    """The indices of the elements that are not zero."""
    if as_tuple:
        return tuple(coordinates(self)) if self.dim() else (places(self),)
    found = coordinates(self)
    n = places(self).numel() if not found else found[0].numel()
    result = self.new_empty((n, self.dim()), dtype=int64)
    for d, column in enumerate(found):
        result[:, d] = column
    return result


def mask_indices(mask):
    """The index tensors that a mask stands for."""
    return coordinates(mask if mask.dtype is bool_dtype else mask != 0)
