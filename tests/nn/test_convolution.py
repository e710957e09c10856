"""Convolutions of groups with few channels, and of maps that a kernel covers, against sums over taps by NumPy."""

import itertools

import numpy as np
import pytest

import shimtorch as torch
from shimtorch.nn import functional as F

# groups, channels of the big map and of the small one in a group, big size, kernel, stride, padding, dilation
CASES = [
    (1, 1, 1, (7,), (3,), (1,), (0,), (1,)),
    (5, 1, 1, (19,), (4,), (3,), (2,), (2,)),
    (1, 1, 10, (28, 28), (5, 5), (1, 1), (0, 0), (1, 1)),
    (6, 1, 1, (9, 11), (3, 3), (1, 1), (1, 1), (1, 1)),
    (6, 1, 1, (9, 11), (3, 3), (2, 2), (1, 1), (1, 1)),
    (3, 1, 1, (12, 13), (2, 5), (3, 4), (1, 2), (2, 1)),
    (3, 1, 2, (9, 7), (3, 3), (1, 2), (1, 0), (1, 2)),
    (4, 2, 3, (8, 9), (3, 2), (2, 1), (0, 1), (1, 1)),
    (1, 3, 7, (20, 19), (7, 7), (2, 2), (3, 3), (1, 1)),
    (1, 4, 5, (6, 70), (1, 1), (1, 1), (0, 0), (1, 1)),
    (2, 1, 1, (5, 6, 7), (2, 3, 2), (1, 2, 2), (1, 1, 0), (2, 1, 1)),
    (1, 2, 3, (4, 4), (1, 1), (3, 3), (0, 0), (1, 1)),
    # one position
    (1, 8, 5, (4, 4), (4, 4), (1, 1), (0, 0), (1, 1)),
    (1, 8, 5, (4, 4), (4, 4), (2, 2), (0, 0), (1, 1)),
    (1, 6, 4, (1, 1), (1, 1), (1, 1), (0, 0), (2, 2)),
    (1, 6, 4, (9,), (9,), (1,), (0,), (1,)),
]


def taps(small, kernel, stride, dilation):
    """For every tap: its index, and where of the small map it sees which part of the (padded) big one."""
    for tap in itertools.product(*map(range, kernel)):
        seen = tuple(
            slice(k * d, k * d + (n - 1) * s + 1, s)
            for k, d, n, s in zip(tap, dilation, small.shape[2:], stride, strict=True)
        )
        yield tap, (..., *seen)


def reference(x, w, groups, stride, padding, dilation):
    """The convolution, and the function that gives the gradients of input and weight for that of the result."""
    kernel = w.shape[2:]
    padded = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in padding)])
    size = [
        (n - d * (k - 1) - 1) // s + 1
        for n, k, s, d in zip(padded.shape[2:], kernel, stride, dilation, strict=True)
    ]
    out = np.zeros((x.shape[0], w.shape[0], *size))
    n_in, n_out = x.shape[1] // groups, w.shape[0] // groups
    for tap, seen in taps(out, kernel, stride, dilation):
        for g in range(groups):
            i, o = slice(g * n_in, (g + 1) * n_in), slice(g * n_out, (g + 1) * n_out)
            out[:, o] += np.einsum("ni...,oi->no...", padded[:, i][seen], w[(o, slice(None), *tap)])

    def gradients(g_out):
        dx, dw = np.zeros_like(padded), np.zeros_like(w)
        for tap, seen in taps(out, kernel, stride, dilation):
            for g in range(groups):
                i, o = slice(g * n_in, (g + 1) * n_in), slice(g * n_out, (g + 1) * n_out)
                dx[:, i][seen] += np.einsum("no...,oi->ni...", g_out[:, o], w[(o, slice(None), *tap)])
                axes = [0, *range(2, g_out.ndim)]
                dw[(o, slice(None), *tap)] = np.tensordot(g_out[:, o], padded[:, i][seen], (axes, axes))
        inner = (..., *(slice(p, p + n) for p, n in zip(padding, x.shape[2:], strict=True)))
        return dx[inner], dw

    return out, gradients


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("case", CASES)
def test_convolution_and_its_transpose(case, batch, dtype):
    groups, b, s, size, kernel, stride, padding, dilation = case
    rng = np.random.default_rng(len(size))
    x, w = rng.standard_normal((batch, groups * b, *size)), rng.standard_normal((groups * s, b, *kernel))
    out, gradients = reference(x, w, groups, stride, padding, dilation)
    g = rng.standard_normal(out.shape)
    dx, dw = gradients(g)
    near = {"rtol": 1e-4, "atol": 1e-4} if dtype == "float32" else {"rtol": 1e-10, "atol": 1e-10}
    bias = rng.standard_normal(groups * s)

    def leaf(a):
        return torch.tensor(a.astype(dtype), requires_grad=True)

    n, tx, tw, tb = len(size), leaf(x), leaf(w), leaf(bias)
    made = getattr(F, f"conv{n}d")(tx, tw, tb, stride, padding, dilation, groups)
    made.backward(torch.tensor(g.astype(dtype)))
    np.testing.assert_allclose(made.detach().numpy(), out + bias.reshape(-1, *(1,) * n), **near)
    np.testing.assert_allclose(tx.grad.numpy(), dx, **near)
    np.testing.assert_allclose(tw.grad.numpy(), dw, **near)

    # The transpose takes the gradient of the result to that of the input.
    extra = [
        i - ((o - 1) * st - 2 * p + d * (k - 1) + 1)
        for i, o, st, p, d, k in zip(size, out.shape[2:], stride, padding, dilation, kernel, strict=True)
    ]
    tg, tw, tb = leaf(g), leaf(w), leaf(rng.standard_normal(groups * b))
    made = getattr(F, f"conv_transpose{n}d")(tg, tw, tb, stride, padding, extra, groups, dilation)
    made.backward(torch.tensor(x.astype(dtype)))
    np.testing.assert_allclose(made.detach().numpy(), dx + tb.detach().numpy().reshape(-1, *(1,) * n), **near)
    np.testing.assert_allclose(tg.grad.numpy(), out, **near)
    np.testing.assert_allclose(tw.grad.numpy(), dw, **near)


def test_no_examples():
    x, w = torch.zeros(0, 6, 5, 5), torch.ones(6, 1, 3, 3, requires_grad=True)
    out = F.conv2d(x, w, groups=6)
    assert out.shape == (0, 6, 3, 3)
    out.sum().backward()
    assert w.grad.eq(0).all()
