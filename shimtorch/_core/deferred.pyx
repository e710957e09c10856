"""Gradients that a derivative rule describes instead of writing them out."""
from .tensor cimport TensorBase


cdef class Deferred:
    """The gradient ``make(*about)``. Nodes of the name *taker* take the description, everything else the tensor.

    The loss of a classifier knows one number of a row, and the gradient of log_softmax needs no more: the matrix of
    zeros between the two is never made.
    """

    def __init__(self, str taker, make, tuple about):
        self.taker, self.make, self.about = taker, make, about

    cdef TensorBase whole(self):
        return <TensorBase?>self.make(*self.about)


cdef list all_whole(object gradients):
    """Gradients as tensors, or None."""
    return [(<Deferred>g).whole() if type(g) is Deferred else g for g in gradients]


def written(g):
    """The gradient as a tensor."""
    return (<Deferred>g).whole() if type(g) is Deferred else g
