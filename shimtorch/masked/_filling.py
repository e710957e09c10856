"""Masks brought to the shape of the input, and the elements they leave out filled with what changes no result."""
import math

from .. import _ops
from .._core.dtype import bool as bool_dtype
from .._core.dtype import float32


def mask_of(input, mask):
    """The mask in the shape of the input, as bools."""
    if mask.dim() > input.dim():
        raise IndexError("_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)")
    return mask.expand(input.shape).to(bool_dtype)


def lowest(dtype):
    """What every number of a dtype is at least."""
    return -math.inf if dtype.is_floating_point or dtype.is_complex else _limits(dtype)[0]


def highest(dtype):
    """What every number of a dtype is at most."""
    return math.inf if dtype.is_floating_point or dtype.is_complex else _limits(dtype)[1]


def _limits(dtype):
    from .. import iinfo
    if dtype is bool_dtype:
        return False, True
    return iinfo(dtype).min, iinfo(dtype).max


def filled(input, mask, value):
    """The input with a value where the mask is false."""
    if mask is None:
        return input
    return _ops.where(mask_of(input, mask), input, _ops.full((), value, dtype=input.dtype))


def nan_filled(input, mask):
    """The input, in a floating-point dtype, with NaN where the mask is false."""
    if mask is None:
        return input
    input = input if input.is_floating_point() else input.to(float32)
    return filled(input, mask, math.nan)


def dims_of(dim, ndim):
    """Dimensions as a tuple of numbers from 0; None is all of them."""
    if dim is None or isinstance(dim, (tuple, list)) and not dim:
        return tuple(range(ndim))
    n, result = max(ndim, 1), []
    for d in dim if isinstance(dim, (tuple, list)) else (dim,):
        if not -n <= d < n:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {d})")
        if d % n in result:
            raise RuntimeError(f"dim={d % n} appears multiple times in the list of dims")
        result.append(d % n)
    return tuple(sorted(result)) if ndim else ()
