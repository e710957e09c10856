"""Activation functions."""

from ... import _ops
from ..._core.dtype import float64, scalar_type


def _settled(input, result, inplace):
    """*result*, written into *input* when the caller asked for the in-place form."""
    return input.copy_(result) if inplace else result


def relu(input, inplace=False):
    """max(x, 0), elementwise."""
    return _ops.relu_(input) if inplace else _ops.relu(input)


def relu_(input):
    """The in-place form of relu."""
    return _ops.relu_(input)


def threshold(input, threshold, value, inplace=False):
    """x where x > threshold (or is NaN), *value* elsewhere."""
    return (_ops.threshold_ if inplace else _ops.threshold)(input, threshold, value)


def threshold_(input, threshold, value):
    """The in-place form of threshold."""
    return _ops.threshold_(input, threshold, value)


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """x limited to [min_val, max_val]; no gradient at the limits and beyond."""
    return (_ops.hardtanh_ if inplace else _ops.hardtanh)(input, min_val, max_val)


def hardtanh_(input, min_val=-1.0, max_val=1.0):
    """The in-place form of hardtanh."""
    return _ops.hardtanh_(input, min_val, max_val)


def relu6(input, inplace=False):
    """min(max(x, 0), 6)."""
    return hardtanh(input, 0.0, 6.0, inplace)


def elu(input, alpha=1.0, inplace=False):
    """x for x > 0, alpha * (exp(x) - 1) elsewhere."""
    return (_ops.elu_ if inplace else _ops.elu)(input, alpha)


def elu_(input, alpha=1.0):
    """The in-place form of elu."""
    return _ops.elu_(input, alpha)


def selu(input, inplace=False):
    """The scaled ELU of self-normalising networks."""
    return (_ops.selu_ if inplace else _ops.selu)(input)


def selu_(input):
    """The in-place form of selu."""
    return _ops.selu_(input)


def celu(input, alpha=1.0, inplace=False):
    """x for x > 0, alpha * (exp(x / alpha) - 1) elsewhere."""
    return (_ops.celu_ if inplace else _ops.celu)(input, alpha)


def celu_(input, alpha=1.0):
    """The in-place form of celu."""
    return _ops.celu_(input, alpha)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    """x for x > 0, negative_slope * x elsewhere."""
    return (_ops.leaky_relu_ if inplace else _ops.leaky_relu)(input, negative_slope)


def leaky_relu_(input, negative_slope=0.01):
    """The in-place form of leaky_relu."""
    return _ops.leaky_relu_(input, negative_slope)


def prelu(input, weight):
    """x for x > 0, weight * x elsewhere; *weight* has one element, or one for each channel (dimension 1)."""
    if weight.dim() > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.dim()}"
        )
    if input.dtype is not weight.dtype:
        raise RuntimeError(
            f"prelu: Type promoting not supported. Got {scalar_type(input.dtype)} and {scalar_type(weight.dtype)}"
        )
    if weight.numel() == 1:
        weight = weight.reshape(())
    else:
        channels = input.size(1) if input.dim() >= 2 else 1
        if input.dim() == 0:
            raise RuntimeError("Not allow zero-dim input tensor.")
        if channels != weight.numel():
            raise RuntimeError(
                "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                f"{weight.numel()} and channel size = {channels}."
            )
        weight = weight.reshape(-1, *(1,) * (input.dim() - 2))
    return _ops.where(input > 0, input, input * weight)


def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    """leaky_relu with a slope drawn from [lower, upper) for every element when *training*, their mean otherwise."""
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    if not training:
        return leaky_relu(input, (lower + upper) / 2, inplace)
    negative = input.detach() <= 0
    slope = _ops.ones_like(input)
    low, high = input.new_tensor(lower).item(), input.new_tensor(upper).item()
    # Only the elements that need a slope draw one, in double precision.
    draws = _ops.rand(int(negative.sum()), dtype=float64, device=input.device)
    slope.masked_scatter_(negative, (draws * (high - low) + low).to(input.dtype))
    return _settled(input, input * slope, inplace)


def rrelu_(input, lower=1.0 / 8, upper=1.0 / 3, training=False):
    """The in-place form of rrelu."""
    return rrelu(input, lower, upper, training, inplace=True)


def glu(input, dim=-1):
    """The first half along *dim* times the sigmoid of the second half."""
    return _ops.glu(input, dim)


def gelu(input, approximate="none", *, out=None):
    """x times the normal distribution function of x; approximate="tanh" uses the tanh formula."""
    return _ops.gelu(input, approximate) if out is None else _ops.gelu(input, approximate, out=out)


def silu(input, inplace=False):
    """x * sigmoid(x)."""
    return (_ops.silu_ if inplace else _ops.silu)(input)


def mish(input, inplace=False):
    """x * tanh(softplus(x))."""
    return (_ops.mish_ if inplace else _ops.mish)(input)


def hardsigmoid(input, inplace=False):
    """x / 6 + 1/2 limited to [0, 1]."""
    return (_ops.hardsigmoid_ if inplace else _ops.hardsigmoid)(input)


def hardswish(input, inplace=False):
    """x * hardsigmoid(x)."""
    return (_ops.hardswish_ if inplace else _ops.hardswish)(input)


def softplus(input, beta=1, threshold=20, *, out=None):
    """log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold."""
    return _ops.softplus(input, beta, threshold) if out is None else _ops.softplus(input, beta, threshold, out=out)


def softsign(input):
    """x / (1 + abs(x))."""
    return _ops.softsign(input) if input.is_floating_point() else input / (input.abs() + 1)


def softshrink(input, lambd=0.5, *, out=None):
    """x moved towards zero by lambd, zero in between."""
    if lambd < 0:
        largest = "3.40282e+38" if input.dtype.itemsize == 4 else "1.79769e+308"
        raise RuntimeError(
            f"lambda must be in range [0, {largest}] for input dtype {scalar_type(input.dtype)}, but found {lambd:g}"
        )
    return _ops.softshrink(input, lambd) if out is None else _ops.softshrink(input, lambd, out=out)


def hardshrink(input, lambd=0.5, *, out=None):
    """x where abs(x) > lambd, zero elsewhere."""
    return _ops.hardshrink(input, lambd) if out is None else _ops.hardshrink(input, lambd, out=out)


def tanhshrink(input):
    """x - tanh(x)."""
    return input - input.tanh()


def logsigmoid(input, *, out=None):
    """log(1 / (1 + exp(-x))), without overflow."""
    return _ops.logsigmoid(input) if out is None else _ops.logsigmoid(input, out=out)


def tanh(input):
    """The hyperbolic tangent."""
    return input.tanh()


def sigmoid(input):
    """1 / (1 + exp(-x))."""
    return input.sigmoid()
