"""Writing to places along one dimension of ndarrays: by the kernels of `placing`, or NumPy where they do not serve."""
import numpy as np

from .._kernels import placing as kernels

# By size of an element: the dtype as which kernels move it.
WORDS = {1: "uint8", 2: "int16", 4: "float32", 8: "float64", 16: "complex128"}

_NUMBERS = {"float32", "float64", "uint8", "int8", "int16", "int32", "int64"}
_OF_FLAGS = {"sum": "amax", "prod": "amin", "amax": "amax", "amin": "amin"}
_BY_NUMPY = {"sum": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}


def in_three(array, d):
    """An array as (before dimension d, d, after it): a view where there is one."""
    shape = array.shape
    outer = inner = 1
    for n in shape[:d]:
        outer *= n
    for n in shape[d + 1:]:
        inner *= n
    return array.reshape(outer, shape[d], inner)


def put(array, d, places, values, how=None):
    """``array[.., places[.., j, ..], ..] = values[.., j, ..]`` along dimension d; or what `how` makes of both.

    places is an int64 array not larger than array in the other dimensions, values broadcast to it; how is None, sum,
    prod, amax or amin. False, and a part of the values written, if a place lies outside.
    """
    if not places.size:
        return True
    part = array
    if places.shape[:d] != array.shape[:d] or places.shape[d + 1:] != array.shape[d + 1:]:
        part = array[tuple(slice(None) if i == d else slice(n) for i, n in enumerate(places.shape))]
    if how and array.dtype.name not in _NUMBERS:
        if array.dtype != bool:
            return _by_numpy(part, d, places, values, how)
        how = _OF_FLAGS[how]
    if values.shape != places.shape:
        values = np.broadcast_to(values, places.shape)
    three = in_three(part, d)
    word = WORDS[array.itemsize] if how is None else "uint8" if array.dtype == bool else None
    operands = [three, in_three(places, d), in_three(values, d)]
    if word:
        operands[0], operands[2] = three.view(word), operands[2].view(word)
    inside = kernels.assign(*operands) if how is None else kernels.combine(*operands, how)
    if not part.flags.c_contiguous and not np.may_share_memory(three, part):     # a copy: there was no such view
        part[...] = three.reshape(part.shape)
    return inside


def put_slices(array, d, places, values, how=None):
    """The same where a vector of places names whole slices: ``array[.., places[j], ..] = values[.., j, ..]``."""
    shape = array.shape[:d] + places.shape + array.shape[d + 1:]
    return put(array, d, np.broadcast_to(places.reshape((-1,) + (1,) * (array.ndim - d - 1)), shape), values, how)


def _by_numpy(array, d, places, values, how):
    if int(places.min()) < 0 or int(places.max()) >= array.shape[d]:
        return False
    grid = list(np.ogrid[tuple(slice(n) for n in places.shape)])
    grid[d] = places
    _BY_NUMPY[how].at(array, tuple(grid), values)
    return True


def add_at(array, where, values):
    """``array[where] += values`` for NumPy's indices, where a place may be named several times."""
    if array.dtype == bool:
        np.logical_or.at(array, where, values)
    else:
        np.add.at(array, where, values)
