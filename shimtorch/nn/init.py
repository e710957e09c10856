"""Initial values for parameters (torch.nn.init).

Every function fills its tensor in place, outside autograd, and returns it. The draws are those of PyTorch for the
same state of the generator.
"""

import math

from .. import _ops
from .._core.protocol import Overridable as _Overridable

__all__ = [
    "calculate_gain",
    "uniform_",
    "normal_",
    "trunc_normal_",
    "constant_",
    "ones_",
    "zeros_",
    "eye_",
    "dirac_",
    "xavier_uniform_",
    "xavier_normal_",
    "kaiming_uniform_",
    "kaiming_normal_",
    "orthogonal_",
    "sparse_",
    "uniform",
    "normal",
    "constant",
    "eye",
    "dirac",
    "xavier_uniform",
    "xavier_normal",
    "kaiming_uniform",
    "kaiming_normal",
    "orthogonal",
    "sparse",
]

_LINEAR = ("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d")


def _no_grad():
    from .. import no_grad

    return no_grad()


def calculate_gain(nonlinearity, param=None):
    """The factor that keeps the spread of values through *nonlinearity*; *param* is the slope of leaky_relu."""
    if nonlinearity in _LINEAR or nonlinearity == "sigmoid":
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        if param is None:
            param = 0.01
        elif isinstance(param, bool) or not isinstance(param, (int, float)):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + param**2))
    if nonlinearity == "selu":
        return 3.0 / 4
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def uniform_(tensor, a=0.0, b=1.0, generator=None):
    """Draw from the uniform distribution on [a, b)."""
    with _no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor, mean=0.0, std=1.0, generator=None):
    """Draw from the normal distribution."""
    with _no_grad():
        return tensor.normal_(mean, std, generator=generator)


def _normal_cdf(x):
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """Draw from the normal distribution restricted to [a, b]."""
    if mean < a - 2 * std or mean > b + 2 * std:
        import warnings

        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. "
            "The distribution of values may be incorrect.",
            stacklevel=2,
        )
    with _no_grad():
        if _normal_cdf((b - mean) / std) - _normal_cdf((a - mean) / std) > 0.3:
            _redraw_outside(tensor, mean, std, a, b, generator)
        else:
            _reject_from_uniform(tensor, mean, std, a, b, generator)
    return tensor


def _redraw_outside(tensor, mean, std, a, b, generator):
    """Most of the mass is inside [a, b]: draw normals, and draw again what falls outside."""
    low, high = tensor.new_tensor(a).item(), tensor.new_tensor(b).item()
    result = tensor.normal_(mean, std, generator=generator)
    while True:
        outside = (result < low) | (result > high)
        if not outside.any():
            break
        result = _ops.where(outside, _ops.empty_like(result).normal_(mean, std, generator=generator), result)
    if result is not tensor:
        tensor.copy_(result)


def _reject_from_uniform(tensor, mean, std, a, b, generator):
    """[a, b] lies in the tail: draw uniformly there, and accept with the ratio of the density to its peak."""
    mode = max(a, min(mean, b))
    log_peak = -0.5 * ((mode - mean) / std) ** 2
    accept = _ops.empty_like(tensor)

    def rejected(candidates):
        log_ratio = candidates.sub_(mean).div_(std).pow_(2).mul_(-0.5).sub_(log_peak)
        return accept.uniform_(generator=generator).log_().gt(log_ratio)

    tensor.uniform_(a, b, generator=generator)
    result = tensor
    pending = rejected(tensor.clone())
    while pending.any():
        candidates = _ops.empty_like(tensor).uniform_(a, b, generator=generator)
        result = _ops.where(pending, candidates, result)
        pending = _ops.where(pending, rejected(candidates), pending)
    if result is not tensor:
        tensor.copy_(result)


def constant_(tensor, val):
    """Fill with *val*."""
    with _no_grad():
        return tensor.fill_(val)


def ones_(tensor):
    """Fill with ones."""
    with _no_grad():
        return tensor.fill_(1.0)


def zeros_(tensor):
    """Fill with zeros."""
    with _no_grad():
        return tensor.zero_()


def eye_(tensor):
    """Fill a matrix with the identity."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with _no_grad():
        tensor.zero_()
        tensor.diagonal().fill_(1)
    return tensor


def dirac_(tensor, groups=1):
    """Fill the weight of a convolution so that it passes its input channels through, in each of the groups."""
    if tensor.dim() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    out_channels, in_channels, *kernel = tensor.shape
    if out_channels % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    per_group = out_channels // groups
    center = tuple(size // 2 for size in kernel)
    with _no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(per_group, in_channels)):
                tensor[(group * per_group + channel, channel, *center)] = 1
    return tensor


def _calculate_fan_in_and_fan_out(tensor):
    """How many inputs reach one unit, and how many outputs one input feeds."""
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.size(1) * field, tensor.size(0) * field


def _calculate_correct_fan(tensor, mode):
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of {['fan_in', 'fan_out']}")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode == "fan_in" else fan_out


def _xavier_std(tensor, gain):
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return gain * math.sqrt(2.0 / float(fan_in + fan_out))


def xavier_uniform_(tensor, gain=1.0, generator=None):
    """Glorot's uniform distribution: bound gain * sqrt(6 / (fan_in + fan_out))."""
    bound = math.sqrt(3.0) * _xavier_std(tensor, gain)
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor, gain=1.0, generator=None):
    """Glorot's normal distribution: std gain * sqrt(2 / (fan_in + fan_out))."""
    return normal_(tensor, 0.0, _xavier_std(tensor, gain), generator)


def _kaiming_std(tensor, a, mode, nonlinearity):
    """The standard deviation; None, with a warning, for a tensor without elements."""
    if 0 in tensor.shape:
        import warnings

        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
        return None
    fan = _calculate_correct_fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """He's uniform distribution: bound gain * sqrt(3 / fan); *a* is the slope for leaky_relu."""
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    if std is None:
        return tensor
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """He's normal distribution: std gain / sqrt(fan); *a* is the slope for leaky_relu."""
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else normal_(tensor, 0, std, generator)


def orthogonal_(tensor, gain=1, generator=None):
    """Fill with *gain* times a random (semi-)orthogonal matrix; dimensions after the first are flattened."""
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    from .. import linalg

    rows = tensor.size(0)
    cols = tensor.numel() // rows
    with _no_grad():
        draws = tensor.new_empty((rows, cols)).normal_(0, 1, generator=generator)
        q, r = linalg.qr(draws.t() if rows < cols else draws)
        q = q * r.diagonal().sign()  # makes the distribution uniform over the orthogonal group
        tensor.view(rows, cols).copy_(q.t() if rows < cols else q)
        tensor.mul_(gain)
    return tensor


def sparse_(tensor, sparsity, std=0.01, generator=None):
    """Fill a matrix with normal draws, and set the fraction *sparsity* of every column to zero."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, cols = tensor.shape
    num_zeros = math.ceil(sparsity * rows)
    with _no_grad():
        tensor.normal_(0, std, generator=generator)
        for col in range(cols):
            tensor[_ops.randperm(rows, device=tensor.device)[:num_zeros], col] = 0
    return tensor


uniform_, normal_, constant_, kaiming_uniform_ = map(_Overridable, (uniform_, normal_, constant_, kaiming_uniform_))


def _deprecated(function):
    """*function* under its name without the underscore, with a warning."""
    new_name = function.__name__
    old_name = new_name[:-1]

    def old(*args, **kwargs):
        import warnings

        warnings.warn(
            f"`nn.init.{old_name}` is now deprecated in favor of `nn.init.{new_name}`.", FutureWarning, stacklevel=2
        )
        return function(*args, **kwargs)

    old.__name__ = old.__qualname__ = old_name
    old.__doc__ = f"The old name of {new_name}; deprecated."
    return old


uniform = _deprecated(uniform_)
normal = _deprecated(normal_)
constant = _deprecated(constant_)
eye = _deprecated(eye_)
dirac = _deprecated(dirac_)
xavier_uniform = _deprecated(xavier_uniform_)
xavier_normal = _deprecated(xavier_normal_)
kaiming_uniform = _deprecated(kaiming_uniform_)
kaiming_normal = _deprecated(kaiming_normal_)
orthogonal = _deprecated(orthogonal_)
sparse = _deprecated(sparse_)


def __getattr__(name):
    from .._refused import attribute

    return attribute("torch.nn.init", name)
