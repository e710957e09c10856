"""Kernels along rows: softmax and its relatives, running sums and products."""

import numpy as np
import pytest
from kernel_cases import COMPLEX, FLOATS, INTEGERS, assert_close, assert_same, values

from shimtorch._kernels import probe

SHAPES = ((0, 3), (3, 0), (1, 1), (5, 3), (33, 10), (3, 1000), (40, 257), (2, 9000))


def orders(a):
    """The same matrix with rows, columns or neither contiguous, and backwards."""
    return (a.copy(), np.asfortranarray(a), np.repeat(a, 2, axis=1)[:, ::2], a[:, ::-1].copy()[:, ::-1])


def matrix(dtype, shape, seed=0):
    return values(dtype, shape[0] * shape[1], seed=seed).reshape(shape)


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True, initial=-np.inf))
    return e / e.sum(1, keepdims=True)


def log_softmax(x):
    y = x - x.max(1, keepdims=True, initial=-np.inf)
    return y - np.log(np.exp(y).sum(1, keepdims=True, initial=1e-300))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_softmax(dtype, shape):
    a, g = matrix(dtype, shape), matrix(dtype, shape, seed=1)
    x, dx = a.astype(np.float64), g.astype(np.float64)
    half = dtype.itemsize == 2
    atol = {2: 0, 4: 2e-6, 8: 1e-14}[dtype.itemsize]
    soft = softmax(x).astype(dtype)
    log_soft = log_softmax(x).astype(dtype)
    backward = (dx - (dx * soft).sum(1, keepdims=True)) * soft
    log_backward = dx - np.exp(log_soft.astype(np.float64)) * dx.sum(1, keepdims=True)
    for m in orders(a):
        for out in orders(np.zeros_like(a)):
            assert_close(probe.rows("softmax", out, m), softmax(x), 0.55 if half else 16)
            assert_close(probe.rows("log_softmax", out, m), log_softmax(x), 0.55 if half else 4, atol)
        for d in orders(g):
            assert_close(probe.rows("softmax_backward", d, d, np.asfortranarray(soft)), backward, 1, atol or 1e-3)
        for d in orders(g):
            got = probe.rows("log_softmax_backward", d, d, log_soft)
            assert_close(got, log_backward, 1, (atol or 1e-3) * max(1, shape[1]))
        probe.rows("softmax", m, m)
        assert_close(m, softmax(x), 0.55 if half else 16)


def test_softmax_of_infinities():
    a = np.array([[-np.inf, -np.inf], [-np.inf, 1], [np.inf, 1], [np.nan, 1], [1e30, 1e30]], np.float32)
    want = np.array([[np.nan] * 2, [0, 1], [np.nan] * 2, [np.nan] * 2, [0.5, 0.5]], np.float32)
    assert_same(probe.rows("softmax", np.empty_like(a), a), want)
    with np.errstate(divide="ignore"):
        assert_close(probe.rows("log_softmax", np.empty_like(a), a), np.log(want.astype(np.float64)), 1)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", FLOATS + COMPLEX, ids=str)
def test_running_sums_and_products(dtype, shape):
    a = matrix(dtype, shape)
    near_one = (1 + 0.05 * a).astype(dtype)
    kind = np.clongdouble if dtype in COMPLEX else np.longdouble
    eps = {2: 0, 4: 1e-7, 8: 1e-14}[a.real.dtype.itemsize]
    sums = np.cumsum(a.astype(kind), 1)
    products = np.cumprod(near_one.astype(kind), 1)
    for m, f in zip(orders(a), orders(near_one), strict=True):
        for out in orders(np.zeros_like(a)):
            assert_close(probe.rows("cumsum", out, m), sums, 2, 200 * eps)
            assert_close(probe.rows("cumprod", out, f), products, 200 if dtype.itemsize > 2 else 2)
        probe.rows("cumsum", m, m)
        assert_close(m, sums, 2, 200 * eps)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_running_sums_of_integers(dtype, shape):
    a = matrix(dtype, shape)
    with np.errstate(all="ignore"):
        sums, products = np.cumsum(a, 1, dtype=dtype), np.cumprod(a, 1, dtype=dtype)
    for m in orders(a):
        for out in orders(np.zeros_like(a)):
            assert_same(probe.rows("cumsum", out, m), sums)
            assert_same(probe.rows("cumprod", out, m), products)


def test_long_running_sum():
    ones = np.ones((1, 20_000_000), np.float32)
    assert probe.rows("cumsum", ones, ones)[0, -1] == 2e7
