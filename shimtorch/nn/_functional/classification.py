"""Losses of classification: nll, cross entropy, binary cross entropy."""

from ... import _ops
from ..._core.dtype import int32, int64, uint8
from ..._core.history import name_history
from ..._ops.nn import nll_each
from .._reduction import reduced, settle
from .activation import logsigmoid

_nll_sum = _ops.nll_sum


def _class_dim(input):
    return 0 if input.dim() == 1 else 1


def _check_nll_shapes(input, target, weight):
    if input.dim() < 1:
        raise ValueError(f"Expected 1 or more dimensions (got {input.dim()})")
    classes = input.size(_class_dim(input))
    if input.dim() == 1:
        if target.dim() == 1 and target.size(0) != 1:
            raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {target.size(0)}")
        if target.dim() > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    else:
        found = target.size(0) if target.dim() else 0
        if input.size(0) != found:
            raise ValueError(f"Expected input batch_size ({input.size(0)}) to match target batch_size ({found}).")
        if input.dim() == 2 and target.dim() != 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        expected = [input.size(0), *input.shape[2:]]
        if input.dim() != 4 and list(target.shape) != expected:
            raise RuntimeError(f"Expected target size {expected}, got {list(target.shape)}")
        if target.dim() != 3 and input.dim() == 4:
            raise RuntimeError(
                f"only batches of spatial targets supported (3D tensors) but got targets of dimension: {target.dim()}"
            )
        if list(target.shape) != expected:
            raise RuntimeError(f"size mismatch (got input: {list(input.shape)} , target: {list(target.shape)}")
    if weight is not None and (weight.dim() != 1 or weight.numel() != classes):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight tensor "
            f"of shape: {list(weight.shape)}"
        )
    if target.dtype not in (int64, uint8, int32):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {_scalar_type(target)}")
    return classes


def _weights(target, weight, ignore_index, dtype):
    """The weight of every target: of its class, or 1; 0 where it is ignored."""
    kept = target != ignore_index
    if weight is None:
        return kept.to(dtype)
    return weight[target.to(int64).masked_fill(~kept, 0)] * kept.to(weight.dtype)


def nll_loss(
    input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"
):
    """Minus the log-probability of the target class: input (N, C, ...) or (C,), target (N, ...) or ().

    The mean is weighted; targets equal to *ignore_index* do not count.
    """
    reduction = settle(size_average, reduce, reduction)
    if reduction != "none" and input.dim() == 2 and (weight is None or not weight.requires_grad):
        plain = weight is None and target.dtype is int64 and target.dim() == 1 and target.size(0) == input.size(0)
        if not plain:
            _check_nll_shapes(input, target, weight)
        return _nll_sum(input, target, weight, ignore_index, reduction == "mean")
    _check_nll_shapes(input, target, weight)
    if input.dim() == 1:
        loss = nll_loss(input.unsqueeze(0), target.reshape(1), weight, None, ignore_index, None, reduction)
        return loss.squeeze(0) if reduction == "none" else loss
    if weight is None or not weight.requires_grad:
        loss = nll_each(input, target, weight, ignore_index)
    else:
        loss = nll_each(input, target, None, ignore_index) * _weights(target, weight, ignore_index, input.dtype)
    if reduction == "mean":
        return loss.sum() / _weights(target, weight, ignore_index, input.dtype).sum()
    return reduced(loss, reduction)


def cross_entropy(
    input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0
):
    """nll_loss of log_softmax(input); *target* holds classes, or probabilities in the shape of *input*."""
    reduction = settle(size_average, reduce, reduction)
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    log_probs = input.log_softmax(_class_dim(input))
    if input.size() == target.size():
        return _cross_entropy_probabilities(log_probs, target, weight, reduction, label_smoothing)
    loss = nll_loss(log_probs, target, weight, None, ignore_index, None, reduction)
    if label_smoothing == 0.0:
        return loss
    return _smoothed(log_probs, target, weight, loss, reduction, ignore_index, label_smoothing)


def _scalar_type(tensor):
    """The dtype as messages call it: Float, Double, Long, ..."""
    return tensor.type().rpartition(".")[2].removesuffix("Tensor")


def _along_classes(weight, log_probs):
    dim = _class_dim(log_probs)
    return weight.view([-1 if i == dim else 1 for i in range(log_probs.dim())])


def _cross_entropy_probabilities(log_probs, target, weight, reduction, label_smoothing):
    if not target.is_floating_point():
        raise RuntimeError(
            "Expected floating point type for target with class probabilities, got "
            f"{_scalar_type(target)}"
        )
    dim = _class_dim(log_probs)
    classes = log_probs.size(dim)
    if weight is not None and (weight.dim() != 1 or weight.numel() != classes):
        raise RuntimeError(
            f"cross_entropy: weight tensor should be defined either for all {classes} classes or no classes but got "
            f"weight tensor of shape: {list(weight.shape)}"
        )
    if label_smoothing > 0.0:
        target = target * (1 - label_smoothing) + label_smoothing / classes
    terms = log_probs * target
    if weight is not None:
        terms = terms * _along_classes(weight, log_probs)
    if reduction == "none":
        return -terms.sum(dim)
    total = -terms.sum()
    return total if reduction == "sum" else total / max(log_probs.numel() // classes, 1)


def _smoothed(log_probs, target, weight, loss, reduction, ignore_index, label_smoothing):
    """*loss* mixed with the loss against equal probabilities for all classes."""
    dim = _class_dim(log_probs)
    terms = log_probs if weight is None else log_probs * _along_classes(weight, log_probs)
    smooth = -terms.sum(dim)
    target = target.reshape(()) if log_probs.dim() == 1 else target
    ignored = target == ignore_index
    smooth = smooth.masked_fill(ignored, 0)
    if reduction == "mean":
        if weight is None:
            smooth = smooth.sum() / (~ignored).sum().to(smooth.dtype)
        else:
            counted = weight[target.to(int64).masked_fill(ignored, 0)].masked_fill(ignored, 0)
            smooth = smooth.sum() / counted.sum()
    elif reduction == "sum":
        smooth = smooth.sum()
    return (1 - label_smoothing) * loss + (label_smoothing / log_probs.size(dim)) * smooth


def _safe_log(x):
    """log(x), but at least -100."""
    positive = x > 0
    return _ops.where(positive, _ops.where(positive, x, _ops.ones_like(x)).log(), -100.0).clamp(min=-100)


def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """-(target * log(input) + (1 - target) * log(1 - input)), the logarithms at least -100."""
    reduction = settle(size_average, reduce, reduction)
    if target.size() != input.size():
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is "
            "deprecated. Please ensure they have the same size."
        )
    if input.numel() and bool(((input < 0) | (input > 1)).any()):
        raise RuntimeError("all elements of input should be between 0 and 1")
    loss = (target - 1) * _safe_log(1 - input) - target * _safe_log(input)
    if weight is not None:
        loss = loss * weight
    return name_history(reduced(loss, reduction), "BinaryCrossEntropyBackward0")


def binary_cross_entropy_with_logits(
    input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None
):
    """binary_cross_entropy of sigmoid(input), without overflow; *pos_weight* weighs the positive targets."""
    reduction = settle(size_average, reduce, reduction)
    if target.size() != input.size():
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    log_sigmoid = logsigmoid(input)
    if pos_weight is not None:
        log_sigmoid = ((pos_weight - 1) * target + 1) * log_sigmoid
    loss = (1 - target) * input - log_sigmoid
    if weight is not None:
        loss = loss * weight
    return name_history(reduced(loss, reduction), "BinaryCrossEntropyWithLogitsBackward0")
