"""Pointwise kernels of three operands, and the gradient of threshold."""

import numpy as np
import pytest
from kernel_cases import (
    ALL,
    COMPLEX,
    FLOATS,
    INTEGERS,
    LENGTHS,
    assert_close,
    assert_same,
    doubles,
    factor,
    layouts,
    values,
    wide,
)

from shimtorch._kernels import probe


def three(dtype, n):
    return tuple(values(dtype, n, seed=k) for k in (1, 2, 3))


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_where(dtype, n):
    a, b, _ = three(dtype, n)
    condition = values(np.dtype(bool), n)
    want = np.where(condition, a, b)
    for _, c in layouts(condition):
        for _, x in layouts(a):
            assert_same(probe.run("where", np.empty_like(a), c, x, b), want)
    if n:
        assert_same(probe.run("where", np.empty_like(a), condition, a[:1], b), np.where(condition, a[:1], b))
        assert_same(probe.run("where", np.empty_like(a), condition[:1], a, b), np.where(condition[:1], a, b))


@pytest.mark.parametrize("dtype", FLOATS + COMPLEX, ids=str)
def test_addcmul_and_addcdiv(dtype):
    a, b, c = three(dtype, 500)
    value = 0.5 - 1j if dtype in COMPLEX else 0.5
    x, y, z = wide(a), wide(b), wide(c)
    ulps, atol = 4, {2: 0.3, 4: 2e-6, 8: 2e-14}[np.dtype(dtype).itemsize // (2 if dtype in COMPLEX else 1)]
    for _, t in layouts(b):
        got = probe.run("addcmul", np.empty_like(a), a, t, c, param=factor(value))
        assert_close(got, x + value * y * z, ulps, atol)
    got = probe.run("addcdiv", np.empty_like(a), a, b, c, param=factor(value))
    assert_close(got, x + value * y / z, ulps, atol * np.abs(y / z).max().astype(float))


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_addcmul_of_integers(dtype):
    a, b, c = three(dtype, 500)
    want = [(x + 3 * y * z) % 2**64 for x, y, z in zip(a.tolist(), b.tolist(), c.tolist(), strict=True)]
    got = probe.run("addcmul", np.empty_like(a), a, b, c, param=factor(3, 3))
    assert_same(got, np.array(want, np.uint64).astype(dtype))


@pytest.mark.parametrize("dtype", FLOATS + COMPLEX, ids=str)
def test_lerp(dtype):
    a, b, _ = three(dtype, 500)
    w = values(dtype, 500, -1, 2, seed=9)
    x, y, z = wide(a), wide(b), wide(w)
    atol = {2: 0.3, 4: 4e-6, 8: 4e-14}[np.dtype(dtype).itemsize // (2 if dtype in COMPLEX else 1)]
    assert_close(probe.run("lerp", np.empty_like(a), a, b, w), x + z * (y - x), 2, atol)
    # the ends are exact
    for weight, end in ((0, a), (1, b)):
        assert_same(probe.run("lerp", np.empty_like(a), a, b, np.full(1, weight, dtype)), end)


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS, ids=str)
def test_clamp_tensor(dtype):
    a, b, c = three(dtype, 500)
    if dtype in FLOATS:
        a[0] = b[1] = c[2] = np.nan
    with np.errstate(invalid="ignore"):
        want = np.minimum(np.maximum(a, b), c)
    assert_same(probe.run("clamp_tensor", np.empty_like(a), a, b, c), want)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_threshold_backward(dtype):
    g, x, _ = three(dtype, 500)
    x[0], x[1] = np.nan, 0
    with np.errstate(invalid="ignore"):
        want = np.where(x <= 0, np.zeros_like(g), g)
    for _, y in layouts(x):
        assert_same(probe.run("threshold_backward", np.empty_like(g), g, y, param=doubles(0)), want)
