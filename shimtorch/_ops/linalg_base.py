"""What the families of linear algebra share: checks in torch's words, and the way to LAPACK's stacks and back."""
import numpy as np

from .._core import threads
from .._core.dtype import scalar_type
from .._core.tensor import wrap_ndarray
from .._kernels import lapack  # noqa: F401
from .._kernels.lapack import stacked
from ._rules import conj
from .shape import merged_shape

lapack.load()
threads.apply()                        # LAPACK's library may have just been loaded


class LinAlgError(RuntimeError):
    """A matrix is singular or not positive-definite, or an algorithm did not converge."""


LinAlgError.__name__ = "_LinAlgError"


def check_matrix(A, name, what="input tensor A"):
    if A.dim() < 2:
        raise RuntimeError(f"{name}: The {what} must have at least 2 dimensions.")


def check_square(A, name):
    check_matrix(A, name)
    if A.shape[-1] != A.shape[-2]:
        raise RuntimeError(f"{name}: A must be batches of square matrices, but they are {A.shape[-2]} by {A.shape[-1]} "
                           "matrices")


def check_float(A, name, low=True):
    """Whether the elements are real or complex floating point numbers; low: half precision passes here."""
    if not (A.is_floating_point() or A.is_complex()):
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {scalar_type(A.dtype)}")
    if not low and A.dtype.itemsize < 4:
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {scalar_type(A.dtype)}")


def check_kernel(A, kernel):
    """Whether LAPACK has routines for the dtype."""
    if not (A.is_floating_point() or A.is_complex()) or A.dtype.itemsize < 4:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_type(A.dtype)}'")


def stack_of(A):
    """A new stack with the matrices of a tensor, in column order."""
    return stacked(A._ndarray())


def turned_stack(A):
    """A new stack with the transposed matrices of a tensor: its rows, one after another."""
    return np.array(A._ndarray(), order="C").reshape((count(A.shape[:-2]), A.shape[-2], A.shape[-1]))


def count(batch):
    """The number of matrices in a batch of a shape."""
    n = 1
    for size in batch:
        n *= size
    return n


def matrices(stack, batch):
    """The tensor (*batch, rows, columns) on a stack's memory."""
    return wrap_ndarray(stack.reshape(tuple(batch) + stack.shape[1:]).swapaxes(-1, -2))


def vectors(rows, batch):
    """The tensor (*batch, n) of an array of vectors, one for each matrix."""
    return wrap_ndarray(rows.reshape(tuple(batch) + rows.shape[1:]))


def array_of(x, dtype=None):
    """A tensor of vectors as a contiguous ndarray (matrices, n)."""
    array = np.ascontiguousarray(x._ndarray(), dtype)
    return array.reshape((count(x.shape[:-1]), x.shape[-1]))


def h(x):
    """The conjugate transposes."""
    return conj(x.transpose(-2, -1))


def batch_of(*tensors):
    """The common batch shape of several tensors of matrices."""
    shape = tuple(tensors[0].shape[:-2])
    for x in tensors[1:]:
        shape = merged_shape(shape, x.shape[:-2])
    return tuple(shape)


def expanded(x, batch):
    """x with its matrices broadcast to a batch shape."""
    return x if tuple(x.shape[:-2]) == tuple(batch) else x.expand(tuple(batch) + tuple(x.shape[-2:]))


def first_failure(infos):
    """(prefix for the message, info) of the first matrix whose info is not 0; None where there is none."""
    flat = infos.cpu()._ndarray().reshape(-1)
    bad = np.flatnonzero(flat)
    if not bad.size:
        return None
    return (f"(Batch element {bad[0]}): " if infos.dim() else ""), int(flat[bad[0]])


def not_differentiable(name):
    """A rule for what torch does not differentiate either."""
    def rule(g):
        raise NotImplementedError(f"the derivative for '{name}' is not implemented.")
    return rule
