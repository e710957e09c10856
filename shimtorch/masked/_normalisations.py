"""Softmax and its kin over the elements where a mask is true, and sums of exponentials of two tensors."""
import math

from .. import _ops
from ._filling import filled
from ._reductions import norm


def softmax(input, dim, *, dtype=None, mask=None):
    """``exp(x) / sum(exp(x))`` along a dimension; 0 where left out, NaN where all are."""
    return filled(input, mask, -math.inf).softmax(dim, dtype=dtype or input.dtype)


def log_softmax(input, dim, *, dtype=None, mask=None):
    """The logarithm of ``softmax``."""
    return filled(input, mask, -math.inf).log_softmax(dim, dtype=dtype or input.dtype)


def softmin(input, dim, *, dtype=None, mask=None):
    """``softmax`` of the negated input."""
    return (-filled(input, mask, math.inf)).softmax(dim, dtype=dtype or input.dtype)


def normalize(input, ord, dim, *, eps=1e-12, dtype=None, mask=None):
    """The input, 0 where left out, divided by its norm along a dimension (by ``eps`` where that is smaller)."""
    size = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return filled(input, mask, 0) / size.clamp(min=eps)


def logaddexp(input, other, *, dtype=None, input_mask=None, other_mask=None):
    """``log(exp(input) + exp(other))``, where what a mask leaves out adds nothing."""
    result = _ops.logaddexp(filled(input, input_mask, -math.inf), filled(other, other_mask, -math.inf))
    return result.to(dtype or input.dtype)
