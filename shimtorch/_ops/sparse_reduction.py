"""Sums, norms and softmax of sparse tensors."""
import math

import numpy as np

from .._core import OPS
from .._core.declaring import op
from .._core.device import strided
from .._core.dtype import bool as bool_dtype
from .._core.dtype import int64, scalar_type, uint8
from .._core.grad_mode import is_grad_enabled
from .._core.tensor import TensorBase, wrap_ndarray
from .._kernels.coalesce import Grouping
from ._sparse_parts import is_coo, on_device, on_sparse, parts
from .sparse import sparse_coo_from_parts, values_at
from .sparse_arithmetic import of_values


def reduced_dims(dim, ndim):
    """Dimensions as sorted numbers from 0; None stands for all."""
    if dim is None:
        return list(range(ndim))
    dims = []
    for d in dim if isinstance(dim, (tuple, list)) else (dim,):
        n = max(ndim, 1)
        if not -n <= d < n:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {d})")
        if d % n in dims:
            raise RuntimeError(f"dim {d % n} appears multiple times in the list of dims")
        dims.append(d % n)
    return sorted(dims)


def _sum(self, dims, keep_dtype):
    """The sum over dims: dense where no sparse dimension is left, else sparse and coalesced."""
    p = parts.parts(self)
    kept = [d for d in range(p.sparse_dim) if d not in dims]
    inner = [d - p.sparse_dim + 1 for d in dims if d >= p.sparse_dim]
    values = p.values
    if not kept:
        dtype = self.dtype if keep_dtype else None
        return values.sum([0, *inner], dtype=dtype) if values.dim() > 1 or dtype is not None else values.sum()
    if inner:
        values = values.sum(inner, dtype=self.dtype)
    size = [n for d, n in enumerate(self.shape) if d not in dims]
    if len(kept) == p.sparse_dim:
        return parts.coalesce(parts.make_coo(p.indices, values, size, p.coalesced, True))
    chosen = kept if kept[-1] - kept[0] + 1 != len(kept) else None
    indices = p.indices.narrow(0, kept[0], len(kept)) if chosen is None else p.indices[chosen]
    return parts.coalesce(parts.make_coo(indices, values, size, False, True))


@op(method=False, function=False, sparse=True, backward_name="SparseSumBackward0",
    grads={"self": lambda g, self, dims: _sum_grad(g, self, dims)})
def sparse_sum(self, dims):
    """The sum over some dimensions, numbered from 0; the gradient is sparse, on the tensor's own indices."""
    return _sum(self, dims, len(dims) < self.dim())


def _sum_grad(g, self, dims):
    pattern = parts.coalesce(self.detach())
    p = parts.parts(pattern)
    kept = [d for d in range(p.sparse_dim) if d not in dims]
    shape = [p.values.shape[0]] + [1 if d in dims else n for d, n in enumerate(self.shape) if d >= p.sparse_dim]
    if kept:
        inner = [n for d, n in enumerate(self.shape) if d >= p.sparse_dim and d not in dims]
        blank = p.values.new_empty(()).expand(shape[0], *inner)
        g = values_at(g, parts.make_coo(p.indices[kept], blank, g.shape, False, True))
    else:
        g = (g.to_dense() if is_coo(g) else g).unsqueeze(0).expand(shape[0], *g.shape)
    values = g.reshape(shape).expand(p.values.shape)
    return sparse_coo_from_parts(p.indices, values, self.shape, True, True)


@on_sparse("sum", composed=True)
def sum_(self, dim=None, keepdim=False, *, dtype=None):
    if dtype is None and not (self.is_floating_point() or self.is_complex()):
        dtype = int64
    if dtype is not None and dtype is not self.dtype:
        self = self.to(dtype)
    dims = reduced_dims(None if isinstance(dim, (tuple, list)) and not dim else dim, self.dim())
    result = sparse_sum(self, tuple(dims))
    return _keep_dims(result, dims) if keepdim else result


def _keep_dims(result, dims):
    for d in dims:
        result = result.unsqueeze(d)
    return result


@on_sparse("sum_to_size", composite=True)
def sum_to_size(self, *size):
    size = tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
    lead = self.dim() - len(size)
    if lead < 0 or any(s != 1 and s != n for s, n in zip(size, self.shape[lead:], strict=True)):
        raise RuntimeError(f"size {{{list(size)}}} is not expandable to size {{{list(self.shape)}}}.")
    kept = [lead + i for i, s in enumerate(size) if s == 1 and self.shape[lead + i] != 1]
    dims = list(range(lead)) + kept
    return _keep_dims(self.sum(dims), [d - lead for d in kept]) if dims else self


@on_sparse("mean", composed=True)
def mean(self, dim=None, keepdim=False, *, dtype=None):
    if dtype is not None:
        self = self.to(dtype)
    if not (self.is_floating_point() or self.is_complex()):
        raise RuntimeError("mean(): could not infer output dtype. Input dtype must be either a floating point or "
                           f"complex dtype. Got: {scalar_type(self.dtype)}")
    n = math.prod(self.shape[d] for d in reduced_dims(None if dim == () else dim, self.dim()))
    total = self.sum(dim, keepdim) if dim is not None else self.sum()
    return total / n if n else total.to_dense() * math.nan


# ---------------------------------------------------------------- reductions in which a 0 counts

def _reduced(self, dim, keepdim, how, of_zeros, values=None):
    """A reduction over dimensions, differentiable: dense where no sparse dimension is left, else sparse.

    how: the reduction of scatter_reduce. of_zeros(x, some): what x, reduced from the entries, becomes where some
    elements were 0 besides; of zeros alone it must be 0. values: taken for those of the tensor, one for each entry.
    """
    self = self.coalesce()
    dims = reduced_dims(dim, self.dim())
    p = parts.parts(self.detach())
    values = self.values() if values is None else values
    n = p.sparse_dim
    inner = [d - n + 1 for d in dims if d >= n]
    outer = [d for d in range(n) if d in dims]
    for d in reversed(inner):
        values = _along(values, d, how)
    if outer:
        kept = [d for d in range(n) if d not in dims]
        many = math.prod(self.shape[d] for d in outer)
        if self.is_cuda:
            values, indices = _reduced_on_device(p, self.shape, kept, many, values, how, of_zeros)
        else:
            values, indices = _reduced_here(p, self.shape, kept, many, values, how, of_zeros)
        if not kept:
            result = values.squeeze(0)
            return _keep_dims(result, dims) if keepdim else result
    else:
        kept, indices = range(n), p.indices
    size = [self.shape[d] for d in kept] + [m for d, m in enumerate(self.shape) if d >= n and d not in dims]
    result = sparse_coo_from_parts(indices, values, size, True, True)
    return _keep_dims(result, dims) if keepdim else result


def _reduced_here(p, shape, kept, many, values, how, of_zeros):
    """Values and indices reduced over all sparse dimensions but the kept ones, of `many` elements for each result."""
    groups = Grouping(np.ascontiguousarray(p.indices._ndarray()[kept]), tuple(shape[d] for d in kept)) if kept else None
    count = groups.count if kept else 1
    place = groups.inverse() if kept else np.zeros(values.shape[0], np.int64)
    some = wrap_ndarray(np.bincount(place, minlength=count) < many).reshape((count,) + (1,) * (values.dim() - 1))
    index = wrap_ndarray(place).reshape((-1,) + (1,) * (values.dim() - 1)).expand(values.shape)
    base = values.new_full((count, *values.shape[1:]), _NEUTRAL[how](values.dtype))
    values = of_zeros(base.scatter_reduce(0, index, values, how), some)
    return values, wrap_ndarray(groups.indices()) if kept else None


def _reduced_on_device(p, shape, kept, many, values, how, of_zeros):
    """The same on a device, where the entries of a group are brought together one after another."""
    if not kept and not values.shape[0]:
        return of_zeros(values.new_full((1, *values.shape[1:]), _NEUTRAL[how](values.dtype)),
                        values.new_ones((1,) * values.dim(), dtype=bool_dtype)), None
    groups = on_device().Groups(p.indices[kept] if kept else p.indices[:0], tuple(shape[d] for d in kept))
    starts = groups.starts()
    some = (starts[1:] - starts[:-1] < min(many, 2**62)).reshape((groups.count,) + (1,) * (values.dim() - 1))
    return of_zeros(on_device().grouped(values, groups, how), some), groups.indices()


def _least(dtype):
    return float("-inf") if dtype.is_floating_point else False if dtype.name == "bool" else np.iinfo(dtype.name).min


def _greatest(dtype):
    return float("inf") if dtype.is_floating_point else True if dtype.name == "bool" else np.iinfo(dtype.name).max


_NEUTRAL = {"amax": _least, "amin": _greatest, "prod": lambda dtype: 1}


def _along(values, d, how):
    return values.prod(d) if how == "prod" else getattr(values, how)(d)


def _on_dense(self, name, dim, keepdim):
    """The op on the dense tensor, for a reduction over a dimension of size 0: it fails, or fills what is there."""
    return getattr(self.to_dense(), name)(dim, keepdim) if dim is not None else getattr(self.to_dense(), name)()


def _no_elements(self, dim):
    return not math.prod(self.shape[d] for d in reduced_dims(None if dim in ((), []) else dim, self.dim()))


def _extreme(name):
    def forward(self, dim=(), keepdim=False):
        if _no_elements(self, dim):
            return _on_dense(self, name, dim, keepdim)
        choose = OPS["torch.maximum" if name == "amax" else "torch.minimum"]

        def of_zeros(x, some):
            return OPS["torch.where"](some, choose(x, x.new_zeros(())), x)
        return _reduced(self, None if dim in ((), []) else dim, keepdim, name, of_zeros)
    on_sparse(name, composed=True)(forward)


_extreme("amax")
_extreme("amin")


def _extreme_of_all(name, reduce, choose):
    def forward(self, *args, **kwargs):
        if len(args) == 1 and isinstance(args[0], TensorBase):
            return OPS["torch." + choose](self, args[0])
        if args or kwargs:
            raise NotImplementedError(f"{name}: not implemented for sparse tensors along a dimension; use {reduce}(), "
                                      "or to_dense() first")
        return getattr(self, reduce)()
    on_sparse(name, composed=True)(forward)


_extreme_of_all("max", "amax", "maximum")
_extreme_of_all("min", "amin", "minimum")


@on_sparse("prod", composed=True)
def prod(self, dim=None, keepdim=False, *, dtype=None):
    if dtype is None and not (self.is_floating_point() or self.is_complex()):
        dtype = int64
    if dtype is not None:
        self = self.to(dtype)
    if _no_elements(self, dim):
        return _on_dense(self, "prod", dim, keepdim)
    return _reduced(self, dim, keepdim, "prod", lambda x, some: x.masked_fill(some, 0))


@on_sparse("any", composite=True)
def any_(self, dim=None, keepdim=False):
    if _no_elements(self, dim):
        return _on_dense(self, "any", dim, keepdim)
    flags = (self.coalesce().detach()._values() != 0).to(uint8)
    return _reduced(self, dim, keepdim, "amax", lambda x, some: x, flags).to(_flag_dtype(self))


@on_sparse("all", composite=True)
def all_(self, dim=None, keepdim=False):
    if _no_elements(self, dim):
        return _on_dense(self, "all", dim, keepdim)
    flags = (self.coalesce().detach()._values() != 0).to(uint8)
    return _reduced(self, dim, keepdim, "amin", lambda x, some: x.masked_fill(some, 0), flags).to(_flag_dtype(self))


@on_sparse("count_nonzero", composite=True)
def count_nonzero(self, dim=None):
    return (self.coalesce().detach() != 0).to(int64).sum(dim)


@on_sparse("nonzero", composite=True)
def nonzero(self, *, as_tuple=False):
    p = parts.parts(parts.coalesce(self.detach()))
    places = p.values.nonzero()
    found = OPS["torch.cat"]([p.indices.t().index_select(0, places[:, 0]), places[:, 1:]], 1)
    return found.unbind(1) if as_tuple else found


def _flag_dtype(self):
    return self.dtype if self.dtype.name == "uint8" else bool_dtype


@on_sparse("_norm", composed=True)
def norm(self, p, dim, keepdim):
    dims = reduced_dims(None if dim is None or dim in ((), []) else dim, self.dim())
    if math.isinf(p):
        return self.abs().amax(dims, keepdim) if p > 0 else self.abs().amin(dims, keepdim)
    if p < 0:
        return self.to_dense().norm(p, dims, keepdim)
    if len(dims) == self.dim():
        result = self.coalesce().values().norm(p)
        return _keep_dims(result, dims) if keepdim else result
    if p == 0:
        return (self.coalesce() != 0).to(self.dtype).sum(dims, keepdim)
    powers = self.abs() if p == 1 else self.abs() ** p
    total = powers.sum(dims, keepdim)
    return total if p == 1 else _root(total, p) if total.layout is strided else of_values(total, _root, p)


def _root(x, p):
    """The p-th root of numbers, with a derivative of 0 at 0."""
    where, empty = OPS["torch.where"], x.detach() == 0
    return where(empty, 0, where(empty, 1, x) ** (1 / p))


# ---------------------------------------------------------------- softmax

@op(method=False, function=False, sparse=True, grads={
    "self": lambda g, out, dim, logarithm: _softmax_grad(g, out, dim, logarithm)})
def sparse_softmax(self, dim, logarithm):
    """Softmax along a dimension over what is stored: what is not counts as minus infinity."""
    from .._kernels import sparsesoftmax
    if self.layout is strided or not is_coo(self):
        raise NotImplementedError(f"softmax: expected a tensor of layout torch.sparse_coo, got {self.layout}")
    if not self.is_floating_point():
        raise NotImplementedError(f"\"softmax\" not implemented for '{scalar_type(self.dtype)}'")
    self = parts.coalesce(self)
    p = parts.parts(self)
    if dim >= p.sparse_dim:
        inner = dim - p.sparse_dim + 1
        values = p.values.log_softmax(inner) if logarithm else p.values.softmax(inner)
    else:
        values = p.values.float() if self.dtype.name in ("float16", "bfloat16") else p.values
        groups = _groups(p, self.shape, dim)
        if self.is_cuda:
            values = on_device().softmax(groups, values, logarithm)
        else:
            values = wrap_ndarray(sparsesoftmax.softmax(groups, values.contiguous()._ndarray(), logarithm))
    return parts.with_values(self, values.to(self.dtype))


def _groups(p, shape, dim):
    """The entries grouped by all sparse coordinates but one."""
    others = [d for d in range(p.sparse_dim) if d != dim]
    if p.indices.is_cuda:
        return on_device().Groups(p.indices[others] if others else p.indices[:0], tuple(shape[d] for d in others))
    return Grouping(np.ascontiguousarray(p.indices._ndarray()[others]), tuple(shape[d] for d in others))


def _softmax_grad(g, out, dim, logarithm):
    from .._kernels import sparsesoftmax
    pattern = out.detach()
    p = parts.parts(pattern)
    grad, result = values_at(g, pattern), out.values()
    if dim >= p.sparse_dim:
        inner = dim - p.sparse_dim + 1
        values = grad - result.exp() * grad.sum(inner, True) if logarithm else result * (
            grad - (grad * result).sum(inner, True))
    elif p.indices.is_cuda:
        groups = _groups(p, out.shape, dim)
        totals = on_device().grouped(grad if logarithm else grad * result, groups, "sum")
        totals = totals.index_select(0, groups.inverse())
        values = grad - result.exp() * totals if logarithm else result * (grad - totals)
    elif is_grad_enabled() or out.dtype.name in ("float16", "bfloat16"):
        groups = _groups(p, out.shape, dim)
        inverse = wrap_ndarray(groups.inverse())
        totals = (grad if logarithm else grad * result)
        totals = totals.new_zeros((groups.count, *totals.shape[1:])).index_add(0, inverse, totals)
        totals = totals.index_select(0, inverse)
        values = grad - result.exp() * totals if logarithm else result * (grad - totals)
    else:
        values = wrap_ndarray(sparsesoftmax.softmax_backward(
            _groups(p, out.shape, dim), grad.contiguous()._ndarray(), result.contiguous()._ndarray(), logarithm))
    return sparse_coo_from_parts(p.indices, values, out.shape, True, True)
