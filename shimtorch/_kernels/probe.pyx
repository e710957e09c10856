"""Every C kernel of kernels.h on NumPy arrays, for tests and measurements; not used by the package itself.

Outputs are given by the caller with the dtype the kernel writes; inputs broadcast to the output's shape. Parameters
(`param`) are the bytes of the C struct or array the op reads.
"""

import numpy as np

cimport numpy as np

from .blas cimport blas_serves
from .kernels cimport ST_FLOAT32
from .table cimport (
    ST_NO_MEMORY,
    ST_NOT_IMPLEMENTED,
    ST_ZERO_DIVISION,
    st_cast,
    st_find,
    st_find_reduce,
    st_find_rows,
    st_gemm,
    st_loop,
    st_op,
    st_reduce,
    st_reduce_dtype,
    st_reduce_op,
    st_rows,
    st_rows_op,
)

from . import table


def has_blas():
    """Whether a BLAS was found in the process."""
    return bool(blas_serves(ST_FLOAT32))


DTYPES = (
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16",
    "float32", "float64", "complex64", "complex128", "uint16", "uint32", "uint64",
)


cdef dict codes = {}


def isa():
    """Name of the instruction set in use."""
    return table.isa()


cdef int code(dtype) except -1:
    if dtype not in codes:
        codes[dtype] = DTYPES.index(np.dtype(dtype).name)
    return codes[dtype]


cdef void *pointer(param) except? NULL:
    return NULL if param is None else <void *><char *>param


cdef int check(int status) except -1:
    if status == ST_ZERO_DIVISION:
        raise ZeroDivisionError("integer division by zero")
    if status == ST_NO_MEMORY:
        raise MemoryError()
    if status == ST_NOT_IMPLEMENTED:
        raise NotImplementedError("no kernel for this dtype")
    return 0


cdef int walk(st_loop loop, list operands, const void *param) except -1:
    """Run `loop` along the last axis, for every index of the axes before it."""
    cdef char *ptrs[8]
    cdef Py_ssize_t strides[8]
    cdef np.ndarray array, out = operands[0]
    cdef Py_ssize_t k, n = out.shape[out.ndim - 1]
    cdef int status = 0
    for index in np.ndindex(*(<object>out).shape[:out.ndim - 1]):
        for k in range(len(operands)):
            array = operands[k][index]
            ptrs[k] = array.data
            strides[k] = array.strides[0]
        with nogil:
            status |= loop(ptrs, strides, n, param)
    return status


def supports(str name, dtype):
    """Whether the pointwise op `name` has a loop for this input dtype."""
    return st_find(st_op(name.encode()), code(dtype)) != NULL


def run(str name, np.ndarray out, *inputs, param=None):
    """Run a pointwise op into `out`; the last input's dtype chooses the loop."""
    dtype = inputs[len(inputs) - 1].dtype
    cdef st_loop loop = st_find(st_op(name.encode()), code(dtype))
    if loop == NULL:
        raise NotImplementedError(f"{name} of {dtype}")
    first = np.atleast_1d(out)
    operands = [first, *(np.broadcast_to(np.atleast_1d(a), first.shape) for a in inputs)]
    check(walk(loop, operands, pointer(param)))
    return out


def cast(np.ndarray out, np.ndarray a):
    """Convert `a` into `out`."""
    check(walk(st_cast(code(a.dtype), code(out.dtype)), [np.atleast_1d(out), np.atleast_1d(a)], NULL))
    return out


def reduce_dtype(str name, dtype):
    """Dtype the reduction `name` writes for this input dtype, or None without a kernel."""
    cdef int out = st_reduce_dtype(st_reduce_op(name.encode()), code(dtype))
    return None if out < 0 else DTYPES[out]


def reduce(str name, np.ndarray out, np.ndarray a, int axis=1, param=None):
    """Reduce one axis of a two-dimensional array into the one-dimensional `out`."""
    cdef st_reduce kernel = st_find_reduce(st_reduce_op(name.encode()), code(a.dtype))
    if kernel == NULL:
        raise NotImplementedError(f"{name} of {a.dtype}")
    cdef void *p = pointer(param)
    cdef Py_ssize_t n_red = a.shape[axis], s_red = a.strides[axis]
    cdef Py_ssize_t n_out = a.shape[1 - axis], s_in = a.strides[1 - axis], s_out = out.strides[0]
    with nogil:
        kernel(out.data, a.data, n_red, s_red, n_out, s_in, s_out, p)
    return out


def rows(str name, np.ndarray out, *arrays):
    """Run a row op on two-dimensional arrays of one shape."""
    cdef st_rows kernel = st_find_rows(st_rows_op(name.encode()), code(out.dtype))
    if kernel == NULL:
        raise NotImplementedError(f"{name} of {out.dtype}")
    cdef char *ptrs[4]
    cdef Py_ssize_t row_strides[4]
    cdef Py_ssize_t col_strides[4]
    cdef np.ndarray array
    cdef Py_ssize_t k
    for k, array in enumerate((out, *arrays)):
        ptrs[k] = array.data
        row_strides[k] = array.strides[0]
        col_strides[k] = array.strides[1]
    check(kernel(ptrs, row_strides, col_strides, out.shape[0], out.shape[1]))
    return out


def gemm(np.ndarray out, np.ndarray a, np.ndarray b):
    """out = a @ b for matrices of one dtype."""
    check(st_gemm(
        code(a.dtype), out.shape[0], out.shape[1], a.shape[1],
        a.data, a.strides[0], a.strides[1], b.data, b.strides[0], b.strides[1],
        out.data, out.strides[0], out.strides[1],
    ))
    return out
