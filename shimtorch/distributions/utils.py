"""What the distributions share (torch.distributions.utils)."""

import math

from .. import _ops
from .._core import Tensor
from .._core.dtype import get_default_dtype

__all__ = ["broadcast_all", "clamp_probs", "euler_constant", "lazy_property", "logits_to_probs", "probs_to_logits",
           "tril_matrix_to_vec", "vec_to_tril_matrix"]

euler_constant = 0.57721566490153286060

# Per dtype: the distance from 1 to the next number, and the smallest normal number.
_LIMITS = {"float16": (2.0**-10, 2.0**-14), "bfloat16": (2.0**-7, 2.0**-126), "float32": (2.0**-23, 2.0**-126),
           "float64": (2.0**-52, 2.0**-1022)}


def eps_of(tensor):
    """The relative precision of a tensor's dtype."""
    return _LIMITS[tensor.dtype.name][0]


def tiny_of(tensor):
    """The smallest normal number of a tensor's dtype."""
    return _LIMITS[tensor.dtype.name][1]


def is_number(value):
    """Whether a parameter is a Python number."""
    return isinstance(value, (int, float, complex, bool))


def broadcast_all(*values):
    """Tensors and numbers as tensors of one shape; numbers take the dtype of the tensors, or the default dtype."""
    if not all(isinstance(v, Tensor) or is_number(v) for v in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__."
        )
    tensors = [v for v in values if isinstance(v, Tensor)]
    dtype = tensors[0].dtype if tensors else get_default_dtype()
    device = tensors[0].device if tensors else None
    made = [v if isinstance(v, Tensor) else _ops.tensor(v, dtype=dtype, device=device) for v in values]
    return list(_ops.broadcast_tensors(*made))


def _standard_normal(shape, dtype, device):
    """Normal numbers of mean 0 and variance 1."""
    return _ops.empty(shape, dtype=dtype, device=device).normal_()


def _sum_rightmost(value, dim):
    """The sum over the last *dim* dimensions."""
    return value if dim == 0 else value.reshape(value.shape[:-dim] + (-1,)).sum(-1)


def clamp_probs(probs):
    """Probabilities kept off 0 and 1 by the precision of their dtype."""
    eps = eps_of(probs)
    return probs.clamp(min=eps, max=1 - eps)


def logits_to_probs(logits, is_binary=False):
    """Probabilities of log-odds (``is_binary``), or of logarithms up to a constant along the last dimension."""
    return logits.sigmoid() if is_binary else logits.softmax(-1)


def probs_to_logits(probs, is_binary=False):
    """The inverse of ``logits_to_probs``."""
    clamped = clamp_probs(probs)
    return clamped.log() - (-clamped).log1p() if is_binary else clamped.log()


class lazy_property:
    """A property that is computed when it is first read, and kept then."""

    def __init__(self, wrapped):
        self.wrapped = wrapped
        self.__doc__ = wrapped.__doc__
        self.__name__ = wrapped.__name__

    def __get__(self, instance, owner=None):
        if instance is None:
            return _Described(self.wrapped)
        from ..autograd import enable_grad

        with enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


class _Described(lazy_property, property):
    """What the class shows of a lazy property."""

    def __init__(self, wrapped):
        property.__init__(self, wrapped)


def tril_matrix_to_vec(mat, diag=0):
    """The lower triangles of (..., D, D) matrices, row by row, as vectors."""
    n = mat.shape[-1]
    if diag < -n or diag >= n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, columns = _ops.tril_indices(n, n, diag, device=mat.device)
    return mat[..., rows, columns]


def vec_to_tril_matrix(vec, diag=0):
    """The inverse of ``tril_matrix_to_vec``."""
    n = (-(1 + 2 * diag) + math.sqrt((1 + 2 * diag) ** 2 + 8 * vec.shape[-1] + 4 * abs(diag) * (diag + 1))) / 2
    if round(n) - n > eps_of(vec):
        raise ValueError(f"The size of last dimension is {vec.shape[-1]} which cannot be expressed as the lower "
                         "triangular part of a square D x D matrix.")
    n = round(n)
    mat = vec.new_zeros((*vec.shape[:-1], n, n))
    rows, columns = _ops.tril_indices(n, n, diag)
    mat[..., rows, columns] = vec
    return mat
