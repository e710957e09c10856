"""Linear and bilinear maps."""

from ... import _ops

linear = _ops.linear


def bilinear(input1, input2, weight, bias=None):
    """``y[o] = input1 @ weight[o] @ input2 + bias[o]`` on the last dimension of both inputs."""
    if input1.dim() != input2.dim():
        raise RuntimeError(
            f"bilinear(): input dimensions do not match: got {input1.dim()} and {input2.dim()}"
        )
    for i, (a, b) in enumerate(zip(input1.shape[:-1], input2.shape[:-1], strict=True)):
        if a != b:
            raise RuntimeError(f"bilinear(): input batch dimensions do not match at dim {i}: got {a} and {b}")
    out, in1, in2 = weight.shape
    for which, value, expected in ((1, input1, in1), (2, input2, in2)):
        if value.size(-1) != expected:
            raise RuntimeError(
                f"bilinear(): input{which} size does not match weight size: got {value.size(-1)} but expected "
                f"{expected}"
            )
    if bias is not None and bias.size(0) != out:
        raise RuntimeError(f"bilinear(): bias size does not match weight size: got {bias.size(0)} but expected {out}")
    half = input1.reshape(-1, in1).matmul(weight.permute(1, 0, 2).reshape(in1, out * in2)).view(-1, out, in2)
    result = (half * input2.reshape(-1, 1, in2)).sum(-1, dtype=half.dtype).view(*input1.shape[:-1], out)
    return result if bias is None else result + bias
