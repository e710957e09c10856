"""Padding on tensors, one pass over the result: the forwards of ops in ``_ops/arranging.py``.

Tables name for every place of a padded dimension the element of the input that stands there.
"""
from libc.stdint cimport int16_t, int64_t, uint8_t
from libc.string cimport memcpy

from .._kernels.elements cimport doublecomplex, real, word
from .._kernels.parallel cimport st_body
from .._kernels.scratch cimport release, scratch
from .._kernels.table cimport st_parallel, st_shared_zero
from .dtype cimport FLOAT32, FLOAT64, ITEMSIZE
from .iterate cimport as_code_tensor, contiguous_copy
from .tensor cimport MAX_DIMS, ON_DEVICE, SPARSE, TensorBase, empty, ptr, scalar_tensor

cdef enum:
    GRAIN = 1 << 14                    # elements that are worth a thread

# `run` elements of a row from `lead` on come from neighbours. A body is a function of an element type, called through
# st_body: its first parameter stands for the context.
ctypedef struct Frame:
    void* padded
    void* inner
    const void* value                  # of what comes from nowhere
    int k                              # padded dimensions, the last ones
    Py_ssize_t outer                   # product of the others
    Py_ssize_t size[MAX_DIMS]          # of the padded dimensions, without padding and
    Py_ssize_t out[MAX_DIMS]           # with it
    int64_t* places[MAX_DIMS]          # -1: nowhere
    Py_ssize_t rows, lead, run         # rows of one outer place


cdef int64_t source_of(int64_t p, int64_t n, str mode):
    """Of place p of a dimension of n elements beyond whose ends there is padding."""
    if 0 <= p < n:
        return p
    if mode == "constant":
        return -1
    if mode == "replicate":
        return 0 if p < 0 else n - 1
    if mode == "circular":
        return ((p % n) + n) % n if n else -1
    return -p if p < 0 else 2 * (n - 1) - p


cdef int check_sizes(Py_ssize_t ndim, tuple before, tuple after) except -1:
    if not 0 < len(before) == len(after) <= ndim:
        raise RuntimeError(f"padding: {len(before)} sizes before and {len(after)} after do not fit {ndim} dimensions")
    return 0


cdef class Tables:
    """The frame of a padding of maps of a shape, and the memory of its tables."""
    cdef Frame f
    cdef int64_t* memory

    def __cinit__(self, tuple shape, tuple before, tuple after, str mode):
        cdef Frame* f = &self.f
        cdef Py_ssize_t first, total = 0, j
        cdef int64_t lowest = -1 if mode == "constant" else 0
        cdef int64_t* at
        cdef int d, leading = len(shape) - len(before)
        check_sizes(len(shape), before, after)
        f.k, f.outer, f.rows, f.lead, f.run = len(before), 1, 1, 0, 0
        for d in range(leading):
            f.outer *= shape[d]
        for d in range(f.k):
            f.size[d] = shape[leading + d]
            f.out[d] = max(f.size[d] + <Py_ssize_t>before[d] + <Py_ssize_t>after[d], 0)
            total += f.out[d]
            if d < f.k - 1:
                f.rows *= f.out[d]
        at = self.memory = <int64_t*>scratch((total + 1) * sizeof(int64_t))
        if at == NULL:
            raise MemoryError
        for d in range(f.k):
            f.places[d] = at
            first = before[d]
            for j in range(f.out[d]):
                at[j] = j - first if 0 <= j - first < f.size[d] else source_of(j - first, f.size[d], mode)
                if not lowest <= at[j] < f.size[d]:
                    raise RuntimeError(f"padding {mode} of {before} and {after} does not fit the size {shape}")
            at += f.out[d]
        f.lead = min(max(first, 0), f.out[f.k - 1])
        f.run = max(0, min(f.out[f.k - 1], f.size[f.k - 1] + first) - f.lead)

    def __dealloc__(self):
        release(self.memory)


cdef Py_ssize_t inner_row(const Frame* f, Py_ssize_t row) noexcept nogil:
    """The row of the input that a row of the result comes from, -1 for nowhere."""
    cdef Py_ssize_t found = 0, scale = 1, place
    cdef int d
    for d in range(f.k - 2, -1, -1):
        place = f.places[d][row % f.out[d]]
        if place < 0:
            return -1
        found += place * scale
        scale *= f.size[d]
        row //= f.out[d]
    return row * scale + found


cdef void fill_rows(word* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Rows of the result."""
    cdef const Frame* f = <const Frame*>context
    cdef Py_ssize_t row, found, i, lead = f.lead, run = f.run, out = f.out[f.k - 1], size = f.size[f.k - 1]
    cdef Py_ssize_t y, tall = f.out[f.k - 2] if f.k > 1 else 1, start = 0, place
    cdef const int64_t* at = f.places[f.k - 1]
    cdef const int64_t* down = f.places[f.k - 2] if f.k > 1 else NULL
    cdef const word* source
    cdef word* to
    cdef word value = (<const word*>f.value)[0]
    y = begin % tall - 1
    for row in range(begin, end):
        to = <word*>f.padded + row * out
        y += 1
        if y == tall:
            y = 0
        place = 0 if down == NULL else down[y]
        if y == 0 or row == begin or start < 0:
            found = inner_row(f, row)  # divides: once a map, whose rows follow from the first that comes from somewhere
            start = found - place if found >= 0 else -1
        else:
            found = start + place if place >= 0 else -1
        if found < 0:
            for i in range(out):
                to[i] = value
            continue
        source = <const word*>f.inner + found * size
        for i in range(lead):
            to[i] = source[at[i]] if at[i] >= 0 else value
        if run > 0:
            memcpy(to + lead, source + at[lead], run * sizeof(word))
        for i in range(lead + run, out):
            to[i] = source[at[i]] if at[i] >= 0 else value


cdef void add_maps(real* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Outer places of the unpadded maps."""
    cdef const Frame* f = <const Frame*>context
    cdef Py_ssize_t row, i, lead = f.lead, run = f.run, out = f.out[f.k - 1], size = f.size[f.k - 1]
    cdef const int64_t* at = f.places[f.k - 1]
    cdef const real* g
    cdef real* to
    cdef real* line
    for row in range(begin * f.rows, end * f.rows):
        g = <const real*>f.padded + row * out
        to = <real*>f.inner + inner_row(f, row) * size
        for i in range(lead):
            to[at[i]] += g[i]
        if run > 0:
            line = to + at[lead]
            for i in range(run):
                line[i] += g[lead + i]
        for i in range(lead + run, out):
            to[at[i]] += g[i]


cdef TensorBase with_sizes(int code, tuple shape, Py_ssize_t* sizes, int k):
    """An empty tensor of a shape whose last k sizes are others."""
    cdef Py_ssize_t full[MAX_DIMS]
    cdef int i, n = len(shape)
    for i in range(n):
        full[i] = shape[i] if i < n - k else sizes[i - n + k]
    return empty(code, n, full)


def takes(TensorBase t not None):
    """Whether t's memory can be read here."""
    return not t.flags & (SPARSE | ON_DEVICE) and t.storage is not None


def padded(TensorBase t not None, tuple before, tuple after, str mode, value=0):
    """The last dimensions with so much before and after them (cut off where negative), in the mode; contiguous."""
    cdef TensorBase x = t if t.contiguous_ else contiguous_copy(t), one = scalar_tensor(t.code, value), r
    cdef tuple shape = tuple(t.size())
    cdef Tables tables = Tables(shape, before, after, mode)
    cdef Frame* f = &tables.f
    cdef Py_ssize_t size = ITEMSIZE[t.code]
    cdef st_body body
    r = with_sizes(t.code, shape, f.out, f.k)
    if not r.count:
        return r
    f.padded, f.inner, f.value = ptr(r), ptr(x), ptr(one)
    body = (<st_body>fill_rows[float] if size == 4 else <st_body>fill_rows[double] if size == 8
            else <st_body>fill_rows[int16_t] if size == 2 else <st_body>fill_rows[uint8_t] if size == 1
            else <st_body>fill_rows[doublecomplex])
    with nogil:
        st_parallel(f.outer * f.rows, GRAIN // (f.out[f.k - 1] + 1) + 1, body, f)
    return r


def folded(TensorBase grad not None, tuple before, tuple after, str mode):
    """The transpose of `padded` for a mode that takes nothing from nowhere: real elements added up where they came
    from."""
    cdef int code = grad.code if grad.code == FLOAT64 else FLOAT32
    cdef TensorBase g = as_code_tensor(grad, code), r
    cdef int leading = grad.ndim_ - len(before), d
    cdef list shape = list(grad.size())
    cdef Tables tables
    cdef Frame* f
    check_sizes(grad.ndim_, before, after)
    for d in range(len(before)):
        shape[leading + d] -= before[d] + after[d]
    tables = Tables(tuple(shape), before, after, mode)
    f = &tables.f
    r = with_sizes(code, tuple(shape), f.size, f.k)
    if not g.contiguous_:
        g = contiguous_copy(g)
    if not r.count:
        return as_code_tensor(r, grad.code)
    st_shared_zero(ptr(r), r.count * ITEMSIZE[code])
    f.padded, f.inner = ptr(g), ptr(r)
    with nogil:
        st_parallel(f.outer, GRAIN // (g.count // f.outer + 1) + 1,
                    <st_body>add_maps[float] if code == FLOAT32 else <st_body>add_maps[double], f)
    return as_code_tensor(r, grad.code)
