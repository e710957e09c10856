"""Pooling by each of its ways through memory: windows side by side, one by one, as wide as the map, the whole map."""

import itertools

import numpy as np
import pytest

import shimtorch as torch
from shimtorch.nn import functional as F

# shape of the map, kernel, stride, padding, dilation
WINDOWS = [
    ((9, 21), (2, 2), (2, 2), (0, 0), (1, 1)),  # many beside each other
    ((9, 23), (3, 3), (2, 2), (1, 1), (1, 1)),  # and some at the margin
    ((6, 150), (2, 3), (1, 1), (1, 1), (1, 2)),  # rows longer than a stretch
    ((7, 5), (3, 2), (2, 2), (1, 1), (1, 1)),  # few in a row
    ((50, 1), (50, 1), (1, 1), (0, 0), (1, 1)),  # one run of elements
    ((40, 3), (12, 3), (4, 1), (0, 0), (1, 1)),  # as wide as the map
    ((6, 1), (2, 1), (1, 1), (0, 0), (1, 2)),  # the same, with steps that lead nowhere
    ((8, 8), (8, 8), (1, 1), (0, 0), (1, 1)),  # the whole map
    ((8, 40), (8, 35), (8, 40), (0, 0), (1, 1)),  # a part of it
    ((20, 33), (20, 33), (1, 1), (0, 0), (1, 1)),  # a long run
]


def reference(x, kernel, stride, padding, dilation):
    """For every window its elements and their places in the plane, padding left out."""
    height, width = x.shape
    counts = [(n + 2 * p - d * (k - 1) - 1) // s + 1
              for n, k, s, p, d in zip(x.shape, kernel, stride, padding, dilation, strict=True)]
    windows = {}
    for i, j in itertools.product(*map(range, counts)):
        rows = [i * stride[0] - padding[0] + k * dilation[0] for k in range(kernel[0])]
        columns = [j * stride[1] - padding[1] + k * dilation[1] for k in range(kernel[1])]
        windows[i, j] = [(x[r, c], r * width + c) for r in rows if 0 <= r < height for c in columns if 0 <= c < width]
    return counts, windows


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", WINDOWS)
@pytest.mark.parametrize("special", [None, np.nan, np.inf, -np.inf])
def test_maximum(case, dtype, special):
    shape, *windows = case
    planes = np.random.default_rng(0).integers(-9, 9, (2, *shape)).astype(dtype)  # with ties: the first one counts
    if special is not None:
        planes[0, shape[0] // 2, shape[1] // 2] = special
    x = torch.tensor(planes[None], requires_grad=True)
    values, places = F.max_pool2d(x, *windows, return_indices=True)
    for plane in range(2):
        counts, found = reference(planes[plane], *windows)
        assert list(values.shape[2:]) == counts
        for (i, j), elements in found.items():
            nans = [e for e in elements if e[0] != e[0]]
            value, place = nans[-1] if nans else max(elements, key=lambda e: e[0])
            np.testing.assert_array_equal(values[0, plane, i, j].item(), value)
            assert places[0, plane, i, j].item() == place or value == -np.inf
    with torch.no_grad():
        np.testing.assert_array_equal(F.max_pool2d(x.detach(), *windows).numpy(), values.detach().numpy())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", [case for case in WINDOWS if case[-1] == (1, 1)])
def test_mean(case, dtype):
    shape, kernel, stride, padding, dilation = case
    plane = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    x = torch.tensor(plane[None, None], requires_grad=True)
    means = F.avg_pool2d(x, kernel, stride, padding, count_include_pad=False)
    shares = np.zeros(plane.size)
    _, found = reference(plane, kernel, stride, padding, dilation)
    for (i, j), elements in found.items():
        assert means[0, 0, i, j].item() == pytest.approx(sum(e[0] for e in elements) / len(elements), abs=1e-5)
        for _, place in elements:
            shares[place] += (i + 2 * j + 1) / len(elements)
    rows, columns = torch.arange(means.size(2))[:, None], torch.arange(means.size(3))
    means.backward((rows + 2 * columns + 1).to(means.dtype)[None, None])
    np.testing.assert_allclose(x.grad.numpy().reshape(-1), shares, rtol=1e-5)


def test_one_window_of_three_dimensions():
    x = torch.arange(2 * 3 * 4 * 5.0).reshape(1, 2, 3, 4, 5).requires_grad_()
    mean = F.adaptive_avg_pool3d(x, 1)
    assert mean.flatten().tolist() == [29.5, 89.5]
    mean.sum().backward()
    assert torch.allclose(x.grad, torch.full_like(x, 1 / 60))
    value, place = F.adaptive_max_pool3d(x, 1, return_indices=True)
    assert value.flatten().tolist() == [59, 119] and place.flatten().tolist() == [59, 59]


def test_average_of_three_dimensions_refuses_maps_smaller_than_the_kernel():
    with pytest.raises(RuntimeError, match=r"input image \(T: 5 H: 1 W: 3\) smaller than kernel size \(kT: 5 kH: 1 kW"):
        F.avg_pool3d(torch.ones(1, 1, 5, 1, 3), (5, 1, 5), padding=(2, 0, 1))
