"""The pickle part of a file: objects as they are, tensors' storages as persistent ids."""
import io
import pickle
import struct
from types import FunctionType

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
        return self._make_id(obj, key, len(root) // obj.dtype.itemsize)

    def itemsize(self, key):
        """Bytes per element of the block of a key, as it was first seen."""
        return self._itemsizes[key]


def _naming(base):
    """A class over a Pickler written in Python that writes the names which PyTorch has for things of ours."""
    class Pickler(base):
        dispatch = dict(base.dispatch)

        def save_global(self, obj, name=None):
            if not self._save_ours(obj, name):
                super().save_global(obj, name)

        def _save_ours(self, obj, name=None):
            """Write the name of what is ours; whether it is."""
            if isinstance(obj, dtype_class):
                written = "torch", obj.name
            else:
                own = name or getattr(obj, "__qualname__", None) or getattr(obj, "__name__", "")
                written = names.as_written(getattr(obj, "__module__", None) or "", own)
            if written is None:
                return False
            if self.proto >= 4:
                self.save(written[0])
                self.save(written[1])
                self.write(pickle.STACK_GLOBAL)
            else:
                self.write(pickle.GLOBAL + "{}\n{}\n".format(*written).encode("ascii"))
            self.memoize(obj)
            return True

    def save_named(self, obj):
        if not self._save_ours(obj):
            base.dispatch[FunctionType if isinstance(obj, FunctionType) else type](self, obj)

    Pickler.dispatch[type] = Pickler.dispatch[FunctionType] = save_named
    return Pickler


def dump(obj, persistent_id, pickle_module=None, protocol=2):
    """The pickle of an object as bytes. A ``pickle_module`` that is written in C names our classes by our modules."""
    if pickle_module is None or pickle_module is pickle:
        base = _naming(pickle._Pickler)
    elif issubclass(pickle_module.Pickler, pickle._Pickler):
        base = _naming(pickle_module.Pickler)
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
