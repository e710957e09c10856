"""Storages as Python sees them: ``torch.FloatStorage`` and its kin, ``torch.UntypedStorage``."""
from ._core import factory
from ._core.dtype import all_dtypes, uint8
from ._core.tensor import TensorBase
from ._tensor import Tensor


class _Storage:
    """A one-dimensional run of elements; tensors view it."""

    __slots__ = ("_flat",)             # a one-dimensional tensor over the whole memory
    dtype = None

    def __init__(self, *args):
        if len(args) > 1:
            raise TypeError(f"{type(self).__name__}() takes at most one argument, got {len(args)}")
        if not args:
            self._flat = factory.new_empty((0,), self.dtype)
        elif isinstance(args[0], int):
            self._flat = factory.new_empty((args[0],), self.dtype)
        elif isinstance(args[0], _Storage):
            self._flat = args[0]._flat
        else:
            self._flat = factory.from_data(list(args[0]), self.dtype, True)

    @classmethod
    def _of_flat(cls, flat):
        self = object.__new__(cls)
        self._flat = flat
        return self

    def _memory(self):
        return self._flat._memory()

    def _tensor(self):
        """A tensor over the storage."""
        return self._flat.detach()

    def __len__(self):
        return self._flat.numel()

    size = __len__

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)._of_flat(self._flat[index])
        n = len(self)
        if not -n <= index < n:
            raise IndexError(f"index {index} out of range for storage of size {n}")
        return self._flat[index].item()

    def __setitem__(self, index, value):
        self._flat[index] = value

    def __iter__(self):
        return iter(self.tolist())

    def __eq__(self, other):
        return isinstance(other, _Storage) and self.data_ptr() == other.data_ptr() and len(self) == len(other)

    def __hash__(self):
        return hash((self.data_ptr(), len(self)))

    def tolist(self):
        """The elements as a list of Python numbers."""
        return self._flat.tolist()

    def data_ptr(self):
        """Address of the first element."""
        return self._flat.data_ptr()

    def element_size(self):
        """Bytes per element."""
        return self._flat.element_size()

    def nbytes(self):
        """Bytes in all."""
        return len(self) * self.element_size()

    def fill_(self, value):
        """Set every element."""
        self._flat.fill_(value)
        return self

    def copy_(self, source, non_blocking=None):
        """Write another storage's elements, converted, into this one."""
        self._flat.copy_(source._flat)
        return self

    def clone(self):
        """A copy."""
        return type(self)._of_flat(self._flat.clone())

    def resize_(self, size):
        """Change the number of elements; what fits is kept."""
        flat = self._flat
        factory.grow_storage(flat, size * flat.element_size())
        factory.set_geometry(flat, flat._memory(), 0, (size,), (1,))
        return self

    def _new_shared(self, size):
        raise NotImplementedError(f"{type(self).__name__}._new_shared is not implemented")

    def is_shared(self):
        return False

    def pin_memory(self, device=None):
        return self

    def is_pinned(self, device=None):
        return False

    @property
    def is_cuda(self):
        return False

    @property
    def device(self):
        return self._flat.device

    def get_device(self):
        return -1

    def cpu(self):
        """This storage: it is on the CPU."""
        return self

    def cuda(self, device=None, non_blocking=False):
        return type(self)._of_flat(self._flat.cuda(device))

    def __copy__(self):
        return self.clone()

    def __deepcopy__(self, memo):
        key = ("storage", self._memory())      # one copy for all that share the memory
        shared = memo.setdefault("shimtorch.storages", {})
        if key not in shared:
            shared[key] = self.clone()
        return shared[key]

    def __sizeof__(self):
        return self.nbytes()

    def __repr__(self):
        lines = [f" {x}" for x in self.tolist()]
        return "\n".join(lines + [f"[torch.{type(self).__name__} of size {len(self)}]"])


class TypedStorage(_Storage):
    """A storage whose elements have a dtype."""

    __slots__ = ()

    def __reduce__(self):
        return rebuild_storage, (type(self), self.dtype, self._flat.contiguous()._bytes())

    def type(self, dtype=None):
        """The name of the storage type, or a storage of another."""
        if dtype is None:
            return "torch." + type(self).__name__
        target = dtype if isinstance(dtype, type) else CLASSES[dtype]
        return target._of_flat(self._flat.to(target.dtype))

    def untyped(self):
        """The bytes."""
        return UntypedStorage._of(self._flat)

    _untyped_storage = property(untyped)

    def _convert(self, dtype):
        return self if self.dtype is dtype else CLASSES[dtype]._of_flat(self._flat.to(dtype))


class UntypedStorage(_Storage):
    """The bytes of a storage."""

    __slots__ = ()
    dtype = uint8

    @classmethod
    def _of(cls, tensor):
        flat = TensorBase.__new__(Tensor)
        memory = tensor._memory()
        factory.set_geometry(flat, memory, 0, (len(memory),), (1,), uint8)
        return cls._of_flat(flat)

    def __reduce__(self):
        return rebuild_storage, (type(self), self.dtype, self._flat._bytes())


def rebuild_storage(cls, dtype, data):
    """A storage of pickled bytes."""
    import numpy as np
    flat = factory.from_data(np.frombuffer(data, dtype=np.uint8), None, True)
    return cls._of_flat(flat.view(dtype) if dtype is not uint8 else flat)


# class name -> dtype, as torch names them
NAMES = {
    "BoolStorage": "bool", "ByteStorage": "uint8", "CharStorage": "int8", "ShortStorage": "int16",
    "IntStorage": "int32", "LongStorage": "int64", "HalfStorage": "float16", "BFloat16Storage": "bfloat16",
    "FloatStorage": "float32", "DoubleStorage": "float64", "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
}
CLASSES = {}


def _make_classes():
    by_name = {d.name: d for d in all_dtypes()}
    for name, dtype in NAMES.items():
        cls = type(name, (TypedStorage,), {"__slots__": (), "dtype": by_name[dtype], "__module__": "shimtorch",
                                           "__doc__": f"A storage of torch.{dtype} elements."})
        CLASSES[by_name[dtype]] = globals()[name] = cls
    for method, dtype in (("bool", "bool"), ("byte", "uint8"), ("char", "int8"), ("short", "int16"), ("int", "int32"),
                          ("long", "int64"), ("half", "float16"), ("float", "float32"), ("double", "float64")):
        def convert(self, _dtype=by_name[dtype]):
            return self._convert(_dtype)
        convert.__name__ = method
        setattr(TypedStorage, method, convert)


_make_classes()


def storage_class(dtype):
    """The storage class of a dtype."""
    if dtype not in CLASSES:
        raise NotImplementedError(f"a storage of {dtype} is not implemented")
    return CLASSES[dtype]


def typed_storage(tensor):
    """The storage of a dense tensor, seen as elements of its dtype."""
    flat = TensorBase.__new__(Tensor)
    memory = tensor._memory()
    factory.set_geometry(flat, memory, 0, (len(memory) // tensor.element_size(),), (1,), tensor.dtype)
    return storage_class(tensor.dtype)._of_flat(flat)


__all__ = ["TypedStorage", "UntypedStorage", *NAMES]
