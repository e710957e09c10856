"""Running sums, products and extremes along a dimension; differences; integrals by the trapezoid rule."""
import numpy as np

from .._core import OPS
from .._core.declaring import op
from .._core.dtype import float32, int8, int64, scalar_type
from .._core.grad_mode import is_grad_enabled
from .._core.products import by_rows
from .._core.tensor import TensorBase, wrap_ndarray
from ._placing import in_three
from ._results import named
from .samples import Draw, Samples, call
from .shape import wrap

_calls = [call(Draw(3, 4), 1), call(Draw(3, 4), 0), call(Draw(2, 3, 2), -2), call(Draw(), 0), call(Draw(0, 2), 0)]


# ---------------------------------------------------------------- sums and products

def _reversed_sum(g, dim):
    return g.flip(dim).cumsum(dim).flip(dim) if g.dim() else g


@op(inplace=True, out=True, dtype_of_out=True, samples=Samples(_calls, "number"),
    grads={"self": lambda g, dim: _reversed_sum(g, dim)})
def cumsum(self, dim, *, dtype=None):
    """The running sum along a dimension."""
    return _scan(self, dim, dtype, "cumsum", "add")


@op(inplace=True, out=True, dtype_of_out=True, samples=Samples(_calls, "number"),
    grads={"self": lambda g, self, dim: _cumprod_grad(g, self, dim)})
def cumprod(self, dim, *, dtype=None):
    """The running product along a dimension."""
    return _scan(self, dim, dtype, "cumprod", "multiply")


def _scan(x, dim, dtype, kernel, ufunc):
    if dtype is not None:
        if dtype.name == "bool":
            raise NotImplementedError(f"\"{kernel}_out_cpu\" not implemented for 'Bool'")
        x = x.to(dtype)
    elif not (x.is_floating_point() or x.is_complex()):
        x = x.to(int64)
    if x.is_floating_point():
        return by_rows(kernel, (x,), dim)
    d = wrap(dim, x.dim())
    if x.dim() == 0:
        return x.clone()
    if x.is_cuda:
        from .._gpu.rows import by_rows as on_device
        return on_device(kernel, (x.contiguous(),), d)
    array = x._ndarray()
    return wrap_ndarray(np.ascontiguousarray(getattr(np, ufunc).accumulate(array, axis=d, dtype=array.dtype)))


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


@op(out=True, samples=Samples(_calls, "floating"))
def logcumsumexp(self, dim):
    """The logarithm of the running sum of exponentials along a dimension, computed without overflow."""
    if not (self.is_floating_point() or self.is_complex()):
        raise NotImplementedError(f"\"logcumsumexp_out_cpu\" not implemented for '{scalar_type(self.dtype)}'")
    if self.dim() == 0 or not self.numel():
        wrap(dim, self.dim())
        return self.clone()
    dim = wrap(dim, self.dim())
    if not (self.is_complex() or self.is_cuda or self.requires_grad and is_grad_enabled()):
        wide = self if self.dtype.itemsize > 2 else self.float()
        array = np.ascontiguousarray(wide._ndarray())
        result = np.empty_like(array)
        from .._kernels import running as kernels
        kernels.logcumsumexp(in_three(array, dim), in_three(result, dim))
        return wrap_ndarray(result).to(self.dtype)
    pieces, total = [], None
    for i in range(self.shape[dim]):
        x = self.select(dim, i)
        total = x if total is None else OPS["torch.logaddexp"](total, x)
        pieces.append(total)
    return OPS["torch.stack"](pieces, dim)


# ---------------------------------------------------------------- extremes

_max_result, _min_result = named("cummax", "values", "indices"), named("cummin", "values", "indices")


_WIDER = {"bool": int8, "float16": float32, "bfloat16": float32}    # what the kernel works in


def _running(name, make, largest):
    @op(name=name, out=True, samples=Samples(_calls + [call(Draw(12, special=True), 0)], "real"),
        backward_name=f"{name.capitalize()}Backward0", grads={
            "self": lambda g, self_shape, out, dim: g.new_zeros(self_shape).scatter_add(dim, out[1], g)
            if self_shape else g})
    def forward(self, dim):
        d = wrap(dim, self.dim())
        if self.is_complex() or self.dtype.name in ("uint16", "uint32", "uint64"):
            raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{scalar_type(self.dtype)}'")
        if self.dim() == 0:
            return make((self.clone(), wrap_ndarray(np.zeros((), dtype=np.int64))))
        x = (self.to(_WIDER[self.dtype.name]) if self.dtype.name in _WIDER else self).contiguous()
        values, places = x.new_empty(x.shape), x.new_empty(x.shape, dtype=int64)
        from .._kernels import running as kernels
        kernels.extreme(*(in_three(t._ndarray(), d) for t in (x, values, places)), largest)
        return make((values.to(self.dtype), places))
    forward.__doc__ = f"The running {'maximum' if name == 'cummax' else 'minimum'} along a dimension, and its places."


_running("cummax", _max_result, True)
_running("cummin", _min_result, False)


# ---------------------------------------------------------------- differences and integrals

@op(out=True, samples=Samples([
    call(Draw(3, 4)), call(Draw(3, 4), 2, 0), call(Draw(3, 4), prepend=Draw(3, 1)),
    call(Draw(3, 4), 1, 0, append=Draw(2, 4)), call(Draw(3, 4), 0), call(Draw(3, 4), 0, prepend=Draw(3, 1)),
    call(Draw(3, 4), 9)], "number"))
def diff(self, n=1, dim=-1, prepend=None, append=None):
    """The n-th differences of neighbours along a dimension."""
    if self.dim() == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    d = wrap(dim, self.dim())
    for t in (prepend, append):
        if t is not None:
            _check_extension(self, t, d)
    if n == 0:
        return self.clone()
    parts = [t for t in (prepend, self, append) if t is not None]
    x = OPS["torch.cat"](parts, d) if len(parts) > 1 else self
    for _ in range(min(n, x.shape[d])):
        a, b = x.narrow(d, 1, x.shape[d] - 1), x.narrow(d, 0, x.shape[d] - 1)
        x = a.logical_xor(b) if x.dtype.name == "bool" else a - b
    return x.clone() if x is self else x


def _check_extension(x, t, d):
    """What is put before or after x must fit beside it along dimension d."""
    if t.dim() != x.dim():
        raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    for i, (a, b) in enumerate(zip(x.shape, t.shape)):
        if a != b and i != d:
            raise RuntimeError("diff expects the shape of tensor to prepend or append to match that of input except "
                               f"along the differencing dimension; input.size({i}) = {a}, but got tensor.size({i}) "
                               f"= {b}")


def _widths(y, x, dim):
    """The distances between neighbours, shaped to go with y."""
    if x.dim() != 1:
        return x.diff(dim=dim)
    if x.shape[0] != y.shape[dim]:
        raise RuntimeError("There must be one `x` value for each sample point")
    return x.diff().reshape([-1 if i == dim % y.dim() else 1 for i in range(y.dim())])


def _pairs(y, x, dim, name):
    """The sums of neighbours along a dimension."""
    if y.dim() == 0:
        raise IndexError("Dimension specified as -1 but tensor has no dimensions")
    for what, t in (("y", y), ("x", x)):
        if t is not None and t.dtype.name == "bool":
            raise RuntimeError(f"{name}: received a bool input for `{what}`, but bool is not supported")
    n = y.shape[dim]
    return y.narrow(dim, 0, n - 1) + y.narrow(dim, 1, n - 1) if n else y


_areas = [call(Draw(3, 4)), call(Draw(3, 4), dx=2.0), call(Draw(3, 4), Draw(4)), call(Draw(3, 4), Draw(3, 4), dim=0),
          call(Draw(2, 1)), call(Draw(2, 0)), call(Draw(2, 0), Draw(0))]


@op(method=False, aliases=("trapz",), samples=Samples(_areas, "real"))
def trapezoid(y, x=None, *, dx=1, dim=-1):
    """The integral along a dimension by the trapezoid rule, at places x or dx apart."""
    pairs = _pairs(y, x, dim, "trapezoid")
    if not y.shape[dim]:
        d = wrap(dim, y.dim())
        return y.new_zeros(y.shape[:d] + y.shape[d + 1:])
    if x is not None:
        return (pairs * _widths(y, x, dim)).sum(dim) / 2.0
    return (y.sum(dim) - (y.select(dim, 0) + y.select(dim, -1)) * 0.5) * dx


@op(method=False, samples=Samples(_areas, "real"))
def cumulative_trapezoid(y, x=None, *, dx=1, dim=-1):
    """The running integral along a dimension by the trapezoid rule."""
    pairs = _pairs(y, x, dim, "cumulative_trapezoid")
    if x is not None and y.shape[dim]:
        return (pairs * _widths(y, x, dim)).cumsum(dim) / 2.0
    return (dx / 2.0 * pairs).cumsum(dim)


@op(method=False, samples=Samples([call(Draw(5)), call(Draw(4, 3)), call(Draw(4, 3), dim=0), call(Draw(5), spacing=2.0),
                                   call(Draw(4, 3), spacing=[0.5, 2.0]), call(Draw(5), edge_order=2),
                                   call(Draw(4, 3), spacing=[Draw(4, distinct=True), Draw(3, distinct=True)]),
                                   call(Draw(4, 3), spacing=[Draw(3, distinct=True)], dim=1, edge_order=2)]))
def gradient(input, *, spacing=1, dim=None, edge_order=1):
    """Derivatives along dimensions by second-order differences of samples a number, or coordinates, apart."""
    dims = list(range(input.dim())) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    spacing = 1 if spacing is None else spacing
    if isinstance(spacing, (tuple, list)):
        _check_spacing(spacing, dims, dim, input)
        steps = list(spacing)
    else:
        steps = [spacing] * len(dims)
    _check_gradient(input, dims, edge_order)
    results = []
    for d, step in zip(dims, steps):
        if isinstance(step, TensorBase) and isinstance(spacing, (tuple, list)):
            results.append(_by_coordinates(input, step, d, edge_order))
        else:
            results.append(_by_steps(input, step, d, edge_order))
    return tuple(results)


def _check_spacing(spacing, dims, dim, input):
    if len(spacing) != len(dims):
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to 'self.dim() = "
            f"{input.dim()}', since dim argument was not given, but got a list of length {len(spacing)}"
            if dim is None else
            "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim arguments to have the "
            f"same length, but got a spacing argument of length {len(spacing)} and a dim argument of length "
            f"{len(dims)}.")
    for step in spacing:
        if isinstance(step, TensorBase) and step.dim() != 1:
            raise RuntimeError("torch.gradient expected each element of spacing to have one dimension, but got an "
                               f"element with {step.dim()} dimensions!")


def _check_gradient(input, dims, edge_order):
    if input.dtype.name == "uint8":
        raise RuntimeError("torch.gradient does not support uint8 input.")
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    places = [wrap(d, input.dim()) for d in dims]
    for d in places:
        if places.count(d) > 1:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
        if input.shape[d] < edge_order + 1:
            raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")


def _by_steps(x, h, d, edge_order):
    """The derivative along a dimension where samples are h apart."""
    n = x.shape[d]
    at = [x.narrow(d, i, 1) for i in (*range(min(3, n)), *range(-min(3, n), 0))]
    inner = (x.narrow(d, 2, n - 2) - x.narrow(d, 0, n - 2)) / (2 * h)
    if edge_order == 1:
        first, last = (at[1] - at[0]) / h, (at[-1] - at[-2]) / h
    else:
        first = (-1.5 * at[0] + 2 * at[1] - 0.5 * at[2]) / h
        last = (1.5 * at[-1] - 2 * at[-2] + 0.5 * at[-3]) / h
    return OPS["torch.cat"]([first, inner, last], d)


def _by_coordinates(x, places, d, edge_order):
    """The derivative along a dimension where samples stand at the given places."""
    n = x.shape[d]
    if places.shape[0] != n:
        raise RuntimeError(f"torch.gradient expected spacing to name a place for each of the {n} samples along "
                           f"dimension {d}, but got {places.shape[0]}")
    h = places.diff().reshape([-1 if i == wrap(d, x.dim()) else 1 for i in range(x.dim())])
    near, far = h.narrow(d, 0, n - 2), h.narrow(d, 1, n - 2)
    inner = (-far / (near * (near + far)) * x.narrow(d, 0, n - 2) + (far - near) / (near * far) * x.narrow(d, 1, n - 2)
             + near / (far * (near + far)) * x.narrow(d, 2, n - 2))
    ends = []
    for inward in (1, -1):                     # from either end, the second one as if read backwards
        at = [x.narrow(d, i if inward > 0 else -1 - i, 1) for i in range(edge_order + 1)]
        steps = [h.narrow(d, i if inward > 0 else -1 - i, 1) * inward for i in range(edge_order)]
        ends.append(_end_slope(at, steps))
    return OPS["torch.cat"]([ends[0], inner, ends[1]], d)


def _end_slope(at, steps):
    """The one-sided derivative at the first of two or three samples."""
    if len(steps) == 1:
        return (at[1] - at[0]) / steps[0]
    a, b = steps
    return -(2 * a + b) / (a * (a + b)) * at[0] + (a + b) / (a * b) * at[1] - a / (b * (a + b)) * at[2]
