from .tensor cimport INLINE_DIMS, TensorBase

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

cdef class SavedOutput:
    cdef TensorBase tensor
    cdef int nr

    cdef TensorBase unpack(self, Node node)

cdef object node_of(TensorBase t)
cdef int attach(TensorBase t, Node node, int nr) except -1
cdef int check_inplace(TensorBase t, bint recording) except -1
cdef int rebase(TensorBase t, Node node) except -1
cdef int unpack_check(TensorBase t, object version, Node node) except -1
cdef object fit(TensorBase g, int ndim, const Py_ssize_t* shape, int code, object where)
