"""Eigenvalues and singular values, and what is made of them: pseudo-inverses, ranks, least squares, exponentials."""
import numpy as np

from .._core import OPS
from .._core.declaring import op
from .._core.dtype import scalar_type
from .._core.tensor import TensorBase, wrap_ndarray
from ._results import named
from ._rules import conj, where
from .linalg_base import (
    LinAlgError,
    batch_of,
    check_float,
    check_kernel,
    check_matrix,
    check_square,
    count,
    expanded,
    h,
    lapack,
    matrices,
    stack_of,
    vectors,
)
from .linalg_factor import _LINALG, _recorded, symmetric
from .samples import Draw, Samples, call


def _spd(*shape):
    return Draw(*shape, matrix="positive")


def _diagonal(x):
    return OPS["torch.diag_embed"](x)


def _gauge(phases, what, name):
    """Refuses a loss that depends on the phases of vectors, which are nobody's promise."""
    size = OPS["torch.imag"](phases).abs()
    if size.numel() and float(size.max()) > 1e-2 * max(1.0, float(phases.abs().max())):
        raise RuntimeError(f"{name}: The {what} in the complex case are specified up to multiplication by e^{{i phi}}. "
                           "The specified loss function depends on this quantity, so it is ill-defined.")


def _differences(x, y):
    """y_j - x_i as matrices, with ones on the diagonal."""
    e = y.unsqueeze(-2) - x.unsqueeze(-1)
    return e + OPS["torch.eye"](x.shape[-1], dtype=e.dtype, device=e.device)


def _sizes(r):
    """Of bases, whose phases are free, the absolute values."""
    return [x.abs() for x in r]


# ---------------------------------------------------------------- Hermitian matrices

def _eigh_grad(gw, gv, w, V):
    if gv is None:
        return (V * gw.unsqueeze(-2)).matmul(h(V))
    inner = h(V).matmul(gv)
    if V.is_complex():
        _gauge(inner.diagonal(0, -2, -1), "eigenvectors", "linalg_eigh_backward")
    off = 1 - OPS["torch.eye"](w.shape[-1], dtype=w.dtype, device=w.device)
    inner = inner * off / _differences(w, w)
    if gw is not None:
        inner = inner + _diagonal(gw)
    return V.matmul(inner).matmul(h(V))


@op(method=False, function=False, backward_name="LinalgEighBackward0", materialize_grads=False, grads={
    "A": lambda g, out: _eigh_grad(g[0], g[1], *out)})
def _eigh(A, lower):
    batch = A.shape[:-2]
    stack = stack_of(A)
    values, info = lapack.heevd(ord("V"), ord("L" if lower else "U"), stack)
    _check_converged(info, "linalg.eigh", A)
    return vectors(values, batch), matrices(stack, batch)


def _check_converged(info, name, A):
    bad = np.flatnonzero(info)
    if bad.size:
        prefix = f"(Batch element {bad[0]}): " if A.dim() > 2 else ""
        if name == "linalg.svd" and not np.isfinite(A._ndarray()).all():
            raise LinAlgError(f"{name}: {prefix}The algorithm failed to converge because the input matrix contained "
                              "non-finite values.")
        raise LinAlgError(f"{name}: {prefix}The algorithm failed to converge because the input matrix is "
                          f"ill-conditioned or has too many repeated eigenvalues (error code: {info[bad[0]]}).")


def _checked_uplo(A, UPLO):
    check_square(A, "linalg.eigh")
    if not isinstance(UPLO, str) or UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    check_kernel(A, "linalg_eigh_cpu")
    return UPLO.upper() == "L"


_eigh_result = named("linalg_eigh", "eigenvalues", "eigenvectors")
_hermitian = [call(_spd(3, 3)), call(_spd(2, 3, 3), "U"), call(_spd(0, 0))]


@op(out=True, samples=Samples(_hermitian, "floating", seen=_sizes, prepare=symmetric), **_LINALG)
def eigh(A, UPLO="L"):
    """Eigenvalues, in ascending order, and eigenvectors of Hermitian matrices; one triangle is looked at."""
    return _eigh_result(_eigh(A, _checked_uplo(A, UPLO)))


@op(out=True, samples=Samples(_hermitian, "floating", prepare=symmetric), **_LINALG)
def eigvalsh(A, UPLO="L"):
    """Eigenvalues of Hermitian matrices, in ascending order; one triangle is looked at."""
    lower = _checked_uplo(A, UPLO)
    if _recorded(A) or A.is_cuda:
        return _eigh(A, lower)[0]
    values, info = lapack.heevd(ord("N"), ord("L" if lower else "U"), stack_of(A))
    _check_converged(info, "linalg.eigh", A)
    return vectors(values, A.shape[:-2])


# ---------------------------------------------------------------- general matrices

def _eig_grad(gw, gv, w, V, real):
    from .linalg_solve import linalg_solve as solve
    if gv is None:
        grad = solve(h(V), gw.unsqueeze(-1) * h(V))
    else:
        products = h(V).matmul(gv)
        diagonal = products.diagonal(0, -2, -1)
        _gauge(diagonal, "eigenvectors", "linalg_eig_backward")
        inner = products - h(V).matmul(V) * OPS["torch.real"](diagonal).unsqueeze(-2)
        off = 1 - OPS["torch.eye"](w.shape[-1], dtype=inner.dtype, device=inner.device)
        inner = inner * off / _differences(conj(w), conj(w))
        if gw is not None:
            inner = inner + _diagonal(gw)
        grad = solve(h(V), inner.matmul(h(V)))
    return OPS["torch.real"](grad) if real else grad


def _complex_pair(values, columns):
    """Complex eigenvalues, and eigenvectors, of what geev leaves of real matrices."""
    real, imaginary = values
    dtype = np.result_type(real, np.complex64)
    w = np.empty(real.shape, dtype)
    w.real, w.imag = real, imaginary
    if columns is None:
        return w, None
    V = columns.astype(dtype)
    first = imaginary > 0                                   # a column a vector: in a stack, the second dimension
    b, j = np.nonzero(first)
    V.imag[b, j] = columns[b, j + 1]
    V.real[b, j + 1] = columns[b, j]
    V.imag[b, j + 1] = -columns[b, j + 1]
    return w, V


@op(method=False, function=False, backward_name="LinalgEigBackward0", materialize_grads=False, grads={
    "A": lambda g, out, A_dtype: _eig_grad(g[0], g[1], *out, not A_dtype.is_complex)})
def _eig(A, with_vectors):
    batch = A.shape[:-2]
    if not np.isfinite(A._ndarray()).all():
        raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    values, columns, info = lapack.geev(stack_of(A), with_vectors)
    _check_converged(info, "linalg.eig", A)
    if not A.is_complex():
        values, columns = _complex_pair(values, columns)
    if not with_vectors:
        return vectors(values, batch)
    return vectors(values, batch), matrices(columns, batch)


def _checked_eig(A, name):
    check_square(A, name)
    if not (A.is_floating_point() or A.is_complex()):
        raise RuntimeError(f"Unknown Complex ScalarType for {scalar_type(A.dtype)}")
    check_kernel(A, "linalg_eig_out_cpu")


def _in_order(values):
    """Eigenvalues in an order of their own: LAPACK promises none."""
    key = values.real * 1.7 + values.imag
    return values.gather(-1, key.argsort(-1))


_eig_result = named("linalg_eig", "eigenvalues", "eigenvectors")
_general = [call(Draw(3, 3)), call(Draw(2, 3, 3)), call(Draw(0, 0))]


@op(out=True, samples=Samples(_general, "floating", seen=lambda r: [_in_order(r[0])]), **_LINALG)
def eig(A):
    """Eigenvalues and right eigenvectors, both complex, of square matrices."""
    _checked_eig(A, "linalg.eig")
    return _eig_result(_eig(A, True))


@op(out=True, samples=Samples(_general, "floating", seen=_in_order), **_LINALG)
def eigvals(A):
    """Eigenvalues, complex, of square matrices."""
    _checked_eig(A, "linalg.eigvals")
    return _eig(A, True)[0] if _recorded(A) else _eig(A, False)


# ---------------------------------------------------------------- singular values

def _skew(x):
    return x - h(x)


def _svd_grad(gu, gs, gv, U, S, Vh, full):
    if gu is None and gv is None:
        k = S.shape[-1]
        return (U.narrow(-1, 0, k) * gs.unsqueeze(-2)).matmul(Vh.narrow(-2, 0, k))
    k = S.shape[-1]
    if full:                                              # the bases beyond the values are not determined
        gu = None if gu is None else gu.narrow(-1, 0, k)
        gv = None if gv is None else gv.narrow(-2, 0, k)
        U, Vh = U.narrow(-1, 0, k), Vh.narrow(-2, 0, k)
    m, n = U.shape[-2], Vh.shape[-1]
    left = None if gu is None else _skew(h(U).matmul(gu))
    right = None if gv is None else _skew(gv.matmul(h(Vh)))           # V^H gV of the conjugate transposes, turned
    right = None if right is None else -right
    if U.is_complex():
        phases = sum(x.diagonal(0, -2, -1) for x in (left, right) if x is not None)
        _gauge(phases, "singular vectors", "svd_backward")
    E = _differences(S, S) * (S.unsqueeze(-2) + S.unsqueeze(-1))
    off = 1 - OPS["torch.eye"](k, dtype=S.dtype, device=S.device)
    inner = 0
    if left is not None:
        inner = inner + left * off / E * S.unsqueeze(-2)
    if right is not None:
        inner = inner + S.unsqueeze(-1) * (right * off / E)
    if U.is_complex() and left is not None:
        inner = inner + _diagonal(left.diagonal(0, -2, -1) / (2 * S))
    if gs is not None:
        inner = inner + _diagonal(gs)
    grad = U.matmul(inner)
    if m > k and gu is not None:
        scaled = gu / S.unsqueeze(-2)
        grad = grad + scaled - U.matmul(h(U).matmul(scaled))
    grad = grad.matmul(Vh)
    if n > k and gv is not None:
        scaled = gv / S.unsqueeze(-1)
        grad = grad + U.matmul(scaled - scaled.matmul(h(Vh)).matmul(Vh))
    return grad


@op(method=False, function=False, backward_name="LinalgSvdBackward0", materialize_grads=False, grads={
    "A": lambda g, out, full: _svd_grad(g[0], g[1], g[2], *out, full)})
def _svd(A, full):
    batch, (m, n) = A.shape[:-2], A.shape[-2:]
    U, S, Vh, info = lapack.gesdd(ord("A" if full else "S"), stack_of(A))
    _check_converged(info, "linalg.svd", A)
    if full and min(m, n) == 0:
        U[:], Vh[:] = np.eye(m, dtype=U.dtype), np.eye(n, dtype=U.dtype)
    return matrices(U, batch), vectors(S, batch), matrices(Vh, batch)


def _checked_svd(A, driver=None):
    check_matrix(A, "linalg.svd")
    check_float(A, "linalg.svd")
    if driver is not None:
        raise RuntimeError("torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with "
                           "cuSOLVER backend.")
    check_kernel(A, "linalg_svd_cpu")


_svd_result, _old_svd_result = named("linalg_svd", "U", "S", "Vh"), named("svd", "U", "S", "V")


@op(name="svd", out=True, samples=Samples([
    call(Draw(3, 3)), call(Draw(2, 4, 3), False), call(Draw(3, 4), full_matrices=False), call(Draw(0, 3), False),
    call(Draw(2, 0)), call(Draw(0, 3))], "floating", seen=_sizes), **_LINALG)
def linalg_svd(A, full_matrices=True, *, driver=None):
    """(U, S, Vh) with A = U diag(S) Vh: orthonormal bases, and the singular values in descending order."""
    _checked_svd(A, driver)
    return _svd_result(_svd(A, full_matrices))


def _values(A):
    if _recorded(A) or A.is_cuda:
        return _svd(A, False)[1]
    _, S, _, info = lapack.gesdd(ord("N"), stack_of(A))
    _check_converged(info, "linalg.svd", A)
    return vectors(S, A.shape[:-2])


@op(out=True, samples=Samples([call(Draw(3, 3)), call(Draw(2, 4, 3)), call(Draw(3, 4)), call(Draw(2, 0))], "floating"),
    **_LINALG)
def svdvals(A, *, driver=None):
    """The singular values of matrices, in descending order."""
    _checked_svd(A, driver)
    return _values(A)


@op(out=True, samples=Samples([call(Draw(3, 3)), call(Draw(2, 4, 3)), call(Draw(3, 4)), call(Draw(4, 3), True, False)],
                              "floating", seen=_sizes, gradcheck=(0, 1, 2)))
def svd(self, some=True, compute_uv=True):
    """(U, S, V) with A = U diag(S) V^H; some=False: square U and V; without compute_uv: they are zero."""
    if self.dim() < 2:
        raise RuntimeError(f"linalg.svd: input should have at least 2 dimensions, but has {self.dim()} dimensions "
                           "instead")
    _checked_svd(self)
    if compute_uv:
        U, S, Vh = _svd(self, not some)
        return _old_svd_result((U, S, h(Vh)))
    m, n = self.shape[-2:]
    batch = tuple(self.shape[:-2])
    return _old_svd_result((self.new_zeros(batch + (m, m)), _values(self), self.new_zeros(batch + (n, n))))


# ---------------------------------------------------------------- pseudo-inverses and ranks

def _tolerances(A, sizes, atol, rtol):
    """The threshold for singular values, as a tensor over the batch."""
    if rtol is None:
        eps = np.finfo(sizes.dtype.name).eps
        if atol is None or isinstance(atol, TensorBase):
            rtol = eps * max(A.shape[-2:])
            if atol is not None:
                rtol = where(atol > 0, 0.0, rtol)
        else:
            rtol = 0.0 if atol > 0 else eps * max(A.shape[-2:])
    atol = 0.0 if atol is None else atol
    largest = sizes.amax(-1)
    limit = largest * rtol
    return OPS["torch.maximum"](limit, atol.to(limit.dtype)) if isinstance(atol, TensorBase) else limit.clamp(min=atol)


def _pinv_grad(g, A, P):
    Ph, gh = h(P), h(g)
    grad = -Ph.matmul(g).matmul(Ph)
    middle = gh.matmul(P).matmul(Ph)                      # (I - A P) g^H P P^H
    grad = grad + middle - A.matmul(P.matmul(middle))
    middle = Ph.matmul(P).matmul(gh)                      # P^H P g^H (I - P A)
    return grad + middle - middle.matmul(P).matmul(A)


@op(method=False, function=False, backward_name="LinalgPinvBackward0", grads={
    "A": lambda g, A, out: _pinv_grad(g, A, out)})
def _pinv(A, atol, rtol, hermitian):
    if A.numel() == 0:
        return A.new_zeros(tuple(A.shape[:-2]) + (A.shape[-1], A.shape[-2]))
    if hermitian:
        S, U = _eigh(A, True)
        limit = _tolerances(A, S.abs(), atol, rtol).unsqueeze(-1)
        inverted = where(S.abs() > limit, S.reciprocal(), 0.0)
        return (U * inverted.unsqueeze(-2)).matmul(h(U))
    U, S, Vh = _svd(A, False)
    limit = _tolerances(A, S, atol, rtol).unsqueeze(-1)
    inverted = where(S > limit, S.reciprocal(), 0.0)
    return (h(Vh) * inverted.unsqueeze(-2)).matmul(h(U))


@op(name="pinv", out=True, samples=Samples([
    call(Draw(3, 3)), call(Draw(2, 4, 3)), call(Draw(3, 4)), call(Draw(0, 3)), call(Draw(3, 3), atol=0.7),
    call(Draw(3, 4), rtol=0.5)], "floating", gradcheck=(0, 1, 2)), **_LINALG)
def pinv(A, rcond=None, hermitian=False, *, atol=None, rtol=None):
    """The pseudo-inverses; singular values up to max(atol, rtol * largest) count as zero."""
    if A.dim() < 2 or not (A.is_floating_point() or A.is_complex()) or A.dtype.itemsize < 4:
        raise RuntimeError(f"linalg.pinv({scalar_type(A.dtype)}{{{list(A.shape)}}}): expected a tensor with 2 or more "
                           "dimensions of float, double, cfloat or cdouble types")
    if hermitian:
        check_square(A, "linalg.pinv")
    return _pinv(A, atol, rcond if rtol is None else rtol, hermitian)


@op(samples=Samples([call(Draw(3, 3)), call(Draw(2, 4, 3)), call(Draw(3, 4), 0.5)], "floating", gradcheck=(0, 1)))
def pinverse(self, rcond=1e-15):
    """The pseudo-inverses; singular values up to rcond times the largest count as zero."""
    return pinv(self, rtol=rcond)


@op(name="matrix_rank", out=True, samples=Samples([
    call(Draw(3, 3)), call(Draw(2, 4, 3)), call(Draw(3, 4), rtol=0.5), call(_spd(3, 3), hermitian=True),
    call(Draw(3, 3), 1.0)], "floating", gradcheck=False), **_LINALG)
def linalg_matrix_rank(A, tol=None, hermitian=False, *, atol=None, rtol=None):
    """The numbers of singular values above max(atol, rtol * largest)."""
    check_matrix(A, "torch.linalg.matrix_rank", "input tensor input")
    if not (A.is_floating_point() or A.is_complex()) or A.dtype.itemsize < 4:
        raise RuntimeError("This function doesn't handle types other than float and double")
    A = A.detach()
    if A.numel() == 0:
        return A.new_zeros(A.shape[:-2], dtype=_int64())
    sizes = eigvalsh(A).abs() if hermitian else _values(A)
    if tol is not None:
        atol, rtol = tol, 0.0
    return (sizes > _tolerances(A, sizes, atol, rtol).unsqueeze(-1)).sum(-1)


def _int64():
    from .._core.dtype import int64
    return int64


# ---------------------------------------------------------------- least squares

_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def _lstsq_grads(g, out, A, B, needs):
    gx, gr = g[0], g[1]
    ga = gb = None
    if gx is not None:
        P = _pinv(A, None, None, False)
        gb = h(P).matmul(gx)
        ga = _pinv_grad(gx.matmul(h(B)), A, P) if needs[0] else None
    if gr is not None and out[1].numel():
        scaled = 2 * (A.matmul(out[0]) - B) * gr.unsqueeze(-2)
        gb = -scaled if gb is None else gb - scaled
        ga = scaled.matmul(h(out[0])) if ga is None else ga + scaled.matmul(h(out[0]))
    return ga, gb


@op(method=False, function=False, backward_name="LinalgLstsqBackward0", grads={
    ("A", "B"): lambda g, out, A, B, needs: _lstsq_grads(g, out, A, B, needs)})
def _lstsq(A, B, rcond, driver):
    batch = batch_of(A, B)
    A, B = expanded(A, batch), expanded(B, batch)
    m, n = A.shape[-2:]
    stack, matrix = stack_of(B), stack_of(A)
    if n > m:
        stack = np.concatenate([stack, np.zeros(stack.shape[:2] + (n - m,), stack.dtype)], 2)
    number = count(batch)
    values, ranks = np.empty(0, stack.real.dtype), np.full(number, 0, np.int64)
    if driver == "gels":
        info = lapack.gels(matrix, stack)
        if info.any():
            bad = np.flatnonzero(info)[0]
            raise LinAlgError(f"torch.linalg.lstsq: {f'(Batch element {bad}): ' if batch else ''}The least squares "
                              "solution could not be computed because the input matrix does not have full rank (error "
                              f"code: {info[bad]}).")
    elif driver == "gelsy":
        ranks, info = lapack.gelsy(matrix, stack, rcond)
    else:
        values, ranks, info = lapack.gels_by_values(driver, matrix, stack, rcond)
        _check_converged(info, "linalg.svd", A)
        values = values.reshape(tuple(batch) + values.shape[1:])
    full = (ranks == n).all() if driver != "gels" else True
    residuals = np.empty(0, stack.real.dtype)
    if m > n and driver != "gelsy" and full:
        residuals = (np.abs(stack[:, :, n:]) ** 2).sum(2).reshape(tuple(batch) + (stack.shape[1],))
    ranks = ranks.astype(np.int64).reshape(tuple(batch)) if driver != "gels" else np.empty(0, np.int64)
    return (matrices(stack, batch).narrow(-2, 0, n), wrap_ndarray(residuals), wrap_ndarray(ranks),
            wrap_ndarray(values))


_lstsq_result = named("linalg_lstsq", "solution", "residuals", "rank", "singular_values")
_tall, _wide = Draw(5, 3), Draw(2, 4)
_lstsq_calls = [call(_tall, Draw(5, 2)), call(Draw(2, 4, 2), Draw(2, 4)), call(_wide, Draw(2, 1)), call(_tall, Draw(5))]


@op(out=True, samples=Samples(_lstsq_calls + [call(_tall, Draw(5, 2), driver=d) for d in ("gels", "gelsd", "gelss")],
                              "floating"), **_LINALG)
def lstsq(A, B, rcond=None, *, driver=None):
    """(solution, residuals, rank, singular_values) of least squares A X = B; what the driver lacks is empty."""
    name = "torch.linalg.lstsq"
    if A.dim() < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if B.dim() < 1:
        raise RuntimeError(f"{name}: other must have at least 1 dimension.")
    if A.dtype is not B.dtype:
        raise RuntimeError(f"{name}: Expected input and other to have the same dtype, but got input's dtype "
                           f"{scalar_type(A.dtype)} and other's dtype {scalar_type(B.dtype)}")
    driver = ("gels" if A.is_cuda else "gelsy") if driver is None else driver
    if driver not in _DRIVERS:
        raise RuntimeError(f"{name}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    vector = B.dim() == A.dim() - 1 and tuple(B.shape) == tuple(A.shape[:-1])
    if vector:
        B = B.unsqueeze(-1)
    if B.dim() < 2 or A.shape[-2] != B.shape[-2]:
        raise RuntimeError(f"{name}: input.size(-2) should match other.size(-{1 if B.dim() < 2 else 2})")
    if not (A.is_floating_point() or A.is_complex()) or A.dtype.itemsize < 4:
        raise RuntimeError("This function doesn't handle types other than float and double")
    if rcond is None:
        rcond = float(np.finfo(A.dtype.name).eps) * max(A.shape[-2:])
    X, residuals, rank, values = _lstsq(A, B, float(rcond), driver)
    return _lstsq_result((X.squeeze(-1) if vector else X, residuals, rank, values.detach()))


# ---------------------------------------------------------------- exponentials

def _exp_grad(g, A):
    """The derivative of exp at A^H in the direction g: a corner of the exponential of a matrix of four blocks."""
    n = A.shape[-1]
    cat, above = OPS["torch.cat"], h(A)
    blocks = cat([cat([above, g], -1), cat([OPS["torch.zeros_like"](above), above], -1)], -2)
    return _matrix_exp(blocks).narrow(-2, 0, n).narrow(-1, n, n)


@op(method=False, function=False, backward_name="LinalgMatrixExpBackward0", grads={"A": lambda g, A: _exp_grad(g, A)})
def _matrix_exp(A):
    from scipy.linalg import expm
    array = A._ndarray()
    if array.shape[-1] == 0 or not array.size:
        return A.clone()
    with np.errstate(over="ignore", invalid="ignore"):
        return wrap_ndarray(np.ascontiguousarray(expm(array)).astype(array.dtype, copy=False))


_exp_samples = Samples([call(Draw(3, 3)), call(Draw(2, 2, 3, 3)), call(Draw(0, 0)), call(Draw(1, 1))], "floating")


def _checked_exp(A):
    check_square(A, "linalg.matrix_exp")
    check_float(A, "linalg.matrix_exp")
    if A.dtype.itemsize < 4:
        return _matrix_exp(A.float()).to(A.dtype)
    return _matrix_exp(A)


@op(name="matrix_exp", samples=_exp_samples, **_LINALG)
def linalg_matrix_exp(A):
    """The exponentials of square matrices."""
    return _checked_exp(A)


@op(samples=_exp_samples)
def matrix_exp(self):
    """The exponentials of square matrices."""
    return _checked_exp(self)
