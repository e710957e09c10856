"""Handles for removable hooks, and the gates that run a module's backward hooks (torch.utils.hooks)."""

import weakref
from collections import OrderedDict

from .. import _ops
from .._core import Tensor

__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks", "BackwardHook"]


class RemovableHandle:
    """Takes a hook out of the dictionary it was registered in.

    ``remove()`` may be called any number of times; used as a context manager it removes the hook on exit.
    The dictionaries are held weakly, so a handle never keeps a module alive.
    """

    id: int
    next_id: int = 0

    def __init__(self, hooks_dict, *, extra_dict=None):
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        self.hooks_dict_ref = weakref.ref(hooks_dict)
        if extra_dict is None:
            extras = ()
        elif isinstance(extra_dict, dict):
            extras = (extra_dict,)
        else:
            extras = extra_dict
        self.extra_dict_ref = tuple(weakref.ref(d) for d in extras)

    def remove(self):
        """Forget the hook; nothing happens when it is already gone."""
        for ref in (self.hooks_dict_ref, *self.extra_dict_ref):
            hooks = ref()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __getstate__(self):
        return self.hooks_dict_ref(), self.id, tuple(ref() for ref in self.extra_dict_ref)

    def __setstate__(self, state):
        hooks, self.id = state[0], state[1]
        self.hooks_dict_ref = weakref.ref(OrderedDict() if hooks is None else hooks)
        extras = state[2] if len(state) > 2 and state[2] is not None else ()
        self.extra_dict_ref = tuple(weakref.ref(d) for d in extras)
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.remove()


def unserializable_hook(f):
    """Mark a tensor hook as one that may silently be left out when the tensor is pickled."""
    f.__torch_unserializable__ = True
    return f


def warn_if_has_hooks(tensor):
    """Warn about every backward hook of *tensor* that pickling would lose."""
    for hook in (tensor._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            import warnings

            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can decorate "
                "the function with @torch.utils.hooks.unserializable_hook to suppress this warning",
                stacklevel=2,
            )


def _gate_class():
    """The autograd Function behind both gates, made on first use to keep imports light.

    Forward passes its tensors through unchanged; backward hands all their gradients to one callback at once.
    """
    global _Gate
    if _Gate is None:
        from ..autograd import Function

        class BackwardHookFunction(Function):
            @staticmethod
            def forward(ctx, callback, *tensors):
                ctx.callback = callback
                ctx.set_materialize_grads(False)
                ctx.mark_non_differentiable(*(t for t in tensors if not t.requires_grad))
                return tensors

            @staticmethod
            def backward(ctx, *grads):
                return (None, *ctx.callback(grads))

        _Gate = BackwardHookFunction
    return _Gate


_Gate = None


class BackwardHook:
    """Runs full backward hooks and pre-hooks of one module call.

    The tensors entering and leaving ``forward`` pass through identity gates. Backward reaches the output gate
    first, where the gradients of all outputs are known together, and the input gate last.
    """

    def __init__(self, module, user_hooks, user_pre_hooks):
        self.module = module
        self.user_hooks = user_hooks
        self.user_pre_hooks = user_pre_hooks
        self.grad_outputs = None
        self.output_places = None
        self.n_outputs = -1
        self.input_places = None
        self.input_kinds = None
        self.n_inputs = -1

    def setup_input_hook(self, args):
        """Send the tensors among the positional arguments through the input gate; returns the new arguments."""
        self.n_inputs = len(args)
        args, self.input_places = self._through_gate(args, self._at_inputs)
        if self.input_places is not None:
            self.input_kinds = [(args[i].shape, args[i].dtype, args[i].device) for i in self.input_places]
        return args

    def setup_output_hook(self, result):
        """Send the tensors of the module's result through the output gate; returns the new result."""
        outputs = result if isinstance(result, tuple) else (result,)
        self.n_outputs = len(outputs)
        gated, self.output_places = self._through_gate(outputs, self._at_outputs)
        return gated if isinstance(result, tuple) else gated[0]

    def _through_gate(self, values, callback):
        from .. import is_grad_enabled

        places = [i for i, v in enumerate(values) if isinstance(v, Tensor)]
        if not (any(values[i].requires_grad for i in places) and is_grad_enabled()):
            return values, None
        gated = list(values)
        passed = _gate_class().apply(callback, *(values[i] for i in places))
        for place, tensor in zip(places, passed, strict=True):
            gated[place] = tensor
        return (tuple(gated) if type(values) is tuple else type(values)(*gated)), places

    def _at_outputs(self, grads):
        grad_outputs = _spread(self.output_places, grads, self.n_outputs)
        for hook in self.user_pre_hooks:
            replaced = hook(self.module, grad_outputs)
            if replaced is None:
                continue
            if len(replaced) != len(grad_outputs):
                raise RuntimeError(
                    f"Backward pre hook returned an invalid number of grad_output, got {len(replaced)}, "
                    f"but expected {len(grad_outputs)}"
                )
            grad_outputs = replaced
        if self.input_places is None:
            self._without_input_grad(grad_outputs)
        else:
            self.grad_outputs = grad_outputs
        return tuple(grad_outputs[i] for i in self.output_places)

    def _without_input_grad(self, grad_outputs):
        import warnings

        warnings.warn(
            "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs "
            "require gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
            "#torch.nn.Module.register_full_backward_hook for more details.",
            stacklevel=5,
        )
        nothing = (None,) * self.n_inputs
        for hook in self.user_hooks:
            result = hook(self.module, nothing, grad_outputs)
            if result is not None and not (isinstance(result, tuple) and all(g is None for g in result)):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return None or None "
                    "for all gradients."
                )

    def _at_inputs(self, grads):
        if self.grad_outputs is None:  # the output took no part in this backward
            return grads
        # The hooks see zeros for an input that no gradient reached.
        grads = [
            _ops.zeros(shape, dtype=dtype, device=device) if grad is None else grad
            for grad, (shape, dtype, device) in zip(grads, self.input_kinds, strict=True)
        ]
        grad_inputs = _spread(self.input_places, grads, self.n_inputs)
        for hook in self.user_hooks:
            replaced = hook(self.module, grad_inputs, self.grad_outputs)
            if replaced is None:
                continue
            if len(replaced) != len(grad_inputs):
                raise RuntimeError(
                    f"Backward hook returned an invalid number of grad_input, got {len(replaced)}, "
                    f"but expected {len(grad_inputs)}"
                )
            grad_inputs = replaced
        self.grad_outputs = None
        return tuple(grad_inputs[i] for i in self.input_places)


def _spread(places, values, size):
    spread = [None] * size
    for place, value in zip(places, values, strict=True):
        spread[place] = value
    return tuple(spread)
