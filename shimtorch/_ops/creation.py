"""New tensors: filled, ranges, like another; copies and casts."""
from .._core import OPS, factory
from .._core.autograd import make_detached
from .._core.device import as_device
from .._core.dtype import dtype as dtype_class
from .._core.dtype import get_default_dtype, int64
from .._core.op import inplace_op, op
from .._core.policy import policy
from .._core.tensor import TensorBase, wrap_ndarray
from . import samples


def _like(name, make, samples=samples.unary(dtypes="number", gradcheck=False)):
    def forward(self, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False,
                memory_format=None):
        if device is not None:
            as_device(device)
        t = make(self.detach(), self.dtype if dtype is None else dtype)
        return t.requires_grad_() if requires_grad else t
    forward.__name__ = name
    forward.__doc__ = f"A tensor of the shape of self, made as ``{name[:-5]}`` makes one."
    return op(forward, method=False, samples=samples)


def _empty_like(x, dtype):
    if not x.is_contiguous():
        return factory.clone(x if x.dtype is dtype else factory.cast(x, dtype))
    return factory.new_empty(x.shape, dtype)


empty_like = _like("empty_like", _empty_like, None)
zeros_like = _like("zeros_like", lambda x, dtype: factory.zero(_empty_like(x, dtype)))
ones_like = _like("ones_like", lambda x, dtype: factory.fill(_empty_like(x, dtype), 1))


@op(method=False)
def full_like(self, fill_value, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False,
              memory_format=None):
    """A tensor of the shape of self with every element ``fill_value``."""
    t = factory.fill(_empty_like(self.detach(), self.dtype if dtype is None else dtype), fill_value)
    return t.requires_grad_() if requires_grad else t


def _new(name, make):
    def forward(self, *size, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
        if device is not None:
            as_device(device)
        t = make(factory.new_empty(size, self.dtype if dtype is None else dtype))
        return t.requires_grad_() if requires_grad else t
    forward.__name__ = name
    forward.__doc__ = "A tensor of the given size and, unless told otherwise, of this one's dtype."
    return op(forward, function=False, renames={"size": "size"})


_new("new_empty", lambda t: t)
_new("new_zeros", factory.zero)
_new("new_ones", lambda t: factory.fill(t, 1))


@op(function=False)
def new_full(self, size, fill_value, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    """A tensor of the given size with every element ``fill_value``, of this one's dtype."""
    t = factory.fill(factory.new_empty(size, self.dtype if dtype is None else dtype), fill_value)
    return t.requires_grad_() if requires_grad else t


@op(function=False)
def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    """A copy of data as a tensor of this one's dtype."""
    t = factory.from_data(data, self.dtype if dtype is None else dtype, True)
    return t.requires_grad_() if requires_grad else t


@op(function=False)
def new(self, *args):
    """The legacy constructor for tensors of this one's type: ``x.new(2, 3)``, ``x.new([1, 2])``."""
    from .._tensor import Tensor, legacy_new
    return legacy_new(Tensor, self.dtype, args)


# ---------------------------------------------------------------- ranges

def _range_dtype(dtype, values):
    if dtype is not None:
        return dtype
    if any(isinstance(v, float) or (isinstance(v, TensorBase) and v.is_floating_point()) for v in values):
        return get_default_dtype()
    return get_default_dtype() if policy.float_ranges else int64


def arange(start=0, end=None, step=1, *, dtype=None, out=None, layout=None, device=None, requires_grad=False,
           pin_memory=False):
    """The numbers from ``start`` to below ``end`` in steps of ``step``: a 1-d tensor, int64 if all are ints."""
    import numpy as np
    if end is None:
        start, end = 0, start
    dtype = _range_dtype(dtype, (start, end, step))
    start, end, step = (v.item() if isinstance(v, TensorBase) else v for v in (start, end, step))
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    n = max(-int(-((end - start) // step)) if isinstance((end - start) / step, float) and all(
        isinstance(v, int) for v in (start, end, step)) else 0, 0)
    if all(isinstance(v, int) for v in (start, end, step)):
        n = len(range(start, end, step))
        values = np.arange(n, dtype=np.int64) * step + start
    else:
        import math
        n = max(math.ceil((end - start) / step), 0)
        values = np.arange(n, dtype=np.float64) * step + start
    t = factory.cast(wrap_ndarray(values), dtype)
    return _finish(t, out, device, requires_grad)


def range_(start=0, end=None, step=1, *, dtype=None, out=None, layout=None, device=None, requires_grad=False):
    """The numbers from ``start`` to ``end``, which is included, in steps of ``step`` (an old function)."""
    import math

    import numpy as np
    if end is None:
        start, end = 0, start
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    n = math.floor((end - start) / step) + 1
    t = factory.cast(wrap_ndarray(np.arange(n, dtype=np.float64) * step + start), dtype or get_default_dtype())
    return _finish(t, out, device, requires_grad)


def linspace(start, end, steps=100, *, dtype=None, out=None, layout=None, device=None, requires_grad=False):
    """``steps`` numbers from ``start`` to ``end``, both included."""
    import numpy as np
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    dtype = get_default_dtype() if dtype is None else dtype
    start, end = (v.item() if isinstance(v, TensorBase) else v for v in (start, end))
    work = np.float32 if dtype.name == "float32" else np.float64
    step = work((end - start) / (steps - 1)) if steps > 1 else work(0)
    i = np.arange(steps, dtype=work)
    # from both ends towards the middle, as torch does, so that the last value is exact
    values = np.where(np.arange(steps) < steps // 2, work(start) + step * i, work(end) - step * (steps - 1 - i))
    if steps == 1:
        values = np.array([start], dtype=work)
    return _finish(factory.cast(wrap_ndarray(values.astype(work)), dtype), out, device, requires_grad)


def logspace(start, end, steps=100, base=10.0, *, dtype=None, out=None, layout=None, device=None,
             requires_grad=False):
    """``steps`` powers of ``base``, with exponents from ``start`` to ``end``."""
    import numpy as np
    exponents = linspace(start, end, steps, dtype=None)._ndarray().astype(np.float64)
    t = factory.cast(wrap_ndarray(np.power(float(base), exponents)), dtype or get_default_dtype())
    return _finish(t, out, device, requires_grad)


def eye(n, m=None, *, dtype=None, out=None, layout=None, device=None, requires_grad=False):
    """An n by m matrix (m: n) with ones on the diagonal."""
    import numpy as np
    for size in (n, n if m is None else m):
        if size < 0:
            raise RuntimeError(f"n must be greater or equal to 0, got {size}")
    t = factory.cast(wrap_ndarray(np.eye(n, m, dtype=np.float32)), dtype or get_default_dtype())
    return _finish(t, out, device, requires_grad)


def _finish(t, out, device, requires_grad):
    if device is not None:
        as_device(device)
    if out is not None:
        out.resize_(t.shape).copy_(t)
        return out
    return t.requires_grad_() if requires_grad else t


# ---------------------------------------------------------------- copies and casts

@op(samples=samples.unary(dtypes="number"), grads={"self": lambda g: g})
def clone(self, *, memory_format=None):
    """A copy that gradients flow through."""
    return factory.clone(self, memory_format=memory_format)


op(factory.contiguous, name="contiguous", function=False, samples=samples.unary(dtypes="number"),
   backward_name="CloneBackward0", grads={"self": lambda g: g})


@op(samples=samples.unary(dtypes="number"), sparse=True)
def detach(self):
    """The same memory without history."""
    return make_detached(self)


@op(grads={"self": lambda g: g}, method=False, function=False, backward_name="ToCopyBackward0", name="to_dtype")
def _to_dtype(self, dtype):
    return factory.cast(self, dtype)


@op(function=False, name="to", method=True, samples=samples.Samples([
    samples.call(samples.Draw(2, 3), get_default_dtype())]))
def to(self, *args, dtype=None, device=None, non_blocking=False, copy=False, memory_format=None):
    """This tensor on a device and in a dtype: ``to(dtype)``, ``to(device, dtype)``, ``to(other)``; itself if it is."""
    for arg in args:
        if isinstance(arg, dtype_class):
            dtype = arg
        elif isinstance(arg, TensorBase):
            dtype, device = arg.dtype, arg.device
        elif isinstance(arg, bool):
            non_blocking = arg
        elif arg is not None:
            device = as_device(arg)
    if device is not None:
        as_device(device)
    if dtype is None or dtype is self.dtype:
        return self.clone(memory_format=memory_format) if copy or (
            memory_format is not None and not self.is_contiguous(memory_format)) else self
    return OPS["torch.to_dtype"](self, dtype)


OPS["torch.to"] = to


def _cast_method(name, dtype):
    def forward(self, memory_format=None):
        return self.to(_DTYPES[dtype])
    forward.__name__ = name
    forward.__doc__ = f"This tensor in dtype torch.{dtype}."
    op(forward, function=False, sparse=True, samples=samples.unary(dtypes="number", gradcheck=False))


_DTYPES = {}


def _cast_methods():
    from .._core.dtype import all_dtypes
    _DTYPES.update({d.name: d for d in all_dtypes()})
    for name, dtype in (("float", "float32"), ("double", "float64"), ("half", "float16"), ("bfloat16", "bfloat16"),
                        ("long", "int64"), ("int", "int32"), ("short", "int16"), ("char", "int8"), ("byte", "uint8"),
                        ("bool", "bool"), ("cfloat", "complex64"), ("cdouble", "complex128")):
        _cast_method(name, dtype)


_cast_methods()


@op(function=False)
def type_as(self, other):
    """This tensor in the dtype (and on the device) of another."""
    return self.to(other.dtype)


@inplace_op(grads={"self": lambda g: g * 0, "src": lambda g: g})
def copy_(self, src, non_blocking=False):
    """Write src, broadcast and cast, into this tensor."""
    return factory.copy_from(self, src)


@inplace_op(grads={"self": lambda g: g * 0}, function=True)
def fill_(self, value):
    """Set every element."""
    return factory.fill(self, value)


@inplace_op(grads={"self": lambda g: g * 0}, function=True)
def zero_(self):
    """Set every element to 0."""
    return factory.zero(self)
