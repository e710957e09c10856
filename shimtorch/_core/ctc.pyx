"""Connectionist temporal classification, forward and backward: what the op of ``_ops/ctc.py`` runs on.

The states of an example are its labels with a blank around each: ``states`` (N, S) names the class of each, of which
the first 2 * length + 1 count. All is done in logarithms, a step of time after the other, a row of states at once.
"""
from libc.math cimport INFINITY
from libc.stdint cimport int64_t

from .._kernels.parallel cimport st_body
from .._kernels.scratch cimport release, scratch
from .._kernels.table cimport st_find, st_loop, st_op, st_parallel
from .dtype cimport FLOAT32, FLOAT64
from .iterate cimport contiguous_copy
from .tensor cimport ON_DEVICE, TensorBase, empty, ptr

ctypedef fused real:
    float
    double

ctypedef struct Lattice:
    Py_ssize_t steps, examples, classes, states
    const void* scores                 # (T, N, C), logarithms of probabilities
    const int64_t* label               # (N, S)
    const int64_t* times               # (N), input lengths
    const int64_t* lengths             # (N), target lengths
    void* alpha                        # (N, T, S): of all ways to be in a state after a step
    void* losses                       # (N)
    const void* grad                   # (N)
    void* to                           # (T, N, C)
    void* work                         # (N, 6, S)
    bint zero_infinity
    st_loop exp, log


def takes(TensorBase log_probs not None):
    """Whether the loops take these log probabilities."""
    return (log_probs.code == FLOAT32 or log_probs.code == FLOAT64) and not log_probs.flags & ON_DEVICE


cdef void apply(st_loop loop, real* x, Py_ssize_t n) noexcept nogil:
    cdef char* ptrs[2]
    cdef Py_ssize_t strides[2]
    ptrs[0] = ptrs[1] = <char*>x
    strides[0] = strides[1] = sizeof(real)
    loop(ptrs, strides, n, NULL)


cdef void log_sums(const Lattice* c, const real* stay, const real* step, const real* jump, real* to, real* work,
                   Py_ssize_t n) noexcept nogil:
    """to = log(exp(stay) + exp(step) + exp(jump))"""
    cdef Py_ssize_t s
    cdef real a, b, d, top
    for s in range(n):
        a, b, d = stay[s], step[s], jump[s]
        top = a if a > b else b
        top = top if top > d else d
        top = top if top > -INFINITY else 0
        work[s], work[n + s], work[2 * n + s], to[s] = a - top, b - top, d - top, top
    apply(c.exp, work, 3 * n)
    for s in range(n):
        work[s] = work[s] + work[n + s] + work[2 * n + s]
    apply(c.log, work, n)
    for s in range(n):
        to[s] += work[s]


cdef bint jumps(const int64_t* label, Py_ssize_t s) noexcept nogil:
    """Whether state s > 1 may follow on s - 2: over a blank between two different labels."""
    return s % 2 == 1 and label[s] != label[s - 2]


cdef void forward_examples(real* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Lattice* c = <Lattice*>context
    cdef Py_ssize_t i, t, s, n, row = c.examples * c.classes
    cdef const int64_t* label
    cdef const real* x
    cdef real* alpha
    cdef real* before
    cdef real* work
    cdef real* step
    cdef real* jump
    cdef real a, b, top
    for i in range(begin, end):
        n, label = 2 * c.lengths[i] + 1, c.label + i * c.states
        x, alpha = <const real*>c.scores + i * c.classes, <real*>c.alpha + i * c.steps * c.states
        work = <real*>c.work + i * 6 * c.states
        step, jump = work + 3 * c.states, work + 4 * c.states
        if c.times[i] == 0:
            (<real*>c.losses)[i] = 0 if n == 1 else INFINITY
            continue
        for s in range(n):
            alpha[s] = x[label[s]] if s < 2 else -INFINITY
        for t in range(1, c.times[i]):
            before, alpha, x = alpha, alpha + c.states, <const real*>c.scores + t * row + i * c.classes
            step[0] = jump[0] = -INFINITY
            for s in range(1, n):
                step[s] = before[s - 1]
                jump[s] = before[s - 2] if s > 1 and jumps(label, s) else -INFINITY
            log_sums[real](c, before, step, jump, alpha, work, n)
            for s in range(n):
                alpha[s] += x[label[s]]
        a, b = alpha[n - 1], alpha[n - 2] if n > 1 else -INFINITY
        top = a if a > b else b
        if top > -INFINITY:
            work[0], work[1] = a - top, b - top
            apply(c.exp, work, 2)
            work[0] += work[1]
            apply(c.log, work, 1)
            top += work[0]
        (<real*>c.losses)[i] = -top


cdef void backward_examples(real* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Lattice* c = <Lattice*>context
    cdef Py_ssize_t i, t, s, k, n, row = c.examples * c.classes
    cdef const int64_t* label
    cdef const real* x
    cdef const real* alpha
    cdef real* to
    cdef real* beta
    cdef real* work
    cdef real* step
    cdef real* jump
    cdef real loss, g
    for i in range(begin, end):
        n, label = 2 * c.lengths[i] + 1, c.label + i * c.states
        work = <real*>c.work + i * 6 * c.states
        step, jump, beta = work + 3 * c.states, work + 4 * c.states, work + 5 * c.states
        loss, g = (<const real*>c.losses)[i], (<const real*>c.grad)[i]
        for t in range(c.steps - 1, -1, -1):
            to = <real*>c.to + t * row + i * c.classes
            if t >= c.times[i] or (c.zero_infinity and loss == INFINITY):
                for k in range(c.classes):
                    to[k] = 0
                continue
            x = <const real*>c.scores + t * row + i * c.classes
            alpha = <const real*>c.alpha + (i * c.steps + t) * c.states
            # beta: of all ways to go on from a state, the state's own score included
            if t == c.times[i] - 1:
                for s in range(n):
                    beta[s] = x[label[s]] if s >= n - 2 else -INFINITY
            else:
                step[n - 1] = jump[n - 1] = -INFINITY
                for s in range(n - 1):
                    step[s] = beta[s + 1]
                    jump[s] = beta[s + 2] if s + 2 < n and jumps(label, s + 2) else -INFINITY
                log_sums[real](c, beta, step, jump, beta, work, n)
                for s in range(n):
                    beta[s] += x[label[s]]
            for s in range(n):
                work[s] = alpha[s] + beta[s] - x[label[s]] + loss if alpha[s] > -INFINITY else -INFINITY
            apply(c.exp, work, n)
            for k in range(c.classes):
                to[k] = x[k]
            apply(c.exp, to, c.classes)
            for s in range(n):
                to[label[s]] -= work[s]
            for k in range(c.classes):
                to[k] *= g
                if loss == INFINITY:
                    to[k] = loss - loss


cdef TensorBase dense(TensorBase t):
    return t if t.contiguous_ else contiguous_copy(t)


cdef int run(st_body single, st_body double_, Lattice* c, int code, TensorBase x, TensorBase states, TensorBase times,
             TensorBase lengths) except -1:
    cdef void* work
    cdef Py_ssize_t cells
    c.steps, c.examples, c.classes, c.states = x.shape_[0], x.shape_[1], x.shape_[2], states.shape_[1]
    c.scores, c.label = ptr(x), <const int64_t*>ptr(states)
    c.times, c.lengths = <const int64_t*>ptr(times), <const int64_t*>ptr(lengths)
    c.exp, c.log = st_find(st_op(b"exp"), code), st_find(st_op(b"log"), code)
    cells = c.examples * 6 * c.states
    work = scratch((cells + 1) * 8)
    if work == NULL:
        raise MemoryError
    c.work = work
    with nogil:
        st_parallel(c.examples, 1 + (1 << 12) // (c.steps * c.states + 1), single if code == FLOAT32 else double_, c)
    release(work)
    return 0


def forward(TensorBase log_probs not None, TensorBase states not None, TensorBase times not None,
            TensorBase lengths not None):
    """The losses (N), and alpha (N, T, S), of log_probs (T, N, C)."""
    cdef TensorBase x = dense(log_probs), losses, alpha
    cdef Py_ssize_t shape[3]
    cdef Lattice c
    shape[0], shape[1], shape[2] = x.shape_[1], x.shape_[0], states.shape_[1]
    losses, alpha = empty(x.code, 1, shape), empty(x.code, 3, shape)
    c.losses, c.alpha = ptr(losses), ptr(alpha)
    run(<st_body>forward_examples[float], <st_body>forward_examples[double], &c, x.code, x, states, times, lengths)
    return losses, alpha


def backward(TensorBase grad not None, TensorBase log_probs not None, TensorBase states not None,
             TensorBase times not None, TensorBase lengths not None, TensorBase losses not None,
             TensorBase alpha not None, bint zero_infinity):
    """The gradient of log_probs, as if they came out of log_softmax: exp(log_probs) less the share of each class."""
    cdef TensorBase x = dense(log_probs), g = dense(grad), r = empty(x.code, 3, x.shape_)
    cdef Lattice c
    c.losses, c.alpha, c.grad, c.to, c.zero_infinity = ptr(losses), ptr(alpha), ptr(g), ptr(r), zero_infinity
    run(<st_body>backward_examples[float], <st_body>backward_examples[double], &c, x.code, x, states, times, lengths)
    return r
