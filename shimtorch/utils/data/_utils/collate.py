"""Making a batch of samples (torch.utils.data._utils.collate)."""

import copy
from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence

import numpy as np

from .... import _ops
from ...._core import Tensor
from ...._core.dtype import float64

__all__ = ["collate", "default_collate", "default_convert", "default_collate_fn_map"]

default_collate_err_msg_format = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)


def _holds_no_numbers(array):
    return array.dtype.kind in "SaUO"


def _rebuild(sample, convert_items):
    """A container like *sample* with the items of ``convert_items()``: pairs for a mapping, values for a sequence."""
    kind = type(sample)
    items = list(convert_items())
    if isinstance(sample, Mapping):
        try:
            if isinstance(sample, MutableMapping):
                result = copy.copy(sample)  # keeps what a subclass holds besides its items
                result.update(items)
                return result
            return kind(items)
        except TypeError:
            return dict(items)
    try:
        if isinstance(sample, MutableSequence):
            result = copy.copy(sample)
            for i, item in enumerate(items):
                result[i] = item
            return result
        return kind(items)
    except TypeError:
        return items


def default_convert(data):
    """NumPy arrays and scalars as tensors, in containers too; everything else as it is."""
    if isinstance(data, Tensor):
        return data
    if isinstance(data, (np.ndarray, np.generic)):
        if isinstance(data, (np.str_, np.bytes_)) or (isinstance(data, np.ndarray) and _holds_no_numbers(data)):
            return data
        return _ops.as_tensor(data)
    if isinstance(data, Mapping):
        return _rebuild(data, lambda: ((key, default_convert(data[key])) for key in data))
    if isinstance(data, tuple):
        items = [default_convert(item) for item in data]
        return type(data)(*items) if hasattr(data, "_fields") else items
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _rebuild(data, lambda: (default_convert(item) for item in data))
    return data


def collate(batch, *, collate_fn_map=None):
    """A batch of the list of samples *batch*: the function that *collate_fn_map* has for the samples' type, applied
    inside containers."""
    sample = batch[0]
    functions = collate_fn_map or {}
    function = functions.get(type(sample))
    if function is None:
        function = next((f for kind, f in functions.items() if isinstance(sample, kind)), None)
    if function is not None:
        return function(batch, collate_fn_map=collate_fn_map)

    def below(samples):
        return collate(samples, collate_fn_map=collate_fn_map)

    if isinstance(sample, Mapping):
        return _rebuild(sample, lambda: ((key, below([d[key] for d in batch])) for key in sample))
    if isinstance(sample, tuple) and hasattr(sample, "_fields"):
        return type(sample)(*(below(column) for column in zip(*batch, strict=False)))
    if isinstance(sample, Sequence):
        if any(len(other) != len(sample) for other in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = list(zip(*batch, strict=True))
        if isinstance(sample, tuple):
            return [below(column) for column in columns]
        return _rebuild(sample, lambda: (below(column) for column in columns))
    raise TypeError(default_collate_err_msg_format.format(type(sample)))


def collate_tensor_fn(batch, *, collate_fn_map=None):
    """The tensors, dense or sparse, stacked along a new first dimension."""
    return _ops.stack(list(batch), 0)


def collate_numpy_array_fn(batch, *, collate_fn_map=None):
    """Arrays as tensors, stacked."""
    if _holds_no_numbers(batch[0]):
        raise TypeError(default_collate_err_msg_format.format(batch[0].dtype))
    return collate([_ops.as_tensor(array) for array in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch, *, collate_fn_map=None):
    """NumPy scalars as a tensor of their dtype."""
    return _ops.as_tensor(np.asarray(batch))


def collate_float_fn(batch, *, collate_fn_map=None):
    """Python floats as a float64 tensor."""
    return _ops.tensor(batch, dtype=float64)


def collate_int_fn(batch, *, collate_fn_map=None):
    """Python integers as an int64 tensor (bools as a bool tensor)."""
    return _ops.tensor(batch)


def collate_str_fn(batch, *, collate_fn_map=None):
    """Strings stay a list."""
    return batch


default_collate_fn_map = {
    Tensor: collate_tensor_fn,
    np.ndarray: collate_numpy_array_fn,
    (np.bool_, np.number, np.object_): collate_numpy_scalar_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}


def default_collate(batch):
    """A batch of a list of samples: tensors, arrays and numbers stacked, inside tuples, lists and dicts."""
    return collate(batch, collate_fn_map=default_collate_fn_map)
