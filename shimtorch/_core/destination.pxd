from .tensor cimport Place, TensorBase

cdef TensorBase make_result(Place place, int code, int ndim, const Py_ssize_t* shape)
cdef TensorBase awaited_result(Place place, int code, int ndim, const Py_ssize_t* shape)
cdef int await_result(TensorBase out, bint pointwise, object args, object kwargs) except -1
cdef void forget_result() noexcept
cdef bint meet(TensorBase a, TensorBase b) noexcept
