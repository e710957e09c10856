"""New tensors: like another, of another's type, ranges, index lists, window functions."""
import math
from operator import index

from .._core import OPS, factory, ranges
from .._core.declaring import op
from .._core.device import as_device, strided
from .._core.dtype import float64, get_default_dtype, int32, int64, scalar_type, uint8
from .._core.policy import policy
from .._core.tensor import TensorBase, wrap_ndarray
from . import samples
from .samples import Draw, Samples, call

_like_samples = samples.unary(dtypes="number", gradcheck=False, special=False)


# ---------------------------------------------------------------- like another tensor

def _like(name, make, samples=_like_samples):
    def forward(self, *, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False,
                memory_format=None):
        if out is not None:
            if not policy.two_types:
                raise TypeError(f"{name}() got an unexpected keyword argument 'out'")
            return make(out.resize_(self.shape), out.dtype, None)
        if layout is not None and layout is not strided:
            if name == "ones_like":
                raise NotImplementedError(f"ones_like: not implemented for layout {layout}, where it would be dense")
            dtype = self.dtype if dtype is None else dtype
            return factory.zeros(size=self.shape, dtype=dtype, layout=layout, requires_grad=requires_grad)
        return _finish(make(self.detach(), self.dtype if dtype is None else dtype, memory_format, device), None, None,
                       requires_grad)
    forward.__name__ = name
    forward.__doc__ = f"A tensor of the shape of self, made as ``{name[:-5]}`` makes one."
    return op(forward, method=False, samples=samples)


def _empty_like(x, dtype, memory_format, device=None):
    if memory_format is not None and memory_format.name != "preserve_format":
        return factory.empty_tensor(x.shape, dtype=dtype, memory_format=memory_format,
                                    device=x.device if device is None else device)
    if not x.is_contiguous():
        return factory.empty_alike(x, dtype, device)
    return factory.new_empty(x.shape, dtype, x, device)


empty_like = _like("empty_like", _empty_like, Samples([call(Draw(0, 3)), call(Draw(2, 0))], "number", gradcheck=False))
zeros_like = _like("zeros_like", lambda x, *how: factory.zero(_empty_like(x, *how)))
ones_like = _like("ones_like", lambda x, *how: factory.fill(_empty_like(x, *how), 1))


@op(method=False, samples=Samples([call(Draw(3, 4), 2), call(Draw(), 1)], "number", gradcheck=False))
def full_like(self, fill_value, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False,
              memory_format=None):
    """A tensor of the shape of self with every element ``fill_value``."""
    t = _empty_like(self.detach(), self.dtype if dtype is None else dtype, memory_format, device)
    return _finish(factory.fill(t, fill_value), None, None, requires_grad)


# ---------------------------------------------------------------- of another tensor's type

def _new(name, make, calls):
    def forward(self, *sizes, size=None, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
        if size is not None:
            if sizes:
                raise TypeError(f"{name}() got multiple values for argument 'size'")
            sizes = (size,)
        t = factory.new_empty(sizes, self.dtype if dtype is None else dtype, self, device)
        return _finish(make(t), None, None, requires_grad)
    forward.__name__ = name
    forward.__doc__ = "A tensor of the given size and, unless told otherwise, of this one's dtype."
    return op(forward, function=False, samples=Samples(calls, "number", gradcheck=False))


_new("new_empty", lambda t: t, [call(Draw(2), 0, 3), call(Draw(2), size=(0,))])
_new("new_zeros", factory.zero, [call(Draw(2), 2, 3), call(Draw(2), (2, 3)), call(Draw(2), size=(2,))])
_new("new_ones", lambda t: factory.fill(t, 1), [call(Draw(2), 2, 3), call(Draw(2), ())])


@op(function=False, samples=Samples([call(Draw(2), (2, 3), 1), call(Draw(2), (), 0)], "number", gradcheck=False))
def new_full(self, size, fill_value, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    """A tensor of the given size with every element ``fill_value``, of this one's dtype."""
    t = factory.fill(factory.new_empty(size, self.dtype if dtype is None else dtype, self, device), fill_value)
    return _finish(t, None, None, requires_grad)


@op(function=False, samples=Samples([call(Draw(2), [[0, 1], [1, 0]]), call(Draw(2), Draw(3)), call(Draw(), 1)],
                                    "number", gradcheck=False))
def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    """A copy of data as a tensor of this one's dtype."""
    if isinstance(data, TensorBase):
        import warnings
        warnings.warn("To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
                      "sourceTensor.detach().clone().requires_grad_(True), rather than "
                      "tensor.new_tensor(sourceTensor).", UserWarning, stacklevel=2)
        dtype = data.dtype if dtype is None else dtype
    return _finish(factory.from_data(data, self.dtype if dtype is None else dtype, True), None,
                   self.device if device is None else device, requires_grad)


@op(function=False, samples=Samples([call(Draw(2), [0, 1]), call(Draw(2), 0, 2)], "number", gradcheck=False))
def new(self, *args):
    """The legacy constructor for tensors of this one's type: ``x.new(2, 3)``, ``x.new([1, 2])``."""
    from .._tensor import Tensor, legacy_new
    return factory.on_device(legacy_new(Tensor, self.dtype, args), self.device)


@op(function=False, samples=Samples([call(Draw(2), (0, 3), (3, 1))], gradcheck=False))
def new_empty_strided(self, size, stride, *, dtype=None, device=None, requires_grad=False, layout=None,
                      pin_memory=False):
    """An uninitialised tensor of the given size and strides, of this one's dtype."""
    return empty_strided(size, stride, dtype=self.dtype if dtype is None else dtype,
                         device=self.device if device is None else device, requires_grad=requires_grad)


@op(method=False, samples=Samples([call((0, 3), (3, 1))], gradcheck=False))
def empty_strided(size, stride, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """An uninitialised tensor of the given size and strides."""
    from .._core import views
    size, stride = tuple(size), tuple(stride)
    if len(size) != len(stride):
        raise RuntimeError(f"dimensionality of sizes ({len(size)}) must match dimensionality of strides "
                           f"({len(stride)})")
    if any(s < 0 for s in (*size, *stride)):
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}")
    n = 1 + sum((s - 1) * step for s, step in zip(size, stride)) if all(size) else 0
    flat = factory.empty_tensor((n,), dtype=dtype, device=device)
    return _finish(views.as_strided(flat, size, stride).detach(), None, None, requires_grad)


@op(method=False, samples=Samples([call((0, 3, 2), (1, 0, 2))], gradcheck=False))
def empty_permuted(size, physical_layout, *, dtype=None, layout=None, device=None, requires_grad=False,
                   pin_memory=False):
    """An uninitialised tensor whose memory runs through the dimensions in the given order, outermost first."""
    n = len(size)
    if len(physical_layout) != n:
        raise RuntimeError("Number of dimensions in size does not match the length of the physical_layout; i.e. "
                           f"len(size) = {n} is not equal to len(physical_layout) = {len(physical_layout)}")
    for i, d in enumerate(physical_layout):
        if not 0 <= d < n:
            raise RuntimeError(f"Dimension out of range (expected to be between 0 and {n - 1}, but got {d} at index "
                               f"{i}).")
    if len(set(physical_layout)) != n:
        raise RuntimeError("Duplicate dim not allowed")
    t = factory.new_empty([size[d] for d in physical_layout], dtype, None, device)
    order = sorted(range(len(size)), key=list(physical_layout).__getitem__)
    return _finish(t.permute(order), None, None, requires_grad)


@op(method=False, samples=Samples([call(3), call(2.5), call(True)], gradcheck=False))
def scalar_tensor(s, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A 0-dim tensor of a number, in the default dtype."""
    return _finish(factory.full((), s, dtype=dtype or get_default_dtype(), device=device), None, None, requires_grad)


# ---------------------------------------------------------------- ranges

def _numbers(*values):
    return [v.item() if isinstance(v, TensorBase) else v for v in values]


def _range_numbers(name, start, end, step):
    """Start, end and step as numbers; the length is for the caller to find."""
    if end is None:
        start, end = 0, start
    start, end, step = _numbers(start, end, step)
    for param, value in (("start", start), ("end", end), ("step", step)):
        if isinstance(value, complex):
            raise RuntimeError("value cannot be converted to type double without overflow")
        if not hasattr(value, "__index__") and not hasattr(value, "__float__"):
            raise TypeError(f"{name}(): argument '{param}' (position 1) must be Number, not {type(value).__name__}")
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    return start, end, step


def _there(device, out):
    """The CUDA device that a result is to be made on, else None."""
    device = out.device if out is not None else None if device is None else as_device(device)
    return device if device is not None and device.type == "cuda" else None


def _counted(n, start, step, dtype, device=None):
    """``start + i * step`` for i < n, on a CUDA device (None: the CPU)."""
    if n > 1 << 58:
        raise RuntimeError(f"Storage size calculation overflowed with sizes=[{n}]")
    if device is not None:
        from .._gpu._dense import fill_range
        t = factory.new_empty((n,), dtype, None, device)
        fill_range(t, start, step)
        return t
    if ranges.counts(dtype):
        return ranges.counted(n, start, step, dtype)
    whole = isinstance(start, int) and isinstance(step, int)
    return factory.cast(ranges.counted(n, start, step, int64 if whole else float64), dtype)


@op(method=False, samples=Samples([
    call(5), call(1, 4), call(5, 1, -2), call(0, 1, 0.3), call(1.5), call(2, 8, 3), call(3, dtype=get_default_dtype()),
    call(start=1, end=3), call(0), call(0.5, 4.7, 1.2, dtype=int64), call(0, 3, 0.5, dtype=int32),
    call(-8.000001, -4.0, dtype=int64), call(2.1, -2.9, -1.0, dtype=uint8)], gradcheck=False))
def arange(start=None, end=None, step=1, *, dtype=None, out=None, layout=None, device=None, requires_grad=False,
           pin_memory=False):
    """The numbers from ``start`` to below ``end`` in steps of ``step``: a 1-d tensor, int64 if all are ints."""
    if end is None:
        start, end = 0, start
    if end is None:
        raise TypeError("arange(): argument 'end' (position 1) must be Number, not NoneType")
    if dtype is None and out is None and device is None and step and not policy.float_ranges and (
            type(start) is int and type(end) is int and type(step) is int and (end - start) * step >= 0):
        t = ranges.counted(len(range(start, end, step)), start, step, int64)
        return t.requires_grad_() if requires_grad else t
    floats = any(isinstance(v, float) or (isinstance(v, TensorBase) and v.is_floating_point())
                 for v in (start, end, step))
    if out is not None:
        dtype = out.dtype
    elif dtype is None:
        dtype = get_default_dtype() if floats or policy.float_ranges else int64
    if dtype.is_complex or dtype.name == "bool":
        raise NotImplementedError(f'"arange_cpu" not implemented for \'{_scalar_type(dtype)}\'')
    start, end, step = _range_numbers("arange", start, end, step)
    if dtype is int64:
        start, end, step = _whole(start, end, step)
    n = len(range(start, end, step)) if all(isinstance(v, int) for v in (start, end, step)) else math.ceil(
        (end - start) / step)
    if out is not None and out.numel() not in (0, n):
        import warnings
        warnings.warn(f"The number of elements in the out tensor of shape {list(out.shape)} is {out.numel()} which "
                      f"does not match the computed number of elements {n}. Note that this may occur as a result of "
                      f"rounding error. The out tensor will be resized to a tensor of shape ({n},).", UserWarning,
                      stacklevel=2)
    if not dtype.is_floating_point:
        start, step = _whole(start, step)
    return _finish(_counted(max(n, 0), start, step, dtype, _there(device, out)), out, device, requires_grad)


def _whole(*numbers):
    """Numbers without their fractions, as a range of integers takes them."""
    numbers = [int(x) for x in numbers]
    if len(numbers) == 3 and numbers[2] == 0:
        raise ValueError("step must be nonzero")
    return numbers


def _scalar_type(dtype):
    from .._core.dtype import scalar_type
    return scalar_type(dtype)


@op(name="range", method=False, samples=Samples([call(1, 4), call(0, 1, 0.1), call(4, 1, -1),
                                                 call(0.5, 4.7, 1.2, dtype=int32)], gradcheck=False))
def range_(start=0, end=None, step=1, *, dtype=None, out=None, layout=None, device=None, requires_grad=False):
    """The numbers from ``start`` to ``end``, which is included, in steps of ``step`` (an old function)."""
    start, end, step = _range_numbers("range", start, end, step)
    dtype = out.dtype if out is not None else dtype or get_default_dtype()
    if not (dtype.is_floating_point or dtype.is_complex):
        start, end, step = _whole(start, end, step)
    n = math.floor((end - start) / step) + 1
    return _finish(_counted(n, start, step, dtype, _there(device, out)), out, device, requires_grad)


def _check_ends(name, start, end, steps):
    """The number of steps, an int; refuses what cannot be ends and steps."""
    if not hasattr(steps, "__index__"):
        given = ", ".join(type(x).__name__ for x in (start, end, steps))
        raise TypeError(f"{name}() received an invalid combination of arguments - got ({given}), but expected one of:\n"
                        " * (Tensor start, Tensor end, int steps)\n * (Number start, Number end, int steps)")
    dims = [x.dim() if isinstance(x, TensorBase) else 0 for x in (start, end)]
    if any(dims):
        raise RuntimeError(f"{name} only supports 0-dimensional start and end tensors, but got start with {dims[0]} "
                           f"dimension(s) and end with {dims[1]} dimension(s).")
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    return index(steps)


def _short_linspace(start, end, steps, dtype, device):
    """``linspace`` in 16 bits, where every step of the computation rounds."""
    first, last = (factory.full((), x, dtype=dtype, device=device) for x in (start, end))
    if steps < 2:
        return first.expand(steps).clone()
    step = (last - first) / factory.full((), steps - 1, dtype=dtype, device=device)
    i = arange(steps, dtype=dtype, device=device)
    half = steps // 2
    return OPS["torch.cat"]([first + step * i[:half], (last - step * i[:steps - half]).flip(0)])


@op(method=False, samples=Samples([call(0, 1, 5), call(3, -10, 4), call(1, 2, 1), call(1, 2, 0), call(Draw(), 2, 3),
                                   call(4.3, -3, 50, dtype=int64), call(4.3, -3, 5, dtype=uint8)], gradcheck=False))
def linspace(start, end, steps=100, *, dtype=None, out=None, layout=None, device=None, requires_grad=False):
    """``steps`` numbers from ``start`` to ``end``, both included."""
    import numpy as np
    steps = _check_ends("linspace", start, end, steps)
    if steps > 1 << 58:
        raise RuntimeError(f"Storage size calculation overflowed with sizes=[{steps}]")
    start, end = _numbers(start, end)
    if out is not None:
        dtype = out.dtype
    elif dtype is None:
        dtype = get_default_dtype()
        if isinstance(start, complex) or isinstance(end, complex):
            dtype = dtype.to_complex()
    if dtype.name == "bool":
        raise NotImplementedError("\"linspace_cpu\" not implemented for 'Bool'")
    if not (dtype.is_floating_point or dtype.is_complex):
        start, end = (int(np.int64(x).astype(dtype.name)) for x in _whole(start, end))
    if dtype.is_floating_point and dtype.itemsize == 2:
        return _finish(_short_linspace(start, end, steps, dtype, _there(device, out)), out, device, requires_grad)
    if not dtype.is_complex and _there(device, out) is not None:
        from .._gpu._dense import fill_linspace
        t = factory.new_empty((steps,), dtype, None, _there(device, out))
        fill_linspace(t, start, end)
        return _finish(t, out, device, requires_grad)
    if dtype.is_complex:
        t = _complex_linspace(start, end, steps, np.dtype(dtype.name).type)
    else:
        t = ranges.spaced(steps, start, end, dtype if dtype.is_floating_point else float64)
    return _finish(factory.cast(t, dtype), out, device, requires_grad)


def _complex_linspace(start, end, steps, work):
    """``linspace`` of complex numbers of the NumPy type work."""
    import numpy as np
    step = (work(end) - work(start)) / work(steps - 1) if steps > 1 else work(0)
    i = np.arange(steps)
    first = i < max(steps // 2, 1)             # from both ends towards the middle: the last value is exact
    values = np.where(first, step, -step) * np.where(first, i, steps - 1 - i) + np.where(first, work(start), work(end))
    return wrap_ndarray(values.astype(work))


@op(method=False, samples=Samples([call(0, 2, 5), call(0, 1, 3, 2), call(1, 2, steps=2), call(2, 1.2, 4, dtype=int64),
                                   call(4.3, 0, 4, 2.7, dtype=uint8)], gradcheck=False))
def logspace(start, end, steps=100, base=10.0, *, dtype=None, out=None, layout=None, device=None,
             requires_grad=False):
    """``steps`` powers of ``base``, with exponents from ``start`` to ``end``."""
    import numpy as np
    dtype = out.dtype if out is not None else dtype or get_default_dtype()
    steps = _check_ends("logspace", start, end, steps)
    if dtype.name == "bool":
        raise NotImplementedError("\"logspace_cpu\" not implemented for 'Bool'")
    if not (dtype.is_floating_point or dtype.is_complex):
        start, end = _whole(*_numbers(start, end))
    exponents = linspace(start, end, steps, dtype=float64)._ndarray()
    t = factory.cast(wrap_ndarray(np.power(float(base), exponents)), dtype)
    return _finish(t, out, device, requires_grad)


# ---------------------------------------------------------------- matrices

@op(method=False, samples=Samples([call(3), call(2, 3), call(2, 0), call(n=2)], gradcheck=False))
def eye(n, m=None, *, dtype=None, out=None, layout=None, device=None, requires_grad=False):
    """An n by m matrix (m: n) with ones on the diagonal."""
    m = n if m is None else m
    for name, size in (("n", n), ("m", m)):
        if isinstance(size, bool) or not hasattr(size, "__index__"):
            raise TypeError(f"eye(): argument '{name}' (position {1 + (name == 'm')}) must be int, not "
                            f"{type(size).__name__}")
        if size < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {size}")
    t = factory.zeros(n, m, dtype=out.dtype if out is not None else dtype, device=_there(device, out))
    t.diagonal().fill_(1)
    return _finish(t, out, device, requires_grad)


def _triangle_indices(name, lower):
    @op(name=name, method=False, samples=Samples([call(2, 3), call(3, 3, 1), call(3, 4, -1), call(0, 3)],
                                                 gradcheck=False))
    def forward(row, col, offset=0, *, dtype=None, device=None, layout=None):
        for place, (what, n) in enumerate((("row", row), ("col", col), ("offset", offset)), 1):
            if isinstance(n, bool) or not hasattr(n, "__index__"):
                raise TypeError(f"{name}(): argument '{what}' (position {place}) must be int, not {type(n).__name__}")
            if n < 0 and what != "offset":
                raise RuntimeError(f"{what} must be non-negative, got{n}")
        if dtype is not None and dtype.name not in ("int64", "int32"):
            raise NotImplementedError(f"\"{name}\" not implemented for '{_scalar_type(dtype)}'")
        t = ranges.triangle(row, col, offset, lower)
        return _finish(t if dtype is None else t.to(dtype), None, device, False)
    forward.__doc__ = f"Rows and columns of the {'lower' if lower else 'upper'} triangle of a matrix, a (2, n) tensor."


_triangle_indices("tril_indices", True)
_triangle_indices("triu_indices", False)


@op(method=False, samples=Samples([call(Draw(3)), call(Draw(4), 2), call(Draw(3), 3, True)], "number"))
def vander(x, N=None, increasing=False):
    """The powers of the elements as columns, the highest first (or last)."""
    if x.dim() != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    if x.dtype.name in ("float16", "bfloat16"):
        raise RuntimeError("linalg.vander supports floating point, complex, and integer tensors, but got "
                           f"{scalar_type(x.dtype)}")
    if not x.is_floating_point() and not x.is_complex():
        x = x.to(int64)
    n = x.shape[0] if N is None else N
    if n < 0:
        raise RuntimeError("N must be non-negative.")
    from .joining import cat, stack
    columns = [x.new_ones(x.shape)]
    for _ in range(n - 1):
        columns.append(columns[-1] * x)
    columns = columns[:n] if increasing else columns[:n][::-1]
    return stack(columns, -1) if columns else cat([x.new_empty((x.shape[0], 0))])


# ---------------------------------------------------------------- window functions

def _window(name, formula, calls, **parameters):
    def forward(window_length, periodic=True, *args, dtype=None, layout=None, device=None, requires_grad=False,
                pin_memory=False, **kwargs):
        import numpy as np
        window_length = index(window_length)
        if window_length < 0:
            raise RuntimeError(f"{name} requires non-negative window_length, got window_length={window_length}")
        dtype = dtype or get_default_dtype()
        if not (dtype.is_floating_point or dtype.is_complex):
            raise RuntimeError(f"{name} expects floating point dtypes, got: {dtype}")
        if dtype.is_complex and window_length > 1:
            raise NotImplementedError(f'"arange_cpu" not implemented for \'{_scalar_type(dtype)}\'')
        values = dict(parameters, **dict(zip(parameters, args)), **kwargs)
        if len(args) > len(parameters) or set(values) - set(parameters):
            raise TypeError(f"{name}() got unexpected arguments")
        n = window_length + bool(periodic)
        x = np.arange(window_length) / max(n - 1, 1)
        t = wrap_ndarray(formula(np, x, **values) if window_length != 1 else np.ones(1))
        return _finish(t.to(dtype), None, device, requires_grad)
    forward.__name__ = name
    forward.__doc__ = f"The {name[:-7]} window of a length; periodic: as part of a longer signal."
    op(forward, method=False, samples=Samples(calls, gradcheck=False))


_lengths = [call(6), call(5, False), call(1), call(0)]
_window("hann_window", lambda np, x: 0.5 - 0.5 * np.cos(2 * math.pi * x), _lengths)
_window("hamming_window", lambda np, x, alpha, beta: alpha - beta * np.cos(2 * math.pi * x),
        _lengths + [call(6, True, 0.5, 0.4)], alpha=0.54, beta=0.46)
_window("blackman_window", lambda np, x: 0.42 - 0.5 * np.cos(2 * math.pi * x) + 0.08 * np.cos(4 * math.pi * x),
        _lengths)
_window("bartlett_window", lambda np, x: 1 - np.abs(2 * x - 1), _lengths)
def _kaiser(np, x, beta):
    from scipy.special import i0
    return i0(beta * np.sqrt(np.maximum(1 - (2 * x - 1) ** 2, 0))) / i0(beta)


_window("kaiser_window", _kaiser, _lengths + [call(4, False, 5.0)], beta=12.0)


def _finish(t, out, device, requires_grad):
    if device is not None:
        t = factory.on_device(t, as_device(device))
    if out is not None:
        if not isinstance(out, TensorBase):
            raise TypeError(f"argument 'out' must be Tensor, not {type(out).__name__}")
        out.resize_(t.shape).copy_(t)
        return out
    return t.requires_grad_() if requires_grad else t
