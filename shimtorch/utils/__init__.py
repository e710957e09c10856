"""torch.utils: hooks, data loading, checkpoints, downloaded models."""

from . import hooks

_LATER = ("backcompat", "benchmark", "checkpoint", "collect_env", "cpp_extension", "data", "dlpack", "ffi", "model_zoo",
          "tensorboard")

__all__ = ["hooks", *_LATER[:-1]]             # tensorboard needs a package that may not be there


def set_module(obj, mod):
    """Say that *obj* was defined in the module *mod*, a name."""
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod


def __getattr__(name):
    if name in _LATER:
        from importlib import import_module

        return import_module("." + name, __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
