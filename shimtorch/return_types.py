"""``torch.return_types``: the named results of ops such as max and sort."""
from ._ops._results import TYPES


def __getattr__(name):
    if name in TYPES:
        return TYPES[name]
    raise AttributeError(f"module 'torch.return_types' has no attribute '{name}'")
