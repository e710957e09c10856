"""Storages under the name of their module (torch.storage)."""
from ._storages import CLASSES as _dtype_to_storage_class
from ._storages import TypedStorage, UntypedStorage
from ._storages import _Storage as _StorageBase  # noqa: F401  (the base of all, as torch.storage names it)

__all__ = ["TypedStorage", "UntypedStorage"]

_TypedStorage, _LegacyStorage, _UntypedStorage = TypedStorage, TypedStorage, UntypedStorage


def _load_from_bytes(b):
    """What ``torch.save`` wrote to these bytes: pickled storages name this function."""
    import io

    from .serialization import load

    return load(io.BytesIO(b), weights_only=False)


def _dump_to_bytes(storage):
    """A storage as a file of its own."""
    import io

    from .serialization import save

    file = io.BytesIO()
    save(storage, file, _use_new_zipfile_serialization=False)
    return file.getvalue()


def _dtype_to_storage_type_map():
    """The names of the storage classes by dtype."""
    return {dtype: cls.__name__ for dtype, cls in _dtype_to_storage_class.items()}


def _storage_type_to_dtype_map():
    """The dtypes by the names of their storage classes."""
    return {name: dtype for dtype, name in _dtype_to_storage_type_map().items()}
