from .tensor cimport TensorBase

cdef TensorBase make_view(TensorBase t, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides, Py_ssize_t offset)
cdef TensorBase select_dim(TensorBase self, int d, Py_ssize_t index)
cdef TensorBase slice_dim(TensorBase self, int d, Py_ssize_t start, Py_ssize_t length, Py_ssize_t step)
