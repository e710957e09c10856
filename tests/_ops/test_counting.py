"""Distinct elements where the op table does not look: NaNs, all dtypes, no elements."""
import pytest

import shimtorch as torch

NAN = float("nan")


@pytest.mark.parametrize("dtype", (torch.float16, torch.bfloat16, torch.float32, torch.float64))
def test_nans_differ(dtype):
    x = torch.tensor([NAN, 1.0, NAN, 0.0, -0.0, 2.0, 1.0], dtype=dtype)
    values, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
    assert repr((values + 0).tolist()) == "[0.0, 1.0, 2.0, nan, nan]"         # which of the zeros stands there is open
    assert inverse.tolist() == [3, 1, 4, 0, 0, 2, 1] and counts.tolist() == [2, 2, 1, 1, 1]
    alone, again = torch.unique(x, return_counts=True)
    assert str(alone + 0) == str(values + 0) == str(torch.unique(x) + 0) and torch.equal(again, counts)


@pytest.mark.parametrize("dtype", (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
                                   torch.uint16, torch.uint32, torch.uint64, torch.float16, torch.bfloat16,
                                   torch.float32, torch.float64))
def test_each_is_where_inverse_says(dtype):
    x = (torch.arange(60).reshape(4, 15) * 7 % 5).to(dtype).t()
    values, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
    assert values.dtype is dtype and inverse.shape == x.shape and torch.equal(torch.unique(x), values)
    assert values[inverse.reshape(-1)].tolist() == x.reshape(-1).tolist()
    assert values.tolist() == sorted(set(x.reshape(-1).tolist())) and int(counts.sum()) == 60


def test_of_none():
    values, inverse, counts = torch.unique(torch.empty(0, 3), return_inverse=True, return_counts=True)
    assert values.shape == counts.shape == (0,) and inverse.shape == (0, 3)


@pytest.mark.parametrize("dtype", (torch.float16, torch.bfloat16, torch.float32, torch.float64))
def test_places_of_nan_are_last(dtype):
    edges = torch.tensor([1.0, 2.0, 3.0], dtype=dtype)
    assert torch.searchsorted(edges, torch.tensor([NAN, 2.5, -1.0], dtype=dtype)).tolist() == [3, 2, 0]


@pytest.mark.parametrize("dtype", (torch.float16, torch.bfloat16, torch.float32, torch.float64))
def test_running_extremes_stay_with_the_last_nan(dtype):
    x = torch.tensor([3.0, 4.0, 1.0, 4.0, NAN, 9.0, NAN, 2.0], dtype=dtype)
    values, places = x.cummax(0)
    assert repr(values.tolist()) == "[3.0, 4.0, 4.0, 4.0, nan, nan, nan, nan]"
    assert places.tolist() == [0, 1, 1, 3, 4, 4, 6, 6]
    assert x[:4].cummin(0).indices.tolist() == [0, 0, 2, 2] and torch.zeros(3, 0).cummax(0).values.shape == (3, 0)


@pytest.mark.parametrize("dtype", (torch.bool, torch.int64, torch.bfloat16, torch.float32, torch.complex64))
def test_runs(dtype):
    x = torch.tensor([[1, 1, 0], [0, 0, 1]]).to(dtype)
    values, inverse, counts = torch.unique_consecutive(x, return_inverse=True, return_counts=True)
    assert values.dtype is dtype and values.tolist() == [1, 0, 1]
    assert inverse.tolist() == [[0, 0, 1], [1, 1, 2]] and counts.tolist() == [2, 3, 1]
    assert torch.unique_consecutive(x.t()).tolist() == [1, 0, 1, 0, 1]
    values, counts = torch.unique_consecutive(x, return_counts=True, dim=1)
    assert values.tolist() == [[1, 0], [0, 1]] and counts.tolist() == [2, 1]


def test_runs_of_few():
    assert torch.unique_consecutive(torch.tensor(3), True, True)[0].tolist() == [3]
    values, inverse, counts = torch.unique_consecutive(torch.zeros(0), True, True)
    assert values.shape == inverse.shape == counts.shape == (0,)
    assert len(torch.unique_consecutive(torch.tensor([NAN, NAN]))) == 2
