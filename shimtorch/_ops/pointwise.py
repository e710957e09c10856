"""Arithmetic and mathematical functions, element by element."""
import math
from builtins import abs as builtin_abs

from .._core import OPS
from .._core.dtype import promote_types
from .._core.factory import cast
from .._core.kinds import binary, pointwise1, pointwise_scaled, result_type, unary
from .._core.op import op
from .._core.policy import policy
from .._core.tensor import TensorBase
from . import samples
from ._rules import conj, where

_positive = samples.unary(low=0.1)

# ---------------------------------------------------------------- one tensor

unary("neg", aliases=("negative",), operator="neg", refuse=("bool",), grads={"self": lambda g: -g},
      samples=samples.unary(dtypes="number"))
unary("exp", result="float", grads={"self": lambda g, out: g * conj(out)}, samples=samples.unary())
unary("exp2", result="float", grads={"self": lambda g, out: g * conj(out) * math.log(2)}, samples=samples.unary())
unary("expm1", result="float", grads={"self": lambda g, out: g * conj(out + 1)}, samples=samples.unary())
unary("log", result="float", grads={"self": lambda g, self: g / conj(self)}, samples=_positive)
unary("log2", result="float", grads={"self": lambda g, self: g / conj(self * math.log(2))}, samples=_positive)
unary("log10", result="float", grads={"self": lambda g, self: g / conj(self * math.log(10))}, samples=_positive)
unary("log1p", result="float", grads={"self": lambda g, self: g / conj(self + 1)}, samples=_positive)
unary("sqrt", result="float", grads={"self": lambda g, out: g / conj(out * 2)}, samples=_positive)
unary("rsqrt", result="float", grads={"self": lambda g, out: g * conj(out ** 3) * -0.5}, samples=_positive)
unary("sin", result="float", grads={"self": lambda g, self: g * conj(self.cos())}, samples=samples.unary())
unary("cos", result="float", grads={"self": lambda g, self: g * conj(-self.sin())}, samples=samples.unary())
unary("tan", result="float", grads={"self": lambda g, out: g * conj(1 + out * out)},
      samples=samples.unary(low=-1, high=1))
unary("asin", result="float", aliases=("arcsin",), samples=samples.unary(low=-0.9, high=0.9),
      grads={"self": lambda g, self: g * conj((1 - self * self).rsqrt())})
unary("acos", result="float", aliases=("arccos",), samples=samples.unary(low=-0.9, high=0.9),
      grads={"self": lambda g, self: g * conj(-(1 - self * self).rsqrt())})
unary("atan", result="float", aliases=("arctan",), samples=samples.unary(),
      grads={"self": lambda g, self: g / conj(self * self + 1)})
unary("sinh", result="float", grads={"self": lambda g, self: g * conj(self.cosh())}, samples=samples.unary())
unary("cosh", result="float", grads={"self": lambda g, self: g * conj(self.sinh())}, samples=samples.unary())
unary("tanh", result="float", grads={"self": lambda g, out: g * conj(1 - out * out)}, samples=samples.unary())
unary("asinh", result="float", aliases=("arcsinh",), samples=samples.unary(),
      grads={"self": lambda g, self: g * conj((self * self + 1).rsqrt())})
unary("acosh", result="float", aliases=("arccosh",), samples=samples.unary(low=1.1, high=3),
      grads={"self": lambda g, self: g * conj((self * self - 1).rsqrt())})
unary("atanh", result="float", aliases=("arctanh",), samples=samples.unary(low=-0.9, high=0.9),
      grads={"self": lambda g, self: g / conj(1 - self * self)})
unary("sigmoid", result="float", grads={"self": lambda g, out: g * conj(out * (1 - out))}, samples=samples.unary())
unary("reciprocal", result="float", samples=_positive, grads={"self": lambda g, out: -g * conj(out * out)})
unary("sign", grads={"self": lambda g: g * 0}, samples=samples.unary(away_from=0, dtypes="real"))
unary("floor", grads={"self": lambda g: g * 0}, samples=samples.unary(away_from="integer", dtypes="real"))
unary("ceil", grads={"self": lambda g: g * 0}, samples=samples.unary(away_from="integer", dtypes="real"))
unary("trunc", aliases=("fix",), grads={"self": lambda g: g * 0},
      samples=samples.unary(away_from="integer", dtypes="real"))
unary("frac", grads={"self": lambda g: g}, samples=samples.unary(away_from="integer"))
unary("erf", result="float", samples=samples.unary(),
      grads={"self": lambda g, self: g * (self * self).neg().exp() * (2 / math.sqrt(math.pi))})
unary("erfc", result="float", samples=samples.unary(),
      grads={"self": lambda g, self: g * (self * self).neg().exp() * (-2 / math.sqrt(math.pi))})
unary("lgamma", result="float", samples=_positive, grads={"self": lambda g, self: g * self.digamma()})
unary("isnan", result="bool", inplace=False, samples=samples.unary(dtypes="number"))
unary("isinf", result="bool", inplace=False, samples=samples.unary(dtypes="number"))
unary("isfinite", result="bool", inplace=False, samples=samples.unary(dtypes="number"))
unary("signbit", result="bool", inplace=False, samples=samples.unary(dtypes="real"))
unary("logical_not", result="bool", samples=samples.unary(dtypes="number"))
unary("bitwise_not", refuse=("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
      samples=samples.unary(dtypes="int"))


@op(operator="invert", method=False, function=False, name="invert")
def invert(self):
    if policy.compare_uint8 and self.dtype.name == "uint8":
        return 1 - self                # before 1.2 a mask was a ByteTensor, and ~ its logical negation
    return self.bitwise_not()


@op(operator="abs", inplace=True, out=True, aliases=("absolute",), samples=samples.unary(away_from=0, dtypes="number"),
    grads={"self": lambda g, self: g * self.sgn()})
def abs(self):
    """The absolute value; real for a complex tensor."""
    if self.is_complex():
        return (self.real.square() + self.imag.square()).sqrt()
    return pointwise1("abs", self)


@op(inplace=True, out=True, samples=samples.unary(dtypes="number"),
    grads={"self": lambda g, self: g * conj(self) * 2})
def square(self):
    """The square."""
    return pointwise1("square", self.long() if self.dtype.name == "bool" else self)


@op(inplace=True, out=True, samples=samples.unary(away_from=0, dtypes="number"),
    grads={"self": lambda g, self, out: g * 0 if not g.is_complex() else (g - (g * out.conj()).real * out) / self.abs()})
def sgn(self):
    """The sign; for a complex tensor the number of the same angle and absolute value 1."""
    return pointwise1("sgn", self)


@op(operator="pos", samples=samples.unary(dtypes="number"), grads={"self": lambda g: g})
def positive(self):
    """The tensor itself."""
    if self.dtype.name == "bool":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return self


@op(inplace=True, out=True, samples=samples.unary(away_from="half", dtypes="real"), grads={"self": lambda g: g * 0})
def round(self, *, decimals=0):
    """To the nearest integer, halves to even; or to ``decimals`` decimal places."""
    if not self.is_floating_point() or decimals == 0:
        return pointwise1("round", self)
    scale = 10.0 ** decimals
    return pointwise1("round", self * scale) / scale


@op(inplace=True, out=True, samples=samples.unary(low=0.1, high=3), grads={"self": lambda g, self: g * self.polygamma1()})
def digamma(self):
    """The logarithmic derivative of the gamma function."""
    return _scipy_unary(self, "digamma")


@op(function=False, method=True, samples=samples.unary(low=0.1, high=3, gradcheck=False))
def polygamma1(self):
    """The derivative of digamma."""
    return _scipy_unary(self, "polygamma", 1)


def _scipy_unary(x, name, *first):
    import scipy.special

    from .._core.tensor import wrap_ndarray
    if not x.is_floating_point():
        x = x.to(result_type(x, 1.0))
    return wrap_ndarray(getattr(scipy.special, name)(*first, x._ndarray()).astype(x._ndarray().dtype, copy=False))


@op(name="conj", samples=samples.unary(dtypes="number"), grads={"self": lambda g: g.conj()})
def conj_op(self):
    """The complex conjugate; a real tensor as it is."""
    return pointwise1("conj_physical", self) if self.is_complex() else self


@op(samples=samples.unary(dtypes="number"))
def resolve_conj(self):
    """The tensor itself: conjugation is never put off here."""
    return self


@op(inplace=True, out=True, samples=samples.Samples([
        samples.call(samples.Draw(3, 4), -1, 1), samples.call(samples.Draw(3, 4), min=-0.5),
        samples.call(samples.Draw(3, 4), max=0.5)], dtypes="real"),
    grads={"self": lambda g, self, min, max: g * _inside(self, min, max).to(g.dtype)}, aliases=("clip",))
def clamp(self, min=None, max=None):
    """Values below ``min`` (a number or tensor) become min, values above ``max`` become max."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    out = self
    if min is not None:
        out = out.maximum(min if isinstance(min, TensorBase) else _number_like(out, min))
    if max is not None:
        out = out.minimum(max if isinstance(max, TensorBase) else _number_like(out, max))
    return out


def _number_like(x, value):
    from .._core.factory import full
    return full((), value, dtype=result_type(x, value))


def _inside(x, min, max):
    if min is None:
        return x <= max
    if max is None:
        return x >= min
    return (x >= min).logical_and(x <= max)


@op(inplace=True, out=True)
def clamp_min(self, min):
    """Values below ``min`` become min."""
    return self.clamp(min=min)


@op(inplace=True, out=True)
def clamp_max(self, max):
    """Values above ``max`` become max."""
    return self.clamp(max=max)


# ---------------------------------------------------------------- two tensors

def _number_first(args, kwargs):
    """``add(x, alpha, y)`` of 0.x for ``add(x, y, alpha=alpha)``."""
    if len(args) == 3 and not isinstance(args[1], TensorBase) and isinstance(args[2], TensorBase):
        return (args[0], args[2]), dict(kwargs, alpha=args[1])
    return None


def _scaled(name, sign):
    def forward(self, other, *, alpha=1):
        code = result_type(self, other)
        if isinstance(alpha, float) and not code.is_floating_point and not code.is_complex:
            raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
        if not isinstance(other, TensorBase):
            return self + other * (alpha * sign)
        if policy.same_numel_pointwise and self.shape != other.shape:
            return self + other * (alpha * sign)
        return pointwise_scaled("add_scaled", (cast(self, code), cast(other, code)), alpha * sign)
    forward.__name__ = name
    return forward


_pair = samples.binary(dtypes="number")
_tensors = samples.binary(dtypes="number", number=None)
_real_tensors = samples.binary(dtypes="real", number=None)
_nonzero = samples.binary(low=0.5, high=2)
_nonzero_tensors = samples.binary(low=0.5, high=2, number=None)


def _divide(self, other, *, rounding_mode=None):
    if rounding_mode is None:
        return self / other
    if rounding_mode == "floor":
        return self.floor_divide(other)
    if rounding_mode == "trunc":
        return self.trunc_divide(other)
    raise RuntimeError("div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
                       f"'{rounding_mode}'")


binary("add", forward=_scaled("add", 1), scale=1, operator="add", inplace_operator="iadd", samples=_pair, legacy=_number_first,
       legacy_min=3, grads={"self": lambda g: g, "other": lambda g, alpha: _times(g, alpha)})
binary("sub", forward=_scaled("sub", -1), scale=-1, aliases=("subtract",), operator="sub", inplace_operator="isub",
       samples=_pair, refuse=("bool",), legacy=_number_first, legacy_min=3,
       grads={"self": lambda g: g, "other": lambda g, alpha: _times(g, -alpha)})
binary("mul", aliases=("multiply",), operator="mul", inplace_operator="imul", samples=_pair,
       grads={"self": lambda g, other: g * conj(other), "other": lambda g, self: g * conj(self)})
binary("div", forward=_divide, result="divide", aliases=("divide",), operator="truediv", inplace_operator="itruediv",
       samples=_nonzero,
       grads={"self": lambda g, other, rounding_mode: g / conj(other) if rounding_mode is None else g * 0,
              "other": lambda g, self, other, rounding_mode:
                  -g * conj(self / (other * other)) if rounding_mode is None else g * 0})
binary("floor_divide", operator="floordiv", inplace_operator="ifloordiv", samples=_nonzero,
       grads={"self": lambda g: g * 0, "other": lambda g: g * 0})
binary("trunc_divide", samples=_nonzero, grads={"self": lambda g: g * 0, "other": lambda g: g * 0})
binary("remainder", operator="mod", inplace_operator="imod", samples=_nonzero,
       grads={"self": lambda g: g, "other": lambda g, self, other: -g * self.floor_divide(other)})
binary("fmod", samples=_nonzero,
       grads={"self": lambda g: g, "other": lambda g, self, other: -g * self.trunc_divide(other)})
binary("atan2", result="float", aliases=("arctan2",), samples=_nonzero_tensors,
       grads={"self": lambda g, self, other: g * other / (self * self + other * other),
              "other": lambda g, self, other: -g * self / (self * self + other * other)})
binary("maximum", samples=_real_tensors, inplace=False,
       grads={"self": lambda g, self, other: _share(g, self, other, self > other),
              "other": lambda g, self, other: _share(g, self, other, self < other)})
binary("minimum", samples=_real_tensors, inplace=False,
       grads={"self": lambda g, self, other: _share(g, self, other, self < other),
              "other": lambda g, self, other: _share(g, self, other, self > other)})
binary("pow", operator="pow", inplace_operator="ipow", samples=samples.binary(low=0.3, high=2),
       grads={"self": lambda g, self, other: g * conj(_power_slope(self, other)),
              "other": lambda g, self, out: g * conj(_exponent_slope(self, out))})


def _times(g, alpha):
    return g if type(alpha) is int and alpha == 1 else g * alpha


def _share(g, a, b, wins):
    """The gradient where an operand wins, half of it where both are equal."""
    return g * wins.to(g.dtype) + g * (a == b).to(g.dtype) * 0.5


def _power_slope(x, exponent):
    if isinstance(exponent, TensorBase):
        return where(exponent == 0, 0, exponent * x.pow(exponent - 1))
    if exponent == 0:
        return x * 0
    return x.pow(exponent - 1) * exponent


def _exponent_slope(x, out):
    if isinstance(x, TensorBase):
        return where(x == 0, 0, out * x.log())
    return out * (math.log(x) if x > 0 else 0 if x == 0 else math.nan)


@op(operator="rsub", samples=_pair, method=False)
def rsub(self, other, *, alpha=1):
    """``other - alpha * self``."""
    return OPS["torch.sub"](other, self if alpha == 1 else self * alpha)


def _reflected(operator, name):
    """The operator with a number on its left."""
    def forward(self, other):
        return OPS["torch." + name](other, self)
    forward.__name__ = "__" + operator
    op(forward, operator=operator, method=False, function=False)


for _operator, _name in (("rtruediv", "div"), ("rfloordiv", "floor_divide"), ("rmod", "remainder"), ("rpow", "pow"),
                         ("rlshift", "bitwise_left_shift"), ("rrshift", "bitwise_right_shift")):
    _reflected(_operator, _name)


binary("bitwise_and", operator="and", inplace_operator="iand", samples=samples.binary(dtypes="int", number=3))
binary("bitwise_or", operator="or", inplace_operator="ior", samples=samples.binary(dtypes="int", number=3))
binary("bitwise_xor", operator="xor", inplace_operator="ixor", samples=samples.binary(dtypes="int", number=3))
binary("bitwise_left_shift", "lshift", operator="lshift", inplace_operator="ilshift",
       samples=samples.binary(dtypes="int", number=3))
binary("bitwise_right_shift", "rshift", operator="rshift", inplace_operator="irshift",
       samples=samples.binary(dtypes="int", number=3))
binary("logical_and", result="bool", samples=_tensors)
binary("logical_or", result="bool", samples=_tensors)
binary("logical_xor", result="bool", samples=_tensors)


# ---------------------------------------------------------------- three tensors

def _value_first(args, kwargs):
    """``addcmul(x, value, a, b)`` of 0.x for ``addcmul(x, a, b, value=value)``."""
    if len(args) == 4 and not isinstance(args[1], TensorBase):
        return (args[0], args[2], args[3]), dict(kwargs, value=args[1])
    return None


_triple = samples.Samples([samples.call(*(samples.Draw(3, 4, low=0.5, high=2) for _ in range(3))),
                           samples.call(samples.Draw(3, 1), samples.Draw(3, 4), samples.Draw(4, low=0.5, high=2), value=2)])


def _three(name, self, tensor1, tensor2, value):
    dtype = result_type(self, tensor1)
    dtype = promote_types(dtype, result_type(self, tensor2))
    parts = [cast(t, dtype) for t in OPS["torch.broadcast_tensors"](self, tensor1, tensor2)]
    return pointwise_scaled(name, parts, value)


@op(inplace=True, out=True, samples=_triple, legacy=_value_first, legacy_min=4,
    grads={"self": lambda g: g, "tensor1": lambda g, tensor2, value: g * conj(tensor2) * value,
           "tensor2": lambda g, tensor1, value: g * conj(tensor1) * value})
def addcmul(self, tensor1, tensor2, *, value=1):
    """``self + value * tensor1 * tensor2``."""
    return _three("addcmul", self, tensor1, tensor2, value)


@op(inplace=True, out=True, samples=_triple, legacy=_value_first, legacy_min=4,
    grads={"self": lambda g: g, "tensor1": lambda g, tensor2, value: g / conj(tensor2) * value,
           "tensor2": lambda g, tensor1, tensor2, value: -g * conj(tensor1 / (tensor2 * tensor2)) * value})
def addcdiv(self, tensor1, tensor2, *, value=1):
    """``self + value * tensor1 / tensor2``."""
    return _three("addcdiv", self, tensor1, tensor2, value)


@op(inplace=True, out=True, samples=samples.Samples([
        samples.call(samples.Draw(3, 4), samples.Draw(3, 4), 0.3),
        samples.call(samples.Draw(3, 4), samples.Draw(4), samples.Draw(3, 4, low=0, high=1))]),
    grads={"self": lambda g, weight: g * (1 - weight), "end": lambda g, weight: g * weight,
           "weight": lambda g, self, end: g * (end - self)})
def lerp(self, end, weight):
    """``self + weight * (end - self)``."""
    if isinstance(weight, TensorBase):
        return where(weight.abs() < 0.5, self + weight * (end - self), end - (end - self) * (1 - weight))
    return self + (end - self) * weight if builtin_abs(weight) < 0.5 else end - (end - self) * (1 - weight)
