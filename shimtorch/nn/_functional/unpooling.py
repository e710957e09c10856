"""The inverse of max pooling, and max pooling over windows at random places."""

from ... import _ops
from ..._core.dtype import int64
from ..._ops.pooling import pool_put, pool_take
from .windows import laid_like, ntuple, product


def _unpool_size(input, kernel, stride, padding, output_size):
    """The spatial size of the result: the one asked for, if the windows can have come from it."""
    n = len(kernel)
    default = [(s - 1) * st - 2 * p + k
               for s, k, st, p in zip(input.shape[-n:], kernel, stride, padding, strict=True)]
    if output_size is None:
        return default
    if len(output_size) == n + 2:
        output_size = output_size[2:]
    if len(output_size) != n:
        raise ValueError(
            f"output_size should be a sequence containing {n} or {n + 2} elements, but it has a length of "
            f"'{len(output_size)}'"
        )
    for d in range(n):
        low, high = default[d] - stride[d], default[d] + stride[d]
        if not low < output_size[d] < high:
            raise ValueError(
                f'invalid output_size "{output_size}" (dim {d} must be between {low} and {high})'
            )
    return list(output_size)


def _max_unpool(n, input, indices, kernel_size, stride, padding, output_size):
    kernel = ntuple(kernel_size, n, "kernel_size")
    stride = kernel if stride is None else ntuple(stride, n, "stride")
    size = _unpool_size(input, kernel, stride, ntuple(padding, n, "padding"), output_size)
    if indices.dtype is not int64:
        raise RuntimeError(f"elements in indices should be type int64 but got: {indices.dtype}")
    if input.shape != indices.shape:
        raise RuntimeError(
            f"Expected shape of indices to be same as that of the input tensor ({list(input.shape)}) but got indices "
            f"tensor with shape: {list(indices.shape)}"
        )
    if input.dim() not in (n + 1, n + 2):
        raise RuntimeError(
            f"Input to max_unpooling{n}d should be a {n + 1}d or {n + 2}d Tensor, but got a tensor with {input.dim()} "
            "dimensions."
        )
    if input.dim() == n + 2:
        return laid_like(input, pool_put(input, indices, tuple(size), False))
    return pool_put(input.unsqueeze(0), indices.unsqueeze(0), tuple(size), False).squeeze(0)


def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """The elements of (N, C, L) put where max_pool1d found them; 0 elsewhere."""
    return _max_unpool(1, input, indices, kernel_size, stride, padding, output_size)


def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """The elements of (N, C, H, W) put where max_pool2d found them; 0 elsewhere."""
    return _max_unpool(2, input, indices, kernel_size, stride, padding, output_size)


def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """The elements of (N, C, D, H, W) put where max_pool3d found them; 0 elsewhere."""
    return _max_unpool(3, input, indices, kernel_size, stride, padding, output_size)


def _starts(sample, size, out, kernel):
    """Where *out* windows of a dimension start, (N, C, out): evenly, but for a random shift; the last at the end."""
    if out == 1:
        return sample.new_zeros((*sample.shape, 1), dtype=int64) + (size - kernel)
    alpha = (size - kernel) / (out - 1)
    at = _ops.arange(out, device=sample.device).to(sample.dtype)
    shift = sample.unsqueeze(-1)
    starts = ((at + shift) * alpha).to(int64) - (shift * alpha).to(int64)
    return _ops.cat([starts[..., :-1], sample.new_full((*sample.shape, 1), size - kernel, dtype=int64)], -1)


def _checked_samples(samples, x, n):
    """The samples (N, C, n) of the examples of x; there may be more of them."""
    if samples.dim() != 3:
        raise RuntimeError(f"Expect _random_samples to have 3 dimensions, got {samples.dim()}")
    if samples.size(0) < x.size(0):
        raise RuntimeError("Expect _random_samples.size(0) no less then input batch size.")
    if samples.size(1) != x.size(1):
        raise RuntimeError("Expect _random_samples.size(1) equals to input channel size.")
    if samples.size(2) != n:
        raise RuntimeError(f"Expect _random_samples.size(2) equals to {n}; got {samples.size(2)}.")
    return samples[: x.size(0)]


def _fractional(n, input, kernel_size, output_size, output_ratio, samples):
    name = f"fractional_max_pool{n}d"
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    kernel = ntuple(kernel_size, n, "kernel_size")
    x = input if input.dim() == n + 2 else input.unsqueeze(0)
    if x.dim() != n + 2:
        raise RuntimeError(
            f"{name}: Expected {n + 1}D or {n + 2}D tensor, but got: {list(input.shape)}"
        )
    size = x.shape[2:]
    if output_size is None:
        ratio = output_ratio if isinstance(output_ratio, (tuple, list)) else (output_ratio,) * n
        output_size = [int(s * r) for s, r in zip(size, ratio, strict=True)]
    out = ntuple(output_size, n, "output_size")
    for d, (s, k, o) in enumerate(zip(size, kernel, out, strict=True)):
        if o + k - 1 > s - (n == 3):
            side = ("time", "height", "width")[3 - n + d]
            form = "_out" if n == 3 else ""
            raise RuntimeError(f"{name}{form}(): pool {side} {k} too large relative to input {side} {s}")
    if samples is None:
        samples = _ops.rand(*x.shape[:2], n, dtype=x.dtype, device=x.device)
    samples = _checked_samples(samples, x, n)
    # The flat position of every element of every window, (N, C, *out, *kernel).
    places = x.new_zeros((), dtype=int64)
    for d in range(n):
        # The samples belong to the last dimension first.
        starts = _starts(samples[..., n - 1 - d if n == 2 else d], size[d], out[d], kernel[d])
        position = starts.unsqueeze(-1) + _ops.arange(kernel[d], dtype=int64, device=x.device)
        shape = [*x.shape[:2], *(1,) * (2 * n)]
        shape[2 + d], shape[2 + n + d] = out[d], kernel[d]
        places = places + position.view(shape) * product(size[d + 1 :])
    places = places.reshape(*x.shape[:2], *out, product(kernel))
    values, which = pool_take(x.flatten(2), places.flatten(2)).view(places.shape).max(-1)
    indices = places.gather(-1, which.unsqueeze(-1)).squeeze(-1)
    return (values, indices) if x is input else (values.squeeze(0), indices.squeeze(0))


def fractional_max_pool2d_with_indices(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
):
    """fractional_max_pool2d with the indices."""
    return _fractional(2, input, kernel_size, output_size, output_ratio, _random_samples)


def fractional_max_pool3d_with_indices(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
):
    """fractional_max_pool3d with the indices."""
    return _fractional(3, input, kernel_size, output_size, output_ratio, _random_samples)


def fractional_max_pool2d(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
):
    """The maximum of windows of (N, C, H, W) at random places, as many as output_size or output_ratio says."""
    result = _fractional(2, input, kernel_size, output_size, output_ratio, _random_samples)
    return result if return_indices else result[0]


def fractional_max_pool3d(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
):
    """The maximum of windows of (N, C, D, H, W) at random places, as many as output_size or output_ratio says."""
    result = _fractional(3, input, kernel_size, output_size, output_ratio, _random_samples)
    return result if return_indices else result[0]
