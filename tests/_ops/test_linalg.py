"""Linear algebra beyond the table of ops: what defines a factorisation, memory layouts, error texts, the old names."""
import numpy as np
import pytest

import shimtorch as torch

DTYPES = [torch.float32, torch.float64, torch.complex64, torch.complex128]


def close(a, b, dtype=torch.float64):
    tolerance = 2e-4 if dtype in (torch.float32, torch.complex64) else 1e-10
    assert a.shape == b.shape
    assert float((a - b).abs().max()) < tolerance if a.numel() else True


def matrix(*shape, dtype=torch.float64, seed=0):
    torch.manual_seed(seed)
    return torch.randn(*shape, dtype=dtype)


def hermitian(*shape, dtype=torch.float64):
    a = matrix(*shape, dtype=dtype)
    return a @ a.mH + torch.eye(shape[-1], dtype=dtype)


# ---------------------------------------------------------------- definitions

@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5), (2, 5, 3), (2, 3, 4, 4)])
def test_factors_multiply_to_the_matrix(shape, dtype):
    a = matrix(*shape, dtype=dtype)
    n = min(shape[-2:])
    u, s, vh = torch.linalg.svd(a)
    close((u[..., :n] * s.unsqueeze(-2)) @ vh[..., :n, :], a, dtype)
    close(u.mH @ u, torch.eye(shape[-2], dtype=dtype).expand(u.shape), dtype)
    close(vh @ vh.mH, torch.eye(shape[-1], dtype=dtype).expand(vh.shape), dtype)
    q, r = torch.linalg.qr(a, "complete")
    close(q @ r, a, dtype)
    p, low, up = torch.linalg.lu(a)
    close(p @ low @ up, a, dtype)
    q, r = torch.geqrf(a)
    close(torch.ormqr(q, r, q.triu()), a, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_eigenvectors(dtype):
    a = matrix(3, 4, 4, dtype=dtype)
    w, v = torch.linalg.eig(a)
    close(a.to(v.dtype) @ v, v * w.unsqueeze(-2), dtype)
    close(v.norm(2, -2), torch.ones(3, 4, dtype=v.norm().dtype), dtype)
    a = hermitian(3, 4, 4, dtype=dtype)
    for uplo in "LU":
        half = a.tril() if uplo == "L" else a.triu()
        w, v = torch.linalg.eigh(half, uplo)
        close(a @ v, v * w.unsqueeze(-2), dtype)


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_eigenvectors_have_derivatives(dtype):
    a = matrix(3, 3, dtype=dtype).requires_grad_()

    def unphased(a):
        w, v = torch.linalg.eig(a)
        return w, v.abs()
    assert torch.autograd.gradcheck(unphased, (a,))
    assert torch.autograd.gradgradcheck(unphased, (a,))


@pytest.mark.parametrize("driver", ["gels", "gelsy", "gelsd", "gelss"])
def test_least_squares(driver):
    a, b = matrix(2, 6, 3), matrix(2, 6, 2, seed=1)
    x, residuals, rank, values = torch.linalg.lstsq(a, b, driver=driver)
    close(a.mT @ (a @ x - b), torch.zeros(2, 3, 2, dtype=a.dtype))
    assert residuals.shape == ((0,) if driver == "gelsy" else (2, 2))
    assert rank.shape == ((0,) if driver == "gels" else (2,))
    assert values.shape == ((2, 3) if driver in ("gelsd", "gelss") else (0,))
    a = torch.ones(5, 3, dtype=torch.float64)
    if driver != "gels":
        assert torch.linalg.lstsq(a, b[0, :5], driver=driver).rank.item() == 1


def test_residuals_are_differentiable():
    a, b = matrix(5, 3).requires_grad_(), matrix(5, 2, seed=1).requires_grad_()
    assert torch.autograd.gradcheck(lambda a, b: torch.linalg.lstsq(a, b, driver="gelsd")[:2], (a, b))


def test_det_of_singular_matrices_has_derivatives():
    a = torch.tensor([[1., 2], [2, 4]], dtype=torch.float64, requires_grad=True)
    torch.linalg.det(a).backward()
    close(a.grad, torch.tensor([[4., -2], [-2, 1]], dtype=torch.float64))


@pytest.mark.parametrize("dtype", DTYPES[:2])
@pytest.mark.parametrize("n", range(2, 11))
def test_lu_of_small_matrices(n, dtype):
    a = matrix(6, n, n, dtype=dtype)
    a[1, :, n // 2] = 0                # singular
    a[2, 0, 0] = 0                     # the first row cannot stay the first
    a[3] = a[3].triu().fliplr()
    P, L, U = torch.linalg.lu(a)
    close(P @ L @ U, a, dtype)
    assert float(L.abs().max()) <= 1 + 1e-6 and torch.equal(U, U.triu())
    want = torch.tensor(np.linalg.det(a.numpy()))
    scale = 1 + want.abs().max()
    close(torch.linalg.det(a) / scale, want / scale, dtype)
    info = torch.linalg.lu_factor_ex(a)[2]
    assert info[1] == n // 2 + 1 and not info[[0, 2, 4, 5]].any()
    with pytest.raises(RuntimeError, match="singular"):
        torch.linalg.inv(a[1])
    assert torch.isnan(torch.linalg.det(torch.full((2, n, n), float("nan"), dtype=dtype))).all()


def test_ldl():
    a = matrix(4, 4)
    a = a + a.mT
    b = matrix(4, 2, seed=1)
    factors, pivots = torch.linalg.ldl_factor(a)
    close(a @ torch.linalg.ldl_solve(factors, pivots, b), b)
    for wrong in ([1, 2, 3, -4], [-1, 2, -2, 4], [-2, -2, -2, 4]):
        with pytest.raises(RuntimeError, match="negative pivots must come in pairs"):
            torch.linalg.ldl_solve(factors, torch.tensor(wrong, dtype=torch.int32), b)
    with pytest.raises(NotImplementedError, match="ldl_solve_kernel_cpu"):
        torch.linalg.ldl_solve(factors.half(), pivots, b.half())


# ---------------------------------------------------------------- memory

LAYOUTS = {
    "cholesky": lambda a, s: [torch.linalg.cholesky(s)], "inv": lambda a, s: [torch.linalg.inv(a)],
    "solve": lambda a, s: [torch.linalg.solve(a, s[..., :2])], "svd": lambda a, s: torch.linalg.svd(a)[::2],
    "qr": lambda a, s: torch.linalg.qr(a), "eigh": lambda a, s: torch.linalg.eigh(s)[1:],
    "eig": lambda a, s: torch.linalg.eig(a)[1:], "lu_factor": lambda a, s: torch.linalg.lu_factor(a)[:1],
    "geqrf": lambda a, s: torch.geqrf(a)[:1], "triangular_solve": lambda a, s: torch.triangular_solve(s, a),
    "solve_triangular": lambda a, s: [torch.linalg.solve_triangular(a, s, upper=True)],
    "lstsq": lambda a, s: torch.linalg.lstsq(a, s)[:1],
}


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 3)])
def test_results_lie_in_column_order(name, shape):
    a, s = matrix(*shape, dtype=torch.float32), hermitian(*shape, dtype=torch.float32)
    for r in LAYOUTS[name](a, s):
        assert r.stride()[-2:] == (1, 3)


@pytest.mark.parametrize("f", [lambda a: torch.linalg.lu(a)[1], lambda a: torch.linalg.pinv(a), torch.matrix_exp,
                               lambda a: torch.linalg.solve(a, a, left=False), lambda a: torch.svd(a)[2]])
def test_results_lie_in_row_order(f):
    assert f(matrix(3, 3)).is_contiguous()


def test_operands_stay_as_they_are():
    a, b = hermitian(3, 3), matrix(3, 2)
    a0, b0 = a.clone(), b.clone()
    for f in (torch.linalg.cholesky, torch.linalg.inv, torch.linalg.svd, torch.linalg.eigh, torch.linalg.eig,
              torch.linalg.qr, torch.linalg.lu_factor, torch.linalg.det, torch.geqrf):
        f(a)
        f(a.t())
    torch.linalg.solve(a, b), torch.linalg.lstsq(a, b), torch.cholesky_solve(b, a), torch.triangular_solve(b, a)
    assert torch.equal(a, a0) and torch.equal(b, b0)


# ---------------------------------------------------------------- errors

ZERO, RECT, INT, VECTOR = torch.zeros(3, 3), torch.ones(2, 3), torch.ones(3, 3, dtype=torch.long), torch.ones(3)
BATCH = torch.stack([torch.eye(3), ZERO])
NAN = torch.full((3, 3), float("nan"))
ERRORS = [
    (lambda: torch.linalg.cholesky(BATCH), RuntimeError,
     "linalg.cholesky: (Batch element 1): The factorization could not be completed because the input is not "
     "positive-definite (the leading minor of order 1 is not positive-definite)."),
    (lambda: torch.linalg.inv(ZERO), RuntimeError,
     "linalg.inv: The diagonal element 1 is zero, the inversion could not be completed because the input matrix is "
     "singular."),
    (lambda: torch.inverse(RECT), RuntimeError,
     "linalg.inv: A must be batches of square matrices, but they are 2 by 3 matrices"),
    (lambda: torch.linalg.solve(ZERO, VECTOR), RuntimeError,
     "torch.linalg.solve: The solver failed because the input matrix is singular."),
    (lambda: torch.linalg.solve(torch.eye(3), RECT), RuntimeError,
     "linalg.solve: Incompatible shapes of A and B for the equation AX = B (3x3 and 2x3)"),
    (lambda: torch.linalg.solve(torch.eye(3), VECTOR.double()), RuntimeError,
     "linalg.solve: Expected A and B to have the same dtype, but found A of type Float and B of type Double instead"),
    (lambda: torch.linalg.svd(INT), RuntimeError,
     "linalg.svd: Expected a floating point or complex tensor as input. Got Long"),
    (lambda: torch.linalg.svd(NAN), RuntimeError,
     "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values."),
    (lambda: torch.linalg.eig(NAN), RuntimeError, "torch.linalg.eig: input tensor should not contain infs or NaNs."),
    (lambda: torch.linalg.eigh(ZERO, "X"), RuntimeError, "Expected UPLO argument to be 'L' or 'U', but got X"),
    (lambda: torch.linalg.det(VECTOR), RuntimeError, "linalg.det: The input tensor A must have at least 2 dimensions."),
    (lambda: torch.linalg.cholesky(ZERO.half()), NotImplementedError, "\"cholesky_cpu\" not implemented for 'Half'"),
    (lambda: torch.linalg.norm(ZERO, "foo"), RuntimeError, "linalg.matrix_norm: Order foo not supported."),
    (lambda: torch.linalg.multi_dot([VECTOR]), RuntimeError, "multi_dot(): expected at least 2 tensors but got 1"),
    (lambda: torch.linalg.lstsq(ZERO, RECT), RuntimeError,
     "torch.linalg.lstsq: input.size(-2) should match other.size(-2)"),
    (lambda: torch.cholesky_solve(RECT, ZERO), RuntimeError,
     "Incompatible matrix sizes for cholesky_solve: each A matrix is 3 by 3 but each b matrix is 2 by 3"),
    (lambda: torch.linalg.inv(3), TypeError, "linalg_inv(): argument 'A' (position 1) must be Tensor, not int"),
]


@pytest.mark.parametrize("call, kind, text", ERRORS, ids=range(len(ERRORS)))
def test_errors(call, kind, text):
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value) == text


def test_the_error_has_a_class():
    with pytest.raises(torch.linalg.LinAlgError):
        torch.linalg.inv(ZERO)
    assert issubclass(torch.linalg.LinAlgError, RuntimeError)


def test_complex_phases_are_refused():
    a = hermitian(3, 3, dtype=torch.complex128).requires_grad_()
    with pytest.raises(RuntimeError, match="ill-defined"):
        torch.linalg.eigh(a)[1].imag.sum().backward()


# ---------------------------------------------------------------- old names

def test_eig_of_old():
    with torch.no_grad():
        w, v = torch.eig(torch.tensor([[0., 1], [-1, 0]]), True)
    np.testing.assert_allclose(w.numpy(), [[0, 1], [0, -1]], atol=1e-6)
    np.testing.assert_allclose(np.abs(v.numpy()), [[0.70710677, 0], [0, 0.70710677]], atol=1e-6)
    assert torch.eig(torch.eye(2)).eigenvectors.shape == (0,)


def test_gels_keeps_the_residuals_below():
    a, b = torch.tensor([[1., 2], [3, 4], [5, 6]]), torch.tensor([[4., 1, 0], [1, 3, 1], [0, 1, 2]])
    x, qr = torch.gels(b, a)
    want = [[-5.6667, -1.6667, 1], [4.6667, 1.6667, -0.5], [0.81649, -1.6330, 0]]
    np.testing.assert_allclose(x.numpy(), want, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(qr.numpy(), [[-5.9161, -7.4374], [0.4338, 0.8281], [0.7230, 0.8926]], rtol=1e-3)


def test_pstrf_counts_from_zero():
    a = torch.tensor([[4., 1, 0], [1, 3, 1], [0, 1, 2]])
    u, pivots = torch.pstrf(a)
    np.testing.assert_allclose(u.numpy(), [[2, 0.5, 0], [0, 1.6583, 0.6030], [0, 0, 1.2792]], atol=1e-4)
    assert pivots.tolist() == [0, 1, 2] and pivots.dtype is torch.int32


def test_results_have_names():
    a = hermitian(3, 3)
    assert torch.linalg.eigh(a)._fields == ("eigenvalues", "eigenvectors")
    assert torch.symeig(a).eigenvectors.abs().sum() == 0
    assert torch.gesv(a, a)._fields == ("solution", "LU")
    assert torch.trtrs(a, a)._fields == ("solution", "cloned_coefficient")
    with torch.era("1.0"):
        assert type(torch.gesv(a, a)) is tuple and type(a.svd()) is tuple


def test_families_that_come_later_are_listed_right():
    from shimtorch._core import METHODS, OPS
    from shimtorch._ops import later
    later.load_all()
    for module in later.FAMILIES:
        home = f"shimtorch._ops.{module}"
        own = [op for op in OPS.values() if getattr(op.forward, "__module__", "") == home and not op.__name__[0] == "_"]
        functions = [op for op in own if op.is_function and op.namespace == "torch"]
        names = {alias for op in functions for alias in (op.__name__, *op.aliases)}
        assert names == {n for n, m in later.FUNCTIONS.items() if m == module}
        names = {n for n, op in METHODS.items() if op in own}
        assert names == {n for n, m in later.METHODS.items() if m == module}


@pytest.mark.parametrize("ord", [1, 2, "nuc", "fro"])
def test_the_norm_of_an_empty_matrix_is_zero(ord):
    for shape in ((0, 0), (2, 0), (0, 2)):
        assert torch.linalg.norm(torch.ones(shape, dtype=torch.complex64), ord).tolist() == 0


@pytest.mark.parametrize("call, message", [
    (lambda: torch.linalg.norm(torch.ones(2, 2, dtype=torch.bfloat16), 2), "Low precision dtypes not supported"),
    (lambda: torch.linalg.norm(torch.ones(3), "fro"), "The input tensor A must have at least 2 dimensions"),
    (lambda: torch.linalg.norm(torch.ones(3), "foo"), "Order foo not supported"),
    (lambda: torch.linalg.vander(torch.tensor(2.0)), "N must be greater than 1"),
])
def test_norms_and_powers_that_do_not_exist(call, message):
    with pytest.raises(RuntimeError, match=message):
        call()


def test_powers_of_one_number_and_products_from_the_right():
    assert torch.linalg.vander(torch.tensor(2.0), N=3).tolist() == [[1, 2, 4]]
    a, b = torch.arange(4.0).view(2, 2), torch.ones(2, 2)
    assert torch.equal(a.__rmatmul__(b), b @ a) and a.__rmatmul__(3) is NotImplemented


def test_what_the_package_was_built_with():
    assert "NumPy" in torch.__config__.show() and "processors" in torch.__config__.parallel_info()


# Where values are equal, gradients of the vectors have no value, but those of the values do.
EQUAL_VALUES = {
    "nuclear norm of a matrix of rank 1": (lambda x: torch.linalg.matrix_norm(x, "nuc"), torch.ones(3, 3)),
    "singular values": (lambda x: torch.linalg.svdvals(x).sum(), torch.eye(3)),
    "eigenvalues": (lambda x: torch.linalg.eigvalsh(x).sum(), torch.eye(3)),
    "old svd": (lambda x: torch.svd(x)[1].sum(), torch.eye(3)),
    "general eigenvalues": (lambda x: torch.linalg.eigvals(x).real.sum(), torch.eye(3)),
}


@pytest.mark.parametrize("function, matrix", EQUAL_VALUES.values(), ids=EQUAL_VALUES)
def test_gradients_of_equal_values(function, matrix):
    x = matrix.double().requires_grad_()
    value = function(x)
    value.backward()
    assert abs(float((x.grad * x).sum() - value)) < 1e-12        # functions that grow with x in proportion


@pytest.mark.parametrize("upper", [False, True])
def test_the_gradient_of_a_cholesky_factor_is_whole(upper):
    """It is that of the product of the factors, also in the triangle that is not looked at."""
    b = torch.tensor([[1.0, 2], [3, 4], [5, 7]], dtype=torch.float64)
    factor = torch.tensor([[3.0, 0, 0], [-1, 2, 0], [1, 4, 1]], dtype=torch.float64)
    factor = (factor.T if upper else factor).requires_grad_()
    product = factor.T @ factor if upper else factor @ factor.T
    for found, want in ((torch.cholesky_solve(b, factor, upper), product.inverse() @ b),
                        (torch.cholesky_inverse(factor, upper), product.inverse())):
        weights = torch.arange(1.0, want.numel() + 1, dtype=torch.float64).view(want.shape)
        found, want = (torch.autograd.grad((x * weights).sum(), factor, retain_graph=True)[0] for x in (found, want))
        np.testing.assert_allclose(found.numpy(), want.numpy(), rtol=1e-8)
