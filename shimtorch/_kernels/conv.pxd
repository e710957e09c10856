"""Convolutions on raw memory; see conv.h."""

cdef extern from "conv.h" nogil:
    cdef enum:
        ST_CONV_GATHER
        ST_CONV_SPREAD
        ST_CONV_WEIGHT

    ctypedef struct st_conv_shape:
        Py_ssize_t batch
        Py_ssize_t groups
        Py_ssize_t small_channels
        Py_ssize_t big_channels
        Py_ssize_t small[3]
        Py_ssize_t big[3]
        Py_ssize_t kernel[3]
        Py_ssize_t stride[3]
        Py_ssize_t dilation[3]
        Py_ssize_t before[3]

    ctypedef void (*st_conv_fn)(int what, const st_conv_shape *shape, const void *a, const void *b, const void *bias,
                                void *out, void *work) noexcept
    ctypedef size_t (*st_conv_work_fn)(int what, const st_conv_shape *shape) noexcept

    ctypedef struct st_conv_kernels:
        st_conv_fn run
        st_conv_work_fn work

    const st_conv_kernels *st_find_conv(int dtype) noexcept
