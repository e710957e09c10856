"""torch.utils: hooks and data loading."""

from . import hooks

__all__ = ["data", "hooks"]


def __getattr__(name):
    if name == "data":
        from importlib import import_module

        return import_module(".data", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
