"""``torch.return_types``: the named results of ops such as max and sort.

What up to 1.x had types of its own, ``max_out``, for the results of calls with ``out=``, has one here for both.
"""
from ._ops._results import TYPES


def __getattr__(name):
    if name in TYPES:
        return TYPES[name]
    if name.removesuffix("_out") in TYPES:
        return TYPES[name.removesuffix("_out")]
    raise AttributeError(f"module 'torch.return_types' has no attribute '{name}'")
