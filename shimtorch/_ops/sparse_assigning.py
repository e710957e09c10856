"""``x[index] = value`` of sparse tensors: what is addressed loses its entries, and gets those of the value.

Zeros of a dense value, and a number 0, leave no entries. The tensor is coalesced afterwards.
"""
import numpy as np

from .._core import OPS, factory
from .._core.device import strided
from .._core.tensor import TensorBase, wrap_ndarray
from ._sparse_join import keys_of, with_sparse_dim
from ._sparse_parts import is_compressed, is_coo, parts
from .sparse_arithmetic import sparse_sum_of_two


def sparse_setitem(x, index, value):
    """``x[index] = value`` for a sparse tensor of any layout; the value is a number, or dense or sparse."""
    if x.requires_grad or (isinstance(value, TensorBase) and value.requires_grad):
        raise NotImplementedError("x[index] = value: not implemented for sparse tensors that take part in "
                                  "differentiation; use detach(), or to_dense() first")
    if is_compressed(x):
        _assign_compressed(x, index, value)
    else:
        parts.become(x, _assigned(x, index, value))


def _assign_compressed(x, index, value):
    from .sparse_compressed import block_of, like, to_coo
    result = like(_assigned(to_coo(x), index, value), x.layout, block_of(x))
    if result.layout is not x.layout:
        raise NotImplementedError(f"x[index] = value: the result does not fit into the layout {x.layout}; use "
                                  "to_sparse() first")
    parts.become(x, result)


def _assigned(x, index, value):
    """A coalesced sparse tensor that is x with the value at the index."""
    n, shape = parts.parts(x).sparse_dim, tuple(x.shape)
    if is_compressed(value):
        value = value.to_sparse()
    whole = with_sparse_dim(parts.coalesce(x), x.dim())
    p = parts.parts(whole)
    old, kept_values = p.indices._ndarray(), p.values
    region, covers, coordinates, listed = _region(index, shape)
    if listed and is_coo(value):            # an element may be named twice, and what is not stored counts too
        value = value.to_dense()
    where, values = _entries_of(value, region, x.dtype)
    new = coordinates(where)
    kept = np.flatnonzero(~covers(old))
    kept_values = kept_values.index_select(0, wrap_ndarray(kept))
    rest = parts.make_coo(wrap_ndarray(old[:, kept]), kept_values, shape, True, True)
    if new.shape[1]:                        # of an element that is named more than once, the last value counts
        numbers = keys_of([new], shape)[0]
        last = numbers.size - 1 - np.unique(numbers[::-1], return_index=True)[1]
        last = np.sort(last[values._ndarray()[last] != 0])
        written = parts.coalesce(parts.make_coo(wrap_ndarray(np.ascontiguousarray(new[:, last])),
                                                values.index_select(0, wrap_ndarray(last)), shape, False, True))
        rest = parts.coalesce(sparse_sum_of_two.forward(rest, written, 1))
    return rest if n == x.dim() else _hybrid(rest, n)


def _hybrid(x, n):
    """A coalesced tensor without dense dimensions as one whose first n dimensions are sparse."""
    from .._kernels.coalesce import Grouping
    p, inner = parts.parts(x), tuple(x.shape[n:])
    indices = p.indices._ndarray()
    groups = Grouping(np.ascontiguousarray(indices[:n]), tuple(x.shape[:n]))
    values = p.values.new_zeros((groups.count, *inner))
    if indices.shape[1]:
        flat = np.ravel_multi_index(tuple(indices[n:]), inner)
        width = int(np.prod(inner))
        values.view(-1)[wrap_ndarray(groups.inverse() * width + flat)] = p.values
    return parts.make_coo(wrap_ndarray(groups.indices()), values, x.shape, True, True)


# ---------------------------------------------------------------- what is written

def _entries_of(value, region, dtype):
    """Coordinates within the region, (its dimensions, m), and the m values there, of what is to be written."""
    if not isinstance(value, TensorBase):
        value = factory.from_data(value, None)
    value = value.to(dtype)
    while value.dim() > len(region) and value.shape[0] == 1:
        value = value.squeeze(0)
    lead = len(region) - value.dim()
    if lead < 0 or any(n not in (1, m) for n, m in zip(value.shape, region[lead:], strict=True)):
        raise RuntimeError(f"shape mismatch: value tensor of shape {list(value.shape)} cannot be broadcast to indexing "
                           f"result of shape {list(region)}")
    if is_coo(value):
        value = with_sparse_dim(parts.coalesce(value.expand(region)), len(region))
        p = parts.parts(value)
        return p.indices._ndarray(), p.values
    array = value._ndarray()
    if array.ndim == 0 and not array:       # a zero takes entries away and brings none, however large the region is
        return np.zeros((len(region), 0), np.int64), value.new_zeros((0,), layout=strided)
    array = np.broadcast_to(array, region)
    where = np.indices(region, np.int64).reshape(len(region), array.size)
    return where, wrap_ndarray(np.ascontiguousarray(array).reshape(-1))


# ---------------------------------------------------------------- what is addressed

def _region(index, shape):
    """The shape that x[index] has; a test for coordinates of x; a map from coordinates there to those of x.

    And whether all elements are listed, so that one may be named twice.
    """
    index = index if isinstance(index, tuple) else (index,)
    if all(i is None or i is Ellipsis or isinstance(i, slice) or _is_number(i) for i in index):
        return _product(index, shape)
    return _points(index, shape)


def _is_number(i):
    return not isinstance(i, (bool, TensorBase)) and hasattr(i, "__index__")


def _ranges(index, shape):
    """For each dimension the range of places, and its dimension in x[index] or None; and the shape of x[index]."""
    named = sum(i is not None and i is not Ellipsis for i in index)
    if named > len(shape):
        raise IndexError(f"too many indices for tensor of dimension {len(shape)}")
    if Ellipsis not in index:
        index += (Ellipsis,)
    at = index.index(Ellipsis)
    index = index[:at] + (slice(None),) * (len(shape) - named) + index[at + 1:]
    found, region, d = [], [], 0
    for i in index:
        if i is None:
            region.append(1)
            continue
        n = shape[d]
        if isinstance(i, slice):
            if i.step is not None and i.step <= 0:
                raise ValueError("step must be greater than zero")
            places = range(n)[i]
            if len(places) < 2:                # a step beyond 64 bits is none
                places = range(places.start, places.start + len(places))
            found.append((places, len(region)))
            region.append(len(places))
        else:
            i = i.__index__()
            if not -n <= i < n:
                raise IndexError(f"index {i} is out of bounds for dimension {d} with size {n}")
            found.append((range(i % n, i % n + 1), None))
        d += 1
    return found, tuple(region)


def _product(index, shape):
    """`_region` of numbers and slices."""
    found, region = _ranges(index, shape)

    def covers(indices):
        inside = np.ones(indices.shape[1], bool)
        for along, (places, _) in zip(indices, found, strict=True):
            inside &= (along >= places.start) & (along < places.stop) & ((along - places.start) % places.step == 0)
        return inside

    def coordinates(where):
        return np.stack([np.full(where.shape[1], places.start) if k is None else places.start + places.step * where[k]
                         for places, k in found]) if found else np.zeros((0, where.shape[1]), np.int64)
    return region, covers, coordinates, False


def _points(index, shape):
    """`_region` where tensors, lists or masks are among the indices: a list of all elements that are addressed."""
    index = tuple([i.to_dense() if isinstance(i, TensorBase) and i.layout is not strided else i for i in index])
    chosen = [OPS["torch.arange"](n).reshape((n,) + (1,) * (len(shape) - d - 1)).expand(shape)[index]
              for d, n in enumerate(shape)]
    region = tuple(chosen[0].shape)
    points = np.stack([c.reshape(-1)._ndarray() for c in chosen])

    def covers(indices):
        mine, theirs = keys_of([indices, points], shape)
        return np.isin(mine, theirs)

    def coordinates(where):
        return points[:, np.ravel_multi_index(tuple(where), region)] if where.shape[1] else points[:, :0]
    return region, covers, coordinates, True
