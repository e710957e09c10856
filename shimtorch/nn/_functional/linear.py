"""Linear and bilinear maps."""

from ... import _ops
from ..._core.products import C_NAMES
from ..._ops.bilinear import bilinear_product

linear = _ops.linear


def bilinear(input1, input2, weight, bias=None):
    """``y[o] = input1 @ weight[o] @ input2 + bias[o]`` on the last dimension of both inputs."""
    if not input1.dtype is input2.dtype is weight.dtype:
        names = [C_NAMES[x.dtype.code] for x in (input1, input2, weight)]
        raise RuntimeError(
            f"All tensors must have the same dtype, got input1: {names[0]}, input2: {names[1]}, weight: {names[2]}"
        )
    if input1.dim() != input2.dim():
        raise RuntimeError(
            f"bilinear(): input dimensions do not match: got {input1.dim()} and {input2.dim()}"
        )
    for i, (a, b) in enumerate(zip(input1.shape[:-1], input2.shape[:-1], strict=True)):
        if a != b:
            raise RuntimeError(f"bilinear(): input batch dimensions do not match at dim {i}: got {a} and {b}")
    out, in1, in2 = weight.size(0), weight.size(1), weight.size(2)
    for which, value, expected in ((1, input1, in1), (2, input2, in2)):
        if value.size(-1) != expected:
            raise RuntimeError(
                f"bilinear(): input{which} size does not match weight size: got {value.size(-1)} but expected "
                f"{expected}"
            )
    if bias is not None and bias.size(0) != out:
        raise RuntimeError(f"bilinear(): bias size does not match weight size: got {bias.size(0)} but expected {out}")
    result = bilinear_product(input1, input2, weight)
    return result if bias is None else result + bias
