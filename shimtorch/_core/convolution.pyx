"""Convolutions and their two gradients on tensors: the forwards of the ops of ``_ops/convolution.py``.

A convolution relates a big map (N, groups * b, *big) and a small one (N, groups * s, *small) through a weight
(groups * s, b, *kernel). ``gather`` makes the small map of the big one, ``spread`` the big one of the small one, and
``weigh`` sums up the products of both for every element of the weight.
"""
from .._kernels.conv cimport ST_CONV_GATHER, ST_CONV_SPREAD, ST_CONV_WEIGHT, st_conv_kernels, st_conv_shape
from .._kernels.scratch cimport release, scratch
from .._kernels.table cimport st_find_conv
from .dtype cimport BFLOAT16, FLOAT16, FLOAT32, dtype_of
from .iterate cimport as_code_tensor, contiguous_copy
from .tensor cimport MAX_DIMS, TensorBase, empty, ptr

from .dtype import scalar_type
from .products import linear_product, mm


cdef int fill(Py_ssize_t* to, object values, Py_ssize_t missing) except -1:
    """Up to three numbers, one a dimension; the dimensions that are not there come first."""
    cdef int n = len(values), i
    for i in range(3 - n):
        to[i] = missing
    for i in range(n):
        to[3 - n + i] = values[i]
    return 0


cdef TensorBase ready(TensorBase t, int code):
    """t as the kernels take it: contiguous, float or double."""
    t = as_code_tensor(t, code)
    return t if t.contiguous_ else contiguous_copy(t)


cdef TensorBase run(int what, TensorBase a, TensorBase b, TensorBase bias, tuple size, st_conv_shape* shape):
    """The result, of a size, of two operands (and a bias)."""
    cdef Py_ssize_t sizes[MAX_DIMS]
    cdef int code = FLOAT32 if a.code == FLOAT16 or a.code == BFLOAT16 else a.code, i, given = a.code
    cdef const st_conv_kernels* kernels = st_find_conv(code)
    cdef TensorBase r, x, y, z = None
    cdef void* work
    cdef void* out
    cdef const void* p
    cdef const void* q
    cdef const void* s = NULL
    if kernels == NULL:
        raise NotImplementedError(f"\"slow_conv{a.ndim_ - 2}d_cpu\" not implemented for "
                                  f"'{scalar_type(dtype_of(a.code))}'")
    x, y = ready(a, code), ready(b, code)
    if bias is not None:
        z = ready(bias, code)
        s = ptr(z)
    for i in range(len(size)):
        sizes[i] = size[i]
    r = empty(code, len(size), sizes)
    if r.count == 0:
        return as_code_tensor(r, given)
    work = scratch(kernels.work(what, shape))
    if work == NULL:
        raise MemoryError
    p, q, out = ptr(x), ptr(y), ptr(r)
    with nogil:
        kernels.run(what, shape, p, q, s, out, work)
    release(work)
    return as_code_tensor(r, given)


cdef int describe(st_conv_shape* shape, tuple small_size, tuple big_size, tuple kernel, stride, before,
                  dilation, Py_ssize_t groups) except -1:
    shape.batch, shape.groups = big_size[0], groups
    shape.small_channels, shape.big_channels = small_size[1] // groups, big_size[1] // groups
    fill(shape.small, small_size[2:], 1)
    fill(shape.big, big_size[2:], 1)
    fill(shape.kernel, kernel, 1)
    fill(shape.stride, stride, 1)
    fill(shape.dilation, dilation, 1)
    fill(shape.before, before, 0)
    return 0


cdef bint is_product(TensorBase map, tuple small, tuple big, tuple kernel, before, dilation,
                     Py_ssize_t groups) except -1:
    """Whether the small map has one position, which sees the whole big map: then all three are products of matrices."""
    cdef int i
    if groups != 1 or not map.count or st_find_conv(map.code) == NULL:
        return False
    for i in range(len(kernel)):
        if small[i] != 1 or before[i] != 0 or kernel[i] != big[i] or (dilation[i] != 1 and kernel[i] != 1):
            return False
    return True


cdef as_matrix(TensorBase t):
    """The rows of a map or weight."""
    return ready(t, t.code).view(t.shape_[0], t.count // t.shape_[0])


def gather(TensorBase big not None, TensorBase weight not None, TensorBase bias, tuple out, stride, before, dilation,
           Py_ssize_t groups):
    """The small map, with the spatial size ``out``."""
    cdef st_conv_shape shape
    cdef tuple size = (big.shape_[0], weight.shape_[0], *out)
    if is_product(big, out, tuple(big.size())[2:], tuple(weight.size())[2:], before, dilation, groups):
        return linear_product(as_matrix(big), as_matrix(weight), bias).view(size)
    describe(&shape, size, tuple(big.size()), tuple(weight.size())[2:], stride, before, dilation, groups)
    return run(ST_CONV_GATHER, big, weight, bias, size, &shape)


def spread(TensorBase small not None, TensorBase weight not None, TensorBase bias, tuple out, stride, before, dilation,
           Py_ssize_t groups):
    """The big map, with the spatial size ``out``."""
    cdef st_conv_shape shape
    cdef tuple size = (small.shape_[0], weight.shape_[1] * groups, *out)
    if is_product(small, tuple(small.size())[2:], out, tuple(weight.size())[2:], before, dilation, groups):
        r = mm(as_matrix(small), as_matrix(weight)).view(size)
        return r if bias is None else r.add_(bias.view(-1, *(1,) * len(out)))
    describe(&shape, tuple(small.size()), size, tuple(weight.size())[2:], stride, before, dilation, groups)
    return run(ST_CONV_SPREAD, small, weight, bias, size, &shape)


def weigh(TensorBase small not None, TensorBase big not None, tuple kernel, stride, before, dilation,
          Py_ssize_t groups):
    """What the weight of a spatial size ``kernel`` gets."""
    cdef st_conv_shape shape
    cdef tuple small_size = tuple(small.size()), big_size = tuple(big.size())
    if is_product(small, small_size[2:], big_size[2:], kernel, before, dilation, groups):
        return mm(as_matrix(small).t(), as_matrix(big)).view(small_size[1], big_size[1], *kernel)
    describe(&shape, small_size, big_size, kernel, stride, before, dilation, groups)
    return run(ST_CONV_WEIGHT, small, big, None, (small_size[1], big_size[1] // groups, *kernel), &shape)
