"""QR, singular values, eigenvalues, least squares and exponentials of matrices on the device, by kernels of ours."""
import pytest

import shimtorch as torch

pytestmark = pytest.mark.usefixtures("no_leak")
DTYPES = [torch.float32, torch.float64, torch.complex64, torch.complex128]
SHAPES = [(1, 1), (3, 3), (2, 5, 3), (3, 5), (2, 2, 4, 6), (12, 12), (20, 9), (0, 3, 3), (3, 0), (0, 4)]


def near(got, want, scale=1.0):
    """Equal up to some roundings of numbers of a size."""
    assert got.is_cuda and got.dtype is want.dtype and got.shape == want.shape
    if want.numel():
        eps = 1e-5 if want.dtype in (torch.float32, torch.complex64) else 1e-13
        assert (got.cpu() - want).abs().max().item() <= eps * 50 * max(1.0, scale, want.abs().max().item())


def eye(n, like):
    return torch.eye(n, dtype=like.dtype).expand(*like.shape[:-2], n, n)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_factors(dtype, shape):
    torch.manual_seed(1)
    a = torch.randn(*shape, dtype=dtype)
    k = min(shape[-2:])
    for full in (True, False):
        want, (U, S, Vh) = torch.linalg.svd(a, full_matrices=full), torch.linalg.svd(a.cuda(), full_matrices=full)
        assert U.shape == want.U.shape and Vh.shape == want.Vh.shape
        near(S, want.S)
        near((U[..., :k] * S.unsqueeze(-2).to(dtype)) @ Vh[..., :k, :], a)
        near(U.mH @ U, eye(U.shape[-1], U))
        near(Vh @ Vh.mH, eye(Vh.shape[-2], Vh))
    for mode in ("reduced", "complete", "r"):
        for got, want in zip(torch.linalg.qr(a.cuda(), mode), torch.linalg.qr(a, mode), strict=True):
            near(got, want)
    near(torch.linalg.pinv(a.cuda()), torch.linalg.pinv(a), 100)
    for got, want in zip(torch.geqrf(a.cuda()), torch.geqrf(a), strict=True):
        near(got, want)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [0, 1, 2, 3, 8, 15])
def test_hermitian(dtype, n):
    torch.manual_seed(2)
    a = torch.randn(2, n, n, dtype=dtype)
    for uplo in "LU":
        values, vectors = torch.linalg.eigh(a.cuda(), uplo)
        near(values, torch.linalg.eigvalsh(a, uplo))
        part = a.tril(-1) if uplo == "L" else a.triu(1)
        whole = part + part.mH + torch.diag_embed(torch.real(a.diagonal(dim1=-2, dim2=-1)).to(dtype))
        near((vectors * values.unsqueeze(-2).to(dtype)) @ vectors.mH, whole)
        near(vectors.mH @ vectors, eye(n, vectors))
    near(torch.linalg.eigvalsh(a.cuda()), torch.linalg.eigvalsh(a))
    near(torch.linalg.matrix_exp(a.cuda()), torch.linalg.matrix_exp(a), 1000)


@pytest.mark.parametrize("dtype", DTYPES)
def test_deficient(dtype):
    """Rows that repeat, zeros, one size for all, sizes far apart."""
    torch.manual_seed(3)
    row, wide = torch.randn(1, 4, dtype=dtype), torch.randn(6, 2, dtype=dtype) @ torch.randn(2, 4, dtype=dtype)
    apart = torch.diag(torch.tensor([1e-20, 1e10, 1.0], dtype=dtype))
    swapped = torch.tensor([[0, 1], [1, 0]], dtype=dtype)
    for a in (row.expand(4, 4), wide, torch.zeros(4, 3, dtype=dtype), -torch.eye(3, dtype=dtype), apart, swapped):
        U, S, Vh = torch.linalg.svd(a.cuda())
        k = S.shape[-1]
        largest = a.abs().max().item()
        near(S, torch.linalg.svdvals(a), largest)
        near((U[:, :k] * S.to(dtype)) @ Vh[:k], a, largest)
        near(U.mH @ U, eye(U.shape[-1], U))
        near(Vh.mH @ Vh, eye(Vh.shape[-1], Vh))
        if a.shape[0] == a.shape[1]:
            h = (a + a.mH) / 2
            values, vectors = torch.linalg.eigh(h.cuda())
            near(values, torch.linalg.eigvalsh(h), largest)
            near((vectors * values.to(dtype)) @ vectors.mH, h, largest)
    assert torch.linalg.matrix_rank(wide.cuda()).item() == 2


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(5, 3), (3, 3), (2, 6, 2), (2, 4), (3, 2, 5)])
def test_least_squares(dtype, shape):
    torch.manual_seed(4)
    a, b = torch.randn(*shape, dtype=dtype), torch.randn(*shape[:-1], 2, dtype=dtype)
    want, got = torch.linalg.lstsq(a, b, driver="gels"), torch.linalg.lstsq(a.cuda(), b.cuda())
    for x, y in zip(got, want, strict=True):
        near(x, y, 10)
    if len(shape) == 2:
        near(torch.lstsq(b.cuda(), a.cuda())[0], torch.lstsq(b, a)[0], 10)


def test_errors():
    zero, bad = torch.zeros(4, 3, device="cuda"), torch.full((2, 3, 3), float("nan"), device="cuda")
    with pytest.raises(RuntimeError, match=r"does not have full rank \(error code: 1\)"):
        torch.linalg.lstsq(zero, zero)
    for f, name in ((torch.linalg.svd, "svd"), (torch.linalg.svdvals, "svd"), (torch.linalg.eigh, "eigh")):
        with pytest.raises(RuntimeError, match=rf"linalg\.{name}: \(Batch element 0\): .* non-finite values"):
            f(bad)
    with pytest.raises(NotImplementedError, match="lstsq: not implemented for device 'cuda:0'"):
        torch.linalg.lstsq(zero, zero, driver="gelsd")


def test_derivatives():
    torch.manual_seed(5)
    a = torch.randn(4, 3, dtype=torch.float64, device="cuda", requires_grad=True)
    for f in (lambda a: torch.linalg.svd(a, False)[1], torch.linalg.qr, torch.linalg.pinv,
              lambda a: torch.linalg.eigh(a.mT @ a)[0], lambda a: torch.linalg.matrix_exp(a.mT @ a)):
        assert torch.autograd.gradcheck(f, a)
    assert torch.autograd.gradgradcheck(torch.linalg.svdvals, a)


def test_what_is_made_of_them():
    a = torch.randn(5, 4)
    for f in (lambda a: torch.linalg.matrix_norm(a, 2), lambda a: torch.linalg.matrix_norm(a, "nuc"),
              torch.linalg.cond):
        near(f(a.cuda()), f(a))
    q = torch.nn.init.orthogonal_(torch.empty(3, 5, device="cuda"))
    near(q @ q.mT, torch.eye(3))
