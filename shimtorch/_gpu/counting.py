"""Distinct elements, counts, places in sorted sequences, on a device."""
from .._core import OPS, factory
from .._core.dtype import bool as bool_dtype
from .._core.dtype import float64, get_default_dtype, int32, int64, scalar_type
from .._core.promotion import result_type
from .._core.tensor import DeviceDtypeError, TensorBase
from .._ops.counting import check_bincount, check_empty
from .._ops.shape import wrap
from . import _dense, combining, indexing
from .order import sorted_along


def _results(values, inverse, counts, return_inverse, return_counts):
    result = [values] + [inverse] * bool(return_inverse) + [counts] * bool(return_counts)
    return result[0] if len(result) == 1 else tuple(result)


def _runs(flat):
    """Of runs of equal neighbours: where they start, which one each element is of, and how long they are."""
    n = flat.numel()
    new = flat.new_ones(n, dtype=bool_dtype)
    if n > 1:
        new[1:] = flat[1:] != flat[:-1]
    return _from_marks(new, n)


def _from_marks(new, n):
    starts = indexing.places(new)
    which = new.to(int64).cumsum(0) - 1
    ends = factory.cat([starts[1:], starts.new_full((min(n, 1),), n)])
    return starts, which, ends - starts


def _slices(t, dim):
    """The slices along a dimension as rows (n, elements)."""
    moved = t.movedim(dim, 0)
    return moved.reshape(moved.shape[0], -1)


def _in_order(rows):
    """The places of rows in lexicographic order: sorted by one column after another, the first one last."""
    order = OPS["torch.arange"](rows.shape[0], device=rows.device)
    for column in reversed(range(rows.shape[1])):
        order = order.index_select(0, sorted_along(rows.select(1, column).index_select(0, order), 0, False)[1])
    return order


def _runs_of_rows(rows):
    """``_runs`` for rows."""
    n = rows.shape[0]
    new = rows.new_ones(n, dtype=bool_dtype)
    if n > 1:
        new[1:] = (rows[1:] != rows[:-1]).any(1)
    return _from_marks(new, n)


def _unique_slices(self, dim, consecutive, return_inverse, return_counts):
    axis = wrap(dim, self.dim())
    if not self.numel():
        check_empty(self, axis)
        none = self.new_zeros(0, dtype=int64)
        return _results(self.clone(), none, none.clone(), return_inverse, return_counts)
    rows = _slices(self, axis)
    order = None if consecutive else _in_order(rows)
    starts, which, counts = _runs_of_rows(rows if consecutive else rows.index_select(0, order))
    if consecutive:
        return _results(self.index_select(axis, starts), which, counts, return_inverse, return_counts)
    inverse = which.new_empty(which.shape)
    combining.scatter_(inverse, 0, order, which)
    return _results(self.index_select(axis, order.index_select(0, starts)), inverse, counts, return_inverse,
                    return_counts)


def unique(self, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The distinct elements (or slices along a dimension), in order."""
    if self.is_complex():
        raise DeviceDtypeError(f"unique: not implemented for dtype {self.dtype.name} on device '{self.device}'")
    if dim is not None and self.dim():
        return _unique_slices(self, dim, False, return_inverse, return_counts)
    flat = self.reshape(-1)
    values, places = sorted_along(flat, 0, False)
    starts, which, counts = _runs(values)
    inverse = flat.new_empty(flat.shape, dtype=int64)
    if flat.numel():
        combining.scatter_(inverse, 0, places, which)
    return _results(values.index_select(0, starts), inverse.reshape(self.shape), counts, return_inverse, return_counts)


def unique_consecutive(self, return_inverse=False, return_counts=False, dim=None):
    """The first of each run of equal elements (or slices along a dimension)."""
    if dim is not None and self.dim():
        return _unique_slices(self, dim, True, return_inverse, return_counts)
    flat = self.reshape(-1)
    starts, which, counts = _runs(flat)
    return _results(flat.index_select(0, starts), which.reshape(self.shape), counts, return_inverse, return_counts)


def bincount(self, weights=None, minlength=0):
    """How often each non-negative integer occurs (or the sum of its weights)."""
    check_bincount(self, weights, minlength)
    if not self.numel():
        return self.new_zeros(minlength, dtype=int64)
    size = max(minlength, int(self.max()) + 1)
    if weights is None:
        weights = self.new_ones(self.shape, dtype=int64)
    elif weights.dtype.name != "float32":
        weights = weights.to(float64)
    result = weights.new_zeros(size)
    return indexing.scatter_add_(result, 0, self.to(int64), weights)


def histc(self, bins=100, min=0, max=0):
    """How many elements fall into each of ``bins`` equal intervals from min to max (both 0: those of the data)."""
    if not self.is_floating_point():
        raise NotImplementedError(f"\"histogram_cuda\" not implemented for '{scalar_type(self.dtype)}'")
    if bins < 1:
        raise RuntimeError(f"torch.histc(): bins must be > 0, but got {bins}")
    flat = self.reshape(-1).to(float64)
    low, high = float(min), float(max)
    if low == high and flat.numel():
        low, high = float(flat.min()), float(flat.max())
    if not (abs(low) < float("inf") and abs(high) < float("inf")):
        raise RuntimeError(f"torch.histc: range of [{low}, {high}] is not finite")
    if low == high:
        low, high = low - 1, high + 1
    if low > high:
        raise RuntimeError("torch.histc: max must be larger than min")
    flat = flat.masked_select((flat >= low).logical_and(flat <= high))
    places = ((flat - low) / (high - low) * bins).to(int64).clamp(max=bins - 1)
    return bincount(places, None, bins).to(self.dtype)


# ---------------------------------------------------------------- places in sorted sequences

def searchsorted(sorted_sequence, input, *, out_int32=False, right=False, side=None, sorter=None):
    """Where values (a tensor or a number) would have to be put to keep a sequence, or each of its rows, sorted."""
    from .._ops.counting import _side
    right = _side(right, side) == "right"
    rows = sorted_sequence if sorter is None else sorted_sequence.gather(-1, sorter)
    values = input
    if not isinstance(input, TensorBase):
        dtype = get_default_dtype() if isinstance(input, float) and not rows.is_floating_point() else rows.dtype
        values = rows.new_full((), input, dtype=dtype)
    if rows.dim() != 1 and rows.shape[:-1] != values.shape[:-1]:
        raise RuntimeError("torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions "
                           "of boundaries tensor and input value tensor must match, but we got boundaries tensor "
                           f"{list(rows.shape)} and input value tensor {list(values.shape)}")
    dtype = result_type(rows, values) if rows.dtype is not values.dtype else rows.dtype
    places = _dense.search(rows.to(dtype).contiguous(), values.to(dtype).contiguous(), right)
    return places.to(int32) if out_int32 else places


# ---------------------------------------------------------------- what occurs, and how often

def isin(elements, test_elements, *, assume_unique=False, invert=False):
    """Whether each element is among test_elements; ``invert``: is not."""
    like = elements if isinstance(elements, TensorBase) else test_elements
    x, tests = (t if isinstance(t, TensorBase) else like.new_tensor(t) for t in (elements, test_elements))
    dtype = result_type(x, tests)
    x, (ordered, _) = x.to(dtype), sorted_along(tests.to(dtype).reshape(-1), 0, False)
    if not ordered.numel():
        return x.new_full(x.shape, bool(invert), dtype=bool_dtype)
    places = _dense.search(ordered, x.contiguous(), False).clamp(max=ordered.numel() - 1)
    found = ordered[places] == x
    return found.logical_not() if invert else found


def mode(self, dim=-1, keepdim=False):
    """The most frequent element along a dimension (the smallest of several), and its last place."""
    from .._ops.order import _mode_result
    d = wrap(-1 if dim is None else dim, self.dim())
    if self.dim() == 0:
        return _mode_result((self.clone(), self.new_zeros((), dtype=int64)))
    if self.is_complex():
        raise NotImplementedError(f"\"mode_cuda\" not implemented for '{scalar_type(self.dtype)}'")
    if self.shape[d] == 0:
        raise IndexError(f"mode(): Expected reduction dim {d} to have non-zero size.")
    values, places = sorted_along(self.movedim(d, -1).contiguous(), -1, False)
    behind = _dense.search(values, values, True)
    often = behind - _dense.search(values, values, False)
    best = often.argmax(-1, True)
    indices = places.gather(-1, behind.gather(-1, best) - 1).movedim(-1, d)
    values = self.gather(d, indices)
    return _mode_result((values, indices) if keepdim else (values.squeeze(d), indices.squeeze(d)))
