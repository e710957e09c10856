"""Activation functions."""

from ... import _ops
from ..._core.dtype import float64

_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946


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
    return _settled(input, _ops.where(input <= threshold, value, input), inplace)


def threshold_(input, threshold, value):
    """The in-place form of threshold."""
    return input.copy_(_ops.where(input <= threshold, value, input))


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """x limited to [min_val, max_val]; no gradient at the limits and beyond."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    inside = (input > min_val) & (input < max_val)
    limited = input.detach().clamp(min_val, max_val)
    return _settled(input, _ops.where(inside, input, limited), inplace)


def hardtanh_(input, min_val=-1.0, max_val=1.0):
    """The in-place form of hardtanh."""
    return hardtanh(input, min_val, max_val, inplace=True)


def relu6(input, inplace=False):
    """min(max(x, 0), 6)."""
    return hardtanh(input, 0.0, 6.0, inplace)


def _elu(input, alpha, scale, input_scale):
    # expm1 sees no positive numbers: it would overflow, and its gradient with it.
    negative = _ops.expm1(input.clamp(max=0) * input_scale) * (alpha * scale)
    return _ops.where(input > 0, input * scale, negative)


def elu(input, alpha=1.0, inplace=False):
    """x for x > 0, alpha * (exp(x) - 1) elsewhere."""
    return _settled(input, _elu(input, alpha, 1.0, 1.0), inplace)


def elu_(input, alpha=1.0):
    """The in-place form of elu."""
    return elu(input, alpha, inplace=True)


def selu(input, inplace=False):
    """The scaled ELU of self-normalising networks."""
    return _settled(input, _elu(input, _SELU_ALPHA, _SELU_SCALE, 1.0), inplace)


def selu_(input):
    """The in-place form of selu."""
    return selu(input, inplace=True)


def celu(input, alpha=1.0, inplace=False):
    """x for x > 0, alpha * (exp(x / alpha) - 1) elsewhere."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return _settled(input, _elu(input, alpha, 1.0, 1.0 / alpha), inplace)


def celu_(input, alpha=1.0):
    """The in-place form of celu."""
    return celu(input, alpha, inplace=True)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    """x for x > 0, negative_slope * x elsewhere."""
    return _settled(input, _ops.where(input > 0, input, input * negative_slope), inplace)


def leaky_relu_(input, negative_slope=0.01):
    """The in-place form of leaky_relu."""
    return leaky_relu(input, negative_slope, inplace=True)


def prelu(input, weight):
    """x for x > 0, weight * x elsewhere; *weight* has one element, or one for each channel (dimension 1)."""
    if weight.dim() > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.dim()}"
        )
    if weight.numel() != 1:
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
    if not training:
        return leaky_relu(input, (lower + upper) / 2, inplace)
    negative = input.detach() <= 0
    slope = _ops.ones_like(input)
    low, high = input.new_tensor(lower).item(), input.new_tensor(upper).item()
    # Only the elements that need a slope draw one, in double precision.
    draws = _ops.rand(int(negative.sum()), dtype=float64)
    slope[negative] = (draws * (high - low) + low).to(input.dtype)
    return _settled(input, input * slope, inplace)


def rrelu_(input, lower=1.0 / 8, upper=1.0 / 3, training=False):
    """The in-place form of rrelu."""
    return rrelu(input, lower, upper, training, inplace=True)


def glu(input, dim=-1):
    """The first half along *dim* times the sigmoid of the second half."""
    if input.dim() == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    size = input.size(dim)
    if size % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {dim % input.dim()} is size {size}")
    return input.narrow(dim, 0, size // 2) * input.narrow(dim, size // 2, size // 2).sigmoid()


def gelu(input, approximate="none"):
    """x times the normal distribution function of x; approximate="tanh" uses the tanh formula."""
    if approximate == "none":
        return input * 0.5 * (1 + _ops.erf(input * 0.70710678118654752440))
    if approximate == "tanh":
        inner = 0.7978845608028654 * (input + 0.044715 * input * input * input)
        return 0.5 * input * (1 + inner.tanh())
    raise RuntimeError("approximate argument must be either none or tanh.")


def silu(input, inplace=False):
    """x * sigmoid(x)."""
    return _settled(input, input * input.sigmoid(), inplace)


def mish(input, inplace=False):
    """x * tanh(softplus(x))."""
    return _settled(input, input * softplus(input).tanh(), inplace)


def hardsigmoid(input, inplace=False):
    """x / 6 + 1/2 limited to [0, 1]."""
    return _settled(input, hardtanh(input + 3, 0.0, 6.0) / 6, inplace)


def hardswish(input, inplace=False):
    """x * hardsigmoid(x)."""
    return _settled(input, input * (input + 3).clamp(0, 6) / 6, inplace)


def softplus(input, beta=1, threshold=20):
    """log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold."""
    scaled = input * beta
    curve = _ops.log1p(scaled.clamp(max=threshold).exp()) / beta
    return _ops.where(scaled > threshold, input, curve)


def softsign(input):
    """x / (1 + abs(x))."""
    return input / (input.abs() + 1)


def softshrink(input, lambd=0.5):
    """x moved towards zero by lambd, zero in between."""
    if lambd < 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd}.")
    zero = input.detach() * 0  # keeps NaN
    return _ops.where(input > lambd, input - lambd, _ops.where(input < -lambd, input + lambd, zero))


def hardshrink(input, lambd=0.5):
    """x where abs(x) > lambd, zero elsewhere."""
    inside = (input >= -lambd) & (input <= lambd)
    return _ops.where(inside, _ops.zeros_like(input), input)


def tanhshrink(input):
    """x - tanh(x)."""
    return input - input.tanh()


def logsigmoid(input):
    """log(1 / (1 + exp(-x))), without overflow."""
    negative, positive = input.clamp(max=0), input.clamp(min=0)
    below = negative - _ops.log1p(negative.exp())
    above = -_ops.log1p((-positive).exp())
    return _ops.where(input < 0, below, above)


def tanh(input):
    """The hyperbolic tangent."""
    return input.tanh()


def sigmoid(input):
    """1 / (1 + exp(-x))."""
    return input.sigmoid()
