"""Norms of vectors, and distances."""
import math

from .._core import OPS
from .._core.declaring import op
from .._core.dtype import scalar_type
from .._core.reductions import reduce_all
from ._rules import restore_dims, where
from .reduction import dims_of
from .samples import Draw, Samples, call


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


@op(method=False, samples=Samples([call(Draw(2, 3, 4), (0, 2)), call(Draw(3, 4), (1,), True)]))
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
    d = dims_of(dim, self.dim())[0]
    size = self.norm(p, [i for i in range(self.dim()) if i != d], True)
    return self * where(size > maxnorm, maxnorm / (size + 1e-7), 1.0)


_COMPUTE_MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")


def _euclidean_grad(g, x, y, distances):
    """The gradient of x: rows far from it pull along the difference, at distance 0 not at all."""
    same = distances == 0
    pull = where(same, 0.0, g / where(same, 1.0, distances))
    return x * pull.sum(-1, True) - pull.matmul(y)


@op(method=False, function=False, cuda=True, backward_name="EuclideanDistBackward0", grads={
    "x1": lambda g, x1, x2, out: _euclidean_grad(g, x1, x2, out).sum_to_size(x1.shape),
    "x2": lambda g, x1, x2, out: _euclidean_grad(g.mT, x2, x1, out.mT).sum_to_size(x2.shape)})
def _euclidean(x1, x2):
    squares = x1.square().sum(-1, True) + x2.square().sum(-1).unsqueeze(-2)
    return (squares - 2 * x1.matmul(x2.mT)).clamp_(min=0).sqrt_()


@op(method=False, samples=Samples([
    call(Draw(3, 4), Draw(5, 4)), call(Draw(30, 4), Draw(2, 4)), call(Draw(2, 3, 4), Draw(2, 4), 1.0),
    call(Draw(3, 4), Draw(2, 4), 3), call(Draw(3, 4), Draw(2, 4), math.inf), call(Draw(0, 4), Draw(2, 4))]))
def cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    """The p-norm distance between each pair of rows of two (batches of) matrices.

    Euclidean distances of many rows come from products of the matrices, with some loss of digits where rows are close;
    compute_mode "use_mm_for_euclid_dist" asks for that always, "donot_use_mm_for_euclid_dist" for differences.
    """
    for i, x in enumerate((x1, x2)):
        if x.dim() < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, X{i + 1} got: {x.dim()}D")
        if not x.is_floating_point():
            raise RuntimeError(f"cdist only supports floating-point dtypes, X{i + 1} got: {scalar_type(x.dtype)}")
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}")
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    if compute_mode not in _COMPUTE_MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    always, never = (compute_mode == mode for mode in _COMPUTE_MODES[1:])
    if p == 2 and not never and (always or max(x1.shape[-2], x2.shape[-2]) > 25):
        return _euclidean(x1, x2)
    difference = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    return difference.norm(p, -1) if difference.numel() or p != math.inf else difference.sum(-1)


@op(method=False, samples=Samples([call(Draw(4, 3)), call(Draw(4, 3), 1.0), call(Draw(4, 3), 3.0)]))
def pdist(input, p=2.0):
    """The p-norm distances between all pairs of rows of a matrix, as a vector."""
    if input.dim() != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.dim()}D")
    n = input.shape[0]
    rows, columns = OPS["torch.triu_indices"](n, n, 1, device=input.device)
    return (input.index_select(0, rows) - input.index_select(0, columns)).norm(p, -1)
