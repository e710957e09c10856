"""What the sparse kernels share: their element types, index sets, and views of NumPy arrays as raw memory."""

cimport numpy as cnp
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t

from shimtorch._kernels.kernels cimport (
    ST_BOOL, ST_COMPLEX64, ST_COMPLEX128, ST_FLOAT32, ST_FLOAT64, ST_INT8, ST_INT16, ST_INT32, ST_INT64, ST_UINT8,
)


cdef extern from "<stdbool.h>" nogil:
    ctypedef int cbool "bool"       # one byte, 0 or 1; converting to it asks "is it non-zero?"

# Sums treat a complex number as a pair of reals, so they need no complex case.
cdef fused real_t:
    float
    double
    int64_t
    int32_t
    int16_t
    int8_t
    uint8_t
    cbool

# Products do.
cdef fused number_t:
    float
    double
    float complex
    double complex
    int64_t
    int32_t
    int16_t
    int8_t
    uint8_t

ctypedef struct IndexSet:
    # Coordinates of `nnz` entries in `dims` dimensions: coordinate d of entry x is at data[d*dim_step + x*entry_step].
    const int64_t* data
    Py_ssize_t dims
    Py_ssize_t nnz
    Py_ssize_t dim_step
    Py_ssize_t entry_step


cdef inline int dtype_code(cnp.ndarray a) except -1:
    """ST_ code of an array's dtype; TypeError when the sparse kernels do not take it."""
    cdef int number = cnp.PyArray_TYPE(a)
    if number == cnp.NPY_FLOAT32:
        return ST_FLOAT32
    if number == cnp.NPY_FLOAT64:
        return ST_FLOAT64
    if number == cnp.NPY_COMPLEX64:
        return ST_COMPLEX64
    if number == cnp.NPY_COMPLEX128:
        return ST_COMPLEX128
    if number == cnp.NPY_INT64:
        return ST_INT64
    if number == cnp.NPY_INT32:
        return ST_INT32
    if number == cnp.NPY_INT16:
        return ST_INT16
    if number == cnp.NPY_INT8:
        return ST_INT8
    if number == cnp.NPY_UINT8:
        return ST_UINT8
    if number == cnp.NPY_BOOL:
        return ST_BOOL
    raise TypeError(f"sparse kernels do not take values of dtype {a.dtype}")


cdef inline int64_t* int64_data(cnp.ndarray a) except? NULL:
    """Memory of a contiguous int64 array."""
    if cnp.PyArray_TYPE(a) != cnp.NPY_INT64 or not cnp.PyArray_ISCARRAY_RO(a):
        raise TypeError("expected a C-contiguous int64 array")
    return <int64_t*>cnp.PyArray_DATA(a)


cdef inline void* contiguous_data(cnp.ndarray a) except? NULL:
    """Memory of a C-contiguous array of any dtype."""
    if not cnp.PyArray_ISCARRAY_RO(a):
        raise TypeError("expected a C-contiguous array")
    return cnp.PyArray_DATA(a)


cdef inline int index_set(cnp.ndarray indices, IndexSet* out) except -1:
    """View a (dims, nnz) int64 array of any strides as an IndexSet."""
    if cnp.PyArray_TYPE(indices) != cnp.NPY_INT64 or cnp.PyArray_NDIM(indices) != 2:
        raise TypeError("indices must be a 2-d int64 array")
    if not cnp.PyArray_ISALIGNED(indices) or cnp.PyArray_ISBYTESWAPPED(indices):
        raise TypeError("indices must be aligned and of native byte order")
    cdef Py_ssize_t step0 = cnp.PyArray_STRIDE(indices, 0)
    cdef Py_ssize_t step1 = cnp.PyArray_STRIDE(indices, 1)
    if step0 % 8 or step1 % 8:
        raise TypeError("strides of indices must be multiples of 8 bytes")
    out.data = <const int64_t*>cnp.PyArray_DATA(indices)
    out.dims = cnp.PyArray_DIM(indices, 0)
    out.nnz = cnp.PyArray_DIM(indices, 1)
    out.dim_step = step0 // 8
    out.entry_step = step1 // 8
    return 0


cdef enum:
    MAX_DIMS = 64


cdef inline int read_sizes(sizes, int64_t* out) except -1:
    """Copy a sequence of at most MAX_DIMS sizes, none negative; returns how many there are."""
    cdef int n = len(sizes)
    cdef int d
    if n > MAX_DIMS:
        raise ValueError(f"more than {MAX_DIMS} dimensions")
    for d in range(n):
        out[d] = sizes[d]
        if out[d] < 0:
            raise ValueError(f"negative size {out[d]} for dim {d}")
    return n
