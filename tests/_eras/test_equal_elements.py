"""Of equal elements: which one max() names, and in which order sort() leaves them, as PyTorch 1.0 and 1.1 did it."""
import numpy as np
import pytest

import shimtorch as torch

NAN = float("nan")


@pytest.mark.parametrize("era", ["1.0", "1.1"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.uint8])
def test_the_last_of_the_largest(era, dtype):
    with torch.era(era):
        x = torch.ones(2, 3).to(dtype)
        assert x.max(1)[1].tolist() == x.min(1)[1].tolist() == x.argmin(1).tolist() == [2, 2]
        assert x.max(0, keepdim=True)[1].tolist() == x.argmax(0, True).tolist() == [[1, 1, 1]]
        assert x.argmax().item() == x.t().argmax().item() == 5
        assert x.t().max(1)[1].tolist() == [0, 0, 0] and x[:, ::2].max(1)[1].tolist() == [0, 0]  # not contiguous
        assert torch.tensor([3, 1, 3, 0]).to(dtype).max(0)[1].item() == 2


def test_the_first_nan():
    with torch.era("1.1"):
        x = torch.tensor([[2.0, 2, NAN, NAN, 2]])
        assert x.max(1)[1].item() == x.min(1)[1].item() == 2


def test_the_gradient_goes_where_the_index_says():
    with torch.era("1.0"):
        x = torch.ones(2, 3, requires_grad=True)
        x.max(1)[0].sum().backward()
        assert x.grad.tolist() == [[0, 0, 1], [0, 0, 1]]


@pytest.mark.parametrize("era", ["0.3", "0.4", "1.11", "modern"])
def test_the_first_of_the_largest(era):
    with torch.era(era):
        assert np.asarray(torch.ones(2, 3).max(1)[1]).tolist() == [0, 0]


@pytest.mark.parametrize("era, stable", [("0.3", False), ("0.4", False), ("1.0", False), ("1.1", False),
                                         ("1.11", True), ("modern", True)])
def test_sort_of_equal_elements(era, stable):
    with torch.era(era):
        x = torch.ones(17)
        order = [9, 8, 15, 14]
        for found in (torch.sort(x)[1], torch.sort(x, descending=True)[1], torch.sort(torch.stack([x, x]), 1)[1][1],
                      torch.sort(torch.stack([x, x], 1), 0)[1][:, 0]):
            found = np.asarray(found).tolist()
            assert sorted(found) == list(range(17)) and found[:4] == ([0, 1, 2, 3] if stable else order)
        for n in (1, 2, 10):
            assert np.asarray(torch.sort(torch.ones(n))[1]).tolist() == list(range(n))


@pytest.mark.parametrize("n", [11, 40, 1000])
@pytest.mark.parametrize("descending", [False, True])
def test_sorted_values_and_their_places_fit(n, descending):
    x = torch.randint(0, 7, (3, n)).float()
    x[:, ::5] = NAN
    with torch.era("1.1"):
        values, places = x.sort(1, descending)
    expected = x.sort(1, descending)[0]
    assert np.array_equal(values, expected, equal_nan=True)
    assert np.array_equal(x.gather(1, places), expected, equal_nan=True)
    assert places.sort(1)[0].tolist() == [list(range(n))] * 3


def test_sort_of_what_occurs_several_times():
    x = torch.tensor([NAN, 1, NAN, 0, NAN, 3, NAN, 5, 4, NAN, 1, 2, NAN])
    with torch.era("1.1"):
        assert x.sort()[1].tolist() == [3, 10, 1, 11, 5, 8, 7, 6, 0, 9, 4, 2, 12]
        assert x.sort(descending=True)[1].tolist() == [4, 6, 9, 0, 2, 12, 7, 8, 5, 11, 1, 10, 3]
        assert x.argsort().tolist() == x.sort()[1].tolist()
        assert x.sort(stable=True)[1].tolist() == [3, 1, 10, 11, 5, 8, 7, 0, 2, 4, 6, 9, 12]
