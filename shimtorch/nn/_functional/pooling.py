"""Pooling: the maximum, the mean or a norm of sliding windows, or of a given number of cells."""

from ... import _ops
from ..._core.dtype import int64
from .windows import batched, ntuple, product, windows, zero_padded


def _out_size(size, kernel, stride, padding, dilation, ceil_mode):
    covered = size + 2 * padding - dilation * (kernel - 1) - 1
    out = (-(-covered // stride) if ceil_mode else covered // stride) + 1
    if ceil_mode and (out - 1) * stride >= size + padding:
        out -= 1  # the last window must not start in the padding
    return out


class _Pooling:
    """The arguments of a pooling, checked, and the padded windows."""

    def __init__(self, name, n, input, kernel_size, stride, padding, dilation, ceil_mode, fill):
        if input.dim() not in (n + 1, n + 2):
            if n == 1:
                raise RuntimeError(
                    f"{name}: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but "
                    f"got:{list(input.shape)}"
                )
            raise RuntimeError(f"non-empty {n + 1}D or {n + 2}D (batch mode) tensor expected for input")
        self.x, self.had_batch = batched(input, n, name)
        self.n = n
        self.kernel = ntuple(kernel_size, n, "kernel_size")
        self.stride = self.kernel if stride is None or stride == [] else ntuple(stride, n, "stride")
        self.padding = ntuple(padding, n, "padding")
        self.dilation = ntuple(dilation, n, "dilation")
        if any(s <= 0 for s in self.stride):
            raise RuntimeError("stride should not be zero")
        for p, k, d in zip(self.padding, self.kernel, self.dilation, strict=True):
            if p < 0:
                raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
            if p > ((k - 1) * d + 1) // 2:
                raise RuntimeError(
                    f"pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and "
                    f"dilation={d}"
                )
        size = self.x.shape[2:]
        arguments = zip(size, self.kernel, self.stride, self.padding, self.dilation, strict=True)
        self.out = [_out_size(*each, ceil_mode) for each in arguments]
        if min(self.out) < 1:
            channels = self.x.size(1)
            raise RuntimeError(
                f"Given input size: ({'x'.join(map(str, (channels, *size)))}). Calculated output size: "
                f"({'x'.join(map(str, (channels, *self.out)))}). Output size is too small"
            )
        # Behind the input so much that the last window fits.
        self.after = [
            max((o - 1) * s + (k - 1) * d + 1 - length - p, 0)
            for o, s, k, d, length, p in zip(
                self.out, self.stride, self.kernel, self.dilation, size, self.padding, strict=True
            )
        ]
        self.windows = self._windows(self.x, fill)

    def _windows(self, x, fill):
        """(N, C, *out, kernel places) of a tensor in the input's shape."""
        padded = zero_padded(x, self.padding, self.after, fill)
        view = windows(padded, self.kernel, self.stride, self.dilation)
        view = view[(slice(None), slice(None), *(slice(0, o) for o in self.out))]
        return view.reshape(*view.shape[: 2 + self.n], -1)

    def positions(self):
        """The flat position in the input of every element of the windows; -1 in the padding."""
        size = self.x.shape[2:]
        flat = _ops.tensor(list(range(product(size))), dtype=int64).view(1, 1, *size)
        return self._windows(flat, -1)

    def finish(self, result):
        """Without the batch dimension, if the input had none."""
        return result if self.had_batch else result.squeeze(0)


def _max_pool(n, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices):
    lowest = float("-inf") if input.is_floating_point() else -(2**31)
    pooling = _Pooling(f"max_pool{n}d", n, input, kernel_size, stride, padding, dilation, ceil_mode, lowest)
    values, places = pooling.windows.max(-1)
    if not return_indices:
        return pooling.finish(values)
    positions = pooling.positions()
    positions = positions.expand(*places.shape, positions.size(-1))
    indices = positions.gather(-1, places.unsqueeze(-1)).squeeze(-1)
    return pooling.finish(values), pooling.finish(indices)


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
    pooling = _Pooling(f"avg_pool{n}d", n, input, kernel_size, stride, padding, 1, ceil_mode, 0.0)
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    total = pooling.windows.sum(-1)
    if divisor_override is not None:
        return pooling.finish(total / divisor_override)
    plain = not any(pooling.padding) and not any(pooling.after)
    if plain or (count_include_pad and not any(a > p for a, p in zip(pooling.after, pooling.padding, strict=True))):
        return pooling.finish(total / pooling.windows.size(-1))
    # How many elements count: those of the input, and of its padding if that is to count.
    ones = pooling.x.new_full((1, 1, *pooling.x.shape[2:]), 1.0)
    if count_include_pad:
        grown = zero_padded(ones, pooling.padding, pooling.padding, 1.0)
        extra = [a - p for a, p in zip(pooling.after, pooling.padding, strict=True)]
        grown = zero_padded(grown, [0] * n, extra, 0.0)
        view = windows(grown, pooling.kernel, pooling.stride, pooling.dilation)
        view = view[(slice(None), slice(None), *(slice(0, o) for o in pooling.out))]
        counts = view.reshape(1, 1, *pooling.out, -1).sum(-1)
    else:
        counts = pooling._windows(ones, 0.0).sum(-1)
    return pooling.finish(total / counts)


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


def _cells(size, out):
    """Where the *out* cells of a dimension start and end; neighbours may overlap."""
    return [(i * size // out, -(-(i + 1) * size // out)) for i in range(out)]


def _adaptive_size(size, output_size):
    if not isinstance(output_size, (tuple, list)):
        output_size = (output_size,) * len(size)
    return [s if o is None else o for s, o in zip(size, output_size, strict=True)]


def _over_cells(reduce, tensors, size, dim=2):
    """``reduce`` of the cells of (N, C, ...) tensors, a tuple of (N, C) results, put together to (N, C, *size)."""
    if not size:
        return reduce(*tensors)
    parts = [
        _over_cells(reduce, [t.narrow(dim, a, b - a) for t in tensors], size[1:], dim + 1)
        for a, b in _cells(tensors[0].size(dim), size[0])
    ]
    return tuple(_ops.stack(part, 2) for part in zip(*parts, strict=True))


def _adaptive_avg(n, input, output_size):
    x, had_batch = batched(input, n, f"adaptive_avg_pool{n}d")
    dims = list(range(2, 2 + n))
    (result,) = _over_cells(lambda cell: (cell.mean(dims),), [x], _adaptive_size(x.shape[2:], output_size))
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


def _largest(cell, positions):
    values, places = cell.flatten(2).max(-1)
    return values, positions.flatten()[places]


def _adaptive_max(n, input, output_size, return_indices):
    x, had_batch = batched(input, n, f"adaptive_max_pool{n}d")
    size = x.shape[2:]
    positions = _ops.tensor(list(range(product(size))), dtype=int64).view(1, 1, *size)
    values, indices = _over_cells(_largest, [x, positions], _adaptive_size(size, output_size))
    if not had_batch:
        values, indices = values.squeeze(0), indices.squeeze(0)
    return (values, indices) if return_indices else values


def adaptive_max_pool1d(input, output_size, return_indices=False):
    """The maximum of each of *output_size* cells of (N, C, L), and with *return_indices* where it is."""
    return _adaptive_max(1, input, output_size, return_indices)


def adaptive_max_pool2d(input, output_size, return_indices=False):
    """The maximum of each of *output_size* cells of (N, C, H, W), and with *return_indices* where it is."""
    return _adaptive_max(2, input, output_size, return_indices)


def adaptive_max_pool3d(input, output_size, return_indices=False):
    """The maximum of each of *output_size* cells of (N, C, D, H, W), and with *return_indices* where it is."""
    return _adaptive_max(3, input, output_size, return_indices)
