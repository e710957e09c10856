"""ctc_loss against all alignments, one by one."""

import itertools
import math

import numpy as np
import pytest

import shimtorch as torch
from shimtorch.nn import functional as F


def label_of(alignment, blank):
    """What an alignment spells: repetitions joined, blanks dropped."""
    return tuple(k for k, _ in itertools.groupby(alignment) if k != blank)


def reference(scores, target, times, blank):
    """Minus the log probability, and its gradient with respect to what log_softmax was taken of."""
    steps, classes = scores.shape
    total, shares = 0.0, np.zeros_like(scores)
    for alignment in itertools.product(range(classes), repeat=times):
        if label_of(alignment, blank) == tuple(target):
            p = math.exp(sum(scores[t, k] for t, k in enumerate(alignment)))
            total += p
            for t, k in enumerate(alignment):
                shares[t, k] += p
    if total == 0.0:
        return math.inf, None
    gradient = np.exp(scores) - shares / total
    gradient[times:] = 0
    return -math.log(total), gradient


CASES = [  # targets, input lengths, blank
    ([[1, 2], [2, 2], [1]], [5, 5, 4], 0),
    ([[0, 0], [], [1, 0, 1]], [4, 5, 3], 2),
    ([[], [0]], [0, 2], 1),
]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("targets, times, blank", CASES)
def test_all_alignments(targets, times, blank, flat, dtype):
    n, width = len(targets), max(map(len, targets))
    raw = np.random.default_rng(n).standard_normal((5, n, 3))
    x = torch.tensor(raw, dtype=dtype, requires_grad=True)
    scores = x.log_softmax(2)
    given = sum(targets, []) if flat else [t + [0] * (width - len(t)) for t in targets]
    given = torch.tensor(given, dtype=torch.long)
    losses = F.ctc_loss(scores, given, times, [len(t) for t in targets], blank, "none")
    losses.sum().backward()
    near = {"rtol": 1e-5, "atol": 1e-6} if dtype is torch.float32 else {"rtol": 1e-10, "atol": 1e-12}
    for i, target in enumerate(targets):
        loss, gradient = reference(scores.detach().double().numpy()[:, i], target, times[i], blank)
        np.testing.assert_allclose(losses[i].item(), loss, **near)
        np.testing.assert_allclose(x.grad[:, i].numpy(), gradient, **near)


@pytest.mark.parametrize("zero_infinity", [False, True])
def test_impossible_labels(zero_infinity):
    x = torch.zeros(3, 2, 3, requires_grad=True)
    targets = torch.tensor([[1, 1], [1, 2]])
    losses = F.ctc_loss(x.log_softmax(2), targets, [2, 3], [2, 2], reduction="none", zero_infinity=zero_infinity)
    losses.sum().backward()
    assert losses[0].item() == (0 if zero_infinity else math.inf) and losses[1].item() > 0
    first = x.grad[:2, 0]
    assert first.eq(0).all() if zero_infinity else first.isnan().all()
    assert x.grad[2, 0].eq(0).all() and x.grad[:, 1].isfinite().all()


def test_second_derivative():
    x = torch.randn(6, 2, 4, dtype=torch.float64, requires_grad=True)

    def loss(x):
        return F.ctc_loss(x.log_softmax(2), torch.tensor([[1, 2], [3, 3]]), [6, 5], [2, 2], reduction="none")

    assert torch.autograd.gradcheck(loss, (x,)) and torch.autograd.gradgradcheck(loss, (x,))


def test_wrong_targets():
    scores = torch.zeros(5, 2, 3).log_softmax(2)
    with pytest.raises(RuntimeError, match="Expected tensor to have size 4 at dimension 0, but got size 3"):
        F.ctc_loss(scores, torch.tensor([1, 2, 1]), [5, 5], [2, 2])
    with pytest.raises(IndexError, match="out of bounds"):
        F.ctc_loss(scores, torch.tensor([[1, 7], [1, 1]]), [5, 5], [2, 2])
    with pytest.raises(RuntimeError, match="must not be empty"):
        F.ctc_loss(scores[:, :0], torch.zeros(0, 2, dtype=torch.long), [], [])
    with pytest.raises(NotImplementedError, match="ctc_loss_cpu"):
        F.ctc_loss(scores.half(), torch.tensor([[1, 2], [1, 1]]), [5, 5], [2, 2])
