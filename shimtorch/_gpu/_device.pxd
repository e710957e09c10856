from cpython.object cimport PyObject

from .._core.tensor cimport Place, TensorBase
from .._kernels.kernels cimport st_loop, st_reduce
from .cudart cimport cudaStream_t
from .kernels cimport shim_nest

cdef class DevicePlace(Place):
    cdef readonly int index

    cdef cudaStream_t stream(self) except? NULL
    cdef int convert(self, TensorBase out, TensorBase source) except -1
    cdef int copy_in(self, TensorBase out, TensorBase source) except -1
    cdef int copy_out(self, TensorBase out, TensorBase source) except -1
    cdef int copy_across(self, TensorBase out, TensorBase source) except -1
    cdef int loop_on_cpu(self, st_loop loop, int n, PyObject** operands, const void* param, str name,
                         int code) except -1
    cdef int reduce_on_cpu(self, st_reduce kernel, TensorBase out, TensorBase a, unsigned long long dims,
                           const void* param, TensorBase indices, str name, int code) except -1

cdef int describe(shim_nest* nest, int n, PyObject** operands) except -1
