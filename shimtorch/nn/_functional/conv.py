"""Convolutions and their transposes; unfold and fold."""

from .padding import pad
from .windows import batched, folded, ntuple, product, windows, zero_padded


def _join(sizes):
    return " x ".join(map(str, sizes))


def _check(input, weight, bias, groups, n, channels, out_channels):
    if weight.dim() != n + 2:
        raise RuntimeError(
            f"expected {n + 2}-dimensional weight, but got {weight.dim()}-dimensional weight of size "
            f"{list(weight.shape)} instead"
        )
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    if weight.dtype is not input.dtype:
        names = [str(t.type()).rpartition(".")[2] for t in (input, weight)]
        raise RuntimeError(
            f"Input type (torch.{names[0]}) and weight type (torch.{names[1]}) should be the same or "
            "input should be a MKLDNN tensor and weight is a dense tensor"
        )
    if input.size(1) != channels:
        raise RuntimeError(
            f"Given groups={groups}, weight of size {list(weight.shape)}, expected input{list(input.shape)} to have "
            f"{channels} channels, but got {input.size(1)} channels instead"
        )
    if bias is not None and (bias.dim() != 1 or bias.size(0) != out_channels):
        raise RuntimeError(
            f"Given weight of size {list(weight.shape)}, expected bias to be 1-dimensional with {out_channels} "
            f"elements, but got bias of size {list(bias.shape)} instead"
        )


def _with_bias(result, bias, n):
    return result if bias is None else result + bias.view(-1, *(1,) * n)


def _same_padding(kernel, stride, dilation):
    if any(s != 1 for s in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    total = [d * (k - 1) for k, d in zip(kernel, dilation, strict=True)]
    return [t // 2 for t in total], [t - t // 2 for t in total]


def _conv(n, input, weight, bias, stride, padding, dilation, groups):
    x, had_batch = batched(input, n, f"conv{n}d")
    _check(x, weight, bias, groups, n, weight.size(1) * groups, weight.size(0))
    if weight.size(0) % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of "
            f"size {list(weight.shape)} instead"
        )
    kernel = weight.shape[2:]
    stride, dilation = ntuple(stride, n, "stride"), ntuple(dilation, n, "dilation")
    if any(s <= 0 for s in stride):
        raise RuntimeError("non-positive stride is not supported")
    if any(d <= 0 for d in dilation):
        raise RuntimeError("dilation should be greater than zero")
    if padding == "same":
        before, after = _same_padding(kernel, stride, dilation)
    elif padding == "valid":
        before = after = [0] * n
    else:
        before = after = ntuple(padding, n, "padding")
        if any(p < 0 for p in before):
            raise RuntimeError("negative padding is not supported")
    x = zero_padded(x, before, after)
    if any(s < d * (k - 1) + 1 for s, k, d in zip(x.shape[2:], kernel, dilation, strict=True)):
        extent = [d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)]
        raise RuntimeError(
            f"Calculated padded input size per channel: ({_join(x.shape[2:])}). Kernel size: ({_join(extent)}). "
            "Kernel size can't be greater than actual input size"
        )
    view = windows(x, kernel, stride, dilation)
    batch, out = view.size(0), view.shape[2 : 2 + n]
    # (N, G, places, C/G * kernel) times (G, C/G * kernel, O/G): one product for each group.
    order = [0, 1, *range(3, 3 + n), 2, *range(3 + n, 3 + 2 * n)]
    columns = view.reshape(batch, groups, -1, *view.shape[2:]).permute(order)
    columns = columns.reshape(batch, groups, product(out), -1)
    matrix = weight.reshape(groups, weight.size(0) // groups, -1).transpose(1, 2)
    result = columns.matmul(matrix).transpose(2, 3).reshape(batch, weight.size(0), *out)
    result = _with_bias(result, bias, n)
    return result if had_batch else result.squeeze(0)


def _each_side(**values):
    """``name_height: 1 name_width: 2 ...`` for each of the values; one dimension counts as a width."""
    sides = ("depth", "height", "width")
    words = []
    for name, value in values.items():
        value = (1 if name != "output_padding" else 0, *value) if len(value) == 1 else value
        words += [f"{name}_{side}: {v}" for side, v in zip(sides[-len(value) :], value, strict=True)]
    return " ".join(words)


def _conv_transpose(n, input, weight, bias, stride, padding, output_padding, groups, dilation):
    x, had_batch = batched(input, n, f"conv_transpose{n}d")
    out_channels = weight.size(1) * groups
    _check(x, weight, bias, groups, n, weight.size(0), out_channels)
    kernel = weight.shape[2:]
    stride, dilation = ntuple(stride, n, "stride"), ntuple(dilation, n, "dilation")
    padding = ntuple(padding, n, "padding")
    extra = ntuple(output_padding, n, "output_padding")
    if any(e >= s and e >= d for e, s, d in zip(extra, stride, dilation, strict=True)):
        raise RuntimeError(
            "output padding must be smaller than either stride or dilation, but got "
            + _each_side(output_padding=extra, stride=stride, dilation=dilation)
        )
    batch, out = x.size(0), x.shape[2:]
    # (G, O/G * kernel, C/G) times (N, G, C/G, places), then every window added to its place.
    matrix = weight.reshape(groups, weight.size(0) // groups, -1).transpose(1, 2)
    columns = matrix.matmul(x.reshape(batch, groups, weight.size(0) // groups, -1))
    columns = columns.reshape(batch, out_channels, *kernel, *out)
    columns = columns.permute(0, 1, *range(2 + n, 2 + 2 * n), *range(2, 2 + n))
    full = [(o - 1) * s + d * (k - 1) + 1 for o, s, d, k in zip(out, stride, dilation, kernel, strict=True)]
    result = folded(columns, full, stride, dilation)
    result = zero_padded(result, [-p for p in padding], [e - p for e, p in zip(extra, padding, strict=True)])
    result = _with_bias(result, bias, n)
    return result if had_batch else result.squeeze(0)


def conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Cross-correlation of (N, C, L) with (O, C/groups, k); padding is a number, "valid" or "same"."""
    return _conv(1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Cross-correlation of (N, C, H, W) with (O, C/groups, kH, kW); padding is numbers, "valid" or "same"."""
    return _conv(2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Cross-correlation of (N, C, D, H, W) with (O, C/groups, kD, kH, kW)."""
    return _conv(3, input, weight, bias, stride, padding, dilation, groups)


def conv_transpose1d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """The transpose of conv1d: (N, C, L) with (C, O/groups, k)."""
    return _conv_transpose(1, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose2d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """The transpose of conv2d: (N, C, H, W) with (C, O/groups, kH, kW)."""
    return _conv_transpose(2, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose3d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """The transpose of conv3d: (N, C, D, H, W) with (C, O/groups, kD, kH, kW)."""
    return _conv_transpose(3, input, weight, bias, stride, padding, output_padding, groups, dilation)


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """The windows of (N, C, H, W) as columns (N, C * kH * kW, places)."""
    x, had_batch = batched(input, 2, "unfold")
    kernel, stride = ntuple(kernel_size, 2, "kernel_size"), ntuple(stride, 2, "stride")
    dilation, padding = ntuple(dilation, 2, "dilation"), ntuple(padding, 2, "padding")
    view = windows(pad(x, (padding[1], padding[1], padding[0], padding[0])), kernel, stride, dilation)
    columns = view.permute(0, 1, 4, 5, 2, 3).reshape(x.size(0), x.size(1) * kernel[0] * kernel[1], -1)
    return columns if had_batch else columns.squeeze(0)


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """Columns (N, C * kH * kW, places) added up into (N, C, *output_size): the transpose of unfold."""
    had_batch = input.dim() == 3
    x = input if had_batch else input.unsqueeze(0)
    size, kernel = ntuple(output_size, 2, "output_size"), ntuple(kernel_size, 2, "kernel_size")
    stride, dilation = ntuple(stride, 2, "stride"), ntuple(dilation, 2, "dilation")
    padding = ntuple(padding, 2, "padding")
    full = [s + 2 * p for s, p in zip(size, padding, strict=True)]
    out = [(f - d * (k - 1) - 1) // s + 1 for f, d, k, s in zip(full, dilation, kernel, stride, strict=True)]
    if x.size(1) % (kernel[0] * kernel[1]):
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
            f"input.size(1)={x.size(1)} and kernel_size=({kernel[0]}, {kernel[1]})."
        )
    if x.size(2) != out[0] * out[1]:
        raise RuntimeError(
            f"Given output_size=({size[0]}, {size[1]}), kernel_size=({kernel[0]}, {kernel[1]}), "
            f"dilation=({dilation[0]}, {dilation[1]}), padding=({padding[0]}, {padding[1]}), stride=({stride[0]}, "
            f"{stride[1]}), expected size of input's dimension 2 to match the calculated number of sliding blocks "
            f"{out[0]} * {out[1]} = {out[0] * out[1]}, but got input.size(2)={x.size(2)}."
        )
    columns = x.reshape(x.size(0), -1, *kernel, *out).permute(0, 1, 4, 5, 2, 3)
    result = folded(columns, full, stride, dilation)
    result = zero_padded(result, [-p for p in padding], [-p for p in padding])
    return result if had_batch else result.squeeze(0)
