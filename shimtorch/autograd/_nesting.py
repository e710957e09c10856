"""Nested tuples, lists and dicts of tensors as flat tuples, and back."""
from .._core.tensor import TensorBase


def flatten(nested, keep_none=False):
    """The tensors in a nested structure, in order; None stays with keep_none and is skipped without."""
    return tuple(_leaves(nested, keep_none))


def _leaves(nested, keep_none):
    if isinstance(nested, TensorBase):
        yield nested
    elif nested is None:
        if keep_none:
            yield None
    elif isinstance(nested, (tuple, list)):
        for item in nested:
            yield from _leaves(item, keep_none)
    elif isinstance(nested, dict):
        for item in nested.values():
            yield from _leaves(item, keep_none)
    else:
        raise ValueError(f"Auto nesting doesn't know how to process an input object of type {type(nested).__name__}. "
                         "Accepted types: Tensors, or lists/tuples of them")


def unflatten(flat, structure):
    """Flat values in the places that the tensors of a nested structure have."""
    values = iter(flat if isinstance(flat, (tuple, list)) else (flat,))
    return _rebuilt(values, structure)


def _rebuilt(values, structure):
    if isinstance(structure, TensorBase):
        return next(values)
    if structure is None:
        return None
    if isinstance(structure, dict):
        return {key: _rebuilt(values, item) for key, item in structure.items()}
    items = [_rebuilt(values, item) for item in structure]
    return type(structure)(*items) if hasattr(structure, "_fields") else type(structure)(items)
