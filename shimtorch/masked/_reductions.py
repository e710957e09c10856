"""Reductions over the elements where a mask is true."""
from .. import _ops
from .._core.dtype import float32, int64
from ._filling import dims_of, filled, highest, lowest, mask_of, nan_filled


def _wide(input, dtype):
    """The dtype of sums and products: int64 for integers."""
    if dtype is not None:
        return dtype
    return input.dtype if input.is_floating_point() or input.is_complex() else int64


def sum(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The sum over dimensions (None: all)."""
    return filled(input, mask, 0).sum(dims_of(dim, input.dim()), bool(keepdim), dtype=_wide(input, dtype))


def prod(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The product over dimensions (None: all)."""
    result = filled(input, mask, 1).to(_wide(input, dtype))
    for d in reversed(dims_of(dim, input.dim())):
        result = result.prod(d, bool(keepdim))
    return result


def cumsum(input, dim, *, dtype=None, mask=None):
    """The running sum along a dimension, to which elements left out add nothing."""
    return filled(input, mask, 0).cumsum(_one(dim, input), dtype=dtype or input.dtype).to(dtype or input.dtype)


def cumprod(input, dim, *, dtype=None, mask=None):
    """The running product along a dimension, which elements left out do not change."""
    return filled(input, mask, 1).cumprod(_one(dim, input), dtype=dtype or input.dtype).to(dtype or input.dtype)


def _one(dim, input):
    return dims_of(dim, input.dim())[0] if input.dim() else dim


def amax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The largest element over dimensions (None: all)."""
    result = filled(input, mask, lowest(input.dtype)).amax(dims_of(dim, input.dim()), bool(keepdim))
    return result.to(dtype or input.dtype)


def amin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The smallest element over dimensions (None: all)."""
    result = filled(input, mask, highest(input.dtype)).amin(dims_of(dim, input.dim()), bool(keepdim))
    return result.to(dtype or input.dtype)


def argmax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The index of the largest element along a dimension (None: of all)."""
    return filled(input, mask, lowest(input.dtype)).argmax(dim, bool(keepdim)).to(dtype or input.dtype)


def argmin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The index of the smallest element along a dimension (None: of all)."""
    return filled(input, mask, highest(input.dtype)).argmin(dim, bool(keepdim)).to(dtype or input.dtype)


def _count(input, dim, keepdim, mask):
    mask = _ops.ones(input.shape, dtype=int64) if mask is None else mask_of(input, mask)
    return mask.sum(dims_of(dim, input.dim()), keepdim)


def mean(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The mean over dimensions (None: all); NaN where no element is left."""
    dtype = dtype or input.dtype
    if not (dtype.is_floating_point or dtype.is_complex):
        raise ValueError(f"mean expects floating point or complex dtype, got {dtype}")
    keepdim = bool(keepdim)
    return sum(input, dim, keepdim=keepdim, dtype=dtype, mask=mask) / _count(input, dim, keepdim, mask)


def median(input, dim=-1, *, keepdim=False, dtype=None, mask=None):
    """The middle element along a dimension (the lower of two); NaN where none is left."""
    dtype = dtype or input.dtype
    values = nan_filled(input, mask)
    result = (values.nanmedian(_one(dim, input), bool(keepdim))[0])
    if dtype.is_floating_point:
        return result.to(dtype)
    if result.isnan().any():
        raise ValueError("masked median expected no fully masked out rows if dtype is not floating point")
    return result.to(dtype)


def logsumexp(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The logarithm of the sum of exponentials over dimensions (None: all)."""
    dtype = dtype or input.dtype
    return filled(input, mask, lowest(input.dtype)).logsumexp(dims_of(dim, input.dim()), bool(keepdim)).to(dtype)


def norm(input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The vector norm over dimensions (None: all)."""
    from ..linalg import vector_norm
    values = filled(input, mask, highest(input.dtype) if ord < 0 else 0)
    return vector_norm(values, ord, dims_of(dim, input.dim()), bool(keepdim), dtype=dtype)


def _spread(input, dim, unbiased, correction, keepdim, dtype, mask):
    if unbiased is not None and correction is not None:
        raise ValueError("Only one of unbiased and correction may be given")
    if correction is None:
        correction = 1 if unbiased is None else int(bool(unbiased))
    dtype = dtype or input.dtype
    if not (dtype.is_floating_point or dtype.is_complex):
        dtype = float32
    count = _count(input, dim, True, mask)
    x = input.to(dtype) - sum(input, dim, keepdim=True, dtype=dtype, mask=mask) / count
    square = x * x.conj() if x.is_complex() else x * x
    total = sum(square.real if x.is_complex() else square, dim, keepdim=bool(keepdim), mask=mask)
    return (total / (count.reshape(total.shape) - correction).to(total.dtype).clamp(min=0)).to(dtype)


def var(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """The variance over dimensions (None: all), divided by the number of elements less ``correction`` (1)."""
    return _spread(input, dim, unbiased, correction, keepdim, dtype, mask)


def std(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """The standard deviation over dimensions (None: all): the root of ``var``."""
    return _spread(input, dim, unbiased, correction, keepdim, dtype, mask).sqrt()
