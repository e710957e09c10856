"""``torch.onnx.operators``: functions that an exporter would treat as one operator."""
from .._core.factory import tensor

__all__ = ["reshape_from_tensor_shape", "shape_as_tensor"]


def shape_as_tensor(x):
    """The shape of *x* as an int64 tensor."""
    return tensor(list(x.shape))


def reshape_from_tensor_shape(x, shape):
    """*x* in the shape that the elements of the tensor *shape* give."""
    return x.reshape(shape.tolist())
