"""Comparisons, element by element and of whole tensors."""
from .._core.kinds import binary
from .._core.op import op
from . import samples

_pair = samples.binary(dtypes="number", number=1)

for _name, _alias in (("eq", ()), ("ne", ("not_equal",)), ("lt", ("less",)), ("le", ("less_equal",)),
                      ("gt", ("greater",)), ("ge", ("greater_equal",))):
    binary(_name, result="compare", operator=_name, aliases=_alias, samples=_pair)


@op(samples=samples.binary(dtypes="number", number=None))
def equal(self, other):
    """Whether two tensors have the same shape and elements; a Python bool."""
    if self.shape != other.shape:
        return False
    return bool((self == other).all())


@op(samples=samples.binary(number=None))
def isclose(self, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Where ``|self - other| <= atol + rtol * |other|``, or both are the same infinity (or NaN if equal_nan)."""
    if self.dtype is not other.dtype:
        raise RuntimeError(f"{self.dtype} did not match {other.dtype}")
    if rtol < 0 or atol < 0:
        raise RuntimeError(f"rtol must be greater than or equal to zero, but got {rtol}" if rtol < 0 else
                           f"atol must be greater than or equal to zero, but got {atol}")
    close = self == other
    if equal_nan:
        close = close.logical_or(self.isnan().logical_and(other.isnan()))
    if not (self.is_floating_point() or self.is_complex()):
        self, other = self.double(), other.double()
    error = (self - other).abs()
    return close.logical_or(error.isfinite().logical_and(error <= other.abs() * rtol + atol))


@op(samples=samples.binary(number=None))
def allclose(self, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all elements are close in the sense of ``isclose``; a Python bool."""
    return bool(self.isclose(other, rtol, atol, equal_nan).all())
