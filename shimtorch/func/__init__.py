"""torch.func: modules as functions. Its transforms (vmap, grad ...) are not implemented and say so."""

from .._refused import attribute

__all__ = ["functional_call", "stack_module_state"]


def __getattr__(name):
    return attribute("torch.func", name)


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """``module(*args, **kwargs)`` with the given tensors in the place of those that the module has.

    *parameter_and_buffer_dicts*: a dictionary from dotted names to tensors, or several with different names. With
    *tie_weights* a tensor that the module has under several names is replaced under all of them; with *strict* the
    names must be exactly those of the module (RuntimeError). *args* that are no tuple are one argument.
    """
    from ..nn.utils.stateless import _functional_call

    given = parameter_and_buffer_dicts
    if not isinstance(given, dict):
        given = _joined(given)
    return _functional_call(module, given, args, kwargs, tie_weights=tie_weights, strict=strict)


def _joined(dicts):
    from collections.abc import Sequence

    if not isinstance(dicts, Sequence):
        raise ValueError(
            f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(dicts)}"
        )
    if not all(isinstance(d, dict) for d in dicts):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    keys = [key for d in dicts for key in d]
    repeated = [key for i, key in enumerate(keys) if key in keys[:i]]
    if repeated:
        raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
    return {key: value for d in dicts for key, value in d.items()}


def stack_module_state(models):
    """The parameters and the buffers of models of one class, as two dictionaries of stacked tensors."""
    if len(models) == 0:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({m.training for m in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if any(type(m) is not type(models[0]) for m in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    parameters = {
        name: _stacked([dict(m.named_parameters())[name] for m in models], name)
        for name, _ in models[0].named_parameters()
    }
    buffers = {
        name: _stacked([dict(m.named_buffers())[name] for m in models], name) for name, _ in models[0].named_buffers()
    }
    return parameters, buffers


def _stacked(tensors, name):
    from .._ops import stack

    wants = {t.requires_grad for t in tensors}
    if len(wants) > 1:
        raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
    return stack(tensors).detach().requires_grad_(wants.pop())
