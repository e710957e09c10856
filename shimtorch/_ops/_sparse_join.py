"""Matching the entries of sparse tensors by coordinates, and bringing two of them to one shape."""
import numpy as np

from .._core import OPS
from .._core.tensor import wrap_ndarray
from ._sparse_parts import on_device, parts
from .shape import broadcast_shapes


def keys_of(arrays, sizes):
    """A number for each column of each (dims, n) array of coordinates within `sizes`; equal for equal columns."""
    total = 1
    for n in sizes:
        total *= int(n)
    if total < 2**62:
        return [_ravelled(a, sizes) for a in arrays]
    from .._kernels.coalesce import Grouping
    joined = np.ascontiguousarray(np.concatenate(arrays, 1))
    return np.split(Grouping(joined, tuple(sizes)).inverse(), np.cumsum([a.shape[1] for a in arrays[:-1]]))


def _ravelled(coordinates, sizes):
    keys = np.zeros(coordinates.shape[1], np.int64)
    for along, n in zip(coordinates, sizes, strict=True):
        keys *= n
        keys += along
    return keys


def join(left, right):
    """Places in two arrays of keys that hold the same key, every pair; ascending in the first."""
    order = np.argsort(right, kind="stable")
    ordered = right[order]
    first = np.searchsorted(ordered, left, "left")
    count = np.searchsorted(ordered, left, "right") - first
    in_left = np.repeat(np.arange(left.size), count)
    ends = np.cumsum(count)
    within = np.arange(in_left.size) - np.repeat(ends - count, count)
    return in_left, order[np.repeat(first, count) + within]


def with_sparse_dim(x, n):
    """A sparse tensor with its first n dimensions sparse, at least as many as now; every element becomes an entry."""
    p = parts.parts(x)
    if p.sparse_dim == n:
        return x
    inner = tuple(x.shape[p.sparse_dim:n])
    width = 1
    for size in inner:
        width *= size
    if p.indices.is_cuda:
        indices = on_device().split_entries(p.indices, inner, width)
        return parts.make_coo(indices, p.values.reshape((indices.shape[1], *x.shape[n:])), x.shape, p.coalesced, True)
    outer = np.repeat(p.indices._ndarray(), width, axis=1)
    places = np.unravel_index(np.tile(np.arange(width), p.indices.shape[1]), inner) if width else (
        np.zeros(0, np.int64),) * len(inner)
    values = p.values.reshape((outer.shape[1], *x.shape[n:]))
    return parts.make_coo(wrap_ndarray(np.concatenate((outer, np.stack(places)))), values, x.shape, p.coalesced, True)


def with_leading(x, ndim):
    """A sparse tensor with as many dimensions as said, the new ones first and of size 1."""
    lead = ndim - x.dim()
    if not lead:
        return x
    p = parts.parts(x)
    indices = OPS["torch.cat"]([p.indices.new_zeros((lead, p.indices.shape[1])), p.indices])
    return parts.make_coo(indices, p.values, (1,) * lead + tuple(x.shape), p.coalesced, True)


def common_shape(a, b, name):
    """The shape that two tensors broadcast to; RuntimeError naming the op where they do not."""
    try:
        return broadcast_shapes(a.shape, b.shape)
    except RuntimeError:
        raise RuntimeError(f"{name}: expected sizes of 'self' and 'other' to match, but {list(a.shape)} != "
                           f"{list(b.shape)}") from None


def aligned(a, b, name):
    """Two sparse tensors with equal numbers of dimensions, sparse and dense, and their common shape."""
    shape = common_shape(a, b, name)
    a, b = with_leading(a, len(shape)), with_leading(b, len(shape))
    n = max(parts.unchecked_parts(a).sparse_dim, parts.unchecked_parts(b).sparse_dim)
    return with_sparse_dim(a, n), with_sparse_dim(b, n), shape


def expanded(a, b, name):
    """Two sparse tensors of one shape and one number of sparse dimensions."""
    from .sparse_shape import expand
    a, b, shape = aligned(a, b, name)
    return a if a.shape == shape else expand(a, *shape), b if b.shape == shape else expand(b, *shape)


def matching(a, b, shape):
    """Entries of two coalesced, aligned tensors that meet when broadcast, and the coordinates where they do.

    A dimension of size 1 in one of them takes the coordinate of the other.
    """
    n = parts.parts(a).sparse_dim
    if a.is_cuda:
        return on_device().matching(a, b, shape)
    x, y = parts.parts(a).indices._ndarray(), parts.parts(b).indices._ndarray()
    common = [d for d in range(n) if a.shape[d] == b.shape[d]]
    in_a, in_b = join(*keys_of([x[common], y[common]], [shape[d] for d in common]))
    indices = np.empty((n, in_a.size), np.int64)
    for d in range(n):
        indices[d] = x[d][in_a] if a.shape[d] != 1 or b.shape[d] == 1 else y[d][in_b]
    return wrap_ndarray(in_a), wrap_ndarray(in_b), wrap_ndarray(indices)
