from .tensor cimport TensorBase

cdef class Deferred:
    cdef readonly str taker
    cdef readonly object make
    cdef readonly tuple about

    cdef TensorBase whole(self)

cdef list all_whole(object gradients)
