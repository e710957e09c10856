"""Normalisation over batches, layers, groups and vectors."""

from ... import _ops
from ..._core.dtype import bfloat16, complex64, complex128, float16, float32, float64, scalar_type
from ..._core.normalisation import moments
from ..._ops.normalisation import normalise_channels, normalise_rows
from .windows import laid_like, product

_EPSILON = {float16: 2.0**-10, bfloat16: 2.0**-7, float32: 2.0**-23, float64: 2.0**-52,
            complex64: 2.0**-23, complex128: 2.0**-52}


def _verify_batch_size(size):
    values = size[0]
    for extent in size[2:]:
        values *= extent
    if values == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {size}")


def _verify_spatial_size(size):
    values = 1
    for extent in size[2:]:
        values *= extent
    if values == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {size}")


def _check_channels(name, tensor, channels):
    if tensor is not None and tensor.numel() != channels:
        raise RuntimeError(f"{name} should contain {channels} elements not {tensor.numel()}")


def _update(running, value, momentum):
    if running is not None:
        with _no_grad():
            running.mul_(1 - momentum).add_(value.to(running.dtype), alpha=momentum)


def _no_grad():
    from ... import no_grad

    return no_grad()


def batch_norm(
    input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05
):
    """Normalise every channel (dimension 1) of a (N, C, ...) input.

    When *training* with the batch's own statistics, which also move the running ones by *momentum*; with the running
    statistics otherwise.
    """
    if training:
        _verify_batch_size(input.size())
        if eps <= 0.0:
            raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    elif eps < 0.0:
        raise ValueError(f"batch_norm eps must be non-negative, but got {eps}")
    if input.dim() == 1 and input.numel() == 0:
        return input.clone()
    channels = input.size(1)
    for name, tensor in (
        ("running_mean", running_mean), ("running_var", running_var), ("weight", weight), ("bias", bias),
    ):
        _check_channels(name, tensor, channels)
    if training:
        mean, var = moments(input, "batch_norm")
        count = input.numel() // channels
        _update(running_mean, mean, momentum)
        _update(running_var, var * (count / (count - 1)), momentum)
    else:
        if running_mean is None or running_var is None:
            missing = "running_mean" if running_mean is None else "running_var"
            raise RuntimeError(f"{missing} must be defined in evaluation mode")
        mean, var = running_mean, running_var
    return laid_like(input, normalise_channels(input, weight, bias, mean, var, training, eps, "batch_norm"))


def instance_norm(
    input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-05
):
    """Normalise every channel of every example on its own."""
    if use_input_stats:
        _verify_spatial_size(input.size())
    elif running_mean is None or running_var is None:
        raise RuntimeError("Expected running_mean and running_var to be defined when use_input_stats is false")
    if not use_input_stats:
        return normalise_channels(input, weight, bias, running_mean, running_var, False, eps, "batch_norm")
    batch, channels = input.shape[:2]
    if running_mean is not None or running_var is not None:
        mean, var = moments(input.reshape(1, batch * channels, -1), "batch_norm")
        count = product(input.shape[2:])
        _update(running_mean, mean.view(batch, channels).mean(0), momentum)
        _update(running_var, var.view(batch, channels).mean(0) * (count / (count - 1)), momentum)
    return normalise_rows(
        input, weight, bias, batch * channels, product(input.shape[2:]), channels, eps, "batch_norm"
    )


def _check_normalized_shape(input, normalized_shape, weight, bias):
    shape = tuple(normalized_shape)
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, "
            "but got normalized_shape = []"
        )
    for name, tensor in (("weight", weight), ("bias", bias)):
        if tensor is not None and tuple(tensor.shape) != shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
                f"{list(tensor.shape)} and normalized_shape = {list(shape)}"
            )
    if input.dim() < len(shape) or tuple(input.shape[input.dim() - len(shape) :]) != shape:
        wanted = ", ".join(map(str, shape))
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*, {wanted}], but got input of size"
            f"{list(input.shape)}"
        )
    return list(range(-len(shape), 0))


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    """Normalise over the last dimensions, those of *normalized_shape*."""
    dims = _check_normalized_shape(input, normalized_shape, weight, bias)
    rows = product(input.shape[: input.dim() - len(dims)])
    return normalise_rows(input, weight, bias, rows, 1, 1, eps, "layer_norm")


def rms_norm(input, normalized_shape, weight=None, eps=None):
    """Divide by the root of the mean square over the last dimensions, those of *normalized_shape*."""
    dims = _check_normalized_shape(input, normalized_shape, weight, None)
    if eps is None:
        if input.dtype not in _EPSILON:
            raise NotImplementedError(f"\"rms_norm\" not implemented for '{scalar_type(input.dtype)}'")
        eps = _EPSILON[input.dtype]
    result = input * ((input * input).mean(dims, keepdim=True) + eps).rsqrt()
    return result if weight is None else result * weight


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-05):
    """Normalise the channels of a (N, C, ...) input in *num_groups* groups."""
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    batch, channels = input.shape[:2]
    _verify_batch_size([batch * channels // num_groups, num_groups, *input.shape[2:]])
    if channels % num_groups != 0:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(input.shape)} and num_groups={num_groups}"
        )
    for name, tensor in (("weight", weight), ("bias", bias)):
        if tensor is not None and (tensor.dim() != 1 or tensor.numel() != channels):
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, but got {name} of "
                f"shape {list(tensor.shape)} and input of shape {list(input.shape)}"
            )
    run = product(input.shape[2:])
    result = normalise_rows(input, weight, bias, batch * num_groups, run, num_groups, eps, "group_norm")
    return laid_like(input, result)


def local_response_norm(input, size, alpha=0.0001, beta=0.75, k=1.0):
    """Divide by (k + alpha * mean of squares over *size* neighbouring channels) ** beta."""
    if input.dim() < 3:
        raise ValueError(
            f"Expected 3D or higher dimensionality                          input (got {input.dim()} dimensions)"
        )
    if input.numel() == 0:
        return input
    squares = input * input
    shape = list(input.shape)
    shape[1] += size - 1
    padded = squares.new_zeros(shape)
    padded.narrow(1, size // 2, input.size(1)).copy_(squares)
    total = padded.unfold(1, size, 1).sum(-1)
    mean = total / size if input.is_floating_point() or input.is_complex() else total // size
    return input / (mean * alpha + k).pow(beta)


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """Divide by the p-norm along *dim*, or by *eps* where the norm is smaller."""
    norm = input.norm(p, dim, keepdim=True).clamp(min=eps).expand_as(input)
    return input / norm if out is None else _ops.div(input, norm, out=out)
