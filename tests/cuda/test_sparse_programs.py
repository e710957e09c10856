"""Programs with sparse tensors: on the device they come to what they come to on the CPU."""
import doctest
import os
import pathlib
import re
import subprocess
import sys

import pytest

import shimtorch as torch
from shimtorch import nn

from .test_sparse import both, same, sparse, values_of

COMPAT = pathlib.Path(__file__).parents[2] / "compat"


# ---------------------------------------------------------------- scripts and documents

def losses(script, **settings):
    done = subprocess.run([sys.executable, "-m", "shimtorch", "run", str(script)], capture_output=True, text=True,
                          cwd=script.parent, env={**os.environ, **settings})
    assert done.returncode == 0, done.stderr
    return [float(x) for x in re.findall(r"loss: (\S+)", done.stdout)]


def test_graph_convolutions():
    script = COMPAT / "scripts/gcn_karate.py"
    assert ".cuda()" in script.read_text(encoding="utf-8")
    got, want = losses(script), losses(script, CUDA_VISIBLE_DEVICES="", SHIMEMU_DEVICES="0")
    assert len(got) == 11 and got == pytest.approx(want, rel=1e-3, abs=2e-4)


def moved(names):
    """Let every tensor that an example has made lie on the device."""
    for name, x in names.items():
        if isinstance(x, torch.Tensor) and not x.is_cuda and not x.grad_fn:
            names[name] = x.detach().cuda().requires_grad_(x.requires_grad)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("document", ["sparse-0.3.txt", "sparse-1.1.txt"])
def test_the_examples_of_the_document(document):
    text = re.sub(r" *# doctest: .*", "", (COMPAT / "docs" / document).read_text(encoding="utf-8"))
    era, compared = re.search(r"# era: (\S+)", text).group(1), 0
    with torch.era(era):
        torch.manual_seed(8)
        here, there = ({"torch": torch, "Variable": torch.autograd.Variable} for _ in range(2))
        for example in doctest.DocTestParser().get_examples(text):
            mode = "single"
            try:
                code = compile(example.source, document, "eval")
                mode = "eval"
            except SyntaxError:
                code = compile(example.source, document, "exec")
            state = torch.get_rng_state()
            want = eval(code, here)
            torch.set_rng_state(state)
            moved(there)
            got = eval(code, there)
            if mode == "eval" and isinstance(want, torch.Tensor):
                got = got if got.is_cuda else got.cuda()
                assert got.is_sparse == want.is_sparse and got.shape == want.shape
                got, want = (x.detach().to_dense() if x.is_sparse else x.detach() for x in (got, want))
                assert torch.allclose(got.cpu().float(), want.float(), atol=1e-5)
                compared += 1
    assert compared >= 4


# ---------------------------------------------------------------- training

@pytest.mark.usefixtures("no_leak")
@pytest.mark.parametrize("optimizer", [
    lambda p: torch.optim.SGD(p, lr=0.1), lambda p: torch.optim.SparseAdam(p, lr=0.05),
    lambda p: torch.optim.Adagrad(p, lr=0.05),
], ids=["sgd", "sparse adam", "adagrad"])
def test_embeddings_with_sparse_gradients(optimizer):
    torch.manual_seed(0)
    table = torch.randn(11, 4)
    words, target = torch.tensor([[1, 4, 1], [9, 0, 4]]), torch.randn(2, 3, 4)
    weights = []
    for device in ("cpu", "cuda"):
        net = nn.Embedding(11, 4, sparse=True, padding_idx=0)
        net.weight.data.copy_(table)
        net = net.to(device)
        steps = optimizer(list(net.parameters()))
        for _ in range(3):
            steps.zero_grad()
            ((net(words.to(device)) - target.to(device)) ** 2).sum().backward()
            assert net.weight.grad.is_sparse and net.weight.grad.device == net.weight.device
            steps.step()
        weights.append(net.weight.detach().cpu())
    assert torch.allclose(*weights, atol=1e-5) and not torch.equal(weights[0], table)


@pytest.mark.usefixtures("no_leak")
def test_sparse_gradients_add_up():
    for device in ("cpu", "cuda"):
        weight = torch.zeros(5, 2, device=device, requires_grad=True)
        for words in ([0, 1, 1], [1, 4]):
            nn.functional.embedding(torch.tensor(words, device=device), weight, sparse=True).sum().backward()
        assert weight.grad.is_sparse and weight.grad.to_dense().tolist() == [[1, 1], [3, 3], [0, 0], [0, 0], [1, 1]]


# ---------------------------------------------------------------- einsum

@pytest.mark.usefixtures("no_leak")
@pytest.mark.parametrize("equation", [
    "ij,jk->ik", "ij,ij->ij", "ij,ij->", "ij->ji", "ij->j", "ij,j->ij", "ij,kj->ik", "ij->", "ij,jk,k->i",
])
def test_einsum(equation):
    sizes, rest = {"i": 4, "j": 5, "k": 3}, equation.split("->")[0].split(",")
    given = [sparse((4, 5), 8)] + [values_of(tuple(sizes[k] for k in term), "float64", n)
                                   for n, term in enumerate(rest[1:])]
    both(lambda *given: torch.einsum(equation, *given), *given)
    if len(rest) == 2 and len(rest[1]) == 2:
        both(lambda x, y: torch.einsum(equation, x, y), given[0], given[1].to_sparse())


@pytest.mark.usefixtures("no_leak")
def test_gradients_of_einsum():
    grads = []
    for device in ("cpu", "cuda"):
        x = sparse((4, 5), 8).coalesce().to(device).requires_grad_()
        y = values_of((5, 3), "float64", 1).to(device).requires_grad_()
        torch.einsum("ij,jk->ik", x, y).square().sum().backward()
        grads.append((x.grad, y.grad))
    for got, want in zip(grads[1], grads[0], strict=True):
        same(got, want)


# ---------------------------------------------------------------- what has no form

def test_fallback(tmp_path):
    code = """
import warnings
import shimtorch as torch
x = torch.sparse_coo_tensor([[0, 1, 1], [0, 1, 0]], [2.0, 4.0, 1.0], (2, 2)).cuda()
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    y = torch.sparse.spsolve(x, torch.tensor([2.0, 9.0], device="cuda"))
assert y.is_cuda and y.tolist() == [1, 2], y
assert len([w for w in seen if "computed on the CPU" in str(w.message)]) == 1, [str(w.message) for w in seen]
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True,
                          env={**os.environ, "SHIMTORCH_CUDA_FALLBACK": "1"})
    assert done.returncode == 0, done.stderr
