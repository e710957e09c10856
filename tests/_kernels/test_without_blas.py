"""Products where no BLAS is found in the process: the library's own kernels, and NumPy's for large matrices."""
import os
import subprocess
import sys

SCRIPT = """
import numpy as np
import shimtorch as torch
from shimtorch._kernels import probe

assert not probe.has_blas()
EQUATIONS = [
    ("ij,jk->ik", (70, 80), (80, 90)), ("ij,jk->ki", (70, 80), (80, 90)), ("ji,jk->ik", (80, 70), (80, 90)),
    ("bij,bjk->bik", (3, 70, 80), (3, 80, 90)), ("bihd,bjhd->bhij", (2, 40, 3, 70), (2, 41, 3, 70)),
    ("abcd,ebfd->acef", (6, 7, 8, 9), (5, 7, 4, 9)), ("jk,ijkl->il", (20, 21), (9, 20, 21, 22)),
    ("ij,j->i", (300, 400), (400,)), ("i,i->", (5000,), (5000,)), ("...ij,jk->...ik", (2, 3, 50, 60), (60, 70)),
    ("ij,jk,kl->il", (50, 60), (60, 70), (70, 40)), ("ij,ij->", (200, 300), (200, 300))]
numbers = np.random.default_rng(1)
for dtype in ("float32", "float64", "complex64", "complex128", "int32", "float16"):
    for equation, *shapes in EQUATIONS:
        arrays = [numbers.integers(-2, 3, shape).astype(dtype) for shape in shapes]
        want = np.einsum(equation, *[a.astype("complex128") for a in arrays], optimize=True)
        for flip in (False, True):
            operands = [torch.tensor(a) for a in arrays]
            if flip:
                operands = [x.transpose(0, -1).contiguous().transpose(0, -1) for x in operands]
            result = torch.einsum(equation, *operands)
            np.testing.assert_allclose(result.numpy(), want, rtol=2e-3 if dtype == "float16" else 1e-6, atol=1e-6)
            if equation in ("ij,jk->ik", "bij,bjk->bik", "ij,j->i", "i,i->", "...ij,jk->...ik"):
                np.testing.assert_allclose((operands[0] @ operands[1]).numpy(), want, rtol=2e-3, atol=1e-6)
x, y = (torch.randn(60, 60, dtype=torch.float64, requires_grad=True) for _ in range(2))
(x @ y).sum().backward()
np.testing.assert_allclose(x.grad.numpy(), np.broadcast_to(y.detach().numpy().sum(1), (60, 60)))
"""


def test_products(tmp_path):
    run = subprocess.run([sys.executable, "-W", "error", "-c", SCRIPT], capture_output=True, text=True,
                         env={**os.environ, "SHIMTORCH_BLAS": "none"}, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
