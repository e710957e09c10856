"""Pooling: the maximum, the mean or a norm of sliding windows, or of a given number of cells."""

from functools import lru_cache

from ..._ops.pooling import pool_highest, pool_max, pool_mean
from .windows import batched, laid_like, ntuple, product


def _out_size(size, kernel, stride, padding, dilation, ceil_mode):
    covered = size + 2 * padding - dilation * (kernel - 1) - 1
    out = (-(-covered // stride) if ceil_mode else covered // stride) + 1
    if ceil_mode and (out - 1) * stride >= size + padding:
        out -= 1  # the last window must not start in the padding
    return out


def _refuse_empty(name, n, shape):
    """There may be no examples, but channels and places."""
    if n == 3:
        raise RuntimeError(
            f"{name}_with_indices_out_cpu_template(): Expected input's non-batch dimensions to have positive length, "
            f"but input has a shape of {list(shape)}"
        )
    prefix = f"{name}: " if n == 1 else ""
    raise RuntimeError(
        f"{prefix}Expected {n + 1}D or {n + 2}D (batch mode) tensor with optional 0 dim batch size for input, but "
        f"got:{list(shape)}"
    )


@lru_cache(maxsize=1024)
def _out_sizes(name, n, shape, kernel, stride, padding, dilation, ceil_mode):
    """The spatial sizes of the result of windows over an input (N, C, ...) of a shape."""
    if name == "max_pool1d":
        for what, value in (("kernel_size", kernel), ("stride", stride), ("dilation", dilation)):
            if value[0] <= 0:
                raise RuntimeError(f"max_pool1d() {what} must be greater than zero, but got {value[0]}")
    if min(stride) <= 0:
        raise RuntimeError("stride should not be zero")
    for p, k, d in zip(padding, kernel, dilation, strict=True):
        if k <= 0 or d <= 0:
            raise RuntimeError(f"{name}: kernel size and dilation must be positive, but got {k} and {d}")
        if p < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
        if p > ((k - 1) * d + 1) // 2:
            raise RuntimeError(
                f"pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and "
                f"dilation={d}"
            )
    channels, *size = shape[1:]
    if not channels or 0 in size:
        _refuse_empty(name, n, shape)
    out = tuple(_out_size(*each, ceil_mode) for each in zip(size, kernel, stride, padding, dilation, strict=True))
    if min(out) < 1:
        if name == "max_pool1d":
            raise RuntimeError(f"max_pool1d() Invalid computed output size: {out[0]}")
        raise RuntimeError(
            f"Given input size: ({'x'.join(map(str, (channels, *size)))}). Calculated output size: "
            f"({'x'.join(map(str, (channels, *out)))}). Output size is too small"
        )
    return out


def _sliding(name, n, input, kernel_size, stride, padding, dilation, ceil_mode, count_padding=True, divisor=0):
    """The input with a batch, whether it had one, the size of the result, and the windows as the ops take them."""
    if input.dim() not in (n + 1, n + 2):
        if n == 1:
            raise RuntimeError(
                f"{name}: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but "
                f"got:{list(input.shape)}"
            )
        raise RuntimeError(f"non-empty {n + 1}D or {n + 2}D (batch mode) tensor expected for input")
    x, had_batch = batched(input, n, name)
    kernel = ntuple(kernel_size, n, "kernel_size")
    stride = kernel if stride is None or (isinstance(stride, (list, tuple)) and not stride) else ntuple(
        stride, n, "stride")
    padding, dilation = ntuple(padding, n, "padding"), ntuple(dilation, n, "dilation")
    out = _out_sizes(name, n, x.shape, kernel, stride, padding, dilation, bool(ceil_mode))
    return x, had_batch, out, (kernel, stride, padding, dilation, count_padding, divisor)


def _maximum(x, had_batch, out, windows, return_indices):
    if not return_indices and not x.requires_grad:
        values = laid_like(x, pool_highest(x, out, windows))
        return values if had_batch else values.squeeze(0)
    values, indices = (laid_like(x, r) for r in pool_max(x, out, windows))
    if not had_batch:
        values, indices = values.squeeze(0), indices.squeeze(0)
    return (values, indices) if return_indices else values


def _max_pool(n, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices):
    given = _sliding(f"max_pool{n}d", n, input, kernel_size, stride, padding, dilation, ceil_mode)
    return _maximum(*given, return_indices)


def max_pool1d(
    input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False
):
    """The maximum of every window of (N, C, L), and with *return_indices* where it is."""
    return _max_pool(1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool2d(
    input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False
):
    """The maximum of every window of (N, C, H, W), and with *return_indices* where it is."""
    return _max_pool(2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool3d(
    input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False
):
    """The maximum of every window of (N, C, D, H, W), and with *return_indices* where it is."""
    return _max_pool(3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool1d_with_indices(
    input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False
):
    """max_pool1d with the indices."""
    return _max_pool(1, input, kernel_size, stride, padding, dilation, ceil_mode, True)


def max_pool2d_with_indices(
    input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False
):
    """max_pool2d with the indices."""
    return _max_pool(2, input, kernel_size, stride, padding, dilation, ceil_mode, True)


def max_pool3d_with_indices(
    input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False
):
    """max_pool3d with the indices."""
    return _max_pool(3, input, kernel_size, stride, padding, dilation, ceil_mode, True)


def _avg_pool(n, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    x, had_batch, out, windows = _sliding(
        f"avg_pool{n}d", n, input, kernel_size, stride, padding, 1, ceil_mode, count_include_pad, divisor_override or 0
    )
    if n == 3 and any(s < k for s, k in zip(x.shape[2:], windows[0], strict=True)):
        sizes = [" ".join(f"{p}{axis}: {s}" for axis, s in zip("THW", given, strict=True))
                 for p, given in (("", x.shape[2:]), ("k", windows[0]))]
        raise RuntimeError(f"input image ({sizes[0]}) smaller than kernel size ({sizes[1]})")
    result = laid_like(x, pool_mean(x, out, windows))
    return result if had_batch else result.squeeze(0)


def avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    """The mean of every window of (N, C, L)."""
    return _avg_pool(1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


def avg_pool2d(
    input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None
):
    """The mean of every window of (N, C, H, W), or its sum over *divisor_override*."""
    return _avg_pool(2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def avg_pool3d(
    input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None
):
    """The mean of every window of (N, C, D, H, W), or its sum over *divisor_override*."""
    return _avg_pool(3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def _lp_pool(n, input, norm_type, kernel_size, stride, ceil_mode):
    kernel = ntuple(kernel_size, n, "kernel_size")
    mean = _avg_pool(n, input.pow(norm_type), kernel, stride, 0, ceil_mode, True, None)
    return (mean.sign() * mean.abs().relu() * product(kernel)).pow(1.0 / norm_type)


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """The norm of every window of (N, C, L)."""
    return _lp_pool(1, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """The norm of every window of (N, C, H, W)."""
    return _lp_pool(2, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """The norm of every window of (N, C, D, H, W)."""
    return _lp_pool(3, input, norm_type, kernel_size, stride, ceil_mode)


def _adaptive_size(name, input, n, output_size):
    """The output size in all dimensions; one number is for all of them, None keeps a dimension."""
    if isinstance(output_size, (tuple, list)) and n > 1 and input.dim() <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
    if input.dim() not in (n + 1, n + 2):
        raise RuntimeError(f"{name}(): Expected {n + 1}D or {n + 2}D tensor, but got {list(input.shape)}")
    size = input.shape[-n:]
    if not isinstance(output_size, (tuple, list)):
        output_size = (output_size,) * n
    if len(output_size) != n:
        if n == 1:
            raise RuntimeError(f"{name}() argument 'output_size' should contain one int (got {len(output_size)})")
        raise RuntimeError(f"{name}: output_size must be {n}" if "avg" in name else
                           f"{name}(): internal error: output_size.size() must be {n}")
    out = tuple(s if o is None else o for s, o in zip(size, output_size, strict=True))
    if min(out) < 0:
        if "avg" in name:
            shown = "{" + ", ".join(map(str, (1, *out) if n == 1 else out)) + "}"
            raise RuntimeError(f"{'adaptive_avg_pool2d' if n == 1 else name}: elements of output_size must be greater "
                               f"than or equal to 0 but received {shown}")
        shape = [*input.shape[:-n], *(1,) * (n == 1), *out]
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(out)}: {shape}")
    return out


def _adaptive_avg(n, input, output_size):
    out = _adaptive_size(f"adaptive_avg_pool{n}d", input, n, output_size)
    x, had_batch = batched(input, n, f"adaptive_avg_pool{n}d")
    result = laid_like(x, pool_mean(x, out, None))
    return result if had_batch else result.squeeze(0)


def adaptive_avg_pool1d(input, output_size):
    """The mean of each of *output_size* cells of (N, C, L)."""
    return _adaptive_avg(1, input, output_size)


def adaptive_avg_pool2d(input, output_size):
    """The mean of each of *output_size* cells of (N, C, H, W); None keeps a dimension."""
    return _adaptive_avg(2, input, output_size)


def adaptive_avg_pool3d(input, output_size):
    """The mean of each of *output_size* cells of (N, C, D, H, W); None keeps a dimension."""
    return _adaptive_avg(3, input, output_size)


def _adaptive_max(n, input, output_size, return_indices):
    out = _adaptive_size(f"adaptive_max_pool{n}d", input, n, output_size)
    x, had_batch = batched(input, n, f"adaptive_max_pool{n}d")
    return _maximum(x, had_batch, out, None, return_indices)


def adaptive_max_pool1d_with_indices(input, output_size, return_indices=False):
    """adaptive_max_pool1d with the indices."""
    return _adaptive_max(1, input, output_size, True)


def adaptive_max_pool1d(input, output_size, return_indices=False):
    """The maximum of each of *output_size* cells of (N, C, L), and with *return_indices* where it is."""
    return _adaptive_max(1, input, output_size, return_indices)


def adaptive_max_pool2d_with_indices(input, output_size, return_indices=False):
    """adaptive_max_pool2d with the indices."""
    return _adaptive_max(2, input, output_size, True)


def adaptive_max_pool2d(input, output_size, return_indices=False):
    """The maximum of each of *output_size* cells of (N, C, H, W), and with *return_indices* where it is."""
    return _adaptive_max(2, input, output_size, return_indices)


def adaptive_max_pool3d_with_indices(input, output_size, return_indices=False):
    """adaptive_max_pool3d with the indices."""
    return _adaptive_max(3, input, output_size, True)


def adaptive_max_pool3d(input, output_size, return_indices=False):
    """The maximum of each of *output_size* cells of (N, C, D, H, W), and with *return_indices* where it is."""
    return _adaptive_max(3, input, output_size, return_indices)
