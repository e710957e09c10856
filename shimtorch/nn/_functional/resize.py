"""Resizing images: nearest neighbours, linear interpolation, means of cells."""

import math
import warnings

from ... import _ops
from ..._core.dtype import int64
from ..._core.policy import policy
from .pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d

_LINEAR = {"linear": 1, "bilinear": 2, "trilinear": 3}


def _sizes(input, size, scale_factor, n):
    """The output size, and the scale to use for every dimension (None: take it from the sizes)."""
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    for name, value in (("size", size), ("scale_factor", scale_factor)):
        if isinstance(value, (list, tuple)) and len(value) != n:
            raise ValueError(
                f"Input and {'output' if name == 'size' else name} must have the same number of spatial dimensions, "
                f"but got input with spatial dimensions of {list(input.shape[2:])} and "
                + (f"output size of {size}. " if name == "size" else f"scale_factor of shape {scale_factor}. ")
                + "Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
                + ("output size in (o1, o2, ...,oK) format." if name == "size" else
                   "scale_factor in (s1, s2, ...,sK) format.")
            )
    if size is not None:
        size = tuple(size) if isinstance(size, (list, tuple)) else (size,) * n
        return size, (None,) * n
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    scales = tuple(scale_factor) if isinstance(scale_factor, (list, tuple)) else (scale_factor,) * n
    return tuple(math.floor(float(s) * f) for s, f in zip(input.shape[2:], scales, strict=True)), scales


def _take(x, dim, places):
    return x.index_select(dim, _ops.tensor(places, dtype=int64))


def _nearest(x, dim, out, scale, exact):
    size = x.size(dim)
    ratio = 1.0 / scale if scale else size / out
    shift = 0.5 if exact else 0.0
    places = [min(math.floor((i + shift) * ratio), size - 1) for i in range(out)]
    return _take(x, dim, places)


def _linear(x, dim, out, scale, align_corners):
    size = x.size(dim)
    if align_corners:
        ratio = (size - 1) / (out - 1) if out > 1 else 0.0
        sources = [i * ratio for i in range(out)]
    else:
        ratio = 1.0 / scale if scale else size / out
        sources = [max((i + 0.5) * ratio - 0.5, 0.0) for i in range(out)]
    low = [min(int(s), size - 1) for s in sources]
    high = [min(i + 1, size - 1) for i in low]
    weight = _ops.tensor([s - i for s, i in zip(sources, low, strict=True)], dtype=x.dtype)
    weight = weight.view(-1, *(1,) * (x.dim() - dim - 1))
    return _take(x, dim, low) * (1 - weight) + _take(x, dim, high) * weight


def interpolate(
    input,
    size=None,
    scale_factor=None,
    mode="nearest",
    align_corners=None,
    recompute_scale_factor=None,
    antialias=False,
):
    """Resize the spatial dimensions of (N, C, ...) to *size*, or by *scale_factor*.

    *mode* is "nearest", "nearest-exact", "area", or "linear" (3-d input), "bilinear" (4-d), "trilinear" (5-d).
    *align_corners*, for the linear ones, puts the corners of input and output on each other.
    """
    linear = mode in _LINEAR
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | "
                "trilinear"
            )
    elif align_corners is None:
        align_corners = policy.align_corners_default
    if antialias:
        raise NotImplementedError("torch.nn.functional.interpolate(antialias=True) is not implemented")
    n = input.dim() - 2
    out, scales = _sizes(input, size, scale_factor, n)
    if recompute_scale_factor is not None and recompute_scale_factor:
        if size is not None:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        scales = (None,) * n
    if not 1 <= n <= 3 or linear and _LINEAR[mode] != n:
        if linear and 1 <= n <= 3:
            raise NotImplementedError(f"Got {n + 2}D input, but {mode} mode needs {_LINEAR[mode] + 2}D input")
        raise NotImplementedError(
            "Input Error: Only 3D, 4D and 5D input Tensors supported "
            f"(got {n + 2}D) for the modes: nearest | linear | bilinear | bicubic | trilinear | area | nearest-exact "
            f"(got {mode})"
        )
    if mode == "area":
        return (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[n - 1](input, out)
    if mode not in ("nearest", "nearest-exact") and not linear:
        raise NotImplementedError(f"torch.nn.functional.interpolate(mode={mode!r}) is not implemented")
    result = input
    for dim, (o, scale) in enumerate(zip(out, scales, strict=True), 2):
        if linear:
            result = _linear(result, dim, o, scale, align_corners)
        else:
            result = _nearest(result, dim, o, scale, mode == "nearest-exact")
    return result


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """The older name of interpolate."""
    warnings.warn(
        "`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2
    )
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input, size=None, scale_factor=None):
    """interpolate with mode="nearest"; deprecated."""
    warnings.warn(
        "`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2
    )
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    """interpolate with mode="bilinear" and align_corners=True; deprecated."""
    warnings.warn(
        "`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2
    )
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
