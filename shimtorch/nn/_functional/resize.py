"""Resizing images: nearest neighbours, linear and cubic interpolation, means of cells."""

import math
import warnings

from ..._core.policy import policy
from .pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d
from .resampling import nearest, resample
from .windows import laid_like

_SMOOTH = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3, "lanczos": 2}
_KINDS = {"bicubic": "cubic", "lanczos": "lanczos"}


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
    scales = scale_factor if isinstance(scale_factor, (list, tuple)) else (scale_factor,) * n
    scales = tuple(map(float, scales))
    return tuple(math.floor(s * f) for s, f in zip(input.shape[2:], scales, strict=True)), scales


def _check_sizes(input, out, mode):
    """There must be channels and pixels, before and after; there may be no images."""
    n = input.dim() - 2
    if min(input.shape[2:]) <= 0 or min(out) <= 0:
        names = ("W",) if n == 1 else ("H", "W") if n == 2 else ("D", "H", "W")
        before, after = (", ".join(f"{a}: {s}" for a, s in zip(names, sizes, strict=True))
                         for sizes in (input.shape[2:], out))
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input ({before}) output ({after})"
        )
    if input.size(1) == 0:
        raise RuntimeError(
            f"Non-empty {n + 2}D data tensor expected but got a tensor with sizes {list(input.shape)}"
        )
    integers = ("uint8",) if n == 2 or mode.startswith("nearest") else ()
    if not input.is_floating_point() and input.dtype.name not in integers:
        kernel = "cubic" if mode == "bicubic" else "nearest" if mode.startswith("nearest") else "linear"
        raise NotImplementedError(f"\"compute_indices_weights_{kernel}\" not implemented for '{_scalar_type(input)}'")


def _scalar_type(x):
    from ..._core.dtype import scalar_type

    return scalar_type(x.dtype)


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

    *mode* is "nearest", "nearest-exact", "area", or "linear" (3-d input), "bilinear", "bicubic", "lanczos" (4-d),
    "trilinear" (5-d). *align_corners*, for the latter, puts the corners of input and output on each other.
    *antialias*, for "bilinear" and "bicubic", and always for "lanczos", smooths an image that shrinks, as Pillow does.
    """
    smooth = mode in _SMOOTH
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | "
                "trilinear"
            )
    elif align_corners is None:
        align_corners = policy.align_corners_default
    n = input.dim() - 2
    out, scales = _sizes(input, size, scale_factor, n)
    if recompute_scale_factor is not None and recompute_scale_factor:
        if size is not None:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        scales = (None,) * n
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and n == 2):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input"
        )
    if mode == "lanczos" and align_corners:
        raise ValueError("Lanczos mode does not support align_corners=True")
    if mode == "lanczos" and not antialias:
        raise ValueError("Lanczos mode requires antialias=True")
    if not 1 <= n <= 3 or mode not in (*_SMOOTH, "nearest", "nearest-exact", "area") or mode in _KINDS and n != 2:
        raise NotImplementedError(
            "Input Error: Only 3D, 4D and 5D input Tensors supported "
            f"(got {n + 2}D) for the modes: nearest | linear | bilinear | bicubic | trilinear | lanczos | area "
            f"| nearest-exact (got {mode})"
        )
    if smooth and _SMOOTH[mode] != n:
        raise NotImplementedError(f"Got {n + 2}D input, but {mode} mode needs {_SMOOTH[mode] + 2}D input")
    if mode == "area":
        return (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[n - 1](input, out)
    _check_sizes(input, out, mode)
    if smooth:
        result = resample(input, _KINDS.get(mode, "linear"), out, scales, align_corners, antialias)
    else:
        result = nearest(input, out, scales, mode == "nearest-exact")
    return laid_like(input, result)


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
