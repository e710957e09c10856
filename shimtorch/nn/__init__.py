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
    "factory_kwargs",
    "functional",
    "init",
    "modules",
    "parallel",
    "parameter",
    "utils",
]


def factory_kwargs(kwargs):
    """Of a module's keyword arguments those that tensors are made with: device, dtype, memory_format.

    They may also stand in a dict under "factory_kwargs". TypeError for others, and for what is given twice.
    """
    if kwargs is None:
        return {}
    names = {"device", "dtype", "memory_format"}
    if others := kwargs.keys() - {*names, "factory_kwargs"}:
        raise TypeError(f"unexpected kwargs {others}")
    result = dict(kwargs.get("factory_kwargs", {}))
    for name in sorted(names & kwargs.keys()):
        if name in result:
            raise TypeError(f"{name} specified twice, in **kwargs and in factory_kwargs")
        result[name] = kwargs[name]
    return result


def __getattr__(name):
    if name in ("UninitializedBuffer", "UninitializedParameter"):
        return getattr(parameter, name)
    if name == "grad":
        from importlib import import_module

        return import_module(".grad", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
