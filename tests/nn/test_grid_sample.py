"""grid_sample where coordinates are no numbers, infinite or far away: as torch 2.13 answers."""
import math

import pytest

import shimtorch as torch
from shimtorch.nn.functional import grid_sample

NAN, INF = math.nan, math.inf
PLACES = [(NAN, 0.2), (0.2, NAN), (INF, -0.5), (0.0, -INF), (1e30, 0.0), (-3e9, 1.5), (0.4, 0.4)]

IMAGE = {
    ("bilinear", "zeros", False): [NAN, NAN, NAN, NAN, 0.0, 0.0, 9.7],
    ("bilinear", "zeros", True): [NAN, NAN, NAN, NAN, 0.0, 0.0, 8.7],
    ("bilinear", "border", False): [6.2, 2.9, 5.0, 2.5, 8.0, 9.0, 9.7],
    ("bilinear", "border", True): [5.8, 2.8, 6.0, 2.5, 8.0, 9.0, 8.7],
    ("bilinear", "reflection", False): [6.2, 2.9, 2.0, 2.5, 5.0, 8.0, 9.7],
    ("bilinear", "reflection", True): [5.8, 2.8, 3.0, 2.5, 5.0, 7.0, 8.7],
    ("nearest", "zeros", False): [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 11.0],
    ("nearest", "zeros", True): [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 7.0],
    ("nearest", "border", False): [5.0, 3.0, 4.0, 3.0, 8.0, 9.0, 11.0],
    ("nearest", "border", True): [5.0, 3.0, 4.0, 3.0, 8.0, 9.0, 7.0],
    ("nearest", "reflection", False): [5.0, 3.0, 1.0, 3.0, 5.0, 9.0, 11.0],
    ("nearest", "reflection", True): [5.0, 3.0, 1.0, 3.0, 5.0, 9.0, 7.0],
    ("bicubic", "zeros", False): [NAN, NAN, NAN, NAN, 0.0, 0.0, 11.9238],
    ("bicubic", "zeros", True): [NAN, NAN, NAN, NAN, 0.0, 0.0, 10.0023],
    ("bicubic", "border", False): [NAN, NAN, NAN, NAN, 8.0, 9.0, 10.1252],
    ("bicubic", "border", True): [NAN, NAN, NAN, NAN, 8.0, 9.375, 9.1267],
    ("bicubic", "reflection", False): [NAN, NAN, NAN, NAN, 5.0, 8.2344, 10.1252],
    ("bicubic", "reflection", True): [NAN, NAN, NAN, NAN, 5.0, 7.75, 9.4215],
}

# of a volume: the values, and the sums of the absolute gradients of the first three (of the volume and the grid)
VOLUME = {
    ("bilinear", "zeros", False): ([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 19.3], [0.0, 0.0]),
    ("bilinear", "zeros", True): ([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 16.5], [0.0, 0.0]),
    ("bilinear", "border", False): ([18.8, 20.5, 14.6, 12.1, 17.6, 18.6, 19.3], [1.0, 18.0]),
    ("bilinear", "border", True): ([16.6, 18.6, 13.8, 10.3, 15.8, 16.8, 16.5], [1.0, 10.0]),
    ("bilinear", "reflection", False): ([18.8, 20.5, 14.6, 20.1, 14.6, 17.6, 19.3], [0.0, 0.0]),
    ("bilinear", "reflection", True): ([16.6, 18.6, 13.8, 18.3, 13.8, 16.8, 16.5], [0.0, 0.0]),
    ("nearest", "zeros", False): ([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 23.0], [0.0, 0.0]),
    ("nearest", "zeros", True): ([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 19.0], [0.0, 0.0]),
    ("nearest", "border", False): ([20.0, 23.0, 16.0, 15.0, 20.0, 21.0, 23.0], [1.0, 0.0]),
    ("nearest", "border", True): ([20.0, 23.0, 16.0, 15.0, 20.0, 21.0, 19.0], [1.0, 0.0]),
    ("nearest", "reflection", False): ([20.0, 23.0, 16.0, 23.0, 17.0, 21.0, 23.0], [0.0, 0.0]),
    ("nearest", "reflection", True): ([20.0, 23.0, 16.0, 23.0, 18.0, 23.0, 19.0], [0.0, 0.0]),
}


def same(x, want):
    torch.testing.assert_close(x.detach().reshape(-1).double(), torch.tensor(want, dtype=torch.float64), rtol=1e-4,
                               atol=1e-4, equal_nan=True)


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("case", IMAGE)
def test_image(case, recorded):
    """Both the kernel and what is differentiated."""
    image = (torch.arange(12.0) + 1).reshape(1, 1, 3, 4).requires_grad_(recorded)
    same(grid_sample(image, torch.tensor(PLACES).reshape(1, 1, -1, 2), *case), IMAGE[case])


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("case", VOLUME)
def test_volume(case, recorded):
    volume = (torch.arange(24.0) + 1).reshape(1, 1, 2, 3, 4).requires_grad_(recorded)
    grid = torch.tensor([(x, y, 0.3) for x, y in PLACES]).reshape(1, 1, 1, -1, 3).requires_grad_(recorded)
    values, sums = VOLUME[case]
    result = grid_sample(volume, grid, *case)
    same(result, values)
    if recorded:
        result[..., :3].sum().backward()
        same(torch.stack([volume.grad.abs().sum(), grid.grad.abs().sum()]), sums)


def test_no_gradient_at_the_border():
    grid = torch.tensor([(-1.0, 0.0), (1.0, 0.0), (0.5, 0.0)]).reshape(1, 1, -1, 2).requires_grad_()
    grid_sample((torch.arange(12.0) + 1).reshape(1, 1, 3, 4), grid, "bilinear", "border", True).sum().backward()
    assert grid.grad[0, 0, :, 0].tolist() == [0, 0, 1.5]
