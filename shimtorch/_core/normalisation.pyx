"""Normalisation on tensors, forward and backward: what the ops of ``_ops/normalisation.py`` run on."""
from libc.string cimport memset

from .._kernels.norm cimport st_norm_channels, st_norm_rows
from .._kernels.table cimport st_find_norm
from .dtype cimport BFLOAT16, FLOAT16, FLOAT32, ITEMSIZE, dtype_of
from .iterate cimport as_code_tensor, contiguous_copy
from .tensor cimport ON_DEVICE, TensorBase, describe_shape, empty, ptr, same_shape

from .dtype import scalar_type


cdef object on_device():
    """The same functions for tensors on a device."""
    from .._gpu import normalising
    return normalising


cdef int working_code(TensorBase t, str what) except -1:
    """The dtype in which t is normalised."""
    cdef int code = FLOAT32 if t.code == FLOAT16 or t.code == BFLOAT16 else t.code
    if st_find_norm(code) == NULL:
        raise NotImplementedError(f"\"{what}\" not implemented for '{scalar_type(dtype_of(t.code))}'")
    return code


cdef TensorBase ready(TensorBase t, int code):
    t = as_code_tensor(t, code)
    return t if t.contiguous_ else contiguous_copy(t)


cdef char* memory(TensorBase t) except? NULL:
    return NULL if t is None else ptr(t)


cdef TensorBase vector(int code, Py_ssize_t n):
    return empty(code, 1, &n)


cdef int fill_rows(st_norm_rows* s, TensorBase x, Py_ssize_t rows, Py_ssize_t run, Py_ssize_t groups) noexcept:
    s.rows, s.n, s.run, s.groups = rows, x.count // rows if rows else 0, run, groups
    return 0


def rows(TensorBase input not None, TensorBase weight, TensorBase bias, Py_ssize_t n_rows, Py_ssize_t run,
         Py_ssize_t groups, double eps, str what):
    """The rows normalised, and the mean and the inverse standard deviation of each."""
    if input.flags & ON_DEVICE:
        return on_device().rows(input, weight, bias, n_rows, run, groups, eps, what)
    cdef int code = working_code(input, what)
    cdef TensorBase x = ready(input, code), w = None, b = None, r = empty(code, input.ndim_, input.shape_)
    cdef TensorBase mean = vector(code, n_rows), scale = vector(code, n_rows)
    cdef st_norm_rows s
    if weight is not None:
        w = ready(weight, code)
    if bias is not None:
        b = ready(bias, code)
    fill_rows(&s, x, n_rows, run, groups)
    if r.count:
        st_find_norm(code).rows(&s, eps, ptr(x), memory(w), memory(b), ptr(mean), ptr(scale), ptr(r))
    return as_code_tensor(r, input.code), mean, scale


cdef TensorBase zeros(TensorBase like, int code):
    cdef TensorBase r = empty(code, like.ndim_, like.shape_)
    memset(ptr(r), 0, r.count * ITEMSIZE[code])
    return r


def rows_backward(TensorBase grad not None, TensorBase input not None, TensorBase weight, TensorBase bias,
                  TensorBase mean not None, TensorBase scale not None, Py_ssize_t n_rows, Py_ssize_t run,
                  Py_ssize_t groups, needs):
    """The gradients of input, weight and bias, those that are needed."""
    if input.flags & ON_DEVICE:
        return on_device().rows_backward(grad, input, weight, bias, mean, scale, n_rows, run, groups, needs)
    cdef int code = mean.code
    cdef TensorBase g = ready(grad, code), x = ready(input, code), w = None, dx = None, dw = None, db = None
    cdef st_norm_rows s
    if weight is not None:
        w = ready(weight, code)
    if needs[0]:
        dx = empty(code, x.ndim_, x.shape_)
    if needs[1] and weight is not None:
        dw = zeros(weight, code)
    if needs[2] and bias is not None:
        db = zeros(bias, code)
    fill_rows(&s, x, n_rows, run, groups)
    if x.count:
        st_find_norm(code).rows_backward(&s, ptr(g), ptr(x), memory(w), ptr(mean), ptr(scale), memory(dx), memory(dw),
                                         memory(db))
    return (None if dx is None else as_code_tensor(dx, input.code),
            None if dw is None else as_code_tensor(dw, weight.code),
            None if db is None else as_code_tensor(db, bias.code))


# ---------------------------------------------------------------- channels

cdef int fill_channels(st_norm_channels* s, TensorBase x, TensorBase a, TensorBase b=None,
                       TensorBase c=None) except -1:
    """The sizes of x, (N, C, ...); a, b and c (or None) must hold a number for every channel."""
    if x.ndim_ < 2:
        raise RuntimeError(f"expected at least 2 dimensions, (N, C, ...), got a tensor of size {describe_shape(x)}")
    for t in (a, b, c):
        if t is not None and (<TensorBase>t).count != x.shape_[1]:
            raise RuntimeError(f"expected a number for each of {x.shape_[1]} channels, got {(<TensorBase>t).count}")
    s.outer, s.channels = x.shape_[0], x.shape_[1]
    s.inner = x.count // (s.outer * s.channels) if x.count else 0
    return 0


cdef int check_alike(TensorBase grad, TensorBase x) except -1:
    if not same_shape(grad, x):
        raise RuntimeError(f"expected a gradient of size {describe_shape(x)}, got {describe_shape(grad)}")
    return 0


def moments(TensorBase input not None, str what):
    """The mean of every channel (dimension 1), and the mean square distance from it."""
    if input.flags & ON_DEVICE:
        return on_device().moments(input, what)
    cdef int code = working_code(input, what)
    cdef TensorBase x = ready(input, code), mean, var
    cdef st_norm_channels s
    fill_channels(&s, x, None)
    mean, var = vector(code, s.channels), vector(code, s.channels)
    st_find_norm(code).moments(&s, ptr(x), ptr(mean), ptr(var))
    return mean, var


def affine(TensorBase input not None, TensorBase factor not None, TensorBase summand not None, str what):
    """Every channel times its factor, plus its summand."""
    if input.flags & ON_DEVICE:
        return on_device().affine(input, factor, summand, what)
    cdef int code = working_code(input, what)
    cdef TensorBase x = ready(input, code), f = ready(factor, code), b = ready(summand, code)
    cdef TensorBase r = empty(code, x.ndim_, x.shape_)
    cdef st_norm_channels s
    fill_channels(&s, x, f, b)
    if r.count:
        st_find_norm(code).affine(&s, ptr(x), ptr(f), ptr(b), ptr(r))
    return as_code_tensor(r, input.code)


def sums(TensorBase grad not None, TensorBase input not None, TensorBase mean not None):
    """Over every channel, the sums of grad and of grad * (input - mean)."""
    if input.flags & ON_DEVICE:
        return on_device().sums(grad, input, mean)
    cdef int code = working_code(mean, "batch_norm")
    cdef TensorBase g = ready(grad, code), x = ready(input, code), m = ready(mean, code)
    cdef TensorBase a, b
    cdef st_norm_channels s
    fill_channels(&s, x, m)
    check_alike(g, x)
    a, b = vector(code, s.channels), vector(code, s.channels)
    st_find_norm(code).sums(&s, ptr(g), ptr(x), ptr(m), ptr(a), ptr(b))
    return a, b


def blend(TensorBase grad not None, TensorBase input not None, TensorBase a not None, TensorBase b not None,
          TensorBase c not None):
    """``grad * a + input * b + c``, where a, b and c hold a number for every channel."""
    if input.flags & ON_DEVICE:
        return on_device().blend(grad, input, a, b, c)
    cdef int code = working_code(a, "batch_norm")
    cdef TensorBase g = ready(grad, code), x = ready(input, code), p = ready(a, code), q = ready(b, code)
    cdef TensorBase t = ready(c, code), r = empty(code, x.ndim_, x.shape_)
    cdef st_norm_channels s
    fill_channels(&s, x, p, q, t)
    check_alike(g, x)
    if r.count:
        st_find_norm(code).blend(&s, ptr(g), ptr(x), ptr(p), ptr(q), ptr(t), ptr(r))
    return as_code_tensor(r, grad.code)
