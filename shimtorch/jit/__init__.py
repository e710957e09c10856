"""``torch.jit`` as real torch has it with ``PYTORCH_JIT=0``: nothing is compiled, and what would be runs as Python.

``script`` and ``trace`` give back what they are given, so that programs that use them compute what they would. What
needs a compiled program (``save``, ``load``, graphs) raises NotImplementedError.
"""
import builtins
import contextlib
import warnings
from typing import Final

from ..futures import Future
from ..nn.modules.module import Module
from ._instance import isinstance

__all__ = ["Attribute", "Error", "Final", "Future", "ScriptFunction", "ScriptModule", "ScriptWarning", "TracerWarning",
           "TracingCheckError", "annotate", "enable_onednn_fusion", "export", "export_opnames", "fork", "freeze",
           "fuser", "ignore", "interface", "is_scripting", "is_tracing", "isinstance", "last_executed_optimized_graph",
           "load", "onednn_fusion_enabled", "optimize_for_inference", "optimized_execution",
           "run_frozen_optimizations", "save", "script", "script_if_tracing", "script_method", "set_fusion_strategy",
           "strict_fusion", "trace", "trace_module", "unused", "wait"]

class Error(RuntimeError):
    """An error inside compiled code."""


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
        raise _no_compiler("ScriptFunction")


class ScriptModule(Module):
    """A Module; its methods marked with ``script_method`` run as Python."""

    def __init__(self, optimize=None):
        super().__init__()

    def save(self, f, _extra_files=None):
        """Not implemented."""
        save(self, f, _extra_files)


def _no_compiler(name):
    return NotImplementedError(f"torch.jit.{name} is not implemented: there is no compiler. Modules are saved with "
                               "torch.save(module.state_dict(), f)")


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


def freeze(mod, preserved_attrs=None, optimize_numerics=True):
    """Not implemented."""
    raise _no_compiler("freeze")


def optimize_for_inference(mod, other_methods=None):
    """Not implemented."""
    raise _no_compiler("optimize_for_inference")


def run_frozen_optimizations(mod, optimize_numerics=True, preserved_methods=None):
    """Not implemented."""
    raise _no_compiler("run_frozen_optimizations")


def save(m, f, _extra_files=None):
    """Not implemented: there is no compiled program that could be written."""
    raise _no_compiler("save")


def load(f, map_location=None, _extra_files=None, _restore_shapes=False):
    """Not implemented: compiled programs cannot be run."""
    raise _no_compiler("load")


def export_opnames(m):
    """Not implemented."""
    raise _no_compiler("export_opnames")


def last_executed_optimized_graph():
    """Not implemented."""
    raise _no_compiler("last_executed_optimized_graph")


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
        raise _no_compiler("enable_onednn_fusion")


def onednn_fusion_enabled():
    """Whether oneDNN fusion is on: False."""
    return False


def __getattr__(name):
    if name == "Iterator":
        from collections.abc import Iterator
        return Iterator
    raise AttributeError(f"module 'torch.jit' has no attribute '{name}'")
