"""What a tensor is: dtypes, storage, TensorBase, the autograd graph and engine, Op, Generator, printing."""
from .declaring import METHODS, inplace_op, op
from .dtype import dtype
from .op import OPS
from .policy import policy
from .tensor import Size, TensorBase

__all__ = ["METHODS", "OPS", "Size", "Tensor", "TensorBase", "dtype", "inplace_op", "op", "policy"]


def __getattr__(name):
    if name == "Tensor":               # defined over this package
        from .._tensor import Tensor
        return Tensor
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
