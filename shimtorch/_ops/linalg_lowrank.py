"""The largest singular values and eigenvalues of a matrix, without all the others."""
from .._core import OPS
from .._core.declaring import op
from .._core.dtype import float32
from .._core.random_factory import randn
from .._core.tensor import TensorBase, wrap_ndarray
from .joining import stack


def _linalg(name):
    from . import later
    later.load_space("linalg")
    return OPS["torch.linalg." + name]


def _float_dtype(A):
    return A.dtype if A.is_floating_point() or A.is_complex() else float32


def _turned(A):
    return A.transpose(-2, -1).conj() if A.is_complex() else A.transpose(-2, -1)


def _product(A, M, x):
    """(A - M) x."""
    return A @ x if M is None else A @ x - M @ x


def _range_of(A, M, q, niter):
    """An orthonormal basis of about the q directions in which A - M is largest, from products with random vectors."""
    qr = _linalg("qr")
    Q = qr(_product(A, M, randn(A.shape[-1], q, dtype=_float_dtype(A))))[0]
    turned = _turned(A), None if M is None else _turned(M)
    for _ in range(niter):
        Q = qr(_product(*turned, Q))[0]
        Q = qr(_product(A, M, Q))[0]
    return Q


def _lowrank(A, q, niter, M):
    wide = A.shape[-2] < A.shape[-1]
    if M is not None:
        M = M.expand(A.shape)
    if wide:
        A, M = _turned(A), None if M is None else _turned(M)
    Q = _range_of(A, M, q, niter)
    inner = _turned(_product(_turned(A), None if M is None else _turned(M), Q))
    U, S, Vh = _linalg("svd")(inner, full_matrices=False)
    U, V = Q @ U, _turned(Vh)
    return (V, S, U) if wide else (U, S, V)


@op(method=False, sparse=True)
def svd_lowrank(A, q=6, niter=2, M=None):
    """About the q largest singular values of A (or of A - M), dense or sparse: U, S, V with A = U diag(S) V^H.

    niter: how often the random start is improved. The singular vectors have any sign.
    """
    _check_matrix(A, "svd_lowrank")
    return _lowrank(A, q, niter, M)


@op(method=False, sparse=True)
def pca_lowrank(A, q=None, center=True, niter=2):
    """The q (6) principal components of rows of data: ``svd_lowrank`` of the data less its mean."""
    _check_matrix(A, "pca_lowrank")
    m, n = A.shape[-2:]
    if q is None:
        q = min(6, m, n)
    elif not (q >= 0 and q <= min(m, n)):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if not niter >= 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    if not center:
        return _lowrank(A, q, niter, None)
    if A.is_sparse:
        if A.dim() != 2:
            raise ValueError("pca_lowrank input is expected to be 2-dimensional tensor")
        mean = A.transpose(0, 1) @ wrap_ndarray(_ones(m)).to(A.dtype) / m
        return _lowrank(A, q, niter, mean.reshape(1, n))
    return _lowrank(A - A.mean(-2, keepdim=True), q, niter, None)


def _ones(m):
    import numpy as np
    return np.ones((m, 1))


def _check_matrix(A, name):
    if not isinstance(A, TensorBase):
        raise TypeError(f"{name}(): argument 'A' (position 1) must be Tensor, not {type(A).__name__}")
    if A.dim() < 2:
        raise IndexError(f"{name}: A must have at least 2 dimensions, got {A.dim()}")


@op(method=False, sparse=True)
def lobpcg(A, k=None, B=None, X=None, n=None, iK=None, niter=None, tol=None, largest=None, method=None, tracker=None,
           ortho_iparams=None, ortho_fparams=None, ortho_bparams=None):
    """The k (1) largest (or, with largest=False, smallest) eigenvalues of Hermitian A, and their eigenvectors.

    B: of the generalised problem A x = e B x; X: where to begin (a matrix of n columns); iK: a preconditioner; niter:
    at most so many steps; tol: when to stop. Computed by SciPy's solver of the same method; where A requires grad, by
    ``torch.linalg.eigh``. What concerns the steps of PyTorch's own solver (method, ortho_*) is accepted and not used.
    """
    _check_matrix(A, "lobpcg")
    if A.shape[-1] != A.shape[-2]:
        raise ValueError(f"lobpcg: A must be square, got {A.shape[-2]} by {A.shape[-1]}")
    if tracker is not None:
        raise NotImplementedError("lobpcg: tracker= is not implemented")
    rows = A.shape[-1]
    k = (1 if X is None else X.shape[-1]) if k is None else k
    n = (k if X is None else X.shape[-1]) if n is None else n
    if rows < 3 * n:
        raise ValueError(f"LOBPCG algorithm is not applicable when the number of A rows (={rows}) is smaller than 3 x "
                         f"the number of requested eigenpairs (={n})")
    largest = True if largest is None else bool(largest)
    if A.requires_grad:
        if B is not None or A.is_sparse:
            raise NotImplementedError("lobpcg: derivatives are implemented for a dense A without B only")
        values, vectors = _linalg("eigh")(A)
        order = slice(-k, None) if largest else slice(0, k)
        values, vectors = values[..., order], vectors[..., order]
        return (values.flip(-1), vectors.flip(-1)) if largest else (values, vectors)
    dtype = _float_dtype(A)
    if X is None:
        X = randn(*A.shape[:-2], rows, n, dtype=dtype)
    if A.dim() == 2:
        return _solve(A, B, X, iK, k, niter, tol, largest, dtype)
    flat = [None if t is None else t.reshape(-1, *t.shape[-2:]) for t in (A, B, X, iK)]
    pairs = [_solve(*[None if t is None else t[i] for t in flat], k, niter, tol, largest, dtype)
             for i in range(flat[0].shape[0])]
    return tuple(stack([pair[j] for pair in pairs]).reshape(*A.shape[:-2], *pairs[0][j].shape) for j in (0, 1))


def _solve(A, B, X, iK, k, niter, tol, largest, dtype):
    import warnings

    from scipy.sparse.linalg import lobpcg as scipy_lobpcg
    arrays = [None if t is None else _as_scipy(t) for t in (A, B, iK)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")              # that it stopped before tol was reached is no news in torch either
        values, vectors = scipy_lobpcg(arrays[0], X.detach().double().numpy(), arrays[1], arrays[2], tol=tol,
                                       maxiter=max(1000 if niter is None or niter < 0 else niter, 1), largest=largest)
    order = slice(0, k)
    return (wrap_ndarray(values[order].copy()).to(dtype), wrap_ndarray(vectors[:, order].copy()).to(dtype))


def _as_scipy(t):
    """A matrix in double precision as NumPy or SciPy has it."""
    if not t.is_sparse:
        return t.detach().double().numpy()
    from scipy.sparse import coo_array
    t = t.detach().double().coalesce()
    return coo_array((t._values().numpy(), t._indices().numpy()), shape=tuple(t.shape)).tocsr()
