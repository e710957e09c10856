"""``torch.autograd``: backward, grad, grad modes, Variable, user-defined Functions, gradient checks."""
from .._core.autograd import (
    backward,
    enable_grad,
    grad,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from .variable import Variable

__all__ = ["Variable", "backward", "enable_grad", "grad", "is_grad_enabled", "no_grad", "set_grad_enabled"]
