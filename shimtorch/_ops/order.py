"""Sorting and selection: sort, topk, kthvalue, median, mode, quantile."""
import math

import numpy as np

from .._core import OPS
from .._core.declaring import op
from .._core.dtype import int64, scalar_type
from .._core.policy import policy
from .._core.tensor import TensorBase, wrap_ndarray
from .._kernels import along as kernels
from ._results import named
from ._rules import where
from .reduction import pick_grad
from .samples import Draw, Samples, call
from .shape import wrap

_sort_result, _topk_result = named("sort", "values", "indices"), named("topk", "values", "indices")
_kth_result, _mode_result = named("kthvalue", "values", "indices"), named("mode", "values", "indices")
_median_result, _nanmedian_result = named("median", "values", "indices"), named("nanmedian", "values", "indices")


def _d(*shape):
    """All elements different: the order of equal ones is nobody's promise."""
    return Draw(*shape, distinct=True)


def _size(x, dim):
    d = wrap(dim, x.dim())
    return x.shape[d] if x.dim() else 1


# By dtype: what the kernels of sorting see, floats with the bits of infinity or signed or unsigned numbers, in words.
_WORDS = {name: (kind, infinity, np.dtype(word)) for name, kind, infinity, word in (
    ("float16", "f", 0x7C00, "u2"), ("bfloat16", "f", 0x7F80, "u2"), ("float32", "f", 0x7F800000, "u4"),
    ("float64", "f", 0x7FF0000000000000, "u8"), ("int8", "i", 0, "u1"), ("int16", "i", 0, "u2"),
    ("int32", "i", 0, "u4"), ("int64", "i", 0, "u8"), ("bool", "u", 0, "u1"), ("uint8", "u", 0, "u1"),
    ("uint16", "u", 0, "u2"), ("uint32", "u", 0, "u4"), ("uint64", "u", 0, "u8"))}


def _as_rows(x, d):
    """The elements of x as a contiguous array with dimension d and the last one exchanged."""
    return np.ascontiguousarray(x._ndarray().swapaxes(d, -1))


def _from_rows(array, d):
    """An array of rows, as a tensor with the dimensions in their places again."""
    return wrap_ndarray(array if d == array.ndim - 1 else np.ascontiguousarray(array.swapaxes(d, -1)))


def _sorted(x, d, descending):
    """The elements in order along a dimension, stable, NaN as the largest; and where they were: arrays of rows."""
    kind, infinity, word = _WORDS[x.dtype.name]
    rows = _as_rows(x, d)
    values, places = np.empty_like(rows), np.empty(rows.shape, np.int64)
    if rows.size:
        from .._kernels.rowsort import sort
        flat = (-1, rows.shape[-1])
        sort(rows.view(word).reshape(flat), values.view(word).reshape(flat), places.reshape(flat), kind, infinity,
             descending)
    return rows, values, places


def _laid_like(x, d, array):
    """An array of rows as a tensor of the shape of x, in memory as x lies."""
    if x.is_contiguous():
        return _from_rows(array, d)
    laid = np.empty_like(x._ndarray(), dtype=array.dtype)
    laid[...] = array.swapaxes(d, -1)
    return wrap_ndarray(laid)


def _selected(x, d, ranks):
    """The elements, along a dimension, that `_sorted` puts at the ranks, one for all rows or one for each; and where
    they were. The dimension is gone."""
    kind, infinity, word = _WORDS[x.dtype.name]
    array = x._ndarray()
    rows = np.ascontiguousarray(array if d == array.ndim - 1 else np.moveaxis(array, d, -1))
    shape = rows.shape[:-1]
    values, places = np.empty(shape, rows.dtype), np.empty(shape, np.int64)
    if values.size:
        from .._kernels.rowsort import select
        ranks = np.full(values.size, ranks) if isinstance(ranks, int) else ranks.reshape(-1)
        select(rows.view(word).reshape(-1, rows.shape[-1]), ranks, values.view(word).reshape(-1), places.reshape(-1),
               kind, infinity)
    return values, places


_scattered = {"self": lambda g, self_shape, out, dim: g.new_zeros(self_shape).scatter(dim, out[1], g)
              if self_shape else g}


def _as_quicksort_left_them(rows, values, places):
    """What `_sorted` gave, with equal elements in the order in which PyTorch up to 1.8 left them."""
    before, after = values[..., :-1], values[..., 1:]
    new = (before != after) & ((before == before) | (after == after))                      # NaN is NaN's equal
    if not new.all():
        from .._kernels import quicksort
        ranks = np.zeros(places.shape, np.int64)
        np.put_along_axis(ranks, places[..., 1:], new.cumsum(-1), -1)
        places = np.broadcast_to(np.arange(places.shape[-1]), places.shape).copy()
        quicksort.order(ranks.reshape(-1, ranks.shape[-1]), places.reshape(-1, places.shape[-1]))
        values = np.take_along_axis(rows, places, -1)
    return rows, values, places


@op(method=False, function=False, backward_name="SortBackward0", grads=_scattered)
def _sort(self, dim, descending, stable=True):
    d = wrap(dim, self.dim())
    if self.dim() == 0:
        return _sort_result((self.clone(), wrap_ndarray(np.zeros((), dtype=np.int64))))
    if self.is_complex():
        raise RuntimeError("Sort currently does not support complex dtypes on CPU")
    results = _sorted(self, d, bool(descending))
    if not stable:
        results = _as_quicksort_left_them(*results)
    return _sort_result((_laid_like(self, d, results[1]), _laid_like(self, d, results[2])))


@op(out=True, samples=Samples([call(_d(3, 4)), call(_d(3, 4), 0, True), call(Draw()), call(_d(5), 0),
                               call(_d(3, 4), dim=0, descending=True, stable=True), call(Draw(0, 2), 0)], "real"))
def sort(self, dim=-1, descending=False, stable=False):
    """The elements in order along a dimension, and where they were."""
    return _sort(self, -1 if dim is None else dim, descending, stable or policy.stable_sort)


@op(samples=Samples([call(_d(3, 4)), call(_d(3, 4), 0, True)], "real", gradcheck=False))
def argsort(self, dim=-1, descending=False, stable=False):
    """The indices that sort along a dimension."""
    return _sort(self, dim, descending, stable or policy.stable_sort)[1]


@op(out=True, samples=Samples([call(_d(3, 4)), call(Draw())], "real"))
def msort(self):
    """The elements in order along the first dimension."""
    return self.sort(0)[0]


@op(method=False, function=False, backward_name="TopkBackward0", grads=_scattered)
def _topk(self, k, dim, largest):
    if self.dim() and self.dtype.name in ("float32", "float64", "uint8", "int32", "int64"):
        d, rows = wrap(dim, self.dim()), _as_rows(self, dim)
        values, places = np.empty(rows.shape[:-1] + (k,), rows.dtype), np.empty(rows.shape[:-1] + (k,), np.int64)
        if values.size:
            kernels.topk(rows.reshape(-1, rows.shape[-1]), values.reshape(-1, k), places.reshape(-1, k), largest)
        return _topk_result((_from_rows(values, d), _from_rows(places, d)))
    values, indices = _sort(self, dim, largest)
    if self.dim() == 0:
        return _topk_result((values.narrow(0, 0, k) if values.dim() else values, indices))
    return _topk_result((values.narrow(dim, 0, k).contiguous(), indices.narrow(dim, 0, k).contiguous()))


@op(out=True,
    samples=Samples([call(_d(3, 4), 2), call(_d(3, 4), 2, 0, False), call(_d(5), 0), call(Draw(), 1)], "real"))
def topk(self, k, dim=-1, largest=True, sorted=True):
    """The k largest (or smallest) elements along a dimension, and where they were."""
    dim = -1 if dim is None else dim
    if self.dtype.name == "bool":
        raise RuntimeError("topk does not support bool dtypes on CPU")
    if not 0 <= k <= _size(self, dim):
        raise RuntimeError("selected index k out of range")
    return _topk(self, k, dim, largest)


def _check_selected(x, name):
    """Only numbers that have an order have a k-th."""
    if x.is_complex() or x.dtype.name == "bool":
        raise NotImplementedError(f"\"{name}\" not implemented for '{scalar_type(x.dtype)}'")


@op(method=False, function=False, backward_name="KthvalueBackward0", grads={
    "self": lambda g, self_shape, out, dim, keepdim: pick_grad(g, self_shape, out[1], dim, keepdim)})
def _kth(self, k, dim, keepdim, make):
    if not self.dim():
        return make(_sort(self, dim, False))
    results = _selected(self, wrap(dim, self.dim()), k - 1)
    if keepdim:
        results = [np.expand_dims(x, wrap(dim, self.dim())) for x in results]
    return make(tuple(wrap_ndarray(x) for x in results))


@op(out=True, samples=Samples([call(_d(3, 4), 2), call(_d(3, 4), 1, 0, True), call(Draw(), 1)], "real"))
def kthvalue(self, k, dim=-1, keepdim=False):
    """The k-th smallest element along a dimension, and where it was."""
    dim = -1 if dim is None else dim
    _check_selected(self, "kthvalue_cpu")
    if not 1 <= k <= _size(self, dim):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {wrap(dim, self.dim())}")
    return _kth(self, k, dim, keepdim, _kth_result)


# ---------------------------------------------------------------- middles

_medians = Samples([call(_d(3, 4)), call(_d(3, 4), 1), call(_d(3, 5), 0, True), call(Draw()), call(Draw(), 0)], "real")


@op(out="dim", overloads=True, samples=_medians, backward_name="MedianBackward0")
def median(self, dim=None, keepdim=False):
    """The middle element (the lower of two), of all or along a dimension with its index; NaN if there is one."""
    _check_selected(self, "median_cpu" if dim is None else "median_out")
    if dim is None:
        if self.numel() == 0:
            return self.new_full((), math.nan)
        flat = self.reshape(-1)
        if flat.is_floating_point() and bool(flat.isnan().any()):
            return _kth(flat, flat.numel(), 0, False, tuple)[0]
        return _kth(flat, (flat.numel() + 1) // 2, 0, False, tuple)[0]
    n = _size(self, dim)
    if n == 0:
        raise IndexError(f"median(): Expected reduction dim {wrap(dim, self.dim())} to have non-zero size.")
    if self.dim() and self.is_floating_point() and bool(self.isnan().any()):
        return _median_with_nan(self, n, dim, keepdim)
    return _kth(self, (n + 1) // 2, dim, keepdim, _median_result)


def _median_with_nan(x, n, dim, keepdim):
    nan = x.isnan()
    indices = where(nan.any(dim, True), nan.long().argmax(dim, True), _kth(x, (n + 1) // 2, dim, True, tuple)[1])
    values = x.gather(dim, indices)
    if not keepdim:
        values, indices = values.squeeze(dim), indices.squeeze(dim)
    return _median_result((values, indices))


@op(out="dim", overloads=True, samples=_medians)
def nanmedian(self, dim=None, keepdim=False):
    """The middle of the elements that are not NaN, of all or along a dimension with its index."""
    _check_selected(self, "median_cpu" if dim is None else "median_out")
    x, d = (self.reshape(-1), 0) if dim is None else (self, dim)
    if x.dim() == 0 or not x.is_floating_point():
        return self.median(dim, keepdim) if dim is None else _nanmedian_result(tuple(self.median(dim, keepdim)))
    if not x.numel():
        return self.median(dim, keepdim)
    if not x.is_cuda:
        ranks = (x.isnan().logical_not().sum(d)._ndarray() + 1) // 2
        values, indices = _kth(x, np.maximum(ranks, 1), d, keepdim and dim is not None, tuple)
        return values if dim is None else _nanmedian_result((values, indices))
    values, indices = _sort(x, d, False)
    middle = ((x.isnan().logical_not().sum(d, True) + 1) // 2 - 1).clamp(min=0)
    values, indices = values.gather(d, middle), indices.gather(d, middle)
    if not keepdim or dim is None:
        values, indices = values.squeeze(d), indices.squeeze(d)
    return values if dim is None else _nanmedian_result((values, indices))


@op(out=True,
    samples=Samples([call(_d(3, 1)), call(Draw(3, 9, low=0, high=3, dtype="float64"), -1), call(Draw())], "real",
                    gradcheck=False))
def mode(self, dim=-1, keepdim=False):
    """The most frequent element along a dimension (the smallest of several), and its last place."""
    d = wrap(-1 if dim is None else dim, self.dim())
    if self.dim() == 0:
        return _mode_result((self.clone(), self.new_zeros((), dtype=int64)))
    if self.is_complex():
        raise NotImplementedError(f"\"mode_cpu\" not implemented for '{scalar_type(self.dtype)}'")
    if self.shape[d] == 0:
        raise IndexError(f"mode(): Expected reduction dim {d} to have non-zero size.")
    _, values, places = _sorted(self, d, False)
    n = np.arange(values.shape[-1])
    start = np.zeros(values.shape, np.int64)                   # of the run of equal elements that an element is in
    start[..., 1:] = np.where(values[..., 1:] != values[..., :-1], n[1:], 0)
    longest = (n - np.maximum.accumulate(start, -1)).argmax(-1)[..., None]
    indices = _from_rows(np.take_along_axis(places, longest, -1), d)
    values = self.gather(d, indices)
    if not keepdim:
        values, indices = values.squeeze(d), indices.squeeze(d)
    return _mode_result((values, indices))


# ---------------------------------------------------------------- quantiles

_quantiles = Samples([call(_d(3, 4), 0.3), call(_d(3, 4), Draw(2, low=0, high=1), 1), call(_d(3, 4), 0.5, 0, True),
                      call(Draw(), 0.5, 0, True)]
                     + [call(_d(7), 0.4, interpolation=how) for how in ("lower", "higher", "nearest", "midpoint")],
                     gradgradcheck=False)


def _quantile(self, q, dim, keepdim, interpolation, skip_nan, name):
    if not self.is_floating_point() or self.dtype.itemsize < 4:
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype")
    if interpolation not in ("linear", "lower", "higher", "midpoint", "nearest"):
        raise RuntimeError(f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, but got "
                           f"{interpolation}")
    numbers = q if isinstance(q, TensorBase) else self.new_full((), q)
    if numbers.dim() > 1:
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor")
    if numbers.dtype is not self.dtype:
        raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor")
    if numbers.numel() and not bool((numbers >= 0).logical_and(numbers <= 1).all()):
        raise RuntimeError(f"{name}() q must be in the range [0, 1] but got {q}" if not isinstance(q, TensorBase) else
                           f"{name}() q values must be in the range [0, 1]")
    if self.numel() == 0:
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    x = self.reshape(-1) if dim is None else self.movedim(dim, -1)
    values = _sort(x, -1, False)[0] if x.dim() else x.reshape(1)
    count = x.isnan().logical_not().sum(-1, True)
    whole = count if skip_nan else where(count == values.shape[-1], count, 0)
    rank = numbers.reshape(-1) * (whole - 1).to(values.dtype)
    rank = where(whole == 0, values.shape[-1] - 1, rank)      # where NaN is the answer, the last is one
    low, high = rank.floor(), rank.ceil()
    if interpolation in ("lower", "higher", "nearest"):
        picked = {"lower": low, "higher": high, "nearest": rank.round()}[interpolation]
        result = values.gather(-1, picked.long())
    else:
        weight = 0.5 * (high - low) if interpolation == "midpoint" else rank - low
        result = OPS["torch.lerp"](values.gather(-1, low.long()), values.gather(-1, high.long()), weight)
    result = result.movedim(-1, 0)                            # q first
    if keepdim:
        result = result.reshape((-1,) + (1,) * self.dim()) if dim is None or not self.dim() else (
            result.unsqueeze(-1).movedim(-1, wrap(dim, self.dim()) + 1))
    return result if numbers.dim() else result.squeeze(0)


@op(out=True, samples=_quantiles)
def quantile(self, q, dim=None, keepdim=False, *, interpolation="linear"):
    """The values below which a share q of the elements lies, of all or along a dimension; NaN if there is one."""
    return _quantile(self, q, dim, keepdim, interpolation, False, "quantile")


@op(out=True, samples=_quantiles)
def nanquantile(self, q, dim=None, keepdim=False, *, interpolation="linear"):
    """``quantile`` of the elements that are not NaN."""
    return _quantile(self, q, dim, keepdim, interpolation, True, "nanquantile")
