"""Copying and pickling of tensors: views that share memory still share it afterwards."""
from collections import OrderedDict

from ._core import factory
from ._core.device import strided
from ._core.tensor import TensorBase
from ._storages import typed_storage


def copy_tensor(tensor, memo):
    """A deep copy of a leaf: its own storage (shared with what shared it), geometry, class, grad and attributes."""
    import copy
    if tensor.layout is not strided:
        result = tensor.detach().clone()
        result.__class__ = type(tensor)
    else:
        result = TensorBase.__new__(type(tensor))
        storage = copy.deepcopy(typed_storage(tensor), memo)
        factory.set_geometry(result, storage._memory(), tensor.storage_offset(), tensor.size(), tensor.stride(),
                             tensor.dtype)
    if tensor.requires_grad:
        result.requires_grad_(True)
    if tensor._grad is not None:
        result._grad = copy.deepcopy(tensor._grad, memo)
    if tensor.__dict__:
        result.__dict__.update(copy.deepcopy(tensor.__dict__, memo))
    return result


def reduce_tensor(tensor):
    """What pickle stores of a tensor."""
    if not tensor.is_leaf and tensor.requires_grad:
        tensor = tensor.detach()
    state = tensor.__dict__ or None
    if tensor.layout is not strided:
        args = (type(tensor), tensor._indices(), tensor._values(), tensor.size(), tensor.is_coalesced(),
                tensor.requires_grad)
        return (rebuild_sparse, args, state) if state else (rebuild_sparse, args)
    args = (type(tensor), typed_storage(tensor), tensor.storage_offset(), tuple(tensor.size()), tensor.stride(),
            tensor.requires_grad, OrderedDict())
    return (rebuild_dense, args, state) if state else (rebuild_dense, args)


def rebuild_dense(cls, storage, offset, size, stride, requires_grad, hooks):
    """The inverse of reduce_tensor for dense tensors; geometry is checked against the storage."""
    last = offset + sum((n - 1) * s for n, s in zip(size, stride))
    if 0 not in size and (offset < 0 or min(stride, default=0) < 0 or last >= len(storage)):
        raise RuntimeError(f"size {size}, stride {stride} and offset {offset} are out of bounds for a storage of "
                           f"{len(storage)} elements")
    result = TensorBase.__new__(cls)
    factory.set_geometry(result, storage._memory(), offset, size, stride, storage.dtype)
    if requires_grad:
        result.requires_grad_(True)
    return result


def rebuild_sparse(cls, indices, values, size, coalesced, requires_grad):
    """The inverse of reduce_tensor for sparse tensors."""
    from ._ops import sparse_coo_tensor
    result = sparse_coo_tensor(indices, values, size, is_coalesced=coalesced)
    if requires_grad:
        result.requires_grad_(True)
    return result


def set_tensor_state(tensor, state):
    tensor.__dict__.update(state)
