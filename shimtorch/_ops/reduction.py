"""Reductions: sums, means, extremes, over all elements or along dimensions."""
from .._core.kinds import extreme, reduce_all, reduction
from .._core.op import op
from . import samples
from ._rules import conj, restore_dims
from ._results import named

_sum_samples = samples.reduction(dtypes="number")

reduction("sum", samples=_sum_samples,
          grads={"self": lambda g, self_shape, dim, keepdim: restore_dims(g, self_shape, dim, keepdim).expand(
              self_shape)})
reduction("amax", needs_elements=True, samples=samples.reduction(dtypes="real"),
          grads={"self": lambda g, self, out, dim, keepdim: _spread(g, self, out, dim, keepdim)})
reduction("amin", needs_elements=True, samples=samples.reduction(dtypes="real"),
          grads={"self": lambda g, self, out, dim, keepdim: _spread(g, self, out, dim, keepdim)})


def _spread(g, x, out, dim, keepdim):
    """The gradient of an extreme, shared evenly by the elements that reach it."""
    hit = (x == restore_dims(out, x.shape, dim, keepdim)).to(g.dtype)
    return restore_dims(g, x.shape, dim, keepdim) * hit / hit.sum(() if dim is None else dim, True)


@op(out=True, samples=samples.reduction())
def mean(self, dim=None, keepdim=False, *, dtype=None):
    """The mean over all elements, or over dimensions."""
    if dtype is not None:
        self = self.to(dtype)
    if not (self.is_floating_point() or self.is_complex()):
        from .._core.op import scalar_type
        raise RuntimeError("mean(): could not infer output dtype. Input dtype must be either a floating point or "
                           f"complex dtype. Got: {scalar_type(self.dtype)}")
    total = self.sum(dim, keepdim)
    n = self.numel() // max(total.numel(), 1) if self.numel() else _reduced_numel(self.shape, dim)
    return total / n


def _reduced_numel(shape, dim):
    n = 1
    for d in (range(len(shape)) if dim is None else (dim,) if isinstance(dim, int) else dim):
        n *= shape[d]
    return n
