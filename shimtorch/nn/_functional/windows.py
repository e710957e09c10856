"""Sliding windows over the spatial dimensions of (N, C, ...) inputs: arguments, views, and adding them up again."""

from collections.abc import Iterable
from math import prod as product  # noqa: F401  (of sizes, for those who import from here)

from ..._core.device import channels_last, channels_last_3d
from ..._ops.arranging import pad_constant


def laid_like(x, result):
    """*result* in memory as *x* lies there: with the channels last where they are last in *x*."""
    n = x.dim()
    if n not in (4, 5) or x.is_contiguous() or not result.numel():
        return result
    layout = channels_last if n == 4 else channels_last_3d
    return result.contiguous(memory_format=layout) if x.is_contiguous(memory_format=layout) else result


def ntuple(value, n, name):
    """*value* as n integers, one for each spatial dimension."""
    if value.__class__ is int:
        return (value,) * n
    if value.__class__ is tuple and len(value) == n:
        for v in value:
            if v.__class__ is not int:
                break
        else:
            return value
    if not isinstance(value, Iterable) or getattr(value, "ndim", 1) == 0:
        return (int(value),) * n
    values = tuple(int(v) for v in value)
    if len(values) == 1:
        return values * n
    if len(values) != n:
        raise RuntimeError(f"expected {name} to be a single integer value or a list of {n} values, got {list(values)}")
    return values


def batched(input, n, name):
    """The input with a batch dimension, and whether it had one."""
    if input.dim() == n + 2:
        return input, True
    if input.dim() == n + 1:
        return input.unsqueeze(0), False
    raise RuntimeError(
        f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {name}, but got input of size: "
        f"{list(input.shape)}"
    )


def windows(x, kernel, stride, dilation):
    """The windows of an already padded input as a view (N, C, *out, *kernel)."""
    n = len(kernel)
    for i, (k, s, d) in enumerate(zip(kernel, stride, dilation, strict=True)):
        x = x.unfold(2 + i, (k - 1) * d + 1, s)
    if any(d != 1 for d in dilation):
        x = x[(slice(None),) * (2 + n) + tuple(slice(None, None, d) for d in dilation)]
    return x


def zero_padded(x, before, after, value=0.0):
    """*x* with *before* and *after* elements of *value* added to every spatial dimension (cut off where negative)."""
    return pad_constant(x, tuple(before), tuple(after), value) if any(before) or any(after) else x


def folded(columns, size, stride, dilation):
    """The inverse of windows: (N, C, *out, *kernel) added up into (N, C, *size)."""
    n = len(size)
    out, kernel = columns.shape[2 : 2 + n], columns.shape[2 + n :]
    result = columns.new_zeros((*columns.shape[:2], *size))
    offsets = [()]
    for k in kernel:
        offsets = [(*offset, i) for offset in offsets for i in range(k)]
    for offset in offsets:
        place = [slice(None), slice(None)]
        for i, d, s, o in zip(offset, dilation, stride, out, strict=True):
            place.append(slice(i * d, i * d + (o - 1) * s + 1, s))
        result[tuple(place)] += columns[(..., *offset)]
    return result
