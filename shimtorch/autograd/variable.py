"""``torch.autograd.Variable``: a type of its own in the 0.3 era, a way to write a tensor in all others."""
from .._core.policy import policy
from .._core.protocol import no_override
from .._core.tensor import TensorBase
from .._tensor import Tensor, data_of


class VariableMeta(type):
    def __instancecheck__(cls, obj):
        if not policy.two_types:
            return isinstance(obj, TensorBase)
        return type.__instancecheck__(cls, obj) or getattr(type(obj), "_is_variable", False)


class Variable(Tensor, metaclass=VariableMeta):
    """A tensor that takes part in autograd (0.3); from 0.4 on the same as a tensor.

    ``volatile=True`` (0.3): nothing computed from it keeps history; later eras warn, as PyTorch did.
    """

    __slots__ = ()
    _is_variable = True
    __torch_function__ = no_override

    def __new__(cls, data=None, requires_grad=None, volatile=None, creator=None, grad_fn=None, _grad_fn=None):
        if data is None:
            data = Tensor()
        if not isinstance(data, TensorBase):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        if policy.two_types and isinstance(data, Variable):
            raise RuntimeError("Variable data has to be a tensor, but got Variable")
        if volatile and requires_grad:
            raise RuntimeError("Variable can't be volatile and require_grad at the same time!")
        result = data_of(data)
        if policy.two_types:
            result.__class__ = Variable
        if requires_grad:
            result.requires_grad_(True)
        if volatile and policy.two_types:
            result.volatile = True
        elif volatile:
            import warnings
            warnings.warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.",
                          UserWarning, stacklevel=2)
        return result

    def __init__(self, *args, **kwargs):
        pass

    def __reduce_ex__(self, protocol):
        return Variable, (self.data,), (self.requires_grad, bool(policy.two_types and self.volatile), None)

    def __setstate__(self, state):
        super().__setstate__(state)
        if state[1] and policy.two_types:
            self.volatile = True

    def __repr__(self, *, tensor_contents=None):
        from .._core.printing import variable_repr
        return variable_repr(self)

    __str__ = __repr__
