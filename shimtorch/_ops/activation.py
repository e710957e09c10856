"""Activation functions and the softmax family."""
import math

from .._core import OPS, lookups
from .._core.declaring import op
from .._core.deferred import Deferred, written
from .._core.dtype import float64
from .._core.pointwise import binary, pointwise1, unary
from .._core.products import by_rows
from . import samples
from ._rules import where
from .samples import Draw, Samples, call

_SPACE = dict(namespace="torch.nn.functional", method=False)
_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


def _values(*calls, **options):
    """A matrix with values off the kinks, and special values, each with further arguments."""
    calls = calls or ((),)
    return Samples([call(Draw(3, 4, low=-4, high=4, away_from="integer"), *c) for c in calls]
                   + [call(Draw(12, special=True), *calls[0]), call(Draw(), *calls[-1])], **options)


def _declare(name, kernel=None, parameters=(), **options):
    """An activation run by a kernel; parameters: (name, default) pairs, which the kernel gets as doubles."""
    names = [n for n, _ in parameters]
    if not parameters:
        return unary(name, kernel or name, **{"out": False, **_SPACE, **options})
    code = (f"def forward(input, {', '.join(f'{n}={d!r}' if d is not None else n for n, d in parameters)}):\n"
            f"    return pointwise1({kernel or name!r}, input, ({', '.join(names)},))\n")
    scope = {"pointwise1": pointwise1}
    exec(code, scope)
    forward = scope["forward"]
    forward.__name__, forward.__doc__, forward.__module__ = name, options.pop("doc", None), __name__
    return op(forward, inplace=True, **_SPACE, **options)


# ---------------------------------------------------------------- piecewise linear

unary("relu", keeps_order=True, samples=samples.unary(away_from=0, dtypes="real"), refuse=("bool",), out=False,
      bool_error=lambda both: RuntimeError("Boolean inputs not supported for relu"),
      grads={"self": lambda g, out: threshold_backward(g, out, 0)})
OPS["torch.nn.functional.relu"], OPS["torch.nn.functional.relu_"] = OPS["torch.relu"], OPS["torch.relu_"]


@op(name="threshold_backward", **_SPACE, function=False, grads={
    "grad": lambda g, self, threshold: threshold_backward(g, self, threshold)})
def threshold_backward(grad, self, threshold):
    """grad where self is above a threshold, else 0."""
    return where(self > threshold, grad, 0)


def _slope(g, condition, factor):
    """g where a condition holds, scaled elsewhere."""
    return where(condition, g, g * factor)


_declare("leaky_relu", parameters=(("negative_slope", 0.01),), samples=_values((), (0.2,)),
         grads={"input": lambda g, input, negative_slope: _slope(g, input > 0, negative_slope)})
@op(inplace=True, **_SPACE, samples=_values((0.5, 20), (-1, 0.5), dtypes="real"), grads={
    "input": lambda g, input, threshold: threshold_backward(g, input, threshold)})
def threshold(input, threshold, value):
    """Elements above a threshold, a value in place of the others."""
    if input.is_floating_point() or input.is_complex() or input.dtype.name == "bool":
        return pointwise1("threshold", input, (threshold, value))
    return where(input > int(threshold), input, input.new_full((), int(value)))


_declare("hardshrink", out=True, parameters=(("lambd", 0.5),), samples=_values((), (1.5,)), grads={
    "input": lambda g, input, lambd: where((input >= -lambd).logical_and(input <= lambd), 0, g)})
_declare("softshrink", out=True, parameters=(("lambd", 0.5),), samples=_values((), (1.5,)), grads={
    "input": lambda g, input, lambd: where((input >= -lambd).logical_and(input <= lambd), 0, g)})


@op(inplace=True, **_SPACE, samples=_values((), (-2.5, 1.5), (0.5, 2.5), dtypes="real"), grads={
    "input": lambda g, input, min_val, max_val: where((input > min_val).logical_and(input < max_val), g, 0)})
def hardtanh(input, min_val=-1.0, max_val=1.0):
    """Values kept within [min_val, max_val]."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    if input.dtype.name == "bool":
        raise RuntimeError("Bool inputs not supported for hardtanh")
    if not (input.is_floating_point() or input.is_complex()):
        if input.dtype.name.startswith("uint") and (int(min_val) < 0 or int(max_val) < 0):
            raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
        min_val, max_val = int(min_val), int(max_val)
    return input.clamp(min_val, max_val)


_declare("hardsigmoid", samples=_values(), grads={
    "self": lambda g, self: where((self > -3).logical_and(self < 3), g / 6, 0)})
hardswish_backward = binary("hardswish_backward", function=False, method=False, inplace=False, grads={
    "self": lambda g, other: hardswish_backward(g, other),
    "other": lambda g, self, other: where((other >= -3).logical_and(other <= 3), g * self / 3, 0)})
_declare("hardswish", samples=_values(), grads={"self": lambda g, self: hardswish_backward(g, self)})


# ---------------------------------------------------------------- exponential

def _elu_slope(g, x, alpha, scale, input_scale):
    return where(x > 0, g * scale, g * (x.clamp(max=0) * input_scale).exp() * (alpha * scale * input_scale))


@op(inplace=True, **_SPACE, samples=_values((), (1.5,)), grads={
    "input": lambda g, input, alpha: _elu_slope(g, input, alpha, 1.0, 1.0)})
def elu(input, alpha=1.0):
    """x where x > 0, else ``alpha * (exp(x) - 1)``."""
    return pointwise1("elu", input, (alpha, 1.0, 1.0))


@op(inplace=True, **_SPACE, samples=_values(), backward_name="EluBackward0", grads={
    "input": lambda g, input: _elu_slope(g, input, _SELU_ALPHA, _SELU_SCALE, 1.0)})
def selu(input):
    """The scaled ELU that keeps activations normalised."""
    return pointwise1("elu", input, (_SELU_ALPHA, _SELU_SCALE, 1.0))


@op(inplace=True, **_SPACE, samples=_values((), (1.5,)), grads={
    "input": lambda g, input, alpha: _elu_slope(g, input, alpha, 1.0, 1.0 / alpha)})
def celu(input, alpha=1.0):
    """x where x > 0, else ``alpha * (exp(x / alpha) - 1)``."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return pointwise1("celu", input, (alpha,))


_declare("softplus", out=True, parameters=(("beta", 1.0), ("threshold", 20.0)), samples=_values((), (2.0, 3.0)), grads={
    "input": lambda g, input, beta, threshold: where(input * beta > threshold, g, g * (input * beta).sigmoid())})
_declare("logsigmoid", out=True, backward_name="LogSigmoidBackward0", samples=_values(), grads={
    "self": lambda g, self: g * (-self).sigmoid()})
_declare("softsign", backward_name="DivBackward0", samples=_values(), grads={
    "self": lambda g, self: g / (self.abs() + 1).square()})


# ---------------------------------------------------------------- gated

def _silu_slope(x):
    gate = x.sigmoid()
    return gate * (1 + x * (1 - gate))


def _mish_slope(x):
    inner = OPS["torch.nn.functional.softplus"](x).tanh()
    return inner + x * x.sigmoid() * (1 - inner * inner)


def _gelu_slope(x, approximate):
    if approximate == "none":
        return 0.5 * (1 + (x * math.sqrt(0.5)).erf()) + x * (x * x * -0.5).exp() / math.sqrt(2 * math.pi)
    factor, cubic = math.sqrt(2 / math.pi), 0.044715
    inner = (factor * (x + cubic * x * x * x)).tanh()
    return 0.5 * (1 + inner) + 0.5 * x * (1 - inner * inner) * (factor * (1 + 3 * cubic * x * x))


_declare("silu", samples=_values(), grads={"self": lambda g, self: g * _silu_slope(self)})
_declare("mish", samples=_values(), grads={"self": lambda g, self: g * _mish_slope(self)})


@op(**_SPACE, out=True,
    samples=Samples([call(Draw(3, 4)), call(Draw(3, 4), approximate="tanh"), call(Draw(12, special=True))]),
    grads={"input": lambda g, input, approximate: g * _gelu_slope(input, approximate)})
def gelu(input, approximate="none"):
    """x times the normal distribution function of x; approximate "tanh": by the tanh formula."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return pointwise1("gelu" if approximate == "none" else "gelu_tanh", input)


for _name in ("selu", "celu", "hardshrink", "threshold"):
    for _suffix in ("", "_"):
        if "torch.nn.functional." + _name + _suffix in OPS:
            OPS["torch." + _name + _suffix] = OPS["torch.nn.functional." + _name + _suffix]


# ---------------------------------------------------------------- softmax

_softmax_calls = [call(Draw(3, 4), 1), call(Draw(3, 4), 0), call(Draw(2, 3, 4), 1), call(Draw(), 0),
                  call(Draw(0, 3), 1),
                  call(Draw(3, 4), -1, dtype=float64)]


def _cast_input(self, dtype):
    return self if dtype is None else self.to(dtype)


@op(name="_softmax", function=False, method=False, backward_name="SoftmaxBackward0",
    grads={"self": lambda g, out, dim: softmax_backward(g, out, dim)})
def softmax_op(self, dim):
    return by_rows("softmax", (self,), dim)


@op(name="_softmax_backward", function=False, method=False, grads={
    "grad": lambda g, out_, dim: softmax_backward(g, out_, dim),
    "out_": lambda g, grad, out_, dim: g * (grad - (grad * out_).sum(dim, True)) - grad * (g * out_).sum(dim, True)})
def softmax_backward(grad, out_, dim):
    """The gradient of softmax from that of its result and the result."""
    return by_rows("softmax_backward", (grad, out_), dim)


@op(name="_log_softmax", function=False, method=False, backward_name="LogSoftmaxBackward0",
    grads={"self": lambda g, out, dim: _log_softmax_gradient(g, out, dim)})
def log_softmax_op(self, dim):
    return by_rows("log_softmax", (self,), dim)


def _log_softmax_gradient(g, out, dim):
    if type(g) is Deferred and dim in (1, -1) and lookups.is_plain(out):
        return lookups.nll_backward_softmax(out, *g.about)
    return log_softmax_backward(written(g), out, dim)


@op(name="_log_softmax_backward", function=False, method=False, grads={
    "grad": lambda g, out_, dim: g - (g * out_.exp()).sum(dim, True),
    "out_": lambda g, grad, out_, dim: -g * out_.exp() * grad.sum(dim, True)})
def log_softmax_backward(grad, out_, dim):
    """The gradient of log_softmax from that of its result and the result."""
    return by_rows("log_softmax_backward", (grad, out_), dim)


@op(out=True, samples=Samples(_softmax_calls))
def softmax(self, dim=None, dtype=None):
    """``exp(x) / sum(exp(x))`` along a dimension."""
    return softmax_op(_cast_input(self, dtype), _needed(dim, "softmax"))


@op(out=True, samples=Samples(_softmax_calls))
def log_softmax(self, dim=None, dtype=None):
    """The logarithm of softmax along a dimension, computed without overflow."""
    return log_softmax_op(_cast_input(self, dtype), _needed(dim, "log_softmax"))


def _needed(dim, name):
    if dim is None:
        raise TypeError(f"{name}() missing 1 required positional arguments: \"dim\"")
    return dim
