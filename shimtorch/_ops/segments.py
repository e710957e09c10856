"""Reductions of stretches of a dimension, histograms of points, non-zero places in a given number."""
import math

from .._core.declaring import op
from .._core.dtype import int64, scalar_type
from .._core.tensor import TensorBase
from ._results import named
from .samples import Draw, Samples, call, integers

_REDUCE = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -math.inf, "min": math.inf,
           "amax": -math.inf, "amin": math.inf}


def _lengths(lengths, offsets, size):
    """How long each segment is, and where they begin, from lengths or from offsets."""
    if lengths is not None:
        return lengths, lengths.cumsum(-1) - lengths
    return offsets[..., 1:] - offsets[..., :-1], offsets[..., :-1]


def _check(data, lengths, offsets, indices, axis, unsafe, reduce):
    if reduce not in _REDUCE:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if data.numel() == 0:
        raise RuntimeError("segment_reduce(): Expected data.numel() > 0 but got an empty tensor.")
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    given = lengths if lengths is not None else offsets
    if given is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    what = "lengths" if lengths is not None else "offsets"
    if given.dim() - 1 != axis:
        raise RuntimeError(f"segment_reduce(): Expected axis to be the last dimension of {what} but got {axis}.")
    if not data.is_floating_point():
        raise NotImplementedError(f"\"_segment_reduce_cpu\" not implemented for '{scalar_type(data.dtype)}'")
    if given.dtype.name not in ("int64", "int32"):
        raise NotImplementedError(f"\"_segment_reduce_{what}_cpu_kernel1\" not implemented for "
                                  f"'{scalar_type(given.dtype)}'")
    if not unsafe and lengths is not None:
        if lengths.numel() and int(lengths.min()) < 0:
            raise RuntimeError("lengths contains negative value!")
        if not bool((lengths.sum(-1) == data.size(axis)).all()):
            raise RuntimeError("segment_reduce(): Expected all rows of lengths along axis to sum to "
                               "data.size(lengths.dim()-1) when !unsafe.")


@op(method=False, samples=Samples([
    call(Draw(6), "sum", lengths=integers(3, low=2, high=2)), call(Draw(6, 2), "mean", lengths=integers(2, low=3)),
    call(Draw(4, 3), "prod", lengths=integers(2, low=2, high=2)), call(Draw(2, 6), "max", axis=1,
                                                                      lengths=integers(2, 3, low=2, high=2)),
    call(Draw(6), "min", lengths=integers(3, low=2, high=2), initial=1.0),
    call(Draw(6), "mean", lengths=integers(3, low=2, high=2), initial=2.0)]))
def segment_reduce(data, reduce, *, lengths=None, indices=None, offsets=None, axis=0, unsafe=False, initial=None):
    """Sum, mean, product, maximum or minimum of consecutive segments of a dimension.

    lengths (or offsets, where each begins, and the end) say for each row of the dimensions before axis how long its
    segments are; initial joins each of them. Empty segments give what the reduction of nothing is: 0, 1, nan, infinity.
    """
    axis = axis + data.dim() if axis < 0 else axis
    _check(data, lengths, offsets, indices, axis, unsafe, reduce)
    lengths, starts = _lengths(lengths, offsets, data.size(axis))
    rows, segments, n = math.prod(data.shape[:axis]), lengths.size(-1), data.size(axis)
    lengths, starts = lengths.reshape(rows, segments).to(int64), starts.reshape(rows, segments).to(int64)
    flat = data.reshape(rows * n, -1)
    place = (lengths.new_ones((lengths.numel(),)).cumsum(0) - 1).repeat_interleave(lengths.reshape(-1))
    within = place.new_ones(place.shape).cumsum(0) - 1 - (lengths.reshape(-1).cumsum(0) - lengths.reshape(-1))[place]
    start = (starts + n * (starts.new_ones((rows, 1)).cumsum(0) - 1)).reshape(-1)
    chosen = flat.index_select(0, start[place] + within)
    result = flat.new_full((rows * segments, flat.size(1)), _REDUCE[reduce] if initial is None else initial)
    if reduce in ("sum", "mean"):
        result = result.index_add(0, place, chosen)
    else:
        how = {"max": "amax", "min": "amin"}.get(reduce, reduce)
        result = result.scatter_reduce(0, place.unsqueeze(1).expand(chosen.shape), chosen, how)
    if reduce == "mean":
        count = lengths.reshape(-1, 1)
        mean = result / count.to(result.dtype)
        result = mean if initial is None else result.where(count == 0, mean)
    return result.reshape(data.shape[:axis] + (segments,) + data.shape[axis + 1:])


# ---------------------------------------------------------------- histograms of points

_histogramdd_result = named("histogramdd", "hist", "bin_edges")


def _edges(points, bins, bounds):
    """The edges of the bins along each dimension of the points."""
    dims = points.size(-1)
    if isinstance(bins, (tuple, list)) and bins and isinstance(bins[0], TensorBase):
        _check_count(len(bins), dims)
        return tuple(bins)
    bins = list(bins) if isinstance(bins, (tuple, list)) else [bins] * dims
    _check_count(len(bins), dims)
    for i, n in enumerate(bins):
        if n <= 0:
            raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {n} for dimension {i}")
    if bounds is not None and len(bounds) != 2 * dims:
        raise RuntimeError(f"torch.histogramdd: for a {dims}-dimensional histogram range should have {2 * dims} "
                           f"elements, but got {len(bounds)}")
    edges = []
    for i, n in enumerate(bins):
        low, high = (0.0, 1.0) if bounds is None else bounds[2 * i:2 * i + 2]
        if bounds is None and points.size(0):
            low, high = points[:, i].min().item(), points[:, i].max().item()
        if not (math.isfinite(low) and math.isfinite(high)):
            raise RuntimeError(f"torch.histogramdd: dimension {i}'s range [{low}, {high}] is not finite")
        if low > high:
            raise RuntimeError(f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} for "
                               f"dimension {i}")
        if low == high:
            low, high = low - 0.5, high + 0.5
        from .creation import linspace
        edges.append(linspace(low, high, n + 1, dtype=points.dtype))
    return tuple(edges)


def _check_count(n, dims):
    if n != dims:
        raise RuntimeError("histogramdd: The size of bins must be equal to the innermost dimension of the input.")


@op(method=False, samples=Samples([
    call(Draw(8, 2), [2, 3]), call(Draw(8, 2), 3, range=[-1.0, 1.0, 0.0, 1.0]), call(Draw(3, 4, 1), [4]),
    call(Draw(6, 2), [2, 2], weight=Draw(6), density=True)], gradcheck=False))
def histogramdd(self, bins, range=None, weight=None, density=False):
    """How many points (the rows of the last dimension) lie in each cell of a grid, and its edges along each dimension.

    bins: numbers of cells, or edges; range: low and high of each dimension; weight: what each point counts; density:
    the integral is 1.
    """
    if self.dim() < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    if not self.is_floating_point():
        raise NotImplementedError(f"\"histogramdd\" not implemented for '{scalar_type(self.dtype)}'")
    if weight is not None and weight.shape != self.shape[:-1]:
        raise RuntimeError("torch.histogramdd: if weight tensor is provided it should have the same shape as the input "
                           "tensor excluding its innermost dimension, but got input with shape "
                           f"{list(self.shape)} and weight with shape {list(weight.shape)}")
    points = self.detach().reshape(-1, self.size(-1))
    edges = _edges(points, bins, range)
    shape = [len(e) - 1 for e in edges]
    weights = points.new_ones((points.size(0),)) if weight is None else weight.detach().reshape(-1).to(points.dtype)
    cell, inside = points.new_zeros((points.size(0),), dtype=int64), points[:, 0] == points[:, 0]
    from .counting import searchsorted
    for i, e in enumerate(edges):
        x = points[:, i].contiguous()
        place = searchsorted(e.contiguous(), x, right=True) - 1
        place = place - (x == e[-1]).to(int64)
        inside = inside & (x >= e[0]) & (x <= e[-1])
        cell = cell * shape[i] + place
    hist = points.new_zeros((math.prod(shape),)).index_add(0, cell[inside], weights[inside]).reshape(shape)
    if density:
        hist = hist / hist.sum()
        for i, e in enumerate(edges):
            hist = hist / (e[1:] - e[:-1]).reshape([-1 if j == i else 1 for j, _ in enumerate(edges)])
    return _histogramdd_result((hist, edges))


@op(out=True, samples=Samples([call(integers(6, high=1), size=4), call(integers(3, 3, high=1), size=2),
                               call(integers(4, high=1), size=6, fill_value=9)], gradcheck=False))
def nonzero_static(self, *, size, fill_value=-1):
    """The places of the first ``size`` non-zero elements, a row each; rows of fill_value where there are fewer."""
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
    found = self.nonzero()[:size]
    result = found.new_full((size, self.dim()), fill_value)
    result[:found.size(0)] = found
    return result
