"""Distances between the rows of matrices: cdist and pdist."""
import math

import numpy as np

from .._core import OPS
from .._core.declaring import op
from .._core.dtype import scalar_type
from .._core.tensor import wrap_ndarray
from ._rules import where
from .samples import Draw, Samples, call
from .shape import merged_shape

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


def _by_kernel(x):
    return not x.is_cuda and x.dtype.name in ("float32", "float64")


def _one_batch(x1, x2):
    """Two batches of matrices with their dimensions in front broadcast."""
    if x1.dim() == x2.dim() == 2 or x1.shape[:-2] == x2.shape[:-2]:
        return x1, x2
    shape = merged_shape(x1.shape[:-2], x2.shape[:-2])
    return x1.expand(*shape, *x1.shape[-2:]), x2.expand(*shape, *x2.shape[-2:])


def _pull(g, gap, distances, p):
    """How each element of a difference of rows moves their distance, times its gradient."""
    if p == 0:
        return gap * 0
    if p == 1:
        return g * gap.sgn()
    if p == 2:
        return gap * where(distances == 0, 0, g / where(distances == 0, 1, distances))
    return g * gap.sgn() * (gap.abs() == distances).to(g.dtype)


def _between_grad(g, x1, x2, p, out, first):
    pull = _pull(g.unsqueeze(-1), x1.unsqueeze(-2) - x2.unsqueeze(-3), out.unsqueeze(-1), p)
    return pull.sum(-2) if first else -pull.sum(-3)


@op(method=False, function=False, backward_name="CdistBackward0", grads={
    "x1": lambda g, x1, x2, p, out: _between_grad(g, x1, x2, p, out, True),
    "x2": lambda g, x1, x2, p, out: _between_grad(g, x1, x2, p, out, False)})
def _distances(x1, x2, p):
    """``cdist`` of matrices, or of batches of the same shape in front, by the norms that need no powers."""
    batch = math.prod(x1.shape[:-2])
    a = np.ascontiguousarray(x1._ndarray()).reshape(batch, *x1.shape[-2:])
    b = np.ascontiguousarray(x2._ndarray().swapaxes(-1, -2)).reshape(batch, x2.shape[-1], x2.shape[-2])
    out = np.zeros((batch, a.shape[1], b.shape[2]), a.dtype)
    from .._kernels import distances as kernels
    kernels.between(a, b, out, p)
    return wrap_ndarray(out.reshape(*x1.shape[:-1], x2.shape[-2]))


def _pairs(x):
    """The numbers of the rows of each pair: (0, 1), (0, 2), ..."""
    n = x.shape[0]
    return OPS["torch.triu_indices"](n, n, 1, device=x.device)


def _within_grad(g, x, p, out):
    rows, columns = _pairs(x)
    gap = x.index_select(0, rows) - x.index_select(0, columns)
    pull = _pull(g.unsqueeze(-1), gap, out.unsqueeze(-1), p)
    return pull.new_zeros(x.shape).index_add(0, rows, pull).index_add(0, columns, -pull)


@op(method=False, function=False, backward_name="PdistBackward0", grads={"input": lambda g, input, p, out: _within_grad(
    g, input, p, out)})
def _distances_within(input, p):
    """``pdist`` by the norms that need no powers."""
    n = input.shape[0]
    out = np.zeros(n * (n - 1) // 2, input._ndarray().dtype)
    array = input._ndarray()
    from .._kernels import distances as kernels
    kernels.within(np.ascontiguousarray(array), np.ascontiguousarray(array.T), out, p)
    return wrap_ndarray(out)


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
    if p in (0, 1, 2, math.inf) and x1.dtype is x2.dtype and _by_kernel(x1) and _by_kernel(x2):
        return _distances(*_one_batch(x1, x2), float(p))
    difference = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    return difference.norm(p, -1) if difference.numel() or p != math.inf else difference.sum(-1)


@op(method=False, samples=Samples([call(Draw(4, 3)), call(Draw(4, 3), 1.0), call(Draw(4, 3), 3.0)]))
def pdist(input, p=2.0):
    """The p-norm distances between all pairs of rows of a matrix, as a vector."""
    if input.dim() != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.dim()}D")
    if not input.is_floating_point():
        raise RuntimeError("pdist only supports floating-point dtypes")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    if p in (0, 1, 2, math.inf) and _by_kernel(input):
        return _distances_within(input, float(p))
    rows, columns = _pairs(input)
    return (input.index_select(0, rows) - input.index_select(0, columns)).norm(p, -1)
