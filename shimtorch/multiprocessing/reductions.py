"""How tensors are sent to another process: by their shared memory (torch.multiprocessing.reductions)."""

import os
import weakref
from multiprocessing import reduction

from .._core.device import strided
from .._core.shared import Block, share
from .._storages import CLASSES, UntypedStorage
from .._tensor import Tensor
from ..nn.parameter import Parameter
from ..utils.hooks import warn_if_has_hooks

__all__ = ["init_reductions", "reduce_storage", "reduce_tensor", "rebuild_storage", "rebuild_tensor"]

_received = weakref.WeakValueDictionary()  # (device, inode) of a block's file -> Block: what comes twice is one


def reduce_storage(storage):
    """Move a storage to shared memory, and describe where it is."""
    memory = storage._memory()
    if len(memory) == 0:
        return _empty_storage, (type(storage),)
    block = share(memory)
    _received.setdefault(_identity(block.fd), block)
    place = block.nbytes, block.offset_of(memory), len(memory)
    return rebuild_storage, (type(storage), reduction.DupFd(block.fd), *place)


def rebuild_storage(cls, descriptor, block_size, offset, nbytes):
    """The storage that another process described, on the same memory."""
    fd = descriptor.detach()
    identity = _identity(fd)
    block = _received.get(identity)
    if block is None:
        block = _received[identity] = Block(fd, block_size)
    else:
        os.close(fd)
    return cls._on(block.storage(offset, nbytes))


def _empty_storage(cls):
    return cls(0)


def _identity(fd):
    status = os.fstat(fd)
    return status.st_dev, status.st_ino


def reduce_tensor(tensor):
    """Describe a tensor: its memory, and how it views it."""
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support "
            "crossing process boundaries.  If you just want to transfer the data, call detach() on the tensor before "
            "serializing (e.g., putting it on the queue)."
        )
    warn_if_has_hooks(tensor)
    if tensor.layout is not strided:
        from .._utils import _reduce_dense_or_sparse

        return _reduce_dense_or_sparse(tensor)
    storage = UntypedStorage._of(tensor)
    geometry = tensor.storage_offset(), tuple(tensor.size()), tensor.stride(), tensor.dtype, tensor.requires_grad
    return rebuild_tensor, (type(tensor), storage, geometry)


def rebuild_tensor(cls, storage, geometry):
    """The tensor that another process described."""
    from .._utils import _view_storage

    offset, size, stride, dtype, requires_grad = geometry
    tensor = _view_storage(storage, dtype, offset, size, stride)
    if cls is Parameter:
        return Parameter(tensor, requires_grad)
    return tensor.requires_grad_(requires_grad)


def init_reductions():
    """Let queues, pipes, pools and processes of Python's multiprocessing send tensors so."""
    for cls in (Tensor, Parameter):
        reduction.ForkingPickler.register(cls, reduce_tensor)
    for cls in (UntypedStorage, *CLASSES.values()):
        reduction.ForkingPickler.register(cls, reduce_storage)
