from .autograd cimport Node
from .tensor cimport TensorBase

cdef class SavedOutput:
    cdef TensorBase tensor
    cdef int nr

    cdef TensorBase unpack(self, Node node)

cdef class PackedTensor:
    cdef object packed                 # what the pack hook returned
    cdef object unpack_hook
    cdef object source                 # the node that made the tensor, or the tensor itself if it is a leaf
    cdef int nr
    cdef bint own                      # it is an output of the node that saved it

    cdef TensorBase unpack(self, Node node)

cdef bint packing() noexcept
cdef object packed(TensorBase t)
cdef object packed_output(TensorBase t, int nr)
cdef int unpack_check(TensorBase t, object version, object maker, int nr) except -1
