"""``torch.special``: Bessel functions, normal distributions and others, by SciPy."""
import math

from .._core import OPS
from .._core.declaring import op
from .._core.dtype import get_default_dtype
from .._core.promotion import result_type
from .._core.tensor import TensorBase, wrap_ndarray
from . import samples
from ._rules import where
from .samples import Draw, Samples, call
from .special import _computed, _float, _i1, i0, no_derivative

_SPACE = {"namespace": "torch.special", "method": False, "out": True}


def _declare(name, f, doc, grad=None, low=-2.0, high=2.0, special=True):
    """A function of one argument that SciPy has; without a rule, backward raises, as torch's does."""
    full = "special_" + name
    rule = grad or (lambda g: no_derivative(full, "input"))

    @op(name=name, grads={"self": rule}, differentiable=grad is not None, doc=doc, samples=samples.unary(
        low=low, high=high, dtypes="real", gradcheck=grad is not None, special=special), **_SPACE)
    def forward(self):
        return _computed(full, f, _float(self, full))
    return OPS["torch.special." + name]


# ---------------------------------------------------------------- Bessel functions

_KINDS = {"j": "Bessel function of the first", "y": "Bessel function of the second",
          "i": "modified Bessel function of the first", "k": "modified Bessel function of the second"}
for _letter, _kind in _KINDS.items():
    for _order in "01":
        _declare(("bessel_" if _letter in "jy" else "modified_bessel_") + _letter + _order, _letter + _order,
                 f"The {_kind} kind, of order {_order}.", low=0.1, special=False)
for _name in ("k0", "k1"):
    _declare("scaled_modified_bessel_" + _name, _name + "e",
             f"exp(x) times the modified Bessel function of the second kind, of order {_name[1]}.", low=0.1,
             special=False)


@op(samples=samples.unary(dtypes="real", gradcheck=False, special=False),
    differentiable=False,
    grads={"self": lambda g: no_derivative("special_airy_ai", "input")}, **_SPACE)
def airy_ai(self):
    """The Airy function Ai."""
    import scipy.special
    x = _float(self, "special_airy_ai")
    return wrap_ndarray(scipy.special.airy(x.double()._ndarray())[0]).to(x.dtype)


@op(samples=samples.unary(dtypes="real", gradcheck=False, special=False),
    differentiable=False,
    grads={"self": lambda g: no_derivative("special_spherical_bessel_j0", "input")}, **_SPACE)
def spherical_bessel_j0(self):
    """The spherical Bessel function of the first kind, of order 0: sin(x) / x."""
    x = _float(self, "special_spherical_bessel_j0")
    result = where(x == 0, 1.0, x.sin() / where(x == 0, 1, x))
    return where(x.isinf(), 0.0, result)


i0e = _declare("i0e", "i0e", "exp(-|x|) times the modified Bessel function of the first kind, of order 0.",
               lambda g, self, out: g * (i1e(self) - self.sgn() * out))


@op(name="i1", samples=samples.unary(dtypes="real"),
    grads={"self": lambda g, self, out: g * (i0(self) - where(self == 0, 0.5, out / where(self == 0, 1, self)))},
    **_SPACE)
def i1(self):
    """The modified Bessel function of the first kind, of order 1."""
    return _i1(_float(self, "special_i1"))


i1e = _declare("i1e", "i1e", "exp(-|x|) times the modified Bessel function of the first kind, of order 1.",
               lambda g, self, out: g * where(self == 0, 0.5, i0e(self) - out * (
                   self.sgn() + where(self == 0, 1, self).reciprocal())))


# ---------------------------------------------------------------- normal distribution

_ROOT2, _ROOT_PI = math.sqrt(2), math.sqrt(math.pi)


@op(samples=samples.unary(dtypes="real"), grads={
    "self": lambda g, self: g * (self * self * -0.5).exp() * (1 / (_ROOT2 * _ROOT_PI))}, **_SPACE)
def ndtr(self):
    """The area under the normal curve up to x."""
    x = _float(self, "special_ndtr")
    return (x * (-1 / _ROOT2)).erfc() * 0.5


ndtri = _declare("ndtri", "ndtri", "The x up to which the area under the normal curve is the element.",
                 lambda g, out: g * (out * out * 0.5).exp() * (_ROOT2 * _ROOT_PI), low=0.05, high=0.95, special=False)
erfcx = _declare("erfcx", "erfcx", "exp(x^2) erfc(x).", lambda g, self, out: g * (2 * self * out - 2 / _ROOT_PI))
log_ndtr = _declare("log_ndtr", "log_ndtr", "The logarithm of the area under the normal curve up to x.",
                    lambda g, self: g / erfcx(self * (-1 / _ROOT2)) * (_ROOT2 / _ROOT_PI))
entr = _declare("entr", "entr", "-x log(x): 0 at 0, -inf below.",
                lambda g, self: g * (-self.log() - 1), low=0.1, high=2.0)


# ---------------------------------------------------------------- two arguments

def _both(self, other, name):
    """The arguments as tensors of one floating point dtype and shape."""
    tensor = self if isinstance(self, TensorBase) else other
    if not isinstance(tensor, TensorBase):
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(self).__name__}")
    dtype = result_type(self, other)
    if not (dtype.is_floating_point or dtype.is_complex):
        dtype = get_default_dtype()
    a, b = (x if isinstance(x, TensorBase) else tensor.new_full((), x, dtype=dtype) for x in (self, other))
    if a.device != b.device:                                   # a number may lie on the CPU
        a, b = (a.to(b.device), b) if not a.dim() and not a.is_cuda else (a, b.to(a.device) if not b.dim() else b)
    a, b = _float(a.to(dtype), name), _float(b.to(dtype), name)
    return (a, b) if a.shape == b.shape else OPS["torch.broadcast_tensors"](a, b)


@op(method=False, function=False, backward_name="SpecialXlog1pyBackward0", grads={
    "a": lambda g, a, b: g * where((a == 0).logical_and(b <= -1), 0.0, b.log1p()),
    "b": lambda g, a, b: g * a / (b + 1)})
def _xlog1py(a, b):
    return where(b.isnan(), math.nan, where(a == 0, 0.0, a * b.log1p()))


@op(samples=samples.binary(low=-0.5, dtypes="real"), tensors_only=False, **_SPACE)
def xlog1py(self, other):
    """x log(1 + y): 0 where x is 0, and NaN where y is."""
    return _xlog1py(*_both(self, other, "special_xlog1py"))


@op(method=False, function=False, grads={
    "x": lambda g: no_derivative("special_zeta", "self"),
    "y": lambda g, x, y: g * -x * _zeta(x + 1, y)})
def _zeta(x, y):
    return _computed("zeta", "zeta", x, y)


@op(samples=Samples([call(Draw(3, 4, low=1.5, high=4), Draw(3, 4, low=0.5, high=3)), call(Draw(3, low=2, high=3), 2.0),
                     call(2.5, Draw(3, low=1, high=3))], "real", gradcheck=False), tensors_only=False, **_SPACE)
def zeta(self, other):
    """The Hurwitz zeta function: the sum of (k + y)^-x over k >= 0."""
    return _zeta(*_both(self, other, "special_zeta"))
