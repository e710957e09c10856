"""Pieces that derivative rules share, and the names of nodes of ops with several forms."""
from .._core import OPS
from .._core.grad_mode import is_grad_enabled
from .._core.pointwise import pointwise2
from .._core.tensor import TensorBase


def by_kernel(kernel, composed):
    """A rule that runs a kernel, or a form made of ops where the gradient is to be differentiated."""
    return lambda g, *about: (composed if is_grad_enabled() else kernel)(g, *about)


def slope(kernel, composed):
    """The rule of a pointwise op: its gradient's kernel (slopes.c) where that reaches the memory, else made of ops."""
    def run(g, x, *parameters):
        if x.is_cpu and x.is_floating_point() and g.dtype is x.dtype:
            return pointwise2(kernel, g, x, parameters)
        return composed(g, x, *parameters)
    return by_kernel(run, composed)


def conj(x):
    """The complex conjugate; a real tensor, or a number, as it is."""
    try:
        return x.conj() if x.is_complex() else x
    except AttributeError:
        return x.conjugate()


def restore_dims(g, shape, dim, keepdim):
    """The gradient of a reduction with the reduced dimensions put back at size 1."""
    if keepdim or not shape or dim is None or dim == () or dim == []:
        return g                       # a scalar broadcasts as it is
    if type(dim) is int:
        return g.unsqueeze(dim)
    for d in sorted(x % len(shape) for x in dim):
        g = g.unsqueeze(d)
    return g


def named_by_dim(stem):
    """A ``backward_name``: form 0 is over all elements, form 1 along dimensions."""
    whole, along = stem + "Backward0", stem + "Backward1"
    return lambda dim: whole if dim is None else along


def named_by_other(stem, number=0, tensor=1):
    """A ``backward_name``: its form tells whether the other operand is a number or a tensor."""
    number, tensor = f"{stem}Backward{number}", f"{stem}Backward{tensor}"
    return lambda other: tensor if isinstance(other, TensorBase) else number


def where(condition, a, b):
    return OPS["torch.where"](condition, a, b)
