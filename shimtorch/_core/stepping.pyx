"""Steps of optimisers, one pass over memory for a parameter.

Each function says whether it took the step: parameters that are not dense, contiguous float or double tensors like
their gradients and state are left to tensor ops.
"""
from libc.math cimport sqrt

from .dtype cimport FLOAT32, FLOAT64
from .tensor cimport ON_DEVICE, SPARSE, TensorBase, ptr, same_shape

ctypedef fused real:
    float
    double


cdef bint plain(TensorBase t, TensorBase like) noexcept:
    return (t is not None and t.code == like.code and t.contiguous_ and not t.flags & (SPARSE | ON_DEVICE)
            and same_shape(t, like))


cdef bint steps(TensorBase p) noexcept:
    return (p.code == FLOAT32 or p.code == FLOAT64) and plain(p, p)


cdef void count_write(TensorBase t) noexcept:
    t.storage.version += 1


cdef void sgd_pass(real* p, const real* g, real* b, Py_ssize_t n, bint fresh, bint nesterov, real sign, real decay,
                   real momentum, real gain, real lr) noexcept nogil:
    cdef Py_ssize_t i
    cdef real d
    if b == NULL:
        for i in range(n):
            p[i] -= lr * (sign * g[i] + decay * p[i])
        return
    for i in range(n):
        d = sign * g[i] + decay * p[i]
        b[i] = d if fresh else momentum * b[i] + gain * d
        p[i] -= lr * (d + momentum * b[i] if nesterov else b[i])


def sgd(TensorBase p not None, TensorBase grad not None, TensorBase buffer, bint fresh, bint nesterov, bint maximize,
        double decay, double momentum, double gain, double lr):
    """Gradient descent; fresh: the momentum buffer is to start with the gradient."""
    cdef double sign = -1 if maximize else 1
    if not steps(p) or not plain(grad, p) or (buffer is not None and not plain(buffer, p)):
        return False
    if p.code == FLOAT32:
        sgd_pass[float](<float*>ptr(p), <float*>ptr(grad), NULL if buffer is None else <float*>ptr(buffer), p.count,
                        fresh, nesterov, <float>sign, <float>decay, <float>momentum, <float>gain, <float>lr)
    else:
        sgd_pass[double](<double*>ptr(p), <double*>ptr(grad), NULL if buffer is None else <double*>ptr(buffer),
                         p.count, fresh, nesterov, sign, decay, momentum, gain, lr)
    count_write(p)
    if buffer is not None:
        count_write(buffer)
    return True


cdef void adam_pass(real* p, const real* g, real* mean, real* square, real* largest, Py_ssize_t n, real sign,
                    real decay, real shrink, real gain1, real beta2, real gain2, real eps, real step,
                    real correction) noexcept nogil:
    cdef Py_ssize_t i
    cdef real d, s
    for i in range(n):
        d = sign * g[i] + decay * p[i]
        mean[i] += gain1 * (d - mean[i])
        s = square[i] = square[i] * beta2 + gain2 * d * d
        if largest != NULL:
            if s > largest[i] or s != s:
                largest[i] = s
            s = largest[i]
        p[i] = p[i] * shrink - step * mean[i] / (<real>sqrt(s) / correction + eps)


def adam(TensorBase p not None, TensorBase grad not None, TensorBase mean not None, TensorBase square not None,
         TensorBase largest, bint maximize, double decay, double shrink, double beta1, double beta2, double eps,
         double step, double correction):
    """Adam; decay is added to the gradient, shrink multiplies the parameter; correction divides the root."""
    cdef double sign = -1 if maximize else 1
    if not (steps(p) and plain(grad, p) and plain(mean, p) and plain(square, p)):
        return False
    if largest is not None and not plain(largest, p):
        return False
    if p.code == FLOAT32:
        adam_pass[float](<float*>ptr(p), <float*>ptr(grad), <float*>ptr(mean), <float*>ptr(square),
                         NULL if largest is None else <float*>ptr(largest), p.count, <float>sign, <float>decay,
                         <float>shrink, <float>(1 - beta1), <float>beta2, <float>(1 - beta2), <float>eps, <float>step,
                         <float>correction)
    else:
        adam_pass[double](<double*>ptr(p), <double*>ptr(grad), <double*>ptr(mean), <double*>ptr(square),
                          NULL if largest is None else <double*>ptr(largest), p.count, sign, decay, shrink,
                          1 - beta1, beta2, 1 - beta2, eps, step, correction)
    count_write(p)
    count_write(mean)
    count_write(square)
    if largest is not None:
        count_write(largest)
    return True


cdef void adadelta_pass(real* p, const real* g, real* square, real* delta, Py_ssize_t n, real sign, real decay,
                        real rho, real gain, real eps, real lr) noexcept nogil:
    cdef Py_ssize_t i
    cdef real d
    for i in range(n):
        d = sign * g[i] + decay * p[i]
        square[i] = square[i] * rho + gain * d * d
        d *= <real>sqrt(delta[i] + eps) / <real>sqrt(square[i] + eps)
        delta[i] = delta[i] * rho + gain * d * d
        p[i] -= lr * d


def adadelta(TensorBase p not None, TensorBase grad not None, TensorBase square not None, TensorBase delta not None,
             bint maximize, double decay, double rho, double eps, double lr):
    """Adadelta."""
    cdef double sign = -1 if maximize else 1
    if not (steps(p) and plain(grad, p) and plain(square, p) and plain(delta, p)):
        return False
    if p.code == FLOAT32:
        adadelta_pass[float](<float*>ptr(p), <float*>ptr(grad), <float*>ptr(square), <float*>ptr(delta), p.count,
                             <float>sign, <float>decay, <float>rho, <float>(1 - rho), <float>eps, <float>lr)
    else:
        adadelta_pass[double](<double*>ptr(p), <double*>ptr(grad), <double*>ptr(square), <double*>ptr(delta), p.count,
                              sign, decay, rho, 1 - rho, eps, lr)
    count_write(p)
    count_write(square)
    count_write(delta)
    return True
