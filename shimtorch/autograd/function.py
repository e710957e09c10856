"""``torch.autograd.Function``: operations with a backward of one's own, in the new style and in the old."""
from .._core.autograd import Node  # noqa: F401  (the type of every grad_fn)
from .._core.function import FunctionNode, apply_function, differentiable_once
from .._core.grad_mode import is_grad_enabled, no_grad
from .._core.policy import policy
from .._core.tensor import TensorBase
from ._nesting import flatten, unflatten

__all__ = ["Function", "FunctionCtx", "InplaceFunction", "NestedIOFunction", "once_differentiable", "traceable"]

FunctionCtx = _ContextMethodMixin = FunctionNode


class BackwardCFunction(FunctionNode):
    """The ``grad_fn`` of a new-style function, and its ``ctx``: each Function class has its own subclass."""

    _is_legacy = False

    def apply(self, *args):
        """Call the function's backward (or vjp) with gradients of the outputs."""
        cls = self._forward_cls
        backward = cls.backward
        if cls.vjp is not Function.vjp:
            if backward is not Function.backward:
                raise RuntimeError("Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You "
                                   "should only implement one of them.")
            backward = cls.vjp
        return backward(self, *args)

    _backward = apply


class FunctionMeta(type):
    """Gives each Function class its ``_backward_cls``, and notes whether it is written in the old style."""

    def __init__(cls, name, bases, attrs):
        super().__init__(name, bases, attrs)
        forward = next(c.__dict__["forward"] for c in cls.__mro__ if "forward" in c.__dict__)
        cls._is_legacy = not isinstance(forward, (staticmethod, classmethod))
        cls._backward_cls = type(name + "Backward", (BackwardCFunction,),
                                 {"_forward_cls": cls, "__module__": "torch.autograd.function"})


class Function(FunctionNode, metaclass=FunctionMeta):
    """An operation with a backward of one's own.

    In the new style ``forward(ctx, ...)`` and ``backward(ctx, *grads)`` are static methods and ``MyFunction.apply(x)``
    applies them; with a static ``setup_context(ctx, inputs, output)`` forward gets no ctx. In the old style, which
    PyTorch had until 1.2, both are methods of an instance that is applied once: ``MyFunction()(x)``. The 0.3 era gives
    forward (and an old-style backward) Tensors where they were applied to Variables.
    """

    is_traceable = False
    generate_vmap_rule = False

    def __init__(self, *args, **kwargs):
        if not self._is_legacy:
            import warnings
            warnings.warn(f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so "
                          "you should invoke them on the class itself. Instantiating an autograd function will raise "
                          "an error in a future version of PyTorch.", DeprecationWarning, stacklevel=2)

    def __call__(self, *args, **kwargs):
        if not self._is_legacy:
            raise RuntimeError("Legacy autograd function with non-static forward method is deprecated. Please use "
                               "new-style autograd function with static forward method. (Example: "
                               "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)")
        if kwargs:
            raise TypeError("_do_forward() takes no keyword arguments")
        return self._do_forward(*args)

    @staticmethod
    def forward(*args, **kwargs):
        """Compute the outputs: tensors, or a tuple of them."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Leave in ctx what backward needs, when forward takes no ctx."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        """Compute the gradients of the inputs from those of the outputs; None for what is no tensor."""
        raise NotImplementedError("You must implement either the backward or vjp method for your custom "
                                  "autograd.Function to use it with backward mode AD.")

    vjp = backward

    @staticmethod
    def jvp(ctx, *grad_inputs):
        """Forward-mode differentiation, which does not exist here."""
        raise NotImplementedError("autograd.Function.jvp: forward-mode differentiation is not implemented")

    @staticmethod
    def vmap(info, in_dims, *args):
        """Batching by ``torch.vmap``, which does not exist here."""
        raise NotImplementedError("autograd.Function.vmap is not implemented")

    @classmethod
    def apply(cls, *args, **kwargs):
        """Apply the function: forward is run without recording, and backward becomes its derivative."""
        setup = cls.setup_context
        if setup is Function.setup_context:
            if kwargs:
                args = _place(cls.forward, args, kwargs)
            return apply_function(cls._backward_cls, cls.forward, None, args)
        return apply_function(cls._backward_cls, cls.forward, setup, _bind(cls.forward, args, kwargs))


def _bind(forward, args, kwargs):
    """The arguments of a forward without ctx, defaults included."""
    code = getattr(forward, "__code__", None)
    if not kwargs and code is not None and code.co_argcount == len(args) and not code.co_kwonlyargcount:
        return args
    import inspect
    bound = inspect.signature(forward).bind(*args, **kwargs)
    bound.apply_defaults()
    if bound.kwargs:
        raise TypeError(f"forward() got an unexpected keyword argument '{next(iter(bound.kwargs))}'")
    return bound.args


def _place(forward, args, kwargs):
    """Keyword arguments of ``apply`` at their positions, which must leave no gap after the positional ones."""
    code = getattr(forward, "__func__", forward).__code__
    names = code.co_varnames[:code.co_argcount][2 if hasattr(forward, "__func__") else 1:]
    for name in kwargs:
        if name not in names:
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'")
        if name in names[:len(args)]:
            raise TypeError(f"forward() got multiple values for argument '{name}'")
    placed = list(args)
    for name in names[len(args):len(args) + len(kwargs)]:
        if name not in kwargs:
            raise TypeError(f"forward() missing required argument: '{name}' (position {len(placed)})")
        placed.append(kwargs[name])
    return tuple(placed)


def once_differentiable(fn):
    """Mark a backward as one that is not differentiable itself: nothing in it is recorded."""
    import functools

    @functools.wraps(fn)
    def wrapper(ctx, *args):
        given = args if policy.wrap_result is None else policy.wrap_result.as_tensors(args)
        with no_grad():
            outputs = fn(ctx, *given)
        if not is_grad_enabled() or not any(isinstance(a, TensorBase) and a.requires_grad for a in args):
            return outputs
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        return tuple(differentiable_once(
            "trying to differentiate twice a function that was marked with @once_differentiable", outputs))
    return wrapper


def traceable(fn_cls):
    """Mark a Function as traceable, which means nothing here."""
    fn_cls.is_traceable = True
    return fn_cls


class InplaceFunction(Function):
    """Base of old-style functions that can work in place: ``self.inplace`` says whether to."""

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace


class NestedIOFunction(Function):
    """Base of old-style functions whose inputs and outputs are nested tuples and lists of tensors.

    They implement ``forward_extended(*inputs)`` and ``backward_extended(*grad_outputs)`` on the nested values.
    """

    def _do_forward(self, *args):
        node = self._fresh()
        node._nested_input = args
        outputs = FunctionNode._do_forward(node, *flatten(args))
        return unflatten(outputs, node._nested_output)

    def forward(self, *args):
        result = self.forward_extended(*unflatten(args, self._nested_input))
        del self._nested_input
        self._nested_output = result
        return flatten(result)

    def backward(self, *grad_outputs):
        nested = unflatten(grad_outputs, self._nested_output)
        result = self.backward_extended(*(nested if isinstance(nested, tuple) else (nested,)))
        return flatten(result, keep_none=True)

    def save_for_backward(self, *args):
        self.to_save = flatten(args)
        self._saved_structure = args

    @property
    def saved_tensors(self):
        return unflatten(FunctionNode.saved_tensors.__get__(self), self._saved_structure)

    def mark_dirty(self, *args, **kwargs):
        self.dirty_tensors = flatten((args, kwargs))

    def mark_non_differentiable(self, *args, **kwargs):
        self.non_differentiable = flatten((args, kwargs))

    def forward_extended(self, *args):
        """Compute nested outputs from nested inputs."""
        raise NotImplementedError("NestedIOFunction.forward_extended")

    def backward_extended(self, *grad_outputs):
        """Compute nested gradients of the inputs from nested gradients of the outputs."""
        raise NotImplementedError("NestedIOFunction.backward_extended")
