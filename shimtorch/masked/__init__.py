"""``torch.masked`` (from 1.13): reductions and normalisations that leave out elements where a mask is false.

A mask broadcasts to the input. What has no element left is the value of the operation on nothing: 0, 1, an infinity.
"""
from ._normalisations import log_softmax, logaddexp, normalize, softmax, softmin
from ._reductions import (
    amax,
    amin,
    argmax,
    argmin,
    cumprod,
    cumsum,
    logsumexp,
    mean,
    median,
    norm,
    prod,
    std,
    sum,
    var,
)

__all__ = ["amax", "amin", "argmax", "argmin", "as_masked_tensor", "cumprod", "cumsum", "is_masked_tensor",
           "log_softmax", "logaddexp", "logsumexp", "masked_tensor", "MaskedTensor", "mean", "median", "norm",
           "normalize", "prod", "softmax", "softmin", "std", "sum", "var"]


def is_masked_tensor(obj, /):
    """Whether obj is a MaskedTensor; there are none here."""
    return False


def masked_tensor(data, mask, requires_grad=False):
    """Not implemented."""
    raise NotImplementedError("torch.masked.masked_tensor is not implemented")


def as_masked_tensor(data, mask):
    """Not implemented."""
    raise NotImplementedError("torch.masked.as_masked_tensor is not implemented")


class MaskedTensor:
    """Not implemented."""

    def __init__(self, data, mask, requires_grad=False):
        raise NotImplementedError("torch.masked.MaskedTensor is not implemented")
