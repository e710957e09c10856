"""Losses on indices, on a device, made of look-ups and pointwise ops."""


def _parts(input, target, weight, ignore_index):
    """For each example: its class (0 for ignored ones), and its weight (0 for those)."""
    kept = target != ignore_index
    target = target * kept.to(target.dtype)         # eras before 1.5 multiply no unlike dtypes
    factor = kept.to(input.dtype)
    if weight is not None:
        factor = factor * weight.index_select(0, target)
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


def embedding_dense_backward(grad, indices, num_weights, padding_idx=-1):
    """The gradient of an embedding's weight: rows summed where they were looked up, the padding row left out."""
    rows = grad.reshape(-1, grad.shape[-1])
    if padding_idx >= 0:
        rows = rows * (indices != padding_idx).reshape(-1, 1).to(grad.dtype)
    result = grad.new_zeros(num_weights, grad.shape[-1])
    return result.index_put_([indices.reshape(-1)], rows, True)
