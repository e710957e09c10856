"""``torch.jit`` as real torch has it with ``PYTORCH_JIT=0``: nothing is compiled, and what would be runs as Python.

``script`` and ``trace`` give back what they are given, so that programs that use them compute what they would. What
needs a compiled program (``save``, ``load``, graphs) raises NotImplementedError.
"""
import builtins
import contextlib
import warnings
from typing import Final

from .._refused import attribute
from ..futures import Future
from ..nn.modules.module import Module
from ._instance import isinstance

__all__ = ["Attribute", "Error", "Final", "Future", "ScriptFunction", "ScriptModule", "ScriptWarning",
           "TracerWarning", "TracingCheckError", "annotate", "enable_onednn_fusion", "export", "fork", "fuser",
           "ignore", "interface", "is_scripting", "is_tracing", "isinstance", "onednn_fusion_enabled",
           "optimized_execution", "script", "script_if_tracing", "script_method", "set_fusion_strategy",
           "strict_fusion", "trace", "trace_module", "unused", "wait"]

class Error(RuntimeError):
    """An error inside compiled code."""


JITException = Error


class TracingCheckError(AssertionError):
    """A trace that does not compute what was traced; never raised, for nothing is traced."""


class TracerWarning(Warning):
    """Warns of what a trace would not see; never given, for nothing is traced."""

    @staticmethod
    def ignore_lib_warnings():
        """Silence the tracer's warnings about torch's own code."""
        warnings.filterwarnings("ignore", category=TracerWarning, module="torch.(?!jit)")


class ScriptWarning(Warning):
    """Warns of what a compiled module would not support."""


class ScriptFunction:
    """A compiled function; there are none, so that nothing is an instance of it."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError("torch.jit.ScriptFunction is not implemented: there is no compiler")


class ScriptModule(Module):
    """A Module; its methods marked with ``script_method`` run as Python."""

    def __init__(self, optimize=None):
        super().__init__()

    def save(self, f, _extra_files=None):
        """Not implemented."""
        attribute("torch.jit", "save")(self, f)


def script(obj, optimize=None, _frames_up=0, _rcb=None, example_inputs=None):
    """*obj* itself: a function, class or module that runs as Python."""
    return obj


def script_method(fn):
    """*fn* itself."""
    return fn


def trace(func, example_inputs=None, optimize=None, check_trace=True, check_inputs=None, check_tolerance=1e-5,
          strict=True, _force_outplace=False, _module_class=None, _compilation_unit=None, example_kwarg_inputs=None,
          _store_inputs=True):
    """*func* itself, which is not called."""
    return func


def trace_module(mod, inputs, optimize=None, check_trace=True, check_inputs=None, check_tolerance=1e-5, strict=True,
                 _force_outplace=False, _module_class=None, _compilation_unit=None, example_inputs_is_kwarg=False,
                 _store_inputs=True):
    """*mod* itself, which is not called."""
    return mod


def script_if_tracing(fn):
    """*fn*: nothing is ever traced."""
    return fn


def export(fn):
    """Mark a method as one that is compiled; returns it."""
    return fn


def ignore(drop=False, **kwargs):
    """Mark a function as one that stays Python; used with or without arguments."""
    if callable(drop):
        return drop
    if not builtins.isinstance(drop, bool):
        raise RuntimeError(f"Argument to @torch.jit.ignore must be a bool or a function but got {drop}")
    return lambda fn: fn


def unused(fn):
    """Mark a function as one that compiled code would not call; returns it."""
    return fn


def interface(obj):
    """Mark a class as an interface type; returns it."""
    return obj


def Attribute(value, type):
    """*value*, which a compiled module would keep as an attribute of *type*."""
    return value


def annotate(the_type, the_value):
    """*the_value*, which the compiler would take to be of *the_type*."""
    return the_value


def is_scripting():
    """Whether the caller is compiled code: False."""
    return False


def is_tracing():
    """Whether the caller is being traced: False."""
    return False


def fork(func, *args, **kwargs):
    """Call *func* at once; a Future of its result."""
    future = Future()
    try:
        future.set_result(func(*args, **kwargs))
    except Exception as error:
        future.set_exception(error)
    return future


def wait(future):
    """The result of a ``fork``; what it raised is raised here."""
    return future.wait()


@contextlib.contextmanager
def optimized_execution(should_optimize):
    """A context in which compiled code would (not) be optimised; without effect."""
    yield


@contextlib.contextmanager
def fuser(name):
    """A context with the fuser ``fuser0`` to ``fuser3``; without effect."""
    if name not in ("fuser0", "fuser1", "fuser2", "fuser3"):
        raise Exception(f"unrecognized fuser option (name: {name})")
    yield


class strict_fusion:
    """A context in which all that is compiled must be fused; without effect, for nothing is compiled."""

    def __enter__(self):
        pass

    def __exit__(self, *exc):
        pass


def set_fusion_strategy(strategy):
    """The strategy of specialisation before, [("STATIC", 2), ("DYNAMIC", 10)] at first; kept without effect."""
    global _strategy
    before, _strategy = _strategy, list(strategy)
    return before


_strategy = [("STATIC", 2), ("DYNAMIC", 10)]


def enable_onednn_fusion(enabled):
    """Not to be had: fusion with oneDNN can only be switched off."""
    if enabled:
        raise NotImplementedError("torch.jit.enable_onednn_fusion is not implemented: there is no compiler")


def onednn_fusion_enabled():
    """Whether oneDNN fusion is on: False."""
    return False


def __getattr__(name):
    if name == "Iterator":
        from collections.abc import Iterator
        return Iterator
    return attribute("torch.jit", name)
