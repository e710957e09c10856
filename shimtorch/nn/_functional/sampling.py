"""Sampling of images at given places: grid_sample, and the grids of affine maps."""

import math
import warnings

import numpy as np

from ... import _ops
from ..._core.dtype import bool as bool_dtype
from ..._core.dtype import int64
from ..._core.grad_mode import is_grad_enabled
from ..._core.tensor import wrap_ndarray
from ..._kernels import gridsample as kernels
from ..._ops.pooling import pool_take
from .windows import product

_MODES = {"bilinear": kernels.LINEAR, "nearest": kernels.NEAREST, "bicubic": kernels.CUBIC}
_PADDINGS = {"zeros": kernels.ZEROS, "border": kernels.BORDER, "reflection": kernels.REFLECTION}


def _base(n, align_corners, like):
    """n places from -1 to 1: the pixels' centres, or with align_corners the corners included."""
    if n <= 1:
        return like.new_zeros(n)
    base = _ops.linspace(-1, 1, n, dtype=like.dtype, device=like.device)
    return base if align_corners else base * (n - 1) / n


def _corners(name, align_corners):
    if align_corners is None:
        warnings.warn(
            f"Default {name} behavior has changed to align_corners=False since 1.3.0. Please specify "
            "align_corners=True if the old behavior is desired. See the documentation of grid_sample for details.",
            stacklevel=3,
        )
    return bool(align_corners)


def affine_grid(theta, size, align_corners=None):
    """The places (N, H, W, 2) or (N, D, H, W, 3) that affine maps (N, 2, 3) or (N, 3, 4) give to those of an image."""
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    n = len(size) - 2
    if n not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size "
            f"{size}."
        )
    if theta.dim() != 3 or theta.shape[-2] != n or theta.shape[-1] != n + 1:
        raise ValueError(
            f"Expected a batch of {n}D affine matrices of shape Nx{n}x{n + 1} for size {size}. Got {theta.shape}."
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    align_corners = _corners("grid_sample and affine_grid", align_corners)
    places = tuple(size[2:])
    axes = []
    for d in range(n - 1, -1, -1):                     # x first
        shape = [1] * n
        shape[d] = places[d]
        axes.append(_base(places[d], align_corners, theta).view(shape).expand(places))
    axes.append(theta.new_ones(places))
    grid = _ops.stack(axes, -1).view(1, -1, n + 1).expand(size[0], -1, -1)
    return grid.bmm(theta.transpose(1, 2)).view(size[0], *places, n)


def _reflected(x, low, high, volume):
    """x mirrored into [low, high] as often as it takes; of what is too large to tell how often, something outside."""
    if low == high:
        return x * 0
    span = high - low
    distance = (x - low).abs()
    if not volume:
        extra = distance - (distance / (2 * span)).detach().trunc() * (2 * span)
        return extra.minimum(2 * span - extra) + low
    extra = distance.fmod(span)
    flips = (distance / span).detach().floor()
    even = (flips < 2147483648.0).logical_not().logical_or(flips.fmod(2) == 0)
    return _ops.where(even, extra + low, span - extra + low)


def _into_image(x, n, padding_mode, align_corners, volume=False):
    """Unnormalised coordinates of one dimension moved into the image, unless it is padded with zeros.

    What is no number becomes 0 or, in a volume, the last place, or lies outside among zeros.
    """
    if padding_mode == "reflection":
        x = _reflected(x, *((0.0, n - 1.0) if align_corners else (-0.5, n - 0.5)), volume)
    if padding_mode != "zeros":
        x = _ops.where(x.isnan(), n - 1.0 if volume else 0.0, x)
        inside = (x > 0).logical_and(x < n - 1)                              # at the border there is no gradient
        return _ops.where(inside, x, x.detach().clamp(0, n - 1))
    return _ops.where(x.abs() < 2147483647.0, x, -100.0) if volume else x


def _pixels(image, places):
    """The pixels (N, C, *out) at integer places, one tensor (N, *out) a dimension; 0 outside the image."""
    size = image.shape[2:]
    flat, inside = 0, None
    for d, at in enumerate(places):
        ok = (at >= 0).logical_and(at < size[d])
        inside = ok if inside is None else inside.logical_and(ok)
        flat = flat + at.clamp(0, size[d] - 1) * product(size[d + 1 :])
    taken = pool_take(image.flatten(2), flat.flatten(1).unsqueeze(1).expand(-1, image.size(1), -1))
    return _ops.where(inside.unsqueeze(1), taken.view(*image.shape[:2], *flat.shape[1:]), 0.0)


def _whole(x):
    """Coordinates as integers; what is no number or far outside is any place outside."""
    x = x.detach()
    return _ops.where((x.abs() < 1e9), x, x.new_full((), -100.0)).to(int64)


def _linear(image, coordinates):
    """The mean of the 2**n pixels around, weighted by how near they are."""
    low = [x.detach().floor() for x in coordinates]
    result = 0
    for corner in range(1 << len(coordinates)):
        weight, places = 1, []
        for d, x in enumerate(coordinates):
            high = corner >> d & 1
            weight = weight * ((x - low[d]) if high else (low[d] + 1 - x))
            places.append(_whole(low[d] + high))
        result = result + _pixels(image, places) * weight.unsqueeze(1)
    return result


def _cubic_weights(t):
    """Of the four pixels around, at distances t + 1, t, 1 - t and 2 - t."""
    a = -0.75

    def near(x):
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x):
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return far(t + 1), near(t), near(1 - t), far(2 - t)


def _cubic(image, coordinates, padding_mode, align_corners):
    low = [x.detach().floor() for x in coordinates]
    weights = [_cubic_weights(x - b) for x, b in zip(coordinates, low, strict=True)]
    result = 0
    for i in range(4):
        row = 0
        for j in range(4):
            places = [_whole(_into_image(b + k - 1, n, padding_mode, align_corners))
                      for b, k, n in zip(low, (i, j), image.shape[2:], strict=True)]
            row = row + _pixels(image, places) * weights[1][j].unsqueeze(1)
        result = result + row * weights[0][i].unsqueeze(1)
    return result


def _check(input, grid, mode, padding_mode):
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: "
            f"'{mode}'"
        )
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            f"'{padding_mode}'"
        )
    if input.dim() not in (4, 5) or input.dim() != grid.dim():
        raise RuntimeError(
            "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got input with sizes "
            f"{list(input.shape)} and grid with sizes {list(grid.shape)}"
        )
    if input.size(0) != grid.size(0):
        raise RuntimeError(
            "grid_sampler(): expected grid and input to have same batch size, but got input with sizes "
            f"{list(input.shape)} and grid with sizes {list(grid.shape)}"
        )
    if grid.size(-1) != input.dim() - 2:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {input.dim() - 2} in last dimension, but got grid with sizes "
            f"{list(grid.shape)}"
        )
    for d in range(2, input.dim()):
        if input.size(d) == 0:
            raise RuntimeError(
                "grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes "
                f"{list(input.shape)} with dimension {d} being empty"
            )
    if mode == "bicubic" and input.dim() == 5:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")


def _by_kernel(input, grid, mode, padding_mode, align_corners):
    images, places = (np.ascontiguousarray(x.numpy()) for x in (input, grid))
    if images.ndim == 4:
        images = images[:, :, None]
    out = np.empty((*input.shape[:2], *grid.shape[1:-1]), images.dtype)
    flat = math.prod(grid.shape[1:-1])
    kernels.sample(images, places.reshape(len(places), flat, -1), out.reshape(*out.shape[:2], flat), _MODES[mode],
                   _PADDINGS[padding_mode], align_corners)
    return wrap_ndarray(out)


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """The image (N, C, H, W) at the places (N, H', W', 2), x first, from -1 to 1: (N, C, H', W'); 3-d alike."""
    _check(input, grid, mode, padding_mode)
    align_corners = _corners("grid_sample and affine_grid", align_corners)
    recorded = is_grad_enabled() and (input.requires_grad or grid.requires_grad)
    if not recorded and input.device.type == grid.device.type == "cpu" and input.dtype is grid.dtype and (
            input.dtype.name in ("float32", "float64")):
        return _by_kernel(input, grid, mode, padding_mode, align_corners)
    coordinates, volume = [], input.dim() == 5
    number = None                                      # where all coordinates are numbers, in a volume
    for d, n in enumerate(input.shape[2:]):
        x = grid[..., grid.size(-1) - 1 - d]
        x = (x + 1) / 2 * (n - 1) if align_corners else ((x + 1) * n - 1) / 2
        coordinates.append(x if mode == "bicubic" else _into_image(x, n, padding_mode, align_corners, volume))
        if volume:
            finite = x.isfinite() if padding_mode == "reflection" else x.isnan().logical_not()
            number = finite if number is None else number.logical_and(finite)
    if mode == "bicubic":
        return _cubic(input, coordinates, padding_mode, align_corners)
    if mode == "bilinear":
        result = _linear(input, coordinates)
    else:
        everywhere = _ops.ones((), dtype=bool_dtype, device=grid.device)
        nothing = grid.masked_fill(everywhere, 0).sum()                        # the gradient of the grid is 0
        result = _pixels(input, [_whole(x.round()) for x in coordinates]) + nothing
    return result if number is None else _ops.where(number.unsqueeze(1), result, result.detach())
