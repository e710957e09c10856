"""unfold and fold: sliding windows as columns, and columns added up again."""

from ..._ops.columns import fold_columns, unfold_columns
from .windows import batched, ntuple


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """The windows of (N, C, H, W) as columns (N, C * kH * kW, places)."""
    x, had_batch = batched(input, 2, "unfold")
    kernel, stride = ntuple(kernel_size, 2, "kernel_size"), ntuple(stride, 2, "stride")
    dilation, padding = ntuple(dilation, 2, "dilation"), ntuple(padding, 2, "padding")
    columns = unfold_columns(x, kernel, dilation, padding, stride)
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
    result = fold_columns(x, size, kernel, dilation, padding, stride)
    return result if had_batch else result.squeeze(0)
