"""Pooling on tensors: the forwards of the ops of ``_ops/pooling.py``. Maps have a batch and one to three dimensions."""
from libc.stdint cimport int64_t

from .._kernels.parallel cimport st_body
from .._kernels.pool cimport st_pool_kernels, st_windows
from .._kernels.scratch cimport release, scratch
from .._kernels.table cimport st_find_pool, st_parallel, st_shared_zero
from .dtype cimport (
    BFLOAT16, BOOL, CAT_INT, CATEGORY, FLOAT16, FLOAT32, FLOAT64, INT64, ITEMSIZE, dtype_of,
)
from .iterate cimport as_code_tensor, contiguous_copy
from .tensor cimport MAX_DIMS, TensorBase, describe_shape, empty, ptr

from .dtype import scalar_type


cdef class Windows:
    """The windows of a pooling: tables of where each starts and stops in each dimension, and what it divides by."""
    cdef st_windows w
    cdef Py_ssize_t* memory

    def __cinit__(self, size, out):
        cdef Py_ssize_t n = 0, at = 0
        cdef int d, k = len(out)
        for d in range(3):
            self.w.size[d] = size[len(size) - 3 + d] if d >= 3 - k else 1
            self.w.out[d] = out[d - 3 + k] if d >= 3 - k else 1
            self.w.step[d] = 1
            n += self.w.out[d]
        self.w.planes = 1
        for d in range(len(size) - k):
            self.w.planes *= size[d]
        self.memory = <Py_ssize_t*>scratch(3 * n * sizeof(Py_ssize_t))
        if self.memory == NULL:
            raise MemoryError
        for d in range(3):
            self.w.start[d], self.w.stop[d] = self.memory + at, self.memory + n + at
            self.w.count[d] = self.memory + 2 * n + at
            if d < 3 - k:
                self.put(d, 0, 0, 1, 1)
            at += self.w.out[d]

    def __dealloc__(self):
        release(self.memory)

    cdef void put(self, int d, Py_ssize_t o, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t count) noexcept:
        (<Py_ssize_t*>self.w.start[d])[o] = start
        (<Py_ssize_t*>self.w.stop[d])[o] = stop
        (<Py_ssize_t*>self.w.count[d])[o] = count


cdef Windows sliding(size, out, options):
    """Windows of a kernel's size that lie a stride apart. They count their padding, but not what is beyond it."""
    cdef object kernel = options[0], stride = options[1], padding = options[2], dilation = options[3]
    cdef bint count_padding = options[4]
    cdef Py_ssize_t divisor = options[5], count
    cdef Windows r = Windows(size, out)
    cdef int k = len(out), d, i
    cdef Py_ssize_t o, start, stop, step, first, length, taps, pad, low, high
    r.w.divisor = divisor
    for i in range(k):
        d = i + 3 - k
        taps, step, pad, length = kernel[i], dilation[i], padding[i], r.w.size[d]
        r.w.step[d] = step
        low, high = r.w.out[d], 0
        for o in range(r.w.out[d]):
            start = o * stride[i] - pad
            stop = start + (taps - 1) * step + 1
            first = start
            if start < 0:
                first = start + (-start + step - 1) // step * step
            if first >= min(stop, length):
                raise RuntimeError(f"pooling: a window of {taps} elements lies outside of the input of size {length}")
            if start >= 0 and stop <= length:
                low, high = min(low, o), o + 1
            count = min(stop, length + pad) - start if count_padding else min(stop, length) - first
            r.put(d, o, first, min(stop, length), count)
        if d == 2:
            r.w.stride, r.w.taps = stride[i], taps
            r.w.inner[0], r.w.inner[1] = min(low, high), high
    return r


cdef Windows cells(size, out):
    """Windows that share out the input evenly; neighbours may overlap by one."""
    cdef Windows r = Windows(size, out)
    cdef int k = len(out), d
    cdef Py_ssize_t o, start, stop
    for d in range(3 - k, 3):
        for o in range(r.w.out[d]):
            start = o * r.w.size[d] // r.w.out[d]
            stop = ((o + 1) * r.w.size[d] + r.w.out[d] - 1) // r.w.out[d]
            r.put(d, o, start, stop, stop - start)
    return r


cdef Windows windows_of(tuple size, tuple out, options):
    """The windows of these sizes, made once: the layers of a model ask for theirs in every step."""
    key = size, out, options
    windows = made.get(key)
    if windows is None:
        windows = make(size, out, options)
        if len(made) == MOST_MADE:
            made.clear()
        made[key] = windows
    return <Windows>windows


cdef dict made = {}
cdef enum:
    MOST_MADE = 64


cdef Windows make(tuple size, tuple out, options):
    cdef int k = len(out)
    if not 1 <= k <= 3 or len(size) <= k or min(*out, *size) < 0 or max(out) >= 1 << 31 or max(size) >= 1 << 40:
        raise RuntimeError(f"pooling: no windows that give {list(out)} of an input of size {list(size)}")
    if options is not None and not (len(options) == 6 and all([
            len(options[i]) == k and min(options[i]) >= (i != 2) and max(options[i]) < 1 << 31 for i in range(4)])):
        raise RuntimeError("pooling: kernel_size, stride, padding and dilation are given for each dimension, are "
                           "positive but for padding, and less than 2**31")
    return cells(size, out) if options is None else sliding(size, out, options)


cdef TensorBase ready(TensorBase t, str what):
    """t as the kernels take it."""
    cdef int code = t.code
    if code == FLOAT16 or code == BFLOAT16:
        code = FLOAT32
    elif CATEGORY[code] == CAT_INT:
        code = INT64
    if st_find_pool(code) == NULL or t.code == BOOL:
        raise NotImplementedError(f"\"{what}\" not implemented for '{scalar_type(dtype_of(t.code))}'")
    t = as_code_tensor(t, code)
    return t if t.contiguous_ else contiguous_copy(t)


cdef TensorBase like(TensorBase t, int code, tuple size, tuple out):
    """An empty tensor of t's leading dimensions and a spatial size."""
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef int i, k = len(out), n = len(size)
    for i in range(n):
        shape[i] = size[i] if i < n - k else out[i - n + k]
    return empty(code, n, shape)


# Planes are shared among threads.
ctypedef struct Planes:
    const st_pool_kernels* kernels
    const st_windows* w
    const char* source
    char* to
    int64_t* at
    Py_ssize_t from_, size             # bytes of a plane of the source and of the result
    Py_ssize_t places                  # windows of a plane

cdef enum:
    GRAIN = 1 << 15                    # elements that are worth a thread


cdef void largest_of_planes(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef const Planes* c = <const Planes*>context
    cdef st_windows w = c.w[0]
    w.planes = end - begin
    c.kernels.largest(&w, c.source + begin * c.from_, c.to + begin * c.size,
                      NULL if c.at == NULL else c.at + begin * c.places)


cdef void mean_of_planes(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef const Planes* c = <const Planes*>context
    cdef st_windows w = c.w[0]
    w.planes = end - begin
    c.kernels.mean(&w, c.source + begin * c.from_, c.to + begin * c.size)


cdef void spread_over_planes(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef const Planes* c = <const Planes*>context
    cdef st_windows w = c.w[0]
    w.planes = end - begin
    c.kernels.spread_mean(&w, c.source + begin * c.from_, c.to + begin * c.size)


cdef int share(st_body body, const st_windows* w, TensorBase source, TensorBase r, int64_t* at) except -1:
    """Make all planes of r of those of source."""
    cdef Planes c
    cdef Py_ssize_t n = w.planes, size = ITEMSIZE[r.code]
    if not r.count:
        return 0
    c.kernels, c.w, c.at = st_find_pool(source.code), w, at
    c.source, c.to, c.from_, c.size = ptr(source), ptr(r), source.count // n * size, r.count // n * size
    c.places = w.out[0] * w.out[1] * w.out[2]
    with nogil:
        st_parallel(n, GRAIN * size // max(c.from_, c.size, 1) + 1, body, &c)
    return 0


def largest(TensorBase self not None, tuple out, options, bint indices, str what):
    """The largest element of every window and, if asked for, its place in the plane (else None)."""
    cdef TensorBase x = ready(self, what), r, at = None
    cdef tuple size = tuple(self.size())
    cdef Windows windows = windows_of(size, out, options)
    cdef int64_t* places = NULL
    if x.code == FLOAT32 and windows.w.size[0] * windows.w.size[1] * windows.w.size[2] > 0x7fffffff:
        raise NotImplementedError(f"{what}: maps of more than 2**31 elements are not implemented")
    r = like(x, x.code, size, out)
    if indices:
        at = like(x, INT64, size, out)
        places = <int64_t*>ptr(at)
    share(largest_of_planes, &windows.w, x, r, places)
    return as_code_tensor(r, self.code), at


def mean(TensorBase self not None, tuple out, options, str what):
    """The mean of every window."""
    cdef TensorBase x = ready(self, what), r
    cdef tuple size = tuple(self.size())
    cdef Windows windows = windows_of(size, out, options)
    if CATEGORY[self.code] == CAT_INT and self.code != INT64:
        raise NotImplementedError(f"\"{what}\" not implemented for '{scalar_type(dtype_of(self.code))}'")
    r = like(x, x.code, size, out)
    share(mean_of_planes, &windows.w, x, r, NULL)
    return as_code_tensor(r, self.code)


def spread_mean(TensorBase grad not None, size, options):
    """What every element of an input of a size gets of the gradients of its windows' means."""
    cdef TensorBase g = ready(grad, "avg_pool"), r
    cdef tuple shape = tuple(size), out
    cdef Windows windows
    out = tuple(grad.size())[2:]
    windows = windows_of(shape, out, options)
    r = like(g, g.code, shape, shape[2:])
    share(spread_over_planes, &windows.w, g, r, NULL)
    return as_code_tensor(r, grad.code)


# ---------------------------------------------------------------- by index

ctypedef fused element:
    char
    short
    float
    double

# A plane of `n` places and one of `size` elements; called through st_body: the first parameter stands for the context.
ctypedef struct Places:
    void* to
    const void* source
    const int64_t* at
    Py_ssize_t n, size


cdef void put_planes(element* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef const Places* c = <const Places*>context
    cdef Py_ssize_t plane, i
    for plane in range(begin, end):
        for i in range(plane * c.n, (plane + 1) * c.n):
            (<element*>c.to)[plane * c.size + c.at[i]] = (<const element*>c.source)[i]


cdef void add_planes(element* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef const Places* c = <const Places*>context
    cdef Py_ssize_t plane, i
    for plane in range(begin, end):
        for i in range(plane * c.n, (plane + 1) * c.n):
            (<element*>c.to)[plane * c.size + c.at[i]] += (<const element*>c.source)[i]


cdef void take_planes(element* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef const Places* c = <const Places*>context
    cdef Py_ssize_t plane, i
    for plane in range(begin, end):
        for i in range(plane * c.n, (plane + 1) * c.n):
            (<element*>c.to)[i] = (<const element*>c.source)[plane * c.size + c.at[i]]


cdef void share_places(st_body body, Py_ssize_t n_planes, TensorBase r, TensorBase source, TensorBase at, Py_ssize_t n,
                       Py_ssize_t size) except *:
    cdef Places c
    c.to, c.source, c.at, c.n, c.size = ptr(r), ptr(source), <int64_t*>ptr(at), n, size
    with nogil:
        st_parallel(n_planes, GRAIN // (n + 1) + 1, body, &c)


cdef int check(TensorBase at, Py_ssize_t n_planes, Py_ssize_t n, Py_ssize_t limit) except -1:
    cdef const int64_t* index = <const int64_t*>ptr(at)
    cdef Py_ssize_t i
    for i in range(n_planes * n):
        if index[i] < 0 or index[i] >= limit:
            return bad_place(index[i], limit)
    return 0


cdef int bad_place(int64_t index, Py_ssize_t limit) except -1:
    raise RuntimeError(f"Found an invalid max index: {index} (of {limit} places)")


cdef tuple planes(TensorBase t, int leading):
    """How many planes t has, and how many elements each."""
    cdef Py_ssize_t n = 1, m = 1
    cdef int i
    for i in range(t.ndim_):
        if i < leading:
            n *= t.shape_[i]
        else:
            m *= t.shape_[i]
    return n, m


cdef st_body of_size(TensorBase t, st_body one, st_body two, st_body four, st_body eight) noexcept:
    """Of loops that move elements of 1, 2, 4 and 8 bytes the one for t's."""
    cdef Py_ssize_t size = ITEMSIZE[t.code]
    return four if size == 4 else eight if size == 8 else two if size == 2 else one


def put(TensorBase self not None, TensorBase indices not None, tuple out, bint add):
    """Planes (N, C, *out) that are zero but where indices (shaped as self) put self's elements, or their sums."""
    cdef TensorBase at = indices if indices.contiguous_ else contiguous_copy(indices), x = self, r
    cdef Py_ssize_t n, m, size
    cdef st_body body
    if add and x.code != FLOAT32 and x.code != FLOAT64:
        x = as_code_tensor(x, FLOAT32)
    if not x.contiguous_:
        x = contiguous_copy(x)
    r = like(x, x.code, tuple(x.size()), out)
    n, m = planes(x, x.ndim_ - len(out))
    size = r.count // n if n else 0
    st_shared_zero(ptr(r), r.count * ITEMSIZE[r.code])
    check(at, n, m, size)
    if add:
        body = <st_body>add_planes[float] if x.code == FLOAT32 else <st_body>add_planes[double]
    else:
        body = of_size(x, <st_body>put_planes[char], <st_body>put_planes[short], <st_body>put_planes[float],
                       <st_body>put_planes[double])
    share_places(body, n, r, x, at, m, size)
    return as_code_tensor(r, self.code)


def take(TensorBase self not None, TensorBase indices not None):
    """The elements of self's planes (N, C, ...) that indices (N, C, ...) name."""
    cdef TensorBase at = indices if indices.contiguous_ else contiguous_copy(indices), x = self, r
    cdef Py_ssize_t n, m, size
    cdef st_body body
    if not x.contiguous_:
        x = contiguous_copy(x)
    r = empty(x.code, at.ndim_, at.shape_)
    n, m = planes(at, 2)
    if planes(x, 2)[0] != n:
        raise RuntimeError(f"expected indices for {describe_shape(x)}, got {describe_shape(at)}")
    size = x.count // n if n else 0
    check(at, n, m, size)
    body = of_size(x, <st_body>take_planes[char], <st_body>take_planes[short], <st_body>take_planes[float],
                   <st_body>take_planes[double])
    share_places(body, n, r, x, at, m, size)
    return r
