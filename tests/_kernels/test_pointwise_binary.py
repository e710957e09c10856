"""Binary pointwise kernels against NumPy and, where NumPy differs, Python."""

import math

import numpy as np
import pytest
from kernel_cases import (
    ALL,
    BOOL,
    COMPLEX,
    FLOATS,
    INTEGERS,
    LENGTHS,
    REALS,
    SIGNED,
    assert_close,
    assert_same,
    factor,
    layouts,
    values,
    wide,
)

from shimtorch._kernels import probe

FLOAT_OPS = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "fmod": np.fmod,
    "remainder": np.remainder,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "fmax": np.fmax,
    "fmin": np.fmin,
    "copysign": np.copysign,
    "trunc_divide": lambda x, y: np.trunc(x / y),
    "atan2": np.arctan2,
    "hypot": np.hypot,
    "logaddexp": np.logaddexp,
    "pow": np.power,
}
BACKWARD = {
    "sigmoid_backward": lambda g, y: g * (1 - y) * y,
    "tanh_backward": lambda g, y: g * (1 - y * y),
}
FLOAT_OPS |= BACKWARD
INTEGER_OPS = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "fmax": np.maximum,
    "fmin": np.minimum,
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "gcd": np.gcd,
}
DIVISIONS = {
    "floor_divide": lambda x, y: x // y,
    "remainder": lambda x, y: x % y,
    "trunc_divide": lambda x, y: abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1),
    "fmod": lambda x, y: abs(x) % abs(y) * (1 if x >= 0 else -1),
}
COMPARISONS = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
}


def pair(dtype, n, low=-4.0, high=4.0):
    a, b = values(dtype, n, low, high, seed=1), values(dtype, n, low, high, seed=2)
    b[::7] = a[::7]
    return a, b


def wrapped(numbers, dtype):
    """Python integers, modulo the width of the dtype."""
    return np.array([int(n) % 2**64 for n in numbers], np.uint64).astype(dtype)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", FLOAT_OPS)
def test_floats(name, dtype):
    a, b = pair(dtype, 3000)
    reference, exact = FLOAT_OPS[name], name not in ("atan2", "hypot", "logaddexp", "pow")
    with np.errstate(all="ignore"):
        if name in ("fmod", "remainder", "trunc_divide"):
            # as the dtype (float32 for halves) computes them: a rounding before the floor matters
            work = a.dtype if a.dtype.itemsize > 2 else np.dtype("float32")
            want = reference(a.astype(work), b.astype(work)).astype(np.float64)
        else:
            want = reference(wide(a), wide(b))
    ulps = 2.5 if dtype.itemsize > 2 and not exact else 0.51
    # differences that nearly vanish
    atol = {2: 0.3, 4: 2e-5, 8: 5e-14}[dtype.itemsize] if name in ("logaddexp", *BACKWARD) else 0
    assert_close(probe.run(name, np.empty_like(a), a, b), want, ulps, atol)


@pytest.mark.parametrize("dtype", FLOATS[2:], ids=str)
def test_atan2(dtype):
    info = np.finfo(dtype)
    special = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, info.max, info.tiny / 4], dtype)
    y, x = (a.ravel() for a in np.meshgrid(special, special))
    got, want = probe.run("atan2", np.empty_like(y), y, x), np.arctan2(wide(y), wide(x))
    assert_close(got, want, 1.5)
    numbers = want == want
    assert (np.signbit(got) == np.signbit(y))[numbers].all()
    rng = np.random.default_rng(3)
    size = np.log2(float(info.max)) - 1
    y, x = (rng.choice((-1, 1), 50_000) * np.exp2(rng.uniform(-size, size, 50_000)) for _ in range(2))
    near = rng.uniform(-2, 2, (2, 50_000))
    y, x = np.concatenate([y, near[0]]).astype(dtype), np.concatenate([x, near[1]]).astype(dtype)
    with np.errstate(under="ignore"):
        want = np.arctan2(wide(y), wide(x))
        assert_close(probe.run("atan2", np.empty_like(y), y, x), want, 1.5 if probe.isa() != "baseline" else 2.5)


@pytest.mark.parametrize("dtype", FLOATS[2:], ids=str)
def test_hypot_of_extremes(dtype):
    info = np.finfo(dtype)
    special = np.array([0, -0.0, 1, -3, np.inf, -np.inf, np.nan, info.max, info.max / 4, info.tiny / 4], dtype)
    x, y = (a.ravel() for a in np.meshgrid(special, special))
    with np.errstate(over="ignore"):
        assert_close(probe.run("hypot", np.empty_like(x), x, y), np.hypot(wide(x), wide(y)), 1.5)


@pytest.mark.parametrize("dtype", FLOATS[2:], ids=str)
def test_python_modulo_of_floats(dtype):
    a = np.array([5.5, -5.5, 5.5, -5.5, 0.0, -0.0, 7.0, -7.0, 1e30, 5.3], dtype)
    b = np.array([2.0, 2.0, -2.0, -2.0, 3.0, 3.0, 7.0, 7.0, 3.0, -0.1], dtype)
    quotient = probe.run("floor_divide", np.empty_like(a), a, b)
    rest = probe.run("remainder", np.empty_like(a), a, b)
    if dtype == np.float64:
        assert quotient.tolist() == [x // y for x, y in zip(a.tolist(), b.tolist(), strict=True)]
        assert rest.tolist() == [x % y for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    assert_same(quotient, np.floor_divide(a, b))
    assert_same(rest, np.remainder(a, b))
    top = np.array([1, -1, 0, np.inf, np.nan], dtype)
    got = probe.run("floor_divide", np.empty_like(top), top, np.zeros_like(top))
    assert_same(got, np.array([np.inf, -np.inf, np.nan, np.inf, np.nan], dtype))
    got = probe.run("remainder", np.empty(2, dtype), np.array([-1, -5], dtype), np.array([np.inf, np.inf], dtype))
    assert (got == np.inf).all()


def test_power_at_the_edges():
    inf, nan = np.inf, np.nan
    some = np.array([0, -0.0, 1, -1, 2, -2, 0.5, -0.5, inf, -inf, nan, 3, -3, 1e-40, 2.5, 3e38], "float32")
    x, y = (m.ravel().copy() for m in np.meshgrid(some, some))
    got = probe.run("pow", np.empty_like(x), x, y)
    with np.errstate(all="ignore"):
        want = np.power(x.astype(np.float64), y.astype(np.float64))
    assert_close(got, want, 1)
    rng = np.random.default_rng(3)
    x, y = rng.lognormal(0, 20, 20000).astype("float32"), rng.normal(0, 2, 20000).astype("float32")
    with np.errstate(all="ignore"):
        want = np.power(x.astype(np.float64), y.astype(np.float64))
    assert_close(probe.run("pow", np.empty_like(x), x, y), want, 0.6)


@pytest.mark.parametrize("name", ("maximum", "minimum", "fmax", "fmin"))
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_nan_in_extremes(name, dtype):
    a = np.array([np.nan, 1, np.nan, 2, np.inf], dtype)
    b = np.array([1, np.nan, np.nan, 3, np.nan], dtype)
    with np.errstate(invalid="ignore"):
        want = getattr(np, name)(a, b)
    assert_same(probe.run(name, np.empty_like(a), a, b), want)


@pytest.mark.parametrize("dtype", FLOATS[2:], ids=str)
def test_nextafter(dtype):
    a, b = pair(dtype, 100)
    assert_same(probe.run("nextafter", np.empty_like(a), a, b), np.nextafter(a, b))
    assert not probe.supports("nextafter", np.dtype("float16"))


def test_logaddexp_of_infinities():
    a, b = np.array([np.inf, -np.inf, np.inf, np.nan]), np.array([np.inf, -np.inf, -np.inf, 1])
    assert_same(probe.run("logaddexp", np.empty(4), a, b), np.array([np.inf, -np.inf, np.inf, np.nan]))


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("name", INTEGER_OPS)
def test_integers(name, dtype):
    a, b = pair(dtype, 999)
    with np.errstate(all="ignore"):
        assert_same(probe.run(name, np.empty_like(a), a, b), INTEGER_OPS[name](a, b))


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("name", DIVISIONS)
def test_integer_division(name, dtype):
    a, b = pair(dtype, 999)
    if dtype in SIGNED:
        a[:2], b[:2] = np.iinfo(dtype).min, -1
    b[b == 0] = 3
    want = [DIVISIONS[name](x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    assert_same(probe.run(name, np.empty_like(a), a, b), wrapped(want, dtype))
    out = np.empty_like(a)
    b[::3] = 0
    with pytest.raises(ZeroDivisionError):
        probe.run(name, out, a, b)
    assert_same(out[b != 0], wrapped(want, dtype)[b != 0])
    assert (out[b == 0] == 0).all()


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integer_functions_in_python(dtype):
    a, b = pair(dtype, 500)
    width = 8 * dtype.itemsize
    small = (b % (width + 4)).astype(dtype) - (dtype in SIGNED)
    pairs = list(zip(a.tolist(), small.tolist(), strict=True))
    left = [x << y if 0 <= y < width else 0 for x, y in pairs]
    right = [x >> (y if 0 <= y < width else width) for x, y in pairs]
    assert_same(probe.run("lshift", np.empty_like(a), a, small), wrapped(left, dtype))
    assert_same(probe.run("rshift", np.empty_like(a), a, small), wrapped(right, dtype))
    power = [pow(x, y, 2**64) if y >= 0 else x ** (-y) if abs(x) == 1 else 0 for x, y in pairs]
    assert_same(probe.run("pow", np.empty_like(a), a, small), wrapped(power, dtype))
    tens = [x % 10 for x in a.tolist()]
    lcm = [math.lcm(x, y % 10) for x, y in zip(tens, b.tolist(), strict=True)]
    got = probe.run("lcm", np.empty_like(a), np.array(tens, dtype), (b % np.array(10, dtype)).astype(dtype))
    assert_same(got, wrapped(lcm, dtype))


def test_bool():
    a, b = pair(BOOL, 200)
    wants = {
        "add": a | b, "mul": a & b, "maximum": a | b, "minimum": a & b, "bitwise_and": a & b, "bitwise_or": a | b,
        "bitwise_xor": a ^ b,
    }  # fmt: skip
    for name, want in wants.items():
        assert_same(probe.run(name, np.empty_like(a), a, b), want)
    assert_same(probe.run("add_scaled", np.empty_like(a), a, b, param=factor(1, 1)), a | b)
    assert_same(probe.run("add_scaled", np.empty_like(a), a, b, param=factor(0, 0)), a)
    assert not probe.supports("sub", BOOL)
    assert not probe.supports("div", BOOL)


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
def test_complex(dtype):
    a, b = pair(dtype, 500)
    x, y = wide(a), wide(b)
    wants = {
        "add": x + y, "sub": x - y, "mul": x * y, "div": x / y, "pow": x**y,
        "sigmoid_backward": x * np.conj(y * (1 - y)), "tanh_backward": x * np.conj(1 - y * y),
    }  # fmt: skip
    for name, want in wants.items():
        got = probe.run(name, np.empty_like(a), a, b)
        assert_close(got, want, 60 if name == "pow" else 8, 1e-5 if dtype == np.complex64 else 1e-13)
    # a number times its conjugate is real, exactly
    assert (probe.run("mul", np.empty_like(a), a, np.conj(a)).imag == 0).all()


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_add_scaled(dtype):
    if dtype == BOOL:
        return
    a, b = pair(dtype, 300)
    if dtype in INTEGERS:
        want = wrapped([x + 3 * y for x, y in zip(a.tolist(), b.tolist(), strict=True)], dtype)
        assert_same(probe.run("add_scaled", np.empty_like(a), a, b, param=factor(3, 3)), want)
    else:
        alpha = 0.5 + 2j if dtype in COMPLEX else 0.5
        got = probe.run("add_scaled", np.empty_like(a), a, b, param=factor(alpha))
        assert_close(got, wide(a) + alpha * wide(b), 8 if dtype in COMPLEX else 0.51)


@pytest.mark.parametrize("dtype", ALL, ids=str)
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons(name, dtype):
    a, b = pair(dtype, 700)
    if dtype in FLOATS:
        a[:4], b[1:3] = np.nan, np.nan
    b[5:9] = 0
    if dtype in COMPLEX and name in ("lt", "le", "gt", "ge"):
        assert not probe.supports(name, dtype)
        return
    compare = COMPARISONS[name]
    with np.errstate(invalid="ignore"):
        want, swapped, scalar = compare(a, b).astype(bool), compare(b, a).astype(bool), compare(a, b[:1]).astype(bool)
    for _, x in layouts(a):
        assert_same(probe.run(name, np.empty(700, bool), x, b), want)
        assert_same(probe.run(name, np.empty(700, bool), b, x), swapped)
    assert_same(probe.run(name, np.empty(700, bool), a, b[:1]), scalar)


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("dtype", [d for d in ALL if d != BOOL], ids=str)
def test_layouts(dtype, n):
    a, b = pair(dtype, n)
    for name in ("add", "maximum") if dtype in REALS else ("add",):
        want = probe.run(name, np.empty_like(a), a, b)
        for _, x in layouts(a):
            for _, y in layouts(b):
                assert_same(probe.run(name, np.empty_like(a), x, y), want)
            for _, out in layouts(np.zeros_like(a)):
                assert_same(probe.run(name, out, x, b), want)
            probe.run(name, x, x, b)
            assert_same(x, want)
        for _, y in layouts(b):
            probe.run(name, y, a, y)
            assert_same(y, want)
        if n:
            right = probe.run(name, np.empty_like(a), a, np.repeat(b[:1], n))
            left = probe.run(name, np.empty_like(a), np.repeat(a[:1], n), b)
            for _, out in layouts(np.zeros_like(a)):
                assert_same(probe.run(name, out, a, b[:1]), right)
                assert_same(probe.run(name, out, a[:1], b), left)
                both = probe.run(name, out, a[:1], b[:1])
                assert_same(both, np.repeat(want[:1], n))


def test_same_array_three_times():
    a = values(np.dtype("float32"), 1001)
    want = a * a
    probe.run("mul", a, a, a)
    assert_same(a, want)


def test_rows_of_a_matrix():
    a = np.arange(24, dtype=np.int64).reshape(4, 6)
    out = np.empty((6, 4), np.int64)
    assert_same(probe.run("add", out, a.T, np.arange(4)), a.T + np.arange(4))
