"""Distinct elements, counts and histograms, places in sorted sequences."""
from operator import index

import numpy as np

from .._core.declaring import op
from .._core.dtype import bfloat16, get_default_dtype, int32, int64, scalar_type
from .._core.tensor import TensorBase, wrap_ndarray
from ._arguments import flag
from ._results import named
from .creation import linspace
from .samples import Draw, Samples, call, integers
from .shape import wrap


@op(samples=Samples([call(integers(8, high=4)), call(integers(3, 2, high=3), return_inverse=True, return_counts=True),
                     call(integers(5, 2, high=2), dim=0), call(integers(2, 5, high=2), True, True, True, 1)],
                    gradcheck=False, reference=lambda torch: torch.unique))
def unique(self, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The distinct elements (or slices along a dimension), in order. NaNs differ from one another."""
    if dim is None and not self.is_complex():
        return _wanted(*_distinct(self, return_inverse), return_inverse, return_counts)
    axis = None if dim is None else wrap(dim, self.dim())
    if dim is not None and not self.numel():
        check_empty(self, axis)
        none = self.new_zeros(0, dtype=int64)
        return _wanted(self.clone(), none, none.clone(), return_inverse, return_counts)
    parts = np.unique(self._ndarray(), return_inverse=True, return_counts=True, axis=axis)
    values, inverse, counts = (wrap_ndarray(np.ascontiguousarray(p)) for p in parts)
    inverse = inverse.reshape(self.shape if dim is None else -1)
    return _wanted(values, inverse, counts, return_inverse, return_counts)


def _distinct(x, with_inverse):
    """The distinct elements, the number among them of each element (if asked for), and how many there are of each."""
    flat = x.detach().reshape(-1)
    if with_inverse or x.dtype is bfloat16:
        ordered, order = (part._ndarray() for part in flat.sort())
    else:
        ordered, order = np.sort(flat._ndarray()), None
    new = np.ones(ordered.size, dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    starts = np.flatnonzero(new)
    inverse = None
    if with_inverse:
        inverse = np.empty(ordered.size, dtype=np.int64)
        inverse[order] = np.cumsum(new) - 1
        inverse = wrap_ndarray(inverse).reshape(x.shape)
    return wrap_ndarray(ordered[starts]), inverse, wrap_ndarray(np.diff(np.append(starts, ordered.size)))


def check_empty(x, axis):
    """Without elements there must be no slices along the axis, and only there."""
    if x.shape[axis] or list(x.shape).count(0) > 1:
        raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")


def _wanted(values, inverse, counts, return_inverse, return_counts):
    result = [values] + [inverse] * bool(return_inverse) + [counts] * bool(return_counts)
    return result[0] if len(result) == 1 else tuple(result)


@op(samples=Samples([call(integers(8, high=2)), call(integers(8, high=2), True, True),
                     call(integers(6, 1, high=2), dim=0), call(integers(5, 0, 2), True, True, 1)],
                    gradcheck=False, reference=lambda torch: torch.unique_consecutive))
def unique_consecutive(self, return_inverse=False, return_counts=False, dim=None):
    """The first of each run of equal elements (or slices along a dimension)."""
    if dim is not None and not self.numel():
        return unique(self, True, return_inverse, return_counts, dim)
    array = self._ndarray().reshape(-1) if dim is None else np.moveaxis(self._ndarray(), wrap(dim, self.dim()), 0)
    n = len(array) if array.ndim else 1
    new = np.ones(n, dtype=bool)
    if array.ndim == 1:
        np.not_equal(array[1:], array[:-1], out=new[1:])
    elif n:
        array = array.reshape(n, -1)
        new[1:] = (array[1:] != array[:-1]).any(1)
    starts = np.flatnonzero(new)
    places = wrap_ndarray(starts)
    values = self.reshape(-1).index_select(0, places) if dim is None else self.index_select(dim, places)
    inverse = counts = None
    if return_inverse:
        inverse = wrap_ndarray(np.cumsum(new) - 1).reshape(self.shape if dim is None else -1)
    if return_counts:
        counts = wrap_ndarray(np.diff(np.append(starts, n)))
    return _wanted(values, inverse, counts, return_inverse, return_counts)


# ---------------------------------------------------------------- counts

def check_bincount(x, weights, minlength):
    """Refuse what bincount cannot count."""
    if x.is_floating_point() or x.is_complex() or x.dtype.name == "bool":
        raise NotImplementedError(f"\"bincount_{x.device.type}\" not implemented for '{scalar_type(x.dtype)}'")
    if x.dim() != 1 or (x.numel() and int(x.min()) < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if weights is not None and weights.shape != x.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")


@op(samples=Samples([call(integers(8, high=4)), call(integers(4), None, 6), call(integers(4), Draw(4)),
                     call(integers(0))], gradcheck=False))
def bincount(self, weights=None, minlength=0):
    """How often each non-negative integer occurs (or the sum of its weights)."""
    check_bincount(self, weights, minlength)
    counts = np.bincount(self._ndarray(), None if weights is None else weights._ndarray(), minlength)
    if weights is not None and weights.dtype.name == "float32":
        counts = counts.astype(np.float32)
    return wrap_ndarray(counts)


def _limits(array, limits, name):
    """The lowest and the highest edge: as given, or those of the data where none are."""
    if limits is not None:
        low, high = (float(x) for x in limits)
    elif array.size:
        low, high = float(array.min()), float(array.max())
    else:
        low, high = 0.0, float(name == "histogram")
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"torch.{name}: range of [{low}, {high}] is not finite")
    if low == high:
        margin = 1 if name == "histc" else 0.5
        low, high = low - margin, high + margin
    if low > high:
        raise RuntimeError("torch.histc: max must be larger than min" if name == "histc" else
                           f"torch.histogram: min should not exceed max, but got min {low} max {high}")
    return low, high


@op(out=True,
    samples=Samples([call(Draw(10), 4, -1, 1), call(Draw(10), 3), call(Draw(3, 4), 5, 0, 1)], gradcheck=False))
def histc(self, bins=100, min=0, max=0):
    """How many elements fall into each of ``bins`` equal intervals from min to max (both 0: those of the data)."""
    if not self.is_floating_point():
        raise NotImplementedError(f"\"histogram_cpu\" not implemented for '{scalar_type(self.dtype)}'")
    bins = index(bins)
    if bins < 1:
        raise RuntimeError(f"torch.histc(): bins must be > 0, but got {bins}")
    array = self._ndarray().reshape(-1).astype(np.float64)
    low, high = _limits(array, None if min == max and array.size else (min, max), "histc")
    array = array[(array >= low) & (array <= high)]
    places = np.minimum(((array - low) / (high - low) * bins).astype(np.int64), bins - 1)
    return wrap_ndarray(np.bincount(places, minlength=bins)).to(self.dtype)


_histogram_result = named("histogram", "hist", "bin_edges")


@op(out=True, samples=Samples([call(Draw(10), 4), call(Draw(10), 4, range=(-1.0, 1.0)), call(Draw(10), 3, density=True),
                               call(Draw(6), 2, weight=Draw(6, low=0)), call(Draw(), 2, density=True), call(Draw(0), 2),
                               call(Draw(6), Draw(4, distinct=True)), call(Draw(6), 2, range=(1.0, 1.0))],
                              gradcheck=False))
def histogram(self, bins=100, *, range=None, weight=None, density=False):
    """Counts (or weights) of the elements between the edges of bins, and the edges; density: their integral is 1."""
    if self.dtype.name not in ("float32", "float64"):
        raise NotImplementedError(f"\"histogramdd\" not implemented for '{scalar_type(self.dtype)}'")
    array = self._ndarray().reshape(-1)
    if isinstance(bins, TensorBase):
        edges = bins._ndarray()
    else:
        edges = linspace(*_limits(array, range, "histogram"), bins + 1, dtype=self.dtype)._ndarray()
    inside = (array >= edges[0]) & (array <= edges[-1])
    places = np.minimum(np.searchsorted(edges, array[inside], "right"), len(edges) - 1) - 1
    counts = np.bincount(places, None if weight is None else weight._ndarray().reshape(-1)[inside], len(edges) - 1)
    if density:
        with np.errstate(divide="ignore", invalid="ignore"):
            counts = counts / counts.sum() / np.diff(edges)
    return _histogram_result((wrap_ndarray(counts.astype(array.dtype)), wrap_ndarray(edges.copy())))


# ---------------------------------------------------------------- places in sorted sequences

def _side(right, side):
    if side not in (None, "left", "right"):
        raise RuntimeError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
    if right and side == "left":
        raise RuntimeError("torch.searchsorted(): side and right can't be set to opposites, got side of left while "
                           "right was True")
    return "right" if right or side == "right" else "left"


_sorted = Draw(5, distinct=True)


@op(method=False, out=True, overloads=True, samples=Samples([
    call(integers(1, high=1), Draw(3)), call(integers(3, 1, high=2), Draw(3, 2)),
    call(integers(1, high=1), 1.5, right=True),
    call(integers(1, high=1), Draw(2, 2), out_int32=True), call(integers(1, high=1), Draw(3), side="right")],
    gradcheck=False))
def searchsorted(sorted_sequence, input, *, out_int32=False, right=False, side=None, sorter=None):
    """Where values (a tensor or a number) would have to be put to keep a sequence, or each of its rows, sorted."""
    flag(out_int32), flag(right)
    side = _side(right, side)
    if sorted_sequence.is_complex():
        raise NotImplementedError("\"searchsorted_out_cpu\" not implemented for "
                                  f"'{scalar_type(sorted_sequence.dtype)}'")
    values = input if isinstance(input, TensorBase) else wrap_ndarray(np.asarray(input))
    if not isinstance(input, TensorBase):
        values = values.to(sorted_sequence.dtype if not isinstance(input, float) or sorted_sequence.is_floating_point()
                           else get_default_dtype())
    rows = sorted_sequence if sorter is None else sorted_sequence.gather(-1, sorter)
    if rows.dim() != 1 and rows.shape[:-1] != values.shape[:-1]:
        raise RuntimeError("torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions "
                           "of boundaries tensor and input value tensor must match, but we got boundaries tensor "
                           f"{list(rows.shape)} and input value tensor {list(values.shape)}")
    a, v = (x.float()._ndarray() if x.dtype is bfloat16 else x._ndarray() for x in (rows, values))
    if rows.dim() == 1:
        places = np.asarray(np.searchsorted(a, v, side), dtype=np.int64)
    else:
        places = np.empty(v.shape, dtype=np.int64)
        for i in np.ndindex(a.shape[:-1]):
            places[i] = np.searchsorted(a[i], v[i], side)
    result = wrap_ndarray(places)
    return result.to(int32) if out_int32 else result


@op(method=False, out=True, overloads=True, samples=Samples([
    call(Draw(3, 2), integers(1, high=1)), call(0.5, integers(1, high=1), out_int32=True),
    call(Draw(4), integers(2, high=1), right=True)], gradcheck=False))
def bucketize(input, boundaries, *, out_int32=False, right=False):
    """Which interval between sorted boundaries each value (a tensor or a number) lies in."""
    if boundaries.dim() != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.dim()})")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)
