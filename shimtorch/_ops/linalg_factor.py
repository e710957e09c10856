"""Factorisations: Cholesky, LU, LDL, QR, and what is made of their results."""
import numpy as np

from .._core import OPS
from .._core.declaring import op
from .._core.dtype import scalar_type
from .._core.tensor import TensorBase, wrap_ndarray
from ._results import named
from ._rules import conj
from .linalg_base import (
    LinAlgError,
    array_of,
    check_float,
    check_kernel,
    check_matrix,
    check_square,
    first_failure,
    h,
    lapack,
    matrices,
    not_differentiable,
    stack_of,
    vectors,
)
from .samples import Draw, Samples, call, integers

_LINALG = {"namespace": "torch.linalg", "method": False, "renames": {"input": "A", "self": "A"}}


def _pivots(*shape):
    """Exchanges of rows as LAPACK numbers them."""
    return integers(*shape, low=1, high=shape[-1] + 1, dtype="int32")


def symmetric(args):
    """The arguments with a Hermitian first one: what the ops that look at one triangle are differentiable in."""
    return [(args[0] + args[0].transpose(-2, -1).conj()) / 2, *args[1:]]


def _spd(*shape):
    return Draw(*shape, matrix="positive")


# ---------------------------------------------------------------- Cholesky

def _cholesky_grad(g, out, upper):
    factor, g = (h(out), h(g)) if upper else (out, g)
    phi = h(factor).matmul(g).tril()
    phi = phi - 0.5 * OPS["torch.diag_embed"](phi.diagonal(0, -2, -1))
    inner = (phi + h(phi)) * 0.5
    from .linalg_solve import solve_triangular as solve
    left = solve(h(factor), inner, upper=True)
    return solve(factor, left, upper=False, left=False)


@op(method=False, function=False, backward_name="LinalgCholeskyExBackward0", grads={
    "A": lambda g, out, upper: _cholesky_grad(g, out[0], upper)})
def _cholesky(A, upper):
    """(factors, infos); one triangle is looked at, the other one is zero."""
    check_kernel(A, "cholesky_cpu")
    stack = stack_of(A)
    info = lapack.potrf(ord("U" if upper else "L"), stack)
    lapack.clear_triangle(stack, not upper)
    return matrices(stack, A.shape[:-2]), vectors(info, A.shape[:-2])


def _check_positive(info, name):
    failure = first_failure(info)
    if failure is not None:
        raise LinAlgError(f"{name}: {failure[0]}The factorization could not be completed because the input is not "
                          f"positive-definite (the leading minor of order {failure[1]} is not positive-definite).")


_cholesky_ex_result = named("linalg_cholesky_ex", "L", "info")
_cholesky_samples = Samples([call(_spd(3, 3)), call(_spd(2, 3, 3)), call(_spd(3, 3), upper=True), call(_spd(0, 0)),
                             call(_spd(2, 2, 1, 1))], "floating", prepare=symmetric)


@op(out=True, samples=_cholesky_samples, **_LINALG)
def cholesky_ex(A, *, upper=False, check_errors=False):
    """``cholesky`` that reports in ``info`` which leading minor is not positive, instead of raising."""
    check_square(A, "linalg.cholesky")
    check_float(A, "linalg.cholesky")
    factor, info = _cholesky(A, upper)
    if check_errors:
        _check_positive(info, "linalg.cholesky_ex")
    return _cholesky_ex_result((factor, info))


@op(name="cholesky", out=True, samples=_cholesky_samples, **_LINALG)
def linalg_cholesky(A, *, upper=False):
    """The lower (or upper) triangular factors L of Hermitian positive-definite matrices A = L L^H."""
    check_square(A, "linalg.cholesky")
    check_float(A, "linalg.cholesky")
    factor, info = _cholesky(A, upper)
    _check_positive(info, "linalg.cholesky")
    return factor


@op(out=True, samples=_cholesky_samples)
def cholesky(self, upper=False):
    """The lower (or upper) triangular Cholesky factors of Hermitian positive-definite matrices."""
    check_square(self, "cholesky")
    factor, info = _cholesky(self, upper)
    _check_positive(info, "cholesky")
    return factor


# ---------------------------------------------------------------- LU

def _signs_and_rows(pivots, n):
    """For LAPACK's exchanges of rows (batch, k), the row that ends up in each place (batch, n)."""
    order = np.tile(np.arange(n), (len(pivots), 1))
    rows = np.arange(len(pivots))
    for i in range(pivots.shape[1]):
        j = pivots[:, i] - 1
        held = order[:, i].copy()
        order[:, i] = order[rows, j]
        order[rows, j] = held
    return order


def permutations(pivots, n, dtype):
    """The permutation matrices P of A = P L U, from pivots (*, k)."""
    if pivots.is_cuda:
        from .._gpu.factoring import permutations as on_device
        return on_device(pivots, n, dtype)
    order = _signs_and_rows(array_of(pivots), n)
    result = np.zeros((len(order), n, n), np.float32)
    np.put_along_axis(result, order[:, None, :], 1, 1)
    return wrap_ndarray(result.reshape(tuple(pivots.shape[:-1]) + (n, n))).to(dtype)


def _unit_lower(LU, k):
    """L of packed factors: ones on the diagonal."""
    lower = LU.narrow(-1, 0, k).tril(-1)
    return lower + OPS["torch.eye"](lower.shape[-2], k, dtype=lower.dtype, device=lower.device)


def _lu_grad(g, out):
    """The gradient of packed LU factors: of the leading square block, and of the rows or columns beyond it."""
    LU, pivots = out[0], out[1]
    m, n = LU.shape[-2:]
    k = min(m, n)
    from .linalg_solve import solve_triangular as solve
    cat = OPS["torch.cat"]
    lower, upper = _unit_lower(LU.narrow(-2, 0, k), k), LU.narrow(-2, 0, k).narrow(-1, 0, k).triu()
    square = g.narrow(-2, 0, k).narrow(-1, 0, k)
    g_lower, g_upper = square.tril(-1), square.triu()
    beyond = None
    if n > k:
        u2 = LU.narrow(-1, k, n - k)
        beyond = solve(h(lower), g.narrow(-1, k, n - k), upper=True, unitriangular=True)
        g_lower = g_lower - beyond.matmul(h(u2)).tril(-1)
    if m > k:
        l2 = LU.narrow(-2, k, m - k)
        beyond = solve(h(upper), g.narrow(-2, k, m - k), upper=False, left=False)
        g_upper = g_upper - h(l2).matmul(beyond).triu()
    inner = h(lower).matmul(g_lower).tril(-1) + g_upper.matmul(h(upper)).triu()
    grad = solve(h(lower), inner, upper=True, unitriangular=True)
    grad = solve(h(upper), grad, upper=False, left=False)
    if beyond is not None:
        grad = cat([grad, beyond], -1 if n > k else -2)
    return permutations(pivots, m, grad.dtype).matmul(grad)


@op(method=False, function=False, backward_name="LinalgLuFactorExBackward0", grads={
    "A": lambda g, out: _lu_grad(g, out)})
def _lu_factor(A):
    """(packed LU factors, pivots from 1, infos)."""
    check_kernel(A, "lu_cpu")
    stack = stack_of(A)
    pivots, info = lapack.getrf(stack)
    batch = A.shape[:-2]
    return matrices(stack, batch), vectors(pivots, batch), vectors(info, batch)


def _checked_lu(A, pivot, name):
    if A.dim() < 2:
        raise RuntimeError(f"{name}: Expected tensor with 2 or more dimensions. Got size: {list(A.shape)} instead")
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")
    return _lu_factor(A)


_lu_samples = [call(Draw(3, 3)), call(Draw(2, 3, 2)), call(Draw(2, 4)), call(Draw(0, 0)), call(Draw(2, 0, 3))]
_lu_factor_result = named("linalg_lu_factor", "LU", "pivots")
_lu_factor_ex_result = named("linalg_lu_factor_ex", "LU", "pivots", "info")


@op(out=True, samples=Samples(_lu_samples, "floating"), **_LINALG)
def lu_factor(A, *, pivot=True):
    """Packed LU factors with exchanged rows, and the exchanges (from 1, as LAPACK has them)."""
    LU, pivots, info = _checked_lu(A, pivot, "torch.lu_factor")
    failure = first_failure(info)
    if failure is not None:
        raise RuntimeError(f"torch.linalg.lu_factor: {failure[0]}U[{failure[1]},{failure[1]}] is zero and using it on "
                           "lu_solve would result in a division by zero. If you still want to perform the "
                           "factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)")
    return _lu_factor_result((LU, pivots))


@op(out=True, samples=Samples(_lu_samples, "floating"), **_LINALG)
def lu_factor_ex(A, *, pivot=True, check_errors=False):
    """``lu_factor`` that reports in ``info`` which pivot is zero, instead of raising."""
    if check_errors:
        lu_factor(A, pivot=pivot)
    return _lu_factor_ex_result(_checked_lu(A, pivot, "torch.lu_factor"))


_lu_result = named("linalg_lu", "P", "L", "U")


@op(name="lu", out=True, samples=Samples(_lu_samples, "floating"), **_LINALG)
def linalg_lu(A, *, pivot=True):
    """(P, L, U) with A = P L U: a permutation, a unit lower and an upper triangular matrix."""
    LU, pivots, _ = _checked_lu(A, pivot, "linalg.lu")
    return _lu_result(_unpacked(LU, pivots, True, True))


def _unpacked(LU, pivots, unpack_data, unpack_pivots):
    m, n = LU.shape[-2:]
    k = min(m, n)
    empty = LU.new_empty(0)
    P = permutations(pivots, m, LU.dtype) if unpack_pivots else empty
    if not unpack_data:
        return P, empty, LU.new_empty(0)
    return P, _unit_lower(LU, k).contiguous(), LU.narrow(-2, 0, k).triu().contiguous()


_unpack_result = named("lu_unpack", "P", "L", "U")


@op(method=False, out=True, renames={"A": "LU_data"}, samples=Samples([
    call(Draw(3, 3), _pivots(3)), call(Draw(2, 4, 3), _pivots(2, 3)), call(Draw(2, 4), _pivots(2), unpack_pivots=False),
    call(Draw(3, 3), _pivots(3), unpack_data=False)], "floating"))
def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True):
    """(P, L, U) of packed LU factors and pivots; what is not unpacked is empty."""
    if LU_data.dim() < 2:
        raise RuntimeError("torch.lu_unpack: Expected tensor with 2 or more dimensions. Got size: "
                           f"{list(LU_data.shape)} instead")
    if unpack_pivots:
        check_pivots(LU_pivots, "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype."
                                "\nNote: this function is intended to be used with the output produced by "
                                "torch.linalg.lu_factor")
        array = LU_pivots.cpu()._ndarray()
        if array.size and (array.min() < 1 or array.max() > LU_data.shape[-2]):
            raise RuntimeError("pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive.Did you "
                               "properly pass the result of lu_factor?")
    return _unpack_result(_unpacked(LU_data, LU_pivots, unpack_data, unpack_pivots))


def check_pivots(pivots, message):
    if pivots.dtype.name != "int32":
        raise RuntimeError(message)


# ---------------------------------------------------------------- LDL

_ldl_result = named("linalg_ldl_factor", "LD", "pivots")
_ldl_ex_result = named("linalg_ldl_factor_ex", "LD", "pivots", "info")
_ldl_samples = Samples([call(_spd(3, 3)), call(_spd(2, 3, 3)), call(_spd(3, 3), hermitian=True)], "floating",
                       gradcheck=False)


@op(method=False, function=False, grads={"A": not_differentiable("linalg_ldl_factor_ex")})
def _ldl(A, hermitian):
    stack = stack_of(A)
    pivots, info = lapack.sytrf(hermitian, stack)
    lapack.clear_triangle(stack, True)
    batch = A.shape[:-2]
    return matrices(stack, batch), vectors(pivots, batch), vectors(info, batch)


@op(out=True, samples=_ldl_samples, **_LINALG)
def ldl_factor_ex(A, *, hermitian=False, check_errors=False):
    """``ldl_factor`` that reports in ``info`` which block of D is singular."""
    check_square(A, "torch.linalg.ldl_factor_ex")
    check_float(A, "torch.linalg.ldl_factor_ex")
    check_kernel(A, "ldl_factor_kernel_cpu")
    result = _ldl(A, hermitian)
    if check_errors:
        _check_ldl(result[2], "torch.linalg.ldl_factor_ex")
    return _ldl_ex_result(result)


def _check_ldl(info, name):
    failure = first_failure(info)
    if failure is not None:
        raise LinAlgError(f"{name}: {failure[0]}D[{failure[1]},{failure[1]}] is zero: the matrix is singular.")


@op(out=True, samples=_ldl_samples, **_LINALG)
def ldl_factor(A, *, hermitian=False):
    """Packed factors of symmetric (or Hermitian) matrices A = L D L^T, from their lower triangles, and pivots."""
    LD, pivots, info = ldl_factor_ex(A, hermitian=hermitian)
    _check_ldl(info, "torch.linalg.ldl_factor")
    return _ldl_result((LD, pivots))


# ---------------------------------------------------------------- QR

def _mirrored(x):
    """The upper triangle of x and its conjugate transpose, with a real diagonal."""
    upper = x.triu(1)
    diagonal = x.diagonal(0, -2, -1)
    if x.is_complex():
        diagonal = OPS["torch.real"](diagonal).to(x.dtype)
    return upper + h(upper) + OPS["torch.diag_embed"](diagonal)


def _qr_square(gq, gr, Q, R):
    inner = -h(Q).matmul(gq) if gr is None else gr.matmul(h(R)) - (0 if gq is None else h(Q).matmul(gq))
    grad = Q.matmul(_mirrored(inner))
    if gq is not None:
        grad = grad + gq
    from .linalg_solve import solve_triangular
    return solve_triangular(h(R), grad, upper=False, left=False)


def _qr_grad(gq, gr, out, mode):
    Q, R = out
    m, n = Q.shape[-2], R.shape[-1]
    if mode == "r":
        raise RuntimeError("The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
                           "linalg.qr(A, mode='reduced') if you are going to require differentiation through "
                           "linalg.qr.")
    if mode == "complete" and m > n:
        raise RuntimeError("The QR decomposition is not differentiable when mode='complete' and nrows > ncols.")
    if m >= n:
        return _qr_square(gq, gr, Q, R)
    left, right = R.narrow(-1, 0, m), R.narrow(-1, m, n - m)
    g_right = gr.narrow(-1, m, n - m)
    gq = gq + Q.matmul(right).matmul(h(g_right))
    return OPS["torch.cat"]([_qr_square(gq, gr.narrow(-1, 0, m), Q, left), Q.matmul(g_right)], -1)


@op(method=False, function=False, backward_name="LinalgQrBackward0", grads={
    "A": lambda g, out, mode: _qr_grad(g[0], g[1], out, mode)})
def _qr(A, mode):
    stack = stack_of(A)
    batch, (m, n) = A.shape[:-2], A.shape[-2:]
    k = min(m, n)
    tau = lapack.geqrf(stack)
    height = m if mode == "complete" else k
    R = np.zeros((len(stack), n, height), stack.dtype)
    R[:, :, :k] = stack[:, :, :k]
    lapack.clear_triangle(R, False)
    if mode == "r":
        return wrap_ndarray(np.empty(0, stack.dtype)), matrices(R, batch)
    if mode == "complete" and m > n:
        Q = np.zeros((len(stack), m, m), stack.dtype)
        Q[:, :n] = stack
    else:
        Q = np.ascontiguousarray(stack[:, :k])
    if n == 0 and mode == "complete":
        Q[:] = np.eye(m, dtype=stack.dtype)
    else:
        lapack.orgqr(Q, tau)
    return matrices(Q, batch), matrices(R, batch)


_qr_result = named("linalg_qr", "Q", "R")
_old_qr_result = named("qr", "Q", "R")
_qr_calls = [call(Draw(3, 3)), call(Draw(2, 4, 3)), call(Draw(2, 3, 5)), call(Draw(0, 3)), call(Draw(3, 0))]


@op(name="qr", out=True, samples=Samples(
    _qr_calls + [call(Draw(4, 3), "complete"), call(Draw(3, 4), "complete"), call(Draw(4, 3), "r"),
                 call(Draw(3, 0), "complete")], "floating", gradcheck=(0, 1, 2, 6)), **_LINALG)
def linalg_qr(A, mode="reduced"):
    """(Q, R) with A = Q R, Q with orthonormal columns and R upper triangular; mode: "reduced", "complete" or "r"."""
    if mode not in ("reduced", "r", "complete"):
        raise RuntimeError(f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or "
                           "'complete'")
    check_matrix(A, "linalg.qr")
    check_float(A, "linalg.qr")
    check_kernel(A, "geqrf_cpu")
    return _qr_result(_qr(A, mode))


@op(out=True, samples=Samples(_qr_calls + [call(Draw(4, 3), False)], "floating", gradcheck=(0, 1, 2)))
def qr(self, some=True):
    """(Q, R) of matrices; some=False: Q is square."""
    return _old_qr_result(tuple(linalg_qr(self, "reduced" if some else "complete")))


_geqrf_result = named("geqrf", "a", "tau")


@op(method=False, function=False, grads={"self": not_differentiable("geqrf")})
def _geqrf(self):
    stack = stack_of(self)
    tau = lapack.geqrf(stack)
    return matrices(stack, self.shape[:-2]), vectors(tau, self.shape[:-2])


@op(out=True, samples=Samples([call(Draw(3, 3)), call(Draw(2, 4, 3)), call(Draw(3, 4))], "floating", gradcheck=False))
def geqrf(self):
    """QR factors as LAPACK leaves them: R above, reflectors below the diagonal, and the reflectors' scales."""
    if self.dim() < 2:
        raise RuntimeError("torch.geqrf: input must have at least 2 dimensions.")
    check_kernel(self, "geqrf_cpu")
    return _geqrf_result(_geqrf(self))


# ---------------------------------------------------------------- reflectors

def _check_reflectors(A, tau, name):
    if A.dim() < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if name != "torch.ormqr" and A.shape[-2] < A.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1]")
    if tau.dim() != A.dim() - 1:
        raise RuntimeError(f"{name}: Expected tau to have one dimension less than input, but got tau.ndim equal to "
                           f"{tau.dim()} and input.ndim is equal to {A.dim()}")
    if A.shape[-1] < tau.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    if tuple(A.shape[:-2]) != tuple(tau.shape[:-1]):
        raise RuntimeError(f"{name}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got "
                           f"{list(tau.shape[:-1])}")
    if A.dtype is not tau.dtype:
        raise RuntimeError(f"{name}: tau dtype {scalar_type(tau.dtype)} does not match input dtype "
                           f"{scalar_type(A.dtype)}")
    check_float(A, name)


def _reflected(A, tau, x, numbers, transposed=False):
    """x after the reflectors of those numbers, one after another, in ops that record themselves."""
    for i in numbers:
        column = A.select(-1, i)
        one = column.narrow(-1, 0, 1) * 0 + 1
        v = OPS["torch.cat"]([one, column.narrow(-1, i + 1, A.shape[-2] - i - 1)], -1).unsqueeze(-1)
        scale = tau.select(-1, i).unsqueeze(-1).unsqueeze(-1)
        rows = x.narrow(-2, i, A.shape[-2] - i)
        rows = rows - (conj(scale) if transposed else scale) * v.matmul(h(v).matmul(rows))
        x = OPS["torch.cat"]([x.narrow(-2, 0, i), rows], -2)
    return x


def _recorded(*tensors):
    from .._core.grad_mode import is_grad_enabled
    return is_grad_enabled() and any(isinstance(t, TensorBase) and t.requires_grad for t in tensors)


_reflector_samples = Samples([call(Draw(4, 3), Draw(3, low=0.5, high=1)), call(Draw(2, 3, 3), Draw(2, 2, low=0.5)),
                              call(Draw(4, 2), Draw(0))], "floating")


@op(out=True, samples=_reflector_samples, **_LINALG)
def householder_product(A, tau):
    """The first columns of the product of reflectors as ``geqrf`` leaves them: the Q of a QR."""
    _check_reflectors(A, tau, "torch.linalg.householder_product")
    check_kernel(A, "orgqr_cpu")
    m, n = A.shape[-2:]
    if _recorded(A, tau) or A.is_cuda:
        eye = OPS["torch.eye"](m, n, dtype=A.dtype, device=A.device).expand(tuple(A.shape[:-2]) + (m, n))
        return _reflected(A, tau, eye, range(tau.shape[-1] - 1, -1, -1))
    stack = stack_of(A)
    if tau.shape[-1] == 0:
        stack[:] = np.eye(n, m, dtype=stack.dtype)
    else:
        lapack.orgqr(stack, array_of(tau))
    return matrices(stack, A.shape[:-2])


@op(out=True, renames={"tau": "input2", "input": "self"}, samples=_reflector_samples)
def orgqr(self, input2):
    """The first columns of the product of reflectors as ``geqrf`` leaves them."""
    return householder_product(self, input2)


@op(out=True, renames={"tau": "input2", "other": "input3"}, samples=Samples([
    call(Draw(3, 3), Draw(3, low=0.5, high=1), Draw(3, 2)),
    call(Draw(2, 4, 3), Draw(2, 3, low=0.5, high=1), Draw(2, 4, 2), True, True),
    call(Draw(3, 2), Draw(2, low=0.5, high=1), Draw(2, 3), False),
    call(Draw(3, 2), Draw(2, low=0.5, high=1), Draw(2, 3), False, True)], "floating"))
def ormqr(self, input2, input3, left=True, transpose=False):
    """Q C, C Q or with Q^H for the Q of the reflectors that ``geqrf`` left (input, tau)."""
    tau, other = input2, input3
    side = -2 if left else -1
    if self.dim() < 2:
        raise RuntimeError("torch.ormqr: input must have at least 2 dimensions.")
    if other.dim() < 2:
        raise RuntimeError("torch.ormqr: other must have at least 2 dimensions.")
    if tau.dim() and other.shape[side] < tau.shape[-1]:
        raise RuntimeError(f"torch.ormqr: other.shape[{side}] must be greater than or equal to tau.shape[-1]")
    if other.shape[side] != self.shape[-2]:
        raise RuntimeError(f"torch.ormqr: other.shape[{side}] must be equal to input.shape[-2]")
    _check_reflectors(self, tau, "torch.ormqr")
    check_kernel(self, "ormqr_cpu")
    if _recorded(self, tau, other) or self.is_cuda:
        order = range(tau.shape[-1])
        x = other if left else h(other)
        backwards = transpose != left
        x = _reflected(self, tau, x, reversed(order) if backwards else order, not backwards)
        return x if left else h(x)
    stack = stack_of(other)
    trans = "N" if not transpose else "C" if self.is_complex() else "T"
    lapack.ormqr(ord("L" if left else "R"), ord(trans), stack_of(self), array_of(tau), stack)
    return matrices(stack, other.shape[:-2])

