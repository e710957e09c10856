"""No operation needs more memory than 1.5 times its operands and its result, and the workspace that is stated for it.

A process of its own per operation, whose peak of resident memory the system tells. The workspaces stand in
docs/architecture.md: bytes for each entry of the operands.
"""
import os
import subprocess
import sys

import pytest

NEEDS_PROC = pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK),
                                reason="the peak of a process's memory can be reset on Linux only")
SLACK = 6e6                 # what the interpreter and the allocator take meanwhile

SETUP = """
import ctypes, gc
import numpy as np
import shimtorch as torch
from shimtorch._core import storage
from shimtorch._kernels import scratch

n, nnz, side = 100_000, 1_000_000, 2_000


def coo(n=n, nnz=nnz, seed=0, repeats=False):
    rng = np.random.default_rng(seed)
    x = torch.sparse_coo_tensor(torch.from_numpy(rng.integers(0, n, (2, nnz))),
                                torch.from_numpy(rng.standard_normal(nnz)), (n, n))
    return x if repeats else x.coalesce()


def dense(*shape):
    return torch.from_numpy(np.random.default_rng(0).standard_normal(shape))


def size(x):
    if isinstance(x, tuple):
        return sum(map(size, x))
    if x.layout is torch.strided:
        return x.numel() * x.element_size()
    if x.is_sparse:
        return size((x._indices(), x._values()))
    by_rows = x.layout in (torch.sparse_csr, torch.sparse_bsr)
    pointers = x.crow_indices() if by_rows else x.ccol_indices()
    plain = x.col_indices() if by_rows else x.row_indices()
    return size((pointers, plain, x.values()))


def status(key):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(key))


def measure(make, use):
    operands = make()
    for _ in range(2):
        gc.collect()
        scratch.clear()
        storage.empty_cache()
        ctypes.CDLL(None).malloc_trim(0)
    before = status("VmRSS")
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    result = use(*operands)
    print(size(operands), size(result), status("VmHWM") - before)
"""

SORT, TABLE = 40, 64        # bytes for each entry: sorting coordinates; grouping entries by some of them as lists

CASES = {
    "coalesce": ("(coo(repeats=True),)", "lambda x: x.coalesce()", SORT),
    "t, coalesce": ("(coo().t(),)", "lambda x: x.coalesce()", 16),
    "add": ("(coo(), coo(seed=1))", "lambda x, y: x + y", 1),
    "mul": ("(coo(), coo(seed=1))", "lambda x, y: x * y", 8),
    "mul, number": ("(coo(),)", "lambda x: x * 2", 0),
    "abs": ("(coo(),)", "lambda x: x.abs()", 0),
    "maximum": ("(coo(), coo(seed=1))", "lambda x, y: torch.maximum(x, y)", 16),
    "gt": ("(coo(), coo(seed=1))", "lambda x, y: x > y", 16),
    "mm": ("(coo(), dense(n, 16))", "lambda x, y: torch.sparse.mm(x, y)", 0),
    "mv": ("(coo(), dense(n))", "lambda x, y: x.mv(y)", 0),
    "addmm": ("(dense(n, 16), coo(), dense(n, 16))", "lambda b, x, y: torch.sparse.addmm(b, x, y)", 0),
    "hspmm": ("(coo(), dense(n, 16))", "lambda x, y: torch.hspmm(x, y)", TABLE),
    "sampled_addmm": ("(coo(), dense(n, 16), dense(16, n))", "lambda x, y, z: torch.sparse.sampled_addmm(x, y, z)", 0),
    "sparse @ sparse": ("(coo(nnz=400_000), coo(nnz=400_000, seed=1))", "lambda x, y: x @ y", SORT),
    "mm, gradients": ("(coo().requires_grad_(), dense(n, 16).requires_grad_(), dense(n, 16))",
                      "lambda x, y, g: torch.autograd.grad(torch.sparse.mm(x, y), (x, y), g)", 0),
    "sum": ("(coo(),)", "lambda x: torch.sparse.sum(x)", 0),
    "sum 0": ("(coo(),)", "lambda x: torch.sparse.sum(x, 0)", 0),
    "sum 1": ("(coo(),)", "lambda x: torch.sparse.sum(x, 1)", 0),
    "sum 0, gradient": ("(coo().requires_grad_(),)",
                        "lambda x: torch.autograd.grad(torch.sparse.sum(x, 0).to_dense().sum(), x)", TABLE),
    "amax": ("(coo(),)", "lambda x: x.amax(0)", TABLE),
    "softmax": ("(coo(),)", "lambda x: torch.sparse.softmax(x, 0)", SORT),
    "norm": ("(coo(),)", "lambda x: x.norm()", 0),
    "to_dense": ("(coo(side),)", "lambda x: x.to_dense()", 0),
    "to_sparse": ("(dense(side, side).relu(),)", "lambda x: x.to_sparse()", 8),
    "to_sparse_csr": ("(coo(),)", "lambda x: x.to_sparse_csr()", 0),
    "to_sparse_csc": ("(coo(),)", "lambda x: x.to_sparse_csc()", 32),
    "csr to coo": ("(coo().to_sparse_csr(),)", "lambda x: x.to_sparse()", 0),
    "sparse_mask": ("(dense(side, side), coo(side))", "lambda x, y: x.sparse_mask(y)", 0),
    "index_select": ("(coo(), torch.arange(0, n, 3))", "lambda x, i: x.index_select(0, i)", 0),
    "index_select 1": ("(coo(), torch.arange(0, n, 3))", "lambda x, i: x.index_select(1, i)", 16),
    "slices": ("(coo(),)", "lambda x: x[10:n // 2, ::2]", 16),
    "row": ("(coo(),)", "lambda x: x[5]", 1),
    "cat": ("(coo(), coo(seed=1))", "lambda x, y: torch.cat((x, y))", 0),
    "reshape": ("(coo(),)", "lambda x: x.reshape(n // 2, 2 * n)", 16),
    "permute": ("(coo(),)", "lambda x: x.permute(1, 0)", 0),
    "diagonal": ("(coo(),)", "lambda x: x.diagonal(3)", 24),
    "tril": ("(coo(),)", "lambda x: x.tril()", 24),
    "flip": ("(coo(),)", "lambda x: x.flip(0)", 0),
    "roll": ("(coo(),)", "lambda x: x.roll(5, 1)", 16),
    "repeat": ("(coo(),)", "lambda x: x.repeat(2, 2)", 48),
    "kron": ("(coo(nnz=300_000), coo(30, 9))", "lambda x, y: torch.kron(x, y)", 0),
    "to_dense, repeats": ("(coo(side, repeats=True),)", "lambda x: x.to_dense()", 0),
    "to_sparse_bsr": ("(coo(side),)", "lambda x: x.to_sparse_bsr((2, 2))", TABLE),
    "bmm": ("(torch.stack([coo(nnz=400_000)] * 2), dense(2, n, 8))", "lambda x, y: x.bmm(y)", SORT),
    "where": ("(coo(), coo(seed=1))", "lambda x, y: torch.where(x > 0, x, y)", TABLE),
    "mean": ("(coo(),)", "lambda x: x.mean(1)", TABLE),
    "prod": ("(coo(),)", "lambda x: x.prod(0)", TABLE),
    "any": ("(coo(),)", "lambda x: x.any(1)", TABLE),
    "spspmm, gradients": ("(coo(nnz=200_000).requires_grad_(), coo(nnz=200_000, seed=1).requires_grad_())",
                          "lambda x, y: torch.autograd.grad(torch.sparse.sum(torch.sparse.mm(x, y)), (x, y))", SORT),
    "mul, gradients": ("(coo().requires_grad_(), coo(seed=1).requires_grad_())",
                       "lambda x, y: torch.autograd.grad(torch.sparse.sum(x * y), (x, y))", 32),
    "softmax, gradient": ("(coo().requires_grad_(),)",
                          "lambda x: torch.autograd.grad(torch.sparse.sum(torch.sparse.softmax(x, 1)), x)", SORT),
    "clone": ("(coo(),)", "lambda x: x.clone()", 0),
    "to": ("(coo(),)", "lambda x: x.float()", 0),
    "times dense": ("(coo(side), dense(side, side))", "lambda x, y: x * y", 0),
    "plus dense": ("(coo(side), dense(side, side))", "lambda x, y: y + x", 0),
    "equal": ("(coo(), coo())", "lambda x, y: torch.tensor(x.equal(y))", 0),
    "assignment": ("(coo(),)", "lambda x: (x.__setitem__(5, 0), x)[1]", 32),
}


@NEEDS_PROC
@pytest.mark.parametrize("name", CASES)
def test_peak(name, tmp_path):
    make, use, workspace = CASES[name]
    code = f"{SETUP}\nmeasure(lambda: {make}, {use})"
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False,
                         cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    operands, result, peak = map(int, run.stdout.split())
    entries = 4e6 if name == "to_sparse" else 2e6 if ", coo(" in make else 1e6
    assert operands + peak <= 1.5 * (operands + result) + workspace * entries + SLACK
