"""Losses with margins, and those on embeddings."""

from ... import _ops
from ..._core.dtype import int64, scalar_type
from ..._ops.margins import multi_margin, multilabel_margin
from .._reduction import reduced, settle
from .activation import logsigmoid
from .distance import pairwise_distance


def margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """max(0, -target * (input1 - input2) + margin)."""
    reduction = settle(size_average, reduce, reduction)
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
            f"{input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    return reduced((-target * (input1 - input2) + margin).clamp(min=0), reduction)


def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    """input where target is 1, max(0, margin - input) where it is -1."""
    reduction = settle(size_average, reduce, reduction)
    zero = _ops.zeros_like(input)
    loss = _ops.where(target != 1, (margin - input).clamp(min=0), zero) + _ops.where(target != -1, input, zero)
    return reduced(loss, reduction)


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """log(1 + exp(-target * input))."""
    reduction = settle(size_average, reduce, reduction)
    if input.size() != target.size():
        _ops.broadcast_tensors(input, target)
    return reduced(_ops.log1p((-target * input).exp()), reduction)


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """Binary cross entropy with logits, averaged over the classes in the last dimension."""
    reduction = settle(size_average, reduce, reduction)
    loss = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    return reduced(loss.sum(-1) / input.size(-1), reduction)


def _check_multi(input, target, classes_in_target):
    """Shapes of multi_margin_loss and multilabel_margin_loss; returns both as 2-d (N, C) and 1-d or 2-d."""
    if input.dim() > 2 or input.dim() and input.size(-1) == 0:
        raise RuntimeError(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(input.shape)}"
        )
    rows = input.size(0) if input.dim() == 2 else 1
    classes = input.size(-1) if input.dim() else 1
    wanted = (rows, classes) if classes_in_target else (rows,)
    if target.numel() != (rows * classes if classes_in_target else rows) or target.dim() > max(input.dim(), 1):
        raise RuntimeError(f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}")
    return input.reshape(rows, classes), target.reshape(wanted)


def multi_margin_loss(
    input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"
):
    """The mean over classes j other than the target y of ``weight[y] * max(0, margin - x[y] + x[j]) ** p``."""
    reduction = settle(size_average, reduce, reduction)
    if p != 1 and p != 2:
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    x, y = _check_multi(input, target, classes_in_target=False)
    classes = x.size(1)
    if weight is not None and weight.numel() != classes:
        raise RuntimeError(f"inconsistent weight size, expected {classes} but got {list(weight.shape)}")
    if y.dtype is not int64:
        raise RuntimeError(f"expected scalar type Long but found {scalar_type(y.dtype)}")
    if weight is None or not weight.requires_grad:
        loss = multi_margin(x, y, weight, p == 2, margin)
    else:
        loss = multi_margin(x, y, None, p == 2, margin) * weight[y]
    return reduced(loss if input.dim() == 2 else loss.squeeze(0), reduction)


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """Hinge loss between every target class and every other class; a row of targets ends at its first -1."""
    reduction = settle(size_average, reduce, reduction)
    x, y = _check_multi(input, target, classes_in_target=True)
    if y.dtype is not int64:
        raise RuntimeError(f"expected scalar type Long but found {scalar_type(y.dtype)}")
    loss = multilabel_margin(x, y)
    return reduced(loss if input.dim() == 2 else loss.squeeze(0), reduction)


def cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """1 - cos where target is 1, max(0, cos - margin) where it is -1."""
    reduction = settle(size_average, reduce, reduction)
    if target.dim() not in (0, 1):
        raise RuntimeError(
            "0D or 1D target tensor expected, multi-target not supported"
        )
    wanted = target.dim() + 1
    if input1.dim() != wanted or input2.dim() != wanted:
        raise RuntimeError(
            f"{target.dim()}D target tensor expects {wanted}D input tensors, but found inputs with sizes "
            f"{list(input1.shape)} and {list(input2.shape)}."
        )
    squares1 = (input1 * input1).sum(-1) + 1e-12
    squares2 = (input2 * input2).sum(-1) + 1e-12
    cos = (input1 * input2).sum(-1) / (squares1 * squares2).sqrt()
    zero = _ops.zeros_like(cos)
    loss = _ops.where(target == 1, 1 - cos, zero) + _ops.where(target == -1, (cos - margin).clamp(min=0), zero)
    return reduced(loss, reduction)


def _check_triplet(margin):
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")


def _check_triplet_dims(anchor, positive, negative):
    dims = anchor.dim(), positive.dim(), negative.dim()
    if len(set(dims)) > 1:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {dims[0]}D, positive {dims[1]}D, and negative {dims[2]}D inputs"
        )


def _triplet(anchor, positive, negative, distance, margin, swap, reduction):
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = _ops.minimum(far, distance(positive, negative))
    return reduced((margin + near - far).clamp(min=0), reduction)


def triplet_margin_loss(
    anchor, positive, negative, margin=1.0, p=2, eps=1e-06, swap=False, size_average=None, reduce=None, reduction="mean"
):
    """max(0, margin + d(anchor, positive) - d(anchor, negative)); with *swap* d(positive, negative) if smaller."""
    reduction = settle(size_average, reduce, reduction)
    _check_triplet(margin)
    _check_triplet_dims(anchor, positive, negative)
    return _triplet(
        anchor, positive, negative, lambda a, b: pairwise_distance(a, b, p, eps), margin, swap, reduction
    )


def triplet_margin_with_distance_loss(
    anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"
):
    """triplet_margin_loss with any distance."""
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    _check_triplet(margin)
    _check_triplet_dims(anchor, positive, negative)
    return _triplet(anchor, positive, negative, distance_function or pairwise_distance, margin, swap, reduction)
