"""Storages as Python sees them: ``torch.FloatStorage`` and its kin, ``torch.UntypedStorage``."""
from ._core import factory
from ._core.dtype import all_dtypes, uint8
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
            start, stop, step = index.indices(len(self))
            if step != 1:
                raise RuntimeError(f"Trying to slice with a step of {step}, but only a step of 1 is supported")
            size = self.element_size()
            return type(self)._on(self._memory().part(start * size, max(stop - start, 0) * size))
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

    @classmethod
    def _new_shared(cls, size, *, device="cpu"):
        """A storage of ``size`` elements in shared memory."""
        return cls(size).share_memory_()

    def is_shared(self):
        """Whether the memory is shared between processes."""
        return self._memory().shared is not None

    def share_memory_(self):
        """Move the memory to shared memory, in place: other processes see what is written to it."""
        from ._core.shared import share
        share(self._memory())
        return self

    def pin_memory(self, device=None):
        """A copy in pinned memory, which CUDA devices read by themselves; this storage where there is no device."""
        return type(self)._of_flat(self._flat.pin_memory())

    def is_pinned(self, device=None):
        """Whether the memory is pinned."""
        return self._flat.is_pinned()

    @property
    def is_cuda(self):
        return self._flat.is_cuda

    @property
    def device(self):
        return self._flat.device

    def get_device(self):
        return self._flat.get_device()

    is_sparse = False

    def new(self, *args):
        """A storage of the same class: see the class's constructor."""
        return type(self)(*args)

    def cpu(self):
        """This storage if it is on the CPU, else a copy there."""
        return self if not self.is_cuda else type(self)._of_flat(self._flat.cpu())

    def cuda(self, device=None, non_blocking=False):
        """A copy on a CUDA device."""
        return type(self)._of_flat(self._flat.cuda(device, non_blocking))

    def __copy__(self):
        return self.clone()

    def __deepcopy__(self, memo):
        memory = self._memory().root()         # one copy for all that share the memory
        copies = memo.setdefault("shimtorch.storages", {})
        if memory not in copies:
            copies[memory] = UntypedStorage._of(self._flat).clone()._memory()
        return self._on(copies[memory])

    @classmethod
    def _on(cls, memory):
        """A storage of this class on a whole block of memory."""
        flat = factory.blank(Tensor, cls.dtype)
        factory.set_geometry(flat, memory, 0, (len(memory) // cls.dtype.itemsize,), (1,))
        return cls._of_flat(flat)

    def _bytes(self):
        """The memory as a memoryview of bytes: writable, or of a device a copy."""
        return memoryview(UntypedStorage._of(self._flat)._flat.cpu().numpy())

    def __reduce__(self):
        from .storage import _dump_to_bytes, _load_from_bytes
        return _load_from_bytes, (_dump_to_bytes(self),)

    def _write_file(self, f, is_real_file, save_size, element_size):
        """Write the bytes to a file, after the number of elements if ``save_size``."""
        if save_size:
            f.write((self.nbytes() // element_size).to_bytes(8, "little"))
        f.write(self._bytes())

    @classmethod
    def from_file(cls, filename, shared=False, size=0):
        """A storage on the first ``size`` elements of a file; with ``shared``, it is written through to it."""
        import numpy as np
        nbytes = size * cls.dtype.itemsize
        if shared:
            with open(filename, "ab") as f:
                if f.tell() < nbytes:
                    f.truncate(nbytes)
        if nbytes:
            array = np.memmap(filename, np.uint8, "r+" if shared else "c", shape=(nbytes,))
        else:
            array = np.zeros(0, np.uint8)
        return cls._on(factory.as_tensor(np.asarray(array))._memory())

    @classmethod
    def from_buffer(cls, buffer, byte_order=None, count=-1, offset=0):
        """A storage of a copy of a buffer's elements, whose byte order is "native", "little" or "big"."""
        import numpy as np
        size = cls.dtype.itemsize
        if byte_order not in ("native", "little", "big") and size > 1:
            raise ValueError(f"invalid byte_order '{byte_order}' (expected 'big', 'little', or 'native')")
        available = memoryview(buffer).nbytes - offset
        if offset < 0 or available < 0:
            raise ValueError(f"offset must be non-negative and no greater than buffer length ({available + offset}), "
                             f"but got {offset}")
        if count < 0:
            if available % size:
                raise ValueError(f"buffer size ({available}) must be a multiple of element size ({size})")
            count = available // size
        elif count * size > available:
            raise ValueError(f"buffer has only {available // size} elements after offset {offset}, but specified a "
                             f"size of {count}")
        data = np.frombuffer(buffer, np.uint8, count * size, offset).copy()
        result = cls._on(factory.as_tensor(data)._memory())
        return result.byteswap() if byte_order == "big" else result

    def byteswap(self, dtype=None):
        """Reverse the bytes of every element (of each part of complex ones) in place."""
        dtype = dtype or self.dtype
        size = dtype.itemsize // 2 if dtype.is_complex else dtype.itemsize
        if size > 1:
            import numpy as np
            np.frombuffer(self._bytes(), f"u{size}").byteswap(inplace=True)
        return self

    def __sizeof__(self):
        return self.nbytes()

    def __repr__(self):
        lines = [f" {x}" for x in self.tolist()]
        return "\n".join(lines + [f"[torch.{type(self).__name__} of size {len(self)}]"])


class TypedStorage(_Storage):
    """A storage whose elements have a dtype."""

    __slots__ = ()
    __module__ = __name__.partition(".")[0] + ".storage"

    def type(self, dtype=None):
        """The name of the storage type, or a storage of another."""
        if dtype is None:
            return ("torch.cuda." if self.is_cuda else "torch.") + type(self).__name__
        target = dtype if isinstance(dtype, type) else CLASSES[dtype]
        return target._of_flat(self._flat.to(target.dtype))

    def untyped(self):
        """The bytes."""
        return UntypedStorage._of(self._flat)

    _untyped_storage = property(untyped)

    def pickle_storage_type(self):
        """The name of the class as pickles have it."""
        return type(self).__name__

    def _convert(self, dtype):
        return self if self.dtype is dtype else CLASSES[dtype]._of_flat(self._flat.to(dtype))


class UntypedStorage(_Storage):
    """The bytes of a storage."""

    __slots__ = ()
    __module__ = __name__.partition(".")[0] + ".storage"
    dtype = uint8

    @classmethod
    def _of(cls, tensor):
        return cls._on(tensor._memory())


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
        cls = type(name, (TypedStorage,), {"__slots__": (), "dtype": by_name[dtype],
                                           "__module__": __name__.partition(".")[0],
                                           "__doc__": f"A storage of torch.{dtype} elements."})
        CLASSES[by_name[dtype]] = globals()[name] = cls
    for method, dtype in (("bool", "bool"), ("byte", "uint8"), ("char", "int8"), ("short", "int16"), ("int", "int32"),
                          ("long", "int64"), ("half", "float16"), ("float", "float32"), ("double", "float64"),
                          ("bfloat16", "bfloat16"), ("complex_float", "complex64"), ("complex_double", "complex128")):
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
    return storage_class(tensor.dtype)._on(tensor._memory())


__all__ = ["TypedStorage", "UntypedStorage", *NAMES]
