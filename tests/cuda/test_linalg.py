"""Solving, inverting and factoring on the device, where kernels of ours do it; what has no form is refused by name."""
import pytest

import shimtorch as torch

pytestmark = pytest.mark.usefixtures("no_leak")
F = ["float32", "float64", "complex64", "complex128"]


def matrices(dtype, *shape):
    torch.manual_seed(1)
    a = torch.randn(*shape, dtype=torch.complex128 if "complex" in dtype else torch.float64)
    return (a + 2 * torch.eye(*shape[-2:])).to(getattr(torch, dtype))


def near(got, want):
    assert got.is_cuda and got.dtype is want.dtype and got.shape == want.shape
    if want.numel():
        tolerance = 1e-3 if want.dtype in (torch.float32, torch.complex64) else 1e-9
        assert (got.cpu() - want).abs().max().item() <= tolerance * (1 + want.abs().max().item())


@pytest.mark.parametrize("dtype", F)
@pytest.mark.parametrize("shape", [(1, 1), (5, 5), (3, 4, 4), (2, 2, 130, 130), (0, 0), (2, 0, 3, 3)])
def test_square(dtype, shape):
    a = matrices(dtype, *shape)
    for f in (torch.linalg.inv, torch.det, torch.linalg.lu_factor, torch.linalg.lu, torch.slogdet):
        if f is torch.det and shape[-1] > 100:
            continue                       # beyond the numbers of float32
        want, got = f(a), f(a.cuda())
        for x, y in zip(want, got) if isinstance(want, tuple) else [(want, got)]:
            near(y, x)
    near(torch.linalg.solve(a.cuda(), a.cuda()[..., :2]), torch.linalg.solve(a, a[..., :2]))
    spd = a @ a.mH + torch.eye(shape[-1], dtype=a.dtype)
    for upper in (False, True):
        near(torch.linalg.cholesky(spd.cuda(), upper=upper), torch.linalg.cholesky(spd, upper=upper))
        for left in (False, True):
            b = a if left else a.mT
            near(torch.linalg.solve_triangular(a.cuda(), b.cuda(), upper=upper, left=left),
                 torch.linalg.solve_triangular(a, b, upper=upper, left=left))


def test_gradients():
    for f in (torch.inverse, torch.det, lambda a: torch.linalg.solve(a, a[..., :1] * 2), torch.logdet,
              lambda a: torch.linalg.cholesky(a @ a.mT + torch.eye(3, device=a.device, dtype=a.dtype)),
              lambda a: torch.linalg.lu_factor(a)[0], lambda a: torch.cholesky_solve(a, a.tril())):
        a = matrices("float64", 2, 3, 3)
        if f is torch.logdet:
            a = a @ a.mT
        grads = []
        for device in ("cpu", "cuda"):
            x = a.to(device).detach().requires_grad_()
            f(x).sum().backward()
            grads.append(x.grad)
        near(grads[1], grads[0])


def test_failures():
    zero = torch.zeros(2, 3, 3, device="cuda")
    for f, message in ((torch.linalg.inv, "singular"), (lambda a: torch.linalg.solve(a, a), "singular"),
                       (torch.linalg.cholesky, "positive-definite"), (torch.linalg.lu_factor, r"U\[1,1\] is zero")):
        with pytest.raises(RuntimeError, match=message):
            f(zero)
    assert torch.linalg.inv_ex(zero)[1].tolist() == [1, 1] and torch.det(zero).tolist() == [0, 0]
    for f in (torch.linalg.eig, torch.linalg.eigvals, torch.linalg.ldl_factor):
        with pytest.raises(NotImplementedError, match="cuda:0"):
            f(zero)
