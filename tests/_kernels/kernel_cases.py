"""What the kernel tests share: dtypes, arrays in every layout, distances in units of the last place."""

import struct

import ml_dtypes
import numpy as np

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
SIGNED = tuple(np.dtype(t) for t in ("int8", "int16", "int32", "int64"))
UNSIGNED = tuple(np.dtype(t) for t in ("uint8", "uint16", "uint32", "uint64"))
INTEGERS = SIGNED + UNSIGNED
BOOL = np.dtype(bool)
HALVES = (np.dtype("float16"), BFLOAT16)
FLOATS = (*HALVES, np.dtype("float32"), np.dtype("float64"))
COMPLEX = (np.dtype("complex64"), np.dtype("complex128"))
REALS = (BOOL, *INTEGERS, *FLOATS)
ALL = (*REALS, *COMPLEX)

# around every width of a vector, of several, and of the blocks strided operands go through
LENGTHS = (0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 257, 1000, 4099)
SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, -0.5, 1e-40, -1e-40, 3e38, -3e38, 100.0, -100.0)


def is_float(dtype):
    return dtype in FLOATS


def is_integer(dtype):
    return dtype in INTEGERS


def values(dtype, n, low=-4.0, high=4.0, seed=0):
    """n values of any dtype; integers get small ones and, every fifth, any."""
    rng = np.random.default_rng([seed, n, dtype.num % 1000])
    if dtype == BOOL:
        return rng.random(n) < 0.5
    if is_integer(dtype):
        info = np.iinfo(dtype)
        small = rng.integers(max(info.min, -9), 10, n)
        anything = rng.integers(info.min, info.max, n, dtype=dtype, endpoint=True)
        return np.where(np.arange(n) % 5 == 4, anything, small.astype(dtype))
    if dtype.kind == "c":
        return (rng.uniform(low, high, n) + 1j * rng.uniform(low, high, n)).astype(dtype)
    return rng.uniform(low, high, n).astype(dtype)


def layouts(a):
    """The values of a one-dimensional array as they may lie in memory: name, array."""
    n = len(a)
    spread = np.zeros(3 * n + 1, a.dtype)
    spread[1::3][:n] = a
    backwards = a[::-1].copy()
    shifted = np.zeros(n + 1, a.dtype)
    shifted[1:] = a
    return (
        ("contiguous", a.copy()),
        ("strided", spread[1::3][:n]),
        ("reversed", backwards[::-1]),
        ("shifted", shifted[1:]),
    )


def wide(a):
    """Exact values in the type to compute references in."""
    if a.dtype.kind == "c":
        return a.astype(np.complex128)
    return a.astype(np.longdouble) if a.dtype == np.float64 else a.astype(np.float64)


def assert_close(got, want, ulps, atol=0.0):
    """`want`, exact or nearly, rounds to `got` within `ulps` units of the last place of got's dtype."""
    dtype = got.dtype
    with np.errstate(all="ignore"):
        if dtype.kind == "c":
            size = np.abs(want).astype(np.float64)
            step = np.spacing(size.astype(np.float32 if dtype == np.complex64 else np.float64)).astype(np.float64)
            same = (got == want.astype(dtype)) | (np.isnan(got) & np.isnan(want))
            near = np.abs(got.astype(np.complex128) - want) <= ulps * step + atol
        else:
            rounded = want.astype(dtype)
            same = (got == rounded) | ((got != got) & (rounded != rounded))
            step = np.abs(np.spacing(rounded)).astype(np.float64)
            near = np.abs(got.astype(np.longdouble) - want) <= ulps * step + atol
        bad = ~(same | near)
    assert not bad.any(), f"{dtype}: got {got[bad][:5]}, want {want[bad][:5]}"


def assert_same(got, want):
    """Equal bit for bit, but for the sign and payload of NaN."""
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    with np.errstate(all="ignore"):
        bad = ~((got == want) | ((got != got) & (want != want)))
    assert not bad.any(), f"{got.dtype}: got {got[bad][:5]}, want {want[bad][:5]}"


def doubles(*numbers):
    return struct.pack(f"{len(numbers)}d", *numbers)


def factor(number, integer=0):
    """st_factor: a number as parameter, for floats and for integers."""
    number = complex(number)
    return struct.pack("2dq", number.real, number.imag, integer)


def bounds(low=None, high=None, int_low=None, int_high=None):
    """st_bounds of clamp."""
    has_low, has_high = low is not None or int_low is not None, high is not None or int_high is not None
    unsigned = [(n or 0) % 2**64 for n in (int_low, int_high)]
    return struct.pack("2d2Q2i", low or 0.0, high or 0.0, *unsigned, has_low, has_high)
