"""Running extremes and sums of exponentials: every dtype, dimension and layout, against one element after the other."""
import numpy as np
import pytest

import shimtorch as torch


@pytest.mark.parametrize("dtype", ("uint8", "int8", "int16", "int32", "int64", "float32", "float64", "bfloat16"))
@pytest.mark.parametrize("name, best", (("cummax", lambda a, b: a >= b), ("cummin", lambda a, b: a <= b)))
def test_extremes(name, best, dtype):
    x = torch.tensor(np.random.default_rng(1).integers(0, 4, (3, 5, 70))).to(getattr(torch, dtype))
    if x.is_floating_point():
        x[0, 2, ::3] = float("nan")
    for dim in (0, 1, 2, -1):
        values, places = getattr(x, name)(dim)
        lines = x.movedim(dim, -1).double().reshape(-1, x.shape[dim]).tolist()
        want = []
        for line in lines:
            at, row = 0, []
            for i, value in enumerate(line):
                at = i if value != value or best(value, line[at]) else at
                row.append(at)
            want.append(row)
        assert places.movedim(dim, -1).reshape(-1, x.shape[dim]).tolist() == want
        picked = x.gather(dim, places).double().numpy()
        assert np.array_equal(values.double().numpy(), picked, equal_nan=True)
        turned = x.transpose(0, 2).contiguous().transpose(0, 2)
        assert torch.equal(getattr(turned, name)(dim)[1], places)


@pytest.mark.parametrize("dtype", ("float16", "bfloat16", "float32", "float64"))
def test_logcumsumexp(dtype):
    x = torch.tensor(np.random.default_rng(1).standard_normal((3, 5, 70)) * 30).to(getattr(torch, dtype))
    for dim in (0, 1, 2):
        want = np.logaddexp.accumulate(x.double().numpy(), dim)
        torch.testing.assert_close(x.logcumsumexp(dim), torch.tensor(want).to(x.dtype))
        recorded = x.double().clone().requires_grad_().logcumsumexp(dim)
        assert recorded.requires_grad
        torch.testing.assert_close(recorded.detach(), torch.tensor(want))
    inf, nan = float("inf"), float("nan")
    got = torch.tensor([-inf, -inf, 1.0, inf, -inf, nan, 2.0]).logcumsumexp(0)
    assert got[:5].tolist() == [-inf, -inf, 1.0, inf, inf] and got[5:].isnan().all()
