"""Era 0.3: Tensor and Variable are two types. Results are given their type once, at the outermost op call.

An op on a Variable gives Variables, and what would be 0-dim has size (1,). An op on Tensors alone gives Tensors, and
what would be 0-dim is a Python number.
"""
from .._core.autograd import make_detached, tensor_requires_grad
from .._core.policy import inside
from .._core.tensor import TensorBase
from .._tensor import Tensor
from ..autograd.variable import Variable


def wrap_result(op, args, result):
    """The result of an op call as the era has it."""
    if result is None or isinstance(result, (bool, int, float, str)):
        return result
    for arg in args:
        if result is arg:
            return result
    variable = _any_variable(args)
    if variable and op is not None and op.__name__ in _KEEP_BYTES and args[0].dtype.name == "uint8":
        with inside():
            result = result.to(args[0].dtype)
    return _wrap(result, args, variable)


# Sums of a byte Variable were bytes and wrapped at 256; those of a ByteTensor were Python ints.
_KEEP_BYTES = ("sum", "prod", "cumsum", "cumprod")


def _any_variable(items):
    for item in items:
        if isinstance(item, TensorBase):
            if getattr(type(item), "_is_variable", False):
                return True
        elif isinstance(item, (list, tuple)) and _any_variable(item):
            return True
    return False


def _wrap(result, args, variable):
    if isinstance(result, TensorBase):
        if variable or tensor_requires_grad(result):
            if result.dim() == 0:
                result = _with_size_1(result)
            if type(result) is Tensor:
                result.__class__ = Variable
            return result
        return result.item() if result.dim() == 0 and args else result
    if isinstance(result, tuple) and type(result) is tuple:
        return tuple([_wrap(r, args, variable) for r in result])
    if isinstance(result, list):
        return [_wrap(r, args, variable) for r in result]
    return result


def _with_size_1(result):
    from .._core import OPS
    with inside():
        return OPS["torch.unsqueeze"](result, 0)


def as_variables(values):
    """Tensors that the engine hands to user code, also in tuples, as Variables."""
    return tuple([_wrap(v, values, True) if isinstance(v, TensorBase)
                  else as_variables(v) if isinstance(v, tuple) else v for v in values])


def as_tensors(values):
    """What the engine hands to user code that works on Tensors, without history."""
    return tuple([make_detached(v) if isinstance(v, TensorBase) else v for v in values])


wrap_result.as_variables = as_variables
wrap_result.as_tensors = as_tensors
