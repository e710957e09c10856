"""Pooling on tensors: the forwards of the ops of ``_ops/pooling.py``. Maps have a batch and one to three dimensions."""
from libc.stdint cimport int64_t
from libc.string cimport memset

from .._kernels.pool cimport st_pool_kernels, st_windows
from .._kernels.scratch cimport release, scratch
from .._kernels.table cimport st_find_pool
from .dtype cimport (
    BFLOAT16, BOOL, CAT_INT, CATEGORY, FLOAT16, FLOAT32, FLOAT64, INT64, ITEMSIZE, dtype_of,
)
from .iterate cimport as_code_tensor, contiguous_copy
from .tensor cimport MAX_DIMS, TensorBase, describe_shape, empty, ptr

from .op import scalar_type


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


cdef Windows make(tuple size, tuple out, options):
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


def largest(TensorBase self not None, tuple out, options, bint indices, str what):
    """The largest element of every window and, if asked for, its place in the plane (else None)."""
    cdef TensorBase x = ready(self, what), r, at = None
    cdef tuple size = tuple(self.size())
    cdef Windows windows = make(size, out, options)
    cdef const st_pool_kernels* kernels = st_find_pool(x.code)
    cdef int64_t* places = NULL
    cdef void* values
    cdef const void* source
    if x.code == FLOAT32 and windows.w.size[0] * windows.w.size[1] * windows.w.size[2] > 0x7fffffff:
        raise NotImplementedError(f"{what}: maps of more than 2**31 elements are not implemented")
    r = like(x, x.code, size, out)
    if indices:
        at = like(x, INT64, size, out)
        places = <int64_t*>ptr(at)
    if r.count:
        values, source = ptr(r), ptr(x)
        with nogil:
            kernels.largest(&windows.w, source, values, places)
    return as_code_tensor(r, self.code), at


def mean(TensorBase self not None, tuple out, options, str what):
    """The mean of every window."""
    cdef TensorBase x = ready(self, what), r
    cdef tuple size = tuple(self.size())
    cdef Windows windows = make(size, out, options)
    cdef const st_pool_kernels* kernels = st_find_pool(x.code)
    cdef void* values
    cdef const void* source
    if CATEGORY[self.code] == CAT_INT and self.code != INT64:
        raise NotImplementedError(f"\"{what}\" not implemented for '{scalar_type(dtype_of(self.code))}'")
    r = like(x, x.code, size, out)
    if r.count:
        values, source = ptr(r), ptr(x)
        with nogil:
            kernels.mean(&windows.w, source, values)
    return as_code_tensor(r, self.code)


def spread_mean(TensorBase grad not None, size, options):
    """What every element of an input of a size gets of the gradients of its windows' means."""
    cdef TensorBase g = ready(grad, "avg_pool"), r
    cdef tuple shape = tuple(size), out
    cdef const st_pool_kernels* kernels = st_find_pool(g.code)
    cdef Windows windows
    cdef void* values
    cdef const void* source
    out = tuple(grad.size())[2:]
    windows = make(shape, out, options)
    r = like(g, g.code, shape, shape[2:])
    if r.count:
        values, source = ptr(r), ptr(g)
        with nogil:
            kernels.spread_mean(&windows.w, source, values)
    return as_code_tensor(r, grad.code)


# ---------------------------------------------------------------- by index

ctypedef fused element:
    char
    short
    float
    double


cdef void put_plane(element* to, const element* source, const int64_t* at, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        to[at[i]] = source[i]


cdef void add_plane(element* to, const element* source, const int64_t* at, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        to[at[i]] += source[i]


cdef void take_plane(element* to, const element* source, const int64_t* at, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        to[i] = source[at[i]]


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


def put(TensorBase self not None, TensorBase indices not None, tuple out, bint add):
    """Planes (N, C, *out) that are zero but where indices (shaped as self) put self's elements, or their sums."""
    cdef TensorBase at = indices if indices.contiguous_ else contiguous_copy(indices), x = self, r
    cdef Py_ssize_t n, m, size, i
    cdef int64_t* index
    if add and x.code != FLOAT32 and x.code != FLOAT64:
        x = as_code_tensor(x, FLOAT32)
    if not x.contiguous_:
        x = contiguous_copy(x)
    r = like(x, x.code, tuple(x.size()), out)
    n, m = planes(x, x.ndim_ - len(out))
    size = r.count // n if n else 0
    memset(ptr(r), 0, r.count * ITEMSIZE[r.code])
    check(at, n, m, size)
    index = <int64_t*>ptr(at)
    for i in range(n):
        if add:
            if x.code == FLOAT32:
                add_plane[float](<float*>ptr(r) + i * size, <float*>ptr(x) + i * m, index + i * m, m)
            else:
                add_plane[double](<double*>ptr(r) + i * size, <double*>ptr(x) + i * m, index + i * m, m)
        elif ITEMSIZE[x.code] == 4:
            put_plane[float](<float*>ptr(r) + i * size, <float*>ptr(x) + i * m, index + i * m, m)
        elif ITEMSIZE[x.code] == 8:
            put_plane[double](<double*>ptr(r) + i * size, <double*>ptr(x) + i * m, index + i * m, m)
        elif ITEMSIZE[x.code] == 2:
            put_plane[short](<short*>ptr(r) + i * size, <short*>ptr(x) + i * m, index + i * m, m)
        else:
            put_plane[char](ptr(r) + i * size, ptr(x) + i * m, index + i * m, m)
    return as_code_tensor(r, self.code)


def take(TensorBase self not None, TensorBase indices not None):
    """The elements of self's planes (N, C, ...) that indices (N, C, ...) name."""
    cdef TensorBase at = indices if indices.contiguous_ else contiguous_copy(indices), x = self, r
    cdef Py_ssize_t n, m, size, i
    cdef int64_t* index
    if not x.contiguous_:
        x = contiguous_copy(x)
    r = empty(x.code, at.ndim_, at.shape_)
    n, m = planes(at, 2)
    if planes(x, 2)[0] != n:
        raise RuntimeError(f"expected indices for {describe_shape(x)}, got {describe_shape(at)}")
    size = x.count // n if n else 0
    check(at, n, m, size)
    index = <int64_t*>ptr(at)
    for i in range(n):
        if ITEMSIZE[x.code] == 4:
            take_plane[float](<float*>ptr(r) + i * m, <float*>ptr(x) + i * size, index + i * m, m)
        elif ITEMSIZE[x.code] == 8:
            take_plane[double](<double*>ptr(r) + i * m, <double*>ptr(x) + i * size, index + i * m, m)
        elif ITEMSIZE[x.code] == 2:
            take_plane[short](<short*>ptr(r) + i * m, <short*>ptr(x) + i * size, index + i * m, m)
        else:
            take_plane[char](ptr(r) + i * m, ptr(x) + i * size, index + i * m, m)
    return r
