"""Copies, casts, and values written over a whole tensor."""
from .._core import OPS, factory
from .._core.autograd import make_detached
from .._core.declaring import inplace_op, op
from .._core.device import as_device, preserve_format
from .._core.dtype import PYTHON_TYPES, all_dtypes, get_default_dtype
from .._core.dtype import dtype as dtype_class
from .._core.tensor import TensorBase
from . import samples
from .samples import Draw, Samples, call

_any = samples.unary(dtypes="number")
_DTYPES = {d.name: d for d in all_dtypes()}


@op(samples=_any, grads={"self": lambda g: g})
def clone(self, *, memory_format=None):
    """A copy that gradients flow through."""
    return factory.clone(self, memory_format=memory_format)


op(factory.contiguous, name="contiguous", function=False, samples=_any, backward_name="CloneBackward0",
   grads={"self": lambda g: g})


@op(samples=samples.unary(dtypes="number", gradcheck=False), sparse=True)
def detach(self):
    """The same memory without history."""
    return make_detached(self)


# ---------------------------------------------------------------- casts

@op(name="to_dtype", method=False, function=False, backward_name="ToCopyBackward0", grads={"self": lambda g: g})
def to_dtype(self, dtype):
    """A copy in another dtype."""
    return factory.cast(self, dtype)


@op(name="to_device", method=False, function=False, backward_name="ToCopyBackward0", aux=("origin",), cuda=True,
    grads={"self": lambda g, origin: to_device(g, origin)})
def to_device(self, device, non_blocking=False):
    """A copy on another device."""
    return factory.on_device(self, device, non_blocking), self.device


@op(function=False, samples=Samples([call(Draw(2, 3), get_default_dtype()), call(Draw(2, 3), "cpu"),
                                     call(Draw(2, 3), Draw(1)), call(Draw(2, 3), None, _DTYPES["float64"])],
                            gradcheck=(1, 3)))
def to(self, *args, dtype=None, device=None, non_blocking=False, copy=False, memory_format=None):
    """This tensor on a device and in a dtype: ``to(dtype)``, ``to(device, dtype)``, ``to(other)``; itself if it is."""
    flags = []
    if len(args) > 4:
        raise TypeError(f"to() received an invalid combination of arguments - got ("
                        f"{', '.join('Tensor' if isinstance(a, TensorBase) else type(a).__name__ for a in args)}), but "
                        "expected one of:\n * (torch.device device, torch.dtype dtype, bool non_blocking, bool copy)\n"
                        " * (torch.dtype dtype, bool non_blocking, bool copy)\n"
                        " * (Tensor tensor, bool non_blocking, bool copy)")
    for arg in args:
        if isinstance(arg, dtype_class):
            dtype = arg
        elif isinstance(arg, TensorBase):
            dtype, device = arg.dtype, arg.device
        elif isinstance(arg, bool):
            flags.append(arg)
        elif isinstance(arg, type) and arg in PYTHON_TYPES:
            dtype = PYTHON_TYPES[arg]
        elif arg is not None:
            device = as_device(arg)
    copy = copy or (len(flags) > 1 and flags[1])
    non_blocking = bool(non_blocking or (flags and flags[0]))
    if memory_format is not None and memory_format.name == "preserve_format":
        memory_format = None
    if device is not None and as_device(device) != self.device:
        self, copy = to_device(self, as_device(device), non_blocking), False
    if dtype is None or dtype is self.dtype:
        return self.clone(memory_format=memory_format) if copy or (
            memory_format is not None and not self.is_contiguous(memory_format)) else self
    result = to_dtype(self, dtype)
    return result if memory_format is None else result.contiguous(memory_format=memory_format)


OPS["torch.to"] = to


def _cast_method(name, dtype):
    def forward(self, memory_format=None):
        if self.dtype is dtype and memory_format in (None, preserve_format):
            return self
        return to(self, dtype, memory_format=memory_format)
    forward.__name__ = name
    forward.__doc__ = f"This tensor in dtype torch.{dtype.name}."
    op(forward, function=False, sparse=True, samples=samples.unary(
        dtypes="number", special=False, gradcheck=dtype.is_floating_point and dtype.itemsize > 4))


for _name, _dtype in (("float", "float32"), ("double", "float64"), ("half", "float16"), ("bfloat16", "bfloat16"),
                      ("long", "int64"), ("int", "int32"), ("short", "int16"), ("char", "int8"), ("byte", "uint8"),
                      ("bool", "bool"), ("cfloat", "complex64"), ("cdouble", "complex128")):
    _cast_method(_name, _DTYPES[_dtype])


@op(function=False, renames={"tensor": "other"},
    samples=Samples([call(Draw(3), Draw(1)), call(Draw(3), Draw(1, dtype="float64"))],
                    "number"))
def type_as(self, other):
    """This tensor in the dtype (and on the device) of another."""
    return self.to(other.device, other.dtype)


# ---------------------------------------------------------------- in place

@inplace_op(grads={"self": lambda g: g * 0, "src": lambda g: g}, renames={"other": "src"}, overloads=True,
            samples=Samples([call(Draw(3, 4), Draw(3, 4)), call(Draw(3, 4), Draw(4)), call(Draw(3, 4), 1),
                             call(Draw(3, 4), Draw(3, 1, dtype="float64"))], "number"))
def copy_(self, src, non_blocking=False, broadcast=True):
    """Write src, broadcast and cast, into this tensor."""
    return factory.copy_from(self, src, bool(non_blocking))


@inplace_op(function=True, overloads=True, minds_overlap=True,
            grads={"self": lambda g: g * 0, "value": lambda g: g.sum()},
            samples=Samples([call(Draw(3, 4), 1), call(Draw(3, 4), Draw()), call(Draw(), 0)], "number"))
def fill_(self, value):
    """Set every element."""
    return factory.fill(self, value)


@op(method=False, overloads=True, samples=Samples([call(Draw(3, 4), 1), call(Draw(3, 4), Draw())], "number"))
def fill(self, value):
    """A copy with every element set to a value."""
    return self.clone().fill_(value)


@inplace_op(function=True, minds_overlap=True, grads={"self": lambda g: g * 0},
            samples=Samples([call(Draw(3, 4)), call(Draw())], "number"))
def zero_(self):
    """Set every element to 0."""
    return factory.zero(self)
