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


@pytest.mark.parametrize("mode, numpys", (("reflect", "reflect"), ("replicate", "edge"), ("circular", "wrap"),
                                          ("constant", "constant")))
@pytest.mark.parametrize("pads", (((2, 1),), ((1, 0), (0, 3)), ((1, 2), (0, 0), (2, 1))))
@pytest.mark.parametrize("dtype", ("float64", "float32", "float16", "int64", "uint8", "complex128"))
def test_padding(mode, numpys, pads, dtype):
    x = np.arange(2 * 4 * 4 * 5 * 4).reshape(2, 4, 4, 5, 4)[(0,) * (3 - len(pads))].astype(dtype)
    wanted = np.pad(x, [(0, 0)] * (x.ndim - len(pads)) + list(pads), mode=numpys)
    flat = [n for pair in reversed(pads) for n in pair]
    for given in (torch.tensor(x), torch.tensor(x.swapaxes(-1, -2).copy()).transpose(-1, -2)):
        assert F.pad(given, flat, mode).numpy().tobytes() == wanted.tobytes()


def test_padding_refuses_what_does_not_fit():
    for x, pad, mode in ((torch.ones(2, 3), (3, 0), "reflect"), (torch.ones(2, 3), (-2, -1), "replicate"),
                         (torch.ones(2, 3), (4, 0), "circular"), (torch.ones(2, 0), (1, 1), "replicate")):
        with pytest.raises(RuntimeError):
            F.pad(x, pad, mode)
    with pytest.raises(NotImplementedError, match="\"reflection_pad1d\" not implemented for 'Bool'"):
        F.pad(torch.ones(2, 3, dtype=torch.bool), (1, 1), "reflect")
    assert F.pad(torch.ones(0, 2, 3), (1, 1), "reflect").shape == (0, 2, 5)


@pytest.mark.parametrize("squared", (False, True))
def test_margins_of_many_classes(squared):
    """More classes than the lanes of a row's sum, with targets that hold some of them twice."""
    x, y, weight = drawn(6, 21), torch.tensor([0, 20, 5, 5, 8, 1]), drawn(21, seed=2).abs()
    x[3, 2] = math.nan                          # no hinge is above zero there
    others = x - x.gather(1, y.unsqueeze(1)) + 0.5
    others[range(6), y] = 0
    hinge = others.clamp(min=0).nan_to_num(0.0) ** (1 + squared)
    got = F.multi_margin_loss(x, y, 1 + squared, 0.5, weight, reduction="none")
    torch.testing.assert_close(got, hinge.sum(1) / 21 * weight[y])
    labels = torch.tensor(np.random.default_rng(3).integers(-1, 21, (6, 21)))
    labels[:, 0] = torch.arange(6)
    x, wanted = x.nan_to_num(-4.0), []
    for row, of in zip(x.tolist(), labels.tolist()):
        of = of[:of.index(-1)] if -1 in of else of
        wanted.append(sum(max(0.0, 1 - row[t] + row[j]) for t in of for j in range(21) if j not in of) / 21)
    got = F.multilabel_margin_loss(x, labels, reduction="none")
    torch.testing.assert_close(got, torch.tensor(wanted, dtype=torch.float64))


@pytest.mark.parametrize("loss", ("multi_margin_loss", "multilabel_margin_loss"))
def test_margins_derived_twice(loss):
    """Once by a kernel, and by ops where the gradient is to be derived again: both give the same."""
    x = drawn(3, 5).requires_grad_()
    y = torch.tensor([1, 4, 0]) if loss == "multi_margin_loss" else torch.tensor(
        [[3, 0, -1, 2, 1], [1, 2, 3, 4, 0], [-1, 1, 2, 3, 4]])
    options = {"p": 2} if loss == "multi_margin_loss" else {}

    def f(x):
        return getattr(F, loss)(x, y, reduction="none", **options)

    g = drawn(3, seed=5)
    kernel, = torch.autograd.grad(f(x), x, g)
    composed, = torch.autograd.grad(f(x), x, g, create_graph=True)
    torch.testing.assert_close(kernel, composed.detach())
    assert gradcheck(f, (x,)) and gradgradcheck(f, (x,))


@pytest.mark.parametrize("shape", ((6, 4), (3, 4, 5), (2, 4, 3, 2)))
@pytest.mark.parametrize("weighted", (False, True))
def test_nll_of_maps(shape, weighted):
    x = drawn(*shape).requires_grad_()
    y = torch.tensor(np.random.default_rng(4).integers(0, 4, (shape[0], *shape[2:])))
    weight = drawn(4, seed=6).abs() if weighted else None
    kept = (y != 2).to(x.dtype)
    each = -x.gather(1, y.unsqueeze(1)).squeeze(1) * kept * (1 if weight is None else weight[y])
    total = kept.sum() if weight is None else (weight[y] * kept).sum()
    for reduction, wanted in (("none", each), ("sum", each.sum()), ("mean", each.sum() / total)):
        got = F.nll_loss(x, y, weight, ignore_index=2, reduction=reduction)
        torch.testing.assert_close(got, wanted)
        torch.testing.assert_close(*(torch.autograd.grad(r.sum(), x, retain_graph=True)[0] for r in (got, wanted)))
    with pytest.raises(IndexError, match="Target 7 is out of bounds."):
        F.nll_loss(x, torch.full_like(y, 7), reduction="none")
    assert gradgradcheck(lambda x: F.nll_loss(x, y, weight, reduction="none"), (x,))
