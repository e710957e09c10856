"""Subclasses of Tensor and ``__torch_function__``: their attributes and methods that are no ops ask it too.

Ops ask by themselves. What else Tensor has costs plain tensors nothing: only a subclass, and Tensor itself while a
TorchFunctionMode is entered, gets versions of it that ask.
"""
from ._core.op import Op
from ._core.protocol import Overridable, OverridableAttribute
from ._core.tensor import TensorBase
from ._ops.later import LaterMethod
from ._tensor import Tensor

# What never asks: how an object comes to be and is found, and what the C slots of TensorBase ask for themselves.
SILENT = frozenset("""
    __new__ __init__ __init_subclass__ __class__ __dict__ __weakref__ __doc__ __module__ __slots__ __torch_function__
    __getattribute__ __setattr__ __delattr__ __hash__ __subclasshook__ __array_priority__ __reduce__ __reduce_cython__
    __setstate_cython__ __iter__ as_subclass _make_subclass __pyx_vtable__ __annotations__ __static_attributes__
    __firstlineno__ _ndarray _memory __sizeof__
    __add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__ __rtruediv__ __rdiv__ __floordiv__ __rfloordiv__
    __mod__ __rmod__ __pow__ __rpow__ __matmul__ __rmatmul__ __and__ __rand__ __or__ __ror__ __xor__ __rxor__ __lshift__
    __rlshift__ __rshift__ __rrshift__ __neg__ __pos__ __abs__ __invert__ __iadd__ __isub__ __imul__ __itruediv__
    __ifloordiv__ __imod__ __ipow__ __iand__ __ior__ __ixor__ __ilshift__ __irshift__ __eq__ __ne__ __lt__ __le__ __gt__
    __ge__ __getitem__ __setitem__
""".split())


def asking(original):
    """A member of Tensor as a version that asks the classes first; None for what is no member to ask about."""
    if isinstance(original, (Op, LaterMethod, classmethod, staticmethod, type)):
        return None
    if hasattr(type(original), "__set__"):
        return OverridableAttribute(original)
    if callable(original):
        return Overridable(original, public_api=original)
    return None


def members():
    """{name: member} of Tensor and TensorBase, without what never asks."""
    found = {**vars(TensorBase), **vars(Tensor)}
    return {name: member for name, member in found.items() if name not in SILENT}


def adopt(cls):
    """Give a new subclass of Tensor the versions that ask, of all members that it has from Tensor itself."""
    for name, member in _versions().items():
        for base in cls.__mro__:
            if name in base.__dict__:
                break
        if base is Tensor or base is TensorBase:
            setattr(cls, name, member)


def _versions():
    if not _made:
        for name, member in members().items():
            version = asking(member)
            if version is not None:
                _made[name] = version
    return _made


_made = {}
_shown = {}            # what Tensor had of its own while it shows the versions that ask


def watch_tensor(on):
    """Have Tensor's own members ask, as they must while a mode is entered; or no longer."""
    if on:
        for name, version in _versions().items():
            _shown[name] = Tensor.__dict__.get(name)
            setattr(Tensor, name, version)
        return
    for name, own in _shown.items():
        if own is None:
            delattr(Tensor, name)
        else:
            setattr(Tensor, name, own)
    _shown.clear()
