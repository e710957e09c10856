"""Gradients of many parameters limited at once: what ops on each of them would do."""

import pytest

import shimtorch as torch
from shimtorch.nn.utils import clip_grad_norm_, clip_grad_value_, get_total_norm

SIZES = [(10,), (), (0, 3), (300, 301), (7, 5)] * 2


def gradients(dtypes=(torch.float32,), transposed=False):
    torch.manual_seed(1)
    found = [torch.randn(size).to(dtypes[i % len(dtypes)]) for i, size in enumerate(SIZES)]
    return [*found, torch.randn(6, 4).t()] if transposed else found


def with_gradients(grads):
    parameters = [torch.zeros_like(g).requires_grad_() for g in grads]
    for p, g in zip(parameters, grads, strict=True):
        p.grad = g.clone() if g.is_contiguous() else g.t().clone().t()
    return parameters


KINDS = [{}, {"dtypes": (torch.float64,)}, {"transposed": True}, {"dtypes": (torch.float16, torch.float32)}]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_values(kind, threads):
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        parameters = with_gradients(gradients(**kind))
        parameters[0].grad[0] = float("nan")
        wanted = [p.grad.clamp(-0.5, 0.5) for p in parameters]
        clip_grad_value_(parameters, 0.5)
    finally:
        torch.set_num_threads(before)
    for p, w in zip(parameters, wanted, strict=True):
        assert torch.equal(p.grad.nan_to_num(9), w.nan_to_num(9)) and p.grad._version > 0


@pytest.mark.parametrize("norm_type", [2.0, 1.0, 3.0])
@pytest.mark.parametrize("kind", KINDS[:3])
def test_norms(kind, norm_type):
    parameters = with_gradients(gradients(**kind))
    each = torch.stack([p.grad.norm(norm_type) for p in parameters])
    total = get_total_norm([p.grad for p in parameters], norm_type)
    assert torch.equal(total, each.norm(norm_type)) and total.dim() == 0
    wanted = [p.grad * (1.5 / (total + 1e-6)).clamp(max=1.0) for p in parameters]
    assert torch.equal(clip_grad_norm_(parameters, 1.5, norm_type), total)
    assert all(torch.equal(p.grad, w) for p, w in zip(parameters, wanted, strict=True))


def test_norm_keeps_history():
    tensors = [torch.tensor([3.0, 4.0], requires_grad=True), torch.tensor([12.0], requires_grad=True)]
    get_total_norm(tensors).backward()
    torch.testing.assert_close(tensors[0].grad, torch.tensor([3.0, 4.0]) / 13)


def test_norm_in_the_first_eras():
    """The norm of a Tensor was a number then."""
    with torch.era("0.3"):
        tensors = [torch.FloatTensor([3, 4]), torch.FloatTensor([12])]
        assert get_total_norm(tensors) == 13.0
