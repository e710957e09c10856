"""``torch.ops``: operators by namespace and name. They are not there; calling one raises NotImplementedError.

What torch's own operators are, ``torch.ops.aten``, is named here as far as torch has a function of that name.
"""
from ._ops import OPS


class _Operator:
    """What stands for ``torch.ops.aten.NAME``, or an overload of it."""

    def __init__(self, name):
        self.__name__ = name

    def __call__(self, *args, **kwargs):
        raise NotImplementedError(f"{self.__name__} is not implemented: operators are called as functions of torch")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(f"{self.__name__} has no attribute {name!r}")
        return _Operator(f"{self.__name__}.{name}")

    def __repr__(self):
        return f"<{self.__name__}, not implemented>"


class _OpNamespace:
    """The operators of a library."""

    def __init__(self, name):
        self.__name__ = name

    def __getattr__(self, name):
        if self.__name__ == "aten" and (f"torch.{name}" in OPS or f"torch.Tensor.{name}" in OPS):
            return _Operator(f"torch.ops.aten.{name}")
        raise AttributeError(f"'_OpNamespace' '{self.__name__}' object has no attribute '{name}'")


def load_library(path):
    """Refused: a library of operators needs the real torch to link to."""
    raise NotImplementedError(f"torch.ops.load_library is not implemented: {path!r} needs the libraries of real torch")


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'torch.ops' has no attribute {name!r}")
    return _OpNamespace(name)
