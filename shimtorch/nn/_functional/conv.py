"""Convolutions and their transposes."""

from functools import lru_cache

from ... import _ops
from ..._ops.convolution import conv_gather, conv_spread
from .windows import batched, folded, laid_like, ntuple, product, windows, zero_padded


def _join(sizes):
    return " x ".join(map(str, sizes))


def _c_type(x):
    name = x.dtype.name
    return {"int64": "long int", "int32": "int", "int16": "short int", "int8": "signed char", "uint8": "unsigned char",
            "float32": "float", "float64": "double", "float16": "c10::Half", "bfloat16": "c10::BFloat16",
            "complex64": "c10::complex<float>", "complex128": "c10::complex<double>"}.get(name, name)


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
    if bias is not None and bias.dtype is not input.dtype:
        names = [_c_type(t) for t in (input, bias)]
        raise RuntimeError(f"Input type ({names[0]}) and bias type ({names[1]}) should be the same")
    if weight.size(0) < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight of size "
            f"{list(weight.shape)} instead"
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
    return tuple(t // 2 for t in total), tuple(t - t // 2 for t in total)


@lru_cache(maxsize=1024)
def _geometry(n, shape, weight_shape, stride, padding, dilation):
    """The sizes of a convolution's result, and the padding before and after, for an input (N, C, ...) of a shape."""
    if min(stride) <= 0:
        raise RuntimeError("non-positive stride is not supported")
    if min(dilation) <= 0:
        raise RuntimeError("dilation should be greater than zero")
    size, kernel = shape[2:], weight_shape[2:]
    if padding == "same":
        before, after = _same_padding(kernel, stride, dilation)
    elif padding == "valid":
        before = after = (0,) * n
    else:
        before = after = padding
        if min(before) < 0:
            raise RuntimeError("negative padding is not supported")
    padded = [s + b + a for s, b, a in zip(size, before, after, strict=True)]
    extent = [d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)]
    if any(s < e for s, e in zip(padded, extent, strict=True)):
        raise RuntimeError(
            f"Calculated padded input size per channel: ({_join(padded)}). Kernel size: ({_join(extent)}). "
            "Kernel size can't be greater than actual input size"
        )
    return tuple((p - e) // s + 1 for p, e, s in zip(padded, extent, stride, strict=True)), before, after


def _conv(n, input, weight, bias, stride, padding, dilation, groups):
    x, had_batch = batched(input, n, f"conv{n}d")
    _check(x, weight, bias, groups, n, weight.size(1) * groups, weight.size(0))
    if weight.size(0) % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of "
            f"size {list(weight.shape)} instead"
        )
    stride, dilation = ntuple(stride, n, "stride"), ntuple(dilation, n, "dilation")
    if padding != "same" and padding != "valid":
        padding = ntuple(padding, n, "padding")
    out, before, after = _geometry(n, x.shape, weight.shape, stride, padding, dilation)
    if x.is_floating_point():
        result = conv_gather(x, weight, bias, out, stride, before, dilation, groups)
    elif x.is_complex():
        result = _complex(conv_gather, x, weight, bias, out, stride, before, dilation, groups)
    else:
        x = zero_padded(x, before, after)
        result = _with_bias(_integer_conv(n, x, weight, out, stride, dilation, groups), bias, n)
    return laid_like(x, result) if had_batch else result.squeeze(0)


def _complex(conv, x, weight, bias, *arguments):
    """A convolution of complex numbers by three of real ones."""
    real, imag = conv(x.real, weight.real, None, *arguments), conv(x.imag, weight.imag, None, *arguments)
    both = conv(x.real + x.imag, weight.real + weight.imag, None, *arguments)
    result = _ops.complex(real - imag, both - real - imag)
    return _with_bias(result, bias, x.dim() - 2)


def _integer_conv(n, x, weight, out, stride, dilation, groups):
    view = windows(x, weight.shape[2:], stride, dilation)
    # (N, G, places, C/G * kernel) times (G, C/G * kernel, O/G): one product for each group.
    order = [0, 1, *range(3, 3 + n), 2, *range(3 + n, 3 + 2 * n)]
    columns = view.reshape(x.size(0), groups, -1, *view.shape[2:]).permute(order)
    columns = columns.reshape(x.size(0), groups, product(out), -1)
    matrix = weight.reshape(groups, weight.size(0) // groups, -1).transpose(1, 2)
    return columns.matmul(matrix).transpose(2, 3).reshape(x.size(0), weight.size(0), *out)


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
    out = tuple(
        (i - 1) * s + d * (k - 1) + 1 - 2 * p + e
        for i, s, d, k, p, e in zip(x.shape[2:], stride, dilation, kernel, padding, extra, strict=True)
    )
    if any(o < 1 for o in out):
        raise RuntimeError(
            f"Given input size per channel: ({_join(x.shape[2:])}). Calculated output size per channel: "
            f"({_join(out)}). Output size is too small"
        )
    if x.is_floating_point():
        result = conv_spread(x, weight, bias, out, stride, padding, dilation, groups)
    elif x.is_complex():
        result = _complex(conv_spread, x, weight, bias, out, stride, padding, dilation, groups)
    else:
        result = _integer_transpose(n, x, weight, out, stride, padding, dilation, groups)
        result = _with_bias(result, bias, n)
    return laid_like(x, result) if had_batch else result.squeeze(0)


def _integer_transpose(n, x, weight, out, stride, padding, dilation, groups):
    kernel, places = weight.shape[2:], x.shape[2:]
    # (G, O/G * kernel, C/G) times (N, G, C/G, places), then every window added to its place.
    matrix = weight.reshape(groups, weight.size(0) // groups, -1).transpose(1, 2)
    columns = matrix.matmul(x.reshape(x.size(0), groups, weight.size(0) // groups, -1))
    columns = columns.reshape(x.size(0), weight.size(1) * groups, *kernel, *places)
    columns = columns.permute(0, 1, *range(2 + n, 2 + 2 * n), *range(2, 2 + n))
    full = [(o - 1) * s + d * (k - 1) + 1 for o, s, d, k in zip(places, stride, dilation, kernel, strict=True)]
    result = folded(columns, full, stride, dilation)
    return zero_padded(result, [-p for p in padding], [o + p - f for o, p, f in zip(out, padding, full, strict=True)])


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
