"""Reductions: sums, means, extremes, norms, over all elements or along dimensions."""
import math

import numpy as np

from .._core import OPS
from .._core.dtype import get_default_dtype, int64
from .._core.kinds import extreme, reduce_all, reduction
from .._core.op import op, scalar_type
from .._core.policy import policy
from .._core.products import by_rows
from .._core.tensor import TensorBase, wrap_ndarray
from . import samples
from ._results import named
from ._rules import restore_dims
from .samples import Draw, Samples, call

_number = samples.reduction(dtypes="number")
_real = samples.reduction(dtypes="real")


def _expand_back(g, self_shape, dim, keepdim):
    return restore_dims(g, self_shape, dim, keepdim).expand(self_shape)


def _share(g, x, out, dim, keepdim):
    """The gradient of an extreme, shared evenly by the elements that reach it."""
    hit = (x == restore_dims(out, x.shape, dim, keepdim)).to(g.dtype)
    return restore_dims(g, x.shape, dim, keepdim) * hit / hit.sum(dim, True)


reduction("sum", samples=_number, grads={"self": _expand_back})
reduction("amax", needs_elements=True, samples=_real,
          grads={"self": lambda g, self, out, dim, keepdim: _share(g, self, out, dim, keepdim)})
reduction("amin", needs_elements=True, samples=_real,
          grads={"self": lambda g, self, out, dim, keepdim: _share(g, self, out, dim, keepdim)})
reduction("_any", "any", method=False)
reduction("_all", "all", method=False)
reduction("_count_nonzero", "count_nonzero", method=False)
_any, _all, _count = (samples.Samples([call(Draw(3, 4)), call(Draw(3, 4), 0), call(Draw(3, 4), 1, True)],
                                      dtypes="number", gradcheck=False) for _ in range(3))


def _truth(name, samples_):
    kernel = OPS[f"torch._{name}"]

    def forward(self, dim=None, keepdim=False):
        result = kernel(self, dim, keepdim)
        return result.to(self.dtype) if self.dtype.name == "uint8" or policy.compare_uint8 else result
    forward.__name__ = name
    forward.__doc__ = f"Whether {name} of the elements are true (not 0), of all or along dimensions."
    return op(forward, out=True, samples=samples_)


_truth("any", _any)
_truth("all", _all)


@op(samples=_count)
def count_nonzero(self, dim=None):
    """How many elements are not 0, of all or along dimensions."""
    return OPS["torch._count_nonzero"](self, dim)


def _check_float(x, name):
    if not (x.is_floating_point() or x.is_complex()):
        raise RuntimeError(f"{name}(): could not infer output dtype. Input dtype must be either a floating point or "
                           f"complex dtype. Got: {scalar_type(x.dtype)}")


def _dims(dim, ndim):
    """The dimensions of a reduction as a list of numbers from 0."""
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        return list(range(ndim))
    n = max(ndim, 1)
    result = []
    for d in dim if isinstance(dim, (tuple, list)) else (dim,):
        if not -n <= d < n:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {d})")
        result.append(d % n)
    return result


def _reduced_numel(shape, dim):
    return math.prod([shape[d] for d in _dims(dim, len(shape)) if shape])


@op(out=True, samples=samples.reduction(),
    grads={"self": lambda g, self_shape, dim, keepdim: _expand_back(g, self_shape, dim, keepdim)
           / max(_reduced_numel(self_shape, dim), 1)})
def mean(self, dim=None, keepdim=False, *, dtype=None):
    """The mean over all elements, or over dimensions."""
    if dtype is not None:
        self = self.to(dtype)
    _check_float(self, "mean")
    n = _reduced_numel(self.shape, dim)
    total = self.sum(dim, keepdim)
    return total / n if n else total * math.nan


@op(out=True, samples=Samples([call(Draw(3, 4)), call(Draw(3, 4), 1), call(Draw(3, 4), -1, True), call(Draw())]),
    grads={"self": lambda g, self, dim, keepdim: _prod_grad(g, self, dim, keepdim)})
def prod(self, dim=None, keepdim=False, *, dtype=None):
    """The product of all elements, or along a dimension."""
    if dtype is not None:
        self = self.to(dtype)
    return reduce_all(self, "prod", dim, keepdim)


def _prod_grad(g, x, dim, keepdim):
    """Products of all other elements, which needs no division and so holds at zeros too."""
    if x.dim() == 0:
        return g
    flat = x.reshape(-1) if dim is None else x.movedim(dim, -1)
    n = flat.shape[-1]
    ones = flat.new_ones(flat.shape[:-1] + (1,))
    cat = OPS["torch.cat"]
    before = cat([ones, flat[..., :-1].cumprod(-1)], -1) if n else flat
    after = cat([flat[..., 1:].flip(-1).cumprod(-1).flip(-1), ones], -1) if n else flat
    others = before * after
    others = others.reshape(x.shape) if dim is None else others.movedim(-1, dim)
    return restore_dims(g, x.shape, dim, keepdim) * others


# ---------------------------------------------------------------- extremes with their places

_max_result, _min_result = named("max", "values", "indices"), named("min", "values", "indices")


@op(method=False, function=False, backward_name="MaxBackward0",
    grads={"self": lambda g, self_shape, out, dim, keepdim: _pick_grad(g, self_shape, out[1], dim, keepdim)})
def _max_dim(self, dim, keepdim):
    return _max_result(extreme(self, dim, keepdim, "max_arg"))


@op(method=False, function=False, backward_name="MinBackward0",
    grads={"self": lambda g, self_shape, out, dim, keepdim: _pick_grad(g, self_shape, out[1], dim, keepdim)})
def _min_dim(self, dim, keepdim):
    return _min_result(extreme(self, dim, keepdim, "min_arg"))


def _pick_grad(g, shape, indices, dim, keepdim):
    """The gradient of values picked along a dimension."""
    if not shape:
        return g
    if not keepdim:
        g, indices = g.unsqueeze(dim), indices.unsqueeze(dim)
    return g.new_zeros(shape).scatter(dim, indices, g)


def _extreme_op(name, picked, whole, pair):
    def forward(self, dim=None, keepdim=False):
        if dim is None:
            if self.numel() == 0:
                raise RuntimeError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify "
                                   "the reduction dim with the 'dim' argument.")
            return whole(self)
        if isinstance(dim, TensorBase):
            return pair(self, dim)
        return picked(self, dim, keepdim)
    forward.__name__ = name
    forward.__doc__ = (f"The {'largest' if name == 'max' else 'smallest'} element; with a dimension, values and indices "
                       "along it; with another tensor, element by element.")
    return op(forward, out=True, renames={"other": "dim"}, samples=Samples(
        [call(Draw(3, 4)), call(Draw(3, 4), 1), call(Draw(3, 4), -2, True), call(Draw(3, 4), Draw(4)), call(Draw())],
        dtypes="real"))


def _whole(name, kernel):
    @op(name=name, method=False, function=False, backward_name=f"{kernel.capitalize()}Backward1",
        grads={"self": lambda g, self, out: _share(g, self, out, None, False)})
    def forward(self):
        return reduce_all(self, kernel)
    return forward


_extreme_op("max", _max_dim, _whole("_max_all", "max"), lambda a, b: a.maximum(b))
_extreme_op("min", _min_dim, _whole("_min_all", "min"), lambda a, b: a.minimum(b))


def _arg_op(name):
    def forward(self, dim=None, keepdim=False):
        if self.numel() == 0 and dim is None:
            raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
                             "reduction dim with the 'dim' argument.")
        if dim is None:
            x = self.contiguous().view(-1) if self.dim() != 1 else self
            result = reduce_all(x, name, 0, False)
            return result.view([1] * self.dim()) if keepdim else result
        if self.dim() and self.shape[dim] == 0:
            raise IndexError(f"{name}(): Expected reduction dim {dim % self.dim()} to have non-zero size.")
        return reduce_all(self, name, dim, keepdim)
    forward.__name__ = name
    forward.__doc__ = f"The index of the {'largest' if name == 'argmax' else 'smallest'} element, of all or along dim."
    return op(forward, out=True, samples=Samples([call(Draw(3, 4)), call(Draw(3, 4), 1), call(Draw(3, 4), 0, True)],
                                                 dtypes="real", gradcheck=False))


_arg_op("argmax")
_arg_op("argmin")


# ---------------------------------------------------------------- spread and norms

@op(method=False, function=False, name="_var", backward_name="VarBackward0", grads={
    "self": lambda g, self, dim, correction, keepdim: restore_dims(g, self.shape, dim, keepdim)
    * (self - self.mean(dim, True)) * (2 / (_reduced_numel(self.shape, dim) - correction)
                                       if _reduced_numel(self.shape, dim) != correction else math.nan)})
def _var(self, dim, correction, keepdim):
    return reduce_all(self, "var", dim, keepdim, correction)


def _var_forward(self, dim=None, *, correction=1, keepdim=False):
    _check_float(self, "var")
    if self.is_complex():
        return _var_forward(self.real, dim, correction=correction, keepdim=keepdim) + _var_forward(
            self.imag, dim, correction=correction, keepdim=keepdim)
    return _var(self, dim, 1 if correction is None else correction, keepdim)


def _spread_op(name, doc, finish):
    def forward(self, dim=None, unbiased=None, keepdim=False, *, correction=None):
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        if unbiased is not None:
            correction = int(unbiased)
        return finish(self, dim, 1 if correction is None else correction, keepdim)
    forward.__name__ = name
    forward.__doc__ = doc
    return op(forward, out=True, samples=Samples([
        call(Draw(3, 4)), call(Draw(3, 4), 1), call(Draw(3, 4), 0, False), call(Draw(3, 4), False),
        call(Draw(2, 3, 4), (0, 2), True, True), call(Draw(3, 4), 1, correction=0)]))


_spread_op("var", "The variance, of all elements or along dimensions; divided by n - correction (1: unbiased).",
           lambda x, dim, correction, keepdim: _var_forward(x, dim, correction=correction, keepdim=keepdim))
_spread_op("std", "The standard deviation: the root of ``var``.",
           lambda x, dim, correction, keepdim: _var_forward(x, dim, correction=correction, keepdim=keepdim).sqrt())


@op(samples=Samples([call(Draw(3, 4)), call(Draw(3, 4), 1)]))
def std_mean(self, dim=None, unbiased=None, keepdim=False, *, correction=None):
    """The standard deviation and the mean."""
    return self.std(dim, unbiased, keepdim, correction=correction), self.mean(dim, keepdim)


@op(samples=Samples([call(Draw(3, 4)), call(Draw(3, 4), 1)]))
def var_mean(self, dim=None, unbiased=None, keepdim=False, *, correction=None):
    """The variance and the mean."""
    return self.var(dim, unbiased, keepdim, correction=correction), self.mean(dim, keepdim)


@op(method=False, function=False, backward_name="NormBackward1", grads={
    "self": lambda g, self, out, p, dim, keepdim: _norm_grad(g, self, out, p, dim, keepdim)})
def _norm(self, p, dim, keepdim):
    if self.is_complex():
        return _norm(self.abs(), p, dim, keepdim)
    if p == 2:
        return reduce_all(self, "sumsq", dim, keepdim).sqrt()
    if p == 1:
        return reduce_all(self, "sumabs", dim, keepdim)
    if p == math.inf:
        return self.abs().amax(dim, keepdim) if self.numel() else self.abs().sum(dim, keepdim)
    if p == -math.inf:
        return self.abs().amin(dim, keepdim)
    if p == 0:
        return (self != 0).to(self.dtype).sum(dim, keepdim)
    return reduce_all(self, "norm_p", dim, keepdim, p).pow(1 / p)


def _norm_grad(g, x, out, p, dim, keepdim):
    from .indexing import where_op
    g, out = restore_dims(g, x.shape, dim, keepdim), restore_dims(out, x.shape, dim, keepdim)
    if p == 0:
        return x * 0
    if p == 1:
        return g * x.sgn()
    if p == 2:
        return g * where_op(out == 0, 0, x / where_op(out == 0, 1, out))
    if p in (math.inf, -math.inf):
        hit = (x.abs() == out).to(g.dtype)
        return g * x.sgn() * hit / hit.sum(dim, True)
    scale = where_op(out == 0, 0, x.abs() / where_op(out == 0, 1, out))
    return g * x.sgn() * where_op(scale == 0, 0, where_op(scale == 0, 1, scale).pow(p - 1))


@op(out=True, samples=Samples([call(Draw(3, 4)), call(Draw(3, 4), 2, 1), call(Draw(3, 4), 1), call(Draw(3, 4), 3, 0, True),
                               call(Draw(3, 4), math.inf, 1), call(Draw(2, 3, 4), 2, (0, 1)), call(Draw(3, 4), 0.5)]))
def norm(self, p="fro", dim=None, keepdim=False, *, dtype=None):
    """The p-norm of the elements, of all or along dimensions ("fro": 2)."""
    if dtype is not None:
        self = self.to(dtype)
    if p == "nuc":
        raise NotImplementedError("norm(p='nuc') is not implemented")
    _check_float(self, "norm")
    return _norm(self, 2 if p is None or p == "fro" else float(p), dim, keepdim)


@op(samples=Samples([call(Draw(3, 4), Draw(3, 4)), call(Draw(3, 4), Draw(4), 1)]))
def dist(self, other, p=2):
    """The p-norm of the difference."""
    return (self - other).norm(p)


@op(out=True, samples=Samples([call(Draw(3, 4), 1), call(Draw(3, 4), (0, 1), True), call(Draw(3, 4), -2)]),
    grads={"self": lambda g, self, out, dim, keepdim: restore_dims(g, self.shape, dim, keepdim)
           * (self - restore_dims(out, self.shape, dim, keepdim)).exp()})
def logsumexp(self, dim, keepdim=False):
    """The logarithm of the sum of exponentials along dimensions, computed without overflow."""
    if not self.is_floating_point():
        self = self.to(get_default_dtype())
    return reduce_all(self, "logsumexp", dim, keepdim)


@op(samples=Samples([call(Draw(3, 4), 1), call(Draw(3, 4), 0), call(Draw(), 0)]), inplace=True, out=True,
    grads={"self": lambda g, dim: g.flip(dim).cumsum(dim).flip(dim) if g.dim() else g})
def cumsum(self, dim, *, dtype=None):
    """The running sum along a dimension."""
    if dtype is not None:
        self = self.to(dtype)
    elif not (self.is_floating_point() or self.is_complex()):
        self = self.to(int64)
    if self.is_complex() or self.dtype.name in ("int64",):
        return _accumulate(self, dim, "add")
    return by_rows("cumsum", (self,), dim)


@op(samples=Samples([call(Draw(3, 4, low=0.5, high=2), 1), call(Draw(3, 4, low=0.5, high=2), 0)]), inplace=True,
    out=True, grads={"self": lambda g, self, dim: _cumprod_grad(g, self, dim)})
def cumprod(self, dim, *, dtype=None):
    """The running product along a dimension."""
    if dtype is not None:
        self = self.to(dtype)
    elif not (self.is_floating_point() or self.is_complex()):
        self = self.to(int64)
    if self.is_complex() or self.dtype.name in ("int64",):
        return _accumulate(self, dim, "multiply")
    return by_rows("cumprod", (self,), dim)


def _accumulate(x, dim, name):

    d = _dims(dim, x.dim())[0]
    if x.dim() == 0:
        return x.clone()
    array = x._ndarray()
    return wrap_ndarray(getattr(np, name).accumulate(array, axis=d, dtype=array.dtype))


def _cumprod_grad(g, x, dim):
    """Sum over i >= k of g_i times the product of all x_j, j <= i, j != k: no division, so zeros are no trouble."""
    if x.dim() == 0:
        return g
    x, g = x.movedim(dim, -1), g.movedim(dim, -1)
    n = x.shape[-1]
    columns = []
    for k in range(n):
        head = x[..., :k].prod(-1, True)
        tail = x[..., k + 1:].cumprod(-1)
        partial = OPS["torch.cat"]([head, head * tail], -1)
        columns.append((g[..., k:] * partial).sum(-1))
    return OPS["torch.stack"](columns, -1).movedim(-1, dim) if n else x


# ---------------------------------------------------------------- order

_sort_result, _topk_result = named("sort", "values", "indices"), named("topk", "values", "indices")
_kth_result, _median_result = named("kthvalue", "values", "indices"), named("median", "values", "indices")
_mode_result = named("mode", "values", "indices")


def _order(x, dim, descending):
    """Indices that sort along a dimension, stable, NaN as the largest."""
    array = x._ndarray()
    if not descending:
        return np.argsort(array, axis=dim, kind="stable")
    flipped = np.flip(np.argsort(np.flip(array, dim), axis=dim, kind="stable"), dim)
    return np.ascontiguousarray(array.shape[dim] - 1 - flipped)


_order_grads = {"self": lambda g, self_shape, out, dim: g.new_zeros(self_shape).scatter(dim, out[1], g)
                if self_shape else g}


@op(method=False, function=False, backward_name="SortBackward0", grads=_order_grads)
def _sort(self, dim, descending):

    if self.dim() == 0:
        return _sort_result((self.clone(), wrap_ndarray(np.zeros((), dtype=np.int64))))
    if self.is_complex():
        raise RuntimeError("Sort currently does not support complex dtypes on CPU")
    d = _dims(dim, self.dim())[0]
    order = _order(self, d, descending)
    return _sort_result((wrap_ndarray(np.take_along_axis(self._ndarray(), order, d)), wrap_ndarray(order)))


@op(out=True, samples=Samples([call(Draw(3, 4)), call(Draw(3, 4), 0, True), call(Draw()), call(Draw(5), 0)],
                              dtypes="real"))
def sort(self, dim=-1, descending=False, stable=False):
    """The elements in order along a dimension, and where they were."""
    return _sort(self, dim, descending)


@op(samples=Samples([call(Draw(3, 4)), call(Draw(3, 4), 0, True)], dtypes="real", gradcheck=False))
def argsort(self, dim=-1, descending=False, stable=False):
    """The indices that sort along a dimension."""
    return _sort(self, dim, descending)[1]


@op(method=False, function=False, backward_name="TopkBackward0", grads=_order_grads)
def _topk(self, k, dim, largest):
    values, indices = _sort(self, dim, largest)
    if self.dim() == 0:
        return _topk_result((values, indices))
    return _topk_result((values.narrow(dim, 0, k).contiguous(), indices.narrow(dim, 0, k).contiguous()))


@op(out=True, samples=Samples([call(Draw(3, 4), 2), call(Draw(3, 4), 2, 0, False), call(Draw(5), 0)]))
def topk(self, k, dim=-1, largest=True, sorted=True):
    """The k largest (or smallest) elements along a dimension, and where they were."""
    n = self.shape[dim] if self.dim() else 1
    if not 0 <= k <= n:
        raise RuntimeError("selected index k out of range")
    return _topk(self, k, dim, largest)


@op(method=False, function=False, backward_name="KthvalueBackward0", grads={
    "self": lambda g, self_shape, out, dim, keepdim: _pick_grad(g, self_shape, out[1], dim, keepdim)})
def _kth(self, k, dim, keepdim, make):
    values, indices = _sort(self, dim, False)
    if self.dim():
        values, indices = values.select(dim, k - 1), indices.select(dim, k - 1)
        if keepdim:
            values, indices = values.unsqueeze(dim), indices.unsqueeze(dim)
        values, indices = values.contiguous(), indices.contiguous()
    return make((values, indices))


@op(out=True, samples=Samples([call(Draw(3, 4), 2), call(Draw(3, 4), 1, 0, True)]))
def kthvalue(self, k, dim=-1, keepdim=False):
    """The k-th smallest element along a dimension, and where it was."""
    n = self.shape[dim] if self.dim() else 1
    if not 1 <= k <= n:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim}")
    return _kth(self, k, dim, keepdim, _kth_result)


@op(out=True, samples=Samples([call(Draw(3, 4)), call(Draw(3, 4), 1), call(Draw(3, 5), 0, True)], dtypes="real"))
def median(self, dim=None, keepdim=False):
    """The middle element (the lower of two), of all or along a dimension with its index."""
    if dim is None:
        if self.numel() == 0:
            return self.new_full((), math.nan)
        flat = self.reshape(-1)
        return _kth(flat, (flat.numel() + 1) // 2, 0, False, tuple)[0]
    n = self.shape[dim] if self.dim() else 1
    return _kth(self, (n + 1) // 2, dim, keepdim, _median_result)


@op(out=True, samples=Samples([call(Draw(3, 4))], dtypes="real", gradcheck=False))
def mode(self, dim=-1, keepdim=False):
    """The most frequent element along a dimension (the smallest of several), and its last place."""
    if self.dim() == 0:
        return _mode_result((self.clone(), wrap_ndarray(np.zeros((), dtype=np.int64))))
    d = _dims(dim, self.dim())[0]
    array = np.moveaxis(self._ndarray(), d, -1)
    flat = array.reshape(-1, array.shape[-1])
    values, places = np.empty(len(flat), array.dtype), np.empty(len(flat), np.int64)
    for i, row in enumerate(flat):
        unique, counts = np.unique(row, return_counts=True)
        values[i] = unique[counts.argmax()]
        places[i] = np.flatnonzero(row == values[i])[-1]
    values, places = (wrap_ndarray(a.reshape(array.shape[:-1])) for a in (values, places))
    if keepdim:
        values, places = values.unsqueeze(d), places.unsqueeze(d)
    return _mode_result((values, places))


@op(samples=Samples([call(Draw(8, low=0, high=4, dtype="int64"))], gradcheck=False))
def unique(self, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The distinct elements (or slices along a dimension), in order."""
    parts = np.unique(self._ndarray(), return_inverse=True, return_counts=True, axis=dim)
    values, inverse, counts = (wrap_ndarray(np.ascontiguousarray(p)) for p in parts)
    if dim is None:
        inverse = inverse.reshape(self.shape)
    else:
        inverse = inverse.reshape(-1)
    result = [values] + [inverse] * bool(return_inverse) + [counts] * bool(return_counts)
    return result[0] if len(result) == 1 else tuple(result)


@op(samples=Samples([call(Draw(8, low=0, high=4, dtype="int64")), call(Draw(4, low=0, high=3, dtype="int64"), None, 6)],
                    gradcheck=False))
def bincount(self, weights=None, minlength=0):
    """How often each non-negative integer occurs (or the sum of its weights)."""
    if self.dim() != 1 or self.is_floating_point() or (self.numel() and int(self.min()) < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    return wrap_ndarray(np.bincount(self._ndarray(), None if weights is None else weights._ndarray(), minlength))


@op(out=True, samples=Samples([call(Draw(10), 4, -1, 1), call(Draw(10), 3)], gradcheck=False))
def histc(self, bins=100, min=0, max=0):
    """How many elements fall into each of ``bins`` equal intervals from min to max (both 0: those of the data)."""
    array = self._ndarray().reshape(-1)
    low, high = float(min), float(max)
    if low == high and array.size:
        low, high = float(array.min()), float(array.max())
    if low == high:
        low, high = low - 1, high + 1
    if low > high:
        raise RuntimeError("torch.histc: max must be larger than min")
    array = array[(array >= low) & (array <= high)]
    places = np.minimum(((array - low) / (high - low) * bins).astype(np.int64), bins - 1)
    return wrap_ndarray(np.bincount(places, minlength=bins).astype(self._ndarray().dtype))
