"""Products of sparse matrices on the device, their gradients, and how cuSPARSE is called."""
import os
import subprocess
import sys

import pytest

import shimtorch as torch

from .test_emulator import faults_program
from .test_sparse import both, same, sparse, values_of

pytestmark = pytest.mark.usefixtures("no_leak")
DTYPES = ["float32", "float64", "float16", "bfloat16", "int64", "int32", "complex64", "complex128"]

PRODUCTS = {
    "mm": lambda a, b, d: a.mm(d),
    "transposed": lambda a, b, d: a.t().mm(d[:4]),
    "sparse.mm": lambda a, b, d: torch.sparse.mm(a, d),
    "matmul": lambda a, b, d: a @ d,
    "mv": lambda a, b, d: a.mv(d[:, 0]),
    "dense first": lambda a, b, d: d.t().mm(b),
    "sparse": lambda a, b, d: torch.sparse.mm(a, b),
    "strides": lambda a, b, d: a.mm(d.t().contiguous().t()),
    "step": lambda a, b, d: a.mm(d[:, ::2]),
    "column": lambda a, b, d: a.mm(d[:, 1:2]),
    "row": lambda a, b, d: a.mm(d[:1].expand(6, 3)),
    "none": lambda a, b, d: a.mm(d[:, :0]),
    "addmm": lambda a, b, d: torch.addmm(d[:4], a, d),
    "factors": lambda a, b, d: torch.sparse.addmm(d[:4], a, d, beta=2, alpha=3),
    "beta 0": lambda a, b, d: torch.addmm(d[:1], a, d, beta=0),
    "row base": lambda a, b, d: torch.addmm(d[0], a, d),
    "in place": lambda a, b, d: d[:4].clone().addmm_(a, d),
    "hspmm": lambda a, b, d: torch.hspmm(a, d),
    "smm": lambda a, b, d: torch.smm(a, d),
    "sspaddmm": lambda a, b, d: torch.sspaddmm(a.mm(b), a, b.to_dense()),
    "square": lambda a, b, d: a.mm(b).mm(a),
    "bmm": lambda a, b, d: torch.stack([a, a]).bmm(torch.stack([d, d])),
    "wrong size": lambda a, b, d: a.mm(d[:5]),
    "wrong dtype": lambda a, b, d: a.mm(d.to(torch.int8)),
}


def operands(dtype):
    a, b = sparse((4, 6), 14, None, dtype), sparse((6, 4), 9, None, dtype, 3)
    return a, b, values_of((6, 3), dtype, 8)


@pytest.mark.parametrize("dtype", DTYPES)
def test_products(dtype):
    a, b, d = operands(dtype)
    for name, f in PRODUCTS.items():
        if name != "sspaddmm" or dtype not in ("float16", "bfloat16"):
            both(f, a, b, d)
            both(f, a.coalesce(), b.coalesce(), d)
            both(f, a * 0 if name == "mm" else sparse((4, 6), 0, None, dtype), b, d)


def test_long_rows_and_many_columns():
    a, d = sparse((3, 1000), 2500), values_of((1000, 70), "float64", 1)
    both(lambda a, d: a.mm(d), a, d)
    both(lambda a, d: a.t().mm(d[:3]), a, d)
    both(lambda a, d: a.mm(a.t()), a, d)


def test_results_repeat_bit_for_bit():
    a, d = sparse((30, 40), 500, None, "float32").cuda(), values_of((40, 5), "float32", 1).cuda()

    def results():
        return [a.coalesce().values(), a.mm(d), a.t().mm(d[:30]), a.mm(a.t()).values(), torch.sparse.sum(a, 0).values()]
    first = results()
    for x, y in zip(first, results(), strict=True):
        assert x.cpu().tolist() == y.cpu().tolist()
    torch.use_deterministic_algorithms(True)
    try:
        assert torch.equal(a.mm(d), first[1])
    finally:
        torch.use_deterministic_algorithms(False)


# ---------------------------------------------------------------- gradients

GRADIENTS = {
    "sparse.mm": lambda a, b, d: torch.sparse.mm(a, d),
    "adjoint": lambda a, b, d: torch.sparse.mm(a.t(), d[:4]),
    "both sparse": lambda a, b, d: torch.sparse.mm(a, b),
    "mm": lambda a, b, d: a.mm(d),
    "addmm": lambda a, b, d: torch.sparse.addmm(d[:4], a, d, beta=2, alpha=3),
    "sum": lambda a, b, d: torch.sparse.sum(a * a, 0),
    "all": lambda a, b, d: a.sum(),
    "to_dense": lambda a, b, d: a.to_dense(),
    "added": lambda a, b, d: a * 2 + a,
    "product": lambda a, b, d: a * b.t(),
    "dense": lambda a, b, d: a * d[:4, :1],
    "softmax": lambda a, b, d: torch.sparse.softmax(a, 1),
    "amax": lambda a, b, d: a.amax(1),
    "prod": lambda a, b, d: a.prod(0),
    "rows": lambda a, b, d: a.index_select(0, torch.tensor([1, 0, 1], device=a.device)),
    "select": lambda a, b, d: a[1],
    "from dense": lambda a, b, d: d.to_sparse() * 2,
    "values": lambda a, b, d: a.coalesce().values(),
    "made": lambda a, b, d: torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], d[0], (4, 6)).to_dense(),
    "mask": lambda a, b, d: (d.mm(d[:4].t())).t().sparse_mask(a.detach()),
    "csr": lambda a, b, d: a.to_sparse_csr().to_dense(),
    "norm": lambda a, b, d: a.norm(),
    "mean": lambda a, b, d: a.mean(),
    "sine": lambda a, b, d: a.sin(),
    "power": lambda a, b, d: a.pow(3),
    "hspmm": lambda a, b, d: torch.hspmm(a, d),
}


def gradients(f, operands):
    leaves = [x.detach().requires_grad_() for x in operands]
    result = f(*leaves)
    if result.layout is not torch.strided:
        result = result.to_dense()
    weights = torch.arange(1.0, result.numel() + 1).reshape(result.shape).to(result.device, result.dtype)
    result = result * weights
    return torch.autograd.grad((torch.view_as_real(result) if result.is_complex() else result).sum(), leaves,
                               allow_unused=True)


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_are_those_of_the_cpu(name):
    for dtype in ("float64", "complex128") if name not in ("softmax", "amax", "norm", "from dense") else ("float64",):
        given = [sparse((4, 6), 9, None, dtype).coalesce(), sparse((6, 4), 8, None, dtype, 3).coalesce(), values_of(
            (6, 3), dtype, 8)]
        want = gradients(GRADIENTS[name], given)
        got = gradients(GRADIENTS[name], [x.cuda() for x in given])
        for g, w in zip(got, want, strict=True):
            assert (g is None) == (w is None)
            if w is not None:
                same(g, w)


# ---------------------------------------------------------------- the library

def emulated():
    if faults_program("faults") is None:
        pytest.skip("needs the emulator")


def python(code, tmp_path, **settings):
    return subprocess.run([sys.executable, "-W", "always", "-c", code], cwd=tmp_path, capture_output=True, text=True,
                          env={**os.environ, **settings})


def test_versions():
    from shimtorch._gpu import load
    built, used = load.sparse_library().versions(load.runtime().place(0))
    assert built >= 12000 and used >= built


def test_an_older_library_is_warned_of_once(tmp_path):
    emulated()
    done = python("import shimtorch as t\nfor _ in range(2): t.eye(2).to_sparse().cuda().mm(t.eye(2).cuda())", tmp_path,
                  SHIMEMU_CUSPARSE="12500")
    assert done.returncode == 0 and done.stderr.count("was built with cuSPARSE") == 1, done.stderr


@pytest.mark.parametrize("least", [1, 5])
def test_another_algorithm_where_memory_does_not_do(least, tmp_path):
    emulated()
    code = ("import shimtorch as t\nx = t.ones(3, 3).to_sparse().cuda()\n"
            "assert x.mm(x).to_dense().tolist() == [[3] * 3] * 3")
    assert python(code, tmp_path, SHIMEMU_SPGEMM=str(least)).returncode == 0
    done = python(code, tmp_path, SHIMEMU_SPGEMM="9")
    assert "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES when calling `cusparseSpGEMM" in done.stderr


def test_streams():
    a, d = sparse((20, 30), 200).cuda(), values_of((30, 4), "float64", 1).cuda()
    want = a.mm(d).cpu()
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        got = a.coalesce().mm(d * 1)
    torch.cuda.current_stream().wait_stream(stream)
    assert torch.allclose(got.cpu(), want)
