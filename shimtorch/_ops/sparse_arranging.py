"""What turning, repeating and cutting by diagonals do to sparse operands.

Each takes the entries of the coalesced operand, or some of them, to other places: a gradient has the operand's pattern.
A dimension of the result that would mix sparse and dense ones makes every element of a dense part an entry.
"""
import math

from .._core import OPS
from .._core.dtype import int64
from .._core.tensor import TensorBase
from ._sparse_join import with_sparse_dim
from ._sparse_parts import counted, is_coo, on_sparse, parts
from .arranging import flipped_dims, rolled_dims
from .shape import wrap
from .sparse import sparse_coo_from_parts

_stack, _cat = OPS["torch.stack"], OPS["torch.cat"]


def _opened(self):
    """Sparse dimensions, indices and values of the coalesced tensor."""
    self = self.coalesce()
    indices = self._indices()
    return indices.shape[0], indices, self.values()


def _opened_wholly(self):
    """Indices and values of the coalesced tensor with all its dimensions sparse."""
    self = self.coalesce()
    return parts.parts(with_sparse_dim(self.detach(), self.dim())).indices, self.values().reshape(-1)


def _made(indices, values, size, coalesced=False):
    return sparse_coo_from_parts(indices, values, tuple(size), coalesced, True)


def _some(indices, values, chosen):
    """The entries for which a mask holds."""
    places = chosen.nonzero().reshape(-1)
    return indices.index_select(1, places), values.index_select(0, places)


def _numbers(given):
    return tuple(given[0]) if len(given) == 1 and isinstance(given[0], (tuple, list)) else given


# ---------------------------------------------------------------- diagonals

@on_sparse("diagonal", composed=True)
def diagonal(self, offset=0, dim1=0, dim2=1):
    ndim = self.dim()
    a, b = wrap(dim1, ndim), wrap(dim2, ndim)
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    rest = [d for d in range(ndim) if d not in (a, b)]
    length = max(min(self.shape[a], self.shape[b] - offset) if offset >= 0 else min(
        self.shape[a] + offset, self.shape[b]), 0)
    size = [self.shape[d] for d in rest] + [length]
    n = parts.unchecked_parts(self).sparse_dim
    if a >= n and b >= n:
        n, indices, values = _opened(self)
        return _made(indices, values.diagonal(offset, a - n + 1, b - n + 1).contiguous(), size, True)
    indices, values = _opened_wholly(self)
    indices, values = _some(indices, values, indices[b] - indices[a] == offset)
    return _made(_stack([indices[d] for d in (*rest, a if offset >= 0 else b)]), values, size)


@on_sparse("diag_embed", composite=True)
def diag_embed(self, offset=0, dim1=-2, dim2=-1):
    ndim = self.dim() + 1
    a, b = wrap(dim1, ndim), wrap(dim2, ndim)
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    indices, values = _opened_wholly(self)
    rest = [d for d in range(ndim) if d not in (a, b)]
    size, placed = [self.shape[-1] + abs(offset)] * ndim, [None] * ndim
    for k, d in enumerate(rest):
        placed[d], size[d] = indices[k], self.shape[k]
    placed[a], placed[b] = indices[-1] + max(-offset, 0), indices[-1] + max(offset, 0)
    return _made(_stack(placed), values, size)


def _triangle(self, diagonal, lower, name):
    if self.dim() < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
    n, indices, values = _opened(self)
    if n <= self.dim() - 2:             # matrices are dense
        return _made(indices, values.tril(diagonal) if lower else values.triu(diagonal), self.shape, True)
    if n == self.dim() - 1:             # a row of a matrix is dense, which one it is stands in the indices
        above = counted(self.shape[-1], indices) - indices[-1].unsqueeze(1)
        gone = above > diagonal if lower else above < diagonal
        return _made(indices, values.masked_fill(gone, 0), self.shape, True)
    above = indices[-1] - indices[-2]
    indices, values = _some(indices, values, above <= diagonal if lower else above >= diagonal)
    return _made(indices, values, self.shape, True)


@on_sparse("tril", composed=True)
def tril(self, diagonal=0):
    return _triangle(self, diagonal, True, "tril")


@on_sparse("triu", composed=True)
def triu(self, diagonal=0):
    return _triangle(self, diagonal, False, "triu")


@on_sparse("tril", inplace=True)
def tril_(self, diagonal=0):
    return parts.become(self, OPS["torch.tril"](self, diagonal))


@on_sparse("triu", inplace=True)
def triu_(self, diagonal=0):
    return parts.become(self, OPS["torch.triu"](self, diagonal))


# ---------------------------------------------------------------- turning

@on_sparse("flip", composed=True)
def flip(self, *dims):
    places = flipped_dims(dims, self.dim())
    n, indices, values = _opened(self)
    turned = indices.clone()
    for d in places:
        if d < n:
            turned[d] = self.shape[d] - 1 - indices[d]
    inner = [d - n + 1 for d in places if d >= n]
    return _made(turned, values.flip(inner) if inner else values, self.shape, all(d >= n for d in places))


@on_sparse("roll", composed=True)
def roll(self, shifts, dims=()):
    shifts, dims = rolled_dims(shifts, dims, self.dim())
    if not dims:
        return OPS["torch.roll"](self.reshape(-1), shifts, (0,)).reshape(self.shape)
    n, indices, values = _opened(self)
    moved = indices.clone()
    inner = []
    for shift, d in zip(shifts, [wrap(d, self.dim()) for d in dims], strict=True):
        if d >= n:
            inner.append((shift, d - n + 1))
        elif self.shape[d]:
            moved[d] = (moved[d] + shift % self.shape[d]) % self.shape[d]
    if inner:
        values = values.roll(*zip(*inner, strict=True))
    return _made(moved, values, self.shape, len(inner) == len(dims))


# ---------------------------------------------------------------- repeating

@on_sparse("repeat", composite=True)
def repeat(self, *sizes):
    sizes = _numbers(sizes)
    lead = len(sizes) - self.dim()
    if lead < 0:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    old = (1,) * lead + tuple(self.shape)
    size = [r * s for r, s in zip(sizes, old, strict=True)]
    if any(r < 0 for r in sizes):
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(size)}: {size}")
    n, indices, values = _opened(self)
    n += lead
    nnz, copies = indices.shape[1], math.prod(sizes[:n])
    indices = _cat([indices.new_zeros((lead, nnz)), indices])
    indices = indices.unsqueeze(1).expand(n, copies, nnz).reshape(n, copies * nnz)
    if not indices.is_contiguous():     # a view still
        indices = indices.clone()
    which = counted(copies, indices).unsqueeze(1).expand(copies, nnz).reshape(-1)
    for d in range(n - 1, -1, -1):
        times = max(sizes[d], 1)
        indices[d] += which % times * old[d]
        which = which.div(times, rounding_mode="floor")
    if copies != 1 or any(r != 1 for r in sizes[n:]):
        values = values.repeat(copies, *sizes[n:])
    return _made(indices, values, size, all(r == 1 for r in sizes[1:n]))


@on_sparse("repeat_interleave", composite=True)
def repeat_interleave(self, repeats=None, dim=None, *, output_size=None):
    if repeats is None:
        raise NotImplementedError("repeat_interleave: not implemented for a sparse tensor of repeats")
    if dim is None:
        self, dim = self.reshape(-1), 0
    d = wrap(dim, self.dim())
    places = counted(self.shape[d], self)
    if isinstance(repeats, TensorBase) and repeats.dim() and repeats.numel() == 1:
        repeats = repeats.item()
    return self.index_select(d, OPS["torch.repeat_interleave"](places, repeats, 0, output_size=output_size))


# ---------------------------------------------------------------- products of all entries with all

def _factor(x, ndim):
    """Shape, coordinates (a tensor for each dimension) and values of an operand with that many dimensions.

    Of a dense one, all elements.
    """
    lead = ndim - x.dim()
    shape = (1,) * lead + tuple(x.shape)
    if is_coo(x):
        indices, values = _opened_wholly(x)
        rows = list(indices.unbind(0))
    else:
        values, rows = x.reshape(-1), []
        rest = counted(x.numel(), x)
        for n in reversed(x.shape):
            rows.insert(0, rest % max(n, 1))
            rest = rest.div(max(n, 1), rounding_mode="floor")
    zero = counted(values.shape[0], values) * 0
    return shape, [zero] * lead + rows, values


@on_sparse("kron", composite=True)
def kron(self, other):
    ndim = max(self.dim(), other.dim())
    (a_shape, a, x), (b_shape, b, y) = _factor(self, ndim), _factor(other, ndim)
    indices = x.new_empty((ndim, x.shape[0], y.shape[0]), dtype=int64)
    for d in range(ndim):
        OPS["torch.add"](a[d].unsqueeze(1) * b_shape[d], b[d], out=indices[d])
    values = (x.unsqueeze(1) * y).reshape(-1)
    shape = [n * m for n, m in zip(a_shape, b_shape, strict=True)]
    return _made(indices.reshape(ndim, values.shape[0]), values, shape, ndim == 1)


@on_sparse("block_diag", composite=True)
def block_diag(*tensors):
    places, values, rows, columns = [], [], 0, 0
    for k, x in enumerate(tensors):
        if x.dim() > 2:
            raise RuntimeError(f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {k} has "
                               f"{x.dim()} dimensions")
        shape, indices, entries = _factor(x, 2)
        places.append(_stack([indices[0] + rows, indices[1] + columns]))
        values.append(entries)
        rows, columns = rows + shape[0], columns + shape[1]
    return _made(_cat(places, 1), _cat(values), (rows, columns), True)
