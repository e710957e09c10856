"""Whole computations: the device gives what the CPU gives; contractions; what has no form there."""
import copy
import os
import subprocess
import sys

import pytest

import shimtorch as torch
from shimtorch import nn

pytestmark = pytest.mark.usefixtures("no_leak")


@pytest.mark.parametrize("optimizer", [
    lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
    lambda p: torch.optim.Adam(p, lr=0.05), lambda p: torch.optim.RMSprop(p, lr=0.01),
], ids=["sgd", "adam", "rmsprop"])
def test_training(optimizer):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Embedding(7, 4), nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3))
    nets = net, copy.deepcopy(net).cuda()
    words, classes = torch.randint(0, 7, (12,)), torch.randint(0, 3, (12,))
    losses = []
    for model in nets:
        device = next(model.parameters()).device
        steps = optimizer(model.parameters())
        losses.append([])
        for _ in range(4):
            steps.zero_grad()
            loss = nn.functional.cross_entropy(model(words.to(device)), classes.to(device))
            loss.backward()
            steps.step()
            losses[-1].append(loss.item())
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)
    assert losses[0][-1] < losses[0][0]
    for p, q in zip(nets[0].parameters(), nets[1].parameters(), strict=True):
        assert q.is_cuda and q.grad.is_cuda and torch.allclose(p, q.cpu(), atol=1e-5)


@pytest.mark.parametrize("equation, shapes", [
    ("ij,kj->ik", [(2, 3), (4, 3)]), ("ij,jk", [(2, 3), (3, 4)]), ("i,j->ij", [(2,), (3,)]), ("ij->j", [(2, 3)]),
    ("ii->i", [(3, 3)]), ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]), ("ij,ij->", [(2, 3), (2, 3)]),
    ("i,i->i", [(4,), (4,)]), ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)]),
    ("...ij,...jk->...ik", [(5, 2, 3), (3, 4)]), ("iij,j->i", [(3, 3, 2), (2,)]),
    ("ij,kj->ik", [(2, 1), (4, 3)]), ("ijk->kij", [(2, 3, 4)]),
])
def test_einsum(equation, shapes):
    torch.manual_seed(1)
    operands = [torch.randn(s, dtype=torch.float64, requires_grad=True) for s in shapes]
    there = [x.detach().cuda().requires_grad_() for x in operands]
    want, got = torch.einsum(equation, *operands), torch.einsum(equation, *there)
    assert got.is_cuda and got.shape == want.shape and torch.allclose(got.cpu(), want)
    want.square().sum().backward()
    got.square().sum().backward()
    for x, y in zip(operands, there, strict=True):
        assert torch.allclose(x.grad, y.grad.cpu())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"])
def test_products(dtype):
    a = torch.randn(3, 4).to(getattr(torch, dtype))
    b = torch.randn(5, 4).to(getattr(torch, dtype))
    tolerance = {"float16": 1e-2, "bfloat16": 1e-1}.get(dtype, 1e-5)
    for f in (lambda a, b: a.mm(b.t()), lambda a, b: a[:, ::2] @ b[:, ::2].t(), lambda a, b: a.mv(b[0]),
              lambda a, b: a.expand(2, 3, 4).bmm(b.t().expand(2, 4, 5)), lambda a, b: a[:, :0].mm(b[:, :0].t())):
        got, want = f(a.cuda(), b.cuda()), f(a, b)
        assert got.is_cuda and got.dtype is want.dtype
        difference = (got.cpu() - want).abs().max().item() if want.numel() else 0
        assert difference <= tolerance


def test_integer_products_are_refused():
    with pytest.raises(NotImplementedError, match="addmm_cuda"):
        torch.ones(2, 2, dtype=torch.int64, device="cuda").mm(torch.ones(2, 2, dtype=torch.int64, device="cuda"))


def test_an_op_without_a_form_names_itself():
    x = torch.randn(4, device="cuda")
    with pytest.raises(NotImplementedError, match="^erfcx: not implemented for device 'cuda:0'$"):
        torch.special.erfcx(x)


def test_fallback(tmp_path):
    code = """
import warnings
import shimtorch as torch
x = torch.tensor([3., 1., 2.], device="cuda", requires_grad=True)
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    result = torch.special.erfcx(x)
    torch.special.erfcx(x)
assert result.is_cuda and torch.allclose(result.cpu(), torch.special.erfcx(x.cpu()))
assert len([w for w in seen if "computed on the CPU" in str(w.message)]) == 1, [str(w.message) for w in seen]
result.sum().backward()
y = x.detach().cpu().requires_grad_()
torch.special.erfcx(y).sum().backward()
assert torch.allclose(x.grad.cpu(), y.grad)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True,
                          env={**os.environ, "SHIMTORCH_CUDA_FALLBACK": "1"})
    assert done.returncode == 0, done.stderr


def test_random_numbers():
    torch.cuda.manual_seed(5)
    x, y = torch.rand(1000, device="cuda"), torch.randn(1000, device="cuda", dtype=torch.float64)
    assert 0 <= x.min() and x.max() < 1 and abs(x.mean().item() - 0.5) < 0.05 and abs(y.std().item() - 1) < 0.1
    state = torch.cuda.get_rng_state()
    z = torch.rand(1000, device="cuda")
    assert not torch.equal(x.cpu(), z.cpu())
    torch.cuda.set_rng_state(state)
    assert torch.equal(torch.rand(1000, device="cuda").cpu(), z.cpu())
    torch.cuda.manual_seed(5)
    assert torch.equal(torch.rand(1000, device="cuda").cpu(), x.cpu())
    kept = nn.functional.dropout(torch.ones(4000, device="cuda"), 0.25)
    assert abs((kept != 0).float().mean().item() - 0.75) < 0.05


def test_indexing():
    x = torch.arange(24.).view(2, 3, 4)
    rows, columns = torch.tensor([0, 1, 1]), torch.tensor([2, -1, 0])
    for f in (lambda x, r, c: x[r], lambda x, r, c: x[r, c], lambda x, r, c: x[:, c], lambda x, r, c: x[r, :, c],
              lambda x, r, c: x[x > 7], lambda x, r, c: x[0, c], lambda x, r, c: x[None, r], lambda x, r, c: x[..., c]):
        assert torch.equal(f(x.cuda(), rows.cuda(), columns.cuda()).cpu(), f(x, rows, columns))
    y = x.cuda()
    for t, r in ((x, rows), (y, rows.cuda())):
        t[r[1:], 0] = 7
        t[t > 20] = 0
        t[0, r] += 1
    assert torch.equal(x, y.cpu())
    with pytest.raises(IndexError, match="index 9 is out of bounds"):
        y[torch.tensor([0, 9], device="cuda")]


def test_autocast():
    torch.manual_seed(2)
    net, x = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.ReLU(), nn.Linear(8, 3)).cuda(), torch.randn(5, 4)
    target, scaler = torch.tensor([0, 1, 2, 0, 1], device="cuda"), torch.amp.GradScaler("cuda", init_scale=256.0)
    steps = torch.optim.SGD(net.parameters(), lr=0.1)
    losses = []
    for _ in range(4):
        with torch.autocast("cuda"):
            assert torch.is_autocast_enabled("cuda")
            hidden = net[0](x.cuda())
            assert hidden.dtype is torch.float16 and net[1](hidden).dtype is torch.float32
            assert hidden.softmax(1).dtype is torch.float32 and torch.cat([hidden, x.cuda()], 1).dtype is torch.float32
            assert (x @ x.t()).dtype is torch.float32              # the CPU has a region of its own
            loss = nn.functional.cross_entropy(net(x.cuda()), target)
        assert loss.dtype is torch.float32
        steps.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(steps)
        scaler.update()
        losses.append(loss.item())
    assert losses[-1] < losses[0] and scaler.get_scale() == 256
    with torch.autocast("cuda", torch.bfloat16):
        assert (x.cuda() @ x.cuda().t()).dtype is torch.bfloat16
        with pytest.raises(RuntimeError, match="unsafe to autocast"):
            nn.functional.binary_cross_entropy(x.cuda().sigmoid(), x.cuda().sigmoid())
