"""Products of matrices of any dtype and layout."""

import numpy as np
import pytest
from kernel_cases import BOOL, COMPLEX, FLOATS, INTEGERS, assert_close, assert_same, values

from shimtorch._kernels import probe

SIZES = ((1, 1, 1), (0, 3, 2), (3, 0, 2), (3, 2, 0), (4, 16, 8), (5, 17, 9), (31, 33, 32), (1, 40, 300), (70, 1, 129),
         (65, 50, 257))  # fmt: skip


def matrix(dtype, rows, cols, seed):
    return values(dtype, rows * cols, -1, 1, seed=seed).reshape(rows, cols)


def orders(a):
    return (a, np.asfortranarray(a), np.repeat(a, 2, axis=1)[:, ::2], a[::-1].copy()[::-1])


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("dtype", FLOATS + COMPLEX, ids=str)
def test_floats(dtype, size):
    m, n, k = size
    a, b = matrix(dtype, m, k, 1), matrix(dtype, k, n, 2)
    kind = np.complex128 if dtype in COMPLEX else np.float64
    want = a.astype(kind) @ b.astype(kind)
    atol = {2: 1e-5, 4: 2e-7, 8: 1e-15}[a.real.dtype.itemsize] * max(k, 1)
    for x in orders(a):
        for y in orders(b):
            assert_close(probe.gemm(np.empty((m, n), dtype), x, y), want, 0.51, atol)
    for out in orders(np.empty((m, n), dtype)):
        assert_close(probe.gemm(out, a, b), want, 0.51, atol)


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integers(dtype, size):
    m, n, k = size
    a, b = matrix(dtype, m, k, 1), matrix(dtype, k, n, 2)
    with np.errstate(all="ignore"):
        want = a @ b
    for x in orders(a):
        for y in orders(b):
            assert_same(probe.gemm(np.empty((m, n), dtype), x, y), want)
    wide = np.zeros((m, 2 * n), dtype)
    assert_same(probe.gemm(wide[:, ::2], a, b), want)
    assert not wide[:, 1::2].any()


THIN = ((300, 4, 1000), (8, 301, 900), (1237, 7, 250), (700, 16, 515), (5, 4001, 70), (520, 11, 513), (32, 8200, 32),
        (9001, 32, 33))  # fmt: skip


@pytest.mark.parametrize("size", THIN, ids=str)
@pytest.mark.parametrize("dtype", FLOATS[2:], ids=str)
def test_thin(dtype, size):
    m, n, k = size
    a, b = matrix(dtype, m, k, 1), matrix(dtype, k, n, 2)
    want = a.astype(np.float64) @ b.astype(np.float64)
    atol = np.finfo(dtype).eps * k
    for x in orders(a):
        for y in orders(b):
            assert_close(probe.gemm(np.empty((m, n), dtype), x, y), want, 0.51, atol)
    for out in orders(np.empty((m, n), dtype)):
        assert_close(probe.gemm(out, a, b), want, 0.51, atol)
    wide = np.zeros((m, 2 * n), dtype)
    probe.gemm(wide[:, ::2], a, b)
    assert not wide[:, 1::2].any()


def test_infinities_of_a_thin_product_stay_in_their_rows():
    a, b = matrix(FLOATS[2], 900, 600, 1), matrix(FLOATS[2], 600, 5, 2)
    a[7, 3], b[5, 1] = np.inf, np.nan
    out = probe.gemm(np.empty((900, 5), FLOATS[2]), a, b)
    assert np.isinf(out[7, [0, 2, 3, 4]]).all() and np.isnan(out[:, 1]).all()
    assert np.isfinite(np.delete(np.delete(out, 7, 0), 1, 1)).all()


def test_halves_accumulate_in_float32():
    a = np.full((1, 4096), 1, np.float16)
    assert probe.gemm(np.empty((1, 1), np.float16), a, a.T.copy())[0, 0] == 4096


def test_no_bool():
    square = np.ones((2, 2), BOOL)
    with pytest.raises(NotImplementedError):
        probe.gemm(square, square, square)
