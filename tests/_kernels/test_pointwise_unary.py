"""Unary pointwise kernels against NumPy and SciPy in higher precision."""

import numpy as np
import pytest
import scipy.special as sp
from kernel_cases import (
    ALL,
    BOOL,
    COMPLEX,
    FLOATS,
    INTEGERS,
    LENGTHS,
    SIGNED,
    SPECIAL,
    assert_close,
    assert_same,
    bounds,
    doubles,
    factor,
    layouts,
    values,
    wide,
)

from shimtorch._kernels import probe


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def log_sigmoid(x):
    return np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))


def erf(x):
    return sp.erf(x.astype(np.float64))


# name: reference, lowest and highest argument, ulps, absolute error where the result comes from a difference
FLOAT_OPS = {
    "neg": (np.negative, -9, 9, 0, 0),
    "abs": (np.abs, -9, 9, 0, 0),
    "exp": (np.exp, -110, 95, 2, 0),
    "exp2": (np.exp2, -155, 130, 2, 0),
    "expm1": (np.expm1, -30, 90, 2, 0),
    "log": (np.log, 1e-6, 50, 2, 0),
    "log2": (np.log2, 1e-6, 50, 2, 0),
    "log10": (np.log10, 1e-6, 50, 2, 0),
    "log1p": (np.log1p, -0.999, 50, 2, 0),
    "sqrt": (np.sqrt, 0, 1e4, 0.51, 0),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 1e-3, 1e4, 1.5, 0),
    "sin": (np.sin, -3000, 3000, 1.5, 0),
    "cos": (np.cos, -3000, 3000, 1.5, 0),
    "tan": (np.tan, -3000, 3000, 2, 0),
    "asin": (np.arcsin, -1, 1, 2, 0),
    "acos": (np.arccos, -1, 1, 2, 0),
    "atan": (np.arctan, -50, 50, 2, 0),
    "sinh": (np.sinh, -80, 80, 3, 0),
    "cosh": (np.cosh, -80, 80, 3, 0),
    "tanh": (np.tanh, -12, 12, 2.5, 0),
    "asinh": (np.arcsinh, -50, 50, 3, 0),
    "acosh": (np.arccosh, 1, 50, 3, 0),
    "atanh": (np.arctanh, -1, 1, 3, 0),
    "sigmoid": (sigmoid, -80, 80, 2.5, 0),
    "logsigmoid": (log_sigmoid, -80, 80, 2.5, 0),
    "relu": (lambda x: np.maximum(x, 0), -9, 9, 0, 0),
    "softsign": (lambda x: x / (1 + np.abs(x)), -9, 9, 1.5, 0),
    "reciprocal": (lambda x: 1 / x, -9, 9, 0.51, 0),
    "square": (np.square, -9, 9, 0.51, 0),
    "sign": (np.sign, -9, 9, 0, 0),
    "sgn": (np.sign, -9, 9, 0, 0),
    "floor": (np.floor, -9, 9, 0, 0),
    "ceil": (np.ceil, -9, 9, 0, 0),
    "round": (np.rint, -9, 9, 0, 0),
    "trunc": (np.trunc, -9, 9, 0, 0),
    "frac": (lambda x: x - np.trunc(x), -9, 9, 0, 0),
    "erf": (erf, -6, 6, 2, 0),
    "erfc": (lambda x: sp.erfc(x.astype(np.float64)), -6, 4, 12, 0),
    "erfinv": (lambda x: sp.erfinv(x.astype(np.float64)), -1, 1, 6, 0),
    "lgamma": (lambda x: sp.gammaln(x.astype(np.float64)), 0.1, 50, 8, 1e-6),
    "silu": (lambda x: x * sigmoid(x), -80, 80, 3, 0),
    "gelu": (lambda x: 0.5 * x * (1 + erf(x / np.sqrt(2.0))), -9, 9, 3, 6e-7),
    "gelu_tanh": (
        lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.longdouble(np.pi)) * (x + 0.044715 * x**3))),
        -9, 9, 3, 6e-7,
    ),
    "mish": (lambda x: x * np.tanh(np.log1p(np.exp(x))), -60, 60, 5, 0),
    "hardswish": (lambda x: x * np.clip(x + 3, 0, 6) / 6, -9, 9, 2, 2e-7),
    "angle": (lambda x: np.where(x < 0, np.pi, 0.0), -9, 9, 0.51, 0),
}  # fmt: skip
TO_BOOL = {
    "logical_not": np.logical_not,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
    "signbit": np.signbit,
}


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", FLOAT_OPS)
def test_values(name, dtype):
    reference, low, high, ulps, atol = FLOAT_OPS[name]
    # float16 and bfloat16 are float32 results rounded once more
    ulps = ulps if dtype.itemsize > 2 else 0.51 + (ulps > 0) * 0.01
    atol = atol if dtype.itemsize > 4 or dtype.itemsize == 2 or dtype == np.float32 else 0
    for n in (3, 64, 5000):
        a = values(dtype, n, low, high)
        a = a[(a > low) & (a < high)]
        with np.errstate(all="ignore"):
            want = reference(wide(a))
        assert_close(probe.run(name, np.empty_like(a), a), want, ulps, atol * (1e-8 if dtype == np.float64 else 1))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", FLOAT_OPS)
def test_special_values(name, dtype):
    reference, _, _, _, _ = FLOAT_OPS[name]
    with np.errstate(all="ignore"):
        a = np.array(SPECIAL).astype(dtype)
        if name in ("gelu", "gelu_tanh", "mish", "hardswish", "silu", "softsign", "frac"):
            a = a[(np.abs(a) < 1e30) | np.isnan(a)]
        want = reference(wide(a)).astype(dtype)
    if name in ("sign", "sgn"):
        want = np.where(a != a, 0, want).astype(dtype)
    if name == "angle":
        want = np.where(a != a, a, want)
    if name in ("lgamma", "tan", "sin", "cos", "erfc"):
        a, want = a[np.abs(a) < 1e4], want[np.abs(a) < 1e4]
    got = probe.run(name, np.empty_like(a), a)
    plain = np.isfinite(want.astype(np.float64)) & (want != 0)
    assert_same(np.where(plain, 0, got).astype(dtype), np.where(plain, 0, want).astype(dtype))
    assert_close(got[plain], want[plain].astype(np.float64), 8, 1e-6)


@pytest.mark.parametrize("dtype", ALL, ids=str)
@pytest.mark.parametrize("name", TO_BOOL)
def test_predicates(name, dtype):
    if name == "signbit" and dtype.kind == "c":
        assert not probe.supports(name, dtype)
        return
    a = values(dtype, 300)
    if dtype in FLOATS or dtype in COMPLEX:
        with np.errstate(all="ignore"):
            a[: len(SPECIAL)] = np.array(SPECIAL).astype(dtype)
    a[-1] = 0
    want = a < 0 if name == "signbit" and dtype not in FLOATS else TO_BOOL[name](a)
    for _, x in layouts(a):
        assert_same(probe.run(name, np.empty(len(a), bool), x), want.astype(bool))


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integers(dtype):
    a = values(dtype, 999)
    identities = ("floor", "ceil", "round", "trunc")
    wants = {
        "neg": np.negative(a), "abs": np.abs(a), "relu": np.maximum(a, 0), "sign": np.sign(a), "sgn": np.sign(a),
        "square": a * a, "bitwise_not": ~a, **dict.fromkeys(identities, a),
    }  # fmt: skip
    for name, want in wants.items():
        for _, x in layouts(a):
            assert_same(probe.run(name, np.empty_like(a), x), want)


def test_bool():
    a = values(BOOL, 100)
    for name, want in {"bitwise_not": ~a, "logical_not": ~a, "sign": a, "sgn": a}.items():
        assert_same(probe.run(name, np.empty_like(a), a), want)
    for name in ("neg", "exp", "square", "relu"):
        assert not probe.supports(name, BOOL)


COMPLEX_OPS = {
    "neg": np.negative,
    "conj_physical": np.conj,
    "exp": np.exp,
    "log": np.log,
    "log2": lambda z: np.log(z) / np.log(2),
    "log10": np.log10,
    "sqrt": np.sqrt,
    "rsqrt": lambda z: 1 / np.sqrt(z),
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "sigmoid": sigmoid,
    "silu": lambda z: z * sigmoid(z),
    "reciprocal": lambda z: 1 / z,
    "square": np.square,
    "exp2": lambda z: np.exp(z * np.log(2)),
    "sgn": lambda z: z / np.abs(z),
}


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
@pytest.mark.parametrize("name", COMPLEX_OPS)
def test_complex(name, dtype):
    a = values(dtype, 500, -3, 3)
    for _, x in layouts(a):
        assert_close(probe.run(name, np.empty_like(a), x), COMPLEX_OPS[name](wide(a)), 16)


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
def test_complex_to_real(dtype):
    a = values(dtype, 500, -3, 3)
    real = np.empty(500, a.real.dtype)
    assert_close(probe.run("abs", real, a), np.abs(wide(a)), 3)
    assert_close(probe.run("angle", real, a), np.angle(wide(a)), 3)
    zero = np.zeros(1, dtype)
    assert probe.run("sgn", np.ones(1, dtype), zero)[0] == 0


# ---- layouts: one op of each way of getting there ----


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_layouts(dtype, n):
    a = values(dtype, n)
    want = probe.run("exp", np.empty_like(a), a)
    for _, x in layouts(a):
        for _, out in layouts(np.zeros_like(a)):
            assert_same(probe.run("exp", out, x), want)
        probe.run("exp", x, x)
        assert_same(x, want)
    if n:
        scalar = np.broadcast_to(a[:1], (n,))
        assert_same(probe.run("exp", np.empty_like(a), scalar), np.repeat(want[:1], n))


def test_outputs_are_not_overrun():
    for dtype in FLOATS:
        for n in LENGTHS:
            guarded = np.full(n + 2, 7, dtype)
            probe.run("exp", guarded[1:-1], np.zeros(n, dtype))
            assert guarded[0] == 7 and guarded[-1] == 7
            assert (guarded[1:-1] == 1).all()


# ---- float32 functions of our own: dense and exact at the edges ----


def float32_sweep():
    """Every 2,000th float32 there is."""
    return np.arange(0, 2**32, 2003, dtype=np.uint64).astype(np.uint32).view(np.float32)


@pytest.mark.parametrize("name", ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "tanh", "sigmoid", "erf",
                                  "erfc", "erfinv", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
                                  "asinh", "acosh", "atanh"))  # fmt: skip
def test_float32_everywhere(name):
    a = float32_sweep()
    if name in ("sin", "cos", "tan"):
        a = a[np.abs(a) < 1e7]
    with np.errstate(all="ignore"):
        want = FLOAT_OPS[name][0](a.astype(np.float64))
    # where float64 itself would go astray: subnormal sigmoids and the flush of exp(-x) to infinity
    got = probe.run(name, np.empty_like(a), a)
    assert_close(got, want, 2.5, 1.2e-38 if name == "sigmoid" else 0)


# ---- inverse, hyperbolic and special functions: within an ulp of long double, NaN and infinities as libm's ----

BESSEL = {"i0": sp.i0, "i0e": sp.i0e, "i1": sp.i1, "i1e": sp.i1e}
# name: reference, where arguments are drawn from
PRECISE = {
    "exp": (np.exp, -85, 85), "exp2": (np.exp2, -120, 120), "expm1": (np.expm1, -2, 3),
    "log": (np.log, 0, 4), "log2": (np.log2, 0, 4), "log10": (np.log10, 0, 4), "log1p": (np.log1p, -1, 3),
    "sin": (np.sin, -9e5, 9e5), "cos": (np.cos, -9e5, 9e5), "tan": (np.tan, -9e5, 9e5),
    "asin": (np.arcsin, -1, 1), "acos": (np.arccos, -1, 1), "atan": (np.arctan, -5, 5),
    "sinh": (np.sinh, -85, 85), "cosh": (np.cosh, -85, 85), "tanh": (np.tanh, -3, 3), "asinh": (np.arcsinh, -5, 5),
    "acosh": (np.arccosh, 1, 9), "atanh": (np.arctanh, -1, 1),
}  # fmt: skip
FUSED = probe.isa() != "baseline"  # built with fused multiply-adds


@pytest.mark.parametrize("dtype", (np.float32, np.float64))
@pytest.mark.parametrize("name", PRECISE)
def test_less_than_one_ulp_off(name, dtype):
    reference, low, high = PRECISE[name]
    rng = np.random.default_rng(1)
    digits, smallest = (24, -149) if dtype == np.float32 else (53, -1074)
    spread = rng.uniform(low, high, 100_000)
    small = np.exp2(rng.uniform(smallest, 1, 100_000)) * rng.choice((-1, 1), 100_000)
    edges = 1 - np.exp2(-rng.uniform(0, digits, 10_000))
    if name == "acosh":
        small, edges = 1 + np.abs(small), 2 - edges
    a = np.concatenate([spread, small, edges, -edges, [0.0, -0.0, np.exp2(float(smallest))]]).astype(dtype)
    with np.errstate(all="ignore"):
        want = reference(a.astype(np.longdouble))
    got = probe.run(name, np.empty_like(a), a)
    assert_close(got, want, 1 if FUSED else 4)
    if name != "acosh":
        assert (np.signbit(got) == np.signbit(want))[np.isfinite(want) & (want != 0)].all()


@pytest.mark.parametrize("name, low, high", [("erf", -6, 6), ("erfc", -5, 9), ("erfinv", -1, 1), ("lgamma", 0, 50)])
def test_special_functions_of_float32_precisely(name, low, high):
    a = np.random.default_rng(1).uniform(low, high, 200_000).astype(np.float32)
    a = np.concatenate([a, np.exp2(np.linspace(-140, -1, 5_000)).astype(np.float32)])
    want = {"erf": sp.erf, "erfc": sp.erfc, "erfinv": sp.erfinv, "lgamma": sp.gammaln}[name](a.astype(np.float64))
    assert_close(probe.run(name, np.empty_like(a), a), want, 1 if FUSED else 2)


def test_lgamma_near_its_zeros_and_at_the_ends():
    a = np.float32([1, 2])[:, None] + np.arange(-40, 41) * np.float32([2**-24, 2**-23])[:, None]
    a = np.concatenate([a.astype(np.float32).ravel(), np.float32([1e-45, 3.4e38, 7.9999995, 8, -0.5, -3.9])])
    assert_close(probe.run("lgamma", np.empty_like(a), a), sp.gammaln(a.astype(np.float64)), 2)
    ends = np.float32([np.inf, -np.inf, 0, -0.0, -1, -7, np.nan])
    assert_same(probe.run("lgamma", np.empty_like(ends), ends), np.float32([np.inf] * 6 + [np.nan]))


@pytest.mark.parametrize("name", BESSEL)
def test_bessel(name):
    a = np.concatenate([np.linspace(-85, 85, 20_001), np.exp2(np.linspace(-140, 6, 5_000))]).astype(np.float32)
    assert_close(probe.run(name, np.empty_like(a), a), BESSEL[name](a.astype(np.float64)), 1.01)
    ends = np.array([np.inf, -np.inf, np.nan, 0.0, 200.0], np.float32)
    at_infinity = 0 if name.endswith("e") else np.nan
    got = probe.run(name, np.empty_like(ends), ends)
    assert_same(got[:4], np.array([at_infinity, at_infinity, np.nan, float(name.startswith("i0"))], np.float32))
    assert np.isinf(got[4]) == (not name.endswith("e"))
    assert not probe.supports(name, np.dtype(np.float64))


@pytest.mark.parametrize("dtype", (np.float32, np.float64))
def test_at_the_ends_of_their_domains(dtype):
    def at(name, *x):
        return probe.run(name, np.empty(len(x), dtype), np.array(x, dtype)).tolist()

    above = float(np.nextafter(dtype(1), dtype(2)))
    inf = np.inf
    for name in ("asin", "acos", "atanh", "erfinv"):
        assert np.isnan(at(name, above, -above, inf, -inf, np.nan)).all()
    assert at("atanh", 1, -1) == at("erfinv", 1, -1) == [inf, -inf]
    assert np.isnan(at("acosh", 0.999, -2, -inf, np.nan)).all()
    assert at("acosh", 1, inf) == [0, inf]
    assert at("sinh", inf, -inf, 1000, -1000) == at("asinh", inf, -inf, inf, -inf) == [inf, -inf] * 2
    assert at("cosh", inf, -inf, 1000, 0) == [inf, inf, inf, 1]
    assert at("atan", inf, -inf) == [float(dtype(np.pi / 2)), -float(dtype(np.pi / 2))]
    assert at("acos", 1, -1) == [0, float(dtype(np.pi))]
    assert at("erfc", inf, -inf, 0, 30) == [0, 2, 1, 0]
    largest = float(np.finfo(dtype).max)
    assert_close(np.array(at("asinh", largest), dtype), np.arcsinh(np.longdouble([largest])), 1)
    assert_close(np.array(at("acosh", largest), dtype), np.arccosh(np.longdouble([largest])), 1)


@pytest.mark.parametrize("name", (*PRECISE, "erf", "erfc", "erfinv", "lgamma"))
@pytest.mark.parametrize("dtype", (np.float32, np.float64))
def test_one_by_one_is_the_same(name, dtype):
    a = np.random.default_rng(2).uniform(-2, 2, 67).astype(dtype)
    whole = probe.run(name, np.empty_like(a), a)
    assert_same(np.concatenate([probe.run(name, np.empty(1, dtype), a[i:i + 1]) for i in range(len(a))]), whole)


def test_exp_at_the_edges():
    def at(name, x, dtype=np.float32):
        return probe.run(name, np.empty(1, dtype), np.array([x], dtype))[0]

    assert at("exp", -np.inf) == 0
    assert at("exp", 88.73) == np.inf
    assert at("exp", 88.72283) < np.inf
    assert at("exp", -103.9) == np.float32(1e-45)
    assert at("exp", -104.5) == 0
    assert at("exp", 709.78, np.float64) < np.inf
    assert at("exp", 709.79, np.float64) == np.inf
    assert at("exp", -745.1, np.float64) == 5e-324
    assert at("log", 1e-45) == np.float32(np.log(np.float64(np.float32(1e-45))))
    assert at("log", 5e-324, np.float64) == np.log(5e-324)
    assert [at("log2", 2.0**k) for k in range(-149, 128)] == list(range(-149, 128))
    assert [at("log10", 10.0**k) for k in range(11)] == list(range(11))
    assert [at("exp2", k) for k in range(-149, 128)] == [2.0**k for k in range(-149, 128)]
    for name in ("exp", "log", "tanh", "sigmoid", "erf", "expm1", "log1p", "sin"):
        assert np.isnan(at(name, np.nan)) and np.isnan(at(name, np.nan, np.float64))


# ---- with parameters ----

PARAMETRISED = {
    "leaky_relu": (doubles(0.1), lambda x: np.where(x > 0, x, x * 0.1), 0.51),
    "elu": (doubles(1.5, 0.8, 2.0), lambda x: np.where(x > 0, x * 0.8, 1.5 * 0.8 * np.expm1(2.0 * x)), 3.5),
    "celu": (doubles(0.5), lambda x: np.where(x > 0, x, 0.5 * np.expm1(x / 0.5)), 3),
    "softplus": (doubles(2.0, 5.0), lambda x: np.where(2 * x > 5, x, np.log1p(np.exp(2 * x)) / 2), 3),
    "threshold": (doubles(0.5, 7.0), lambda x: np.where(x > 0.5, x, 7.0), 0),
    "hardshrink": (doubles(0.5), lambda x: np.where(np.abs(x) > 0.5, x, 0), 0),
    "softshrink": (doubles(0.5), lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0), 0.51),
}


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", PARAMETRISED)
def test_parametrised(name, dtype):
    param, reference, ulps = PARAMETRISED[name]
    a = values(dtype, 700)
    # a parameter like 0.1 is rounded to the dtype first
    atol = 1e-7 if dtype == np.float32 else 0
    for _, x in layouts(a):
        got = probe.run(name, np.empty_like(a), x, param=param)
        assert_close(got, reference(wide(a)), max(ulps, 0.52), atol)
    if name != "hardshrink":
        nan = np.array([np.nan]).astype(dtype)
        assert np.isnan(probe.run(name, np.zeros_like(nan), nan, param=param))[0]


@pytest.mark.parametrize("exponent", (0.0, 0.5, -0.5, 1.0, 2.0, 3.0, -1.0, -2.0, 2.7, -3.0, np.inf, np.nan))
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_pow_scalar(dtype, exponent):
    a = np.concatenate([values(dtype, 500), values(dtype, 200, -3, 3).round(0).astype(dtype)])
    with np.errstate(all="ignore"):
        rounded = exponent if dtype == np.float64 else float(np.float32(exponent))
        want = 1 / np.sqrt(wide(a)) if exponent == -0.5 else np.power(wide(a), rounded)
        a[:2] = np.array([np.inf, np.nan]).astype(dtype)
        want[:2] = np.power(np.array([np.inf, np.nan]), exponent)
    got = probe.run("pow_scalar", np.empty_like(a), a, param=factor(exponent))
    assert_close(got, want, 2 if dtype.itemsize > 2 else 0.52)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_pow_scalar_of_integers(dtype):
    a = values(dtype, 100)
    for exponent in (0, 1, 2, 3, 7, 200):
        want = np.array([pow(int(x), exponent, 2**64) for x in a], np.uint64).astype(dtype)
        assert_same(probe.run("pow_scalar", np.empty_like(a), a, param=factor(exponent, exponent)), want)
    negative = probe.run("pow_scalar", np.empty(4, dtype), np.array([0, 1, 2, 3], dtype), param=factor(-1, -1))
    assert negative.tolist() == [0, 1, 0, 0]
    if dtype in SIGNED:
        minus = np.array([-1, -2], dtype)
        assert probe.run("pow_scalar", np.empty(2, dtype), minus, param=factor(-3, -3)).tolist() == [-1, 0]


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
@pytest.mark.parametrize("exponent", (0, 1, 2, 3, -1, 0.5, 1.5 + 2j))
def test_pow_scalar_of_complex(dtype, exponent):
    a = values(dtype, 100)
    got = probe.run("pow_scalar", np.empty_like(a), a, param=factor(exponent))
    assert_close(got, wide(a) ** exponent, 40)
    zero = probe.run("pow_scalar", np.empty(1, dtype), np.zeros(1, dtype), param=factor(exponent))
    if exponent == 0:
        assert zero[0] == 1
    elif np.real(exponent) > 0:
        assert zero[0] == 0


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_clamp(dtype):
    a = values(dtype, 300)
    a[0] = np.nan
    for low, high in ((-1, 1), (None, 0.5), (-0.5, None), (2, -2)):
        want = a
        want = want if low is None else np.maximum(want, np.array(low, dtype))
        want = want if high is None else np.minimum(want, np.array(high, dtype))
        assert_same(probe.run("clamp", np.empty_like(a), a, param=bounds(low, high)), want)
    assert np.isnan(probe.run("clamp", np.empty_like(a), a, param=bounds(np.nan, 1))).all()


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_clamp_integers(dtype):
    a = values(dtype, 300)
    for low, high in ((1, 5), (None, 5), (2, None), (5, 1)):
        want = a
        want = want if low is None else np.maximum(want, np.array(low, dtype))
        want = want if high is None else np.minimum(want, np.array(high, dtype))
        got = probe.run("clamp", np.empty_like(a), a, param=bounds(int_low=low, int_high=high))
        assert_same(got, want)
    if dtype == np.uint64:
        high = 2**64 - 2
        got = probe.run("clamp", np.empty(1, dtype), np.array([2**64 - 1], dtype), param=bounds(int_high=high))
        assert got[0] == high


def test_unknown_names_have_no_kernel():
    with pytest.raises(NotImplementedError):
        probe.run("no_such_op", np.empty(1), np.empty(1))
