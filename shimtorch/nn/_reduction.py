"""The ``reduction`` argument of the losses, and the older pair ``size_average``/``reduce`` (torch.nn._Reduction)."""

import warnings

from .._core.policy import policy


def get_string(reduction):
    """*reduction* as "none", "mean" or "sum"; ValueError for anything else."""
    if reduction in ("none", "mean", "sum"):
        return reduction
    if reduction == "elementwise_mean":
        warnings.warn(
            "reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.", stacklevel=3
        )
        return "mean"
    raise ValueError(f"{reduction} is not a valid value for reduction")


def get_enum(reduction):
    """0 for "none", 1 for "mean", 2 for "sum"."""
    return ("none", "mean", "sum").index(get_string(reduction))


def legacy_get_string(size_average, reduce, emit_warning=True):
    """The reduction that the older pair of arguments asks for."""
    if reduce is not None and not reduce:
        reduction = "none"
    elif size_average is None or size_average:
        reduction = "mean"
    else:
        reduction = "sum"
    if emit_warning and policy.size_average_warning:
        warnings.warn(
            f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.",
            stacklevel=3,
        )
    return reduction


def legacy_get_enum(size_average, reduce, emit_warning=True):
    """legacy_get_string as a number."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))


def settle(size_average, reduce, reduction):
    """The reduction meant by all three arguments of a loss."""
    if size_average is not None or reduce is not None:
        return legacy_get_string(size_average, reduce)
    return get_string(reduction)


def reduced(loss, reduction):
    """*loss* as it is, or its mean, or its sum."""
    if reduction == "mean":
        return loss.mean()
    return loss.sum() if reduction == "sum" else loss
