"""Parameters and buffers whose shapes are not known yet (parts of torch.nn.parameter)."""

from .. import _ops
from .._core import Tensor
from .._core.protocol import no_override
from .parameter import Parameter


class UninitializedTensorMixin:
    """What a parameter and a buffer of unknown shape share: nearly every use is a ValueError until ``materialize``."""

    _is_uninitialized = True
    __torch_function__ = no_override

    def materialize(self, shape, device=None, dtype=None):
        """Become a plain parameter (or buffer) of the given shape, its elements not set."""
        if device is None:
            device = self.data.device
        if dtype is None:
            dtype = self.data.dtype
        self.data = _ops.empty(shape, device=device, dtype=dtype)
        self.__class__ = self.cls_to_become

    @property
    def shape(self):
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
            "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call `forward` "
            "to initialize the parameters before accessing their attributes."
        )

    def share_memory_(self):
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters "
            "before calling `module.share_memory()`."
        )

    def __repr__(self):
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, proto):
        return type(self), (self.requires_grad,)


# What works without a shape; all other methods of Tensor are refused. They are put on the class below.
_ALLOWED = frozenset(
    "size copy_ is_complex is_floating_point half float double char short int long cuda cpu to get_device set_ "
    "as_subclass detach_ __hash__ __setattr__ __class_getitem__ __init_subclass__ __torch_function__".split()
)


def _refusal(name):
    def refused(self, *args, **kwargs):
        raise ValueError(
            f"Attempted to use an uninitialized parameter in {getattr(Tensor, name)}. This error happens when you are "
            f"using a `LazyModule` or explicitly manipulating `torch.nn.parameter.{type(self).__name__}` objects. When "
            "using LazyModules Call `forward` with a dummy batch to initialize the parameters before calling torch "
            "functions"
        )

    refused.__name__ = name
    return refused


def _refuse_methods():
    kept = {*dir(object), *vars(UninitializedTensorMixin), *_ALLOWED} - {"__eq__", "__ne__"}
    for name in {*dir(Tensor)} - kept:
        private = name.startswith("_") and not name.startswith("__")
        if not private and callable(getattr(Tensor, name)):
            setattr(UninitializedTensorMixin, name, _refusal(name))


_refuse_methods()


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter whose shape is not known yet: ``(requires_grad=True, device=None, dtype=None)``.

    ``materialize(shape)`` makes a Parameter of it. It belongs to the layers whose names begin with Lazy.
    """

    cls_to_become = Parameter

    def __new__(cls, requires_grad=True, device=None, dtype=None):
        data = _ops.empty(0, device=device, dtype=dtype)
        return Tensor.requires_grad_(data.as_subclass(cls), requires_grad)

    def __deepcopy__(self, memo):
        known = memo.get(id(self))
        if known is None:
            known = memo[id(self)] = type(self)(self.requires_grad, self.data.device, self.data.dtype)
        return known


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer whose shape is not known yet; ``materialize(shape)`` makes a tensor of it."""

    cls_to_become = Tensor

    def __new__(cls, requires_grad=False, device=None, dtype=None, persistent=True):
        data = _ops.empty(0, device=device, dtype=dtype)
        result = Tensor.requires_grad_(data.as_subclass(cls), requires_grad)
        result.persistent = persistent
        result._is_buffer = True
        return result


def _converted(name):
    def convert(self, *args, **kwargs):
        return getattr(Tensor, name)(self, *args, **kwargs).as_subclass(type(self))

    convert.__name__ = name
    return convert


# Module.to and its kin put the results in the place of the buffers.
for _name in ("half", "float", "double", "char", "short", "int", "long", "cuda", "cpu", "to"):
    setattr(UninitializedBuffer, _name, _converted(_name))
for _kind in (UninitializedTensorMixin, UninitializedParameter, UninitializedBuffer):
    _kind.__module__ = Parameter.__module__
