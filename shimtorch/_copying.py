"""Deep copies of tensors: views that share memory still share it afterwards."""
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
