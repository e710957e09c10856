"""Sums without the NaNs, beside infinities that make a NaN of their own."""
import shimtorch as torch

NAN, INF = float("nan"), float("inf")
ROWS = [[1.0, NAN, 2.0], [INF, -INF, 3.0], [NAN, NAN, NAN], [1.0, 2.0, 3.0]]


def test_nansum():
    x = torch.tensor(ROWS)
    rows = x.nansum(1)
    assert rows[[0, 2, 3]].tolist() == [3, 0, 6] and rows[1].isnan()
    assert x.nansum().isnan() and x[3].nansum() == 6 and torch.zeros(0).nansum() == 0
    assert x.nansum(0, True).tolist() == [[INF, -INF, 8]]
    half = x[0].nansum(dtype=torch.float16)
    assert half == 3 and half.dtype is torch.float16


def test_gradient_passes_nans_by():
    x = torch.tensor(ROWS, requires_grad=True)
    grad = torch.autograd.grad(x.nansum(1)[[0, 2, 3]].sum(), x)[0]
    assert grad.tolist() == [[1, 0, 1], [0, 0, 0], [0, 0, 0], [1, 1, 1]]


def test_nanmean():
    x = torch.tensor(ROWS)
    assert x[:1].nanmean(1).tolist() == [1.5] and x.nanmean(0)[:2].tolist() == [INF, -INF]
