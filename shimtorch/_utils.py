"""Functions that pickled tensors name (torch._utils), and small helpers that scripts import from there."""
from ._core import factory
from ._core.device import sparse_coo, strided
from ._core.dtype import dtype as _dtype_class
from ._tensor import Tensor

# ---------------------------------------------------------------- rebuilding tensors


def _rebuild_tensor(storage, storage_offset, size, stride):
    """A tensor on a typed storage, its geometry checked against the storage."""
    return _view_storage(storage, storage.dtype, storage_offset, size, stride)


def _rebuild_tensor_v2(storage, storage_offset, size, stride, requires_grad, backward_hooks, metadata=None):
    """A tensor on a typed storage, as pickles of all PyTorch versions since 0.4 have it."""
    return _finish(_rebuild_tensor(storage, storage_offset, size, stride), requires_grad, backward_hooks, metadata)


def _rebuild_tensor_v3(storage, storage_offset, size, stride, requires_grad, backward_hooks, dtype, metadata=None):
    """A tensor of a dtype that has no storage class of its own, on bytes."""
    tensor = _view_storage(storage, dtype, storage_offset, size, stride)
    return _finish(tensor, requires_grad, backward_hooks, metadata)


def _view_storage(storage, dtype, offset, size, stride):
    """A tensor of ``dtype`` on a storage; raises RuntimeError for geometry that reaches outside it."""
    for numbers in ((offset,), size, stride):
        if not isinstance(numbers, tuple) or not all(type(n) is int for n in numbers):
            raise TypeError(f"set_(): the offset, size and stride of a tensor must be integers, not {offset!r}, "
                            f"{size!r} and {stride!r}")
    if len(size) != len(stride):
        raise RuntimeError(f"unequal size length ({len(size)}) and stride length ({len(stride)})")
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    if min(size, default=0) < 0:
        raise RuntimeError("numel: integer multiplication overflow")
    if min(stride, default=0) < 0:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}")
    memory = storage._memory()
    last = offset + sum((n - 1) * s for n, s in zip(size, stride))
    if 0 not in size and (last + 1) * dtype.itemsize > len(memory):
        raise RuntimeError("Trying to resize storage that is not resizable")
    return factory.set_geometry(factory.blank(Tensor, dtype), memory, offset if 0 not in size else 0, size, stride)


# Work on tensors whose data a loader has not read yet: a list of functions to call then, or None when all is there.
_pending = None


def _when_filled(function):
    """Call a function that looks at tensors' data, now or as soon as it is there."""
    if _pending is None:
        function()
    else:
        _pending.append(function)


class filling_later:
    """A context in which storages are named before they are filled; ``filled`` does what had to wait for their data."""

    def __enter__(self):
        global _pending
        self._outer, self._own = _pending, []
        _pending = self._own
        return self

    def __exit__(self, *exc):
        global _pending
        _pending = self._outer

    def filled(self):
        for function in self._own:
            function()


def _finish(tensor, requires_grad, hooks, metadata):
    """What a tensor has besides memory and geometry. Conjugation and negation marked as put off are carried out."""
    if metadata and (metadata.get("conj") or metadata.get("neg")):
        tensor = _carry_out(tensor, metadata)
    if requires_grad:
        tensor.requires_grad_(True)
    if hooks:
        tensor._backward_hooks = hooks
    return tensor


def _carry_out(source, metadata):
    """A tensor that is filled with the conjugate, or the negative, of another."""
    result = factory.clone(source)

    def fill():
        values = source.conj() if metadata.get("conj") else source
        factory.copy_from(result, values.neg() if metadata.get("neg") else values)

    _when_filled(fill)
    return result


def _rebuild_sparse_tensor(layout, data):
    """A sparse tensor: COO of (indices, values, size[, is_coalesced]), else of (pointers, plain indices, values, size).

    Its indices are checked. Where it is not said whether a COO tensor is coalesced, fewer than two elements are.
    """
    from . import _ops

    if layout is sparse_coo:
        def make():
            indices, values, size, *coalesced = data
            known = coalesced[0] if coalesced else values.size(0) < 2
            return _ops.sparse_coo_tensor(indices, values, size, check_invariants=True, is_coalesced=known)
    else:
        maker = getattr(_ops, f"{layout.name}_tensor", None)
        if maker is None:
            raise NotImplementedError(f"rebuilding sparse tensor for layout {layout!r}")

        def make():
            return maker(*data, check_invariants=True)

    if _pending is None:
        return make()
    result = factory.blank(Tensor, data[1 if layout is sparse_coo else 2].dtype)
    _pending.append(lambda: factory.set_data(result, make()))
    return result


def _rebuild_sparse_csr_tensor(layout, data):
    """A CSR tensor, as PyTorch 1.9 to 1.11 pickled it."""
    return _rebuild_sparse_tensor(layout, data)


def _rebuild_device_tensor_from_numpy(data, dtype, device, requires_grad):
    """A tensor of an accelerator that was pickled by way of NumPy."""
    return factory.as_tensor(data).to(dtype=dtype, device=device).requires_grad_(requires_grad)


_rebuild_xla_tensor = _rebuild_device_tensor_from_numpy


def _rebuild_device_tensor_from_cpu_tensor(data, dtype, device, requires_grad):
    """A tensor of an accelerator that was pickled as one of the CPU."""
    return data.to(dtype=dtype, device=device).requires_grad_(requires_grad)


def _refused(name, what):
    def rebuild(*args):
        raise NotImplementedError(f"torch._utils.{name}: {what} are not implemented in shimtorch")

    rebuild.__name__ = rebuild.__qualname__ = name
    return rebuild


_rebuild_qtensor = _refused("_rebuild_qtensor", "quantized tensors")
_rebuild_meta_tensor_no_storage = _refused("_rebuild_meta_tensor_no_storage", "meta tensors")
_rebuild_nested_tensor = _refused("_rebuild_nested_tensor", "nested tensors")
_rebuild_wrapper_subclass = _refused("_rebuild_wrapper_subclass", "wrapper subclasses")


def _rebuild_parameter(data, requires_grad, backward_hooks):
    """A Parameter on the memory of ``data``."""
    from .nn import Parameter

    param = Parameter(data, requires_grad)
    if backward_hooks:
        param._backward_hooks = backward_hooks
    return param


def _rebuild_parameter_with_state(data, requires_grad, backward_hooks, state):
    """A Parameter that has attributes of its own."""
    return _set_obj_state(_rebuild_parameter(data, requires_grad, backward_hooks), state)


# ---------------------------------------------------------------- what an object's attributes are


def _get_obj_state(obj):
    """The attributes of an object for pickling: what its ``__getstate__`` says, else its dict, with slots beside it."""
    getstate = getattr(type(obj), "__getstate__", None)
    if getstate is not None and getstate is not getattr(object, "__getstate__", None):
        return obj.__getstate__()
    slots = {name: getattr(obj, name) for name in _slots(type(obj)) if hasattr(obj, name)}
    return (obj.__dict__, slots) if slots else obj.__dict__


def _set_obj_state(obj, state):
    """Give an object the attributes that ``_get_obj_state`` returned; returns the object."""
    if isinstance(state, tuple):
        if len(state) != 2:
            raise RuntimeError(f"Invalid serialized state: {state}")
        attributes, slots = state
    else:
        attributes, slots = state, None
    if attributes:
        obj.__dict__.update(attributes)
    for name, value in (slots or {}).items():
        setattr(obj, name, value)
    return obj


def _slots(cls):
    for base in cls.__mro__:
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name.startswith("__") and not name.endswith("__"):
                name = f"_{base.__name__.lstrip('_')}{name}"
            if name not in ("__dict__", "__weakref__"):
                yield name


# ---------------------------------------------------------------- pickling tensors


def _reduce_dense_or_sparse(tensor):
    """What pickle stores of a plain tensor."""
    from collections import OrderedDict

    from .utils.hooks import warn_if_has_hooks

    warn_if_has_hooks(tensor)
    if tensor.layout is strided:
        from ._storages import CLASSES, UntypedStorage, typed_storage

        args = tensor.storage_offset(), tuple(tensor.size()), tensor.stride(), tensor.requires_grad, OrderedDict()
        if tensor.dtype in CLASSES:
            return _rebuild_tensor_v2, (typed_storage(tensor), *args)
        return _rebuild_tensor_v3, (UntypedStorage._of(tensor), *args, tensor.dtype)
    if tensor.layout is sparse_coo:
        data = tensor._indices(), tensor._values(), tensor.size(), tensor.is_coalesced()
    else:
        by_row = tensor.layout.name in ("sparse_csr", "sparse_bsr")
        places = (tensor.crow_indices(), tensor.col_indices()) if by_row else (tensor.ccol_indices(),
                                                                              tensor.row_indices())
        data = *places, tensor.values(), tensor.size()
    return _rebuild_sparse_tensor, (tensor.layout, data)


# ---------------------------------------------------------------- helpers of other modules and of scripts


def _type(self, dtype=None, non_blocking=False, **kwargs):
    """The name of an object's type, or the object in another type."""
    return self.type(dtype, non_blocking, **kwargs)


def _accumulate(iterable, fn=lambda x, y: x + y):
    """The running totals of an iterable."""
    from itertools import accumulate

    return accumulate(iterable, fn)


def _flatten_dense_tensors(tensors):
    """The elements of dense tensors of one dtype, one after the other."""
    from . import _ops

    return _ops.cat([t.contiguous().view(-1) for t in tensors])


def _unflatten_dense_tensors(flat, tensors):
    """Views of ``flat``, one of the size of each tensor."""
    outputs, offset = [], 0
    for tensor in tensors:
        outputs.append(flat.narrow(0, offset, tensor.numel()).view_as(tensor))
        offset += tensor.numel()
    return tuple(outputs)


def _take_tensors(tensors, size_limit):
    """Lists of tensors of one type, in order, each of at most ``size_limit`` bytes (or of one tensor)."""
    pending = {}
    for tensor in tensors:
        kind = tensor.type()
        size = tensor.numel() * tensor.element_size()
        chunk, total = pending.get(kind, ([], 0))
        if chunk and total + size > size_limit:
            yield chunk
            chunk, total = [], 0
        pending[kind] = [*chunk, tensor], total + size
    for chunk, _ in pending.values():
        if chunk:
            yield chunk


def _import_dotted_name(name):
    """The object of a dotted name."""
    import importlib

    components = name.split(".")
    obj = importlib.import_module(components[0])
    for component in components[1:]:
        obj = getattr(obj, component)
    return obj


def _element_size(dtype):
    """Bytes per element of a dtype."""
    if not isinstance(dtype, _dtype_class):
        raise RuntimeError(f"expected torch.dtype, but got {type(dtype)}")
    return dtype.itemsize




class KeyErrorMessage(str):
    """A message whose repr is itself, so that a KeyError shows its lines as lines."""

    def __repr__(self):
        return self


class ExceptionWrapper:
    """The exception that is being handled, with its traceback as text, so that another process can raise it."""

    def __init__(self, exc_info=None, where="in background"):
        import sys
        import traceback

        exc_info = exc_info or sys.exc_info()
        self.exc_type = exc_info[0]
        self.exc_msg = "".join(traceback.format_exception(*exc_info))
        self.where = where

    def reraise(self):
        """Raise an exception of the same type whose message holds the traceback."""
        message = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            message = KeyErrorMessage(message)
        elif getattr(self.exc_type, "message", None):
            raise self.exc_type(message=message)
        try:
            exception = self.exc_type(message)
        except Exception:
            raise RuntimeError(message) from None  # the type wants other arguments
        try:
            raise exception
        finally:
            del exception  # its traceback holds this frame, and through the callers' a loader with its workers


class classproperty:  # noqa: N801  (torch's name)
    """A property of a class: what its function makes of the class."""

    def __init__(self, function):
        self.function = function

    def __get__(self, instance, owner=None):
        return self.function(type(instance) if owner is None else owner)

    def __set__(self, instance, value):
        raise AttributeError("can't set attribute")
