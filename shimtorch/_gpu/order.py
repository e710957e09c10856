"""Sorting, selection and running extremes on a device."""
from .._core.dtype import int64, scalar_type
from .._ops.shape import wrap
from . import _dense


def sorted_along(x, dim, descending):
    """Values and places in order along a dimension; ties keep their order, NaN is the largest."""
    if x.is_complex():
        raise RuntimeError("Sort currently does not support complex dtypes on CUDA")
    if x.dim() == 0:
        return x.clone(), x.new_zeros((), dtype=int64)
    d, last = wrap(dim, x.dim()), x.dim() - 1
    if not x.numel():
        return x.new_empty(x.shape), x.new_empty(x.shape, dtype=int64)
    rows = x if d == last else x.transpose(d, last)
    results = _dense.sort(rows.contiguous(), descending)
    return results if d == last else tuple(t.transpose(d, last).contiguous() for t in results)


def _sort(self, dim, descending, stable=True):
    from .._ops.order import _sort_result
    return _sort_result(sorted_along(self, dim, bool(descending)))


def _topk(self, k, dim, largest):
    from .._ops.order import _topk_result
    results = sorted_along(self, dim, bool(largest))
    if self.dim():
        results = tuple(t.narrow(dim, 0, k).contiguous() for t in results)
    return _topk_result(results)


def _kth(self, k, dim, keepdim, make):
    results = sorted_along(self, dim, False)
    if self.dim():
        results = tuple((t.narrow(dim, k - 1, 1) if keepdim else t.select(dim, k - 1)).contiguous() for t in results)
    return make(results)


def _running(x, dim, largest, name):
    from .._ops import scan
    make = scan._max_result if largest else scan._min_result
    d = wrap(dim, x.dim())
    if x.is_complex():
        raise NotImplementedError(f"\"{name}_cuda\" not implemented for '{scalar_type(x.dtype)}'")
    if x.dim() == 0 or not x.numel():
        return make((x.clone(), x.new_zeros(x.shape, dtype=int64)))
    return make(_dense.running(x.contiguous(), d, largest, name))


def cummax(self, dim):
    """The running maximum along a dimension, and its places."""
    return _running(self, dim, True, "cummax")


def cummin(self, dim):
    """The running minimum along a dimension, and its places."""
    return _running(self, dim, False, "cummin")
