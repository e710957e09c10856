"""Elements picked by masks and indices: every size of element, sizes around the blocks of the kernels, any layout."""
import numpy as np
import pytest

import shimtorch as torch

DTYPES = (torch.bool, torch.uint8, torch.int8, torch.int16, torch.float16, torch.bfloat16, torch.int32, torch.float32,
          torch.int64, torch.float64, torch.complex64, torch.complex128)


def drawn(shape, dtype=torch.float32):
    return torch.tensor(np.random.default_rng(1).integers(0, 100, shape)).to(dtype)


def flags(shape, share=0.5):
    return torch.tensor(np.random.default_rng(2).random(shape) < share)


def same(a, b):
    """Whether they are alike, with NumPy as judge; bfloat16, which it lacks, by its bits."""
    return a.dtype is b.dtype and a.shape == b.shape and torch.equal(a, b)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_masks_of_every_dtype(dtype):
    x, m = drawn((37, 41), dtype), flags((37, 41))
    want = x.reshape(-1)[torch.tensor(np.flatnonzero(m.numpy()))]
    assert same(x[m], want) and same(x.masked_select(m), want)
    assert same(x.t()[m.t()], x.t().reshape(-1)[torch.tensor(np.flatnonzero(m.numpy().T))])
    assert same(x[:, ::2][m[:, ::2]], x[:, ::2].reshape(-1)[torch.tensor(np.flatnonzero(m.numpy()[:, ::2]))])


@pytest.mark.parametrize("share", (0, 0.01, 0.5, 1))
@pytest.mark.parametrize("n", (0, 1, 255, 256, 257, 32767, 32768, 32769, 100_000))
def test_masks_of_every_size(n, share):
    x, m = drawn(n), flags(n, share)
    assert np.array_equal(x[m].numpy(), x.numpy()[m.numpy()])
    assert np.array_equal(x.double()[m].numpy(), x.numpy()[m.numpy()])


def test_masks_with_history():
    x, m = drawn((4, 5)).requires_grad_(), flags((4, 5))
    y = x[m]
    assert type(y.grad_fn).__name__ == "IndexBackward0"
    (y * 2).sum().backward()
    assert torch.equal(x.grad, m.float() * 2)
    with torch.no_grad():
        assert torch.equal(x[m], y) and not x[m].requires_grad
    out = torch.empty(0)
    assert torch.masked_select(x.detach(), m, out=out) is out and torch.equal(out, y)


def test_masks_of_other_shapes():
    x = drawn((4, 5))
    rows = torch.tensor([True, False, True, True])
    assert torch.equal(x[rows], x[torch.tensor([0, 2, 3])])
    assert torch.equal(torch.tensor(3.0)[torch.tensor(True)], torch.tensor([3.0]))
    with pytest.raises(IndexError, match=r"The shape of the mask \[5, 4\] at index 0 does not match"):
        x[flags((5, 4))]
    assert torch.equal(x.masked_select(rows[:, None]), x[rows].reshape(-1))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", ((50,), (7, 50), (3, 7, 50), (50, 3, 7), (3, 50, 7)), ids=str)
def test_index_select(shape, dtype):
    x, d = drawn(shape, dtype), shape.index(50)
    for n in (0, 1, 33):
        i = torch.tensor(np.random.default_rng(3).integers(0, 50, n))
        want = torch.stack([x.select(d, int(k)) for k in i], d) if n else x.narrow(d, 0, 0)
        assert same(x.index_select(d, i), want) and same(x.index_select(d - len(shape), i.int()), want)
        assert same(x.transpose(0, -1).index_select(len(shape) - 1 - d if d in (0, len(shape) - 1) else d, i),
                    want.transpose(0, -1))


def test_index_select_refuses():
    x = drawn((4, 5))
    for bad in (-1, 5):
        with pytest.raises(IndexError, match="index out of range in self"):
            x.index_select(1, torch.tensor([0, bad]))
    assert x[:0].index_select(1, torch.tensor([1, 1])).shape == (0, 2)


@pytest.mark.parametrize("dim", (0, 1, 2))
@pytest.mark.parametrize("bad", (-1, 6, 1 << 40))
def test_gather_refuses(dim, bad):
    x, i = drawn((6, 6, 6)), torch.zeros(6, 6, 6, dtype=torch.int64)
    i[3, 4, 5] = bad
    with pytest.raises(RuntimeError, match=f"index {bad} is out of bounds for dimension {dim} with size 6"):
        x.gather(dim, i)
    empty = torch.empty(6, 0)
    with pytest.raises(RuntimeError, match="index 0 is out of bounds for dimension 1 with size 0"):
        empty.gather(1, torch.zeros(6, 3, dtype=torch.int64))


MASK = torch.tensor([True, False])
AT_0 = torch.tensor([0])


@pytest.mark.parametrize("dtype, value, c_type", [
    (torch.float16, -1e9, "c10::Half"), (torch.float16, 65505, "c10::Half"), (torch.bfloat16, 3.5e38, "c10::BFloat16"),
    (torch.float32, 1e300, "float"), (torch.int64, float("nan"), "int64_t"), (torch.int64, 1e30, "int64_t"),
    (torch.uint8, 300, "uint8_t"), (torch.uint8, torch.tensor(300), "uint8_t"),
    (torch.int32, torch.tensor(float("inf")), "int")])
@pytest.mark.parametrize("write", [
    lambda x, v: x.masked_fill(MASK, v), lambda x, v: x.masked_fill_(MASK, v), lambda x, v: x.index_fill(0, AT_0, v),
    lambda x, v: x.scatter(0, AT_0, float(v)), lambda x, v: torch.full((2,), v, dtype=x.dtype)],
    ids=["masked_fill", "masked_fill_", "index_fill", "scatter", "full"])
def test_numbers_that_no_element_can_be(write, dtype, value, c_type):
    x = torch.ones(2, dtype=dtype)
    with pytest.raises(RuntimeError, match=f"value cannot be converted to type {c_type} without overflow"):
        write(x, value)
    assert (x == 1).all()
