"""Losses on indices, on a device, made of look-ups and pointwise ops."""
from .._ops.margins import multi_slopes, multilabel_parts, multilabel_slopes


def _parts(input, target, weight, ignore_index):
    """For each example: its class (0 for ignored ones), and its weight (0 for those)."""
    kept = target != ignore_index
    target = target * kept.to(target.dtype)         # eras before 1.5 multiply no unlike dtypes
    factor = kept.to(input.dtype)
    if weight is not None:
        factor = factor * weight.index_select(0, target.reshape(-1)).reshape(target.shape)
    return target, factor


def nll_sum(input, target, weight=None, ignore_index=-100, mean=False):
    """Minus the sum (or weighted mean) of input (N, C) at the classes target (N), and the sum of the weights."""
    if target.dim() != 1 or target.shape[0] != input.shape[0]:
        raise ValueError(f"Expected input batch_size ({input.shape[0]}) to match target batch_size "
                         f"({target.shape[0] if target.dim() else 1}).")
    classes, factor = _parts(input, target, weight, ignore_index)
    result = -(input.gather(1, classes.unsqueeze(1)).squeeze(1) * factor).sum()
    total = factor.sum()
    return result / total if mean else result, total


def nll_backward(grad, size, target, weight, ignore_index, mean, total):
    """The gradient of ``nll_sum`` with respect to its input of the given size."""
    result = grad.new_zeros(size)
    classes, factor = _parts(result, target, weight, ignore_index)
    scale = -factor * grad
    result.scatter_(1, classes.unsqueeze(1), (scale / total if mean else scale).unsqueeze(1))
    return result


def nll_each(input, target, weight=None, ignore_index=-100):
    """Minus input (N, C, ...) at the classes target (N, ...), 0 where ignored."""
    classes, factor = _parts(input, target, weight, ignore_index)
    return -(input.gather(1, classes.unsqueeze(1)).squeeze(1) * factor)


def nll_spread(grad, classes, target, weight, ignore_index):
    """The gradient of ``nll_each`` with respect to its input of so many classes."""
    result = grad.new_zeros((grad.shape[0], classes, *grad.shape[1:]))
    at, factor = _parts(result, target, weight, ignore_index)
    result.scatter_(1, at.unsqueeze(1), (-factor * grad).unsqueeze(1))
    return result


def embedding_dense_backward(grad, indices, num_weights, padding_idx=-1):
    """The gradient of an embedding's weight: rows summed where they were looked up, the padding row left out."""
    rows = grad.reshape(-1, grad.shape[-1])
    if padding_idx >= 0:
        rows = rows * (indices != padding_idx).reshape(-1, 1).to(grad.dtype)
    result = grad.new_zeros(num_weights, grad.shape[-1])
    return result.index_put_([indices.reshape(-1)], rows, True)


def multi_margin(x, target, weight=None, squared=False, margin=1.0):
    """The mean over classes but the target of the hinges, or of their squares."""
    place = target.unsqueeze(1)
    hinge = (margin - x.gather(1, place) + x).clamp(min=0).scatter(1, place, 0)
    loss = (hinge * hinge if squared else hinge).sum(1) / x.shape[1]
    return loss if weight is None else loss * weight.index_select(0, target)


def multi_margin_backward(grad, x, target, weight, squared, margin):
    """The gradient of ``multi_margin`` with respect to x."""
    return multi_slopes(grad, x, target, weight, squared, margin)


def multilabel_margin(x, target):
    """The mean over classes of the hinges between every target and every class that is none."""
    safe, listed, others = multilabel_parts(x, target)
    hinge = (1 - x.gather(1, safe).unsqueeze(2) + x.unsqueeze(1)).clamp(min=0)
    return (hinge * listed.unsqueeze(2) * others.unsqueeze(1)).sum((1, 2)) / x.shape[1]


def multilabel_margin_backward(grad, x, target):
    """The gradient of ``multilabel_margin`` with respect to x."""
    return multilabel_slopes(grad, x, target)
