"""``torch.Tensor``: the Python class over TensorBase. Ops add their methods to it (``_ops``)."""
from ._core import autograd as _autograd
from ._core import engine as _engine
from ._core import factory as _factory
from ._core import protocol as _protocol
from ._core import views as _views
from ._core.declaring import op
from ._core.device import as_device, sparse_coo, strided
from ._core.dtype import get_default_dtype
from ._core.dtype import scalar_type as _scalar_type
from ._core.policy import policy
from ._core.tensor import Size, TensorBase, set_tensor_class


class Tensor(TensorBase):
    """A multi-dimensional array of elements of one dtype, with its place in the autograd graph.

    ``Tensor(2, 3)`` is uninitialised, ``Tensor([1, 2])`` holds data, both of the default dtype; see ``torch.tensor``.
    """

    __slots__ = ()
    __module__ = __name__.partition(".")[0]
    __array_priority__ = 1000

    def __new__(cls, *args, device=None, **kwargs):
        if kwargs:
            raise TypeError(f"new() got an unexpected keyword argument {next(iter(kwargs))!r}")
        if device is not None and as_device(device).type != "cpu":
            raise RuntimeError("legacy constructor expects device type: cpu but device type: cuda was passed")
        return legacy_new(cls, get_default_dtype(), args)

    def __init__(self, *args, **kwargs):
        pass

    # ------------------------------------------------------------ autograd

    requires_grad = property(_autograd.tensor_requires_grad, _autograd.assign_requires_grad,
                             doc="Whether operations on this tensor are recorded for backward.")
    grad_fn = property(_autograd.tensor_grad_fn, doc="The node that made this tensor; None for a leaf.")

    grad = property(_autograd.grad_of, _autograd.set_tensor_grad, _autograd.clear_grad,
                    doc="The gradient that backward accumulated; None before.")
    _grad = property(_autograd.tensor_grad, _autograd.set_tensor_grad)
    _grad_fn = grad_fn

    @property
    def is_leaf(self):
        """Whether no recorded operation made this tensor."""
        return _autograd.tensor_grad_fn(self) is None

    @property
    def retains_grad(self):
        """Whether a tensor that is not a leaf keeps its gradient."""
        return _autograd.retains(self)

    def requires_grad_(self, requires_grad=True):
        """Set ``requires_grad`` in place."""
        _autograd.set_requires_grad(self, requires_grad)
        return self

    def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None, retain_variables=None):
        """Add the gradient of this tensor with respect to the leaves it came from to their ``.grad``."""
        if retain_variables is not None:
            import warnings
            warnings.warn("retain_variables option is deprecated and will be removed in 0.3. Use retain_graph instead.",
                          UserWarning, stacklevel=2)
            retain_graph = retain_variables
        _engine.backward(self, gradient, retain_graph, create_graph, None, inputs)

    def register_hook(self, hook):
        """Call ``hook(grad)`` when the gradient of this tensor is known; a returned tensor replaces it."""
        from .utils.hooks import RemovableHandle
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        hooks = _autograd.hooks_of(self)
        handle = RemovableHandle(hooks)
        hooks[handle.id] = hook
        return handle

    def register_post_accumulate_grad_hook(self, hook):
        """Call ``hook(tensor)`` after the gradient of this leaf was accumulated."""
        from .utils.hooks import RemovableHandle
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        hooks = _autograd.post_hooks_of(self)
        handle = RemovableHandle(hooks)
        hooks[handle.id] = hook
        return handle

    @property
    def _backward_hooks(self):
        """The hooks on this tensor's gradient by number; None if there are none."""
        return _autograd.known_hooks(self)

    @_backward_hooks.setter
    def _backward_hooks(self, hooks):
        if hooks or _autograd.known_hooks(self):
            own = _autograd.hooks_of(self)
            own.clear()
            own.update(hooks or {})

    def retain_grad(self):
        """Keep the gradient of this tensor, which is not a leaf, in ``.grad``."""
        _autograd.retain(self)

    def detach_(self):
        """Cut this tensor from the graph: it becomes a leaf."""
        return _autograd.detach_in_place(self)

    @property
    def data(self):
        """The same memory without history; in-place writes through it are not checked by autograd."""
        return data_of(self)

    @data.setter
    def data(self, value):
        if not isinstance(value, TensorBase):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        _factory.set_data(self, _factory.alias_data(value))

    # ------------------------------------------------------------ what it is

    def type(self, dtype=None, non_blocking=False, **kwargs):
        """The name of the legacy type, such as ``'torch.FloatTensor'``; or this tensor in another type."""
        from ._typed import as_type, type_name
        if dtype is None:
            return type_name(self)
        return as_type(self, dtype)

    def is_shared(self):
        """Whether the memory is shared between processes."""
        return self._memory().shared is not None

    def share_memory_(self):
        """Move the memory to shared memory, in place: other processes that are sent this tensor see writes to it."""
        from ._core.shared import share
        if self.layout is strided:
            share(self._memory())
        else:
            for part in _parts(self):
                part.share_memory_()
        return self

    def pin_memory(self, device=None):
        """A copy in memory of the CPU that the device reads by itself; without a CUDA device, the tensor itself."""
        from ._gpu import load
        from ._ops.geometry import row_strides
        if self.is_cuda:
            raise RuntimeError(f"cannot pin '{self.type()}' only dense CPU tensors can be pinned")
        if load.device_count() == 0 or self.is_pinned():
            return self
        pinned = _factory.blank(Tensor, self.dtype)
        memory = load.runtime().PinnedBlock(self.numel() * self.element_size()).storage()
        _factory.set_geometry(pinned, memory, 0, self.shape, row_strides(self.shape))
        return pinned.copy_(self.detach())

    def is_pinned(self, device=None):
        """Whether the memory is pinned: see ``pin_memory``."""
        from ._gpu import load
        rt = load.opened()
        return rt is not None and self.layout is strided and not self.is_cuda and rt.is_pinned(self._memory())

    def record_stream(self, stream):
        """Say that a stream uses this tensor: its memory is not given to others before the stream has done so."""
        from ._gpu import load
        if not self.is_cuda:
            raise NotImplementedError("record_stream: only tensors on a CUDA device can be used by a stream")
        load.runtime().record_stream(self._memory(), stream.cuda_stream)

    def cpu(self, memory_format=None):
        """This tensor if it is on the CPU, else a copy there."""
        return self if not self.is_cuda else self.to("cpu", memory_format=memory_format)

    def cuda(self, device=None, non_blocking=False, memory_format=None, **kwargs):
        """A copy on a CUDA device."""
        return self.to(as_device("cuda" if device is None else device), non_blocking=non_blocking,
                       memory_format=memory_format)

    def storage(self):
        """The typed storage that the tensor views."""
        from ._storages import typed_storage
        return typed_storage(self)

    _typed_storage = storage

    def untyped_storage(self):
        """The bytes that the tensor views."""
        from ._storages import UntypedStorage
        return UntypedStorage._of(self)

    def storage_type(self):
        """The class of the typed storage."""
        from ._storages import storage_class
        return storage_class(self.dtype)

    def __contains__(self, element):
        if isinstance(element, (TensorBase, int, float, complex, bool)):
            return bool((element == self).any().item())
        raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")

    def __iter__(self):
        if self.dim() == 0:
            raise TypeError("iteration over a 0-d tensor")
        if policy.two_types:
            return iter([self[i] for i in range(len(self))])
        return iter(self.unbind(0))

    def __reversed__(self):
        return self if self.dim() == 0 else self.flip(0)

    def __array_wrap__(self, array, context=None, return_scalar=False):
        if array.dtype == bool:                # torch has kept it so since before it had a dtype for bool
            array = array.astype("uint8")
        return _factory.as_tensor(array)

    def __repr__(self, *, tensor_contents=None):
        from ._core.printing import tensor_repr
        return tensor_repr(self, policy.print_style, tensor_contents)


    def __format__(self, spec):
        if self.dim() == 0 and type(self) is Tensor:
            return self.item().__format__(spec)
        return object.__format__(self, spec)

    def __dir__(self):
        return sorted(set(dir(type(self))) | set(self.__dict__))

    # ------------------------------------------------------------ copies and pickles

    def __deepcopy__(self, memo):
        if not self.is_leaf:
            raise RuntimeError("Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
                               "protocol at the moment.  If you were attempting to deepcopy a module, this may be "
                               "because of a "
                               "torch.nn.utils.weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001")
        if id(self) in memo:
            return memo[id(self)]
        from ._copying import copy_tensor
        result = copy_tensor(self, memo)
        memo[id(self)] = result
        return result

    def __reduce_ex__(self, protocol):
        from ._utils import _get_obj_state, _reduce_dense_or_sparse
        state = _get_obj_state(self)
        func, args = _reduce_dense_or_sparse(self)
        if type(self) is Tensor and not state:
            return func, args
        return _rebuild_from_type_v2, (func, type(self), args, state)

    def __setstate__(self, state):
        """The states that PyTorch's versions pickled beside a tensor."""
        if not self.is_leaf:
            raise RuntimeError("__setstate__ can be only called on leaf Tensors")
        if len(state) == 4:                # storage, offset, size, stride
            self.set_(*state)
            return
        if len(state) == 5:                # data, _, backward hooks, requires_grad, _
            self.data = state[0]
            state = state[3], state[4], state[2]
        requires_grad, _, self._backward_hooks = state
        self.requires_grad_(requires_grad)

    @staticmethod
    def _make_subclass(cls, data, require_grad=False):
        """A leaf of a subclass on data's memory."""
        t = TensorBase.__new__(subclass(cls))
        _factory.set_data(t, _factory.alias_data(data))
        if require_grad:
            _autograd.set_requires_grad(t, True)
        return t

    def as_subclass(self, cls):
        """This tensor as one of a subclass, with its memory and history."""
        t = _protocol.no_override(_alias, (), (self,))
        t.__class__ = subclass(cls)
        return t

    # ------------------------------------------------------------ subclasses

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if cls.__torch_function__ is not _protocol.no_override:
            from ._overriding import adopt
            adopt(cls)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        """What is done with a call that has a tensor of this class among its arguments; a subclass may override it.

        func: the function, method or attribute's ``__get__``; types: the classes of arguments that override it. This
        one makes the call with the protocol switched off, and tensors of this class of the result.
        """
        return _protocol.default_override(cls, func, types, args, kwargs)


def subclass(cls):
    """cls, which must be a class derived from Tensor."""
    if not isinstance(cls, type):
        raise TypeError(f"cls must be a type (got {type(cls).__name__})")
    if not issubclass(cls, Tensor):
        raise TypeError("Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. "
                        "Make sure your class inherits from Tensor.")
    return cls


@op(name="alias", method=False, function=False, sparse=True, grads={"self": lambda g: g})
def _alias(self):
    """Another tensor on the same memory, with history."""
    return _views.alias(self)


def _rebuild_from_type_v2(func, new_type, args, state):
    """A tensor of a subclass, or with attributes of its own, as pickles have it."""
    tensor = func(*args)
    if type(tensor) is not new_type:
        tensor = tensor.as_subclass(new_type)
    if getattr(new_type, "__setstate__", None) is not Tensor.__setstate__:
        tensor.__setstate__(state)
        return tensor
    from ._utils import _set_obj_state
    return _set_obj_state(tensor, state)


def _rebuild_from_type(func, type, args, dict):
    """What pickles of PyTorch 1.7 to 1.11 have for a tensor of a subclass or with attributes."""
    return _rebuild_from_type_v2(func, type, args, dict)


def _parts(tensor):
    """The dense tensors that a sparse one is made of."""
    if tensor.layout is sparse_coo:
        return tensor._indices(), tensor._values()
    if tensor.layout.name in ("sparse_csr", "sparse_bsr"):
        return tensor.crow_indices(), tensor.col_indices(), tensor.values()
    return tensor.ccol_indices(), tensor.row_indices(), tensor.values()


def data_of(tensor):
    """``tensor.data``: a plain Tensor, also of a 0.3 Variable."""
    return _factory.alias_data(tensor)


def legacy_new(cls, dtype, args):
    """The constructor of torch.Tensor and the typed ones: no argument, sizes, a sequence, an ndarray, a storage."""
    if not args:
        t = _factory.new_empty((0,), dtype)
    elif len(args) == 1 and not isinstance(args[0], int):
        t = _from_one(args[0], dtype)
    else:
        if not all(isinstance(a, int) or hasattr(a, "__index__") for a in args):
            raise TypeError("new() received an invalid combination of arguments - got ("
                            + ", ".join(type(a).__name__ for a in args) + ")")
        t = _factory.new_empty(args, dtype)
    if cls is not Tensor:
        t = _cast_class(t, cls)
    return t


def _from_one(arg, dtype):
    from ._storages import TypedStorage
    if isinstance(arg, Size):
        return _factory.new_empty(arg, dtype)
    if isinstance(arg, TypedStorage):
        if arg.dtype is not dtype:
            raise RuntimeError(f"Expected a Storage of type {_scalar_type(dtype)}, but got type "
                               f"{_scalar_type(arg.dtype)}")
        return arg._tensor()
    if isinstance(arg, TensorBase):
        if policy.two_types and arg.dim() <= 1 and arg.numel() == 1 and not arg.is_floating_point():
            return _factory.new_empty((int(arg),), dtype)
        if arg.dtype is not dtype:
            raise TypeError(f"expected torch.{_scalar_type(dtype)}Tensor (got {arg.type()})")
        return _factory.from_data(arg, dtype, False)
    if isinstance(arg, (list, tuple)) or hasattr(arg, "__array__") or hasattr(arg, "__len__"):
        return _factory.from_data(arg, dtype, True)
    if hasattr(arg, "__index__"):
        return _factory.new_empty((arg.__index__(),), dtype)
    raise TypeError(f"new(): invalid data type '{type(arg).__name__}'")


def _cast_class(t, cls):
    """The fresh tensor t as an instance of a subclass."""
    result = TensorBase.__new__(cls)
    _factory.set_data(result, t)
    return result


Tensor.__rdiv__ = Tensor.__rtruediv__
set_tensor_class(Tensor)
_protocol.set_classes(Tensor, vars(Tensor)["__torch_function__"],
                      [Tensor.grad.__get__, Tensor._grad.__get__, TensorBase._base.__get__])
