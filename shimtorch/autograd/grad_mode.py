"""Grad modes: ``no_grad``, ``enable_grad``, ``set_grad_enabled``, ``inference_mode``."""
from _thread import _local

from .._core.grad_mode import (
    decorate,
    enable_grad,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
    swap_grad_enabled,
)

__all__ = ["no_grad", "enable_grad", "set_grad_enabled", "inference_mode", "set_multithreading_enabled"]

_here = _local()


class inference_mode:
    """Like no_grad: nothing inside is recorded. ``inference_mode(False)`` leaves it, and records again.

    Tensors made inside are ordinary ones here: they may take part in recorded operations later.
    """

    def __new__(cls, mode=True):
        self = object.__new__(cls)
        if isinstance(mode, bool):
            return self
        self.__init__(True)
        return self(mode)

    def __init__(self, mode=True):
        self.mode = mode
        self.before = []

    def __call__(self, f):
        return decorate(self.clone, f)

    def __enter__(self):
        self.before.append((is_inference_mode_enabled(), swap_grad_enabled(not self.mode)))
        _here.inference = self.mode

    def __exit__(self, *exc):
        _here.inference, grad_enabled = self.before.pop()
        swap_grad_enabled(grad_enabled)

    def clone(self):
        """A fresh context of the same mode."""
        return type(self)(self.mode)


def is_inference_mode_enabled():
    """Whether inference mode is on in this thread."""
    return getattr(_here, "inference", False)


class set_multithreading_enabled:
    """Accepted for compatibility: backward always runs on the thread that calls it."""

    def __init__(self, mode):
        self.mode = mode

    def __enter__(self):
        pass

    def __exit__(self, *exc):
        pass


__all__ += ["is_grad_enabled", "is_inference_mode_enabled"]
