from .tensor cimport TensorBase

cdef int current_style() noexcept
cdef int fill(TensorBase t, object generator, str function, str kernel, int distribution, double a, double b) except -1
cdef object refuse_dtype(str kernel, TensorBase t)
