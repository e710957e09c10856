from .._kernels.random cimport Stream

cdef class Generator(Stream):
    cdef readonly object device

cdef Generator as_generator(object generator, str function)
