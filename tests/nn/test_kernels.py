"""Layer functions that have a kernel for one case and other ops for the rest: both do the same, and can be derived."""
import math

import numpy as np
import pytest

import shimtorch as torch
from shimtorch.autograd import gradcheck, gradgradcheck

F = torch.nn.functional


def drawn(*shape, seed=1):
    return torch.tensor(np.random.default_rng(seed).standard_normal(shape))


@pytest.mark.parametrize("corners", (False, True))
@pytest.mark.parametrize("padding", ("zeros", "border", "reflection"))
@pytest.mark.parametrize("mode, dims", (("bilinear", 2), ("bilinear", 3), ("nearest", 2), ("nearest", 3),
                                        ("bicubic", 2)))
def test_grid_sample(mode, dims, padding, corners):
    image = drawn(2, 3, 4, 5, 6)[..., :dims + 2] if dims == 3 else drawn(2, 3, 5, 6)
    grid = drawn(2, 7, *(4,) * (dims - 1), dims, seed=2)
    grid[0, 0] = 1
    grid[0, 1] = -40
    for t in (torch.float64, torch.float32):
        x, places = image.to(t), grid.to(t)
        got = F.grid_sample(x, places, mode, padding, corners)
        composed = F.grid_sample(x.clone().requires_grad_(), places, mode, padding, corners)
        assert not got.requires_grad and composed.requires_grad
        torch.testing.assert_close(got, composed.detach())


@pytest.mark.parametrize("mode", ("sum", "mean", "max"))
def test_embedding_bag(mode):
    table = drawn(5, 3).requires_grad_()
    rows, offsets = torch.tensor([4, 1, 1, 0, 3, 2, 4]), torch.tensor([0, 3, 3, 6])
    bags = [table[rows[a:b]] for a, b in ((0, 3), (3, 3), (3, 6), (6, 7))]
    reduce = {"sum": lambda x: x.sum(0), "mean": lambda x: x.mean(0), "max": lambda x: x.max(0)[0]}[mode]
    want = torch.stack([reduce(x) if len(x) else torch.zeros(3, dtype=torch.float64) for x in bags])
    got = F.embedding_bag(rows, table, offsets, mode=mode)
    torch.testing.assert_close(got, want)
    assert type(got.grad_fn).__name__ == "EmbeddingBagBackward0"

    def bag(x):
        return F.embedding_bag(rows, x, offsets, mode=mode)
    assert gradcheck(bag, (table,)) and gradgradcheck(bag, (table,))
    if mode == "sum":
        def weighted(x, w):
            return F.embedding_bag(rows, x, offsets, mode="sum", per_sample_weights=w)
        weights = drawn(7, seed=3).requires_grad_()
        assert gradcheck(weighted, (table, weights)) and gradgradcheck(weighted, (table, weights))
    half = F.embedding_bag(rows, table.detach().to(torch.bfloat16).to(torch.float16), offsets, mode=mode)
    torch.testing.assert_close(half.double(), want.detach(), rtol=0.02, atol=0.02)
    without = F.embedding_bag(rows, table, offsets, mode=mode, padding_idx=1)
    others = [table[rows[a:b][rows[a:b] != 1]] for a, b in ((0, 3), (3, 3), (3, 6), (6, 7))]
    torch.testing.assert_close(without, torch.stack([reduce(x) if len(x) else torch.zeros(3, dtype=torch.float64)
                                                     for x in others]))
    with pytest.raises(IndexError, match="index out of range in self"):
        F.embedding_bag(torch.tensor([[5]]), table, mode=mode)


@pytest.mark.parametrize("p", (0.0, 1.0, 2.0, 3.0, math.inf))
def test_distances(p):
    a, b = drawn(2, 1, 4, 3).requires_grad_(), drawn(3, 5, 3, seed=2).requires_grad_()
    want = np.linalg.norm(a.detach().numpy()[..., :, None, :] - b.detach().numpy()[..., None, :, :], p, -1)
    assert np.allclose(torch.cdist(a, b, p).detach().numpy(), want)
    torch.testing.assert_close(F.pdist(b.detach()[0], p), torch.cdist(b.detach()[0], b.detach()[0], p)[
        tuple(torch.triu_indices(5, 5, 1))])
    if p:
        assert gradcheck(lambda x, y: torch.cdist(x, y, p), (a, b))
        assert gradcheck(lambda x: F.pdist(x, p), (drawn(4, 3).requires_grad_(),))
    if p == 2:
        assert gradgradcheck(lambda x, y: torch.cdist(x, y, p), (a, b))
    assert torch.cdist(a.detach().float(), b.detach().float(), p).dtype is torch.float32
    for empty, shape in (((0, 3), (0, 5)), ((4, 0), (4, 5))):
        x, y = torch.zeros(empty), torch.zeros(5, empty[1])
        assert torch.cdist(x, y, p).shape == shape


@pytest.mark.parametrize("mode, dims", (("linear", 1), ("bilinear", 2), ("bicubic", 2), ("trilinear", 3)))
def test_interpolate(mode, dims):
    x = drawn(2, 3, *(4, 5, 3)[:dims]).requires_grad_()

    def resized(x):
        return F.interpolate(x, (7, 3, 4)[:dims], mode=mode)
    assert gradcheck(resized, (x,)) and gradgradcheck(resized, (x,))
    lower = F.interpolate(x.detach().to(torch.bfloat16), (7, 3, 4)[:dims], mode=mode)
    torch.testing.assert_close(lower.double(), resized(x.detach()), rtol=0.02, atol=0.03)
