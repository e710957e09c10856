"""Layers that are not there yet: the classes exist, and raise NotImplementedError when called."""

from .module import Module

_NAMES = {
    "linear_cross_entropy": ["LinearCrossEntropyOptions"],
    "loss": ["LinearCrossEntropyLoss"],
}
_HOME = {name: home for home, names in _NAMES.items() for name in names}
_made = {}


def missing_class(module, name):
    """The placeholder of a layer; AttributeError for a name that torch has no layer of."""
    if name not in _HOME:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    if name not in _made:

        def __init__(self, *args, **kwargs):
            raise NotImplementedError(f"torch.nn.{name} is not implemented")

        home = f"{__name__.rpartition('.')[0]}.{_HOME[name]}"
        _made[name] = type(name, (Module,), {"__init__": __init__, "__module__": home})
    return _made[name]
