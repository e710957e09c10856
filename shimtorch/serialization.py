"""``torch.save`` and ``torch.load`` (torch.serialization): the formats are in ``_files``."""
import os
import pickle

from ._core.device import find_layout as _get_layout  # noqa: F401  (pickles name it)
from ._core.policy import policy
from ._files import archive, legacy, opening, safe, tar
from ._files.legacy import MAGIC_NUMBER, PROTOCOL_VERSION
from ._files.locations import default_restore_location, location_tag, register_package, validate_cuda_device

__all__ = ["MAGIC_NUMBER", "PROTOCOL_VERSION", "SourceChangeWarning", "add_safe_globals", "clear_safe_globals",
           "default_restore_location", "get_safe_globals", "get_unsafe_globals_in_checkpoint", "load", "location_tag",
           "normalize_storage_type",
           "register_package", "safe_globals", "save", "storage_to_tensor_type", "validate_cuda_device"]

DEFAULT_PROTOCOL = 2
SHORT_SIZE, INT_SIZE, LONG_SIZE = 2, 4, 4      # bytes, as files of the stream format say
_YES = ("1", "y", "yes", "true")


def check_module_version_greater_or_equal(module, req_version_tuple, error_if_malformed=True):
    """Whether a module's version is at least a tuple of numbers; one that cannot be read raises, or warns and is."""
    try:
        return tuple(type(r)(v) for r, v in zip(req_version_tuple, module.__version__.split("."))) >= req_version_tuple
    except (AttributeError, ValueError, TypeError) as error:
        message = (f"'{module.__name__}' module version string is malformed '{module.__version__}' and cannot be "
                   f"compared with tuple {req_version_tuple}")
        if error_if_malformed:
            raise RuntimeError(message) from error
        import warnings
        warnings.warn(message + ", but continuing assuming that requirement is met", stacklevel=2)
        return True


class SourceChangeWarning(Warning):
    """A module's source differs from what it was when it was saved. Never given: sources are not compared here."""


def save(obj, f, pickle_module=None, pickle_protocol=DEFAULT_PROTOCOL, _use_new_zipfile_serialization=None,
         _disable_byteorder_record=False):
    """Write an object, with the tensors in it, to a path or an object with ``write``.

    The zip format of PyTorch 1.6 and later, or the stream of before with ``_use_new_zipfile_serialization=False``,
    which is the default in the eras of before.
    A path's old file stays as it is until the new one is complete. Storages that tensors share are written once.
    RuntimeError if the folder does not exist, or if tensors view the same memory as different dtypes.
    """
    zipped = policy.saves_zip if _use_new_zipfile_serialization is None else _use_new_zipfile_serialization
    with opening.to_write(f) as file:
        if zipped:
            root = os.path.splitext(os.path.basename(os.fspath(f)))[0] if opening.is_path(f) else ""
            if not root.isascii() or not root:
                root = "archive"
            from .utils.serialization import config
            archive.save(obj, file, root, pickle_module, pickle_protocol, config.save.storage_alignment)
        else:
            legacy.save(obj, file, pickle_module, pickle_protocol)


def load(f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, encoding="utf-8", errors="strict",
         fix_imports=True):
    """Read an object that ``save`` wrote, here or in any version of PyTorch, from a path or a seekable file.

    ``weights_only``: make nothing but tensors, containers and numbers, whatever the file says (the default from 2.6
    on); UnpicklingError for anything else. ``map_location``: a device for everything, a dict from tags to tags, or a
    function of a storage and its tag that returns a storage or None. ``mmap``: the tensors of a zip file lie on it,
    and are read when they are used. ``encoding``: of the strings in files that Python 2 wrote.
    """
    weights_only = _settle_weights_only(weights_only, pickle_module)
    if mmap is None:
        from .utils.serialization import config
        mmap = config.load.mmap and opening.is_path(f)
    chosen = None if weights_only else pickle_module or pickle
    if mmap and not opening.is_path(f):
        raise ValueError("f must be a file path in order to use the mmap argument")
    with opening.to_read(f) as file:
        try:
            return _load(file, f if mmap else None, map_location, chosen, encoding, errors)
        except pickle.UnpicklingError as error:
            if chosen is None:
                raise pickle.UnpicklingError(_EXPLANATION + str(error)) from None
            raise


_EXPLANATION = (
    "Weights only load failed. With `weights_only=False` the file would load, but it could execute any code then: do "
    "that only if it comes from a trusted source. WeightsUnpickler error: ")


def _settle_weights_only(weights_only, pickle_module):
    """Whether to load safely, from the argument, the environment and the era."""
    def is_set(name):
        return os.environ.get(name, "").lower() in _YES

    force, never = is_set("TORCH_FORCE_WEIGHTS_ONLY_LOAD"), is_set("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD")
    if force and never:
        raise RuntimeError("Only one of `TORCH_FORCE_WEIGHTS_ONLY_LOAD` or `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD` should "
                           "be set, but both were set.")
    if force:
        weights_only = True
    elif weights_only is None:
        weights_only = policy.weights_only_default and not never and pickle_module is None
    if weights_only and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    return weights_only


def _load(file, mapped_path, map_location, pickle_module, encoding, errors):
    start = file.tell()
    head = file.read(4)
    file.seek(start)
    if not head:
        raise EOFError("Ran out of input")
    arguments = map_location, pickle_module, encoding, errors
    if head == b"PK\x03\x04":
        return archive.load(file, *arguments, mapped=mapped_path and _map(mapped_path))
    if mapped_path:
        raise RuntimeError("mmap can only be used with files saved with "
                           "`torch.save(_use_new_zipfile_serialization=True), please torch.save your checkpoint with "
                           "this option in order to use mmap.")
    if tar.is_tar(file):
        if pickle_module is None:
            raise RuntimeError("Cannot use ``weights_only=True`` with files saved in the legacy .tar format. In order "
                               "to load it, set ``weights_only=False``, but only if it comes from a trusted source.")
        return tar.load(file, *arguments)
    return legacy.load(file, *arguments)


def _map(path):
    """A file's bytes; writes to them stay private."""
    import numpy as np
    return np.memmap(path, np.uint8, "c").view(np.ndarray)


# ---------------------------------------------------------------- what safe loading allows

def add_safe_globals(safe_globals):
    """Let ``load(weights_only=True)`` make these classes and call these functions, or (object, "module.name") pairs."""
    safe.add(safe_globals)


def get_safe_globals():
    """What ``add_safe_globals`` allowed."""
    return list(safe.user_globals().values())


def clear_safe_globals():
    """Take back what ``add_safe_globals`` allowed."""
    safe.user_globals().clear()


class safe_globals:
    """A context in which ``load(weights_only=True)`` allows more: see ``add_safe_globals``."""

    def __init__(self, safe_globals):
        self.safe_globals = safe_globals

    def __enter__(self):
        self._before = dict(safe.user_globals())
        safe.add(self.safe_globals)

    def __exit__(self, *exc):
        safe.user_globals().clear()
        safe.user_globals().update(self._before)


def get_unsafe_globals_in_checkpoint(f):
    """The names in a file that ``load(weights_only=True)`` would refuse; nothing is made of them."""
    import io

    with opening.to_read(f) as file:
        if file.read(4) != b"PK\x03\x04":
            raise ValueError("Expected input to be a checkpoint returned by torch.save")
        file.seek(0)
        data = archive.Archive(file).read("data.pkl")
    reader = safe.SafeUnpickler(io.BytesIO(data), lambda saved_id: safe.Unknown())
    reader.refused = []
    reader.load()
    return list(dict.fromkeys(reader.refused))


# ---------------------------------------------------------------- the names of storage types

def normalize_storage_type(storage_type):
    """The storage class of this module that a storage class's name stands for."""
    from . import _storages
    return getattr(_storages, storage_type.__name__)


def storage_to_tensor_type(storage):
    """The tensor type that belongs to a storage."""
    from ._typed import find_type
    return find_type(f"torch.{type(storage).__name__.replace('Storage', 'Tensor')}")
