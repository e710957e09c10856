"""The memory of contractions, as the system counts it: that of the best path, whatever the order of the operands."""
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")

# peak(f): how far the resident memory rises above what it is before, in bytes.
HEAD = """
import itertools
import random
import shimtorch as torch

def status(key):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(key))

def peak(f):
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")                # the high-water mark starts anew
    before = status("VmRSS:")
    f()
    return status("VmHWM:") - before

torch.set_num_threads(1)
a = torch.ones(300, 300)
a @ a                                  # the BLAS takes its buffers
"""

SCRIPTS = {
    "network": """
n, r = 48, 4
terms = dict(ea=(r, n), fb=(r, n), abcd=(n,) * 4, gc=(r, n), hd=(r, n))
operands = {term: torch.ones(shape) for term, shape in terms.items()}
for order in itertools.permutations(terms):
    rise = peak(lambda: torch.einsum(",".join(order) + "->efgh", *[operands[term] for term in order]))
    largest = 4 * r * n**3             # bytes of the largest intermediate result of the best path
    assert rise < 1.5 * largest + 2**20, (order, rise, largest)
    assert largest < 4 * n**4 / 10
""",
    "chain": """
r, n = 8, 40000
shapes = [(r, 2, r)] * 9 + [(r, n, r)] + [(r, 2, r)] * 10
rows = [(i, 100 + i, i + 1) for i in range(20)]
operands = [torch.ones(shape) for shape in shapes]
random.seed(0)
for _ in range(12):
    order = random.sample(range(20), 20)
    arguments = [item for i in order for item in (operands[i], rows[i])]
    rise = peak(lambda: torch.einsum(*arguments, [0, 109, 20]))
    core = 4 * r * r * n               # the result, and the product with one side before it
    assert rise < 2 * core + 2**21, (order, rise, core)
""",
    "bilinear": """
i, j, o, batch = 128, 128, 512, 2048
weight, left, right = torch.ones(o, i, j), torch.ones(batch, i), torch.ones(batch, j)
rise = peak(lambda: torch.nn.functional.bilinear(left, right, weight))
assert rise < 2 * 4 * o * i * j + 2**21, rise
for x in (weight, left, right):
    x.requires_grad_()
rise = peak(lambda: torch.nn.functional.bilinear(left, right, weight).sum().backward())
assert rise < 4 * 4 * o * i * j + 2**21, rise
""",
    "sampled": """
n, nnz, k = 20000, 5000, 4
indices = torch.stack([torch.randint(0, n, (nnz,)), torch.randint(0, n, (nnz,))])
s = torch.sparse_coo_tensor(indices, torch.ones(nnz), (n, n)).coalesce().requires_grad_()
x, y = torch.ones(n, k, requires_grad=True), torch.ones(n, k, requires_grad=True)
torch.einsum("ij,ik,jk->ij", s, x, y)
rise = peak(lambda: torch.einsum("ij,ik,jk->ij", s, x, y).to_sparse().values().sum().backward())
assert rise < 2**23 < 4 * n * n / 100, rise
assert s.grad.layout is torch.sparse_coo and s.grad._nnz() == s._nnz()
"""}


@pytest.mark.parametrize("name", SCRIPTS)
def test_peak(name, tmp_path):
    run = subprocess.run([sys.executable, "-W", "error", "-c", HEAD + SCRIPTS[name]], capture_output=True, text=True,
                         cwd=tmp_path)
    assert run.returncode == 0, run.stderr
