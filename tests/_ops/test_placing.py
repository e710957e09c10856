"""Writing to named places: every dtype and layout, repeated places, places outside, any number of threads."""
import numpy as np
import pytest

import shimtorch as torch

INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
DTYPES = (*INTEGERS, torch.bool, torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64,
          torch.complex128)
REDUCTIONS = {"sum": lambda a, b: a + b, "prod": lambda a, b: a * b, "amax": max, "amin": min}


def drawn(shape, dtype=torch.float64, seed=1, high=9):
    return torch.tensor(np.random.default_rng(seed).integers(0, high, shape)).to(dtype)


def written(x, dim, index, src, how=None):
    """scatter, element after element, of lists."""
    result = x.clone()
    for place in np.ndindex(*index.shape):
        to = list(place)
        to[dim] = int(index[place])
        value = src[place]
        result[tuple(to)] = value if how is None else REDUCTIONS[how](result[tuple(to)], value)
    return result


def layouts(x):
    """The same values: contiguous, transposed in memory, every second element of a larger tensor."""
    wide = x.new_zeros([2 * n for n in x.shape])
    view = wide[tuple(slice(None, None, 2) for _ in x.shape)]
    view.copy_(x)
    return x, x.transpose(0, -1).contiguous().transpose(0, -1), view


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("dim", (0, 1, 2))
def test_scatter_of_every_dtype(dtype, dim):
    x, index = drawn((3, 4, 5), dtype), drawn((2, 3, 4), torch.int64, 2, (3, 4, 5)[dim])
    src = drawn((3, 3, 5), dtype, 3)
    want = written(x, dim, index, src)
    for target in layouts(x):
        assert torch.equal(target.scatter(dim, index, src), want)
        assert torch.equal(target.clone().scatter_(dim, index.int(), src), want)
        assert torch.equal(target.scatter(dim, index, 1), written(x, dim, index, torch.ones_like(src)))
    for target, there in zip(layouts(x), layouts(src), strict=True):
        assert torch.equal(target.scatter_(dim, index, there), want)       # in place, also into views


@pytest.mark.parametrize("how", REDUCTIONS)
@pytest.mark.parametrize("dtype", (*INTEGERS, torch.float32, torch.float64), ids=str)
def test_reductions(dtype, how):
    x, index, src = drawn((3, 70), dtype, high=3), drawn((5, 70), torch.int64, 2, 3), drawn((5, 70), dtype, 3, 3)
    assert torch.equal(x.scatter_reduce(0, index, src, how), written(x, 0, index, src, how))
    x, index, src = (t.t().contiguous() for t in (x, index, src))
    assert torch.equal(x.scatter_reduce(1, index, src, how), written(x, 1, index, src, how))


def test_nan_wins():
    x, index = torch.tensor([1.0, float("nan")]), torch.tensor([0, 0, 1])
    for how in ("amax", "amin"):
        assert x.scatter_reduce(0, index, torch.tensor([float("nan"), 2.0, 3.0]), how).isnan().all()


@pytest.mark.parametrize("bad", (-1, 4))
def test_places_outside(bad):
    x, index = drawn((4, 3)), torch.tensor([[0, 1, bad]])
    for call in (lambda: x.scatter(0, index, 1.0), lambda: x.scatter(0, index, x), lambda: x.scatter_add(0, index, x),
                 lambda: x.scatter_reduce(0, index, x, "amax"), lambda: x.gather(0, index)):
        with pytest.raises(RuntimeError, match=f"index {bad} is out of bounds for dimension 0 with size 4"):
            call()
    flat = index.reshape(-1)
    for call in (lambda: x.index_copy(0, flat, x[:3]), lambda: x.index_add(0, flat, x[:3])):
        with pytest.raises(IndexError, match=f"index {bad} is out of bounds for dimension 0 with size 4"):
            call()
    with pytest.raises(IndexError, match="out of range: tried to access index 99 on a tensor of 12 elements"):
        x.put(torch.tensor([99]), x[0, :1])


@pytest.mark.parametrize("accumulate", (False, True))
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_index_put(dtype, accumulate):
    x = drawn((4, 5, 6), dtype)
    rows, columns = torch.tensor([[0, -1], [2, 0]]), torch.tensor([1, -2])
    for indices, shape in (((rows,), (2, 2, 5, 6)), ((rows, columns), (2, 2, 6)), ((None, columns, columns), (4, 2)),
                           ((columns, None, rows), (2, 2, 5)), ((rows, columns, columns), (2, 2))):
        for values in (drawn(shape, dtype, 3), drawn((), dtype, 4)):
            want = x.clone()
            where = tuple(slice(None) if i is None else i for i in indices)
            one = torch.arange(x.numel()).reshape(x.shape)[where]
            flat = want.view(-1)
            for to, value in zip(one.reshape(-1).tolist(), values.expand(one.shape).reshape(-1), strict=True):
                flat[to] = flat[to] + value if accumulate and dtype is not torch.bool else (
                    flat[to] | value if accumulate else value)
            for target in layouts(x):
                assert torch.equal(target.clone().index_put_(indices, values, accumulate), want)
                assert torch.equal(target.index_put_(indices, values, accumulate), want)


def test_results_do_not_depend_on_threads():
    x, src = torch.zeros(200, 300), torch.randn(400, 300)
    index, rows = torch.randint(0, 200, (400, 300)), torch.randint(0, 200, (400,))
    mask, values = torch.rand(700, 300) < 0.5, torch.randn(700, 300)
    calls = (lambda: x.scatter(0, index, src), lambda: x.scatter_reduce(0, index, src, "sum"),
             lambda: x.index_add(0, rows, src), lambda: x.index_put((rows,), src),
             lambda: torch.zeros(700, 300).masked_scatter(mask, values), lambda: src.median(1).values,
             lambda: torch.cdist(src, src, 1.0), lambda: torch.nn.functional.pdist(src))
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        alone = [call() for call in calls]
        torch.set_num_threads(3)
        for one, call in zip(alone, calls, strict=True):
            assert torch.equal(one, call())
    finally:
        torch.set_num_threads(threads)


@pytest.mark.parametrize("dtype", (*INTEGERS, torch.float16, torch.bfloat16, torch.float32, torch.float64), ids=str)
@pytest.mark.parametrize("n", (1, 2, 9, 300))
def test_kth_is_what_sort_puts_there(n, dtype):
    x = (drawn((7, n), torch.float32, high=5) - 2).to(dtype)
    if dtype.is_floating_point:
        x[:3, ::4] = float("nan")
        x[3, 0], x[4, -1] = float("inf"), -float("inf")
    values, places = x.sort(1, stable=True)
    for k in {1, (n + 1) // 2, n}:
        got = x.kthvalue(k, 1)
        assert torch.equal(got.indices, places[:, k - 1])
        assert torch.equal(x.t().kthvalue(k, 0, keepdim=True).indices, places[:, k - 1][None])
        assert np.array_equal(got.values.double().numpy(), values[:, k - 1].double().numpy(), equal_nan=True)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_fill_of_every_size(dtype):
    for n in (1, 511, 4095, 4096, 4097, 8191, 8192, 8193, 70_001):
        whole = torch.zeros(n + 2, dtype=dtype)
        assert whole[1:-1].fill_(3).shape == (n,)
        assert (whole[1:-1] == (1 if dtype is torch.bool else 3)).all() and not whole[0] and not whole[-1]
        assert torch.equal(torch.full((n,), 3, dtype=dtype), whole[1:-1])
