from .._kernels.random cimport Stream

cdef class Generator(Stream):
    cdef readonly object device
    cdef readonly object there         # of a generator for a device: what draws (see _gpu/generators.py), else None

cdef Generator as_generator(object generator, str function)
cdef Generator cpu_generator(object generator, str function)
