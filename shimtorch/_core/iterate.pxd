from cpython.object cimport PyObject

from .tensor cimport Place, TensorBase
from .._kernels.table cimport st_loop, st_reduce

cdef enum:
    MAX_OPERANDS = 5

cdef int broadcast_shape(TensorBase a, TensorBase b, Py_ssize_t* shape) except -1
cdef TensorBase alloc_result(int code, int ndim, const Py_ssize_t* shape, TensorBase a, TensorBase b)
cdef TensorBase alloc_at(Place place, TensorBase t)
cdef TensorBase alloc_alike(int code, int ndim, const Py_ssize_t* shape, TensorBase a, TensorBase b)
cdef int run_loop(st_loop loop, int n, PyObject** operands, const void* param) except -1
cdef int run_flat(st_loop loop, int n, char** ptrs, const Py_ssize_t* steps, Py_ssize_t count,
                  const void* param) except -1
cdef int run1(st_loop loop, TensorBase out, TensorBase a, const void* param) except -1
cdef int run2(st_loop loop, TensorBase out, TensorBase a, TensorBase b, const void* param) except -1
cdef int run3(st_loop loop, TensorBase out, TensorBase a, TensorBase b, TensorBase c, const void* param) except -1
cdef TensorBase as_code_tensor(TensorBase t, int code)
cdef TensorBase contiguous_copy(TensorBase t)
cdef int copy_into(TensorBase out, TensorBase source) except -1
cdef int reduce_into(st_reduce kernel, TensorBase out, TensorBase a, unsigned long long dims, const void* param,
                     TensorBase indices) except -1
