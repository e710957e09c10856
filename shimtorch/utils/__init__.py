"""torch.utils: hooks and data loading."""

from . import hooks

__all__ = ["data", "dlpack", "hooks"]


def __getattr__(name):
    if name in ("data", "dlpack"):
        from importlib import import_module

        return import_module("." + name, __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
