"""Distances and similarities of vectors."""

from ... import _ops


def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    """The cosine of the angle between vectors along *dim*; norms below *eps* count as *eps*."""
    x1, x2 = _ops.broadcast_tensors(x1, x2)
    x1 = x1 / x1.norm(2, dim, keepdim=True).clamp(min=eps)
    x2 = x2 / x2.norm(2, dim, keepdim=True).clamp(min=eps)
    return (x1 * x2).sum(dim)


def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    """The p-norm of ``x1 - x2 + eps`` along the last dimension."""
    return (x1 - x2 + eps).norm(p, -1, keepdim=keepdim)


def pdist(input, p=2.0):
    """The p-norm distances between all pairs of rows, in the order (0,1), (0,2), ..."""
    return _ops.pdist(input, p)
