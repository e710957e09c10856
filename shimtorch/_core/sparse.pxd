from libc.stdint cimport int64_t

from .tensor cimport TensorBase
from .._kernels.sparsetypes cimport IndexSet

cdef enum:
    EMPTY_ROWS = 8              # rows per entry from which a row pointer costs more than it saves

cdef class CooParts:
    cdef readonly TensorBase indices       # (sparse_dim, nnz) int64, without history
    cdef readonly TensorBase values        # (nnz, ...), without history
    cdef readonly bint coalesced           # the indices ascend and none repeats
    cdef int dims
    cdef bint crosswise                    # of a matrix: it is a transposed coalesced one
    cdef bint within                       # the indices were seen to lie within the sizes ...
    cdef size_t version                    # ... when their storage had this version
    cdef public TensorBase pointer                # of a coalesced matrix: where each row begins
    cdef public tuple transposed                  # ... and the transpose: pointer, columns, order of the entries
    cdef int transposed_uses
    cdef TensorBase narrow                 # ... and its columns in 32 bits, for products with vectors
    cdef int vector_uses

    cdef int check(self, TensorBase t) except -1
    cdef int entries(self, IndexSet* out) except -1

cdef CooParts coo_parts(TensorBase t)
cdef TensorBase new_indices(Py_ssize_t dims, Py_ssize_t nnz)
cdef TensorBase trusted(TensorBase t)
cdef TensorBase new_coo(TensorBase indices, TensorBase values, int ndim, const Py_ssize_t* shape, bint coalesced)
cdef TensorBase dense(TensorBase t)
cdef int check_same_place(TensorBase a, TensorBase b) except -1
cdef int kernel_code(int code) except -1
cdef TensorBase kernel_values(TensorBase values, int code)
cpdef TensorBase with_values(TensorBase t, TensorBase values, bint coalesced=?)
