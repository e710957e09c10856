"""torch's functions beneath those of nn.functional: normalisations with their statistics, dropout with its mask."""

from ... import _ops
from ..._core.dtype import bool as bool_dtype
from .normalization import batch_norm, group_norm, layer_norm
from .sampling import grid_sample

_INTERPOLATIONS, _PADDINGS = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")


def _statistics(x, dims, eps):
    """The mean over dimensions and the inverse of the standard deviation, without history."""
    x = x.detach()
    mean = x.mean(dims, True)
    return mean, ((x - mean).square().mean(dims, True) + eps).rsqrt()


def native_layer_norm(input, normalized_shape, weight, bias, eps):
    """layer_norm, and the mean and the inverse standard deviation of every row."""
    dims = list(range(input.dim() - len(normalized_shape), input.dim()))
    return layer_norm(input, normalized_shape, weight, bias, eps), *_statistics(input, dims, eps)


def native_group_norm(input, weight, bias, N, C, HxW, group, eps):
    """group_norm, and the mean and the inverse standard deviation (N, group) of every group."""
    result = group_norm(input, group, weight, bias, eps) if input.numel() else input.clone()
    rows = input.reshape(N, group, C // group * HxW)
    return result, *(x.squeeze(-1) for x in _statistics(rows, -1, eps))


def native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps):
    """batch_norm, and when training the mean and the inverse standard deviation of every channel."""
    result = batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)
    if not training:
        return result, input.new_empty(0), input.new_empty(0)
    dims = [0, *range(2, input.dim())]
    return result, *(x.flatten() for x in _statistics(input, dims, eps))


def native_dropout(input, p, train):
    """dropout, and the mask of what it kept."""
    if train is not None and not train or not input.numel():
        return input.clone(), _ops.ones(input.shape, dtype=bool_dtype, device=input.device)
    kept = _ops.dropout(input.new_ones(input.shape), p, True)
    return input * kept, kept != 0


def native_dropout_backward(grad_output, mask, scale):
    """The gradient of native_dropout: *grad_output* times *scale* where the mask is true."""
    return grad_output * mask * scale


def _grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners, n):
    if input.dim() != n + 2 or grid.dim() != n + 2:
        raise RuntimeError(
            f"grid_sampler_{n}d(): expected {n + 2}D input and grid with same number of dimensions, but got input with "
            f"sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
        )
    return grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)


def grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
    """grid_sample with modes as numbers: bilinear, nearest, bicubic; zeros, border, reflection."""
    for name, mode, known in (("interpolation_mode", interpolation_mode, _INTERPOLATIONS),
                              ("padding_mode", padding_mode, _PADDINGS)):
        if not 0 <= mode < len(known):
            raise RuntimeError(f"grid_sampler(): {name} must be from 0 to {len(known) - 1}, but got {mode}")
    return grid_sample(input, grid, _INTERPOLATIONS[interpolation_mode], _PADDINGS[padding_mode], bool(align_corners))


def grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners):
    """grid_sampler of (N, C, H, W)."""
    return _grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners, 2)


def grid_sampler_3d(input, grid, interpolation_mode, padding_mode, align_corners):
    """grid_sampler of (N, C, D, H, W)."""
    return _grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners, 3)
