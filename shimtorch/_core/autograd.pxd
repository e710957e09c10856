from .tensor cimport INLINE_DIMS, TensorBase
from .window cimport Window

cdef class Node:
    cdef long long seq                 # order of creation: backward visits nodes from the youngest to the oldest
    cdef tuple edges                   # where the gradients go: a Node, a leaf tensor, or None
    cdef int nrs_inline[4]
    cdef int* nrs                      # which output of that Node
    cdef int n_outputs
    cdef int ndim0                     # shape and dtype of output 0; of all outputs in `shapes` and `codes` if several
    cdef int code0
    cdef Py_ssize_t shape0[6]
    cdef list shapes
    cdef list codes
    cdef dict tensor_hooks             # output number -> dict of hooks
    cdef dict retained                 # output number -> weak reference to the tensor that keeps its gradient
    cdef object pre_hooks
    cdef object post_hooks
    cdef bint freed
    cdef dict notes
    cdef dict __dict__
    cdef object __weakref__

    cdef int set_edges(self, list tensors) except -1
    cdef int set_outputs(self, object result) except -1
    cdef int describe(self, TensorBase t, int nr, int n) except -1
    cdef object apply(self, object g, bint create)
    cdef void release(self)

cdef void renew(Node node) noexcept
cdef object node_of(TensorBase t)
cdef object leaf_or_node(TensorBase t)
cdef dict extras_of(TensorBase t)
cdef bint ordered_leaves() noexcept
cdef bint anomaly_on() noexcept
cdef bint anomaly_checks_nan() noexcept
cdef Node swap_evaluating(Node node)
cdef int attach(TensorBase t, Node node, int nr) except -1
cdef int check_inplace(TensorBase t, bint recording) except -1
cdef int check_write(TensorBase t, bint recording) except -1
cdef int rebase(TensorBase t, Node node, int slot=*) except -1
cdef object user_call(object f, tuple args)
cdef object run_hooks(object hooks, object g)
cdef object run_pre_hooks(Node node, object grads)
cdef object run_post_hooks(Node node, object result, object grads)
cdef int retain_grad(TensorBase t) except -1
