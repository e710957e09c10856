"""Pieces that derivative rules share."""
from .._core import OPS


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


def where(condition, a, b):
    return OPS["torch.where"](condition, a, b)
