"""Discrete Fourier transforms on a device, as products of matrices by cuBLAS.

A transform of p * q elements is q transforms of p, a twist, and p transforms of q. Those of up to ``SHORT`` elements
are products with a matrix of roots of unity; what cannot be divided so far (prime numbers above) is a convolution,
which transforms of powers of 2 compute.
"""
from math import pi, prod, sqrt

from .._core import OPS
from .._core.dtype import complex64, complex128, float64

SHORT = 64


def _turns(count, n, sign, x):
    """exp(sign * 2 pi i * count / n) for a tensor of whole numbers, in the dtype of x."""
    angle = count.remainder(n).to(float64) * (sign * 2 * pi / n)
    return OPS["torch.polar"](OPS["torch.ones_like"](angle), angle).to(x.dtype)


def _whole(n, x):
    return OPS["torch.arange"](n, device=x.device)


def _radix(n):
    """The largest factor of n up to SHORT: 1 for a prime number above."""
    for p in range(SHORT, 1, -1):
        if n % p == 0:
            return p
    return 1


def _along(x, sign):
    """The transforms, not scaled, of the rows of x (rows, n)."""
    rows, n = x.shape
    if n <= SHORT:
        j = _whole(n, x)
        return x.matmul(_turns(j.unsqueeze(1) * j, n, sign, x))
    p = _radix(n)
    if p == 1:
        return _by_convolution(x, sign)
    q = n // p
    j = _whole(p, x)
    inner = x.reshape(rows, p, q).transpose(1, 2).matmul(_turns(j.unsqueeze(1) * j, p, sign, x))     # (rows, q, p)
    inner = inner * _turns(_whole(q, x).unsqueeze(1) * j, n, sign, x)
    outer = _along(inner.transpose(1, 2).reshape(rows * p, q), sign)
    return outer.reshape(rows, p, q).transpose(1, 2).reshape(rows, n)


def _by_convolution(x, sign):
    """``_along`` for any n: since 2 j k = j^2 + k^2 - (k - j)^2, it is a convolution with a chirp."""
    rows, n = x.shape
    size = 1 << (2 * n - 2).bit_length()                     # of at least 2 n - 1
    j = _whole(n, x)
    chirp = _turns(j * j, 2 * n, sign, x)
    left, right = x.new_zeros((rows, size)), x.new_zeros((1, size))
    left.narrow(1, 0, n).copy_(x * chirp)
    right[0, :n] = chirp.conj()
    right[0, size - n + 1:] = chirp[1:].flip(0).conj()
    product = _along(_along(left, -1) * _along(right, -1), 1)
    return product.narrow(1, 0, n) * (chirp / size)


def _transformed(x, dims, sign):
    """The transforms of complex x along dimensions, not scaled."""
    for d in dims:
        moved = x.movedim(d, -1)
        shape = tuple(moved.shape)
        x = _along(moved.reshape(prod(shape[:-1]), shape[-1]), sign).reshape(shape).movedim(-1, d)
    return x


def _scaled(x, n, scale):
    if scale == "none":
        return x
    return x / (n if scale == "all" else sqrt(n))


def _c2c(x, dims, scale, forward):
    n = prod(x.shape[d] for d in dims)
    return _scaled(_transformed(x, dims, -1 if forward else 1), n, scale).contiguous()


def _r2c(x, dims, scale, forward):
    n, last = prod(x.shape[d] for d in dims), dims[-1]
    x = x.to(complex128 if x.dtype is float64 else complex64)
    x = _transformed(x, (last,), -1).narrow(last, 0, x.shape[last] // 2 + 1)
    x = _scaled(_transformed(x, dims[:-1], -1), n, scale).contiguous()
    return x if forward else x.conj().resolve_conj()


def _c2r(x, dims, scale, forward, last):
    if forward:
        x = x.conj()
    d = dims[-1]
    x = _transformed(x, dims[:-1], 1)
    mirrored = x.narrow(d, 1, (last - 1) // 2).flip(d).conj()
    x = _transformed(OPS["torch.cat"]([x, mirrored], d), (d,), 1)
    return _scaled(OPS["torch.real"](x), prod(x.shape[i] for i in dims), scale).contiguous()
