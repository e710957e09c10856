"""Padding: with a constant, with the border, its mirror image or the other side; and rearranging channels."""

from ..._core.dtype import bool as bool_
from ..._core.history import name_history
from ..._ops.arranging import pad_edges
from .windows import laid_like, zero_padded

_NAMES = {"reflect": "ReflectionPad{}DBackward0", "replicate": "ReplicationPad{}DBackward0", "circular": "CopySlices"}


def _check_input(input, dims):
    """There may be no examples, but what is padded must have elements."""
    sizes = input.shape if input.dim() == dims + 1 else input.shape[1:]
    if 0 in sizes:
        raise RuntimeError(
            f"Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {list(input.shape)}"
        )


def _check_edges(input, before, after, mode):
    """What the edge modes refuse: mirror images longer than the dimension, results without elements, truth values."""
    if input.dtype is bool_:
        raise NotImplementedError(
            f"\"{'reflection' if mode == 'reflect' else 'replication'}_pad{len(before)}d\" not implemented for 'Bool'"
        )
    first = input.dim() - len(before)
    for number, dim in enumerate(range(input.dim() - 1, first - 1, -1)):
        b, a = before[dim - first], after[dim - first]
        if mode == "reflect" and max(b, a) >= input.size(dim):
            raise RuntimeError(
                f"Argument #{4 + 2 * number}: Padding size should be less than the corresponding input dimension, but "
                f"got: padding ({b}, {a}) at dimension {dim} of input {list(input.shape)}"
            )
    sizes = input.shape[first:]
    out = [n + b + a for n, b, a in zip(sizes, before, after, strict=True)]
    if max(out) < 1:
        axes = "DHW"[-len(out):]
        given = ", ".join(f"{axis}: {n}" for axis, n in zip(axes, sizes, strict=True))
        made = " ".join(f"{axis}: {n}" for axis, n in zip(axes, out, strict=True))
        raise RuntimeError(f"input ({given}) is too small. Calculated output {made}")
    if min(out) < 0:
        raise RuntimeError(
            f"Trying to create tensor with negative dimension {min(out)}: {[*input.shape[:first], *out]}"
        )


def _cropped(input, before, after):
    """The input without what negative padding cuts off, and the padding that is left."""
    first = input.dim() - len(before)
    for dim, (b, a) in enumerate(zip(before, after, strict=True), first):
        size = input.size(dim)
        if max(b, a) > size:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        start, end = max(-b, 0), size - max(-a, 0)
        if end < start:
            raise RuntimeError("Negative padding value is resulting in an empty dimension")
        input = input.narrow(dim, start, end - start)
    return input, tuple(max(b, 0) for b in before), tuple(max(a, 0) for a in after)


def constant_pad_nd(input, pad, value=0):
    """The last dimensions padded with *value*; *pad* holds (before, after) of the last one first."""
    if len(pad) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(pad)}")
    if len(pad) > 2 * input.dim():
        raise RuntimeError(
            "Length of pad should be no more than twice the number of dimensions of the input. Pad length is "
            f"{len(pad)}while the input has {input.dim()}dimensions."
        )
    before, after = tuple(pad[-2::-2]), tuple(pad[-1::-2])
    for dim, (b, a) in enumerate(zip(before, after, strict=True), input.dim() - len(before)):
        if max(-b, 0) + max(-a, 0) > input.size(dim):
            raise RuntimeError("narrow(): length must be non-negative.")
    return laid_like(input, zero_padded(input, before, after, value)) if any(pad) else input.clone()


def pad(input, pad, mode="constant", value=None):
    """Pad the last dimensions; *pad* holds (before, after) of the last one first.

    *mode* is "constant" (with *value*, 0 if None), "reflect", "replicate" or "circular". Negative numbers cut off.
    """
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    dims = len(pad) // 2
    if dims > input.dim():
        raise RuntimeError(
            f"Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(pad)} and input of dimension {input.dim()}"
        )
    before, after = tuple(pad[-2::-2]), tuple(pad[-1::-2])
    if mode == "constant":
        return constant_pad_nd(input, pad, 0.0 if value is None else value)
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if value is not None and value != 0:
        raise ValueError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if input.dim() - dims not in (1, 2):
        raise NotImplementedError(
            "Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now"
        )
    _check_input(input, dims)
    if mode == "circular":
        input, before, after = _cropped(input, before, after)
    else:
        _check_edges(input, before, after, mode)
    result = name_history(pad_edges(input, before, after, mode), _NAMES[mode].format(dims))
    return result if mode == "circular" else laid_like(input, result)


def pixel_shuffle(input, upscale_factor):
    """(*, C * r**2, H, W) as (*, C, H * r, W * r)."""
    r = upscale_factor
    if input.dim() < 3:
        raise RuntimeError(
            f"pixel_shuffle expects input to have at least 3 dimensions, but got input with {input.dim()} dimension(s)"
        )
    if r <= 0:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {r}")
    *batch, channels, height, width = input.shape
    if channels % (r * r):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, "
            f"but input.size(-3)={channels} is not divisible by {r * r}"
        )
    b = len(batch)
    split = input.reshape(*batch, channels // (r * r), r, r, height, width)
    order = [*range(b + 1), b + 3, b + 1, b + 4, b + 2]
    return laid_like(input, split.permute(order).reshape(*batch, channels // (r * r), height * r, width * r))


def pixel_unshuffle(input, downscale_factor):
    """(*, C, H * r, W * r) as (*, C * r**2, H, W)."""
    r = downscale_factor
    if input.dim() < 3:
        raise RuntimeError(
            "pixel_unshuffle expects input to have at least 3 dimensions, but got input with "
            f"{input.dim()} dimension(s)"
        )
    if r <= 0:
        raise RuntimeError(f"pixel_unshuffle expects a positive downscale_factor, but got {r}")
    *batch, channels, height, width = input.shape
    for name, size in (("height", height), ("width", width)):
        if size % r:
            which = -2 if name == "height" else -1
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but input.size({which})={size} "
                f"is not divisible by {r}"
            )
    b = len(batch)
    split = input.reshape(*batch, channels, height // r, r, width // r, r)
    order = [*range(b + 1), b + 2, b + 4, b + 1, b + 3]
    return laid_like(input, split.permute(order).reshape(*batch, channels * r * r, height // r, width // r))


def channel_shuffle(input, groups):
    """The channels of (N, C, ...) in *groups* groups, interleaved."""
    if input.dim() < 3:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(input.shape)}"
        )
    if groups <= 0:
        raise RuntimeError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    if input.size(1) % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {input.size(1)} channels and {groups} groups."
        )
    split = input.reshape(input.size(0), groups, input.size(1) // groups, *input.shape[2:])
    return split.transpose(1, 2).reshape(input.shape)
