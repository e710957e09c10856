"""Arithmetic of two and three tensors, element by element, and the operators."""
import math
from builtins import abs as builtin_abs

from .._core import OPS
from .._core.declaring import op
from .._core.dtype import get_default_dtype, promote_types, scalar_type
from .._core.factory import cast
from .._core.pointwise import binary, pointwise_scaled, power
from .._core.policy import policy
from .._core.promotion import result_type
from .._core.tensor import TensorBase, wrap_ndarray
from . import samples
from ._rules import conj, named_by_other, where
from .samples import Draw, Samples, call, mask
from .shape import merged_shape

_pair = samples.binary(dtypes="number")
_tensors = samples.binary(dtypes="number", number=None)
_real_tensors = samples.binary(dtypes="real", number=None)
_float_tensors = samples.binary(number=None)
_bits = samples.binary(dtypes="int", number=3, special=False)
_nonzero = samples.binary(low=0.5, high=2, dtypes="real")


def _zero(g):
    return g * 0


def _number_first(args, kwargs):
    """``add(x, alpha, y)`` of 0.x for ``add(x, y, alpha=alpha)``."""
    if len(args) == 3 and not isinstance(args[1], TensorBase) and isinstance(args[2], TensorBase):
        return (args[0], args[2]), dict(kwargs, alpha=args[1])
    if len(args) == 2 and "other" in kwargs and "alpha" not in kwargs and not isinstance(args[1], TensorBase):
        return (args[0],), dict(kwargs, alpha=args[1])
    return None


def _times(g, alpha):
    return g if type(alpha) is int and alpha == 1 else g * alpha


def _is_bool(x):
    return isinstance(x, TensorBase) and x.dtype.name == "bool"


def _scaled(name, sign):
    def forward(self, other, *, alpha=1):
        code = result_type(self, other)
        if isinstance(alpha, float) and not code.is_floating_point and not code.is_complex:
            raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
        if sign < 0 and (_is_bool(self) or _is_bool(other)):
            return self - other            # raises
        if not isinstance(other, TensorBase):
            return self + other * (alpha * sign)
        if not isinstance(self, TensorBase) or (policy.same_numel_pointwise and self.shape != other.shape):
            return self + other * (alpha * sign)
        return pointwise_scaled("add_scaled", (cast(self, code), cast(other, code)), alpha * sign)
    forward.__name__ = name
    return forward


def _divide(self, other, *, rounding_mode=None):
    if rounding_mode is None:
        return self / other
    if rounding_mode == "floor":
        return OPS["torch._floor_divide"](self, other)
    if rounding_mode == "trunc":
        return OPS["torch._trunc_divide"](self, other)
    raise RuntimeError("div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
                       f"'{rounding_mode}'")


def _no_minus(both):
    return RuntimeError("Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
                        "`logical_xor()` operator instead." if both else "Subtraction, the `-` operator, with a bool "
                        "tensor is not supported. If you are trying to invert a mask, use the `~` or `logical_not()` "
                        "operator instead.")


def _no_bool_power(both):
    return NotImplementedError("\"pow\" not implemented for 'Bool'")


# ---------------------------------------------------------------- the four operations and their kin

binary("add", forward=_scaled("add", 1), scale=1, keeps_order=True, operator="add", inplace_operator="iadd",
       samples=Samples(
           _pair.calls + [call(Draw(3, 4), Draw(4), alpha=2), call(Draw(3, 4), 2, Draw(4))], "number"),
       legacy=_number_first, grads={"self": lambda g: g, "other": lambda g, alpha: _times(g, alpha)})
binary("sub", forward=_scaled("sub", -1), scale=-1, keeps_order=True, aliases=("subtract",), operator="sub",
       inplace_operator="isub",
       samples=Samples(_pair.calls + [call(Draw(3, 4), Draw(4), alpha=2)], "number"), refuse=("bool",),
       bool_error=_no_minus, legacy=_number_first,
       backward_name=lambda self: "SubBackward0" if isinstance(self, TensorBase) else "RsubBackward1",
       grads={"self": lambda g: g, "other": lambda g, alpha: _times(g, -alpha)})
binary("mul", keeps_order=True, aliases=("multiply",), operator="mul", inplace_operator="imul", samples=_pair,
       renames={"value": "other"},
       grads={"self": lambda g, other: g * conj(other), "other": lambda g, self: g * conj(self)})
binary("div", forward=_divide, keeps_order=True, result="divide", aliases=("divide", "true_divide"), operator="truediv",
       inplace_operator="itruediv", renames={"value": "other"}, samples=Samples(
           samples.binary(low=0.5, high=2, dtypes="number").calls
           + [call(Draw(3, 4, low=-9, high=9), Draw(4, low=0.5, high=2), rounding_mode=mode)
              for mode in ("floor", "trunc")],
           "number"),
       backward_name=lambda self, rounding_mode: "DivBackward2" if rounding_mode is not None else (
           "DivBackward0" if isinstance(self, TensorBase) else "MulBackward0"),
       grads={"self": lambda g, other, rounding_mode: g / conj(other) if rounding_mode is None else g * 0,
              "other": lambda g, self, other, rounding_mode:
                  -g * conj(self / (other * other)) if rounding_mode is None else g * 0})
binary("_floor_divide", "floor_divide", function=False, method=False, inplace=False,
       grads={"self": _zero, "other": _zero})
binary("_trunc_divide", "trunc_divide", function=False, method=False, inplace=False,
       grads={"self": _zero, "other": _zero})
binary("floor_divide", truncating="trunc_divide", samples=_nonzero, grads={"self": _zero, "other": _zero})
binary("__floordiv__", "floor_divide", truncating="trunc_divide", operator="floordiv", inplace_operator="ifloordiv",
       function=False, method=False, grads={"self": _zero, "other": _zero})       # warns under its own name
binary("remainder", operator="mod", inplace_operator="imod", samples=_nonzero, renames={"divisor": "other"},
       backward_name=named_by_other("Remainder"),
       grads={"self": lambda g: g, "other": lambda g, self, other: -g * OPS["torch._floor_divide"](self, other)})
binary("fmod", numbers="second", samples=_nonzero, renames={"divisor": "other"}, backward_name=named_by_other("Fmod"),
       grads={"self": lambda g: g, "other": lambda g, self, other: -g * OPS["torch._trunc_divide"](self, other)})
power("pow", operator="pow", inplace_operator="ipow", overloads=True, bool_error=_no_bool_power, samples=Samples(
           samples.binary(low=0.3, high=2, dtypes="number").calls
           + [call(Draw(3, 4, low=0.3), n) for n in (2, 3, 0.5, -1.0, 0)] + [call(2, Draw(3, 4, low=0))], "number"),
       renames={"exponent": "other", "base": "self"},
       backward_name=lambda self, other: "PowBackward2" if not isinstance(self, TensorBase) else (
           "PowBackward1" if isinstance(other, TensorBase) else "PowBackward0"),
       grads={"self": lambda g, self, other: g * conj(_power_slope(self, other)),
              "other": lambda g, self, out: g * conj(_exponent_slope(self, out))})


def _power_slope(x, exponent):
    if isinstance(exponent, TensorBase):
        return where(exponent == 0, 0, exponent * x.pow(exponent - 1))
    if exponent == 0:
        return x * 0
    return x * 2 if exponent == 2 else x.pow(exponent - 1) * exponent


def _exponent_slope(x, out):
    if isinstance(x, TensorBase):
        return where(x == 0, 0, out * x.log())
    return out * (math.log(x) if x > 0 else 0 if x == 0 else math.nan)


@op(operator="rsub", samples=Samples(_pair.calls + [call(Draw(3, 4), 1.5, alpha=2)], "number"), method=False,
    tensors_only=False)
def rsub(self, other, *, alpha=1):
    """``other - alpha * self``."""
    if not isinstance(self, TensorBase):
        raise TypeError(f"rsub() received an invalid combination of arguments - got ({type(self).__name__}, "
                        f"{'Tensor' if isinstance(other, TensorBase) else type(other).__name__}), but expected one of:"
                        "\n * (Tensor input, Tensor other, *, Number alpha)\n * (Tensor input, Number other, Number "
                        "alpha)")
    return OPS["torch.sub"](other, self if alpha == 1 or _is_bool(self) else self * alpha)


def _reflected(operator, name):
    """The operator with a number on its left."""
    def forward(self, other):
        return OPS["torch." + name](other, self)
    forward.__name__ = "__" + operator
    op(forward, operator=operator, method=False, function=False)


for _operator, _name in (("rtruediv", "div"), ("rfloordiv", "__floordiv__"), ("rmod", "remainder"), ("rpow", "pow"),
                         ("rlshift", "bitwise_left_shift"), ("rrshift", "bitwise_right_shift")):
    _reflected(_operator, _name)


# ---------------------------------------------------------------- the larger, the smaller

def _share(g, a, b, wins):
    """The gradient where an operand wins, half of it where both are equal."""
    return g * wins.to(g.dtype) + g * (a == b).to(g.dtype) * 0.5


_larger = {"self": lambda g, self, other: _share(g, self, other, self > other),
           "other": lambda g, self, other: _share(g, self, other, self < other)}
_smaller = {"self": lambda g, self, other: _share(g, self, other, self < other),
            "other": lambda g, self, other: _share(g, self, other, self > other)}
binary("maximum", numbers="none", samples=_real_tensors, inplace=False,
       complex_error="maximum not implemented for complex tensors.", grads=_larger)
binary("minimum", numbers="none", samples=_real_tensors, inplace=False,
       complex_error="minimum not implemented for complex tensors.", grads=_smaller)
binary("fmax", numbers="none", samples=_real_tensors, inplace=False,
       complex_error="fmax not implemented for complex tensors.", grads={
    "self": lambda g, self, other: g * (self >= other).logical_or(other.isnan()).to(g.dtype),
    "other": lambda g, self, other: g * (self >= other).logical_or(other.isnan()).logical_not().to(g.dtype)})
binary("fmin", numbers="none", samples=_real_tensors, inplace=False,
       complex_error="fmin not implemented for complex tensors.", grads={
    "self": lambda g, self, other: g * (self <= other).logical_or(other.isnan()).to(g.dtype),
    "other": lambda g, self, other: g * (self <= other).logical_or(other.isnan()).logical_not().to(g.dtype)})


# ---------------------------------------------------------------- other functions of two numbers

binary("atan2", numbers="none", result="float", aliases=("arctan2",),
       samples=samples.binary(low=0.5, dtypes="real", number=None),
       grads={"self": lambda g, self, other: g * other / (self * self + other * other),
              "other": lambda g, self, other: -g * self / (self * self + other * other)})
binary("hypot", numbers="none", samples=samples.binary(low=0.5, number=None),
       grads={"self": lambda g, self, out: g * (self / out), "other": lambda g, other, out: g * (other / out)})
binary("copysign", numbers="second", result="float", samples=samples.binary(low=0.2, dtypes="real", number=-1.5),
       backward_name=named_by_other("Copysign", 1, 0), grads={
    "self": lambda g, self, out: where(self == 0, 0, g * (out / where(self == 0, 1, self))), "other": _zero})
_wide_nextafter = binary("nextafter", numbers="none", function=False, method=False, inplace=False)


@op(inplace=True, out=True, samples=_float_tensors, grads={"self": lambda g: g, "other": _zero})
def nextafter(self, other):
    """The next number that the dtype can hold, towards other."""
    if self.dtype.name == "bfloat16" and isinstance(other, TensorBase) and other.dtype is self.dtype:
        import numpy as np
        return wrap_ndarray(np.nextafter(self._ndarray(), other._ndarray()))
    return _wide_nextafter(self, other)


_log_sum = {"self": lambda g, self, out: g * conj((self - out).exp()),
            "other": lambda g, other, out: g * conj((other - out).exp())}
_real_logaddexp = binary("logaddexp", numbers="none", inplace=False, function=False, method=False, grads=_log_sum)


@op(method=False, function=False, backward_name="LogaddexpBackward0", grads=_log_sum)
def _complex_logaddexp(self, other):
    """The larger real part is taken out; of two equal infinite ones the plain formula tells what is left."""
    smaller = self.real < other.real
    low, high = where(smaller, self, other), where(smaller, other, self)
    infinite = (low.real == high.real).logical_and(low.real.isinf())
    total = (low - high).exp().log1p() + high
    total = where(infinite, where(low.real < 0, low, (low.exp() + high.exp()).log()), total)
    nan = self.isnan().logical_or(other.isnan())
    return where(nan, complex(math.nan, math.nan), total)


@op(out=True, samples=Samples(_float_tensors.calls, "floating"))
def logaddexp(self, other):
    """``log(exp(self) + exp(other))``, computed without overflow."""
    if self.is_complex() and isinstance(other, TensorBase) and other.is_complex():
        return _complex_logaddexp(self, other)
    return _real_logaddexp(self, other)


binary("gcd", numbers="none", samples=samples.binary(low=-20, high=20, dtypes="int", number=None, special=False))
binary("lcm", numbers="none", samples=samples.binary(low=-20, high=20, dtypes="int", number=None, special=False))


@op(out=True, samples=_float_tensors)
def logaddexp2(self, other):
    """``log2(2**self + 2**other)``, computed without overflow."""
    if self.is_complex() or other.is_complex():
        raise NotImplementedError("\"logaddexp2_cpu\" not implemented for "
                                  f"'{scalar_type(promote_types(self.dtype, other.dtype))}'")
    larger, smaller = self.maximum(other), self.minimum(other)
    difference = where(larger == smaller, 0.0, smaller - larger)
    return larger + difference.exp2().log1p() / math.log(2)


@op(inplace=True, out=True, samples=Samples([call(Draw(3, 4), Draw(4)), call(Draw(12, special=True), Draw()),
                                             call(mask(3), mask(3))], "real", gradcheck=False))
def heaviside(self, values):
    """0 for negative elements, 1 for positive ones, ``values`` where they are 0."""
    if isinstance(self, TensorBase) and self.dtype is not values.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
    if self.is_complex():
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    return where(self == 0, values, (self > 0).to(self.dtype))


@op(inplace=True, out=True, overloads=True, tensors_only=False, samples=Samples(
    samples.binary(low=0.3, high=2, dtypes="real").calls + [call(2, Draw(3, 4, low=0.3))], "real"))
def xlogy(self, other):
    """``self * log(other)``, 0 where self is 0 (and NaN where other is)."""
    for x in (self, other):
        if isinstance(x, TensorBase) and x.is_complex():
            raise NotImplementedError(f"\"xlogy_cpu\" not implemented for '{scalar_type(x.dtype)}'")
    self, other = (x.to(get_default_dtype()) if isinstance(x, TensorBase) and not (
        x.is_floating_point() or x.is_complex()) else x for x in (self, other))
    zero = self == 0 if isinstance(self, TensorBase) else other.new_full((), self == 0).bool()
    nan = other.isnan() if isinstance(other, TensorBase) else zero.new_full((), other != other)
    log = other.log() if isinstance(other, TensorBase) else _log(other)
    product = self * log
    # Where the logarithm is finite, 0 is the product's value already, and its derivative is the logarithm.
    finite = log.isfinite() if isinstance(log, TensorBase) else zero.new_full((), math.isfinite(log))
    return where(nan, math.nan, where(zero & ~finite, 0.0, product))


def _log(number):
    return math.log(number) if number > 0 else -math.inf if number == 0 else math.nan


@op(inplace=True, out=True, overloads=True, tensors_only=False, renames={"other": "exponent"}, samples=Samples(
    [call(Draw(3, 4, low=0.3), Draw(4)), call(Draw(3, 4, low=0.3), 2), call(2, Draw(3, 4))], "number"))
def float_power(self, exponent):
    """A power computed in float64, or complex128."""
    from .._core.dtype import complex128, float64
    complex_ = any(x.is_complex() if isinstance(x, TensorBase) else isinstance(x, complex) for x in (self, exponent))
    dtype = complex128 if complex_ else float64
    a, b = (x.to(dtype) if isinstance(x, TensorBase) else x for x in (self, exponent))
    return OPS["torch.pow"](a, b)


@op(inplace=True, out=True, samples=Samples([call(Draw(3, 4), Draw(4, low=-3, high=4, dtype="int64"))], "real"))
def ldexp(self, other):
    """``self * 2**other``."""
    if not isinstance(self, TensorBase):
        raise TypeError(f"ldexp(): argument 'input' (position 1) must be Tensor, not {type(self).__name__}")
    return self * OPS["torch.pow"](2.0, other)


# ---------------------------------------------------------------- bits and truth values

binary("bitwise_and", operator="and", inplace_operator="iand", samples=_bits)
binary("bitwise_or", operator="or", inplace_operator="ior", samples=_bits)
binary("bitwise_xor", operator="xor", inplace_operator="ixor", samples=_bits)
binary("bitwise_left_shift", "lshift", operator="lshift", inplace_operator="ilshift",
       samples=samples.binary(low=0, high=9, dtypes="int", number=3, special=False))
binary("bitwise_right_shift", "rshift", operator="rshift", inplace_operator="irshift",
       samples=samples.binary(low=0, high=9, dtypes="int", number=3, special=False))
binary("logical_and", numbers="none", result="bool", samples=_tensors)
binary("logical_or", numbers="none", result="bool", samples=_tensors)
binary("logical_xor", numbers="none", result="bool", samples=_tensors)


# ---------------------------------------------------------------- three tensors

def _value_first(args, kwargs):
    """``addcmul(x, value, a, b)`` of 0.x for ``addcmul(x, a, b, value=value)``."""
    if len(args) == 4 and not isinstance(args[1], TensorBase):
        return (args[0], args[2], args[3]), dict(kwargs, value=args[1])
    return None


def _triples(dtypes):
    def d(*shape):
        return Draw(*shape, low=0.5, high=2)
    return Samples([call(d(3, 4), d(3, 4), d(3, 4)), call(d(3, 1), d(3, 4), d(4), value=2),
                    call(d(3, 4), 2, d(3, 4), d(3, 4)), call(d(2, 3, 4), d(3, 1), d(), value=-1)], dtypes)


def _three(name, self, tensor1, tensor2, value):
    parts = self, tensor1, tensor2
    if not self.dtype is tensor1.dtype is tensor2.dtype:
        dtype = promote_types(result_type(self, tensor1), result_type(self, tensor2))
        parts = [t if t.dtype is dtype else cast(t, dtype) for t in parts]
    return pointwise_scaled(name, parts, value)


@op(inplace=True, out=True, samples=_triples("number"), legacy=_value_first, legacy_min=4,
    grads={"self": lambda g: g, "tensor1": lambda g, tensor2, value: g * conj(tensor2) * value,
           "tensor2": lambda g, tensor1, value: g * conj(tensor1) * value})
def addcmul(self, tensor1, tensor2, *, value=1):
    """``self + value * tensor1 * tensor2``."""
    return _three("addcmul", self, tensor1, tensor2, value)


@op(inplace=True, out=True, samples=_triples("floating"), legacy=_value_first, legacy_min=4,
    grads={"self": lambda g: g, "tensor1": lambda g, tensor2, value: g / conj(tensor2) * value,
           "tensor2": lambda g, tensor1, tensor2, value: -g * conj(tensor1 / (tensor2 * tensor2)) * value})
def addcdiv(self, tensor1, tensor2, *, value=1):
    """``self + value * tensor1 / tensor2``."""
    if not any(t.is_floating_point() or t.is_complex() for t in (tensor1, tensor2)):
        if policy.true_division:
            raise RuntimeError("Integer division with addcdiv is no longer supported: use (input + value * "
                               "torch.trunc(tensor1 / tensor2)).to(input.dtype) or input + value * tensor1 / tensor2.")
        return self + OPS["torch._trunc_divide"](tensor1, tensor2) * value
    return _three("addcdiv", self, tensor1, tensor2, value)


@op(inplace=True, out=True, overloads=True, renames={"start": "self"}, samples=Samples(
        [call(Draw(3, 4), Draw(3, 4), 0.3), call(Draw(3, 4), Draw(3, 4), 2), call(Draw(3, 4), Draw(4), 0.75),
         call(Draw(3, 4), Draw(4), Draw(3, 4, low=0, high=1))], "floating"),
    backward_name=lambda weight: "LerpBackward1" if isinstance(weight, TensorBase) else "LerpBackward0",
    grads={"self": lambda g, weight: g * conj(1 - weight), "end": lambda g, weight: g * conj(weight),
           "weight": lambda g, self, end: g * conj(end - self)})
def lerp(self, end, weight):
    """``self + weight * (end - self)``."""
    if end.dtype is not self.dtype:
        raise RuntimeError(f"expected dtype {_c_type(self)} for `end` but got dtype {_c_type(end)}")
    if not self.is_floating_point() and not self.is_complex():
        raise NotImplementedError(f'"lerp_kernel_scalar" not implemented for \'{scalar_type(self.dtype)}\'')
    if isinstance(weight, TensorBase):
        if weight.dim():
            parts = OPS["torch.broadcast_tensors"](self, end, weight.to(self.dtype))
            return pointwise_scaled("lerp", parts, 0)
        weight = weight.item()
    merged_shape(self.shape, end.shape)        # raises where they do not go together
    if not self.is_cuda and not end.is_cuda:
        return pointwise_scaled("lerp_scaled", (self, end), weight)
    return self + (end - self) * weight if builtin_abs(weight) < 0.5 else end - (end - self) * (1 - weight)


def _c_type(x):
    return {"float16": "c10::Half", "bfloat16": "c10::BFloat16", "float32": "float", "float64": "double",
            "complex64": "c10::complex<float>", "complex128": "c10::complex<double>"}.get(x.dtype.name, x.dtype.name)
