"""Padding: with a constant, with the border, its mirror image or the other side; and rearranging channels."""

from ... import _ops
from ..._core.dtype import int64
from .windows import zero_padded


def _sources(size, before, after, mode):
    """For every element of a padded dimension, the element of the unpadded one it comes from."""
    places = range(-before, size + after)
    if mode == "replicate":
        return [min(max(i, 0), size - 1) for i in places]
    if mode == "circular":
        if max(before, after) > size:
            raise RuntimeError(
                "Padding value causes wrapping around more than once."
            )
        return [i % size for i in places]
    if max(before, after) >= size:
        raise RuntimeError(
            "Padding size should be less than the corresponding input dimension, but got: padding "
            f"({before}, {after}) at a dimension of size {size}"
        )
    return [abs(i) if i < size else 2 * (size - 1) - i for i in places]


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
        return zero_padded(input, before, after, 0.0 if value is None else value)
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if value is not None and value != 0:
        raise ValueError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if input.dim() - dims not in (1, 2):
        raise NotImplementedError(
            "Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now"
        )
    result = input
    for dim, (b, a) in enumerate(zip(before, after, strict=True), input.dim() - dims):
        if b or a:
            index = _ops.tensor(_sources(input.size(dim), b, a, mode), dtype=int64)
            result = result.index_select(dim, index)
    return result


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
    return split.permute(order).reshape(*batch, channels // (r * r), height * r, width * r)


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
    return split.permute(order).reshape(*batch, channels * r * r, height // r, width // r)


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
