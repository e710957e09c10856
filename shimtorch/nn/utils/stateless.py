"""Calling a module with other parameters than its own (torch.nn.utils.stateless, torch.func.functional_call)."""

from contextlib import contextmanager

from ..._core import Tensor

__all__ = ["functional_call"]

_ABSENT = object()


def _named(module):
    """(dotted name, tensor) of all parameters and buffers, under every name that a shared one has."""
    yield from module.named_parameters(remove_duplicate=False)
    yield from module.named_buffers(remove_duplicate=False)


def _with_tied(module, given):
    """*given* with the other names of tensors that the module has under several."""
    names = {}
    for name, tensor in _named(module):
        names.setdefault(id(tensor), set()).add(name)
    result = dict(given)
    for tied in names.values():
        found = tied & given.keys()
        if len(found) > 1 and len({id(given[name]) for name in found}) > 1:
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(tied)}, which are tied. Consider using "
                "tie_weights=False"
            )
        if found:
            value = given[next(iter(found))]
            result.update(dict.fromkeys(tied, value))
    return result


def _members(module, name):
    """The dictionary that holds a dotted name's tensor, or would hold it as a plain attribute; and the last name."""
    path, _, last = name.rpartition(".")
    if last == "":
        raise KeyError('tensor name can\'t be empty string ""')
    owner = module.get_submodule(path)
    for members in (owner._parameters, owner._buffers):
        if last in members:
            return members, last
    return owner.__dict__, last


def _check_names(module, values):
    own = {name for name, _ in _named(module)}
    problems = []
    for title, keys in (("Unexpected", values.keys() - own), ("Missing", own - values.keys())):
        if keys:
            listed = ", ".join(f"'{key}'" for key in sorted(keys))
            problems.append(f"{title} key(s): {listed}.")
    if problems:
        report = "\n\t".join(problems)
        raise RuntimeError(f"Error(s) in reparametrizing for {module._get_name()}:\n\t{report}")


@contextmanager
def _reparametrize_module(module, parameters_and_buffers, *, tie_weights=False, strict=False):
    """Inside, the module has the given tensors; what it put in their place is in the dictionary afterwards."""
    values = _with_tied(module, parameters_and_buffers) if tie_weights else dict(parameters_and_buffers)
    if strict:
        _check_names(module, values)
    swapped = []
    try:
        for name, value in values.items():
            members, last = _members(module, name)
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(f"{value} is not an instance of torch.Tensor")
            swapped.append((name, members, last, members.get(last, _ABSENT)))
            members[last] = value
        yield
    finally:
        for name, members, last, before in reversed(swapped):
            now = members.pop(last, _ABSENT) if before is _ABSENT else members[last]
            if before is not _ABSENT:
                members[last] = before
            if name in parameters_and_buffers and now is not _ABSENT:
                parameters_and_buffers[name] = now


def functional_call(module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """``module(*args, **kwargs)`` with the tensors of *parameters_and_buffers* in the place of those it has.

    The names are dotted. With *tie_weights* a tensor that the module has under several names is replaced under all of
    them. With *strict* every name must be given, and no other (RuntimeError). *args* that are no tuple are one
    argument. Deprecated in favour of ``torch.func.functional_call``.
    """
    import warnings

    warnings.warn(
        "This API is deprecated as of PyTorch 2.0 and will be removed in a future version of PyTorch. Please use "
        "torch.func.functional_call instead which is a drop-in replacement.",
        FutureWarning,
        stacklevel=2,
    )
    return _functional_call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)


def _functional_call(module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True, strict=False):
    from ..parallel import DataParallel

    if isinstance(module, DataParallel):
        raise RuntimeError("The stateless API can't be used with nn.DataParallel module")
    if args is None:
        args = ()
    elif not isinstance(args, tuple):
        args = (args,)
    with _reparametrize_module(module, parameters_and_buffers, tie_weights=tie_weights, strict=strict):
        return module(*args, **(kwargs or {}))
