"""What the formats share in reading: an unpickler that finds our classes, and storages made when they are asked for."""
import pickle

from .._storages import UntypedStorage, _Storage
from . import locations, names
from .safe import SafeUnpickler


def unpickle(file, persistent_load, pickle_module, encoding, errors):
    """Read one pickle. Without a ``pickle_module`` only what is known to be harmless is made."""
    if pickle_module is None:
        return SafeUnpickler(file, persistent_load, encoding, errors).load()

    class Unpickler(pickle_module.Unpickler):
        def find_class(self, module, name):
            if names.is_torch(module):
                return names.find(module, name)
            return super().find_class(module, name)

        def persistent_load(self, saved_id):
            return persistent_load(saved_id)

    return Unpickler(file, encoding=encoding, errors=errors).load()


def decoded(text):
    """A string that a Python 2 pickle may have as bytes."""
    return text.decode("ascii") if isinstance(text, bytes) else text


class Loaded:
    """The storages of a file, made when the pickle first names them, and moved to where ``map_location`` says."""

    def __init__(self, map_location):
        self._restore = locations.restorer(map_location)
        self._placed = {}                  # key -> Storage of the core

    def __contains__(self, key):
        return key in self._placed

    def place(self, key, location, storage):
        """Enter the bytes of a new storage, an UntypedStorage, under its key."""
        restored = self._restore(storage, decoded(location))
        if not isinstance(restored, _Storage):
            raise RuntimeError(f"map_location must return a storage, not {type(restored).__name__}")
        self._placed[key] = restored._memory()

    def typed(self, key, cls):
        """The storage of a key as one of the class that the pickle names."""
        return cls._on(self._placed[key])


def storage_class(kind):
    """The storage class that a persistent id names; dtypes and bytes count too."""
    if isinstance(kind, type) and issubclass(kind, _Storage):
        return kind if kind.dtype is not None else UntypedStorage
    raise pickle.UnpicklingError(f"a storage's type must be a storage class, not {kind!r}")


def byte_count(cls, numel):
    """How many bytes ``numel`` elements take; UnpicklingError for what is no number of elements."""
    if type(numel) is not int or not 0 <= numel < 1 << 60:
        raise pickle.UnpicklingError(f"a storage cannot have {numel!r} elements")
    return numel * cls.dtype.itemsize
