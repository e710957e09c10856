"""Linear systems, inverses and determinants on a device: by LU and Cholesky factors, which kernels of ours make.

A block factors a matrix, so that many small ones are what these are good for.
"""
from math import prod

from .._core import OPS
from .._core.dtype import int32
from .._ops.linalg_base import batch_of, expanded
from . import _dense


def _stack(A):
    """The matrices of a tensor as a new contiguous (count, rows, columns)."""
    return A.contiguous().clone().reshape(prod(A.shape[:-2]), *A.shape[-2:])


def _lu_factor(A):
    """(packed LU factors, pivots from 1, infos)."""
    stack, batch = _stack(A), tuple(A.shape[:-2])
    pivots, infos = _dense.lu(stack)
    return stack.reshape(A.shape), pivots.reshape(*batch, pivots.shape[-1]), infos.reshape(batch)


def _cholesky(A, upper):
    """(factors, infos); one triangle is looked at, the other one is zero."""
    stack = _stack(A.mH if upper else A)
    infos = _dense.cholesky(stack)
    factors = stack.reshape(A.shape)
    return factors.mH.contiguous() if upper else factors, infos.reshape(A.shape[:-2])


def _solve_triangular(A, B, upper, left, unitriangular):
    batch = batch_of(A, B)
    if not left:                           # X A = B: A^T X^T = B^T
        return _solve_triangular(A.mT, B.mT, not upper, True, unitriangular).mT
    triangles, columns = expanded(A, batch).contiguous(), _stack(expanded(B, batch))
    _dense.solve_triangle(triangles.reshape(columns.shape[0], *A.shape[-2:]), columns, upper, unitriangular)
    return columns.reshape(*batch, *B.shape[-2:])


def _solved(stack, pivots, columns):
    """X (b, n, k) with A X = columns, from the LU factors of A."""
    order, _ = _dense.order_of(pivots, stack.shape[1])
    result = columns.gather(1, order.unsqueeze(-1).expand(columns.shape))
    _dense.solve_triangle(stack, result, False, True)
    _dense.solve_triangle(stack, result, True, False)
    return result


def _solve(A, B, left, vector):
    """(solutions, infos), for B of matrices or of vectors."""
    if vector:
        B = B.unsqueeze(-1)
    if not left:
        X, infos = _solve(A.mT, B.mT, True, False)
        return X.mT, infos
    batch = batch_of(A, B)
    stack = _stack(A)
    pivots, infos = _dense.lu(stack)
    n = A.shape[-1]
    if tuple(A.shape[:-2]) != batch:       # one matrix for several right sides
        stack, pivots = (t.reshape((*A.shape[:-2], *t.shape[1:])).expand((*batch, *t.shape[1:])).contiguous()
                         for t in (stack, pivots))
    columns = _stack(expanded(B, batch))
    X = _solved(stack.reshape(columns.shape[0], n, n), pivots.reshape(columns.shape[0], n), columns)
    X = X.reshape(*batch, *B.shape[-2:])
    return X.squeeze(-1) if vector else X, infos.reshape(A.shape[:-2])


def _inv(A):
    """(inverses, infos)."""
    stack = _stack(A)
    pivots, infos = _dense.lu(stack)
    unit = OPS["torch.eye"](A.shape[-1], dtype=A.dtype, device=A.device)
    result = _solved(stack, pivots, unit.expand(stack.shape).contiguous())
    return result.reshape(A.shape), infos.reshape(A.shape[:-2])


def _diagonal(A):
    """The diagonals of U and the signs of the exchanges of rows."""
    stack = _stack(A)
    pivots, _ = _dense.lu(stack)
    return stack.diagonal(0, 1, 2), _dense.order_of(pivots, A.shape[-1])[1]


def _det(A):
    diagonal, signs = _diagonal(A)
    return (diagonal.prod(1) * signs.to(A.dtype)).reshape(A.shape[:-2])


def _slogdet(A):
    diagonal, signs = _diagonal(A)
    return ((diagonal.sgn().prod(1) * signs.to(A.dtype)).reshape(A.shape[:-2]),
            diagonal.abs().log().sum(1).reshape(A.shape[:-2]))


def permutations(pivots, n, dtype):
    """The permutation matrices P of A = P L U, from pivots (*, k)."""
    order, _ = _dense.order_of(pivots.to(int32).reshape(prod(pivots.shape[:-1]), pivots.shape[-1]).contiguous(), n)
    result = order.new_zeros((order.shape[0], n, n), dtype=dtype)
    result.scatter_(1, order.unsqueeze(1), 1)
    return result.reshape(*pivots.shape[:-1], n, n)
