"""Hooks of modules: the registries common to all modules, the methods that register, and the call that runs them."""

from collections import OrderedDict

from ..._core import Tensor
from ...utils.hooks import BackwardHook, RemovableHandle

_global_buffer_registration_hooks = OrderedDict()
_global_module_registration_hooks = OrderedDict()
_global_parameter_registration_hooks = OrderedDict()
_global_backward_pre_hooks = OrderedDict()
_global_backward_hooks = OrderedDict()
_global_forward_pre_hooks = OrderedDict()
_global_forward_hooks = OrderedDict()
_global_forward_hooks_with_kwargs = OrderedDict()
_global_forward_hooks_always_called = OrderedDict()
_global_is_full_backward_hook = None


def _add(registry, hook, *flags):
    handle = RemovableHandle(registry, extra_dict=list(flags))
    registry[handle.id] = hook
    for flag in flags:
        flag[handle.id] = True
    return handle


def register_module_buffer_registration_hook(hook):
    """Call ``hook(module, name, buffer)`` whenever any module registers a buffer; a result replaces the buffer."""
    return _add(_global_buffer_registration_hooks, hook)


def register_module_module_registration_hook(hook):
    """Call ``hook(module, name, submodule)`` whenever any module registers a child; a result replaces the child."""
    return _add(_global_module_registration_hooks, hook)


def register_module_parameter_registration_hook(hook):
    """Call ``hook(module, name, param)`` whenever any module registers a parameter; a result replaces it."""
    return _add(_global_parameter_registration_hooks, hook)


def register_module_forward_pre_hook(hook):
    """Call ``hook(module, args)`` before the forward of every module; a result replaces the arguments."""
    return _add(_global_forward_pre_hooks, hook)


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    """Call ``hook(module, args[, kwargs], output)`` after the forward of every module; a result replaces the output."""
    flags = []
    if with_kwargs:
        flags.append(_global_forward_hooks_with_kwargs)
    if always_call:
        flags.append(_global_forward_hooks_always_called)
    return _add(_global_forward_hooks, hook, *flags)


def _claim_global_backward(full):
    global _global_is_full_backward_hook
    if _global_is_full_backward_hook is (not full):
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module hook. "
            "Please use only one of them."
        )
    _global_is_full_backward_hook = full


def register_module_backward_hook(hook):
    """Call ``hook(module, grad_input, grad_output)`` in the backward of every module, on its last operation only."""
    _claim_global_backward(False)
    return _add(_global_backward_hooks, hook)


def register_module_full_backward_pre_hook(hook):
    """Call ``hook(module, grad_output)`` before the backward of every module; a result replaces the gradients."""
    return _add(_global_backward_pre_hooks, hook)


def register_module_full_backward_hook(hook):
    """Call ``hook(module, grad_input, grad_output)`` after the backward of every module."""
    _claim_global_backward(True)
    return _add(_global_backward_hooks, hook)


class _WrappedHook:
    """A hook bound weakly to its module, so that neither keeps the other alive."""

    def __init__(self, hook, module=None):
        from functools import update_wrapper
        from weakref import ref

        self.hook = hook
        update_wrapper(self, hook)
        self.with_module = module is not None
        if self.with_module:
            self.module = ref(module)

    def __call__(self, *args, **kwargs):
        if not self.with_module:
            return self.hook(*args, **kwargs)
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args, **kwargs)

    def __getstate__(self):
        state = {"hook": self.hook, "with_module": self.with_module}
        if self.with_module:
            state["module"] = self.module()
        return state

    def __setstate__(self, state):
        self.hook = state["hook"]
        self.with_module = state["with_module"]
        if self.with_module:
            from weakref import ref

            if state["module"] is None:
                raise RuntimeError("You are trying to revive the hook of a dead Module!")
            self.module = ref(state["module"])


class HookMethods:
    """The part of Module that deals with hooks."""

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """Call ``hook(module, args)`` (``hook(module, args, kwargs)`` if *with_kwargs*) before every forward.

        What it returns replaces the arguments. Returns a handle whose ``remove()`` takes the hook away.
        """
        handle = RemovableHandle(self._forward_pre_hooks, extra_dict=self._forward_pre_hooks_with_kwargs)
        self._forward_pre_hooks[handle.id] = hook
        if with_kwargs:
            self._forward_pre_hooks_with_kwargs[handle.id] = True
        if prepend:
            self._forward_pre_hooks.move_to_end(handle.id, last=False)
        return handle

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """Call ``hook(module, args, output)`` (with kwargs before output if *with_kwargs*) after every forward.

        What it returns replaces the output; with *always_call* it also runs when forward raised.
        """
        extras = [self._forward_hooks_with_kwargs, self._forward_hooks_always_called]
        handle = RemovableHandle(self._forward_hooks, extra_dict=extras)
        self._forward_hooks[handle.id] = hook
        if with_kwargs:
            self._forward_hooks_with_kwargs[handle.id] = True
        if always_call:
            self._forward_hooks_always_called[handle.id] = True
        if prepend:
            self._forward_hooks.move_to_end(handle.id, last=False)
        return handle

    def register_full_backward_pre_hook(self, hook, prepend=False):
        """Call ``hook(module, grad_output)`` before gradients flow through the module; a result replaces them."""
        handle = _add(self._backward_pre_hooks, hook)
        if prepend:
            self._backward_pre_hooks.move_to_end(handle.id, last=False)
        return handle

    def register_full_backward_hook(self, hook, prepend=False):
        """Call ``hook(module, grad_input, grad_output)`` when the gradients of the inputs are known.

        A returned tuple replaces grad_input.
        """
        self._claim_backward(True)
        handle = _add(self._backward_hooks, hook)
        if prepend:
            self._backward_hooks.move_to_end(handle.id, last=False)
        return handle

    def register_backward_hook(self, hook):
        """Call ``hook(module, grad_input, grad_output)`` in the backward of the module's last operation.

        The old form of a backward hook: grad_input are the gradients of that operation's inputs.
        """
        self._claim_backward(False)
        return _add(self._backward_hooks, hook)

    def _claim_backward(self, full):
        if self._is_full_backward_hook is (not full):
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. "
                "Please use only one of them."
            )
        self._is_full_backward_hook = full

    def _get_backward_hooks(self):
        """The full and the old-style backward hooks that apply here, global ones first."""
        full, old = [], []
        if _global_backward_hooks:
            (full if _global_is_full_backward_hook else old).extend(_global_backward_hooks.values())
        if self._backward_hooks:
            (full if self._is_full_backward_hook else old).extend(self._backward_hooks.values())
        return full, old

    def _get_backward_pre_hooks(self):
        return [*_global_backward_pre_hooks.values(), *self._backward_pre_hooks.values()]

    def _call_with_hooks(self, args, kwargs):
        """Forward with every hook around it."""
        call = _HookedCall(self, args, kwargs)
        try:
            return call.run()
        except Exception:
            call.run_always_called()
            raise


class _HookedCall:
    """One call of a module that has hooks."""

    def __init__(self, module, args, kwargs):
        self.module = module
        self.args = args
        self.kwargs = kwargs
        self.result = None
        self.done = set()

    def run(self):
        module = self.module
        pre_hooks = module._get_backward_pre_hooks()
        full_hooks, old_hooks = module._get_backward_hooks()
        self._run_forward_pre_hooks()
        gates = None
        if full_hooks or pre_hooks:
            gates = BackwardHook(module, full_hooks, pre_hooks)
            self.args = gates.setup_input_hook(self.args)
        self.result = module.forward(*self.args, **self.kwargs)
        self._run_forward_hooks()
        if gates is not None:
            if not isinstance(self.result, (Tensor, tuple)):
                import warnings

                warnings.warn(
                    "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors "
                    f"but received {type(self.result)}",
                    stacklevel=4,
                )
            self.result = gates.setup_output_hook(self.result)
        if old_hooks:
            self._attach_old_hooks(old_hooks)
        return self.result

    def _run_forward_pre_hooks(self):
        module = self.module
        for hook_id, hook in (*_global_forward_pre_hooks.items(), *module._forward_pre_hooks.items()):
            if hook_id in module._forward_pre_hooks_with_kwargs:
                replaced = hook(module, self.args, self.kwargs)
                if replaced is not None:
                    if not (isinstance(replaced, tuple) and len(replaced) == 2):
                        raise RuntimeError(
                            "forward pre-hook must return None or a tuple of (new_args, new_kwargs), "
                            f"but got {replaced}."
                        )
                    self.args, self.kwargs = replaced
            else:
                replaced = hook(module, self.args)
                if replaced is not None:
                    self.args = replaced if isinstance(replaced, tuple) else (replaced,)

    def _forward_hooks(self):
        module = self.module
        for hook_id, hook in list(_global_forward_hooks.items()):
            always = hook_id in _global_forward_hooks_always_called
            yield hook_id, hook, hook_id in _global_forward_hooks_with_kwargs, always, "global module"
        for hook_id, hook in list(module._forward_hooks.items()):
            always = hook_id in module._forward_hooks_always_called
            yield hook_id, hook, hook_id in module._forward_hooks_with_kwargs, always, "module"

    def _run_forward_hook(self, hook, with_kwargs):
        if with_kwargs:
            replaced = hook(self.module, self.args, self.kwargs, self.result)
        else:
            replaced = hook(self.module, self.args, self.result)
        if replaced is not None:
            self.result = replaced

    def _run_forward_hooks(self):
        for hook_id, hook, with_kwargs, always, _ in self._forward_hooks():
            if always:
                self.done.add(hook_id)
            self._run_forward_hook(hook, with_kwargs)

    def run_always_called(self):
        """After an error: the hooks registered with always_call that have not run yet; their own errors only warn."""
        for hook_id, hook, with_kwargs, always, kind in self._forward_hooks():
            if not always or hook_id in self.done:
                continue
            try:
                self._run_forward_hook(hook, with_kwargs)
            except Exception as error:
                import warnings

                warnings.warn(
                    f"{kind} forward hook with ``always_call=True`` raised an exception that was silenced as another "
                    f"error was raised in forward: {error}",
                    stacklevel=4,
                )

    def _attach_old_hooks(self, hooks):
        var = self.result
        while not isinstance(var, Tensor):
            var = next(v for v in var.values() if isinstance(v, Tensor)) if isinstance(var, dict) else var[0]
        grad_fn = var.grad_fn
        if grad_fn is None:
            return
        for hook in hooks:
            grad_fn.register_hook(_WrappedHook(hook, self.module))
        message = _old_hook_misses(self.args, self.result, grad_fn)
        if message is not None:
            import warnings

            warnings.warn(message, FutureWarning, stacklevel=5)


_DOCUMENTED = " Please use register_full_backward_hook to get the documented behavior."


def _old_hook_misses(inputs, result, grad_fn):
    """Why an old-style backward hook does not see all gradients of the module; None if it does."""
    if isinstance(result, Tensor):
        result = (result,)
    elif not (isinstance(result, tuple) and all(isinstance(r, Tensor) for r in result)):
        return (
            "Using non-full backward hooks on a Module that does not return a single Tensor or a tuple of Tensors is "
            "deprecated and will be removed in future versions. This hook will be missing some of the grad_output."
            + _DOCUMENTED
        )
    if isinstance(inputs, Tensor):
        inputs = (inputs,)
    elif not (isinstance(inputs, tuple) and all(isinstance(i, Tensor) for i in inputs)):
        return (
            "Using non-full backward hooks on a Module that does not take as input a single Tensor or a tuple of "
            "Tensors is deprecated and will be removed in future versions. This hook will be missing some of the "
            "grad_input." + _DOCUMENTED
        )
    producers = {r.grad_fn for r in result if r.grad_fn is not None}
    if len(producers) == 0 or (len(producers) == 1 and grad_fn not in producers):
        return (
            "Using a non-full backward hook when outputs are nested in python data structure is deprecated and will "
            "be removed in future versions. This hook will be missing some grad_output."
        )
    if len(producers) > 1:
        return (
            "Using a non-full backward hook when outputs are generated by different autograd Nodes is deprecated and "
            "will be removed in future versions. This hook will be missing some grad_output." + _DOCUMENTED
        )
    if {i.grad_fn for i in inputs if i.grad_fn is not None} != {n[0] for n in grad_fn.next_functions}:
        return (
            "Using a non-full backward hook when the forward contains multiple autograd Nodes is deprecated and will "
            "be removed in future versions. This hook will be missing some grad_input." + _DOCUMENTED
        )
    return None
