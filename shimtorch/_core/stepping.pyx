"""Steps of optimisers, one pass over memory for a parameter.

Each function says whether it took the step: parameters that are not dense, contiguous float or double tensors like
their gradients and state are left to tensor ops.
"""
from libc.math cimport sqrt

from .._kernels.parallel cimport st_body
from .._kernels.table cimport st_parallel
from .dtype cimport FLOAT32, FLOAT64
from .tensor cimport ON_DEVICE, SPARSE, TensorBase, ptr, same_shape

ctypedef fused real:
    float
    double

cdef enum:
    GRAIN = 1 << 14                    # elements that are worth a thread

# A pass and what it needs: the parameter, its gradient, up to three tensors of state, and numbers. A pass is a function
# of either type, called through st_body: its first parameter, a pointer to elements, stands for the context.
ctypedef struct Pass:
    void* p
    const void* g
    void* state[3]
    double numbers[8]
    bint fresh, nesterov


cdef object on_device():
    """The same functions for parameters on a device."""
    from .._gpu import stepping
    return stepping


cdef bint plain(TensorBase t, TensorBase like) noexcept:
    return (t is not None and t.code == like.code and t.contiguous_ and not t.flags & (SPARSE | ON_DEVICE)
            and same_shape(t, like))


cdef bint steps(TensorBase p) noexcept:
    return (p.code == FLOAT32 or p.code == FLOAT64) and plain(p, p)


cdef bint fits(TensorBase p, TensorBase grad, list state):
    """Whether one pass can step p: None stands for state that is not kept."""
    if not steps(p) or not plain(grad, p):
        return False
    for t in state:
        if t is not None and not plain(<TensorBase>t, p):
            return False
    return True


cdef void count_write(TensorBase t) noexcept:
    t.storage.version += 1


cdef void share(st_body single, st_body double_, TensorBase p, TensorBase grad, list state, Pass* c) noexcept:
    """Run the pass of p's type over all elements."""
    cdef int i
    cdef Py_ssize_t n = p.count
    cdef st_body body = single if p.code == FLOAT32 else double_
    c.p, c.g = ptr(p), ptr(grad)
    for i in range(3):
        c.state[i] = NULL
    for i in range(len(state)):
        if state[i] is not None:
            c.state[i] = ptr(<TensorBase>state[i])
    if n < 2 * GRAIN:
        body(c, 0, n)
    else:
        with nogil:
            st_parallel(n, GRAIN, body, c)
    count_write(p)
    for i in range(len(state)):
        if state[i] is not None:
            count_write(<TensorBase>state[i])


cdef void sgd_pass(real* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Pass* c = <Pass*>context
    cdef real* p = <real*>c.p
    cdef const real* g = <const real*>c.g
    cdef real* b = <real*>c.state[0]
    cdef real sign = <real>c.numbers[0], decay = <real>c.numbers[1], momentum = <real>c.numbers[2]
    cdef real gain = <real>c.numbers[3], lr = <real>c.numbers[4], d
    cdef bint fresh = c.fresh, nesterov = c.nesterov
    cdef Py_ssize_t i
    if b == NULL:
        for i in range(begin, end):
            p[i] -= lr * (sign * g[i] + decay * p[i])
        return
    for i in range(begin, end):
        d = sign * g[i] + decay * p[i]
        b[i] = d if fresh else momentum * b[i] + gain * d
        p[i] -= lr * (d + momentum * b[i] if nesterov else b[i])


def sgd(TensorBase p not None, TensorBase grad not None, TensorBase buffer, bint fresh, bint nesterov, bint maximize,
        double decay, double momentum, double gain, double lr):
    """Gradient descent; fresh: the momentum buffer is to start with the gradient."""
    cdef Pass c
    if p.flags & ON_DEVICE:
        return on_device().sgd(p, grad, buffer, fresh, nesterov, maximize, decay, momentum, gain, lr)
    if not fits(p, grad, [buffer]):
        return False
    c.numbers[:] = [-1 if maximize else 1, decay, momentum, gain, lr, 0, 0, 0]
    c.fresh, c.nesterov = fresh, nesterov
    share(<st_body>sgd_pass[float], <st_body>sgd_pass[double], p, grad, [buffer], &c)
    return True


cdef void adam_pass(real* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Pass* c = <Pass*>context
    cdef real* p = <real*>c.p
    cdef const real* g = <const real*>c.g
    cdef real* mean = <real*>c.state[0]
    cdef real* square = <real*>c.state[1]
    cdef real* largest = <real*>c.state[2]
    cdef real sign = <real>c.numbers[0], decay = <real>c.numbers[1], shrink = <real>c.numbers[2]
    cdef real gain1 = <real>(1 - c.numbers[3]), beta2 = <real>c.numbers[4], gain2 = <real>(1 - c.numbers[4])
    cdef real eps = <real>c.numbers[5], step = <real>c.numbers[6], correction = <real>c.numbers[7], d, s
    cdef Py_ssize_t i
    for i in range(begin, end):
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
    cdef Pass c
    if p.flags & ON_DEVICE:
        return on_device().adam(p, grad, mean, square, largest, maximize, decay, shrink, beta1,
                                beta2, eps, step, correction)
    if not fits(p, grad, [mean, square, largest]):
        return False
    c.numbers[:] = [-1 if maximize else 1, decay, shrink, beta1, beta2, eps, step, correction]
    share(<st_body>adam_pass[float], <st_body>adam_pass[double], p, grad, [mean, square, largest], &c)
    return True


cdef void adadelta_pass(real* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Pass* c = <Pass*>context
    cdef real* p = <real*>c.p
    cdef const real* g = <const real*>c.g
    cdef real* square = <real*>c.state[0]
    cdef real* delta = <real*>c.state[1]
    cdef real sign = <real>c.numbers[0], decay = <real>c.numbers[1], rho = <real>c.numbers[2]
    cdef real gain = <real>(1 - c.numbers[2]), eps = <real>c.numbers[3], lr = <real>c.numbers[4], d
    cdef Py_ssize_t i
    for i in range(begin, end):
        d = sign * g[i] + decay * p[i]
        square[i] = square[i] * rho + gain * d * d
        d *= <real>sqrt(delta[i] + eps) / <real>sqrt(square[i] + eps)
        delta[i] = delta[i] * rho + gain * d * d
        p[i] -= lr * d


def adadelta(TensorBase p not None, TensorBase grad not None, TensorBase square not None, TensorBase delta not None,
             bint maximize, double decay, double rho, double eps, double lr):
    """Adadelta."""
    cdef Pass c
    if p.flags & ON_DEVICE:
        return on_device().adadelta(p, grad, square, delta, maximize, decay, rho, eps, lr)
    if not fits(p, grad, [square, delta]):
        return False
    c.numbers[:] = [-1 if maximize else 1, decay, rho, eps, lr, 0, 0, 0]
    share(<st_body>adadelta_pass[float], <st_body>adadelta_pass[double], p, grad, [square, delta], &c)
    return True


cdef void rmsprop_pass(real* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Pass* c = <Pass*>context
    cdef real* p = <real*>c.p
    cdef const real* g = <const real*>c.g
    cdef real* square = <real*>c.state[0]
    cdef real* mean = <real*>c.state[1]
    cdef real* buffer = <real*>c.state[2]
    cdef real sign = <real>c.numbers[0], decay = <real>c.numbers[1], alpha = <real>c.numbers[2]
    cdef real gain = <real>(1 - c.numbers[2]), momentum = <real>c.numbers[3], eps = <real>c.numbers[4]
    cdef real lr = <real>c.numbers[5], d, s
    cdef Py_ssize_t i
    for i in range(begin, end):
        d = sign * g[i] + decay * p[i]
        s = square[i] = square[i] * alpha + gain * d * d
        if mean != NULL:
            mean[i] += gain * (d - mean[i])
            s -= mean[i] * mean[i]
        d /= <real>sqrt(s) + eps
        if buffer != NULL:
            d = buffer[i] = momentum * buffer[i] + d
        p[i] -= lr * d


def rmsprop(TensorBase p not None, TensorBase grad not None, TensorBase square not None, TensorBase mean,
            TensorBase buffer, bint maximize, double decay, double alpha, double momentum, double eps, double lr):
    """RMSprop; mean: of the gradient, whose square is taken off; buffer: of momentum."""
    cdef Pass c
    if not fits(p, grad, [square, mean, buffer]):
        return False
    c.numbers[:] = [-1 if maximize else 1, decay, alpha, momentum, eps, lr, 0, 0]
    share(<st_body>rmsprop_pass[float], <st_body>rmsprop_pass[double], p, grad, [square, mean, buffer], &c)
    return True


cdef void adagrad_pass(real* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Pass* c = <Pass*>context
    cdef real* p = <real*>c.p
    cdef const real* g = <const real*>c.g
    cdef real* total = <real*>c.state[0]
    cdef real sign = <real>c.numbers[0], decay = <real>c.numbers[1], eps = <real>c.numbers[2], step = <real>c.numbers[3]
    cdef real d
    cdef Py_ssize_t i
    for i in range(begin, end):
        d = sign * g[i] + decay * p[i]
        total[i] += d * d
        p[i] -= step * d / (<real>sqrt(total[i]) + eps)


def adagrad(TensorBase p not None, TensorBase grad not None, TensorBase total not None, bint maximize, double decay,
            double eps, double step):
    """Adagrad."""
    cdef Pass c
    if not fits(p, grad, [total]):
        return False
    c.numbers[:] = [-1 if maximize else 1, decay, eps, step, 0, 0, 0, 0]
    share(<st_body>adagrad_pass[float], <st_body>adagrad_pass[double], p, grad, [total], &c)
    return True


cdef void adamax_pass(real* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Pass* c = <Pass*>context
    cdef real* p = <real*>c.p
    cdef const real* g = <const real*>c.g
    cdef real* mean = <real*>c.state[0]
    cdef real* largest = <real*>c.state[1]
    cdef real sign = <real>c.numbers[0], decay = <real>c.numbers[1], gain1 = <real>(1 - c.numbers[2])
    cdef real beta2 = <real>c.numbers[3], eps = <real>c.numbers[4], step = <real>c.numbers[5], d, size
    cdef Py_ssize_t i
    for i in range(begin, end):
        d = sign * g[i] + decay * p[i]
        mean[i] += gain1 * (d - mean[i])
        size = (d if d >= 0 else -d) + eps
        largest[i] *= beta2
        if not largest[i] >= size:                 # a NaN stays
            largest[i] = size if largest[i] == largest[i] else largest[i]
        p[i] -= step * mean[i] / largest[i]


def adamax(TensorBase p not None, TensorBase grad not None, TensorBase mean not None, TensorBase largest not None,
           bint maximize, double decay, double beta1, double beta2, double eps, double step):
    """Adamax."""
    cdef Pass c
    if not fits(p, grad, [mean, largest]):
        return False
    c.numbers[:] = [-1 if maximize else 1, decay, beta1, beta2, eps, step, 0, 0]
    share(<st_body>adamax_pass[float], <st_body>adamax_pass[double], p, grad, [mean, largest], &c)
    return True


cdef void nadam_pass(real* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Pass* c = <Pass*>context
    cdef real* p = <real*>c.p
    cdef const real* g = <const real*>c.g
    cdef real* mean = <real*>c.state[0]
    cdef real* square = <real*>c.state[1]
    cdef real decay = <real>c.numbers[0], shrink = <real>c.numbers[1], gain1 = <real>(1 - c.numbers[2])
    cdef real beta2 = <real>c.numbers[3], gain2 = <real>(1 - c.numbers[3]), eps = <real>c.numbers[4]
    cdef real correction = <real>c.numbers[5], step = <real>c.numbers[6], step_of_mean = <real>c.numbers[7], d, root
    cdef real sign = -1 if c.nesterov else 1
    cdef Py_ssize_t i
    for i in range(begin, end):
        d = sign * g[i] + decay * p[i]
        mean[i] += gain1 * (d - mean[i])
        square[i] = square[i] * beta2 + gain2 * d * d
        root = <real>sqrt(square[i] / correction) + eps
        p[i] = p[i] * shrink - step * d / root - step_of_mean * mean[i] / root


def nadam(TensorBase p not None, TensorBase grad not None, TensorBase mean not None, TensorBase square not None,
          bint maximize, double decay, double shrink, double beta1, double beta2, double eps, double correction,
          double step, double step_of_mean):
    """NAdam; decay is added to the gradient, shrink multiplies the parameter; correction divides the square."""
    cdef Pass c
    if not fits(p, grad, [mean, square]):
        return False
    c.numbers[:] = [decay, shrink, beta1, beta2, eps, correction, step, step_of_mean]
    c.nesterov = maximize                          # the numbers are all taken
    share(<st_body>nadam_pass[float], <st_body>nadam_pass[double], p, grad, [mean, square], &c)
    return True


cdef void radam_pass(real* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Pass* c = <Pass*>context
    cdef real* p = <real*>c.p
    cdef const real* g = <const real*>c.g
    cdef real* mean = <real*>c.state[0]
    cdef real* square = <real*>c.state[1]
    cdef real sign = <real>c.numbers[0], decay = <real>c.numbers[1], shrink = <real>c.numbers[2]
    cdef real gain1 = <real>(1 - c.numbers[3]), beta2 = <real>c.numbers[4], gain2 = <real>(1 - c.numbers[4])
    cdef real eps = <real>c.numbers[5], step = <real>c.numbers[6], rectified = <real>c.numbers[7], d
    cdef Py_ssize_t i
    for i in range(begin, end):
        d = sign * g[i] + decay * p[i]
        mean[i] += gain1 * (d - mean[i])
        square[i] = square[i] * beta2 + gain2 * d * d
        d = step * mean[i]
        if rectified != 0:
            d *= rectified / (<real>sqrt(square[i]) + eps)
        p[i] = p[i] * shrink - d


def radam(TensorBase p not None, TensorBase grad not None, TensorBase mean not None, TensorBase square not None,
          bint maximize, double decay, double shrink, double beta1, double beta2, double eps, double step,
          double rectified):
    """RAdam; rectified: what is divided by the root of the squares, 0 in the first steps, which do without."""
    cdef Pass c
    if not fits(p, grad, [mean, square]):
        return False
    c.numbers[:] = [-1 if maximize else 1, decay, shrink, beta1, beta2, eps, step, rectified]
    share(<st_body>radam_pass[float], <st_body>radam_pass[double], p, grad, [mean, square], &c)
    return True


cdef void asgd_pass(real* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Pass* c = <Pass*>context
    cdef real* p = <real*>c.p
    cdef const real* g = <const real*>c.g
    cdef real* average = <real*>c.state[0]
    cdef real sign = <real>c.numbers[0], decay = <real>c.numbers[1], shrink = <real>c.numbers[2]
    cdef real rate = <real>c.numbers[3], part = <real>c.numbers[4], d
    cdef Py_ssize_t i
    for i in range(begin, end):
        d = sign * g[i] + decay * p[i]
        p[i] = p[i] * shrink - rate * d
        average[i] = p[i] if part == 1 else average[i] + (p[i] - average[i]) * part


def asgd(TensorBase p not None, TensorBase grad not None, TensorBase average not None, bint maximize, double decay,
         double shrink, double rate, double part):
    """ASGD; part: of the way from the average to the parameter that the average goes."""
    cdef Pass c
    if not fits(p, grad, [average]):
        return False
    c.numbers[:] = [-1 if maximize else 1, decay, shrink, rate, part, 0, 0, 0]
    share(<st_body>asgd_pass[float], <st_body>asgd_pass[double], p, grad, [average], &c)
    return True


cdef void rprop_pass(real* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Pass* c = <Pass*>context
    cdef real* p = <real*>c.p
    cdef const real* g = <const real*>c.g
    cdef real* previous = <real*>c.state[0]
    cdef real* size = <real*>c.state[1]
    cdef real sign = <real>c.numbers[0], shrink = <real>c.numbers[1], grow = <real>c.numbers[2]
    cdef real smallest = <real>c.numbers[3], largest = <real>c.numbers[4], d, agreement
    cdef Py_ssize_t i
    for i in range(begin, end):
        d = sign * g[i]
        agreement = d * previous[i]
        if agreement > 0:
            size[i] *= grow
        elif agreement < 0:
            size[i] *= shrink
            d = 0                                  # no step where the sign has just turned
        if size[i] < smallest:
            size[i] = smallest
        elif size[i] > largest:
            size[i] = largest
        p[i] -= size[i] * (1 if d > 0 else -1 if d < 0 else d)
        previous[i] = d


def rprop(TensorBase p not None, TensorBase grad not None, TensorBase previous not None, TensorBase size not None,
          bint maximize, double shrink, double grow, double smallest, double largest):
    """Rprop; size: of the step of each element."""
    cdef Pass c
    if not fits(p, grad, [previous, size]):
        return False
    c.numbers[:] = [-1 if maximize else 1, shrink, grow, smallest, largest, 0, 0, 0]
    share(<st_body>rprop_pass[float], <st_body>rprop_pass[double], p, grad, [previous, size], &c)
    return True
