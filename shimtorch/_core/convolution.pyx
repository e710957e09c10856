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


cdef Py_ssize_t MOST = <Py_ssize_t>1 << 40                     # of anything in a dimension


cdef bint fill(Py_ssize_t* to, values, int n, Py_ssize_t missing, Py_ssize_t least) except -1:
    """n numbers, one a dimension; the dimensions that are not there come first. Whether they are fit."""
    cdef int i
    if len(values) != n:
        return False
    for i in range(3):
        to[i] = missing if i < 3 - n else values[i - 3 + n]
        if not least <= to[i] <= MOST:
            return False
    return True


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


cdef bint describe(st_conv_shape* shape, tuple small, tuple big, tuple weight, stride, before, dilation,
                   Py_ssize_t groups) except -1:
    """Fill in the sizes of the maps and of the weight, if they fit each other."""
    cdef int n = len(small) - 2
    if not (1 <= n <= 3 and len(big) == len(weight) == n + 2 and groups > 0 and small[0] == big[0]
            and small[1] == weight[0] and weight[0] % groups == 0 and big[1] == weight[1] * groups
            and fill(shape.small, small[2:], n, 1, 0) and fill(shape.big, big[2:], n, 1, 0)
            and fill(shape.kernel, weight[2:], n, 1, 0) and fill(shape.stride, stride, n, 1, 1)
            and fill(shape.dilation, dilation, n, 1, 1) and fill(shape.before, before, n, 0, -MOST)):
        raise RuntimeError(f"convolution: maps of sizes {list(small)} and {list(big)} do not fit a weight of size "
                           f"{list(weight)} with stride {stride}, padding {before}, dilation {dilation} and groups "
                           f"{groups}")
    shape.batch, shape.groups = big[0], groups
    shape.small_channels, shape.big_channels = weight[0] // groups, weight[1]
    return True


cdef int check_bias(TensorBase bias, Py_ssize_t channels) except -1:
    if bias is not None and (bias.ndim_ != 1 or bias.count != channels):
        raise RuntimeError(f"convolution: expected a bias of {channels} elements, but got size {list(bias.size())}")
    return 0


cdef bint is_product(TensorBase map, const st_conv_shape* shape) noexcept:
    """Whether the small map has one position, which sees the whole big map: then all three are products of matrices."""
    cdef int i
    if shape.groups != 1 or not map.count or st_find_conv(map.code) == NULL:
        return False
    for i in range(3):
        if (shape.small[i] != 1 or shape.before[i] != 0 or shape.kernel[i] != shape.big[i]
                or (shape.dilation[i] != 1 and shape.kernel[i] != 1)):
            return False
    return True


cdef as_matrix(TensorBase t):
    """The rows of a map or weight."""
    return ready(t, t.code).view(t.shape_[0], t.count // t.shape_[0])


def gather(TensorBase big not None, TensorBase weight not None, TensorBase bias, tuple out, stride, before, dilation,
           Py_ssize_t groups):
    """The small map, with the spatial size ``out``."""
    cdef st_conv_shape shape
    cdef tuple size
    check_dims(big, weight)
    size = (big.shape_[0], weight.shape_[0], *out)
    describe(&shape, size, tuple(big.size()), tuple(weight.size()), stride, before, dilation, groups)
    check_bias(bias, weight.shape_[0])
    if is_product(big, &shape):
        return linear_product(as_matrix(big), as_matrix(weight), bias).view(size)
    return run(ST_CONV_GATHER, big, weight, bias, size, &shape)


def spread(TensorBase small not None, TensorBase weight not None, TensorBase bias, tuple out, stride, before, dilation,
           Py_ssize_t groups):
    """The big map, with the spatial size ``out``."""
    cdef st_conv_shape shape
    cdef tuple size
    check_dims(small, weight)
    size = (small.shape_[0], weight.shape_[1] * groups, *out)
    describe(&shape, tuple(small.size()), size, tuple(weight.size()), stride, before, dilation, groups)
    check_bias(bias, size[1])
    if is_product(small, &shape):
        r = mm(as_matrix(small), as_matrix(weight)).view(size)
        return r if bias is None else r.add_(bias.view(-1, *(1,) * len(out)))
    return run(ST_CONV_SPREAD, small, weight, bias, size, &shape)


def weigh(TensorBase small not None, TensorBase big not None, tuple kernel, stride, before, dilation,
          Py_ssize_t groups):
    """What the weight of a spatial size ``kernel`` gets."""
    cdef st_conv_shape shape
    cdef tuple size
    check_dims(small, big)
    if groups < 1 or big.shape_[1] % groups:
        raise RuntimeError(f"convolution: {groups} groups of {big.shape_[1]} channels")
    size = (small.shape_[1], big.shape_[1] // groups, *kernel)
    describe(&shape, tuple(small.size()), tuple(big.size()), size, stride, before, dilation, groups)
    if is_product(small, &shape):
        return mm(as_matrix(small).t(), as_matrix(big)).view(size)
    return run(ST_CONV_WEIGHT, small, big, None, size, &shape)


cdef int check_dims(TensorBase a, TensorBase b) except -1:
    if a.ndim_ < 3 or b.ndim_ < 3:
        raise RuntimeError(f"convolution: expected operands of 3 to 5 dimensions, but got sizes {list(a.size())} and "
                           f"{list(b.size())}")
    return 0
