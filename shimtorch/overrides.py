"""``torch.overrides``: the ``__torch_function__`` protocol for those who write functions, classes and modes.

A class with a classmethod ``__torch_function__(cls, func, types, args=(), kwargs=None)`` is called in the place of any
function of torch that gets one of its instances as an argument; it needs not be a subclass of Tensor. A
``TorchFunctionMode`` sees every call inside its ``with`` block.
"""
import functools
import warnings

from ._core import protocol as _protocol
from ._core.protocol import handle as _handle
from ._core.protocol import has_override as has_torch_function

__all__ = ["get_ignored_functions", "get_overridable_functions", "get_testing_overrides", "handle_torch_function",
           "has_torch_function", "resolve_name", "is_tensor_like", "is_tensor_method_or_property",
           "wrap_torch_function", "enable_reentrant_dispatch", "redispatch_function"]


def has_torch_function_unary(argument):
    """``has_torch_function`` for one argument."""
    return has_torch_function((argument,))


def has_torch_function_variadic(*arguments):
    """``has_torch_function`` for arguments that are not in a tuple."""
    return has_torch_function(arguments)


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    """Let the classes of relevant_args answer a call of public_api with args and kwargs; TypeError if none does."""
    return _handle(public_api, tuple(relevant_args), args, kwargs)


def wrap_torch_function(dispatcher):
    """A decorator that makes a function overridable: dispatcher(*args, **kwargs) gives the arguments whose classes are
    asked."""
    def inner(function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return function(*args, **kwargs)
        return wrapped
    return inner


def redispatch_function(func, types, args=(), kwargs=None):
    """Call func's own implementation from within a ``__torch_function__``: this call is not asked about, those that
    func makes in turn are."""
    return _protocol.call_through(func, args, kwargs or {})


def enable_reentrant_dispatch():
    """A context, kept for compatibility, in which nothing differs: a call may always be made within a call."""
    import contextlib
    return contextlib.nullcontext()


def is_tensor_like(inp):
    """Whether inp is a Tensor, or of a class with ``__torch_function__``."""
    from ._tensor import Tensor
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


def is_tensor_method_or_property(func):
    """Whether func is a method of Tensor, or the ``__get__`` of one of its attributes."""
    return getattr(func, "__name__", None) == "__get__" or func in _tables().methods


def resolve_name(f):
    """The name of a function or method of torch, such as ``torch.Tensor.shape.__get__``; None for others."""
    return _tables().names.get(f) if _hashable(f) else None


def get_default_nowrap_functions():
    """The functions whose results Tensor's own ``__torch_function__`` leaves as they are."""
    return set(_protocol.left_unwrapped())


def get_overridable_functions():
    """{namespace: functions of it that can be overridden}."""
    return {space: list(functions) for space, functions in _tables().overridable.items()}


def get_ignored_functions():
    """The public functions that ``__torch_function__`` never sees."""
    return set(_tables().ignored)


def get_testing_overrides():
    """{function that can be overridden: a function of the same signature that returns -1}."""
    return {f: _lambda(f) for functions in _tables().overridable.values() for f in functions if _hashable(f)}


def _tables():
    from ._overridable import tables
    return tables()


def _hashable(f):
    try:
        hash(f)
    except TypeError:
        return False
    return True


def _lambda(f):
    from ._overridable import signature_of
    signature = signature_of(f)

    def override(*args, **kwargs):
        return -1
    override.__name__ = getattr(f, "__name__", "override")
    override.__signature__ = signature
    return override


class TorchFunctionMode:
    """While entered, its ``__torch_function__(self, func, types, args=(), kwargs=None)`` sees every call of torch.

    Within it the mode itself is not entered: ``func(*args, **kwargs)`` goes to the mode outside, or is done.
    """

    def __torch_function__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        from ._overriding import watch_tensor
        if _protocol.push_mode(self):
            watch_tensor(True)
        return self

    def __exit__(self, *exc):
        from ._overriding import watch_tensor
        if _protocol.pop_mode():
            watch_tensor(False)

    @classmethod
    def push(cls, *args, **kwargs):
        """The old way to make a mode for a ``with`` statement."""
        warnings.warn("`Mode.push()` is no longer necessary and can be replaced with just `with Mode()`", stacklevel=2)
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that makes every call as it is."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def _get_current_function_mode():
    """The innermost mode of this thread; None without any."""
    modes = _protocol.current_modes()
    return modes[-1] if modes else None


def _get_current_function_mode_stack():
    """The modes of this thread, the innermost last."""
    return _protocol.current_modes()
