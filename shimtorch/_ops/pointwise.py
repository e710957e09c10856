"""Mathematical functions of one tensor, element by element."""
import math

from .._core import OPS
from .._core.declaring import op
from .._core.dtype import bool as bool_dtype
from .._core.dtype import get_default_dtype
from .._core.pointwise import binary, chosen, clamped, joined_parts, pointwise1, unary
from .._core.policy import policy
from .._core.promotion import result_type
from .._core.tensor import TensorBase, wrap_ndarray
from . import samples
from ._arguments import checked
from ._rules import conj, where
from .samples import Draw, Samples, call

_any = samples.unary(dtypes="number")
_real = samples.unary(dtypes="real")
_positive = samples.unary(low=0.1, dtypes="number")
_inside = samples.unary(low=-0.9, high=0.9, dtypes="number")
_stepped = samples.unary(away_from="integer", dtypes="real")
_FLOATS = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")


def _zero(g):
    return g * 0


def _log1p_parts(x, y):
    return OPS["torch.complex"](((x + 2) * x + y * y).log1p() / 2, OPS["torch.atan2"](y, x + 1))


def _expm1_parts(x, y):
    return OPS["torch.complex"](x.expm1() * y.cos() - 2 * (y / 2).sin().square(), x.exp() * y.sin())


_by_parts = {"log1p": _log1p_parts, "expm1": _expm1_parts}


def _by_numpy(name):
    def fallback(x):
        import numpy as np
        if x.is_cuda:
            return _by_parts[name](OPS["torch.real"](x), OPS["torch.imag"](x))
        return wrap_ndarray(getattr(np, name)(x._ndarray()))
    return fallback


# ---------------------------------------------------------------- powers, exponentials, logarithms

unary("exp", result="float", grads={"self": lambda g, out: g * conj(out)}, samples=_any)
unary("exp2", result="float", grads={"self": lambda g, out: g * conj(out) * math.log(2)}, samples=_any)
unary("expm1", result="float", fallback=_by_numpy("expm1"), grads={"self": lambda g, out: g * conj(out + 1)},
      samples=_any)
unary("log", result="float", grads={"self": lambda g, self: g / conj(self)}, samples=_positive)
unary("log2", result="float", grads={"self": lambda g, self: g / conj(self * math.log(2))}, samples=_positive)
unary("log10", result="float", grads={"self": lambda g, self: g / conj(self * math.log(10))}, samples=_positive)
unary("log1p", result="float", fallback=_by_numpy("log1p"), backward_name="Log1PBackward0", samples=_positive,
      grads={"self": lambda g, self: g / conj(self + 1)})
unary("sqrt", result="float", grads={"self": lambda g, out: g / conj(out * 2)}, samples=_positive)
unary("rsqrt", result="float", grads={"self": lambda g, out: g * conj(out ** 3) * -0.5}, samples=_positive)
unary("reciprocal", result="float", samples=_positive, grads={"self": lambda g, out: -g * conj(out * out)})


@op(inplace=True, out=True, samples=_any, backward_name="PowBackward0",
    grads={"self": lambda g, self: g * conj(self) * 2})
def square(self):
    """The square."""
    return pointwise1("square", self.long() if self.dtype.name == "bool" else self)


# ---------------------------------------------------------------- trigonometric and hyperbolic functions

unary("sin", result="float", grads={"self": lambda g, self: g * conj(self.cos())}, samples=_any)
unary("cos", result="float", grads={"self": lambda g, self: g * conj(-self.sin())}, samples=_any)
unary("tan", result="float", grads={"self": lambda g, out: g * conj(1 + out * out)},
      samples=samples.unary(low=-1, high=1, dtypes="number"))
unary("asin", result="float", aliases=("arcsin",), samples=_inside,
      grads={"self": lambda g, self: g * conj((1 - self * self).rsqrt())})
unary("acos", result="float", aliases=("arccos",), samples=_inside,
      grads={"self": lambda g, self: g * conj(-(1 - self * self).rsqrt())})
unary("atan", result="float", aliases=("arctan",), samples=_any,
      grads={"self": lambda g, self: g / conj(self * self + 1)})
unary("sinh", result="float", grads={"self": lambda g, self: g * conj(self.cosh())}, samples=_any)
unary("cosh", result="float", grads={"self": lambda g, self: g * conj(self.sinh())}, samples=_any)
unary("tanh", result="float", grads={"self": lambda g, out: tanh_backward(g, out)}, samples=_any)
unary("asinh", result="float", aliases=("arcsinh",), samples=_any,
      grads={"self": lambda g, self: g * conj((self * self + 1).rsqrt())})
unary("acosh", result="float", aliases=("arccosh",), samples=samples.unary(low=1.1, high=3, dtypes="real"),
      grads={"self": lambda g, self: g * (self * self - 1).rsqrt()})
unary("atanh", result="float", aliases=("arctanh",), samples=_inside,
      grads={"self": lambda g, self: g / conj(1 - self * self)})
unary("sigmoid", result="float", aliases=("special_expit",), samples=_any,
      grads={"self": lambda g, out: sigmoid_backward(g, out)})

# the first derivatives as ops of their own, g times the conjugate of a function of out, one loop each
tanh_backward = binary("tanh_backward", function=False, method=False, inplace=False, grads={
    "self": lambda g, other: tanh_backward(g, conj(other)),
    "other": lambda g, self, other: conj(g) * self * conj(other) * -2})
sigmoid_backward = binary("sigmoid_backward", function=False, method=False, inplace=False, grads={
    "self": lambda g, other: sigmoid_backward(g, conj(other)),
    "other": lambda g, self, other: conj(g) * self * conj(1 - 2 * other)})


# ---------------------------------------------------------------- signs and whole numbers

unary("neg", aliases=("negative",), operator="neg", refuse=("bool",), grads={"self": lambda g: -g}, samples=_any,
      bool_error=lambda both: RuntimeError(
          "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the "
          "`~` or `logical_not()` operator instead."))
unary("sign", grads={"self": _zero}, samples=samples.unary(away_from=0, dtypes="real"))
unary("floor", grads={"self": _zero}, samples=_stepped)
unary("ceil", grads={"self": _zero}, samples=_stepped)
unary("trunc", aliases=("fix",), grads={"self": _zero}, samples=_stepped)
unary("frac", grads={"self": lambda g: g}, samples=samples.unary(away_from="integer"),
      refuse=("bool", "uint8", "int8", "int16", "int32", "int64"))
unary("isnan", result="compare", inplace=False, out=False, samples=_any)
unary("isinf", result="compare", inplace=False, out=False, samples=_any)
unary("isfinite", result="compare", inplace=False, out=False, samples=_any)
unary("signbit", result="bool", inplace=False, samples=_real)
unary("logical_not", result="bool", samples=_any)
unary("bitwise_not", refuse=_FLOATS, samples=samples.unary(dtypes="int"))


@op(operator="invert", method=False, function=False)
def invert(self):
    """``~x``: all bits the other way; of a mask (in old eras a ByteTensor), its logical negation."""
    if self.is_floating_point() or self.is_complex():
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    if policy.compare_uint8 and self.dtype.name == "uint8":
        return 1 - self
    return self.bitwise_not()


@op(operator="abs", inplace=True, out=True, aliases=("absolute",), samples=samples.unary(away_from=0, dtypes="number"),
    grads={"self": lambda g, self: g * self.sgn()})
def abs(self):
    """The absolute value; real for a complex tensor."""
    if self.is_complex():
        return OPS["torch.hypot"](self.real, self.imag)
    return pointwise1("abs", self)


@op(inplace=True, out=True, samples=samples.unary(away_from=0, dtypes="number"),
    grads={"self": lambda g, self, out: _sgn_grad(g, self, out)})
def sgn(self):
    """The sign; for a complex tensor the number of the same angle and absolute value 1."""
    return pointwise1("sgn", self)


def _sgn_grad(g, x, out):
    if not g.is_complex():
        return g * 0
    size = x.abs()
    return where(size == 0, 0, (g - (g * conj(out)).real * out) / where(size == 0, 1, size))


@op(operator="pos", samples=_any, grads={"self": lambda g: g})
def positive(self):
    """The tensor itself."""
    if self.dtype.name == "bool":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return self


@op(inplace=True, out=True, samples=Samples(samples.unary(away_from="half", dtypes="real").calls + [
        call(Draw(3, 4), decimals=1), call(Draw(3, 4, low=-2000, high=2000), decimals=-2)], "float"),
    backward_name=lambda decimals: "RoundBackward1" if decimals else "RoundBackward0", grads={"self": _zero})
def round(self, *, decimals=0):
    """To the nearest integer, halves to even; or to ``decimals`` decimal places."""
    if decimals == 0:
        return pointwise1("round", self)
    if not self.is_floating_point():
        raise NotImplementedError(f'"round_cpu" not implemented for \'{_scalar_type(self)}\'')
    if decimals < 0:
        return pointwise1("round", self / 10.0 ** -decimals) * 10.0 ** -decimals
    return pointwise1("round", self * 10.0 ** decimals) / 10.0 ** decimals


def _scalar_type(x):
    from .._core.dtype import scalar_type
    return scalar_type(x.dtype)


@op(out=True, samples=_real)
def isposinf(self):
    """Where elements are positive infinity."""
    return _is_infinity(self, "isposinf", math.inf)


@op(out=True, samples=_real)
def isneginf(self):
    """Where elements are negative infinity."""
    return _is_infinity(self, "isneginf", -math.inf)


def _is_infinity(x, name, infinity):
    if x.is_complex():
        raise RuntimeError(f"{name} does not support complex inputs.")
    if not x.is_floating_point():
        return x != x
    return x == infinity


# ---------------------------------------------------------------- complex numbers

@op(name="conj", samples=_any, grads={"self": lambda g: g.conj()})
def conj_op(self):
    """The complex conjugate; a real tensor as it is."""
    return pointwise1("conj_physical", self) if self.is_complex() else self


@op(inplace=True, out=True, samples=_any, grads={"self": lambda g: g.conj()})
def conj_physical(self):
    """The complex conjugate in memory of its own; a real tensor as it is."""
    return pointwise1("conj_physical", self) if self.is_complex() else self


@op(samples=_any)
def resolve_conj(self):
    """The tensor itself: conjugation is never put off here."""
    return checked(self)


@op(samples=_any)
def resolve_neg(self):
    """The tensor itself: negation is never put off here."""
    return checked(self)


@op(samples=_any)
def isreal(self):
    """Where elements have no imaginary part."""
    return self.imag == 0 if self.is_complex() else OPS["torch.ones_like"](self, dtype=bool_dtype)


@op(out=True, samples=samples.unary(away_from=0, dtypes="number"), grads={"self": lambda g, self: _angle_grad(g, self)})
def angle(self):
    """The angle of complex numbers in radians; 0 or pi for real ones."""
    if self.is_complex():
        return OPS["torch.atan2"](self.imag, self.real)
    x = self if self.is_floating_point() else self.to(get_default_dtype())
    return chosen(x < 0, x.new_full((), math.pi), chosen(x.isnan(), x, x.new_zeros(())))


def _angle_grad(g, x):
    if not x.is_complex():
        return g * 0
    size = (x * conj(x)).real
    return where(size == 0, 0, g * x * 1j / where(size == 0, 1, size))


@op(method=False, out=True, samples=Samples([call(Draw(3, 4), Draw(3, 4)), call(Draw(3, 1), Draw(4))]),
    grads={"real": lambda g: g.real, "imag": lambda g: g.imag})
def complex(real, imag):
    """A complex tensor of two real ones."""
    _check_parts("complex", real=real, imag=imag)
    if real.dtype.name != "float16" and not real.is_cuda and not imag.is_cuda:
        return joined_parts(real, imag)
    return OPS["torch.stack"](OPS["torch.broadcast_tensors"](real, imag), -1).view_as_complex()


def _check_parts(name, **parts):
    for i, (what, x) in enumerate(parts.items(), 1):
        if not isinstance(x, TensorBase):
            raise TypeError(f"{name}(): argument '{what}' (position {i}) must be Tensor, not {type(x).__name__}")
    a, b = parts.values()
    if a.dtype.name not in ("float16", "float32", "float64") or b.dtype.name not in ("float16", "float32", "float64"):
        raise RuntimeError(f"Expected both inputs to be Half, Float or Double tensors but got {_scalar_type(a)} and "
                           f"{_scalar_type(b)}")
    if a.dtype is not b.dtype:
        raise RuntimeError(f"Expected object of scalar type {_scalar_type(a)} but got scalar type {_scalar_type(b)} "
                           "for second argument")


@op(method=False, out=True, samples=Samples([call(Draw(3, 4), Draw(3, 4)), call(Draw(3, 1), Draw(4))]))
def polar(abs, angle):
    """A complex tensor of absolute values and angles."""
    _check_parts("polar", abs=abs, angle=angle)
    return OPS["torch.complex"](abs * angle.cos(), abs * angle.sin())


# ---------------------------------------------------------------- limits and repairs

@op(inplace=True, out=True, overloads=True, aliases=("clip",), samples=Samples([
        call(Draw(3, 4), -1, 1), call(Draw(3, 4), min=-0.5), call(Draw(3, 4), max=0.5), call(Draw(3, 4), 1, -1),
        call(Draw(3, 4), Draw(4), Draw(3, 1)), call(Draw(3, 4), None, Draw()), call(Draw(9, special=True), -1, 1),
        call(Draw(3, 4), math.nan, 1.0)], dtypes="real", gradcheck=(0, 1, 2, 3, 4, 5)),
    backward_name=lambda min, max: "ClampBackward0" if isinstance(min, TensorBase) or isinstance(max, TensorBase) else (
        "ClampBackward1"),
    grads={"self": lambda g, self, min, max: where(_within(self, min, max), g, 0),
           "min": lambda g, self, min, max: where(_below(self, min, max), g, 0),
           "max": lambda g, self, min, max: where(_above(self, min, max), g, 0)})
def clamp(self, min=None, max=None):
    """Values below ``min`` (a number or tensor) become min, values above ``max`` become max."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if self.is_complex():
        raise NotImplementedError("clamp is not supported for complex types")
    if isinstance(min, TensorBase) or isinstance(max, TensorBase):
        out = self
        if min is not None:
            out = out.maximum(_number_like(out, min))
        return out if max is None else out.minimum(_number_like(out, max))
    dtype = self.dtype
    for bound in (min, max):
        if bound is not None:
            other = result_type(self, bound)
            dtype = other if other.is_floating_point or other.name != dtype.name == "bool" else dtype
    return clamped(self if dtype is self.dtype else self.to(dtype), min, max)


def _number_like(x, value):
    from .._core.factory import full
    return value if isinstance(value, TensorBase) else full((), value, dtype=result_type(x, value))


def _within(x, min, max):
    if min is None:
        return x <= max
    if max is None:
        return x >= min
    return (x >= min).logical_and(x <= max)


def _below(x, min, max):
    return x < min if max is None else (x < min).logical_and(min < max)


def _above(x, min, max):
    return x > max if min is None else (x > max).logical_or(max < min)


_bound = Samples([call(Draw(3, 4), 0.5), call(Draw(3, 4), -1), call(Draw(3, 4), Draw(4))], dtypes="real")


@op(inplace=True, out=True, samples=_bound)
def clamp_min(self, min):
    """Values below ``min`` become min."""
    return self.clamp(min=min)


@op(inplace=True, out=True, samples=_bound)
def clamp_max(self, max):
    """Values above ``max`` become max."""
    return self.clamp(max=max)


@op(inplace=True, out=True, samples=Samples(_real.calls + [call(Draw(12, special=True), 1.5, 2.0, -2.0)], "number"),
    grads={"self": lambda g, self: where(self.isfinite(), g, 0)})
def nan_to_num(self, nan=0.0, posinf=None, neginf=None):
    """NaN and infinities replaced by numbers; infinities by the largest and lowest finite ones unless given."""
    if self.is_complex():
        pair = nan_to_num(self.view_as_real(), nan, posinf, neginf)
        return pair.view_as_complex()
    if not self.is_floating_point():
        return self.clone()
    limit = _largest(self.dtype)
    if not self.is_cuda:
        return pointwise1("nan_to_num", self, (0.0 if nan is None else nan, limit if posinf is None else posinf,
                                               -limit if neginf is None else neginf))
    x = where(self.isnan(), 0.0 if nan is None else nan, self)
    x = where(x == math.inf, limit if posinf is None else posinf, x)
    return where(x == -math.inf, -limit if neginf is None else neginf, x)


def _largest(dtype):
    return {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38}.get(
        dtype.name, 1.7976931348623157e308)


@op(inplace=True, out=True, samples=samples.unary(low=-400, high=400, dtypes="real"))
def deg2rad(self):
    """Degrees as radians."""
    return _scaled_angle(self, "deg2rad", math.pi / 180)


@op(inplace=True, out=True, samples=_real)
def rad2deg(self):
    """Radians as degrees."""
    return _scaled_angle(self, "rad2deg", 180 / math.pi)


def _scaled_angle(x, name, factor):
    if x.is_complex():
        raise RuntimeError(f"{name} is not supported for complex tensors.")
    return (x if x.is_floating_point() else x.to(get_default_dtype())) * factor
