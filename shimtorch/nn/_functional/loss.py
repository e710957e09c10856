"""Losses of regression and of densities: l1, mse, huber, KL, Poisson, Gaussian."""

import math
import warnings

from ... import _ops
from ..._core.history import name_history
from ..._core.policy import policy
from ..._ops.nn import huber
from .._reduction import reduced, settle


def _paired(input, target):
    """Both; with a warning where their shapes need broadcasting (up to 0.4: one by one, in the input's shape)."""
    if policy.same_numel_pointwise and target.numel() == input.numel():
        return input, target.reshape(input.size())
    if target.size() != input.size():
        warnings.warn(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). This will "
            "likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
            stacklevel=3,
        )
    return input, target


def _weighted(loss, weight, input, reduction):
    """The loss times *weight*; its mean is over the weights."""
    if weight is None:
        return reduced(loss, reduction)
    if weight.size() != input.size():
        raise ValueError("Weights and input must have the same size.")
    loss = loss * weight
    if reduction == "mean":
        return loss.sum() / weight.sum()
    return reduced(loss, reduction)


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """abs(input - target)."""
    reduction = settle(size_average, reduce, reduction)
    a, b = _paired(input, target)
    return _weighted((a - b).abs(), weight, input, reduction)


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """(input - target) ** 2."""
    reduction = settle(size_average, reduce, reduction)
    a, b = _paired(input, target)
    return name_history(_weighted((a - b).square(), weight, input, reduction), "MseLossBackward0")


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    """d**2 / (2 * beta) where d = abs(input - target) < beta, d - beta / 2 elsewhere."""
    reduction = settle(size_average, reduce, reduction)
    a, b = _paired(input, target)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    if beta == 0:
        return reduced((a - b).abs(), reduction)
    loss = huber(a - b, float(beta))
    if beta != 1:
        loss = loss / beta
    return name_history(reduced(loss, reduction), "SmoothL1LossBackward0")


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    """d**2 / 2 where d = abs(input - target) < delta, delta * (d - delta / 2) elsewhere."""
    reduction = settle(None, None, reduction)
    a, b = _paired(input, target)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    loss = huber(a - b, float(delta))
    return name_history(_weighted(loss, weight, input, reduction), "HuberLossBackward0")


def _xlogy(x, y):
    """x * log(y), and zero where x is zero."""
    zero = x == 0
    return _ops.where(zero, _ops.zeros_like(x), x * _ops.where(zero, _ops.ones_like(y), y).log())


def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """target * (log(target) - input), *input* being log-probabilities, and *target* too when *log_target*.

    reduction="batchmean" divides the sum by the size of the first dimension.
    """
    batchmean = False
    if size_average is not None or reduce is not None:
        reduction = settle(size_average, reduce, reduction)
    elif reduction == "batchmean":
        batchmean, reduction = True, "sum"
    else:
        if reduction == "mean":
            warnings.warn(
                "reduction: 'mean' divides the total loss by both the batch size and the support size."
                "'batchmean' divides only by the batch size, and aligns with the KL div math definition."
                "'mean' will be changed to behave the same as 'batchmean' in the next major release.",
                stacklevel=2,
            )
        reduction = settle(None, None, reduction)
    loss = target.exp() * (target - input) if log_target else _xlogy(target, target) - target * input
    result = reduced(loss, reduction)
    return result / input.size(0) if batchmean and input.dim() != 0 else result


def poisson_nll_loss(
    input, target, log_input=True, full=False, size_average=None, eps=1e-08, reduce=None, reduction="mean"
):
    """exp(input) - target * input when *log_input*, else input - target * log(input + eps).

    With *full* plus Stirling's approximation of log(target!) where target > 1.
    """
    reduction = settle(size_average, reduce, reduction)
    loss = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        large = target > 1
        safe = _ops.where(large, target, _ops.ones_like(target))
        stirling = safe * safe.log() - safe + 0.5 * (2 * math.pi * safe).log()
        loss = loss + _ops.where(large, stirling, _ops.zeros_like(stirling))
    return reduced(loss, reduction)


def gaussian_nll_loss(input, target, var, full=False, eps=1e-06, reduction="mean"):
    """(log(var) + (input - target)**2 / var) / 2, with the variance at least *eps*; plus log(2 pi)/2 with *full*."""
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = var * _ops.ones_like(input)
    elif bool((var < 0).any()):
        raise ValueError("var has negative entry/entries")
    if var.size() != input.size():
        if input.size()[:-1] == var.size():
            var = var.unsqueeze(-1)
        elif not (
            input.dim() == var.dim()
            and sum(v for i, v in zip(input.shape, var.shape, strict=True) if i != v) == 1
        ):
            raise ValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid")
    var = var + (var.detach().clamp(min=eps) - var.detach())  # the limit does not stop the gradient
    difference = input - target
    loss = 0.5 * (var.log() + difference * difference / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return reduced(loss, reduction)
