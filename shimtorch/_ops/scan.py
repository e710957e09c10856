"""Running sums, products and extremes along a dimension; differences; integrals by the trapezoid rule."""
import numpy as np

from .._core import OPS
from .._core.dtype import int64
from .._core.op import op, scalar_type
from .._core.products import by_rows
from .._core.tensor import TensorBase, wrap_ndarray
from ._results import named
from .samples import Draw, Samples, call
from .shape import wrap

_calls = [call(Draw(3, 4), 1), call(Draw(3, 4), 0), call(Draw(2, 3, 2), -2), call(Draw(), 0), call(Draw(0, 2), 0)]


# ---------------------------------------------------------------- sums and products

def _reversed_sum(g, dim):
    return g.flip(dim).cumsum(dim).flip(dim) if g.dim() else g


@op(inplace=True, out=True, samples=Samples(_calls, "number"), grads={"self": lambda g, dim: _reversed_sum(g, dim)})
def cumsum(self, dim, *, dtype=None):
    """The running sum along a dimension."""
    return _scan(self, dim, dtype, "cumsum", "add")


@op(inplace=True, out=True, samples=Samples(_calls, "number"),
    grads={"self": lambda g, self, dim: _cumprod_grad(g, self, dim)})
def cumprod(self, dim, *, dtype=None):
    """The running product along a dimension."""
    return _scan(self, dim, dtype, "cumprod", "multiply")


def _scan(x, dim, dtype, kernel, ufunc):
    if dtype is not None:
        x = x.to(dtype)
    elif not (x.is_floating_point() or x.is_complex()):
        x = x.to(int64)
    if x.is_floating_point():
        return by_rows(kernel, (x,), dim)
    d = wrap(dim, x.dim())
    if x.dim() == 0:
        return x.clone()
    array = x._ndarray()
    return wrap_ndarray(getattr(np, ufunc).accumulate(array, axis=d, dtype=array.dtype))


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
        columns.append((g[..., k:] * (partial.conj() if partial.is_complex() else partial)).sum(-1))
    return OPS["torch.stack"](columns, -1).movedim(-1, dim) if n else x.movedim(-1, dim)


@op(out=True, samples=Samples(_calls))
def logcumsumexp(self, dim):
    """The logarithm of the running sum of exponentials along a dimension, computed without overflow."""
    if not self.is_floating_point():
        raise NotImplementedError(f"\"logcumsumexp_out_cpu\" not implemented for '{scalar_type(self.dtype)}'")
    if self.dim() == 0 or not self.numel():
        wrap(dim, self.dim())
        return self.clone()
    pieces, total = [], None
    for i in range(self.shape[dim]):
        x = self.select(dim, i)
        total = x if total is None else OPS["torch.logaddexp"](total, x)
        pieces.append(total)
    return OPS["torch.stack"](pieces, dim)


# ---------------------------------------------------------------- extremes

_max_result, _min_result = named("cummax", "values", "indices"), named("cummin", "values", "indices")


def _running(name, make, ahead):
    @op(name=name, out=True, samples=Samples(_calls + [call(Draw(12, special=True), 0)], "real"),
        backward_name=f"{name.capitalize()}Backward0", grads={
            "self": lambda g, self_shape, out, dim: g.new_zeros(self_shape).scatter_add(dim, out[1], g)
            if self_shape else g})
    def forward(self, dim):
        d = wrap(dim, self.dim())
        if self.is_complex():
            raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{scalar_type(self.dtype)}'")
        if self.dim() == 0:
            return make((self.clone(), wrap_ndarray(np.zeros((), dtype=np.int64))))
        array = np.moveaxis(self._ndarray(), d, 0)
        values, places = np.empty_like(array), np.zeros(array.shape, dtype=np.int64)
        for i, row in enumerate(array):
            values[i], places[i] = row, i
            if i:
                keep = ~(ahead(row, values[i - 1]) | (row != row)) | (values[i - 1] != values[i - 1])
                values[i] = np.where(keep, values[i - 1], row)
                places[i] = np.where(keep, places[i - 1], i)
        if array.dtype.kind in "fc" and len(array):
            _last_nan(values, places, array)
        return make(tuple(wrap_ndarray(np.ascontiguousarray(np.moveaxis(a, 0, d))) for a in (values, places)))
    forward.__doc__ = f"The running {'maximum' if name == 'cummax' else 'minimum'} along a dimension, and its places."


def _last_nan(values, places, array):
    """A NaN stays from where it first stood."""
    found = np.maximum.accumulate(array != array, axis=0)
    first = np.argmax(found, axis=0)
    values[found] = np.nan
    places[found] = np.broadcast_to(first, places.shape)[found]


_running("cummax", _max_result, np.greater_equal)
_running("cummin", _min_result, np.less_equal)


# ---------------------------------------------------------------- differences and integrals

@op(samples=Samples([call(Draw(3, 4)), call(Draw(3, 4), 2, 0), call(Draw(3, 4), prepend=Draw(3, 1)),
                     call(Draw(3, 4), 1, 0, append=Draw(2, 4)), call(Draw(3, 4), 0)], "number"))
def diff(self, n=1, dim=-1, prepend=None, append=None):
    """The n-th differences of neighbours along a dimension."""
    if self.dim() == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    d = wrap(dim, self.dim())
    parts = [t for t in (prepend, self, append) if t is not None]
    x = OPS["torch.cat"](parts, d) if len(parts) > 1 else self
    for _ in range(min(n, x.shape[d])):
        a, b = x.narrow(d, 1, x.shape[d] - 1), x.narrow(d, 0, x.shape[d] - 1)
        x = a.logical_xor(b) if x.dtype.name == "bool" else a - b
    return x.clone() if x is self else x


def _widths(y, x, dx, dim):
    """The distances between neighbours, shaped to go with y."""
    if x is None:
        return dx
    width = x.diff(dim=-1 if x.dim() == 1 else dim)
    return width.reshape([-1 if i == dim % y.dim() else 1 for i in range(y.dim())]) if x.dim() == 1 else width


def _strips(y, x, dx, dim):
    if y.dim() == 0:
        raise RuntimeError("trapezoid: expected a tensor with at least one dimension")
    n = y.shape[dim]
    return (y.narrow(dim, 1, n - 1) + y.narrow(dim, 0, n - 1)) / 2 * _widths(y, x, dx, dim) if n else y


_areas = [call(Draw(3, 4)), call(Draw(3, 4), dx=2.0), call(Draw(3, 4), Draw(4)), call(Draw(3, 4), Draw(3, 4), dim=0)]


@op(method=False, aliases=("trapz",), samples=Samples(_areas))
def trapezoid(y, x=None, *, dx=1, dim=-1):
    """The integral along a dimension by the trapezoid rule, at places x or dx apart."""
    return _strips(y, x, dx, dim).sum(dim)


@op(method=False, samples=Samples(_areas))
def cumulative_trapezoid(y, x=None, *, dx=1, dim=-1):
    """The running integral along a dimension by the trapezoid rule."""
    return _strips(y, x, dx, dim).cumsum(dim)


@op(method=False, samples=Samples([call(Draw(5)), call(Draw(4, 3)), call(Draw(4, 3), dim=0), call(Draw(5), spacing=2.0),
                                   call(Draw(4, 3), spacing=[0.5, 2.0]), call(Draw(5), edge_order=2)]))
def gradient(input, *, spacing=1, dim=None, edge_order=1):
    """Derivatives along dimensions by second-order differences of samples that are evenly spaced."""
    dims = list(range(input.dim())) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    steps = list(spacing) if isinstance(spacing, (tuple, list)) else [spacing] * len(dims)
    if any(isinstance(s, TensorBase) for s in steps):
        raise NotImplementedError("gradient(spacing=): tensors of coordinates are not implemented")
    if len(steps) != len(dims):
        raise RuntimeError("torch.gradient expected spacing to be unspecified, a scalar or a list of length "
                           f"{len(dims)}")
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    results = []
    for d, h in zip(dims, steps):
        n = input.shape[d]
        if n < edge_order + 1:
            raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
        at = [input.narrow(d, i, 1) for i in (*range(min(3, n)), *range(-min(3, n), 0))]
        inner = (input.narrow(d, 2, n - 2) - input.narrow(d, 0, n - 2)) / (2 * h)
        if edge_order == 1:
            first, last = (at[1] - at[0]) / h, (at[-1] - at[-2]) / h
        else:
            first = (-1.5 * at[0] + 2 * at[1] - 0.5 * at[2]) / h
            last = (1.5 * at[-1] - 2 * at[-2] + 0.5 * at[-3]) / h
        results.append(OPS["torch.cat"]([first, inner, last], d))
    return tuple(results)
