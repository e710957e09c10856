"""Conversions between all pairs of dtypes."""

import ml_dtypes
import numpy as np
import pytest
from kernel_cases import ALL, BFLOAT16, BOOL, COMPLEX, FLOATS, INTEGERS, LENGTHS, assert_same, layouts, values

from shimtorch._kernels import probe


def converted(a, dtype):
    """What NumPy says, by way of float32 where a half-precision type is reached from a wider one."""
    with np.errstate(all="ignore"):
        if a.dtype.kind == "c" and dtype == BOOL:
            return a != 0
        if a.dtype.kind == "c" and dtype.kind != "c":
            a = a.real.copy()
        if dtype in (np.float16, BFLOAT16) and a.dtype not in (np.float16, BFLOAT16):
            a = a.astype(np.float32)
        if a.dtype in FLOATS and dtype in INTEGERS:
            whole = np.trunc(a.astype(np.float64)).tolist()
            return np.array([int(x) % 2**64 for x in whole], np.uint64).astype(dtype)
        if a.dtype in (np.float16, BFLOAT16):
            a = a.astype(np.float32)
        return a.astype(dtype)


@pytest.mark.parametrize("to", ALL, ids=str)
@pytest.mark.parametrize("start", ALL, ids=str)
def test_every_pair(start, to):
    a = values(start, 300, -100, 100)
    a[:3] = 0
    want = converted(a, to)
    for _, x in layouts(a):
        assert_same(probe.cast(np.zeros(300, to), x), want)
    for _, out in layouts(np.zeros(300, to)):
        assert_same(probe.cast(out, a), want)


@pytest.mark.parametrize("n", LENGTHS)
def test_lengths(n):
    for start, to in (("float32", "float16"), ("int32", "float64"), ("complex64", "float32"), ("uint8", "complex128")):
        a = values(np.dtype(start), n)
        assert_same(probe.cast(np.zeros(n, to), a), converted(a, np.dtype(to)))


def test_every_float16():
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
    assert_same(probe.cast(np.empty(2**16, np.float32), halves), halves.astype(np.float32))
    assert_same(probe.cast(np.empty_like(halves), halves), halves)


def test_every_bfloat16():
    halves = np.arange(2**16, dtype=np.uint16).view(BFLOAT16)
    assert_same(probe.cast(np.empty(2**16, np.float32), halves), halves.astype(np.float32))


@pytest.mark.parametrize("dtype", (np.dtype("float16"), BFLOAT16), ids=str)
def test_rounding_to_half_precision(dtype):
    # every half, the value halfway to the next, and the float32 on either side of that
    halves = np.arange(2**16, dtype=np.uint16).view(dtype).astype(np.float32)
    halves = halves[np.isfinite(halves)]
    ordered = np.unique(halves)
    middle = (ordered[1:].astype(np.float64) + ordered[:-1]) / 2
    a = middle.astype(np.float32)
    a = np.concatenate([a, np.nextafter(a, np.float32(np.inf)), np.nextafter(a, np.float32(-np.inf))])
    a = np.concatenate([a, np.arange(0, 2**32, 65537 * 3, dtype=np.uint64).astype(np.uint32).view(np.float32)])
    with np.errstate(all="ignore"):
        want = a.astype(dtype)
    for x in (a, np.repeat(a, 2)[::2]):
        assert_same(probe.cast(np.empty(len(a), dtype), x), want)


def test_out_of_range_and_nan():
    a = np.array([np.nan, np.inf, -np.inf, 1e10, -1e10, 3e9, -1.5, 300.0, 1e20, -1e20])
    for start in (np.float32, np.float64):
        x = a.astype(start)
        low32, low64 = -(2**31), -(2**63)

        def cast(dtype, x=x):
            return probe.cast(np.empty(len(x), dtype), x).tolist()

        assert cast(np.int32) == [low32, low32, low32, low32, low32, low32, -1, 300, low32, low32]
        assert cast(np.int64) == [low64, low64, low64, 10**10, -(10**10), 3 * 10**9, -1, 300, low64, low64]
        assert cast(np.int8) == [0, 0, 0, 0, 0, 0, -1, 44, 0, 0]
        assert cast(np.int16) == [0, 0, 0, 0, 0, 0, -1, 300, 0, 0]
        assert cast(np.uint8)[:3] == [0, 0, 0] and cast(np.uint8)[6:] == [255, 44, 0, 0]
        assert cast(np.bool_) == [True] * 10
        assert cast(np.uint64)[5:8] == [3 * 10**9, 2**64 - 1, 300]
    big = np.array([2.0**63, 2.0**64 - 4096])
    assert probe.cast(np.empty(2, np.uint64), big).tolist() == [2**63, 2**64 - 4096]


def test_real_parts():
    for dtype in COMPLEX:
        z = np.array([1 + 2j, 0 + 1j, 0, -3j], dtype)
        assert probe.cast(np.empty(4, np.float32), z).tolist() == [1, 0, 0, 0]
        assert probe.cast(np.empty(4, bool), z).tolist() == [True, True, False, True]
        assert probe.cast(np.empty(4, ml_dtypes.bfloat16), z).tolist() == [1, 0, 0, 0]
        back = np.full(4, 5 + 5j, dtype)
        assert probe.cast(back, z.real.copy()).tolist() == [1, 0, 0, 0]
