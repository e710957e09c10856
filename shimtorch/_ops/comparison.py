"""Comparisons, element by element and of whole tensors."""
from .._core import OPS
from .._core.declaring import op
from .._core.dtype import bool as bool_dtype
from .._core.dtype import scalar_type
from .._core.pointwise import binary
from .._core.promotion import result_type
from .._core.tensor import TensorBase
from . import samples
from ._arguments import flag
from .samples import Draw, Samples, call, integers

_pair = samples.binary(dtypes="number", number=1)

for _name, _alias in (("eq", ()), ("ne", ("not_equal",)), ("lt", ("less",)), ("le", ("less_equal",)),
                      ("gt", ("greater",)), ("ge", ("greater_equal",))):
    binary(_name, result="compare", numbers="second", operator=_name, aliases=_alias, samples=_pair)


@op(samples=samples.binary(dtypes="number", number=None))
def equal(self, other):
    """Whether two tensors have the same shape and elements; a Python bool."""
    if self.shape != other.shape:
        return False
    if self is other and not (self.is_floating_point() or self.is_complex()):
        return True
    return bool((self == other).all())


@op(samples=Samples([call(Draw(3, 4), Draw(3, 4)), call(Draw(2, 6), Draw(3, 4))]))
def is_same_size(self, other):
    """Whether two tensors have the same shape; a Python bool."""
    return self.shape == other.shape


_close = Samples(samples.binary(number=None).calls + [
    call(Draw(3, 4), Draw(3, 4), 0.5, 0.1), call(Draw(12, special=True), Draw(12, special=True), equal_nan=True),
    call(integers(4), integers(4))])


@op(samples=_close)
def isclose(self, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Where ``|self - other| <= atol + rtol * |other|``, or both are the same infinity (or NaN if equal_nan)."""
    if self.dtype is not other.dtype:
        raise RuntimeError(f"{scalar_type(self.dtype)} did not match {scalar_type(other.dtype)}")
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


@op(samples=_close)
def allclose(self, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all elements are close in the sense of ``isclose``; a Python bool."""
    return bool(self.isclose(other, rtol, atol, equal_nan).all())


@op(method=False, out=True, overloads=True, samples=Samples([
    call(integers(3, 4, high=5), integers(3, high=5)), call(integers(4), integers(2), invert=True),
    call(Draw(3, 4), 1), call(1, integers(5))]))
def isin(elements, test_elements, *, assume_unique=False, invert=False):
    """Which of the elements are among the test elements; either may be a number."""
    flag(assume_unique), flag(invert)
    pair = elements, test_elements
    numbers = [x for x in pair if not isinstance(x, TensorBase)]
    if len(numbers) == 2 or not all(isinstance(x, (int, float)) for x in numbers):
        raise TypeError("isin() received an invalid combination of arguments - got ("
                        f"{', '.join('Tensor' if isinstance(x, TensorBase) else type(x).__name__ for x in pair)})")
    if not isinstance(test_elements, TensorBase):
        found = elements == test_elements
    elif not isinstance(elements, TensorBase):
        found = (test_elements == elements).any()
    elif test_elements.numel() <= _FEW:
        found = (elements.unsqueeze(-1) == test_elements.reshape(-1)).any(-1)
    else:
        found = _among(elements, test_elements)
    return found.logical_not() if invert else found.to(bool_dtype)


_FEW = 16                              # so few are compared with every element


def _among(elements, test_elements):
    """Which elements are found in the sorted test elements."""
    dtype = result_type(elements, test_elements)
    ordered = test_elements.reshape(-1).to(dtype).sort()[0]
    elements = elements.to(dtype)
    places = OPS["torch.searchsorted"](ordered, elements).clamp(max=ordered.numel() - 1)
    return ordered.take(places) == elements


@op(samples=Samples([call(Draw(1)), call(Draw()), call(Draw(2))], "number", gradcheck=False))
def is_nonzero(self):
    """Whether a tensor of one element is not 0; a Python bool."""
    if self.numel() != 1:
        raise RuntimeError(f"Boolean value of Tensor with {'no values' if not self.numel() else 'more than one value'} "
                           "is ambiguous")
    return bool(self.item())


@op(function=False, samples=Samples([call(Draw(3), Draw(3))]))
def is_set_to(self, tensor):
    """Whether both are the same view of the same memory; a Python bool."""
    return (self._memory().data_ptr() == tensor._memory().data_ptr() and self.shape == tensor.shape
            and self.storage_offset() == tensor.storage_offset() and self.stride() == tensor.stride())
