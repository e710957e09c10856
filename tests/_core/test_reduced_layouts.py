"""Reductions of tensors that lie in memory in other orders, with gaps or repeated, beside those of contiguous ones."""
import pytest

import shimtorch as torch

LAYOUTS = {
    "transposed": lambda x: x.transpose(0, 2),
    "permuted": lambda x: x.permute(1, 2, 0),
    "columns": lambda x: x[:, :, :-3],
    "rows": lambda x: x[:, 1:-1],
    "every other": lambda x: x[:, :, ::2],
    "some planes": lambda x: x[::2, 1:].transpose(0, 1),
    "expanded inside": lambda x: x[:, :, :1].expand(-1, -1, 6),
    "expanded outside": lambda x: x[:1].expand(5, -1, -1),
    "one element": lambda x: x[:1, :1, :1],
    "nothing": lambda x: x[:, :0],
}
DIMS = [None, (0, 1), (0, 2), (1, 2), (2, 0), 0, 1, 2]
OPS = ["sum", "mean", "prod", "amax", "amin", "any", "all", "count_nonzero", "norm", "var", "logsumexp"]
UNDEFINED = {"amax", "amin", "var", "logsumexp"}


def numbers(dtype):
    generator = torch.Generator()
    generator.manual_seed(3)
    x = torch.randint(0, 3, (6, 20, 70), generator=generator)
    return (x.double() / 2 + 0.25).to(dtype) if dtype.is_floating_point else x.to(dtype)


def reduced(op, x, dims):
    if op == "logsumexp":
        return x.logsumexp((0, 1, 2) if dims is None else dims)
    if op == "count_nonzero":
        return torch.count_nonzero(x, dims)
    if op in ("prod", "any", "all") and isinstance(dims, tuple):
        for d in sorted(dims, reverse=True):
            x = getattr(x, op)(d)
        return x
    if op in ("amax", "amin") and dims is None:
        return getattr(x, op)()
    return getattr(x, op)() if dims is None else getattr(x, op)(dim=dims)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int16, torch.bool], ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("op", OPS)
def test_as_of_a_contiguous_tensor(op, layout, dtype):
    if op in ("mean", "norm", "var", "logsumexp") and not dtype.is_floating_point:
        dtype = torch.float64
    x = LAYOUTS[layout](numbers(dtype))
    for dims in DIMS:
        if op in UNDEFINED and (layout == "nothing" or (op == "var" and layout == "one element")):
            continue
        result, expected = reduced(op, x, dims), reduced(op, x.contiguous(), dims)
        assert result.dtype is expected.dtype and result.shape == expected.shape
        torch.testing.assert_close(result, expected, equal_nan=True)


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "nothing"])
@pytest.mark.parametrize("op", ["argmax", "argmin"])
def test_places_are_counted_in_the_tensors_own_order(op, layout):
    x = LAYOUTS[layout](numbers(torch.float32))
    assert getattr(x, op)().item() == getattr(x.contiguous(), op)().item()
    for d in range(3):
        assert torch.equal(getattr(x, op)(d), getattr(x.contiguous(), op)(d))
        assert torch.equal(x.max(d).indices, x.contiguous().max(d).indices)


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("layout", ["transposed", "columns", "every other"])
def test_large_ones_on_any_number_of_threads(layout, threads):
    x = LAYOUTS[layout](numbers(torch.float32).repeat(10, 10, 3))
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        result = x.sum(), x.sum((0, 2)), x.amax((0, 1)), (x > 0.5).any(2)
    finally:
        torch.set_num_threads(before)
    expected = x.double().sum(), x.double().sum((0, 2)), x.contiguous().amax((0, 1)), (x.contiguous() > 0.5).any(2)
    for r, e in zip(result, expected):
        torch.testing.assert_close(r, e.to(r.dtype))
