"""Grad mode: whether operations are recorded, and the contexts and decorators that set it."""
from .policy cimport ThreadState, thread_state


def is_grad_enabled():
    """Whether operations on tensors that require grad are recorded."""
    return bool(thread_state().grad_enabled)


def swap_grad_enabled(bint enabled):
    """Set the grad mode; the mode before."""
    cdef ThreadState* st = thread_state()
    before = bool(st.grad_enabled)
    st.grad_enabled = enabled
    return before


cdef class GradMode:
    """A context that sets the grad mode, and a decorator that runs a function in it."""
    cdef bint enabled
    cdef int before[32]                # one context object can be entered again
    cdef int level

    def __enter__(self):
        cdef ThreadState* st = thread_state()
        if self.level == 32:
            raise RuntimeError(f"{type(self).__name__}: entered too often")
        self.before[self.level] = st.grad_enabled
        self.level += 1
        st.grad_enabled = self.enabled

    def __exit__(self, *exc):
        if self.level == 0:
            raise RuntimeError(f"{type(self).__name__}: left without having been entered")
        self.level -= 1
        thread_state().grad_enabled = self.before[self.level]

    def __call__(self, f):
        return decorate(type(self), f)

    def clone(self):
        """A fresh context of the same mode."""
        return type(self)()


cdef class _Enabled(GradMode):
    def __cinit__(self, *args):
        self.enabled = True


class no_grad(GradMode):
    """Operations inside are not recorded. A context, and a decorator of functions and generator functions."""

    __module__ = "shimtorch.autograd.grad_mode"

    def __new__(cls, orig_func=None):
        return GradMode.__new__(cls) if orig_func is None else decorate(cls, orig_func)

    def __init__(self, orig_func=None):
        pass


class enable_grad(_Enabled):
    """Operations inside are recorded, also within no_grad. A context and a decorator."""

    __module__ = "shimtorch.autograd.grad_mode"

    def __new__(cls, orig_func=None):
        return _Enabled.__new__(cls) if orig_func is None else decorate(cls, orig_func)

    def __init__(self, orig_func=None):
        pass


cdef class _SetGrad(GradMode):
    cdef int outer

    def __init__(self, mode):
        cdef ThreadState* st = thread_state()
        self.outer = st.grad_enabled
        self.enabled = mode
        st.grad_enabled = self.enabled

    def __enter__(self):
        thread_state().grad_enabled = self.enabled

    def __exit__(self, *exc):
        thread_state().grad_enabled = self.outer

    def __call__(self, f):
        thread_state().grad_enabled = self.outer
        return decorate(self.clone, f)

    def clone(self):
        """A fresh context of the same mode, which is set at once."""
        return type(self)(self.enabled)

    def __repr__(self):
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.enabled})"


class set_grad_enabled(_SetGrad):
    """Sets whether operations are recorded: at once, until the context ends, or as a decorator."""

    __module__ = "shimtorch.autograd.grad_mode"


def decorate(context, f):
    """f run in a fresh ``context()`` each time; a generator function has it while its own body runs."""
    import functools
    import inspect
    if inspect.isclass(f):
        import warnings
        warnings.warn("Decorating classes is deprecated and will be disabled in future versions. You should only "
                      "decorate functions or methods. To preserve the current behavior of class decoration, you can "
                      "directly decorate the `__init__` method and nothing else.", FutureWarning, stacklevel=3)
    elif inspect.isgeneratorfunction(f):
        return generator_in(context, f)

    @functools.wraps(f)
    def decorate_context(*args, **kwargs):
        with context():
            return f(*args, **kwargs)
    return decorate_context


def generator_in(context, f):
    """A generator function whose body runs in the context; what runs between two items of it does not."""
    import functools

    @functools.wraps(f)
    def generator(*args, **kwargs):
        gen = f(*args, **kwargs)
        sent, error = None, None
        while True:
            try:
                with context():
                    item = gen.send(sent) if error is None else gen.throw(error)
            except StopIteration as stop:
                return stop.value
            sent, error = None, None
            try:
                sent = yield item
            except GeneratorExit:
                with context():
                    gen.close()
                raise
            except BaseException as exc:
                error = exc
    return generator
