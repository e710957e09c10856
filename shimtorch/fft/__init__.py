"""``torch.fft``: discrete Fourier transforms. Called, it is the function of PyTorch before 1.8, on pairs of numbers."""
import sys as _sys

from .._core import OPS as _OPS
from .._ops import later as _later

_later.load_space("fft")
for _key, _op in _OPS.items():
    if _key.startswith("torch.fft."):
        globals()[_key[len("torch.fft."):]] = _op


class _Module(type(_sys)):
    """A module that is a function, too."""

    def __call__(self, input, signal_ndim, normalized=False):
        """The complex transform of the last ``signal_ndim`` dimensions; numbers are pairs in one more dimension."""
        return _later.function("fft")(input, signal_ndim, normalized)


_sys.modules[__name__].__class__ = _Module
