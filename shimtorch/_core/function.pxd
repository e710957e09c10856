from .autograd cimport Node
from .tensor cimport TensorBase

cdef class FunctionNode(Node):
    cdef public object to_save, dirty_tensors, non_differentiable
    cdef public object needs_input_grad
    cdef public bint materialize_grads
    cdef list saved, versions
    cdef tuple slots                   # which of the arguments are tensors: edge i belongs to argument slots[i]
    cdef Py_ssize_t n_args
    cdef bint legacy                   # an old-style function: its methods are an instance's, which is the node
    cdef list input_info               # of an old-style function: (size, dtype) per tensor argument

    cdef object call_forward(self, object forward, object setup, tuple args)
    cdef object finish(self, object raw, tuple args, dict originals, bint recorded, bint volatile)
    cdef TensorBase with_history(self, TensorBase o, TensorBase source, bint dirty, int nr, int n, tuple args)
    cdef int check_dirty(self, tuple outputs) except -1
    cdef int save(self, tuple outputs, tuple args, dict originals) except -1
    cdef tuple saved_values(self)
    cdef tuple zeros_for_missing(self, tuple grads)
    cdef object apply_legacy(self, tuple grads, bint create)
    cdef list check_result(self, object result)
