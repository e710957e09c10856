"""The legacy tensor types: ``torch.FloatTensor(2, 3)``, ``isinstance(x, torch.LongTensor)``, ``x.type()``."""
from ._core.device import sparse_coo, strided
from ._core.dtype import all_dtypes, get_default_dtype, set_default_dtype
from ._core.dtype import dtype as _dtype_class
from ._core.policy import policy
from ._core.tensor import TensorBase
from ._tensor import Tensor, legacy_new

_NAMES = {
    "BoolTensor": "bool", "ByteTensor": "uint8", "CharTensor": "int8", "ShortTensor": "int16", "IntTensor": "int32",
    "LongTensor": "int64", "HalfTensor": "float16", "BFloat16Tensor": "bfloat16", "FloatTensor": "float32",
    "DoubleTensor": "float64", "ComplexFloatTensor": "complex64", "ComplexDoubleTensor": "complex128",
    "UInt16Tensor": "uint16", "UInt32Tensor": "uint32", "UInt64Tensor": "uint64",
}
_DTYPES = {d.name: d for d in all_dtypes()}
_TYPE_NAMES = {dtype: name for name, dtype in _NAMES.items()}


class TensorType(type):
    """The class of ``torch.FloatTensor`` and its kin: called they make tensors, isinstance looks at the dtype."""

    def __call__(cls, *args, device=None, **kwargs):
        if cls.is_cuda:
            from ._core.device import as_device
            index = as_device("cuda")
            if cls.layout is not strided:
                from ._ops.sparse import legacy_sparse_new
                return legacy_sparse_new(cls.dtype, args, kwargs).to(index)
            return legacy_new(Tensor, cls.dtype, args).to(index)
        if cls.layout is not strided:
            from ._ops.sparse import legacy_sparse_new
            return legacy_sparse_new(cls.dtype, args, kwargs)
        if kwargs:
            raise TypeError(f"new() got an unexpected keyword argument {next(iter(kwargs))!r}")
        return legacy_new(Tensor, cls.dtype, args)

    def __getattr__(cls, name):
        """Methods are those of Tensor."""
        if name.startswith("__"):
            raise AttributeError(f"type object {cls._name!r} has no attribute {name!r}")
        return getattr(Tensor, name)

    def __instancecheck__(cls, obj):
        return (isinstance(obj, TensorBase) and obj.dtype is cls.dtype and obj.is_cuda == cls.is_cuda
                and obj.layout is cls.layout and not (policy.two_types and is_variable(obj)))

    def __subclasscheck__(cls, other):
        return other is cls

    def __repr__(cls):
        return f"<class '{cls._name}'>"

    def __reduce__(cls):
        return find_type, (cls._name,)


def is_variable(obj):
    """Whether a tensor is a Variable of the 0.3 era."""
    from .autograd.variable import Variable
    return isinstance(obj, Variable)


def is_tensor(obj):
    """Whether obj is a tensor; in 0.3 a Variable is none."""
    return isinstance(obj, TensorBase) and not (policy.two_types and is_variable(obj))


TYPES = {}                             # by full name: 'torch.FloatTensor', 'torch.sparse.FloatTensor' ...


def _make(prefix, layout, is_cuda):
    for name, dtype in _NAMES.items():
        full = f"{prefix}.{name}"
        TYPES[full] = TensorType(name, (), {"__module__": "shimtorch" + prefix[5:], "_name": full, "layout": layout,
                                            "dtype": _DTYPES[dtype], "is_cuda": is_cuda,
                                            "is_sparse": layout is sparse_coo})


_make("torch", strided, False)
_make("torch.sparse", sparse_coo, False)
_make("torch.cuda", strided, True)
_make("torch.cuda.sparse", sparse_coo, True)


def types_of(prefix):
    """The typed constructors of a namespace, by short name."""
    return {full[len(prefix) + 1:]: t for full, t in TYPES.items() if full.rpartition(".")[0] == prefix}


def find_type(name):
    """The type of a full name such as ``'torch.FloatTensor'``."""
    if name in TYPES:
        return TYPES[name]
    if name == "torch.Tensor":
        return TYPES["torch." + _TYPE_NAMES[get_default_dtype().name]]
    raise ValueError(f"invalid type: '{name}'")


def type_name(tensor):
    """``x.type()``."""
    prefix = "torch.cuda" if tensor.is_cuda else "torch"
    if tensor.layout is not strided:
        prefix += "." + ("sparse" if tensor.layout is sparse_coo else tensor.layout.name)
    return f"{prefix}.{_TYPE_NAMES[tensor.dtype.name]}"


def as_type(tensor, target):
    """``x.type(target)``: target is a dtype, a tensor type or the name of one."""
    if isinstance(target, _dtype_class):
        return tensor.to(target)
    if target is Tensor:
        target = find_type("torch.Tensor")
    if isinstance(target, str):
        target = find_type(target)
    if not isinstance(target, TensorType):
        raise TypeError(f"type(): argument 'dtype' must be a torch type, not {type(target).__name__}")
    if target.is_cuda != tensor.is_cuda:
        tensor = tensor.cuda() if target.is_cuda else tensor.cpu()
    if target.layout is not tensor.layout:
        raise RuntimeError(f"type(): cannot change the layout from {tensor.layout} to {target.layout}")
    return tensor.to(target.dtype)


def set_default_tensor_type(t):
    """Set the dtype of tensors made from Python floats, named by a tensor type such as ``torch.DoubleTensor``."""
    if isinstance(t, str):
        t = find_type(t)
    if isinstance(t, _dtype_class):
        set_default_dtype(t)
        return
    if t is Tensor:
        return
    if not isinstance(t, TensorType):
        raise TypeError("invalid type object")
    if t.is_cuda:
        raise TypeError(f"type {t._name} not available. Torch not compiled with CUDA enabled.")
    set_default_dtype(t.dtype)
