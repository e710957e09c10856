"""``torch.jit.isinstance``: instances of generic container types, looked at to the bottom."""
import builtins
import types
import typing


def isinstance(obj, target_type):
    """Whether *obj* is of *target_type*: a class, or List, Dict, Tuple, Optional or Union of such.

    The elements of containers are looked at; of an empty container anything is true, with a UserWarning. Containers
    without element types (``list``, ``typing.List`` ...) raise RuntimeError.
    """
    if builtins.isinstance(target_type, tuple):
        return any(isinstance(obj, t) for t in target_type)
    origin, parts = typing.get_origin(target_type), typing.get_args(target_type)
    if not parts and (target_type in (list, dict, tuple) or origin in (list, dict, tuple)):
        raise RuntimeError(_unspecified(target_type))
    if origin is typing.Union or origin is types.UnionType:
        return any(isinstance(obj, t) for t in parts)
    if origin is None:
        return obj is None if target_type in (None, type(None)) else builtins.isinstance(obj, target_type)
    if not builtins.isinstance(obj, origin):
        return False
    if not obj and origin is not tuple:
        import warnings
        warnings.warn("The inner type of a container is lost when calling torch.jit.isinstance in eager mode. For "
                      "example, List[int] would become list and therefore falsely return True for List[float] or "
                      "List[str].", stacklevel=2)
    if origin is list:
        return all(isinstance(x, parts[0]) for x in obj)
    if origin is dict:
        return all(isinstance(k, parts[0]) and isinstance(v, parts[1]) for k, v in obj.items())
    if origin is tuple:
        if len(parts) == 2 and parts[1] is Ellipsis:
            return all(isinstance(x, parts[0]) for x in obj)
        return len(obj) == len(parts) and all(isinstance(x, t) for x, t in zip(obj, parts, strict=True))
    return True


def _unspecified(container):
    name = getattr(container, "__name__", str(container))
    if container in (dict, dict):
        return (f"Attempted to use {name} without contained types. Please add contained type, e.g. {name}[int, int]")
    return f"Attempted to use {name} without a contained type. Please add a contained type, e.g. {name}[int]"
