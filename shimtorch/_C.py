"""``torch._C``: the few names of it that code written in Python uses."""
from ._core.generator import Generator
from ._core.protocol import Disabled as _Disabled
from ._core.protocol import has_override as _has_torch_function
from ._core.protocol import is_enabled as _is_torch_function_enabled
from ._core.protocol import no_override as _disabled_torch_function_impl
from ._core.tensor import Size, TensorBase

__all__ = ["DisableTorchFunction", "DisableTorchFunctionSubclass", "FatalError", "Generator", "Size", "TensorBase",
           "_disabled_torch_function_impl", "_has_torch_function", "_is_torch_function_enabled"]

_TensorBase = TensorBase


class FatalError(RuntimeError):
    """What torch says of a failed check of its own; nothing raises it here."""


class DisableTorchFunctionSubclass(_Disabled):
    """A context in which no class's ``__torch_function__`` is called."""

    def __init__(self):
        super().__init__(modes=False)


class DisableTorchFunction(_Disabled):
    """A context in which no ``__torch_function__`` is called, of a class or of a mode."""

    def __init__(self):
        super().__init__(modes=True)
