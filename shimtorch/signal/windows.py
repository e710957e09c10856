"""``torch.signal.windows`` (from 2.0): windows of M samples, symmetric or (``sym=False``) one period of a longer one.

All give a 1-d tensor of float32 or float64 with a largest value of 1. ValueError for other dtypes, sparse layouts and a
negative M.
"""
import math

from .. import _ops
from .._core.device import strided
from .._core.dtype import float32, float64, get_default_dtype

__all__ = ["bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming",
           "hann", "kaiser", "nuttall"]


def _checked(name, M, dtype, layout):
    """The dtype of a window."""
    dtype = get_default_dtype() if dtype is None else dtype
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout is not strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if dtype not in (float32, float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    return dtype


def _window(M, first, step, dtype, device, requires_grad, shape):
    """``shape`` of M places from first on, step apart; a single sample is 1."""
    if M <= 1:
        result = _ops.ones((M,), dtype=dtype, device=device)
    else:
        result = shape(_ops.linspace(first, first + (M - 1) * step, M, dtype=dtype, device=device))
    return result.requires_grad_() if requires_grad else result


def _steps(M, sym):
    """How many steps a window spans."""
    return max(M - 1 if sym else M, 1)


def exponential(M, *, center=None, tau=1.0, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """``exp(-abs(n - center) / tau)``; a symmetric window has its center in the middle."""
    dtype = _checked("exponential", M, dtype, layout)
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    center = _steps(M, sym) / 2 if center is None else center
    return _window(M, -center / tau, 1 / tau, dtype, device, requires_grad, lambda k: (-k.abs()).exp())


def cosine(M, *, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """Half a wave of the sine."""
    dtype = _checked("cosine", M, dtype, layout)
    step = math.pi / max(M if sym else M + 1, 1)
    return _window(M, 0.5 * step, step, dtype, device, requires_grad, lambda k: k.sin())


def gaussian(M, *, std=1.0, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """A normal density of standard deviation ``std`` samples, 1 in the middle."""
    dtype = _checked("gaussian", M, dtype, layout)
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    step = 1 / (std * math.sqrt(2))
    return _window(M, -_steps(M, sym) / 2 * step, step, dtype, device, requires_grad, lambda k: (-k ** 2).exp())


def kaiser(M, *, beta=12.0, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """The Kaiser window; the larger ``beta``, the narrower."""
    dtype = _checked("kaiser", M, dtype, layout)
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    height = _ops.tensor(float(beta), dtype=dtype).i0()
    return _window(M, -beta, 2 * beta / _steps(M, sym), dtype, device, requires_grad,
                   lambda k: (beta * beta - k * k).clamp(min=0).sqrt().i0() / height)


def general_cosine(M, *, a, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """A sum of cosines of 0, 1, 2 ... waves with the coefficients ``a``, of alternating signs."""
    dtype = _checked("general_cosine", M, dtype, layout)
    if not isinstance(a, (list, tuple)):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")

    def shape(k):
        return sum((-1) ** i * weight * (i * k).cos() for i, weight in enumerate(a))

    return _window(M, 0.0, 2 * math.pi / _steps(M, sym), dtype, device, requires_grad, shape)


def general_hamming(M, *, alpha=0.54, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """``alpha - (1 - alpha) * cos``."""
    return general_cosine(M, a=[alpha, 1.0 - alpha], sym=sym, dtype=dtype, layout=layout, device=device,
                          requires_grad=requires_grad)


def hamming(M, *, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """``0.54 - 0.46 * cos``."""
    return general_hamming(M, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def hann(M, *, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """``0.5 - 0.5 * cos``."""
    return general_hamming(M, alpha=0.5, sym=sym, dtype=dtype, layout=layout, device=device,
                           requires_grad=requires_grad)


def blackman(M, *, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """The Blackman window, a sum of three cosines."""
    dtype = _checked("blackman", M, dtype, layout)
    return general_cosine(M, a=[0.42, 0.5, 0.08], sym=sym, dtype=dtype, layout=layout, device=device,
                          requires_grad=requires_grad)


def bartlett(M, *, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """A triangle."""
    dtype = _checked("bartlett", M, dtype, layout)
    return _window(M, -1.0, 2 / _steps(M, sym), dtype, device, requires_grad, lambda k: 1 - k.abs())


def nuttall(M, *, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """The minimum four-term Blackman-Harris window after Nuttall."""
    return general_cosine(M, a=[0.3635819, 0.4891775, 0.1365995, 0.0106411], sym=sym, dtype=dtype, layout=layout,
                          device=device, requires_grad=requires_grad)
