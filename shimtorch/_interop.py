"""Tensors on memory that is not torch's: buffers, files, DLPack."""
import os

import numpy as np

from ._core.device import as_device
from ._core.dtype import PYTHON_TYPES, as_dtype, get_default_dtype, scalar_type
from ._core.dtype import dtype as _dtype
from ._core.factory import as_tensor, tensor
from ._core.tensor import TensorBase, from_numpy, wrap_ndarray

__all__ = ["frombuffer", "from_file", "asarray", "from_dlpack", "to_dlpack"]


def _numpy_dtype(dtype):
    """The NumPy dtype with a dtype's bytes: bfloat16 is looked at as int16."""
    return np.dtype("int16" if dtype.name == "bfloat16" else dtype.name)


def _typed(array, dtype):
    """A tensor on an array's memory; the elements are those of ``dtype``."""
    t = from_numpy(array)
    return t.view(dtype) if t.dtype is not dtype else t


def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    """A one-dimensional tensor on the memory of an object that has the buffer protocol."""
    if not (isinstance(dtype, _dtype) or dtype in PYTHON_TYPES):
        raise TypeError(f"frombuffer(): argument 'dtype' must be torch.dtype, not {type(dtype).__name__}")
    dtype = as_dtype(dtype)
    try:
        view = memoryview(buffer)
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    length, size = view.nbytes, dtype.itemsize
    if length == 0 or count == 0:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({length} "
                         "bytes) minus 1")
    if count < 0:
        if (length - offset) % size:
            raise ValueError(f"buffer length ({length - offset} bytes) after offset ({offset} bytes) must be a "
                             f"multiple of element size ({size})")
        count = (length - offset) // size
    elif count * size > length - offset:
        raise ValueError(f"requested buffer length ({count} * {size} bytes) after offset ({offset} bytes) must not be "
                         f"greater than actual buffer length ({length} bytes)")
    array = np.frombuffer(view, _numpy_dtype(dtype), count, offset)
    if not array.flags.writeable:
        import warnings
        warnings.warn("The given buffer is not writable, and PyTorch does not support non-writable tensors. The tensor "
                      "is a copy of it.", UserWarning, stacklevel=2)
        array = array.copy()
    result = _typed(array, dtype)
    return result.requires_grad_() if requires_grad else result


def from_file(filename, shared=None, size=0, *, dtype=None, layout=None, device=None, requires_grad=False):
    """A one-dimensional tensor of ``size`` elements on a file's memory.

    shared: what is written to the tensor goes to the file, which is made longer where needed.
    """
    dtype = get_default_dtype() if dtype is None else dtype
    needed = size * dtype.itemsize
    try:
        if shared:
            with open(filename, "ab") as file:
                if file.tell() < needed:
                    file.truncate(needed)
        elif os.path.getsize(filename) < needed:
            raise RuntimeError(f"file <{filename}> of size {os.path.getsize(filename)} is smaller than the {needed} "
                               "bytes of the tensor")
    except OSError as error:
        raise RuntimeError(f"unable to open file <{filename}> in {'read-write' if shared else 'read-only'} mode: "
                           f"{error.strerror} ({error.errno})") from None
    if size == 0:
        return tensor([], dtype=dtype)
    memory = np.memmap(filename, _numpy_dtype(dtype), "r+" if shared else "c", shape=(size,))
    result = _typed(np.asarray(memory), dtype)
    return result.requires_grad_() if requires_grad else result


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=None):
    """A tensor of a tensor, an ndarray, a DLPack object, a buffer, numbers or sequences; it shares memory if it can.

    The bytes of a buffer are read as elements of dtype, or of the default dtype. copy: True always copies, False never
    does, and raises where that is not possible. requires_grad: None leaves a tensor its history, False takes it away.
    """
    dtype = None if dtype is None else as_dtype(dtype)
    if isinstance(obj, np.generic):
        if copy is False:
            raise RuntimeError("can't alias NumPy scalars. Either remove copy=False or transform it in a ndarray. ")
        obj = np.asarray(obj)
    found = _aliased(obj, dtype)
    if found is None:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        return tensor(obj, dtype=dtype, device=device, requires_grad=bool(requires_grad))
    if copy is False:
        if device is not None and not _lies_on(found, device):
            raise ValueError(f"can't alias tensor from device '{found.device}' to '{device}'.")
        if dtype is not None and found.dtype is not dtype:
            raise ValueError(f"can't alias tensor with dtype '{scalar_type(found.dtype)}' into dtype "
                             f"'{scalar_type(dtype)}'.")
    result = found.to(device=found.device if device is None else device, dtype=found.dtype if dtype is None else dtype)
    if copy and result is found:
        result = found.clone()
    if requires_grad is False and result.requires_grad and not (result is found and result.is_leaf):
        result = result.detach()
    return result if requires_grad is None else result.requires_grad_(requires_grad)


def _aliased(obj, dtype):
    """A tensor on the memory of an object, in the dtype that it has there; None for numbers and sequences."""
    if isinstance(obj, TensorBase):
        return obj
    if isinstance(obj, np.ndarray):
        return as_tensor(obj)
    if hasattr(obj, "__dlpack__"):
        return from_dlpack(obj)
    try:
        memoryview(obj)
    except TypeError:
        return None
    return frombuffer(obj, dtype=get_default_dtype() if dtype is None else dtype)


def _lies_on(x, device):
    device = as_device(device)
    return x.device.type == device.type and device.index in (None, x.device.index)


class _Capsule:
    """What NumPy takes a DLPack capsule from."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **options):
        return self.capsule

    def __dlpack_device__(self):
        return 1, 0


def from_dlpack(ext_tensor, *, device=None, copy=None):
    """A tensor on the memory of an object with ``__dlpack__``, or of a capsule."""
    if type(ext_tensor).__name__ == "PyCapsule":
        ext_tensor = _Capsule(ext_tensor)
    if not hasattr(ext_tensor, "__dlpack__"):
        raise AttributeError(f"'{type(ext_tensor).__name__}' object has no attribute '__dlpack_device__'")
    array = np.from_dlpack(ext_tensor)
    if not array.flags.writeable:                       # as NumPy before 2.1 makes all of them
        array = _writable(array)
    result = wrap_ndarray(array)
    return result.clone() if copy else result


def _writable(array):
    """The same memory without the mark that it must not be written to."""
    interface = dict(array.__array_interface__)
    interface["data"] = (interface["data"][0], False)
    holder = type("Memory", (), {"__array_interface__": interface, "owner": array})()
    return np.asarray(holder)


def to_dlpack(tensor):
    """A capsule with a tensor's memory."""
    return tensor.__dlpack__()
