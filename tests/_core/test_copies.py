"""Copies whose rows are long, short, reversed, repeated or moved by a few elements, beside NumPy's."""
import numpy as np
import pytest

import shimtorch as torch

DTYPES = [torch.uint8, torch.int16, torch.float32, torch.float64, torch.complex128]


def filled(dtype, *shape):
    return torch.arange(int(np.prod(shape))).reshape(shape).to(dtype)


def same(result, expected):
    assert result.is_contiguous() and result.numpy().tobytes() == np.ascontiguousarray(expected).tobytes()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("width", [5, 900, 1030, 5000])
@pytest.mark.parametrize("shift", [1, 3, 64])
def test_rows_that_move_by_a_few_elements(dtype, width, shift):
    x = filled(dtype, 7, width)
    a = x.numpy()
    same(x.roll(shift, 1), np.roll(a, shift, 1))
    same(x.roll(shift), np.roll(a, shift))
    target, expected = torch.zeros_like(x), np.zeros_like(a)
    if shift < width:
        target[:, shift:] = x[:, :-shift]
        expected[:, shift:] = a[:, :-shift]
    same(target, expected)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(1, 1), (4, 3), (3, 70), (2, 1100)])
def test_reversed_and_repeated_rows(dtype, shape):
    x = filled(dtype, *shape)
    a = x.numpy()
    same(x.flip(1), a[:, ::-1])
    same(x.flip(0), a[::-1])
    same(x.flip(0, 1), a[::-1, ::-1])
    same(x[:, :1].expand(*shape).contiguous(), np.broadcast_to(a[:, :1], shape))
    same(x[:1].expand(*shape).contiguous(), np.broadcast_to(a[:1], shape))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("length", [2, 40, 3000])
def test_short_dimensions_inside(dtype, length):
    x = filled(dtype, length, 4)
    a = x.numpy()
    same(torch.stack((x, x + 1), -1), np.stack((a, (a + 1).astype(a.dtype)), -1))
    same(torch.cat((x[:, :1], x[:, 2:3]), 1), a[:, [0, 2]])
    same(x[:, :3].contiguous(), a[:, :3])
    same(x[:, :3] + x[:, 1:], (a[:, :3] + a[:, 1:]).astype(a.dtype))
    same(x.unfold(1, 3, 1).contiguous(), np.lib.stride_tricks.sliding_window_view(a, 3, 1))
    target, expected = torch.zeros_like(x), np.zeros_like(a)
    target[:, 1:3] = x[:, 2:]
    expected[:, 1:3] = a[:, 2:]
    same(target, expected)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_rows_longer_than_a_piece_through_indices_and_joins(dtype):
    x = filled(dtype, 6, 1300)
    a = x.numpy()
    rows = [4, 0, 0, 5]
    same(x[torch.tensor(rows)], a[rows])
    same(x[:, 1:].index_select(0, torch.tensor(rows)), a[rows, 1:])
    same(torch.cat((x[:2, 3:], x[1:, 1:-2]), 0), np.concatenate((a[:2, 3:], a[1:, 1:-2])))
    same(torch.cat((x, x[:, :5]), 1), np.concatenate((a, a[:, :5]), 1))
    same(x.clone(), a)
