"""Batches in pinned memory, which CUDA devices read by themselves."""

from collections.abc import Mapping, Sequence

from ...._core import Tensor


def pin_memory(data, device=None):
    """*data* with its tensors in pinned memory, also those in lists, tuples and dicts, and what can pin itself."""
    if isinstance(data, Tensor):
        return data.pin_memory()
    if isinstance(data, (str, bytes)):
        return data
    if hasattr(data, "pin_memory"):
        return data.pin_memory()
    if isinstance(data, Mapping):
        pinned = {key: pin_memory(value, device) for key, value in data.items()}
        return pinned if type(data) is dict else _alike(type(data), pinned)
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(pin_memory(item, device) for item in data))
    if isinstance(data, tuple):
        return type(data)(pin_memory(item, device) for item in data)
    if isinstance(data, Sequence):
        pinned = [pin_memory(item, device) for item in data]
        return pinned if type(data) is list else _alike(type(data), pinned)
    return data


def _alike(kind, pinned):
    """What was pinned as an instance of its own class, where that can be made of it."""
    try:
        return kind(pinned)
    except TypeError:
        return pinned
