"""Parameter and Buffer: tensors that a Module registers by itself when they are assigned to it (torch.nn.parameter)."""

from .. import _ops
from .._core import Tensor
from .._core.policy import policy
from .._core.protocol import no_override

__all__ = ["Parameter", "Buffer", "is_lazy"]


class _MarkedMeta(type(Tensor)):
    """Lets an instance of another Tensor subclass count as *cls* when it carries the class's mark."""

    def __instancecheck__(cls, instance):
        mark = cls.__dict__.get("_mark")
        if mark is not None and isinstance(instance, Tensor) and getattr(instance, mark, False):
            return True
        return super().__instancecheck__(instance)


class Parameter(Tensor, metaclass=_MarkedMeta):
    """A tensor that a Module takes for one of its parameters.

    ``Parameter(data=None, requires_grad=True)`` shares memory with *data*; without data it is an empty tensor.
    Results of operations on a Parameter are plain tensors.
    """

    _mark = "_is_param"
    __torch_function__ = no_override

    def __new__(cls, data=None, requires_grad=True):
        if data is None:
            data = _ops.empty(0)
        kind = type(data)
        if kind is Tensor or kind is Parameter or not isinstance(data, Tensor):
            return Tensor._make_subclass(cls, data, requires_grad)
        # Another subclass of Tensor keeps its own type, and is marked.
        result = data.detach()
        result.requires_grad_(requires_grad)
        if type(result) is not kind:
            raise RuntimeError(
                f"Creating a Parameter from an instance of type {kind.__name__} requires that detach() returns an "
                f"instance of the same type, but return type {type(result).__name__} was found instead. To use the "
                "type as a Parameter, please correct the detach() semantics defined by its "
                "__torch_dispatch__() implementation."
            )
        result._is_param = True
        return result

    def __deepcopy__(self, memo):
        known = memo.get(id(self))
        if known is None:
            known = memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
        return known

    def __repr__(self):
        from .._core.printing import parameter_repr

        return parameter_repr(self, policy.print_style)

    def __reduce_ex__(self, proto):
        from collections import OrderedDict

        from .. import _utils

        state = _utils._get_obj_state(self)
        if state:
            return _utils._rebuild_parameter_with_state, (self.data, self.requires_grad, OrderedDict(), state)
        return _utils._rebuild_parameter, (self.data, self.requires_grad, OrderedDict())


class Buffer(Tensor, metaclass=_MarkedMeta):
    """A tensor that a Module registers as a buffer on assignment.

    ``Buffer(data=None, *, persistent=True)``: *persistent* says whether it belongs to the module's state_dict.
    """

    _mark = "_is_buffer"

    def __new__(cls, data=None, *, persistent=True):
        if data is None:
            data = _ops.empty(0)
        result = data.detach().requires_grad_(data.requires_grad)
        result.persistent = persistent
        result._is_buffer = True
        return result


def is_lazy(param):
    """Whether *param* still waits for its shape."""
    return isinstance(param, Tensor) and getattr(type(param), "_is_uninitialized", False)


def __getattr__(name):
    if name in ("UninitializedBuffer", "UninitializedParameter", "UninitializedTensorMixin"):
        from . import _uninitialized

        return getattr(_uninitialized, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
