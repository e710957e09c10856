"""``torch.testing``: comparing results, and random tensors to test with."""
import math
from collections.abc import Mapping, Sequence

import numpy as np

from .._core import OPS as _OPS
from .._core.factory import as_tensor
from .._core.tensor import TensorBase as _TensorBase
from ._dtypes import *  # noqa: F403

__all__ = ["assert_close", "assert_allclose", "make_tensor"]

# Relative and absolute tolerance by dtype; others have to be equal.
_TOLERANCES = {"float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5),
               "float64": (1e-7, 1e-7), "complex64": (1.3e-6, 1e-5), "complex128": (1e-7, 1e-7)}
_NUMBERS = (bool, int, float, complex, np.bool_, np.number)


class _Mismatch(AssertionError):
    """Two values differ; ``place`` says where in the containers."""

    def __init__(self, text, place=()):
        super().__init__(text)
        self.text, self.place = text, place


def assert_close(actual, expected, *, allow_subclasses=True, rtol=None, atol=None, equal_nan=False, check_device=True,
                 check_dtype=True, check_layout=True, check_stride=False, msg=None):
    """Raise AssertionError unless ``|actual - expected| <= atol + rtol * |expected|`` for all numbers.

    Takes tensors, arrays, numbers, and sequences and mappings of them. Without tolerances those of the dtype are used,
    which are zero for integers.
    """
    if (rtol is None) != (atol is None):
        raise ValueError("Both 'rtol' and 'atol' must be either specified or omitted, but got no "
                         f"{'rtol' if rtol is None else 'atol'}.")
    checks = {"device": check_device, "dtype": check_dtype, "layout": check_layout, "stride": check_stride}
    try:
        _compare(actual, expected, (rtol, atol), equal_nan, checks, allow_subclasses)
    except _Mismatch as error:
        text = error.text
        if error.place:
            text += "\n\nThe failure occurred for item " + "".join(f"[{p!r}]" for p in error.place)
        if msg is not None:
            text = msg(text) if callable(msg) else msg
        raise AssertionError(text) from None


def _compare(actual, expected, tolerances, equal_nan, checks, allow_subclasses):
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        missing, more = set(expected) - set(actual), set(actual) - set(expected)
        if missing or more:
            raise _Mismatch("The keys of the mappings do not match:\n"
                            f"Missing keys in the actual mapping: {sorted(missing)}\n"
                            f"Additional keys in the actual mapping: {sorted(more)}")
        pairs = [(key, actual[key], expected[key]) for key in actual]
    elif _is_sequence(actual) and _is_sequence(expected):
        if len(actual) != len(expected):
            raise _Mismatch(f"The length of the sequences mismatch: {len(actual)} != {len(expected)}")
        pairs = [(i, a, e) for i, (a, e) in enumerate(zip(actual, expected))]
    else:
        _compare_one(actual, expected, tolerances, equal_nan, checks, allow_subclasses)
        return
    for key, a, e in pairs:
        try:
            _compare(a, e, tolerances, equal_nan, checks, allow_subclasses)
        except _Mismatch as error:
            raise _Mismatch(error.text, (key, *error.place)) from None


def _is_sequence(x):
    return isinstance(x, Sequence) and not isinstance(x, str | bytes)


def _compare_one(actual, expected, tolerances, equal_nan, checks, allow_subclasses):
    related = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
    if actual is None and expected is None:
        return
    if isinstance(actual, bool | np.bool_) and isinstance(expected, bool | np.bool_):
        if bool(actual) != bool(expected):
            raise _Mismatch(f"Booleans mismatch: {bool(actual)} is not {bool(expected)}")
    elif isinstance(actual, _NUMBERS) and isinstance(expected, _NUMBERS):
        _compare_numbers(actual, expected, tolerances, equal_nan)
    elif (isinstance(actual, _TensorBase | np.ndarray) and isinstance(expected, _TensorBase | np.ndarray) and related
          and (allow_subclasses or type(actual) is type(expected))):
        _compare_tensors(as_tensor(actual), as_tensor(expected), tolerances, equal_nan, checks)
    else:
        raise TypeError(f"No comparison pair was able to handle inputs of type {_class(actual)} and "
                        f"{_class(expected)}.")


def _class(x):
    return "<class 'torch.Tensor'>" if type(x).__module__.startswith("shimtorch") else str(type(x))


def _tolerances_of(name, other, given):
    if given[0] is not None:
        return tuple(float(x) for x in given)           # tensors of one element are taken too
    both = [_TOLERANCES.get(n, (0.0, 0.0)) for n in (name, other)]
    return max(b[0] for b in both), max(b[1] for b in both)


def _up_to(tolerance):
    return f" (up to {tolerance} allowed)"


def _compare_numbers(actual, expected, tolerances, equal_nan):
    kind = "complex128" if isinstance(actual, complex) or isinstance(expected, complex) else (
        "float64" if isinstance(actual, float) or isinstance(expected, float) else "int64")
    rtol, atol = _tolerances_of(kind, kind, tolerances)
    actual, expected = ((x.item() if isinstance(x, np.generic) else x) for x in (actual, expected))
    if _near(actual, expected, rtol, atol, equal_nan):
        return
    raise _Mismatch(_scalars_text(actual, expected, rtol, atol))


def _near(a, e, rtol, atol, equal_nan):
    if a == e:
        return True
    if a != a or e != e:
        return bool(equal_nan and a != a and e != e)
    difference = abs(a - e)
    return math.isfinite(difference) and difference <= atol + rtol * abs(e)


def _scalars_text(a, e, rtol, atol):
    exact = rtol == 0 and atol == 0
    difference = abs(a - e)
    relative = difference / abs(e) if e else (math.inf if difference else 0.0)
    return (f"Scalars are not {'equal' if exact else 'close'}!\n\nExpected {e} but got {a}.\n"
            f"Absolute difference: {difference}{'' if exact else _up_to(atol)}\n"
            f"Relative difference: {relative}{'' if exact else _up_to(rtol)}")


def _compare_tensors(a, e, tolerances, equal_nan, checks):
    def attribute(name, x, y):
        if x != y:
            raise _Mismatch(f"The values for attribute '{name}' do not match: {x} != {y}.")
    attribute("shape", a.shape, e.shape)
    for name in ("device", "dtype", "layout"):
        if checks[name]:
            attribute(name, getattr(a, name), getattr(e, name))
    if a.layout is not e.layout or str(a.layout) != "torch.strided":
        a, e = a.to_dense(), e.to_dense()
    elif checks["stride"]:
        attribute("stride()", a.stride(), e.stride())
    a, e = a.detach(), e.detach()
    rtol, atol = _tolerances_of(a.dtype.name, e.dtype.name, tolerances)
    x, y = (_wide(t) for t in (a, e))
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.abs(x - y)
        finite = True if y.dtype.kind in "iO" else np.isfinite(y)
        good = (x == y) | (finite & (difference <= atol + rtol * np.abs(y)))
    if equal_nan:
        good |= (x != x) & (y != y)
    if good.all():
        return
    if x.ndim == 0:
        raise _Mismatch(_scalars_text(a.item(), e.item(), rtol, atol))
    raise _Mismatch(_tensors_text(x, y, difference, good, rtol, atol))


def _wide(t):
    """The elements in a dtype in which differences are right."""
    if t.is_complex():
        return t._ndarray().astype(np.complex128)
    if t.is_floating_point():
        return t.double()._ndarray()
    array = t._ndarray()
    return array.astype(object) if array.dtype.kind == "u" and array.itemsize == 8 else array.astype(np.int64)


def _tensors_text(x, y, difference, good, rtol, atol):
    exact = rtol == 0 and atol == 0
    bad = int((~good).sum())
    size = np.abs(y)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(difference == 0, 0, difference / size)
    lines = [f"Tensor-likes are not {'equal' if exact else 'close'}!", "",
             f"Mismatched elements: {bad} / {x.size} ({bad / x.size:.1%})"]
    for name, values, tolerance in (("absolute", difference, atol), ("relative", relative, rtol)):
        values = np.where(good, 0, values)
        place = np.unravel_index(int(np.argmax(values)), x.shape)       # NaN counts as the greatest
        at = tuple(int(i) for i in place)
        value = values[place]
        lines.append(f"Greatest {name} difference: {value.item() if hasattr(value, 'item') else value} at index {at}"
                     + ("" if exact else _up_to(tolerance)))
    return "\n".join(lines)


def assert_allclose(actual, expected, rtol=None, atol=None, equal_nan=True, msg=""):
    """``assert_close`` of what can be made tensors, without a look at dtypes; NaN equals NaN. Deprecated since 1.12."""
    if not isinstance(actual, _TensorBase):
        actual = as_tensor(actual)
    if not isinstance(expected, _TensorBase):
        expected = as_tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        known = {"float16": (1e-3, 1e-3), "float32": (1e-4, 1e-5), "float64": (1e-5, 1e-8)}
        both = [known.get(t.dtype.name, (0.0, 0.0)) for t in (actual, expected)]
        rtol, atol = max(b[0] for b in both), max(b[1] for b in both)
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=True, check_dtype=False,
                 check_stride=False, msg=msg or None)


def make_tensor(*shape, dtype=None, device=None, low=None, high=None, requires_grad=False, noncontiguous=False,
                exclude_zero=False, memory_format=None):
    """Random elements of [low, high): by default [-9, 9) of floats, [-9, 10) of integers, [0, 10) of uint8."""
    if dtype is None:
        raise TypeError("make_tensor() missing 1 required keyword-only argument: 'dtype'")
    shape = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
    if noncontiguous and memory_format is not None:
        raise ValueError("The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got "
                         f"noncontiguous={noncontiguous!r} and memory_format={memory_format!r}")
    empty = _OPS["torch.zeros_like"](as_tensor(np.empty(shape)), dtype=dtype)
    integer = not (dtype.is_floating_point or dtype.is_complex)
    defaults = (0, 2) if dtype.name == "bool" else (0, 10) if dtype.name.startswith("uint") else (
        -9, 10) if integer else (-9, 9)
    low, high = (d if g is None else g for d, g in zip(defaults, (low, high)))
    if not low < high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    if integer:
        result = empty.random_(math.ceil(low), math.ceil(high))
    elif dtype.is_complex:
        result = empty
        _OPS["torch.view_as_real"](result).uniform_(low, high)
    else:
        result = empty.uniform_(low, high)
    if exclude_zero:
        result[result == 0] = 1 if integer else _tiny(dtype)
    if noncontiguous and result.numel() > 1:
        result = result.repeat_interleave(2, dim=-1)[..., ::2]
    if memory_format is not None:
        result = result.clone(memory_format=memory_format)
    return result.requires_grad_() if requires_grad else result


def make_non_contiguous(tensor):
    """A copy of a tensor that is not contiguous; the tensor itself, copied, where it has one element or none."""
    if tensor.numel() <= 1:
        return tensor.clone()
    wide = tensor.new_empty([*tensor.shape, 2]).select(-1, 0)
    return wide.copy_(tensor.detach()).requires_grad_(tensor.requires_grad)


def get_all_device_types():
    """The types of the devices that are there."""
    from ..cuda import is_available
    return ["cpu", "cuda"] if is_available() else ["cpu"]


rand, randn = _OPS["torch.rand"], _OPS["torch.randn"]
rand_like, randn_like = _OPS["torch.rand_like"], _OPS["torch.randn_like"]


def _tiny(dtype):
    """The smallest normal number of a dtype."""
    from .._limits import finfo
    return finfo(dtype).tiny
