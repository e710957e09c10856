"""torch.nn: layers, losses and what belongs to them."""

from . import _reduction, functional, init, modules, parallel, parameter, utils
from .modules import *  # noqa: F403
from .parallel import DataParallel
from .parameter import Buffer, Parameter

__all__ = [
    *modules.__all__,
    "Buffer",
    "DataParallel",
    "Parameter",
    "_reduction",
    "functional",
    "init",
    "modules",
    "parallel",
    "parameter",
    "utils",
]


def __getattr__(name):
    if name in ("UninitializedBuffer", "UninitializedParameter"):
        return getattr(parameter, name)
    if name == "grad":
        from importlib import import_module

        return import_module(".grad", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
