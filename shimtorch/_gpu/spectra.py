"""QR factors, singular values, eigenvalues of Hermitian matrices and least squares on a device, by kernels of ours.

A block has a matrix, so that many small ones are what these are good for. Singular vectors come from rotations that
make the columns of a matrix orthogonal; the eigenvalues of a Hermitian one are the singular values of what a multiple
of the unit matrix makes positive.
"""
from math import sqrt

import numpy as np

from .._core import OPS
from .._ops.linalg_base import LinAlgError, batch_of, expanded, first_failure, h
from . import _dense
from .factoring import _solve_triangular, _stack
from .fallback import fallback


def _eye(rows, columns, like, count):
    eye = OPS["torch.eye"](rows, columns, dtype=like.dtype, device=like.device)
    return eye.expand(count, rows, columns).contiguous()


def _shaped(stack, batch):
    return stack.reshape((*batch, *stack.shape[1:]))


# ---------------------------------------------------------------- QR

def _geqrf(A):
    stack = _stack(A)
    taus = _dense.reflectors(stack)
    return stack.reshape(A.shape), _shaped(taus, A.shape[:-2])


def _q_of(stack, taus, columns):
    """The first columns of the Q of a stack of reflectors."""
    Q = _eye(stack.shape[1], columns, stack, stack.shape[0])
    _dense.reflect(stack, taus, Q, False)
    return Q


def _qr(A, mode):
    batch, (m, n) = tuple(A.shape[:-2]), A.shape[-2:]
    stack = _stack(A)
    taus = _dense.reflectors(stack)
    height = m if mode == "complete" else min(m, n)
    R = _shaped(stack.narrow(1, 0, height).triu(), batch)
    return (A.new_empty(0) if mode == "r" else _shaped(_q_of(stack, taus, height), batch)), R


# ---------------------------------------------------------------- singular values

def _least(dtype, m):
    return float(np.finfo(dtype.name).eps) * max(1.0, sqrt(m))


def _failed(infos, batch, name):
    failure = first_failure(_shaped(infos, batch))
    if failure is not None:
        raise LinAlgError(f"{name}: {failure[0]}The algorithm failed to converge because the input matrix is "
                          f"ill-conditioned or has too many repeated eigenvalues (error code: {failure[1]}).")


def _bounded(stack, batch, name):
    """(matrices with elements of at most 1, what they were divided by (b, 1)); raises if any is not finite."""
    sizes = stack.abs().amax((1, 2))
    finite = sizes.isfinite()
    if not bool(finite.all()):
        prefix = first_failure(_shaped(finite.logical_not(), batch))[0]
        raise LinAlgError(f"{name}: {prefix}The algorithm failed to converge because the input matrix contained "
                          "non-finite values.")
    sizes = OPS["torch.where"](sizes == 0, OPS["torch.ones_like"](sizes), sizes)
    return stack / sizes.reshape(-1, 1, 1), sizes.unsqueeze(1)


def _svd(A, full):
    """(U, S, Vh) of matrices."""
    batch, (m, n) = tuple(A.shape[:-2]), A.shape[-2:]
    if m < n:
        U, S, Vh = _svd(h(A), full)
        return h(Vh).contiguous(), S, h(U).contiguous()
    stack = _stack(A)
    count = stack.shape[0]
    if count == 0 or n == 0:
        S = OPS["torch.real"](stack).new_empty((*batch, n))
        return _shaped(_eye(m, m if full else n, A, count), batch), S, _shaped(_eye(n, n, A, count), batch)
    W, sizes = _bounded(stack, batch, "linalg.svd")
    V = _eye(n, n, A, count)
    _failed(_dense.orthogonalise(W, V, _least(A.dtype, m)), batch, "linalg.svd")
    S = OPS["torch.linalg.vector_norm"](W, 2, 1)
    S, order = S.sort(1, descending=True)
    W, V = (x.gather(2, order.unsqueeze(1).expand(x.shape)) for x in (W, V))
    # The columns of W are orthogonal: its R is diagonal, and its Q has what is lacking where they are 0.
    taus = _dense.reflectors(W)
    phases = W.diagonal(0, 1, 2).sgn()
    phases = OPS["torch.where"](phases == 0, OPS["torch.ones_like"](phases), phases)
    U = _q_of(W, taus, m if full else n)
    U.narrow(2, 0, n).mul_(phases.unsqueeze(1))
    return _shaped(U, batch), _shaped(S * sizes, batch), _shaped(h(V).contiguous(), batch)


# ---------------------------------------------------------------- Hermitian matrices

def _eigh(A, lower):
    """(eigenvalues in ascending order, eigenvectors) of the Hermitian matrices whose triangle is given."""
    batch, n = tuple(A.shape[:-2]), A.shape[-1]
    stack = _stack(A)
    count = stack.shape[0]
    if count == 0 or n == 0:
        return OPS["torch.real"](stack).new_empty((*batch, n)), _shaped(_eye(n, n, A, count), batch)
    part = stack.tril(-1) if lower else stack.triu(1)
    diagonal = OPS["torch.real"](stack.diagonal(0, 1, 2))
    whole = part + h(part) + OPS["torch.diag_embed"](diagonal.to(A.dtype))
    W, sizes = _bounded(whole, batch, "linalg.eigh")
    shift = W.abs().sum(2).amax(1)                          # no eigenvalue is larger
    W.diagonal(0, 1, 2).add_(shift.unsqueeze(1).to(A.dtype))
    V = _eye(n, n, A, count)
    _failed(_dense.orthogonalise(W, V, _least(A.dtype, n)), batch, "linalg.eigh")
    values, order = (OPS["torch.linalg.vector_norm"](W, 2, 1) - shift.unsqueeze(1)).sort(1)
    return _shaped(values * sizes, batch), _shaped(V.gather(2, order.unsqueeze(1).expand(V.shape)), batch)


# ---------------------------------------------------------------- least squares

def _solved(A, B):
    """(minimizers of |A X - B|, of least norm; the rest of Q^H B; whether a diagonal element of R is 0), for stacks."""
    (m, n), stack = A.shape[1:], _stack(A if A.shape[1] >= A.shape[2] else h(A))
    taus = _dense.reflectors(stack)
    k = min(m, n)
    R = stack.narrow(1, 0, k).contiguous()
    zero = (R.diagonal(0, 1, 2) == 0).any(1)
    if m >= n:
        columns = _stack(B)
        _dense.reflect(stack, taus, columns, True)
        return _solve_triangular(R, columns.narrow(1, 0, n), True, True, False), columns.narrow(1, n, m - n), zero
    X = B.new_zeros((B.shape[0], n, B.shape[2]))
    X.narrow(1, 0, m).copy_(_solve_triangular(h(R).contiguous(), B, False, True, False))
    _dense.reflect(stack, taus, X, False)
    return X, X.narrow(1, 0, 0), zero


def _lstsq(A, B, rcond, driver):
    if driver != "gels":
        op = OPS["torch._lstsq"]
        return fallback(op, op.forward)(A, B, rcond, driver)
    batch = batch_of(A, B)
    m, n = A.shape[-2:]
    X, rest, zero = _solved(_stack(expanded(A, batch)), _stack(expanded(B, batch)))
    failure = first_failure(_shaped(zero, batch))
    if failure is not None:
        raise LinAlgError(f"torch.linalg.lstsq: {failure[0]}The least squares solution could not be computed because "
                          f"the input matrix does not have full rank (error code: {failure[1]}).")
    squares = OPS["torch.real"](rest * rest.conj()).sum(1)
    none = squares.new_empty(0)
    return (_shaped(X, batch), _shaped(squares, batch) if m > n else none, A.new_empty(0, dtype=_int64()), none)


def _gels(B, A):
    """(solutions, with the rest of Q^H B below; the reflectors of the factors) of one full-rank problem A X = B."""
    m, n = A.shape
    X, rest, zero = _solved(_stack(A), _stack(B))
    if bool(zero.any()):
        first = int((_geqrf(A if m >= n else h(A))[0].diagonal() == 0).nonzero()[0]) + 1
        raise LinAlgError(f"Lapack Error in gels : The {first}-th diagonal element of the triangular factor of A is "
                          "zero")
    factors = _geqrf(A)[0] if m >= n else h(_geqrf(h(A))[0])
    return OPS["torch.cat"]([X, rest], 1).squeeze(0), factors


def _int64():
    from .._core.dtype import int64
    return int64


# ---------------------------------------------------------------- exponentials

TERMS = 14                                                  # of the series, for matrices of norm up to 1/2


def _matrix_exp(A):
    """The series for a fraction of A, squared again and again."""
    if not A.numel():
        return A.clone()
    norms = A.abs().sum(-2).amax(-1)
    halvings = (norms * 2).log2().ceil().nan_to_num(0.0, 1100.0, 0.0).clamp(0, 1100)
    X = A * (0.5 ** halvings).unsqueeze(-1).unsqueeze(-1)
    eye = OPS["torch.eye"](A.shape[-1], dtype=A.dtype, device=A.device)
    result = eye + X / TERMS
    for k in range(TERMS - 1, 0, -1):
        result = eye + X.matmul(result) / k
    for step in range(int(halvings.max())):
        more = (halvings > step).unsqueeze(-1).unsqueeze(-1)
        result = OPS["torch.where"](more, result.matmul(result), result)
    return result
