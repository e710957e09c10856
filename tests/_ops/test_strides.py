"""How results lie in memory, as torch 2.13 lays them out."""
import pytest

import shimtorch as torch


def layouts():
    """A tensor (2, 3, 4, 5): contiguous, the last two dimensions exchanged in memory, all reversed, channels last."""
    x = torch.arange(120.0).reshape(2, 3, 4, 5)
    turned = x.permute(3, 2, 1, 0).contiguous().permute(3, 2, 1, 0)
    return (x, x.mT.contiguous().mT, turned, x.contiguous(memory_format=torch.channels_last))


WHOLE, TURNED = (60, 20, 5, 1), (1, 2, 6, 24)
INDEX = torch.zeros(2, 3, 4, 5, dtype=torch.int64)
AS_GIVEN = [WHOLE, (60, 20, 1, 4), TURNED, (60, 1, 15, 3)]


@pytest.mark.parametrize("name, call, strides", (
    ("sort", lambda x: x.sort(1).values, AS_GIVEN),
    ("argsort", lambda x: x.argsort(1), AS_GIVEN),
    ("isreal", lambda x: x.isreal(), AS_GIVEN),
    ("index_add", lambda x: x.index_add(1, INDEX[0, 0, 0, :3], x), [WHOLE] * 4),
    ("index_copy", lambda x: x.index_copy(1, torch.arange(3), x), [WHOLE] * 4),
    ("scatter_add", lambda x: x.scatter_add(1, INDEX, x), [WHOLE] * 4),
    ("scatter_reduce", lambda x: x.scatter_reduce(1, INDEX, x, "amax"), [WHOLE] * 4),
    ("masked_fill", lambda x: x.masked_fill(x > 3, 1), [WHOLE] * 4),
    ("renorm", lambda x: x.renorm(2, 1, 1.0), [WHOLE] * 4),
    ("nonzero", lambda x: x.nonzero(), [(1, 119)] * 4),
    ("argwhere", lambda x: x.argwhere(), [(1, 119)] * 4),
    ("nonzero of a tuple", lambda x: x.nonzero(as_tuple=True)[2], [(1,)] * 4),
    ("fft", lambda x: torch.fft.fft(x), [WHOLE, WHOLE, (5, 10, 30, 1), (60, 5, 15, 1)]),
    ("fft of the first", lambda x: torch.fft.fft(x, dim=0),
     [(1, 40, 10, 2), (1, 40, 2, 8), (1, 2, 6, 24), (1, 2, 30, 6)]),
    ("rfft2", lambda x: torch.fft.rfft2(x), [(36, 12, 3, 1), (36, 12, 3, 1), (12, 24, 3, 1), (36, 12, 3, 1)]),
    ("irfft2", lambda x: torch.fft.irfft2(x, (4, 5)), [WHOLE, WHOLE, (20, 40, 5, 1), WHOLE]),
    ("ihfft2", lambda x: torch.fft.ihfft2(x), [(36, 12, 1, 4), (36, 12, 1, 4), (12, 24, 1, 4), (36, 12, 1, 4)]),
), ids=lambda value: value if isinstance(value, str) else "")
def test_strides(name, call, strides):
    for x, expected in zip(layouts(), strides, strict=True):
        result = call(x)
        assert result.stride() == expected
        assert torch.equal(result, call(x.contiguous()))


def test_view_copy_of_what_is_no_view():
    x = torch.arange(6).reshape(2, 3).t()
    assert torch.view_copy(x, (2, 3)).tolist() == x.reshape(2, 3).tolist()
