"""Look-ups by index and their gradients: rows of a table, the classes of a loss; forwards of ops in ``_ops/nn.py``."""
from libc.stdint cimport int64_t
from libc.string cimport memset

from .._kernels.move cimport st_move
from .._kernels.parallel cimport st_body
from .._kernels.table cimport st_find_rows, st_parallel, st_rows_op, st_shared_rows, st_shared_zero
from .dtype cimport CAT_FLOAT, CATEGORY, FLOAT32, FLOAT64, INT32, INT64, ITEMSIZE, UINT8
from .iterate cimport as_code_tensor, contiguous_copy
from .tensor cimport MAX_DIMS, TensorBase, describe_shape, empty, ptr

from .dtype import scalar_type

ctypedef fused real:
    float
    double


cdef TensorBase as_indices(TensorBase t, str name):
    """A contiguous int64 index tensor."""
    if t.code != INT64:
        if t.code != INT32 and t.code != UINT8:
            raise RuntimeError(f"{name}: expected an index tensor of type Long or Int, but got {scalar_type(t.dtype)}")
        t = as_code_tensor(t, INT64)
    return t if t.contiguous_ else contiguous_copy(t)


cdef Py_ssize_t find_outside(const int64_t* index, Py_ssize_t n, int64_t limit) noexcept nogil:
    """The first place whose index is not in [0, limit); -1 if there is none."""
    cdef Py_ssize_t i
    for i in range(n):
        if index[i] < 0 or index[i] >= limit:
            return i
    return -1


# What the pieces of a loop over rows share; each is called through st_body.
ctypedef struct Rows:
    char* to
    const char* source
    const int64_t* at
    Py_ssize_t n, row                  # of rows; bytes of a row, or its elements where these are added up
    int64_t skip

cdef enum:
    GRAIN = 1 << 17                    # bytes that are worth a thread
    NARROW = 64                        # neighbours that are added up at once


cdef void copy_rows(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Rows* c = <Rows*>context
    cdef Py_ssize_t k
    for k in range(begin, end):
        st_move(c.to + k * c.row, c.source + c.at[k] * c.row, c.row)


def rows(TensorBase weight not None, TensorBase indices not None):
    """The rows of weight (V, ...) that indices name: shape indices.shape + weight.shape[1:]."""
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef TensorBase index, r
    cdef int i
    cdef Rows c
    if weight.ndim_ == 0:
        raise RuntimeError("'weight' must be 2-D")
    index = as_indices(indices, "embedding")
    if not weight.contiguous_:
        weight = contiguous_copy(weight)
    if indices.ndim_ + weight.ndim_ - 1 > MAX_DIMS:
        raise RuntimeError("embedding: too many dimensions")
    for i in range(indices.ndim_):
        shape[i] = indices.shape_[i]
    for i in range(1, weight.ndim_):
        shape[indices.ndim_ + i - 1] = weight.shape_[i]
    c.at = <const int64_t*>ptr(index)
    if find_outside(c.at, index.count, weight.shape_[0]) >= 0:
        raise IndexError("index out of range in self")
    r = empty(weight.code, indices.ndim_ + weight.ndim_ - 1, shape)
    if r.count == 0:
        return r
    c.row = weight.count // weight.shape_[0] * ITEMSIZE[weight.code]
    c.source, c.to, c.n = ptr(weight), ptr(r), index.count
    with nogil:
        st_parallel(c.n, GRAIN // c.row + 1, copy_rows, &c)
    return r


cdef void add_columns(real* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Blocks of NARROW columns of all rows: no two add to the same element. real* stands for the context's type."""
    cdef Rows* c = <Rows*>context
    cdef Py_ssize_t i, k, first = begin * NARROW, last = min(end * NARROW, c.row)
    cdef real* row
    cdef const real* added
    for i in range(c.n):
        if c.at[i] == c.skip:
            continue
        row, added = <real*>c.to + c.at[i] * c.row, <const real*>c.source + i * c.row
        for k in range(first, last):
            row[k] += added[k]


def rows_backward(TensorBase grad not None, TensorBase indices not None, Py_ssize_t n_rows, int64_t skip):
    """Rows of grad summed where indices put them, in a table of n_rows; the row ``skip`` stays 0."""
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef TensorBase index = as_indices(indices, "embedding"), g = grad, r
    cdef int i, code = grad.code
    cdef Py_ssize_t width = 1
    cdef Rows c
    if code != FLOAT32 and code != FLOAT64:
        g = as_code_tensor(g, FLOAT32)
    if not g.contiguous_:
        g = contiguous_copy(g)
    shape[0] = n_rows
    for i in range(indices.ndim_, grad.ndim_):
        shape[i - indices.ndim_ + 1] = grad.shape_[i]
        width *= grad.shape_[i]
    if index.count * width != g.count:
        raise RuntimeError(f"embedding backward: gradient of size {describe_shape(grad)} for indices of size "
                           f"{describe_shape(indices)}")
    if find_outside(<const int64_t*>ptr(index), index.count, n_rows) >= 0:
        raise IndexError("index out of range in self")
    r = empty(g.code, grad.ndim_ - indices.ndim_ + 1, shape)
    c.to, c.source, c.at, c.n, c.row, c.skip = ptr(r), ptr(g), <const int64_t*>ptr(index), index.count, width, skip
    with nogil:
        st_shared_zero(c.to, r.count * ITEMSIZE[r.code])
        if width:
            st_parallel((width + NARROW - 1) // NARROW, GRAIN // (4 * c.n * min(width, <Py_ssize_t>NARROW) + 1) + 1,
                        <st_body>add_columns[float] if g.code == FLOAT32 else <st_body>add_columns[double], &c)
    return as_code_tensor(r, code)


# ---------------------------------------------------------------- negative log-likelihood

cdef void nll_sum_rows(const real* x, const int64_t* target, const real* weight, Py_ssize_t n, Py_ssize_t classes,
                       int64_t ignore, double* total, double* sum_) noexcept nogil:
    """Minus the (weighted) sum of x at the targets, and the sum of the weights."""
    cdef Py_ssize_t i
    cdef double s = 0, w = 0
    for i in range(n):
        if target[i] == ignore:
            continue
        if weight == NULL:
            s -= x[i * classes + target[i]]
            w += 1
        else:
            s -= x[i * classes + target[i]] * weight[target[i]]
            w += weight[target[i]]
    sum_[0] = s
    total[0] = w


cdef void nll_rows_backward(real* out, real scale, const int64_t* target, const real* weight, Py_ssize_t n,
                            Py_ssize_t classes, int64_t ignore) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        if target[i] != ignore:
            out[i * classes + target[i]] = scale if weight == NULL else scale * weight[target[i]]


cdef TensorBase checked_targets(TensorBase target, Py_ssize_t n, Py_ssize_t classes, int64_t ignore):
    cdef TensorBase t = as_indices(target, "nll_loss")
    cdef const int64_t* at = <const int64_t*>ptr(t)
    cdef Py_ssize_t i
    if t.count != n:
        raise ValueError(f"Expected input batch_size ({n}) to match target batch_size ({t.count}).")
    for i in range(n):
        if at[i] != ignore and (at[i] < 0 or at[i] >= classes):
            raise IndexError(f"Target {at[i]} is out of bounds.")
    return t


cdef TensorBase class_weights(TensorBase weight, TensorBase x, Py_ssize_t classes):
    if weight is None:
        return None
    if weight.count != classes:
        raise RuntimeError(f"weight tensor should be defined either for all {classes} classes or no classes but got "
                           f"weight tensor of shape: {describe_shape(weight)}")
    weight = as_code_tensor(weight, x.code)
    return weight if weight.contiguous_ else contiguous_copy(weight)


def nll(TensorBase input not None, TensorBase target not None, TensorBase weight, int64_t ignore_index, bint mean):
    """Minus the sum, or weighted mean, of input (N, C) at the classes target (N); and the sum of the weights."""
    cdef TensorBase x = input, t, w, r
    cdef double total = 0, s = 0
    cdef int code = input.code
    if CATEGORY[code] != CAT_FLOAT:
        raise NotImplementedError(f"\"nll_loss_out_frame\" not implemented for '{scalar_type(input.dtype)}'")
    if input.ndim_ != 2:
        raise ValueError(f"Expected 2 dimensions (got {input.ndim_})")
    if code != FLOAT32 and code != FLOAT64:
        x = as_code_tensor(x, FLOAT32)
    if not x.contiguous_:
        x = contiguous_copy(x)
    t = checked_targets(target, x.shape_[0], x.shape_[1], ignore_index)
    w = class_weights(weight, x, x.shape_[1])
    if x.code == FLOAT32:
        nll_sum_rows[float](<float*>ptr(x), <int64_t*>ptr(t), NULL if w is None else <float*>ptr(w), x.shape_[0],
                            x.shape_[1], ignore_index, &total, &s)
    else:
        nll_sum_rows[double](<double*>ptr(x), <int64_t*>ptr(t), NULL if w is None else <double*>ptr(w), x.shape_[0],
                             x.shape_[1], ignore_index, &total, &s)
    if mean:
        s = s / total                  # NaN for no target, as torch has it
    r = empty(x.code, 0, NULL)
    if x.code == FLOAT32:
        (<float*>ptr(r))[0] = <float>s
    else:
        (<double*>ptr(r))[0] = s
    return as_code_tensor(r, code), total


def nll_backward(TensorBase grad not None, size, TensorBase target not None, TensorBase weight, int64_t ignore_index,
                 bint mean, double total):
    """The gradient of ``nll`` with respect to its input, of the given size (N, C)."""
    cdef Py_ssize_t shape[2]
    cdef TensorBase g = grad, t, w, r
    cdef double scale
    cdef int code = grad.code
    if code != FLOAT32 and code != FLOAT64:
        g = as_code_tensor(g, FLOAT32)
    shape[0], shape[1] = size
    r = empty(g.code, 2, shape)
    memset(ptr(r), 0, r.count * ITEMSIZE[r.code])
    t = checked_targets(target, shape[0], shape[1], ignore_index)
    w = class_weights(weight, g, shape[1])
    scale = -1.0 / total if mean else -1.0
    if g.code == FLOAT32:
        nll_rows_backward[float](<float*>ptr(r), <float>(scale * (<float*>ptr(g))[0]), <int64_t*>ptr(t),
                                 NULL if w is None else <float*>ptr(w), shape[0], shape[1], ignore_index)
    else:
        nll_rows_backward[double](<double*>ptr(r), scale * (<double*>ptr(g))[0], <int64_t*>ptr(t),
                                  NULL if w is None else <double*>ptr(w), shape[0], shape[1], ignore_index)
    return as_code_tensor(r, code)


# ---------------------------------------------------------------- each on its own, of maps (N, C, ...) too

ctypedef struct Classes:
    void* one                          # an element for each target
    void* all                          # and one for each class of it
    const void* weight
    const int64_t* target
    Py_ssize_t classes, inner
    int64_t ignore


cdef void pick_classes(real* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef const Classes* c = <const Classes*>context
    cdef const real* weight = <const real*>c.weight
    cdef Py_ssize_t e, i = begin % c.inner
    cdef const real* x = <const real*>c.all + (begin - i) * c.classes
    cdef int64_t k
    cdef real picked
    for e in range(begin, end):
        k, picked = c.target[e], 0
        if k != c.ignore:
            picked = -x[k * c.inner + i]
            if weight != NULL:
                picked *= weight[k]
        (<real*>c.one)[e] = picked
        i += 1
        if i == c.inner:
            i, x = 0, x + c.classes * c.inner


cdef void put_classes(real* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef const Classes* c = <const Classes*>context
    cdef const real* weight = <const real*>c.weight
    cdef Py_ssize_t e, i = begin % c.inner
    cdef real* r = <real*>c.all + (begin - i) * c.classes
    cdef int64_t k
    cdef real g
    for e in range(begin, end):
        k, g = c.target[e], -(<const real*>c.one)[e]
        if k != c.ignore:
            r[k * c.inner + i] = g if weight == NULL else g * weight[k]
        i += 1
        if i == c.inner:
            i, r = 0, r + c.classes * c.inner


cdef int share_classes(st_body single, st_body double_, TensorBase one, TensorBase all_, TensorBase target,
                       TensorBase weight, int64_t ignore) except -1:
    cdef Classes c
    cdef TensorBase t, w
    cdef st_body body = single if all_.code == FLOAT32 else double_
    c.classes, c.ignore = all_.shape_[1], ignore
    t, w = checked_targets(target, one.count, c.classes, ignore), class_weights(weight, all_, c.classes)
    if not one.count:
        return 0
    c.inner = one.count // all_.shape_[0]
    c.one, c.all, c.weight, c.target = ptr(one), ptr(all_), NULL if w is None else ptr(w), <const int64_t*>ptr(t)
    with nogil:
        st_parallel(one.count, GRAIN // 16, body, &c)
    return 0


def nll_each(TensorBase input not None, TensorBase target not None, TensorBase weight, int64_t ignore_index):
    """Minus input (N, C, ...) at the classes target (N, ...), times the weight of the class; 0 where ignored."""
    cdef TensorBase x = input, r
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef int code = input.code, i
    if CATEGORY[code] != CAT_FLOAT:
        raise NotImplementedError(f"\"nll_loss_out_frame\" not implemented for '{scalar_type(input.dtype)}'")
    if code != FLOAT32 and code != FLOAT64:
        x = as_code_tensor(x, FLOAT32)
    if not x.contiguous_:
        x = contiguous_copy(x)
    for i in range(x.ndim_):
        if i != 1:
            shape[i - (i > 1)] = x.shape_[i]
    r = empty(x.code, x.ndim_ - 1, shape)
    share_classes(<st_body>pick_classes[float], <st_body>pick_classes[double], r, x, target, weight, ignore_index)
    return as_code_tensor(r, code)


def nll_spread(TensorBase grad not None, Py_ssize_t classes, TensorBase target not None, TensorBase weight,
               int64_t ignore_index):
    """The gradient of ``nll_each`` with respect to its input of so many classes."""
    cdef int code = grad.code, i
    cdef TensorBase g = as_code_tensor(grad, code if code == FLOAT64 else FLOAT32), r
    cdef Py_ssize_t shape[MAX_DIMS]
    if not g.contiguous_:
        g = contiguous_copy(g)
    shape[1] = classes
    for i in range(g.ndim_):
        shape[i + (i > 0)] = g.shape_[i]
    r = empty(g.code, g.ndim_ + 1, shape)
    st_shared_zero(ptr(r), r.count * ITEMSIZE[r.code])
    share_classes(<st_body>put_classes[float], <st_body>put_classes[double], g, r, target, weight, ignore_index)
    return as_code_tensor(r, code)


# ---------------------------------------------------------------- the same after log_softmax

def is_plain(TensorBase t not None):
    """Whether the loops on memory take t: of float or double, on the CPU, contiguous, and nothing special."""
    return (t.code == FLOAT32 or t.code == FLOAT64) and not t.flags and t.contiguous_ and t.storage is not None


cdef void class_shares(real* sums, real scale, const int64_t* target, const real* weight, Py_ssize_t n,
                       int64_t ignore) noexcept nogil:
    """The gradient of every row at its class."""
    cdef Py_ssize_t i
    for i in range(n):
        sums[i] = 0 if target[i] == ignore else scale if weight == NULL else scale * weight[target[i]]


cdef void add_shares(real* out, const real* sums, const int64_t* target, Py_ssize_t n, Py_ssize_t classes,
                     int64_t ignore) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        if target[i] != ignore:
            out[i * classes + target[i]] += sums[i]


def nll_backward_softmax(TensorBase out not None, TensorBase grad not None, size, TensorBase target not None,
                         TensorBase weight, int64_t ignore_index, bint mean, double total):
    """The gradient of ``nll(log_softmax(x))`` with respect to x: of what ``nll_backward`` and then that of log_softmax
    along the last dimension give, whose result is out (N, C)."""
    cdef TensorBase g = as_code_tensor(grad, out.code), t, w, r, sums
    cdef Py_ssize_t n = out.shape_[0], classes = out.shape_[1], s = ITEMSIZE[out.code]
    cdef char* ptrs[3]
    cdef Py_ssize_t rows[3]
    cdef Py_ssize_t columns[3]
    cdef double scale = -1.0 / total if mean else -1.0
    t = checked_targets(target, n, classes, ignore_index)
    w = class_weights(weight, out, classes)
    r, sums = empty(out.code, 2, out.shape_), empty(out.code, 1, out.shape_)
    if r.count == 0:
        return r
    if out.code == FLOAT32:
        class_shares[float](<float*>ptr(sums), <float>(scale * (<float*>ptr(g))[0]), <int64_t*>ptr(t),
                            NULL if w is None else <float*>ptr(w), n, ignore_index)
    else:
        class_shares[double](<double*>ptr(sums), scale * (<double*>ptr(g))[0], <int64_t*>ptr(t),
                             NULL if w is None else <double*>ptr(w), n, ignore_index)
    ptrs[0], ptrs[1], ptrs[2] = ptr(r), ptr(sums), ptr(out)
    rows[0] = rows[2] = classes * s
    rows[1] = s                        # the kernel reads one element of a row of sums
    columns[0] = columns[1] = columns[2] = s
    with nogil:
        st_shared_rows(st_find_rows(st_rows_op(b"log_softmax_shared"), out.code), 3, ptrs, rows, columns, 1,
                       n * classes * s, n, classes)
    if out.code == FLOAT32:
        add_shares[float](<float*>ptr(r), <float*>ptr(sums), <int64_t*>ptr(t), n, classes, ignore_index)
    else:
        add_shares[double](<double*>ptr(r), <double*>ptr(sums), <int64_t*>ptr(t), n, classes, ignore_index)
    return r
