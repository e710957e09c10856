"""What nll_loss hands to log_softmax is a description of a gradient: who looks at it sees a tensor."""

import pytest

import shimtorch as torch
from shimtorch.nn import functional as F

CASES = [(dtype, weighted, ignored, reduction) for dtype in (torch.float32, torch.float64) for weighted in (False, True)
         for ignored in (-100, 2) for reduction in ("mean", "sum")]


def made(case, n=50, classes=7):
    """Scores, and a loss of their log_softmax."""
    dtype, weighted, ignored, reduction = case
    torch.manual_seed(0)
    x = torch.randn(n, classes, dtype=dtype, requires_grad=True)
    target, weight = torch.randint(0, classes, (n,)), torch.rand(classes, dtype=dtype) if weighted else None
    return x, lambda y: F.nll_loss(y, target, weight, ignore_index=ignored, reduction=reduction)


@pytest.mark.parametrize("case", CASES)
def test_same_gradient_as_through_the_matrix(case):
    x, loss = made(case)
    described, = torch.autograd.grad(loss(x.log_softmax(1)), x)
    last, = torch.autograd.grad(loss(x.log_softmax(-1)), x)
    written, = torch.autograd.grad(loss(x.log_softmax(1).view(50, 7)), x)
    recorded, = torch.autograd.grad(loss(x.log_softmax(1)), x, create_graph=True)
    assert torch.equal(described, written) and torch.equal(last, written)
    assert torch.allclose(recorded, written, rtol=1e-5, atol=1e-7) and recorded.requires_grad


@pytest.mark.parametrize("case", CASES[::3])
def test_who_looks_sees_a_tensor(case):
    x, loss = made(case)
    expected, = torch.autograd.grad(loss(x.log_softmax(1)), x)
    matrix, = torch.autograd.grad(loss(x), x)

    y, seen = x.log_softmax(1), []
    y.register_hook(seen.append)
    assert torch.equal(torch.autograd.grad(loss(y), x)[0], expected) and torch.equal(seen[0], matrix)

    y = x.log_softmax(1)
    y.retain_grad()
    loss(y).backward()
    assert torch.equal(x.grad, expected) and torch.equal(y.grad, matrix)

    for register in ("register_hook", "register_prehook"):
        y, seen = x.log_softmax(1), []
        getattr(y.grad_fn, register)(lambda *grads, seen=seen: seen.append(grads[-1][0]))
        torch.autograd.grad(loss(y), x)
        assert torch.equal(seen[0], matrix)

    y = x.log_softmax(1)
    value, seen = loss(y), []
    value.grad_fn.register_hook(lambda inputs, outputs: seen.append(inputs[0]))
    assert torch.equal(torch.autograd.grad(value, x, retain_graph=True)[0], expected) and torch.equal(seen[0], matrix)
    assert torch.equal(value.grad_fn(torch.ones((), dtype=x.dtype)), matrix)
    assert [torch.equal(a, b) for a, b in zip(torch.autograd.grad(value, (y, x)), (matrix, expected), strict=True)]

    with pytest.warns(UserWarning, match="Anomaly Detection"):
        mode = torch.autograd.detect_anomaly()
    with mode:
        assert torch.equal(torch.autograd.grad(loss(x.log_softmax(1)), x)[0], expected)


@pytest.mark.parametrize("first", [True, False])
def test_another_gradient_is_added(first):
    x, loss = made(CASES[0])
    y = x.log_softmax(1)
    parts = [lambda: loss(y), lambda: (y * y).sum()]
    terms = [part() for part in (parts if first else parts[::-1])]
    total, = torch.autograd.grad(terms[0] + terms[1], x)
    single = [torch.autograd.grad(part(), x, retain_graph=True)[0] for part in (
        lambda: loss(x.log_softmax(1)), lambda: (x.log_softmax(1) ** 2).sum())]
    assert torch.allclose(total, single[0] + single[1], rtol=1e-5, atol=1e-6)


def test_scores_that_are_not_of_log_softmax_or_along_the_first_dimension():
    x = torch.randn(4, 4, requires_grad=True)
    target = torch.tensor([0, 3, 1, 1])
    plain, = torch.autograd.grad(F.nll_loss(x, target), x)
    assert torch.equal(plain, -F.one_hot(target, 4) / 4.0)
    along, = torch.autograd.grad(F.nll_loss(x.log_softmax(0), target), x)
    whole, = torch.autograd.grad(F.nll_loss(x.log_softmax(0).view(4, 4), target), x)
    assert torch.equal(along, whole)


def test_rows_of_nan_and_empty_batches():
    x = torch.randn(3, 4)
    x[1, 2] = float("nan")
    x.requires_grad_()
    F.cross_entropy(x, torch.tensor([0, -100, 1])).backward()
    assert x.grad[1].isnan().all() and not x.grad[[0, 2]].isnan().any()
    empty = torch.randn(0, 4, requires_grad=True)
    F.cross_entropy(empty, torch.zeros(0, dtype=torch.int64), reduction="sum").backward()
    assert empty.grad.shape == (0, 4)
