"""Normalisation on a device: rows by a kernel, channels by reductions and pointwise ops."""
from .._core.dtype import float32, float64, scalar_type
from . import _dense


def _working(t, name):
    """The dtype in which t is normalised."""
    if not t.is_floating_point():
        raise NotImplementedError(f"\"{name}\" not implemented for '{scalar_type(t.dtype)}'")
    return float64 if t.dtype is float64 else float32


def _ready(t, dtype):
    return None if t is None else t.to(dtype).contiguous()


def rows(input, weight, bias, n_rows, run, groups, eps, what):
    """The rows normalised, and the mean and the inverse standard deviation of each."""
    _working(input, what)
    weight, bias = _ready(weight, input.dtype), _ready(bias, input.dtype)
    return _dense.normalise_rows(input.contiguous(), weight, bias, n_rows, run, groups, eps, what)


def rows_backward(grad, input, weight, bias, mean, scale, n_rows, run, groups, needs):
    """The gradients of input, weight and bias, those that are needed."""
    dx = dw = db = None
    if needs[0]:
        dx = _dense.normalise_rows_backward(_ready(grad, input.dtype), input.contiguous(), _ready(weight, input.dtype),
                                            mean, scale, n_rows, run, groups)
    shape = (n_rows // groups, groups, -1, run)        # examples, groups, weights, elements of one
    if not input.numel():
        return (dx, *(t.new_zeros(t.shape) if t is not None and need else None
                      for t, need in zip((weight, bias), needs[1:])))
    g = grad.to(mean.dtype).reshape(shape)
    if needs[1] and weight is not None:
        x = (input.to(mean.dtype).reshape(n_rows, -1) - mean.unsqueeze(1)) * scale.unsqueeze(1)
        dw = (g * x.reshape(shape)).sum((0, 3)).reshape(weight.shape).to(weight.dtype)
    if needs[2] and bias is not None:
        db = g.sum((0, 3)).reshape(bias.shape).to(bias.dtype)
    return dx, dw, db


# ---------------------------------------------------------------- channels

def _others(t):
    return [0, *range(2, t.dim())]


def _along(channel, t):
    """A number for each channel, to go with t."""
    return channel.reshape(-1, *(1,) * (t.dim() - 2))


def moments(input, what):
    """The mean of every channel (dimension 1), and the mean square distance from it."""
    x, dims = input.to(_working(input, what)), _others(input)
    return x.mean(dims), x.var(dims, unbiased=False)


def affine(input, factor, summand, what):
    """Every channel times its factor, plus its summand."""
    dtype = _working(input, what)
    factor, summand = (_along(t.to(dtype), input) for t in (factor, summand))
    return summand.addcmul(input.to(dtype), factor).to(input.dtype)


def sums(grad, input, mean):
    """Over every channel, the sums of grad and of grad * (input - mean)."""
    dtype, dims = _working(mean, "batch_norm"), _others(input)
    g = grad.to(dtype)
    return g.sum(dims), (g * (input.to(dtype) - _along(mean.to(dtype), input))).sum(dims)


def blend(grad, input, a, b, c):
    """``grad * a + input * b + c``, where a, b and c hold a number for every channel."""
    dtype = _working(a, "batch_norm")
    a, b, c = (_along(t.to(dtype), input) for t in (a, b, c))
    return c.addcmul(input.to(a.dtype), b).addcmul_(grad.to(a.dtype), a).to(grad.dtype)
