"""Losses with margins between the scores (N, C) of classes, one pass for a row: forwards for ``_ops/margins.py``."""
from libc.stdint cimport int64_t

from .._kernels.elements cimport real
from .._kernels.parallel cimport st_body
from .._kernels.scratch cimport release, scratch
from .._kernels.table cimport st_parallel
from .dtype cimport CAT_FLOAT, CATEGORY, FLOAT32, FLOAT64, INT64
from .iterate cimport as_code_tensor, contiguous_copy
from .tensor cimport TensorBase, empty, ptr

from .dtype import scalar_type

cdef enum:
    GRAIN = 1 << 13                    # elements that are worth a thread
    LANES = 8                          # sums beside each other

# What the rows of a loss share: g is the gradient of its result, out the result, or the gradient of x. A body is called
# through st_body: its first parameter stands for the context.
ctypedef struct Scores:
    const void* x
    const void* g
    const void* weight
    void* out
    const int64_t* target
    Py_ssize_t classes
    double margin
    bint squared, starved              # whether there was no memory


cdef inline real hinges(const real* x, const real* counted, Py_ssize_t n, real above, bint squared) noexcept nogil:
    """The sum of max(0, above + x) or its square, where counted is 1 and not 0."""
    cdef real lane[LANES]
    cdef real total = 0, z
    cdef Py_ssize_t j = 0, k
    for k in range(LANES):
        lane[k] = 0
    while j + LANES <= n:
        for k in range(LANES):
            z = above + x[j + k]
            z = z * counted[j + k] if z > 0 else 0
            lane[k] += z * z if squared else z
        j += LANES
    for j in range(j, n):
        z = above + x[j]
        z = z * counted[j] if z > 0 else 0
        total += z * z if squared else z
    for k in range(LANES):
        total += lane[k]
    return total


cdef inline real slopes(const real* x, const real* counted, real* out, Py_ssize_t n, real above, bint squared,
                        real g) noexcept nogil:
    """The gradient of ``hinges`` times g is added to out; returns the sum of what was added."""
    cdef real total = 0, z
    cdef Py_ssize_t j
    for j in range(n):
        z = above + x[j]
        z = (2 * z * g if squared else g) * counted[j] if z > 0 else 0
        out[j] += z
        total += z
    return total


cdef bint all_counted(Scores* c, real** counted) noexcept nogil:
    """Memory with a 1 for each class; False, and noted, if there is none."""
    cdef Py_ssize_t j
    counted[0] = <real*>scratch((c.classes + 1) * sizeof(real))
    if counted[0] == NULL:
        c.starved = True
        return False
    for j in range(c.classes):
        counted[0][j] = 1
    return True


cdef void multi_rows(real* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Scores* c = <Scores*>context
    cdef Py_ssize_t row, n = c.classes
    cdef const real* x
    cdef real* counted
    cdef real loss
    cdef int64_t y
    if not all_counted(c, &counted):
        return
    for row in range(begin, end):
        x, y = <const real*>c.x + row * n, c.target[row]
        counted[y] = 0
        loss = hinges(x, counted, n, <real>c.margin - x[y], c.squared) / n
        counted[y] = 1
        (<real*>c.out)[row] = loss if c.weight == NULL else loss * (<const real*>c.weight)[y]
    release(counted)


cdef void multi_slopes(real* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Scores* c = <Scores*>context
    cdef Py_ssize_t row, j, n = c.classes
    cdef const real* x
    cdef real* out
    cdef real* counted
    cdef real g
    cdef int64_t y
    if not all_counted(c, &counted):
        return
    for row in range(begin, end):
        x, out, y = <const real*>c.x + row * n, <real*>c.out + row * n, c.target[row]
        g = (<const real*>c.g)[row] / n
        if c.weight != NULL:
            g *= (<const real*>c.weight)[y]
        for j in range(n):
            out[j] = 0
        counted[y] = 0
        out[y] = -slopes(x, counted, out, n, <real>c.margin - x[y], c.squared, g)
        counted[y] = 1
    release(counted)


cdef void mark_others(real* counted, const int64_t* target, Py_ssize_t n) noexcept nogil:
    """1 for the classes that are not among the targets before the first that is negative."""
    cdef Py_ssize_t j
    for j in range(n):
        counted[j] = 1
    for j in range(n):
        if target[j] < 0:
            break
        counted[target[j]] = 0


cdef void multilabel_rows(real* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Scores* c = <Scores*>context
    cdef Py_ssize_t row, t, n = c.classes
    cdef const real* x
    cdef const int64_t* target
    cdef real* counted
    cdef real loss
    if not all_counted(c, &counted):
        return
    for row in range(begin, end):
        x, target, loss = <const real*>c.x + row * n, c.target + row * n, 0
        mark_others(counted, target, n)
        for t in range(n):
            if target[t] < 0:
                break
            loss += hinges(x, counted, n, 1 - x[target[t]], False)
        (<real*>c.out)[row] = loss / n
    release(counted)


cdef void multilabel_slopes(real* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Scores* c = <Scores*>context
    cdef Py_ssize_t row, t, n = c.classes
    cdef const real* x
    cdef const int64_t* target
    cdef real* out
    cdef real* counted
    if not all_counted(c, &counted):
        return
    for row in range(begin, end):
        x, target, out = <const real*>c.x + row * n, c.target + row * n, <real*>c.out + row * n
        mark_others(counted, target, n)
        for t in range(n):
            out[t] = 0
        for t in range(n):
            if target[t] < 0:
                break
            out[target[t]] -= slopes(x, counted, out, n, 1 - x[target[t]], False, (<const real*>c.g)[row] / n)
    release(counted)


cdef TensorBase laid(TensorBase t, int code):
    t = as_code_tensor(t, code)
    return t if t.contiguous_ else contiguous_copy(t)


cdef TensorBase share(st_body single, st_body double_, str name, TensorBase x, TensorBase g, TensorBase target,
                      TensorBase weight, bint labels, double margin, bint squared):
    """The losses of the rows of x or, with g, their gradient; targets are one for a row or, with labels, one for each
    class."""
    cdef Scores c
    cdef int code = FLOAT64 if x.code == FLOAT64 else FLOAT32
    cdef TensorBase y, s, r, w = None, dloss = None
    cdef const int64_t* at
    cdef Py_ssize_t i, n
    if CATEGORY[x.code] != CAT_FLOAT:
        raise NotImplementedError(f"\"{name}\" not implemented for '{scalar_type(x.dtype)}'")
    if (x.ndim_ != 2 or target.count != (x.count if labels else x.shape_[0])
            or weight is not None and weight.count != x.shape_[1] or g is not None and g.count != x.shape_[0]):
        raise RuntimeError(f"{name}: inconsistent sizes")
    c.classes = n = x.shape_[1]
    y = laid(target, INT64)
    at = <const int64_t*>ptr(y)
    for i in range(y.count):
        if at[i] >= n or at[i] < (-1 if labels else 0):
            raise RuntimeError("target out of range")
    s = laid(x, code)
    r = empty(code, 1 if g is None else 2, x.shape_)
    c.x, c.out, c.target, c.margin, c.squared = ptr(s), ptr(r), at, margin, squared
    c.g = c.weight = NULL
    c.starved = False
    if g is not None:
        dloss = laid(g, code)
        c.g = ptr(dloss)
    if weight is not None:
        w = laid(weight, code)
        c.weight = ptr(w)
    with nogil:
        st_parallel(x.shape_[0], GRAIN // (n + 1) + 1, single if code == FLOAT32 else double_, &c)
    if c.starved:
        raise MemoryError
    return as_code_tensor(r, x.code)


def multi_margin(TensorBase x not None, TensorBase target not None, TensorBase weight, bint squared, double margin):
    """The loss of each row."""
    return share(<st_body>multi_rows[float], <st_body>multi_rows[double], "multi_margin_loss", x, None, target, weight,
                 False, margin, squared)


def multi_margin_backward(TensorBase grad not None, TensorBase x not None, TensorBase target not None,
                          TensorBase weight, bint squared, double margin):
    """The gradient of multi_margin with respect to x."""
    return share(<st_body>multi_slopes[float], <st_body>multi_slopes[double], "multi_margin_loss", x, grad, target,
                 weight, False, margin, squared)


def multilabel_margin(TensorBase x not None, TensorBase target not None):
    """The loss of each row."""
    return share(<st_body>multilabel_rows[float], <st_body>multilabel_rows[double], "multilabel_margin_loss", x, None,
                 target, None, True, 1, False)


def multilabel_margin_backward(TensorBase grad not None, TensorBase x not None, TensorBase target not None):
    """The gradient of multilabel_margin with respect to x."""
    return share(<st_body>multilabel_slopes[float], <st_body>multilabel_slopes[double], "multilabel_margin_loss", x,
                 grad, target, None, True, 1, False)
