from cpython.object cimport PyObject

from .op cimport Op
from .tensor cimport TensorBase

cdef class InplaceOp(Op):
    cdef public Op base                # computes what is then copied in; None: forward itself writes
    cdef bint uses_self
    cdef bint minds_history            # the forward itself sees to tensors that require grad
    cdef bint minds_overlap            # the forward is right for elements that lie on each other

    cdef object invoke_composite(self, TensorBase t, PyObject** args, Py_ssize_t n, PyObject* kwnames)
    cdef object invoke_sparse(self, TensorBase t, int flags, PyObject** args, Py_ssize_t n, PyObject* kwnames)
