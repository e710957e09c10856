"""Norms of vectors, and distances."""
import math

from .._core import OPS
from .._core.declaring import op
from .._core.dtype import scalar_type
from .._core.reductions import reduce_all
from ._rules import restore_dims, where
from .reduction import dims_of
from .samples import Draw, Samples, call
from .shape import wrap


@op(method=False, function=False, backward_name="LinalgVectorNormBackward0", grads={
    "self": lambda g, self, out, p, dim, keepdim: _norm_grad(g, self, out, p, dim, keepdim)})
def _norm(self, p, dim, keepdim):
    if self.is_complex():
        self = OPS["torch.abs"](self)
    if p == 2:
        return reduce_all(self, "sumsq", dim, keepdim).sqrt()
    if p == 1:
        return reduce_all(self, "sumabs", dim, keepdim)
    if p in (math.inf, -math.inf):
        if not self.numel() and 0 in [self.shape[d] for d in dims_of(dim, self.dim())]:
            raise RuntimeError(f"linalg.vector_norm cannot compute the {'inf' if p > 0 else '-inf'} norm on an empty "
                               "tensor because the operation does not have an identity")
        return self.abs().amax(dim, keepdim) if p > 0 else self.abs().amin(dim, keepdim)
    if p == 0:
        return (self != 0).to(self.dtype).sum(dim, keepdim)
    return reduce_all(self, "norm_p", dim, keepdim, p).pow(1 / p)


def _norm_grad(g, x, out, p, dim, keepdim):
    g, out = restore_dims(g, x.shape, dim, keepdim), restore_dims(out, x.shape, dim, keepdim)
    if p == 0:
        return x * 0
    if p == 1:
        return g * x.sgn()
    if p == 2:
        return g * where(out == 0, 0, x / where(out == 0, 1, out))
    if p in (math.inf, -math.inf):
        hit = (x.abs() == out).to(g.dtype)
        return g * x.sgn() * hit / hit.sum(dim, True)
    scale = where(out == 0, 0, x.abs() / where(out == 0, 1, out))
    return g * x.sgn() * where(scale == 0, 0, where(scale == 0, 1, scale).pow(p - 1))


@op(out=True, samples=Samples([
    call(Draw(3, 4)), call(Draw(3, 4), 2, 1), call(Draw(3, 4), 1), call(Draw(3, 4, away_from=0), 3, 0, True),
    call(Draw(3, 4), math.inf, 1), call(Draw(3, 4), -math.inf), call(Draw(2, 3, 4), 2, (0, 1)),
    call(Draw(3, 4, away_from=0), 0.5), call(Draw(3, 4), 0), call(Draw(3, 4), "fro", (0, 1)), call(Draw(3, 4), dim=0),
    call(Draw())], "floating"))
def norm(self, p="fro", dim=None, keepdim=False, *, dtype=None):
    """The p-norm of the elements, of all or along dimensions ("fro": 2)."""
    if dtype is not None:
        self = self.to(dtype)
    if p == "nuc":
        from . import linalg_norms
        return linalg_norms.nuclear_norm(self, dim, keepdim)
    if isinstance(p, str) and p != "fro":
        raise RuntimeError(f"linalg.matrix_norm: Order {p} not supported.")
    if not (self.is_floating_point() or self.is_complex()):
        raise RuntimeError("linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
                           f"{scalar_type(self.dtype)}")
    return _norm(self, 2 if p is None or p == "fro" else float(p), dim, keepdim)


@op(method=False, out=True, samples=Samples([call(Draw(2, 3, 4), (0, 2)), call(Draw(3, 4), (1,), True)]))
def frobenius_norm(self, dim=(), keepdim=False):
    """The root of the sum of squares over all elements, or over dimensions."""
    return norm(self, 2, dim, keepdim)


@op(samples=Samples([call(Draw(3, 4), Draw(3, 4)), call(Draw(3, 4), Draw(4), 1), call(Draw(3), Draw(3), 3)],
                    "floating"))
def dist(self, other, p=2):
    """The p-norm of the difference."""
    return (self - other).norm(p)


@op(out=True, inplace=True, renames={"max_norm": "maxnorm"}, samples=Samples([
    call(Draw(3, 4), 2, 0, 1), call(Draw(3, 4), 1, 1, 2.0), call(Draw(2, 3, 4), 3, -1, 1.5)], "floating"))
def renorm(self, p, dim, maxnorm):
    """Slices along a dimension scaled down where their p-norm exceeds ``maxnorm``."""
    if self.dim() < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {self.dim()} dimensions")
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    d = wrap(dim, self.dim())
    size = self.norm(p, [i for i in range(self.dim()) if i != d], True)
    return self.contiguous() * where(size > maxnorm, maxnorm / (size + 1e-7), 1.0)
