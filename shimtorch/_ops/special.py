"""Special functions: error functions, gamma functions, Bessel functions and their like."""
import math

from .._core import OPS
from .._core.declaring import op
from .._core.dtype import get_default_dtype, scalar_type
from .._core.pointwise import binary, unary
from .._core.promotion import result_type
from .._core.tensor import TensorBase, wrap_ndarray
from . import samples
from ._results import named
from ._rules import conj, where
from .samples import Draw, Samples, call

_real = samples.unary(dtypes="real")
_positive = samples.unary(low=0.1, high=3, dtypes="real")


def _float(x, name):
    """x, or x in the default dtype if it holds integers; complex numbers are refused."""
    if x.is_complex():
        raise NotImplementedError(f"\"{name}\" not implemented for '{scalar_type(x.dtype)}'")
    return x if x.is_floating_point() else x.to(get_default_dtype())


# Own loops for what SciPy computes number by number; of float64 the Bessel functions remain SciPy's.
_LOOPS = {f: kind(f"_{f}_loop", f, method=False, function=False, inplace=False, out=False)
          for kind, names in ((unary, ("erfinv", "i0", "i0e", "i1", "i1e", "digamma")), (binary, ("zeta",)))
          for f in names}
_BESSEL = ("i0", "i0e", "i1", "i1e")


def _computed(name, f, *arguments):
    """A function of scipy.special by a loop, SciPy, or the kernel for a device; SciPy gets float32 or float64."""
    tensors = [a for a in arguments if hasattr(a, "_ndarray")]
    if any(t.is_cuda for t in tensors):
        from .._gpu._dense import special
        return special(f, *(a.contiguous() if hasattr(a, "_ndarray") else a for a in arguments))
    dtype = tensors[0].dtype
    if f in _LOOPS and not (f in _BESSEL and dtype.name == "float64"):
        return _LOOPS[f](*arguments)
    import numpy as np
    import scipy.special
    wide = dtype if dtype.name in ("float32", "float64") else get_default_dtype()
    result = getattr(scipy.special, f)(*(a.to(wide)._ndarray() if hasattr(a, "_ndarray") else a for a in arguments))
    if result.dtype != wide.name:
        with np.errstate(over="ignore"):
            result = result.astype(wide.name)
    return wrap_ndarray(result).to(dtype)


# ---------------------------------------------------------------- error functions

unary("erf", result="float", aliases=("special_erf",), samples=_real,
      grads={"self": lambda g, self: g * (self * self).neg().exp() * (2 / math.sqrt(math.pi))})
unary("erfc", result="float", aliases=("special_erfc",), samples=_real,
      grads={"self": lambda g, self: g * (self * self).neg().exp() * (-2 / math.sqrt(math.pi))})


@op(inplace=True, out=True, samples=samples.unary(low=-0.9, high=0.9, dtypes="real"),
    grads={"self": lambda g, out: g * (out * out).exp() * (math.sqrt(math.pi) / 2)})
def erfinv(self):
    """The number whose ``erf`` is the element."""
    return _computed("erfinv", "erfinv", _float(self, "erfinv"))


# ---------------------------------------------------------------- gamma functions

unary("lgamma", result="float", samples=_positive, grads={"self": lambda g, self: g * self.digamma()})


@op(inplace=True, out=True, samples=_positive, grads={"self": lambda g, self: g * OPS["torch.polygamma"](1, self)})
def digamma(self):
    """The logarithmic derivative of the gamma function."""
    x = _float(self, "digamma")
    result = _computed("digamma", "digamma", x)
    return result if not x.is_cuda else where(x == 0, -OPS["torch.copysign"](x.new_full((), math.inf), x), result)


@op(method=False, out=True, samples=Samples([
        call(n, Draw(*shape, low=0.2, high=3)) for n, shape in ((0, (3, 4)), (1, (3, 4)), (2, ()), (3, (5,)))], "real"),
    grads={"self": lambda g, n, self: g * polygamma(n + 1, self)})
def polygamma(n, self):
    """The n-th derivative of ``digamma``."""
    if not hasattr(n, "__index__") or (isinstance(n, TensorBase) and n.dim()):
        raise TypeError(f"polygamma(): argument 'n' (position 1) must be int, not {type(n).__name__}")
    n = n.__index__()
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    x = _float(self, "polygamma")
    if n == 0:
        return digamma(x)
    if x.is_cuda or n > 30:                            # n! needs more room than float32 has
        return _computed("polygamma", "polygamma", n, x)
    return _LOOPS["zeta"](x.new_full((), n + 1), x) * (math.factorial(n) * (1 if n % 2 else -1))


@op(name="polygamma", function=False, inplace=True, samples=Samples([call(Draw(3, 4, low=0.2, high=3), 1)], "real"))
def _polygamma_method(self, n):
    """The n-th derivative of ``digamma``."""
    return polygamma(n, self)


OPS["torch.polygamma"] = polygamma


@op(inplace=True, out=True, samples=Samples([call(Draw(3, 4, low=1.5, high=4), 2), call(Draw(3, low=2.5, high=4), 4)]))
def mvlgamma(self, p):
    """The logarithm of the multivariate gamma function of dimension p."""
    if self.dtype.name == "bool":
        raise RuntimeError("The input tensor may not be a boolean tensor.")
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    x = _float(self, "mvlgamma")
    steps = x.new_tensor([-j / 2 for j in range(p)])
    return (x.unsqueeze(-1) + steps).lgamma().sum(-1) + p * (p - 1) / 4 * math.log(math.pi)


def no_derivative(name, argument):
    """The rule of what has a derivative that torch does not have."""
    raise NotImplementedError(f"the derivative for '{name}: {argument}' is not implemented")


def _incomplete(name, f, sign):
    @op(name=name, inplace=True, out=True, samples=Samples(
            [call(Draw(3, 4, low=0.2), Draw(4, low=0.2))], gradcheck=False), grads={
        "self": lambda g: no_derivative(name, "input"),
        "other": lambda g, self, other: g * sign * ((self - 1) * other.log() - other - self.lgamma()).exp()})
    def forward(self, other):
        dtype = result_type(self, other)
        a, x = (_float(t if t.dtype is dtype else t.to(dtype), name) for t in (self, other))
        return _computed(name, f, *((a, x) if a.shape == x.shape else OPS["torch.broadcast_tensors"](a, x)))
    forward.__doc__ = f"The regularised {'lower' if sign > 0 else 'upper'} incomplete gamma function."


_incomplete("igamma", "gammainc", 1)
_incomplete("igammac", "gammaincc", -1)


# ---------------------------------------------------------------- others

@op(inplace=True, out=True, samples=_real, grads={"self": lambda g, self: g * _i1(self)})
def i0(self):
    """The modified Bessel function of the first kind, of order 0."""
    return _computed("i0", "i0", _float(self, "i0"))


@op(method=False, function=False, grads={"self": lambda g, self, out: g * (i0(self) - where(self == 0, 0.5, out / where(
    self == 0, 1, self)))})
def _i1(self):
    return _computed("i1", "i1", self)


@op(inplace=True, out=True, samples=samples.unary(dtypes="number"),
    grads={"self": lambda g, self: g * conj(_sinc_slope(self))})
def sinc(self):
    """``sin(pi x) / (pi x)``, 1 at 0."""
    x = (self if self.is_floating_point() or self.is_complex() else self.to(get_default_dtype())) * math.pi
    return where(x == 0, 1.0, x.sin() / where(x == 0, 1, x))


def _sinc_slope(x):
    angle = x * math.pi
    safe = where(x == 0, 1, x)
    return where(x == 0, 0, (angle * angle.cos() - angle.sin()) / (safe * safe * math.pi))


@op(inplace=True, out=True, samples=Samples(samples.unary(low=0.1, high=0.9, dtypes="real").calls
                                            + [call(Draw(3, 4, low=0.1, high=0.9), 0.2)], "real"),
    grads={"self": lambda g, self, eps: g * _logit_slope(self, eps)})
def logit(self, eps=None):
    """``log(x / (1 - x))``, with x kept within [eps, 1 - eps] if eps is given."""
    x = _float(self, "logit_cpu")
    x = x if eps is None else x.clamp(eps, 1 - eps)
    return (x / (1 - x)).log()


def _logit_slope(x, eps):
    if eps is None:
        return where((x < 0).logical_or(x > 1), math.nan, 1 / (x * (1 - x)))
    return where((x < eps).logical_or(x > 1 - eps), 0.0, 1 / (x * (1 - x)))


_frexp_result = named("frexp", "mantissa", "exponent")


@op(out=True, samples=samples.unary(), backward_name="FrexpBackward0",
    grads={"self": lambda g, out: g / out[1].detach().to(g.dtype).exp2()})
def frexp(self):
    """Mantissas in [0.5, 1) and exponents of two, which multiply to the elements."""
    if not self.is_floating_point():
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    import numpy as np
    mantissa, exponent = np.frexp(_float(self, "frexp")._ndarray())
    return _frexp_result((wrap_ndarray(mantissa), wrap_ndarray(exponent.astype(np.int32))))
