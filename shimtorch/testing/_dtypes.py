"""The families of dtypes that ``torch.testing`` named up to 1.11, for tests that go through them."""
from .._core.dtype import all_dtypes as _all_dtypes

_BY_NAME = {dtype.name: dtype for dtype in _all_dtypes()}


def _family(names):
    return tuple(_BY_NAME[name] for name in names.split())


_FLOATING, _COMPLEX = _family("float32 float64"), _family("complex64 complex128")
_INTEGRAL = _family("uint8 int8 int16 int32 int64")
_HALF, _BFLOAT16, _BOOL = _family("float16"), _family("bfloat16"), _family("bool")


def empty_types():
    """No dtype."""
    return ()


def floating_types():
    """float32 and float64."""
    return _FLOATING


def floating_types_and_half():
    """float32, float64 and float16."""
    return _FLOATING + _HALF


def floating_types_and(*dtypes):
    """float32, float64 and the dtypes given."""
    return _FLOATING + dtypes


def complex_types():
    """complex64 and complex128."""
    return _COMPLEX


def floating_and_complex_types():
    """float32, float64, complex64 and complex128."""
    return _FLOATING + _COMPLEX


def floating_and_complex_types_and(*dtypes):
    """float32, float64, complex64, complex128 and the dtypes given."""
    return _FLOATING + _COMPLEX + dtypes


def double_types():
    """float64 and complex128."""
    return _family("float64 complex128")


def integral_types():
    """uint8, int8, int16, int32 and int64."""
    return _INTEGRAL


def integral_types_and(*dtypes):
    """The integers and the dtypes given."""
    return _INTEGRAL + dtypes


def all_types():
    """float32, float64 and the integers."""
    return _FLOATING + _INTEGRAL


def all_types_and(*dtypes):
    """float32, float64, the integers and the dtypes given."""
    return _FLOATING + _INTEGRAL + dtypes


def all_types_and_half():
    """float32, float64, the integers and float16."""
    return _FLOATING + _INTEGRAL + _HALF


def all_types_and_complex():
    """float32, float64, the integers, complex64 and complex128."""
    return _FLOATING + _INTEGRAL + _COMPLEX


def all_types_and_complex_and(*dtypes):
    """float32, float64, the integers, complex64, complex128 and the dtypes given."""
    return _FLOATING + _INTEGRAL + _COMPLEX + dtypes


def get_all_int_dtypes():
    """A list of the integers."""
    return list(_INTEGRAL)


def get_all_complex_dtypes():
    """A list of complex64 and complex128."""
    return list(_COMPLEX)


def get_all_fp_dtypes(include_half=True, include_bfloat16=True):
    """A list of float32, float64 and, if wanted, those of 16 bits."""
    return list(_FLOATING + _HALF * include_half + _BFLOAT16 * include_bfloat16)


def get_all_dtypes(include_half=True, include_bfloat16=True, include_bool=True, include_complex=True):
    """A list of the integers, the floating point dtypes and, if wanted, bool and the complex ones."""
    return (get_all_int_dtypes() + get_all_fp_dtypes(include_half, include_bfloat16)
            + list(_BOOL * include_bool + _COMPLEX * include_complex))


def get_all_math_dtypes(device):
    """A list of the dtypes that a device can compute with: float16 not on the CPU."""
    return get_all_int_dtypes() + get_all_fp_dtypes(str(device).startswith("cuda"), False) + list(_COMPLEX)
