"""``torch.backends.opt_einsum``: how ``einsum`` looks for the order of its contractions.

The search is this library's own and always there; ``enabled = False`` contracts the operands as they stand, and
``strategy`` is "auto", "greedy" or "optimal".
"""
import contextlib
import importlib
import sys
from types import ModuleType

from .._core.contraction import forget_plans

STRATEGIES = ("auto", "greedy", "optimal")
enabled, strategy = True, "auto"


class _Switches(ModuleType):
    """The module: it checks what is assigned, and lets plans made under other settings go."""

    def __setattr__(self, name, value):
        if name == "enabled":
            value = bool(value)
        elif name == "strategy" and value is not None and value not in STRATEGIES:
            raise ValueError(f"`strategy` must be one of the following: [{', '.join(STRATEGIES)}] but is {value}")
        ModuleType.__setattr__(self, name, value)
        forget_plans()


sys.modules[__name__].__class__ = _Switches


def is_available():
    """Whether contractions can be put in order: yes."""
    return True


def get_opt_einsum():
    """The package opt_einsum if it is installed, which nothing here needs; else None."""
    try:
        return importlib.import_module("opt_einsum")
    except ImportError:
        return None


def set_flags(_enabled=None, _strategy=None):
    """Set the switches that are not None; what they were."""
    module = sys.modules[__name__]
    before = enabled, strategy if enabled else None
    if _enabled is not None:
        module.enabled = _enabled
    if _strategy is not None:
        module.strategy = _strategy
    return before


@contextlib.contextmanager
def flags(enabled=None, strategy=None):
    """The switches set for a while."""
    before = set_flags(enabled, strategy)
    try:
        yield
    finally:
        set_flags(*before)
