from .tensor cimport TensorBase

cdef int result_code(object a, object b) except -1
