"""``torch.finfo`` and ``torch.iinfo``: what the numbers of a dtype can be."""
import numpy as np

from ._core.dtype import PYTHON_TYPES, get_default_dtype
from ._core.dtype import dtype as _dtype

# bits, eps, max, smallest normal number, resolution.
_FLOATS = {
    "float16": (16, 2.0 ** -10, 65504.0, 2.0 ** -14, 1e-3),
    "bfloat16": (16, 2.0 ** -7, 3.3895313892515355e+38, 2.0 ** -126, 1e-2),
    "float32": (32, 2.0 ** -23, 3.4028234663852886e+38, 2.0 ** -126, 1e-6),
    "float64": (64, 2.0 ** -52, 1.7976931348623157e+308, 2.0 ** -1022, 1e-15),
}
_PARTS = {"complex64": "float32", "complex128": "float64"}


def _check(kind, type):
    if type in PYTHON_TYPES:
        return PYTHON_TYPES[type]
    if not isinstance(type, _dtype):
        raise TypeError(f"{kind}(): argument 'type' (position 1) must be torch.dtype, not {type.__class__.__name__}")
    return type


class finfo:
    """The limits of a floating point dtype, by default the default one; of a complex dtype, those of its parts."""

    __module__ = "shimtorch"
    __slots__ = ("bits", "eps", "max", "min", "tiny", "smallest_normal", "resolution", "dtype")

    def __init__(self, type=None):
        type = get_default_dtype() if type is None else type
        type = _check("finfo", type)
        name = _PARTS.get(type.name, type.name)
        if name not in _FLOATS:
            raise TypeError("torch.finfo() requires a floating point input type. Use torch.iinfo to handle "
                            "'torch.finfo'")
        self.bits, self.eps, self.max, self.tiny, self.resolution = _FLOATS[name]
        self.min, self.smallest_normal, self.dtype = -self.max, self.tiny, name

    def __eq__(self, other):
        return isinstance(other, finfo) and self.dtype == other.dtype

    def __hash__(self):
        return hash(self.dtype)

    def __repr__(self):
        return (f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
                f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})")


class iinfo:
    """The limits of an integer dtype."""

    __module__ = "shimtorch"
    __slots__ = ("bits", "max", "min", "dtype")

    def __init__(self, type):
        type = _check("iinfo", type)
        if type.name == "bool":
            raise TypeError("torch.bool is not supported by torch.iinfo")
        if type.is_floating_point or type.is_complex:
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
        limits = np.iinfo(type.name)
        self.bits, self.min, self.max, self.dtype = limits.bits, int(limits.min), int(limits.max), type.name

    def __eq__(self, other):
        return isinstance(other, iinfo) and self.dtype == other.dtype

    def __hash__(self):
        return hash(self.dtype)

    def __repr__(self):
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
