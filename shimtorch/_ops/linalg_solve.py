"""Solving linear systems; inverses and determinants."""
import numpy as np

from .._core import OPS
from .._core.declaring import op
from .._core.dtype import scalar_type
from .._core.tensor import wrap_ndarray
from ._arguments import flag
from ._results import named
from ._rules import conj, where
from .linalg_base import (
    LinAlgError,
    array_of,
    batch_of,
    check_float,
    check_kernel,
    check_matrix,
    check_square,
    count,
    expanded,
    first_failure,
    h,
    lapack,
    matrices,
    not_differentiable,
    stack_of,
    turned_stack,
    vectors,
)
from .linalg_factor import _LINALG, _pivots, _unpacked, check_pivots
from .samples import Draw, Samples, call


def _m(*shape):
    return Draw(*shape, matrix="regular")


def _spd(*shape):
    return Draw(*shape, matrix="positive")


def _t(x):
    """The transposed matrices, for the side that LAPACK does not have."""
    return x.transpose(-2, -1)


def _fit(A, B, left, name):
    """Whether A X = B (or X A = B) has shapes that fit."""
    if A.shape[-2] != B.shape[-2 if left else -1]:
        raise RuntimeError(f"{name}: Incompatible shapes of A and B for the equation {'AX' if left else 'XA'} = B "
                           f"({A.shape[-2]}x{A.shape[-1]} and {B.shape[-2]}x{B.shape[-1]})")


# ---------------------------------------------------------------- general matrices

def _outer_h(x, y, vector):
    """x y^H, of vectors too."""
    return x.unsqueeze(-1).matmul(h(y.unsqueeze(-1))) if vector else x.matmul(h(y))


def _solve_grads(g, out, A, left, vector, needs):
    X = out[0]
    gb = _solve(h(A), g, left, vector)[0]
    if not needs[0]:
        return None, gb
    return -_outer_h(gb, X, vector) if left else -h(X).matmul(gb), gb


@op(method=False, function=False, backward_name="LinalgSolveExBackward0", grads={
    ("A", "B"): lambda g, out, A, left, vector, needs: _solve_grads(g, out, A, left, vector, needs)})
def _solve(A, B, left, vector):
    """(solutions, infos), for B of matrices or of vectors."""
    if vector:
        B = B.unsqueeze(-1)
    batch = batch_of(A, B)
    factors = turned_stack(A)                 # A's rows as columns: the LU factors of the transposes
    pivots, info = lapack.getrf(factors)
    own, n, B = tuple(A.shape[:-2]), A.shape[-1], expanded(B, batch)
    if own != batch:
        factors = np.broadcast_to(factors.reshape(own + (n, n)), batch + (n, n)).reshape(count(batch), n, n).copy()
        pivots = np.broadcast_to(pivots.reshape(own + (n,)), batch + (n,)).reshape(count(batch), n).copy()
    stack = stack_of(B) if left else turned_stack(B)
    if not info.any():
        lapack.getrs(ord("T" if left else "N"), factors, pivots, stack)
    X = matrices(stack, batch)
    if not left:
        X = _t(X)
    return X.squeeze(-1) if vector else X, vectors(info, own)


def _checked_solve(A, B, left, name):
    check_float(A, name)
    if A.dtype is not B.dtype:
        raise RuntimeError(f"{name}: Expected A and B to have the same dtype, but found A of type "
                           f"{scalar_type(A.dtype)} and B of type {scalar_type(B.dtype)} instead")
    vector = B.dim() == 1 or (A.dim() - 1 == B.dim() and tuple(B.shape) == tuple(A.shape[:-1]))
    check_square(A, name)
    if not vector:
        check_matrix(B, name, "input tensor B")
        _fit(A, B, left, name)
    elif not left:
        raise RuntimeError(f"{name}: Vector broadcasting of the left hand side is not supported for left=False. In "
                           "this case linalg.solve is equivalent to B / A.squeeze(-1)")
    elif A.shape[-1] != B.shape[-1]:
        _fit(A, B.unsqueeze(-1), left, name)
    check_kernel(A, "linalg_solve_ex")
    return _solve(A, B, left, vector)


def _check_solved(info, name):
    failure = first_failure(info)
    if failure is not None:
        raise LinAlgError(f"torch.{name}: {failure[0]}The solver failed because the input matrix is singular.")


_solve_ex_result = named("linalg_solve_ex", "result", "info")
_solve_samples = Samples([
    call(_m(3, 3), Draw(3, 2)), call(_m(3, 3), Draw(3)), call(_m(2, 3, 3), Draw(2, 3)), call(_m(2, 3, 3), Draw(3, 2)),
    call(_m(3, 3), Draw(2, 3), left=False), call(_m(2, 1, 2, 2), Draw(3, 2, 2)), call(_m(0, 0), Draw(0, 2))],
    "floating")


@op(out=True, samples=_solve_samples, **_LINALG)
def solve_ex(A, B, *, left=True, check_errors=False):
    """``solve`` that reports in ``info`` which pivot is zero, instead of raising."""
    result = _checked_solve(A, B, left, "linalg.solve")
    if check_errors:
        _check_solved(result[1], "linalg.solve_ex")
    return _solve_ex_result(result)


@op(name="solve", out=True, samples=_solve_samples, **_LINALG)
def linalg_solve(A, B, *, left=True):
    """X with A X = B (left=False: X A = B), for square A and B of matrices or of vectors, batches broadcast."""
    X, info = _checked_solve(A, B, left, "linalg.solve")
    _check_solved(info, "linalg.solve")
    return X


# ---------------------------------------------------------------- inverses

@op(method=False, function=False, backward_name="LinalgInvExBackward0", grads={
    "A": lambda g, out: -h(out[0]).matmul(g).matmul(h(out[0]))})
def _inv(A):
    """(inverses, infos)."""
    stack = stack_of(A)
    pivots, info = lapack.getrf(stack)
    if not info.any():
        info = lapack.getri(stack, pivots)
    return matrices(stack, A.shape[:-2]), vectors(info, A.shape[:-2])


def _check_inverse(info, name):
    failure = first_failure(info)
    if failure is not None:
        raise LinAlgError(f"{name}: {failure[0]}The diagonal element {failure[1]} is zero, the inversion could not be "
                          "completed because the input matrix is singular.")


def _inverted(A, name):
    check_square(A, "linalg.inv")
    check_float(A, "linalg.inv", low=False)
    result = _inv(A)
    if name is not None:
        _check_inverse(result[1], name)
    return result


_inverse_samples = Samples([call(_m(3, 3)), call(_m(2, 3, 3)), call(_m(2, 1, 2, 2)), call(_m(0, 0))], "floating")
_inv_ex_result = named("linalg_inv_ex", "inverse", "info")


@op(out=True, samples=_inverse_samples, **_LINALG)
def inv(A):
    """The inverses of square matrices."""
    return _inverted(A, "linalg.inv")[0]


@op(out=True, samples=_inverse_samples, **_LINALG)
def inv_ex(A, *, check_errors=False):
    """``inv`` that reports in ``info`` which pivot is zero, instead of raising."""
    return _inv_ex_result(_inverted(A, "linalg.inv_ex" if check_errors else None))


@op(out=True, samples=_inverse_samples)
def inverse(self):
    """The inverses of square matrices."""
    return _inverted(self, "linalg.inv")[0]


# ---------------------------------------------------------------- determinants

def _cofactors(A):
    """The gradient of det for any matrices, singular too, by their singular values."""
    from .linalg_spectra import linalg_svd
    U, S, Vh = linalg_svd(A)
    n = S.shape[-1]
    others = S.unsqueeze(-2).expand(tuple(S.shape[:-1]) + (n, n))
    eye = OPS["torch.eye"](n, dtype=S.dtype, device=S.device)
    others = (others * (1 - eye) + eye).prod(-1)             # the product of all but one
    turn = conj(_det(U) * _det(Vh)).unsqueeze(-1).unsqueeze(-1)
    return turn * (U * others.unsqueeze(-2)).matmul(Vh)


def _det_grad(g, A, out):
    g = g.unsqueeze(-1).unsqueeze(-1)
    if bool((out == 0).any()):
        return g * _cofactors(A)
    return (g * conj(out).unsqueeze(-1).unsqueeze(-1)) * h(_inv(A)[0])


@op(method=False, function=False, backward_name="LinalgDetBackward0", grads={
    "A": lambda g, A, out: _det_grad(g, A, out)})
def _det(A):
    diagonal, signs = lapack.getrf_diagonal(turned_stack(A))
    result = diagonal.prod(1) * signs.astype(diagonal.dtype)
    return wrap_ndarray(result.reshape(tuple(A.shape[:-2])))


_det_samples = Samples([call(Draw(3, 3)), call(Draw(2, 3, 3)), call(Draw(1, 1)), call(Draw(0, 0)),
                        call(Draw(2, 2, low=1, high=1.0))], "floating", gradcheck=(0, 1, 2))


def _checked_det(A, name):
    check_square(A, name)
    check_float(A, name)
    check_kernel(A, "lu_cpu")
    return _det(A)


@op(name="det", out=True, samples=_det_samples, **_LINALG)
def linalg_det(A):
    """The determinants of square matrices."""
    return _checked_det(A, "linalg.det")


@op(samples=_det_samples)
def det(self):
    """The determinants of square matrices."""
    return _checked_det(self, "linalg.det")


def _slogdet_grad(g, A, out):
    g_sign, g_log = g
    factor = g_log
    if A.is_complex():
        turn = OPS["torch.imag"](conj(g_sign) * out[0])
        factor = OPS["torch.complex"](g_log, -turn)
    return factor.unsqueeze(-1).unsqueeze(-1) * h(_inv(A)[0])


@op(method=False, function=False, backward_name="LinalgSlogdetBackward0", grads={
    "A": lambda g, A, out: _slogdet_grad(g, A, out)})
def _slogdet(A):
    diagonal, signs = lapack.getrf_diagonal(turned_stack(A))
    size = np.abs(diagonal)
    with np.errstate(divide="ignore", invalid="ignore"):
        phases = np.where(size == 0, 0, diagonal / size) if size.size else diagonal
        logs = np.log(size).sum(1)
    signs = (phases.prod(1) * signs).astype(diagonal.dtype)
    batch = tuple(A.shape[:-2])
    return wrap_ndarray(signs.reshape(batch)), wrap_ndarray(logs.astype(size.dtype).reshape(batch))


_slogdet_result, _old_slogdet_result = named("linalg_slogdet", "sign", "logabsdet"), named("slogdet", "sign",
                                                                                         "logabsdet")
_slogdet_samples = Samples(_det_samples.calls, "floating", gradcheck=(0, 1, 2))


def _checked_slogdet(A, name):
    check_square(A, name)
    check_float(A, name, low=False)
    return _slogdet(A)


@op(name="slogdet", out=True, samples=_slogdet_samples, **_LINALG)
def linalg_slogdet(A):
    """(sign, logarithm of the absolute value) of the determinants of square matrices."""
    return _slogdet_result(_checked_slogdet(A, "linalg.slogdet"))


@op(out=True, samples=_slogdet_samples)
def slogdet(self):
    """(sign, logarithm of the absolute value) of the determinants of square matrices."""
    return _slogdet_result(_checked_slogdet(self, "linalg.slogdet"))


@op(samples=Samples([call(_spd(3, 3)), call(Draw(2, 3, 3)), call(_spd(1, 1))], "floating", gradcheck=(0, 2)))
def logdet(self):
    """The logarithms of the determinants of square matrices: NaN where one is negative."""
    sign, logs = _checked_slogdet(self, "logdet")
    if self.is_complex():
        return logs + sign.log()
    return where(sign < 0, np.nan, logs)


# ---------------------------------------------------------------- triangles

def _triangle(x, upper, unitriangular):
    return x.triu(int(unitriangular)) if upper else x.tril(-int(unitriangular))


def _triangular_grads(g, out, A, upper, left, unitriangular, needs):
    gb = _solve_triangular(h(A), g, not upper, left, unitriangular)
    if not needs[0]:
        return None, gb
    grad = -gb.matmul(h(out)) if left else -h(out).matmul(gb)
    return _triangle(grad, upper, unitriangular), gb


@op(method=False, function=False, backward_name="LinalgSolveTriangularBackward0", grads={
    ("A", "B"): lambda g, out, A, upper, left, unitriangular, needs: _triangular_grads(
        g, out, A, upper, left, unitriangular, needs)})
def _solve_triangular(A, B, upper, left, unitriangular):
    batch = batch_of(A, B)
    A, B = expanded(A, batch), expanded(B, batch)
    # A's rows as columns are its transpose, whose other triangle counts.
    stack = stack_of(B)
    lapack.trsm(ord("L" if left else "R"), ord("L" if upper else "U"), ord("T"), ord("U" if unitriangular else "N"),
                turned_stack(A), stack)
    return matrices(stack, batch)


@op(out=True, samples=Samples([
    call(_m(3, 3), Draw(3, 2), upper=True), call(_m(2, 3, 3), Draw(3, 2), upper=False),
    call(_m(3, 3), Draw(2, 3), upper=False, left=False), call(_m(3, 3), Draw(3, 2), upper=True, unitriangular=True),
    call(_m(2, 3, 3), Draw(2, 2, 3), upper=True, left=False, unitriangular=True),
    call(_m(0, 0), Draw(0, 2), upper=True)], "floating"), **_LINALG)
def solve_triangular(A, B, *, upper, left=True, unitriangular=False):
    """X with A X = B (left=False: X A = B) for triangular A, whose other triangle is not looked at."""
    name = "linalg.solve_triangular"
    flag(upper), flag(left), flag(unitriangular)
    check_square(A, name)
    check_matrix(B, name, "input tensor B")
    if A.dtype is not B.dtype:
        raise RuntimeError(f"{name}: Expected A and B to have the same dtype, but found A of type "
                           f"{scalar_type(A.dtype)} and B of type {scalar_type(B.dtype)} instead")
    _fit(A, B, left, name)
    check_kernel(A, "triangular_solve_cpu")
    return _solve_triangular(A, B, upper, left, unitriangular)


# ---------------------------------------------------------------- from factors

def _factor_grad(ga, factor, upper):
    """Of the Cholesky factor of A, from the gradient ga of A; like torch, of the triangle that is not looked at too."""
    ga = ga + h(ga)
    return factor.matmul(ga) if upper else ga.matmul(factor)


def _cholesky_solve_grads(g, out, input2, upper, needs):
    gb = cholesky_solve(g, input2, upper)
    return gb, _factor_grad(-gb.matmul(h(out)), input2, upper) if needs[1] else None


def _triangular(factor):
    """Prepares samples: the factor is what is said of it."""
    def prepare(args):
        args[factor] = args[factor].triu() if args[factor + 1:] else args[factor].tril()
        return args
    return prepare


@op(out=True, samples=Samples([call(Draw(3, 2), _spd(3, 3)), call(Draw(2, 3, 2), _spd(3, 3), True),
                               call(Draw(0, 2), _spd(0, 0))], "floating", prepare=_triangular(1)),
    grads={("self", "input2"): lambda g, out, input2, upper, needs: _cholesky_solve_grads(
        g, out, input2, upper, needs)})
def cholesky_solve(self, input2, upper=False):
    """X with A X = B, from B and the Cholesky factors of A."""
    if self.dim() < 2:
        raise RuntimeError(f"b should have at least 2 dimensions, but has {self.dim()} dimensions instead")
    if input2.dim() < 2:
        raise RuntimeError(f"u should have at least 2 dimensions, but has {input2.dim()} dimensions instead")
    if input2.shape[-1] != input2.shape[-2]:
        raise RuntimeError(f"A must be batches of square matrices, but they are {input2.shape[-2]} by "
                           f"{input2.shape[-1]} matrices")
    if input2.shape[-2] != self.shape[-2]:
        raise RuntimeError(f"Incompatible matrix sizes for cholesky_solve: each A matrix is {input2.shape[-1]} by "
                           f"{input2.shape[-1]} but each b matrix is {self.shape[-2]} by {self.shape[-1]}")
    if self.dtype is not input2.dtype:
        raise RuntimeError(f"Expected b and A to have the same dtype, but found b of type {scalar_type(self.dtype)} "
                           f"and A of type {scalar_type(input2.dtype)} instead.")
    check_kernel(self, "cholesky_solve_cpu")
    first, second = (h(input2), input2) if upper else (input2, h(input2))
    return _solve_triangular(second, _solve_triangular(first, self, False, True, False), True, True, False)


@op(out=True, samples=Samples([call(_spd(3, 3)), call(_spd(2, 3, 3), True)], "floating", prepare=_triangular(0)),
    grads={"self": lambda g, out, self, upper: _factor_grad(-h(out).matmul(g).matmul(h(out)), self, upper)})
def cholesky_inverse(self, upper=False):
    """The inverses of matrices, from their Cholesky factors."""
    check_square(self, "cholesky_inverse")
    check_kernel(self, "cholesky_inverse_out_cpu")
    eye = OPS["torch.eye"](self.shape[-1], dtype=self.dtype, device=self.device)
    return cholesky_solve(eye, self, upper)


@op(name="lu_solve", out=True, samples=Samples(
    [call(_m(3, 3), _pivots(3), Draw(3, 2)), call(_m(2, 3, 3), _pivots(2, 3), Draw(3, 2))]
    + [call(_m(3, 3), _pivots(3), Draw(3, 3), left=left, adjoint=adjoint) for left, adjoint in (
        (True, True), (False, False), (False, True))], "floating"), **_LINALG)
def linalg_lu_solve(LU, pivots, B, *, left=True, adjoint=False):
    """X with A X = B (or X A = B, or with A^H), from packed LU factors and pivots of A."""
    name = "linalg.lu_solve"
    check_float(LU, name)
    if LU.dtype is not B.dtype:
        raise RuntimeError(f"linalg.lu_solve: Expected LU and B to have the same dtype, but found LU of type "
                           f"{scalar_type(LU.dtype)} and B of type {scalar_type(B.dtype)} instead")
    check_pivots(pivots, "linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32")
    check_square(LU, name)
    check_matrix(B, name, "input tensor B")
    _fit(LU, B, left, name)
    if pivots.shape[-1:] != LU.shape[-1:]:
        raise RuntimeError("linalg.lu_solve: Number of pivots per batch should be same as the dimension of the matrix")
    if tuple(LU.shape[:-1]) != tuple(pivots.shape):
        raise RuntimeError("linalg.lu_solve: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots "
                           f"with shape {list(pivots.shape)} instead")
    check_kernel(LU, "lu_solve_cpu")
    array = pivots.cpu()._ndarray()
    if array.size and (array.min() < 1 or array.max() > LU.shape[-1]):
        raise RuntimeError("Pivots given to lu_solve must all be greater or equal to 1. Did you properly pass the "
                           "result of lu_factor?")
    P, _, _ = _unpacked(LU, pivots, False, True)
    if left != adjoint:                       # A X = B; and X A^H = B is A X^H = B^H
        X = _t(P).matmul(B if left else h(B))
        X = _solve_triangular(LU, _solve_triangular(LU, X, False, True, True), True, True, False)
        return X if left else h(X)
    X = h(B) if not left else B               # A^H X = B; and X A = B is A^H X^H = B^H
    X = _solve_triangular(h(LU), _solve_triangular(h(LU), X, False, True, False), True, True, True)
    X = P.matmul(X)
    return X if left else h(X)


@op(out=True, renames={"LU": "LU_data", "pivots": "LU_pivots"}, samples=Samples([
    call(Draw(3, 2), _m(3, 3), _pivots(3)), call(Draw(2, 3, 2), _m(2, 3, 3), _pivots(2, 3))], "floating"))
def lu_solve(self, LU_data, LU_pivots):
    """X with A X = B, from B and the packed LU factors and pivots of A; B may be a vector for each matrix."""
    if self.dim() == LU_data.dim() - 1 and self.dim() > 0:       # btrisolve took vectors
        return linalg_lu_solve(LU_data, LU_pivots, self.unsqueeze(-1)).squeeze(-1)
    return linalg_lu_solve(LU_data, LU_pivots, self)


@op(method=False, function=False, grads={"LD": not_differentiable("linalg_ldl_solve"),
                                         "B": not_differentiable("linalg_ldl_solve")})
def _ldl_solve(LD, pivots, B, hermitian):
    batch = batch_of(LD, B)
    stack = stack_of(expanded(B, batch))
    places = pivots.expand(tuple(batch) + (LD.shape[-1],))
    lapack.sytrs(hermitian, stack_of(expanded(LD, batch)), array_of(places, np.int32), stack)
    return matrices(stack, batch)


@op(out=True, samples=Samples([
    call(_m(3, 3), _pivots(3), Draw(3, 2)), call(_m(2, 3, 3), _pivots(2, 3), Draw(3, 2)),
    call(_m(3, 3), _pivots(3), Draw(3, 2), hermitian=True)], "floating", gradcheck=False), **_LINALG)
def ldl_solve(LD, pivots, B, *, hermitian=False):
    """X with A X = B, from the factors and pivots of ``ldl_factor``."""
    name = "torch.linalg.ldl_solve"
    check_square(LD, name)
    check_float(LD, name)
    check_matrix(B, name, "input tensor B")
    _fit(LD, B, True, name)
    if pivots.dtype.name not in ("int32", "int64", "int16", "int8", "uint8"):
        raise RuntimeError(f"{name}: Expected pivots to be integers. Got {scalar_type(pivots.dtype)}")
    if tuple(pivots.shape) != tuple(LD.shape[:-1]):
        raise RuntimeError(f"{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
                           f"{list(pivots.shape)} instead")
    if LD.dtype is not B.dtype:
        raise RuntimeError(f"{name}: LD and B must have the same dtype, got {scalar_type(LD.dtype)} and "
                           f"{scalar_type(B.dtype)}")
    check_kernel(LD, "ldl_solve_kernel_cpu")
    n, array = LD.shape[-1], pivots._ndarray()
    if array.size and (np.abs(array).min() < 1 or np.abs(array).max() > n):
        raise RuntimeError(f"{name}: pivots must lie between 1 and {n}, or their negatives")
    if not _in_pairs(array.reshape(-1, n) < 0 if n else array):
        raise RuntimeError(f"{name}: negative pivots must come in pairs")
    return _ldl_solve(LD, pivots, B, hermitian)


def _in_pairs(negative):
    """Whether the marks in each row come two by two: LAPACK trusts that a block of two has a second row."""
    half = np.zeros(len(negative), bool)
    for column in negative.T:
        if (half & ~column).any():
            return False
        half = column & ~half
    return not half.any()
