"""Pieces that derivative rules share."""
from .._core import OPS


def conj(x):
    """The complex conjugate; a real tensor, or a number, as it is."""
    if not hasattr(x, "is_complex"):
        return x.conjugate() if isinstance(x, complex) else x
    return x.conj() if x.is_complex() else x


def restore_dims(g, shape, dim, keepdim):
    """The gradient of a reduction with the reduced dimensions put back at size 1."""
    if keepdim or not shape:
        return g
    if dim is None or dim == () or dim == []:
        return g.reshape([1] * len(shape))
    dims = dim if isinstance(dim, (tuple, list)) else (dim,)
    for d in sorted(x % len(shape) for x in dims):
        g = g.unsqueeze(d)
    return g


def where(condition, a, b):
    return OPS["torch.where"](condition, a, b)
