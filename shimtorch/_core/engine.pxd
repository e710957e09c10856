from .tensor cimport TensorBase

cdef object fit(TensorBase g, int ndim, const Py_ssize_t* shape, int code, object where, int index)
cdef int accumulate(TensorBase leaf, TensorBase g, bint create) except -1
