"""Sums, norms and softmax of sparse tensors."""
from .._core.device import strided
from .._core.grad_mode import is_grad_enabled
from .._core.op import op, scalar_type
from .._core.tensor import wrap_ndarray
from ._sparse_parts import is_coo, on_sparse, parts
from .sparse import sparse_coo_from_parts, values_at


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
        return values.sum([0, *inner], dtype=self.dtype if keep_dtype else None)
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


@on_sparse("sum")
def sum_(self, dim=None, keepdim=False, *, dtype=None):
    if not is_coo(self):
        self = self.to_sparse()
    if dtype is not None and dtype is not self.dtype:
        self = self.to(dtype)
    dims = reduced_dims(None if isinstance(dim, (tuple, list)) and not dim else dim, self.dim())
    result = _sum(self, dims, dtype is not None or not dims)
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
    return _keep_dims(sparse_sum(self, dims), [d - lead for d in kept]) if dims else self


@on_sparse("norm", composite=True)
def norm(self, p="fro", dim=None, keepdim=False, *, dtype=None):
    if dim is not None and reduced_dims(dim, self.dim()) != list(range(self.dim())) and dim not in ((), []):
        raise RuntimeError("norm_sparse currently only supports full reductions, so 'dim' must either be empty or "
                           "contain all dimensions of the input")
    if keepdim:
        raise RuntimeError("norm_sparse currently does not support keepdim=True")
    values = self.coalesce().values() if is_coo(self) else self.values()
    return values.norm(p, dtype=dtype)


@on_sparse("any", composite=True)
def any_(self, dim=None, keepdim=False):
    if dim is not None:
        raise NotImplementedError("any: not implemented for a dimension of a sparse tensor")
    return (self.coalesce()._values() if is_coo(self) else self.values().detach()).any()


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
        values = wrap_ndarray(sparsesoftmax.softmax(groups, values.contiguous()._ndarray(), logarithm))
    return parts.with_values(self, values.to(self.dtype))


def _groups(p, shape, dim):
    """The entries grouped by all sparse coordinates but one."""
    import numpy as np

    from .._kernels.coalesce import Grouping
    others = [d for d in range(p.sparse_dim) if d != dim]
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
