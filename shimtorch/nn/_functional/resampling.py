"""Resampling along one dimension: which elements each output element is a weighted sum of, and the sums."""

import functools
import math

import numpy as np

from ..._core.dtype import float32, int64
from ..._core.tensor import wrap_ndarray
from ..._ops.resampling import weigh_taps

_TAPS = {"linear": 2, "cubic": 4, "lanczos": 6}


def _cubic(x, a):
    """Keys' cubic convolution kernel."""
    x = abs(x)
    if x < 1:
        return ((a + 2) * x - (a + 3)) * x * x + 1
    return (((x - 5) * x + 8) * x - 4) * a if x < 2 else 0.0


def _lanczos(x):
    """The sinc function windowed by one three times as wide."""
    return float(np.sinc(x) * np.sinc(x / 3)) if abs(x) < 3 else 0.0


_KERNELS = {"linear": lambda x: max(1 - abs(x), 0.0), "cubic": lambda x: _cubic(x, -0.5), "lanczos": _lanczos}


def _ratio(size, out, scale, align_corners):
    """How far apart in the input neighbouring elements of the output are."""
    if align_corners:
        return (size - 1) / (out - 1) if out > 1 else 0.0
    return 1.0 / scale if scale else size / out


def _interpolated(kind, size, out, ratio, align_corners):
    """A row of {place: weight} for each output element, by interpolation; beyond the ends stands the last element."""
    rows = []
    for i in range(out):
        source = i * ratio if align_corners else (i + 0.5) * ratio - 0.5
        if kind == "linear":
            source = max(source, 0.0)
        low = math.floor(source)
        part, row = source - low, {}
        weights = (1 - part, part) if kind == "linear" else (_cubic(part + 1 - j, -0.75) for j in range(4))
        for j, weight in enumerate(weights, low if kind == "linear" else low - 1):
            place = min(max(j, 0), size - 1)
            row[place] = row.get(place, 0.0) + weight
        rows.append(row)
    return rows


def _filtered(kind, size, out, ratio):
    """The same with the kernel made as wide as an output element, where that is more than an input element."""
    stretch = max(ratio, 1.0)
    support = _TAPS[kind] * 0.5 * stretch
    rows = []
    for i in range(out):
        center = ratio * (i + 0.5)
        first, last = max(int(center - support + 0.5), 0), min(int(center + support + 0.5), size)
        row = {j: _KERNELS[kind]((j - center + 0.5) / stretch) for j in range(first, last)}
        total = sum(row.values()) or 1.0
        rows.append({j: weight / total for j, weight in row.items()})
    return rows


@functools.lru_cache(maxsize=64)
def taps(kind, size, out, scale, align_corners, antialias):
    """Places and weights, arrays of (out, n): output i is the sum of ``x[places[i]] * weights[i]``."""
    ratio = _ratio(size, out, scale, align_corners)
    rows = _filtered(kind, size, out, ratio) if antialias else _interpolated(kind, size, out, ratio, align_corners)
    n = max(map(len, rows), default=1)
    places, weights = np.zeros((out, n), np.int64), np.zeros((out, n))
    for i, row in enumerate(rows):
        places[i, :len(row)] = list(row)
        weights[i, :len(row)] = list(row.values())
    return places, weights


def _weighted(x, dim, places, weights):
    """The sum of elements of x along dim, each place times its weight."""
    if x.device.type == "cpu" and x.dtype.name in ("float32", "float64"):
        return weigh_taps(x, dim, places, weights)
    total = None
    for place, weight in zip(places.T, weights.T, strict=True):
        place, weight = (wrap_ndarray(np.ascontiguousarray(a)).to(x.device) for a in (place, weight))
        term = x.index_select(dim, place) * weight.to(x.dtype).view(-1, *(1,) * (x.dim() - dim - 1))
        total = term if total is None else total + term
    return total


def _fixed_point(weights):
    """Weights as integers of 15 bits, and the number of their bits behind the point."""
    bits = 0
    while bits < 22 and int(0.5 + weights.max(initial=0.0) * (1 << (bits + 1))) < 1 << 15:
        bits += 1
    scaled = weights * (1 << bits)
    return np.trunc(scaled + np.where(scaled < 0, -0.5, 0.5)).astype(np.int64), bits


def _resample_bytes(x, dim, places, weights):
    """uint8 in fixed-point arithmetic, each dimension rounded to uint8, so that results are exact everywhere."""
    whole, bits = _fixed_point(weights)
    total = _weighted(x.to(int64), dim, places, whole) + (1 << (bits - 1))
    return (total >> bits).clamp(0, 255).to(x.dtype)


def resample(x, kind, sizes, scales, align_corners, antialias):
    """The spatial dimensions of (N, C, ...) resampled to *sizes*: *kind* is "linear", "cubic" or "lanczos".

    *scales* are the factors that *sizes* came from, or None; *antialias* widens the kernel where the image shrinks.
    """
    dims = list(enumerate(zip(sizes, scales, strict=True), 2))
    if x.dtype.name == "uint8":
        for dim, (out, scale) in reversed(dims):
            if antialias or out != x.size(dim):
                x = _resample_bytes(x, dim, *taps(kind, x.size(dim), out, scale, align_corners, antialias))
        return x
    result = x.to(float32) if x.dtype.itemsize == 2 else x
    for dim, (out, scale) in dims:
        result = _weighted(result, dim, *taps(kind, x.size(dim), out, scale, align_corners, antialias))
    return result.to(x.dtype)


@functools.lru_cache(maxsize=64)
def _places(size, out, scale, exact):
    """The place of an input of a size that each of *out* elements falls on."""
    ratio, shift = _ratio(size, out, scale, False), 0.5 if exact else 0.0
    return wrap_ndarray(np.minimum(np.floor((np.arange(out) + shift) * ratio), size - 1).astype(np.int64))


def nearest(x, sizes, scales, exact):
    """The spatial dimensions of (N, C, ...) at *sizes*, each element that of the place it falls on."""
    for dim, (out, scale) in enumerate(zip(sizes, scales, strict=True), 2):
        x = x.index_select(dim, _places(x.size(dim), out, scale, exact).to(x.device))
    return x
