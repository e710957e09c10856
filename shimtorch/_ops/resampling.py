"""Weighted sums of a few elements along a dimension, which images are resized by, and their transpose."""
import numpy as np

from .._core.declaring import op
from .._core.tensor import wrap_ndarray
from ._placing import in_three


def _operands(x, dim, places, weights, n):
    array = np.ascontiguousarray(x._ndarray())
    out = np.zeros(array.shape[:dim] + (n,) + array.shape[dim + 1:], array.dtype)
    return out, (in_three(array, dim), places, np.ascontiguousarray(weights, array.dtype), in_three(out, dim))


@op(method=False, function=False, grads={"x": lambda g, x_shape, dim, places, weights: spread_taps(
    g, dim, places, weights, x_shape[dim])})
def weigh_taps(x, dim, places, weights):
    """Element j along a dimension is the sum of ``x[places[j, t]] * weights[j, t]``; float32 or float64.

    places and weights are ndarrays (n, taps).
    """
    out, operands = _operands(x, dim, places, weights, len(places))
    from .._kernels import taps as kernels
    kernels.weigh(*operands)
    return wrap_ndarray(out)


@op(method=False, function=False, grads={"grad": lambda g, dim, places, weights: weigh_taps(g, dim, places, weights)})
def spread_taps(grad, dim, places, weights, size):
    """The gradient of ``weigh_taps`` for an input of a size along the dimension."""
    out, operands = _operands(grad, dim, places, weights, size)
    from .._kernels import taps as kernels
    kernels.spread(*operands)
    return wrap_ndarray(out)
