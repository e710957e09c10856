"""``torch.compiler`` and ``torch.compile``: there is no compiler, and functions run as they are.

That is what torch does too under ``torch.compiler.set_stance("force_eager")``: results are the same, nothing is faster.
"""
import functools

__all__ = ["allow_in_graph", "assume_constant_result", "compile", "cudagraph_mark_step_begin", "disable",
           "is_compiling", "is_dynamo_compiling", "is_exporting", "list_backends", "reset", "set_stance"]


def compile(model=None, *, fullgraph=False, dynamic=None, backend="inductor", mode=None, options=None, disable=False,
            **further):
    """*model*, a function or module, itself; without it, a decorator that gives back what it decorates."""
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    return model if model is not None else lambda f: f


def disable(fn=None, recursive=True, *, reason=None):
    """*fn* itself, which would not be compiled; without it, a decorator."""
    return fn if fn is not None else lambda f: f


def allow_in_graph(fn):
    """*fn* itself, which compiled code would not look into; or a list of such."""
    return fn


def assume_constant_result(fn):
    """*fn* itself, whose result compiled code would take as constant."""
    return fn


class set_stance:
    """How compiled code is run, as a call, a context or a decorator; without effect, for none is."""

    def __init__(self, stance="default", *, skip_guard_eval_unsafe=False, force_backend=None):
        self.stance = stance

    def __enter__(self):
        pass

    def __exit__(self, *exc):
        pass

    def __call__(self, f):
        @functools.wraps(f)
        def same(*args, **kwargs):
            return f(*args, **kwargs)
        return same


def is_compiling():
    """Whether the caller is being compiled: False."""
    return False


def is_dynamo_compiling():
    """Whether the caller is being compiled: False."""
    return False


def is_exporting():
    """Whether the caller is being exported: False."""
    return False


def reset():
    """Forget what was compiled: nothing was."""


def list_backends(exclude_tags=("debug", "experimental")):
    """The names of compilers: none."""
    return []


def cudagraph_mark_step_begin():
    """Accepted: there are no graphs of CUDA calls."""
