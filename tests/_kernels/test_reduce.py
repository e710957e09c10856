"""Reductions along either axis of a matrix, in every layout."""

import struct

import numpy as np
import pytest
from kernel_cases import ALL, BOOL, COMPLEX, FLOATS, INTEGERS, REALS, assert_close, assert_same, doubles, values

from shimtorch._kernels import probe

SHAPES = ((1, 1), (1, 7), (5, 1), (3, 4), (40, 3), (3, 40), (17, 300), (300, 17), (2, 5000), (5000, 2), (70, 600))


def matrices(dtype, shape):
    """Values as matrices of one shape: C and Fortran order, transposed, every other column, backwards."""
    a = values(dtype, shape[0] * shape[1]).reshape(shape)
    wide = np.repeat(a, 2, axis=1)
    return (a, np.asfortranarray(a), wide[:, ::2], a[::-1, ::-1].copy()[::-1, ::-1])


def out_for(name, a, axis):
    return np.empty(a.shape[1 - axis], probe_dtype(name, a.dtype))


def probe_dtype(name, dtype):
    out = probe.reduce_dtype(name, dtype)
    return np.dtype(FLOATS[1] if out == "bfloat16" else out)


def reduced(name, a, axis, param=None):
    return probe.reduce(name, out_for(name, a, axis), a, axis, param)


def exact(a):
    return a.astype(np.complex128 if a.dtype in COMPLEX else np.longdouble)


def tolerance(dtype):
    return {2: 0.51, 4: 40, 8: 200, 16: 200}[dtype.itemsize] if dtype not in COMPLEX else 100


@pytest.mark.parametrize("axis", (0, 1))
@pytest.mark.parametrize("dtype", FLOATS + COMPLEX, ids=str)
def test_sums(dtype, axis):
    for shape in SHAPES:
        for a in matrices(dtype, shape):
            x = exact(a)
            size = np.abs(x).sum(axis).max().astype(float)
            eps = {2: 0, 4: 2e-6, 8: 1e-14}[a.real.dtype.itemsize]
            assert_close(reduced("sum", a, axis), x.sum(axis), 2, size * eps)
            assert_close(reduced("sumabs", a, axis), np.abs(x).sum(axis), 2, size * eps)
            assert_close(reduced("sumsq", a, axis), (np.abs(x) ** 2).sum(axis), 2, size * 6 * eps)
            cubes = (np.abs(x) ** 3).sum(axis)
            assert_close(reduced("norm_p", a, axis, doubles(3)), cubes, 2, size * 40 * eps)


@pytest.mark.parametrize("axis", (0, 1))
@pytest.mark.parametrize("dtype", FLOATS + COMPLEX, ids=str)
def test_products(dtype, axis):
    for shape in SHAPES[:7]:
        a = (1 + 0.1 * values(dtype, shape[0] * shape[1], -1, 1).reshape(shape)).astype(dtype)
        assert_close(reduced("prod", a, axis), exact(a).prod(axis), tolerance(dtype))


@pytest.mark.parametrize("axis", (0, 1))
@pytest.mark.parametrize("dtype", (BOOL, *INTEGERS), ids=str)
def test_integer_sums(dtype, axis):
    for shape in SHAPES:
        for a in matrices(dtype, shape):
            x = a.astype(np.int64)
            assert_same(reduced("sum", a, axis), x.sum(axis))
            assert_same(reduced("prod", a, axis), x.prod(axis))


@pytest.mark.parametrize("axis", (0, 1))
@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_truth(dtype, axis):
    for shape in SHAPES:
        for zeros in (0.0, 0.5, 1.0):
            for a in matrices(dtype, shape):
                a[np.random.default_rng(0).random(shape) < zeros] = 0
                assert_same(reduced("any", a, axis), (a != 0).any(axis))
                assert_same(reduced("all", a, axis), (a != 0).all(axis))
                assert_same(reduced("count_nonzero", a, axis), (a != 0).sum(axis))


def extreme(a, axis, better):
    """Index of the first extreme or NaN, by plain loops over NumPy's answer."""
    return (np.argmax if better == "max" else np.argmin)(a, axis)


@pytest.mark.parametrize("axis", (0, 1))
@pytest.mark.parametrize("dtype", REALS, ids=str)
@pytest.mark.parametrize("nans", (0, 0.002, 0.3))
def test_extremes(dtype, axis, nans):
    if nans and dtype not in FLOATS:
        return
    for shape in SHAPES:
        for a in matrices(dtype, shape):
            if nans:
                a[np.random.default_rng(1).random(shape) < nans] = np.nan
            comparable = a.astype(np.float32) if dtype.itemsize == 2 and dtype in FLOATS else a
            for name in ("max", "min"):
                want = getattr(comparable, name)(axis).astype(dtype)
                index = extreme(comparable, axis, name).astype(np.int64)
                assert_same(reduced(name, a, axis), want)
                assert_same(reduced("a" + name, a, axis), want)
                assert_same(reduced("arg" + name, a, axis), index)
                where = np.full(2 * len(index), -1, np.int64)[::2]
                address, step = where.__array_interface__["data"][0], where.strides[0]
                got = reduced(name + "_arg", a, axis, struct.pack("Pn", address, step))
                assert_same(got, want)
                assert_same(where, index)


@pytest.mark.parametrize("axis", (0, 1))
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_variance(dtype, axis):
    for shape in SHAPES:
        for a in matrices(dtype, shape):
            for correction in (0, 1):
                n = shape[axis]
                x = exact(a)
                with np.errstate(all="ignore"):
                    want = ((x - x.mean(axis, keepdims=True)) ** 2).sum(axis) / np.longdouble(n - correction)
                assert_close(reduced("var", a, axis, doubles(correction)), want, 0.51 if dtype.itemsize == 2 else 16)


def test_variance_around_a_large_mean():
    for dtype, offset in ((np.float32, 1e4), (np.float64, 1e9)):
        a = (np.random.default_rng(0).normal(0, 1, (1000, 300)) + offset).astype(dtype)
        for axis in (0, 1):
            assert_close(reduced("var", a, axis, doubles(1)), exact(a).var(axis, ddof=1), 100, 1e-6)


def test_variance_without_freedom():
    one = np.ones((1, 5), np.float32)
    assert np.isnan(reduced("var", one, 0, doubles(1))).all()
    assert (reduced("var", one, 0, doubles(0)) == 0).all()
    assert np.isinf(reduced("var", np.array([[1.0, 2.0]]), 1, doubles(3))).all()


@pytest.mark.parametrize("axis", (0, 1))
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_logsumexp(dtype, axis):
    for shape in SHAPES:
        for a in matrices(dtype, shape):
            want = np.log(np.exp(exact(a)).sum(axis))
            atol = {2: 0, 4: 3e-7, 8: 1e-15}[dtype.itemsize]
            assert_close(reduced("logsumexp", a, axis), want, 0.51 if dtype.itemsize == 2 else 3, atol)


def test_logsumexp_of_infinities():
    a = np.array([[-np.inf, -np.inf], [np.inf, 1], [np.nan, 1], [-np.inf, 2], [1000, 1000]])
    want = np.array([-np.inf, np.inf, np.nan, 2, 1000 + np.log(2)])
    assert_same(reduced("logsumexp", a, 1), want)
    assert_same(reduced("logsumexp", np.ascontiguousarray(a.T), 0), want)


def test_long_sums_stay_exact():
    ones = np.ones(20_000_000, np.float32)
    assert reduced("sum", ones.reshape(1, -1), 1)[0] == 2e7
    assert reduced("sum", ones.reshape(-1, 1), 0)[0] == 2e7
    assert reduced("sum", ones.reshape(-1, 4), 0).tolist() == [5e6] * 4
    tenths = np.full((1, 20_000_000), 0.1, np.float32)
    assert_close(reduced("sum", tenths, 1), tenths[0, :1].astype(float) * 2e7, 8)
    assert_close(reduced("sum", np.full((1, 10_000_000), 0.1), 1), np.array([1e6]), 16)


def test_empty_reductions():
    empty = np.empty((0, 300), np.float32)
    assert (reduced("sum", empty, 0) == 0).all()
    assert (reduced("prod", empty, 0) == 1).all()
    assert reduced("all", empty, 0).all() and not reduced("any", empty, 0).any()
    assert reduced("sum", empty, 1).shape == (0,)
    assert (reduced("sum", np.empty((3, 0)), 1) == 0).all()


def test_nan_and_infinity_in_sums():
    a = np.array([[1, np.nan, 2], [np.inf, 1, 1], [np.inf, -np.inf, 0]], np.float32)
    assert_same(reduced("sum", a, 1), np.array([np.nan, np.inf, np.nan], np.float32))
    assert_same(reduced("sum", a.T, 0), np.array([np.nan, np.inf, np.nan], np.float32))


def test_unsupported_reductions_have_no_kernel():
    assert probe.reduce_dtype("max", np.dtype("complex64")) is None
    assert probe.reduce_dtype("var", np.dtype("int32")) is None
    assert probe.reduce_dtype("no_such_op", np.dtype("int32")) is None
