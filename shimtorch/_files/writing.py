"""The pickle part of a file: objects as they are, tensors' storages as persistent ids."""
import io
import pickle
import struct

from .._core.dtype import dtype as dtype_class
from .._core.dtype import uint8
from .._storages import UntypedStorage, _Storage
from . import names


class Storages:
    """The blocks of memory that a file holds, by key; each once, whatever number of storages view it."""

    def __init__(self, make_key, make_id):
        self.blocks = {}                   # key -> Storage of the core
        self._known = {}                   # root Storage -> (key, dtype)
        self._itemsizes = {}
        self._make_key = make_key
        self._make_id = make_id

    def persistent_id(self, obj):
        """The persistent id of a storage; None for everything else."""
        if not isinstance(obj, _Storage):
            return None
        root = obj._memory().root()
        dtype = obj.dtype if obj.dtype is not uint8 or not isinstance(obj, UntypedStorage) else None
        if root not in self._known:
            key = self._make_key(root, len(self.blocks))
            self._known[root] = key, dtype
            self._itemsizes[key] = obj.dtype.itemsize
            self.blocks[key] = root
        key, first = self._known[root]
        if first is not dtype and first is not None and dtype is not None:
            raise RuntimeError("Cannot save multiple tensors or storages that view the same data as different types")
        return self._make_id(type(obj), key, len(root) // obj.dtype.itemsize)

    def itemsize(self, key):
        """Bytes per element of the block of a key, as it was first seen."""
        return self._itemsizes[key]


class _Naming:
    """Over a Pickler written in Python: writes the names that PyTorch has for things of ours."""

    def save_global(self, obj, name=None):
        """As the base class does, but for what is ours."""
        if isinstance(obj, dtype_class):
            written = "torch", obj.name
        else:
            own = name or getattr(obj, "__qualname__", None) or getattr(obj, "__name__", "")
            written = names.as_written(getattr(obj, "__module__", None) or "", own)
        if written is None:
            super().save_global(obj, name)
            return
        if self.proto >= 4:
            self.save(written[0])
            self.save(written[1])
            self.write(pickle.STACK_GLOBAL)
        else:
            self.write(pickle.GLOBAL + "{}\n{}\n".format(*written).encode("ascii"))
        self.memoize(obj)

    def save_type(self, obj):
        """Classes are named like everything else."""
        if obj in (type(None), type(NotImplemented), type(...)):
            super().save_type(obj)
        else:
            self.save_global(obj)


class _StandardPickler(_Naming, pickle._Pickler):
    dispatch = {**pickle._Pickler.dispatch, type: _Naming.save_type}


def dump(obj, persistent_id, pickle_module=None, protocol=2):
    """The pickle of an object as bytes. A ``pickle_module`` that is written in C names our classes by our modules."""
    if pickle_module is None or pickle_module is pickle:
        base = _StandardPickler
    elif issubclass(pickle_module.Pickler, pickle._Pickler):
        class base(_Naming, pickle_module.Pickler):
            pass
    else:
        base = pickle_module.Pickler
    pickler_class = type("Pickler", (base,), {"persistent_id": lambda self, obj: persistent_id(obj)})
    buffer = io.BytesIO()
    pickler_class(buffer, protocol=protocol).dump(obj)
    return buffer.getvalue()


def bytes_of(memory):
    """The bytes of a Storage of the core."""
    return UntypedStorage._on(memory)._bytes()


def count(n):
    """A 64-bit number as files have it."""
    return struct.pack("<q", n)
