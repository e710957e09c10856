"""Linear algebra under the names that older versions of PyTorch had, with their argument order and results."""
import numpy as np

from .._core import OPS
from .._core.declaring import op
from .._core.device import contiguous_format
from .._core.dtype import scalar_type
from .._core.tensor import wrap_ndarray
from ._results import named
from .linalg_base import LinAlgError, check_kernel, check_square, lapack, matrices, not_differentiable, stack_of
from .linalg_factor import _check_positive, _cholesky, _lu_factor, symmetric
from .linalg_solve import _check_solved, _solve, _solve_triangular, cholesky_inverse, cholesky_solve, lu_solve
from .linalg_spectra import _eigh, linalg_matrix_rank
from .samples import Draw, Samples, call, integers


def _m(*shape):
    return Draw(*shape, matrix="regular")


def _spd(*shape):
    return Draw(*shape, matrix="positive")


def _columns(b):
    """Right-hand sides as a matrix: one vector is a column."""
    return b.unsqueeze(-1) if b.dim() == 1 else b


def _fit(b, A, what):
    """Whether A is square and b has its rows."""
    if b.dim() < 2:
        raise RuntimeError(f"{what} should have at least 2 dimensions, but has {b.dim()} dimensions instead")
    if A.dim() < 2:
        raise RuntimeError(f"A should have at least 2 dimensions, but has {A.dim()} dimensions instead")
    if A.shape[-1] != A.shape[-2]:
        raise RuntimeError(f"A must be batches of square matrices, but they are {A.shape[-1]} by {A.shape[-2]} "
                           "matrices")
    if A.shape[-1] != b.shape[-2]:
        raise RuntimeError(f"Incompatible matrix sizes for matmul: each A matrix is {A.shape[-1]} by {A.shape[-1]} but "
                           f"each b matrix is {b.shape[-2]} by {b.shape[-1]}")


# ---------------------------------------------------------------- systems

def _solved(self, A, make):
    b = _columns(self)
    _fit(b, A, "B")
    check_kernel(A, "solve")
    X, info = _solve(A, b, True, False)
    _check_solved(info, "solve")
    return make((X, _lu_factor(A.detach())[0]))


_systems = [call(Draw(3, 2), _m(3, 3)), call(Draw(2, 3, 2), _m(2, 3, 3))]
_solve_result, _gels_result = named("solve", "solution", "LU"), named("lstsq", "solution", "QR")


def _solve_reference(torch):
    """What torch 2 has instead."""
    def solve(b, A):
        LU, _ = torch.linalg.lu_factor(A)
        return torch.linalg.solve(A, b), LU
    return solve


@op(out=True, aliases=("gesv",), renames={"B": "self", "input": "self"},
    samples=Samples(_systems, "floating", reference=_solve_reference))
def solve(self, A):
    """(X, LU) with A X = B, from B and square A, and the packed LU factors of A."""
    return _solved(self, A, _solve_result)


@op(method=False, function=False, grads={"self": not_differentiable("lstsq"), "A": not_differentiable("lstsq")})
def _gels(self, A):
    m, n = A.shape
    matrix, stack = stack_of(A), stack_of(self)
    if n > m:
        stack = np.concatenate([stack, np.zeros(stack.shape[:2] + (n - m,), stack.dtype)], 2)
    info = lapack.gels(matrix, stack)
    if info.any():
        raise LinAlgError(f"Lapack Error in gels : The {int(info[0])}-th diagonal element of the triangular factor of "
                          "A is zero")
    return matrices(stack, ()), matrices(matrix, ())


@op(out=True, aliases=("gels",), renames={"B": "self", "input": "self"}, samples=Samples(
    [call(Draw(5, 2), Draw(5, 3)), call(Draw(2, 2), Draw(2, 4)), call(Draw(4), Draw(4, 3))], "float", gradcheck=False,
    seen=lambda r: [], reference=lambda torch: lambda b, A: ()))
def lstsq(self, A):
    """(solution, QR) of a least squares problem A X = B of full rank.

    Below the solution's first n rows stand numbers whose squares sum up to the residuals.
    """
    b = _columns(self)
    if A.dim() != 2 or b.dim() != 2:
        raise RuntimeError("invalid argument 2: A and B should be 2 dimensional")
    if A.shape[0] != b.shape[0]:
        raise RuntimeError(f"Expected A and b to have same size at dim 0, but A has {A.shape[0]} rows and B has "
                           f"{b.shape[0]} rows")
    check_kernel(A, "lstsq")
    return _gels_result(_gels(b, A))


_triangular_result = named("triangular_solve", "solution", "cloned_coefficient")


@op(out=True, aliases=("trtrs",), renames={"b": "self", "input": "self"}, samples=Samples(
    _systems + [call(Draw(3, 2), _m(3, 3), False), call(Draw(3, 2), _m(3, 3), True, True),
                call(Draw(3, 2), _m(2, 3, 3), False, True, True)], "floating"))
def triangular_solve(self, A, upper=True, transpose=False, unitriangular=False):
    """(X, a copy of A) with A X = B (transpose: A^T X = B) for triangular A."""
    b = _columns(self)
    if self.dtype is not A.dtype:
        raise RuntimeError(f"Expected b and A to have the same dtype, but found b of type {scalar_type(self.dtype)} "
                           f"and A of type {scalar_type(A.dtype)} instead.")
    if b.dim() < 2:
        raise RuntimeError("torch.triangular_solve: Expected b to have at least 2 dimensions, but it has 0 dimensions "
                           "instead")
    if A.dim() < 2:
        raise RuntimeError(f"torch.triangular_solve: Expected A to have at least 2 dimensions, but it has {A.dim()} "
                           "dimensions instead")
    if A.shape[-1] != A.shape[-2]:
        raise RuntimeError(f"A must be batches of square matrices, but they are {A.shape[-2]} by {A.shape[-1]} "
                           "matrices")
    if A.shape[-1] != b.shape[-2]:
        raise RuntimeError(f"Incompatible matrix sizes for triangular_solve: each A matrix is {A.shape[-1]} by "
                           f"{A.shape[-1]} but each b matrix is {b.shape[-2]} by {b.shape[-1]}")
    check_kernel(A, "triangular_solve_cpu")
    if transpose:
        X = _solve_triangular(A.transpose(-2, -1), b, not upper, True, unitriangular)
    else:
        X = _solve_triangular(A, b, upper, True, unitriangular)
    batch = tuple(X.shape[:-2])
    copy = A.expand(batch + tuple(A.shape[-2:])).transpose(-2, -1).clone(memory_format=contiguous_format)
    return _triangular_result((X, copy.transpose(-2, -1)))            # in column order


# ---------------------------------------------------------------- Cholesky

@op(out=True, samples=Samples([call(_spd(3, 3)), call(_spd(3, 3), False)], "floating", prepare=symmetric,
                              reference=lambda torch: lambda a, upper=True: torch.linalg.cholesky(a, upper=upper)))
def potrf(self, upper=True):
    """The upper (or lower) triangular Cholesky factor of a positive-definite matrix."""
    check_square(self, "potrf")
    factor, info = _cholesky(self, upper)
    _check_positive(info, "potrf")
    return factor


@op(out=True, samples=Samples([call(_spd(3, 3)), call(_spd(3, 3), False)], "floating",
                              reference=lambda torch: lambda u, upper=True: torch.cholesky_inverse(u, upper)))
def potri(self, upper=True):
    """The inverse of a matrix, from its Cholesky factor."""
    return cholesky_inverse(self, upper)


@op(out=True, renames={"u": "input2", "b": "self"}, samples=Samples(
    [call(Draw(3, 2), _spd(3, 3)), call(Draw(3, 2), _spd(3, 3), False)], "floating",
    reference=lambda torch: lambda b, u, upper=True: torch.cholesky_solve(b, u, upper)))
def potrs(self, input2, upper=True):
    """X with A X = B, from B and the Cholesky factor of A."""
    return cholesky_solve(_columns(self), input2, upper)


_pstrf_result = named("pstrf", "u", "pivot")


@op(out=True, samples=Samples([call(_spd(3, 3)), call(_spd(3, 3), False)], "float", gradcheck=False, seen=lambda r: [],
                              reference=lambda torch: lambda a, upper=True: ()))
def pstrf(self, upper=True, tol=-1):
    """(u, pivots from 0): the Cholesky factor of a positive semi-definite matrix with rows and columns exchanged."""
    if self.dim() != 2:
        raise RuntimeError("invalid argument 1: A should be 2 dimensional")
    check_square(self, "pstrf")
    check_kernel(self, "pstrf")
    stack = stack_of(self.detach())
    pivots, _, _ = lapack.pstrf(ord("U" if upper else "L"), stack, float(tol))
    lapack.clear_triangle(stack, not upper)
    return _pstrf_result((matrices(stack, ()), wrap_ndarray(pivots - np.int32(1))))


# ---------------------------------------------------------------- LU

@op(out=True, samples=Samples([call(_m(3, 3)), call(_m(2, 3, 3), True, True)], "floating"))
def lu(self, pivot=True, get_infos=False):
    """Packed LU factors and pivots, from 1; get_infos: and which pivots are zero."""
    if self.dim() < 2:
        raise RuntimeError(f"torch.lu_factor: Expected tensor with 2 or more dimensions. Got size: {list(self.shape)} "
                           "instead")
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")
    LU, pivots, info = _lu_factor(self)
    return (LU, pivots, info) if get_infos else (LU, pivots)


@op(samples=Samples([call(_m(2, 3, 3))], "floating", reference=lambda torch: torch.linalg.lu_factor))
def btrifact(self, info=None, pivot=True):
    """Packed LU factors and pivots, from 1, of a batch of matrices."""
    LU, pivots, infos = lu(self, pivot, True)
    if info is not None:
        info.resize_(infos.shape).copy_(infos)
    return LU, pivots


@op(samples=Samples([call(_m(2, 3, 3))], "floating", reference=lambda torch: torch.linalg.lu_factor_ex))
def btrifact_with_info(self, pivot=True):
    """Packed LU factors, pivots, and for each matrix 0 or which pivot is zero."""
    return lu(self, pivot, True)


@op(renames={"b": "self"}, samples=Samples([
    call(Draw(2, 3, 2), _m(2, 3, 3), integers(2, 3, low=1, high=4, dtype="int32"))], "floating",
    reference=lambda torch: torch.lu_solve))
def btrisolve(self, LU_data, LU_pivots):
    """X with A X = B, from B, of vectors or matrices, and the results of ``btrifact``."""
    return lu_solve(self, LU_data, LU_pivots)


@op(method=False, samples=Samples([call(Draw(2, 3, 3), integers(2, 3, low=1, high=4, dtype="int32"))], "floating",
                                  reference=lambda torch: torch.lu_unpack))
def btriunpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True):
    """(P, L, U) of the results of ``btrifact``; what is not unpacked is None."""
    P, L, U = OPS["torch.lu_unpack"](LU_data, LU_pivots, unpack_data, unpack_pivots)
    return P if unpack_pivots else None, L if unpack_data else None, U if unpack_data else None


# ---------------------------------------------------------------- eigenvalues

_symeig_result = named("symeig", "eigenvalues", "eigenvectors")


def _symeig_reference(torch):
    def symeig(a, eigenvectors=False, upper=True):
        w, v = torch.linalg.eigh(a, "U" if upper else "L")
        return w, v if eigenvectors else torch.zeros_like(v)
    return symeig


@op(out=True, samples=Samples(
    [call(_spd(3, 3)), call(_spd(3, 3), True), call(_spd(2, 3, 3), True, False)], "floating", prepare=symmetric,
    seen=lambda r: [x.abs() for x in r], reference=_symeig_reference))
def symeig(self, eigenvectors=False, upper=True):
    """Eigenvalues, in ascending order, and eigenvectors (zeros unless asked for) of symmetric matrices."""
    check_square(self, "symeig")
    check_kernel(self, "symeig")
    values, columns = _eigh(self, not upper)
    return _symeig_result((values, columns if eigenvectors else self.new_zeros(self.shape)))


_eig_result = named("eig", "eigenvalues", "eigenvectors")


def _eig_reference(torch):
    def eig(a, eigenvectors=False):
        return torch.view_as_real(torch.linalg.eigvals(a)), torch.empty(0, dtype=a.dtype)
    return eig


@op(method=False, function=False, grads={"self": not_differentiable("eig")})
def _old_eig(self, eigenvectors):
    (real, imaginary), columns, info = lapack.geev(stack_of(self), eigenvectors)
    if info.any():
        raise LinAlgError("Lapack Error in geev : the algorithm failed to compute all eigenvalues")
    values = wrap_ndarray(np.stack([real[0], imaginary[0]], -1))
    return values, matrices(columns, ()) if eigenvectors else self.new_empty(0)


@op(out=True, samples=Samples([call(Draw(3, 3))], "float", gradcheck=False,
                              seen=lambda r: [r[0].sum(0), r[1]], reference=_eig_reference))
def eig(self, eigenvectors=False):
    """Eigenvalues, as rows (real part, imaginary part), and eigenvectors of a real square matrix.

    A pair of conjugate eigenvalues has the real part of its first vector in one column, the imaginary part in the next.
    """
    if self.dim() != 2:
        raise RuntimeError("invalid argument 1: A should be 2 dimensional")
    check_square(self, "eig")
    check_kernel(self, "eig")
    if self.is_complex():
        raise NotImplementedError("eig: complex matrices are not implemented; use torch.linalg.eig")
    if not np.isfinite(self._ndarray()).all():
        raise RuntimeError("eig: input tensor should not contain infs or NaNs.")
    return _eig_result(_old_eig(self, eigenvectors))


def _rank_reference(torch):
    def rank(a, tol=None, symmetric=False):
        return torch.linalg.matrix_rank(a, hermitian=symmetric, **({} if tol is None else {"tol": tol}))
    return rank


@op(method=False, samples=Samples([call(Draw(4, 3)), call(_spd(3, 3), None, True), call(Draw(3, 3), 1.0)], "floating",
                                  gradcheck=False, reference=_rank_reference))
def matrix_rank(self, tol=None, symmetric=False):
    """The number of singular values above ``tol`` (by default: rounding errors)."""
    return linalg_matrix_rank(self, tol, symmetric)
