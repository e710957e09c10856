"""``torch.special``: orthogonal polynomials of degree n at x; n and x are tensors or numbers."""
import numpy as np

from .._core.declaring import op
from .._core.tensor import TensorBase, wrap_ndarray
from .samples import Draw, Samples, call, integers
from .special import _float, _no_derivative

_HIGHEST = 100_000                     # the recurrence takes a step for each degree


def _recurrence(n, x, first, step):
    """Values by a three-term recurrence: p0 = 1, p1 = first(x), p(k+1) = step(k, x, pk, p(k-1)); 0 for n < 0."""
    n, x = np.broadcast_arrays(n, x)
    one = np.ones_like(x)
    result = np.where(n == 0, one, np.where(n < 0, 0, x)).astype(x.dtype)
    if not n.size:
        return result
    before, now = one, first(x)
    for k in range(1, int(n.max()) + 1):
        np.copyto(result, now, where=n == k)
        before, now = now, step(k, x, now, before).astype(x.dtype, copy=False)
    return result


def _chebyshev(first, shifted=False):
    def values(n, x):
        x = 2 * x - 1 if shifted else x
        return _recurrence(n, x, first, lambda k, x, now, before: 2 * x * now - before)
    return values


_FORMS = {"t": lambda x: x, "u": lambda x: 2 * x, "v": lambda x: 2 * x - 1, "w": lambda x: 2 * x + 1}
_POLYNOMIALS = {f"chebyshev_polynomial_{k}": _chebyshev(f) for k, f in _FORMS.items()}
_POLYNOMIALS.update({f"shifted_chebyshev_polynomial_{k}": _chebyshev(f, True) for k, f in _FORMS.items()})
_POLYNOMIALS.update({
    "hermite_polynomial_h": lambda n, x: _recurrence(
        n, x, lambda x: 2 * x, lambda k, x, now, before: 2 * x * now - 2 * k * before),
    "hermite_polynomial_he": lambda n, x: _recurrence(
        n, x, lambda x: x, lambda k, x, now, before: x * now - k * before),
    "laguerre_polynomial_l": lambda n, x: _recurrence(
        n, x, lambda x: 1 - x, lambda k, x, now, before: ((2 * k + 1 - x) * now - k * before) / (k + 1)),
    "legendre_polynomial_p": lambda n, x: _recurrence(
        n, x, lambda x: x, lambda k, x, now, before: ((2 * k + 1) * x * now - k * before) / (k + 1)),
})


def _declare(name, values):
    @op(name=name, namespace="torch.special", method=False, out=True, tensors_only=False, samples=Samples(
        [call(Draw(3, 4), integers(4, high=6)), call(Draw(5), 3), call(0.5, integers(5, high=7)),
         call(Draw(), integers(high=6))],
        gradcheck=False),
        grads={"self": lambda g: _no_derivative("special_" + name, "input"),
               "n": lambda g: _no_derivative("special_" + name, "n")})
    def forward(self, n):
        x = self if isinstance(self, TensorBase) else n.new_full((), self, dtype=_default())
        x = _float(x, "special_" + name)
        wide = x._ndarray() if x.dtype.name in ("float32", "float64") else x.float()._ndarray()
        degrees = n._ndarray().astype(np.int64) if isinstance(n, TensorBase) else np.int64(n)
        if degrees.size and degrees.max() > _HIGHEST:
            raise NotImplementedError(f"special_{name}: degrees above {_HIGHEST} are not implemented")
        return wrap_ndarray(np.asarray(values(degrees, wide), order="C")).to(x.dtype)
    kind = name.split("_polynomial_")[0].replace("_", " ").capitalize()
    forward.__doc__ = f"The {kind} polynomial ({name[-1].upper()}) of degree n at x."


def _default():
    from .._core.dtype import get_default_dtype
    return get_default_dtype()


for _name, _values in _POLYNOMIALS.items():
    _declare(_name, _values)
