"""Forwards of the ops that give another view on the same memory; their declarations are in ``_ops/shape.py``."""
from .dtype cimport CATEGORY, CAT_INT, ITEMSIZE
from .policy cimport thread_state
from .tensor cimport (
    MAX_DIMS, VIEW_DEFAULT, VIEW_MULTI_OUTPUT, VIEW_NO_GRAD, TensorBase, count_elements, describe_shape,
    make_size, parse_shape, span_of, strided_alias, wrap_dim,
)

from .dtype import PYTHON_TYPES, scalar_type


cdef TensorBase make_view(TensorBase t, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides,
                          Py_ssize_t offset):
    """A differentiable view of t; offset in bytes."""
    cdef TensorBase r = strided_alias(t, ndim, shape, strides, offset)
    r.base = t if t.base is None else t.base
    if not thread_state().grad_enabled:
        r.view_kind = VIEW_NO_GRAD
    elif t.view_kind:
        r.view_kind = t.view_kind
    r.view_version = t.storage.version
    return r


def alias(TensorBase t not None):
    """The same view again; of a sparse tensor, another tensor of the same parts."""
    if t.storage is None:
        return strided_alias(t, t.ndim_, t.shape_, t.strides_, t.offset)
    return make_view(t, t.ndim_, t.shape_, t.strides_, t.offset)


cdef object too_many_dims():
    return RuntimeError(f"shimtorch tensors have at most {MAX_DIMS} dimensions")


cdef int infer_size(TensorBase t, int ndim, Py_ssize_t* shape, object given) except -1:
    """Replace a -1 in shape, and check that the sizes multiply to t's number of elements."""
    cdef int i, unknown = -1
    cdef Py_ssize_t n
    for i in range(ndim):
        if shape[i] == -1:
            if unknown >= 0:
                raise RuntimeError("only one dimension can be inferred")
            unknown = i
        elif shape[i] < 0:
            raise RuntimeError(f"invalid shape dimension {shape[i]} at index {i} of shape "
                               f"{list(make_size(ndim, shape))}")
    if unknown >= 0:
        shape[unknown] = 1
    n = count_elements(ndim, shape)
    if unknown >= 0:
        shape[unknown] = -1
        if n == 0:
            if t.count == 0:
                raise RuntimeError(f"cannot reshape tensor of 0 elements into shape {list(make_size(ndim, shape))} "
                                   "because the unspecified dimension size -1 can be any value and is ambiguous")
        elif t.count % n == 0:
            shape[unknown] = t.count // n
            return 0
        raise RuntimeError(f"shape '{list(make_size(ndim, shape))}' is invalid for input of size {t.count}")
    if n != t.count:
        raise RuntimeError(f"shape '{list(make_size(ndim, shape))}' is invalid for input of size {t.count}")
    return 0


cdef bint view_strides(TensorBase t, int ndim, const Py_ssize_t* shape, Py_ssize_t* strides) noexcept:
    """Strides that show t's memory in another shape; False where there are none."""
    cdef Py_ssize_t old_shape[MAX_DIMS]
    cdef Py_ssize_t old_strides[MAX_DIMS]
    cdef Py_ssize_t n = 1, chunk, step
    cdef int i, d, n_old = 0
    if t.contiguous_:
        for i in range(ndim - 1, -1, -1):
            strides[i] = n
            n *= shape[i] if shape[i] > 1 else 1
        return True
    # old dimensions of size 1 say nothing; runs of the others that lie evenly in memory are cut into new ones
    for d in range(t.ndim_):
        if t.shape_[d] != 1:
            old_shape[n_old], old_strides[n_old] = t.shape_[d], t.strides_[d]
            n_old += 1
    i = ndim - 1
    d = n_old - 1
    while d >= 0:
        chunk = old_shape[d]
        step = old_strides[d]
        while d > 0 and old_strides[d - 1] == old_shape[d] * old_strides[d]:
            d -= 1
            chunk *= old_shape[d]
        n = 1
        while i >= 0 and (n < chunk or shape[i] == 1):
            strides[i] = step * n
            n *= shape[i]
            i -= 1
        if n != chunk:
            return False
        d -= 1
    while i >= 0:
        if shape[i] != 1:
            return False
        strides[i] = 1
        i -= 1
    return True


def view(TensorBase self not None, *size):
    """The same memory in another shape; one size may be -1. A dtype argument reinterprets the bytes."""
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef Py_ssize_t strides[MAX_DIMS]
    cdef int ndim
    if len(size) == 1 and not isinstance(size[0], (int, tuple, list)):
        if isinstance(size[0], type) and size[0] in PYTHON_TYPES:
            return view_dtype(self, PYTHON_TYPES[size[0]])
        if isinstance(size[0], TensorBase) is False and hasattr(size[0], "itemsize") and hasattr(size[0], "is_signed"):
            return view_dtype(self, size[0])
    ndim = parse_shape(size, shape)
    self.need_memory("view")
    infer_size(self, ndim, shape, size)
    if not view_strides(self, ndim, shape, strides):
        raise RuntimeError("view size is not compatible with input tensor's size and stride (at least one dimension "
                           "spans across two contiguous subspaces). Use .reshape(...) instead.")
    return make_view(self, ndim, shape, strides, self.offset)


cdef str resized(TensorBase t, object dtype):
    return f"view {scalar_type(t.dtype)} as {scalar_type(dtype)} (different element sizes)"


cdef TensorBase view_dtype(TensorBase t, object dtype):
    """The bytes of t as another dtype."""
    cdef TensorBase r
    cdef int code = dtype.code, i, old = ITEMSIZE[t.code], new = ITEMSIZE[code]
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef Py_ssize_t strides[MAX_DIMS]
    for i in range(t.ndim_):
        shape[i] = t.shape_[i]
        strides[i] = t.strides_[i]
    if old != new:
        if t.ndim_ == 0:
            raise RuntimeError(f"self.dim() cannot be 0 to {resized(t, dtype)}")
        if t.strides_[t.ndim_ - 1] != 1:
            raise RuntimeError(f"self.stride(-1) must be 1 to {resized(t, dtype)}, but got "
                               f"{t.strides_[t.ndim_ - 1]}")
        if old > new:
            for i in range(t.ndim_ - 1):
                strides[i] *= old // new
            shape[t.ndim_ - 1] *= old // new
        else:
            if shape[t.ndim_ - 1] * old % new or (t.offset % new):
                raise RuntimeError(f"self.size(-1) must be divisible by {new // old} to {resized(t, dtype)}, but "
                                   f"got {shape[t.ndim_ - 1]}")
            for i in range(t.ndim_ - 1):
                if strides[i] % (new // old):
                    raise RuntimeError(f"self.stride({i}) must be divisible by {new // old} to {resized(t, dtype)}, "
                                       f"but got {strides[i]}")
                strides[i] //= new // old
            shape[t.ndim_ - 1] = shape[t.ndim_ - 1] * old // new
    r = strided_alias(t, t.ndim_, shape, strides, t.offset)
    r.code = code
    r.finish_strides()
    return r


def can_view(TensorBase self not None, size):
    """Whether ``view(size)`` is possible without a copy."""
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef Py_ssize_t strides[MAX_DIMS]
    cdef int ndim = parse_shape(size, shape)
    infer_size(self, ndim, shape, size)
    return view_strides(self, ndim, shape, strides)


def inferred_size(TensorBase self not None, size):
    """Sizes with a -1 filled in."""
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef int ndim = parse_shape(size, shape)
    infer_size(self, ndim, shape, size)
    return make_size(ndim, shape)


def flat_size(TensorBase self not None, start_dim, end_dim):
    """The sizes with dimensions start_dim to end_dim as one; None where they are one."""
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef int start = wrap_dim(start_dim, self.ndim_), end = wrap_dim(end_dim, self.ndim_), i, n = 0
    if self.ndim_ == 0:
        shape[0] = 1
        return make_size(1, shape)
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if start == end:
        return None
    for i in range(self.ndim_):
        if start < i <= end:
            shape[n - 1] *= self.shape_[i]
        else:
            shape[n] = self.shape_[i]
            n += 1
    return make_size(n, shape)


def transpose(TensorBase self not None, dim0, dim1):
    """Two dimensions exchanged."""
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef Py_ssize_t strides[MAX_DIMS]
    cdef int i, a = wrap_dim(dim0, self.ndim_), b = wrap_dim(dim1, self.ndim_)
    for i in range(self.ndim_):
        shape[i], strides[i] = self.shape_[i], self.strides_[i]
    if self.ndim_:
        shape[a], shape[b] = shape[b], shape[a]
        strides[a], strides[b] = strides[b], strides[a]
    return make_view(self, self.ndim_, shape, strides, self.offset)


def t(TensorBase self not None):
    """The transpose of a matrix; vectors and scalars as they are."""
    cdef Py_ssize_t shape[2]
    cdef Py_ssize_t strides[2]
    if self.ndim_ > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {self.ndim_}D")
    if self.ndim_ < 2:
        return make_view(self, self.ndim_, self.shape_, self.strides_, self.offset)
    shape[0], shape[1] = self.shape_[1], self.shape_[0]
    strides[0], strides[1] = self.strides_[1], self.strides_[0]
    return make_view(self, 2, shape, strides, self.offset)


def permute(TensorBase self not None, *dims):
    """The dimensions in another order."""
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef Py_ssize_t strides[MAX_DIMS]
    cdef int i, d
    cdef unsigned long long seen = 0
    if len(dims) == 1 and isinstance(dims[0], (tuple, list)):
        dims = tuple(dims[0])
    if len(dims) != self.ndim_:
        raise RuntimeError(f"permute(sparse_coo): number of dimensions in the tensor input does not match the length "
                           f"of the desired ordering of dimensions i.e. input.dim() = {self.ndim_} is not equal to "
                           f"len(dims) = {len(dims)}")
    for i in range(self.ndim_):
        d = wrap_dim(dims[i], self.ndim_)
        if seen >> d & 1:
            raise RuntimeError("permute(): duplicate dims are not allowed.")
        seen |= <unsigned long long>1 << d
        shape[i], strides[i] = self.shape_[d], self.strides_[d]
    return make_view(self, self.ndim_, shape, strides, self.offset)


def select(TensorBase self not None, dim, index):
    """One index along a dimension; the dimension goes away."""
    if self.ndim_ == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    return select_dim(self, wrap_dim(dim, self.ndim_), index.__index__())


cdef TensorBase select_dim(TensorBase self, int d, Py_ssize_t index):
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef Py_ssize_t strides[MAX_DIMS]
    cdef int i, k = 0
    self.need_memory("select")
    cdef Py_ssize_t n = self.shape_[d], at = index
    if at < 0:
        at += n
    if at < 0 or at >= n:
        raise IndexError(f"select(): index {index} out of range for tensor of size {describe_shape(self)} at "
                         f"dimension {d}")
    for i in range(self.ndim_):
        if i != d:
            shape[k], strides[k] = self.shape_[i], self.strides_[i]
            k += 1
    return make_view(self, self.ndim_ - 1, shape, strides, self.offset + at * self.strides_[d] * ITEMSIZE[self.code])


def narrow(TensorBase self not None, dim, start, length):
    """``length`` indices along a dimension, from ``start`` on."""
    cdef int d
    cdef Py_ssize_t n, s, k = length.__index__()
    self.need_memory("narrow")
    if self.ndim_ == 0:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    d = wrap_dim(dim, self.ndim_)
    n = self.shape_[d]
    if isinstance(start, TensorBase):
        if (<TensorBase>start).ndim_ or CATEGORY[(<TensorBase>start).code] != CAT_INT:
            raise RuntimeError("start must be an 0-dim integral Tensor.")
        start = start.item()
    s = start.__index__()
    if k < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if s < -n or s > n:
        raise IndexError(f"start out of range (expected to be in range of [{-n}, {n}], but got {s})")
    if s < 0:
        s += n
    if k > n - s:
        raise RuntimeError(f"start ({s}) + length ({k}) exceeds dimension size ({n}).")
    return slice_dim(self, d, s, k, 1)


cdef TensorBase slice_dim(TensorBase self, int d, Py_ssize_t start, Py_ssize_t length, Py_ssize_t step):
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef Py_ssize_t strides[MAX_DIMS]
    cdef int i
    self.need_memory("slice")
    for i in range(self.ndim_):
        shape[i], strides[i] = self.shape_[i], self.strides_[i]
    shape[d] = length
    strides[d] *= step
    return make_view(self, self.ndim_, shape, strides,
                     self.offset + (start * self.strides_[d] * ITEMSIZE[self.code] if length else 0))


def expand(TensorBase self not None, *size, implicit=False):
    """Dimensions of size 1 repeated without memory, and new ones in front; -1 keeps a size."""
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef Py_ssize_t strides[MAX_DIMS]
    cdef int ndim = parse_shape(size, shape), i, d
    if ndim < self.ndim_:
        raise RuntimeError(f"expand({self.type()}{{{describe_shape(self)}}}, size={list(make_size(ndim, shape))}): "
                           f"the number of sizes provided ({ndim}) must be greater or equal to the number of "
                           f"dimensions in the tensor ({self.ndim_})")
    for i in range(ndim - 1, -1, -1):
        d = i - ndim + self.ndim_
        if d < 0:
            if shape[i] < 0:
                raise RuntimeError(f"The expanded size of the tensor ({shape[i]}) isn't allowed in a leading, "
                                   f"non-existing dimension {i}")
            strides[i] = shape[i + 1] * strides[i + 1] if shape[i] == 1 and self.ndim_ and i + 1 < ndim else 0
        elif shape[i] == -1 or shape[i] == self.shape_[d]:
            shape[i], strides[i] = self.shape_[d], self.strides_[d]
        elif self.shape_[d] == 1 and shape[i] >= 0:
            strides[i] = 0
        else:
            raise expand_error(self, ndim, shape)
    return make_view(self, ndim, shape, strides, self.offset)


cdef object expand_error(TensorBase t, int ndim, const Py_ssize_t* shape):
    """The error that names the last dimension in which t does not fit the sizes."""
    cdef int i = ndim - 1
    while i - ndim + t.ndim_ >= 0:
        n = t.shape_[i - ndim + t.ndim_]
        if n != shape[i] and shape[i] != -1 and (n != 1 or shape[i] < 0):
            return RuntimeError(f"The expanded size of the tensor ({shape[i]}) must match the existing size ({n}) at "
                                f"non-singleton dimension {i}.  Target sizes: {list(make_size(ndim, shape))}.  Tensor "
                                f"sizes: {describe_shape(t)}")
        i -= 1


def squeeze(TensorBase self not None, dim=None):
    """Without the dimensions of size 1: all, one, or several."""
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef Py_ssize_t strides[MAX_DIMS]
    cdef int i, k = 0
    cdef unsigned long long drop = 0
    if dim is None:
        drop = ~(<unsigned long long>0)
    else:
        for x in (dim if isinstance(dim, (tuple, list)) else (dim,)):
            drop |= <unsigned long long>1 << wrap_dim(x, self.ndim_)
    for i in range(self.ndim_):
        if self.shape_[i] != 1 or not drop >> i & 1:
            shape[k], strides[k] = self.shape_[i], self.strides_[i]
            k += 1
    return make_view(self, k, shape, strides, self.offset)


def unsqueeze(TensorBase self not None, dim):
    """With a new dimension of size 1 at ``dim``."""
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef Py_ssize_t strides[MAX_DIMS]
    cdef int i, d = wrap_dim(dim, self.ndim_ + 1)
    if self.ndim_ == MAX_DIMS:
        raise too_many_dims()
    for i in range(self.ndim_ + 1):
        if i < d:
            shape[i], strides[i] = self.shape_[i], self.strides_[i]
        elif i > d:
            shape[i], strides[i] = self.shape_[i - 1], self.strides_[i - 1]
        else:
            shape[i] = 1
            strides[i] = 1 if d >= self.ndim_ else self.shape_[d] * self.strides_[d]
    return make_view(self, self.ndim_ + 1, shape, strides, self.offset)


def diagonal(TensorBase self not None, offset=0, dim1=0, dim2=1):
    """The diagonal of two dimensions, as the last dimension of the result."""
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef Py_ssize_t strides[MAX_DIMS]
    cdef int i, k = 0, a, b
    cdef Py_ssize_t o = max(min(offset, 1 << 40), -1 << 40), n, start
    a, b = wrap_dim(dim1, self.ndim_), wrap_dim(dim2, self.ndim_)
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    if o >= 0:
        n = max(min(self.shape_[a], self.shape_[b] - o), 0)
        start = o * self.strides_[b]
    else:
        n = max(min(self.shape_[a] + o, self.shape_[b]), 0)
        start = -o * self.strides_[a]
    for i in range(self.ndim_):
        if i != a and i != b:
            shape[k], strides[k] = self.shape_[i], self.strides_[i]
            k += 1
    shape[k], strides[k] = n, self.strides_[a] + self.strides_[b]
    return make_view(self, k + 1, shape, strides, self.offset + (start * ITEMSIZE[self.code] if n else 0))


def unfold(TensorBase self not None, dimension, size, step):
    """Windows of ``size`` along a dimension, ``step`` apart, as a new last dimension."""
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef Py_ssize_t strides[MAX_DIMS]
    cdef int i, d = wrap_dim(dimension, self.ndim_)
    cdef Py_ssize_t n = self.shape_[d] if self.ndim_ else 1, k = size, s = step
    if self.ndim_ == MAX_DIMS:
        raise too_many_dims()
    if k < 0:
        raise RuntimeError(f"size is {k} but must be >= 0")
    if k > n:
        raise RuntimeError(f"maximum size for tensor at dimension {d} is {n} but size is {k}")
    if s <= 0:
        raise RuntimeError(f"step is {s} but must be > 0")
    for i in range(self.ndim_):
        shape[i], strides[i] = self.shape_[i], self.strides_[i]
    shape[self.ndim_], strides[self.ndim_] = k, strides[d] if self.ndim_ else 1
    if self.ndim_:
        shape[d], strides[d] = (n - k) // s + 1, strides[d] * s
    return make_view(self, self.ndim_ + 1, shape, strides, self.offset)


def as_strided(TensorBase self not None, size, stride, storage_offset=None):
    """A view of the storage with any sizes, strides and offset (in elements); checked against the memory."""
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef Py_ssize_t strides[MAX_DIMS]
    cdef int ndim = parse_shape(tuple(size), shape), i
    cdef Py_ssize_t offset = self.offset if storage_offset is None else storage_offset * ITEMSIZE[self.code]
    cdef Py_ssize_t n = 0, span
    self.need_memory("as_strided")
    if len(stride) != ndim:
        raise RuntimeError("mismatch in length of strides and shape")
    for i in range(ndim):
        strides[i] = stride[i]
        if strides[i] < 0:
            raise RuntimeError(f"as_strided: Negative strides are not supported at the moment, got strides: "
                               f"{list(stride)}")
        if shape[i] < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {shape[i]}: {list(size)}")
    span = span_of(ndim, shape, strides, &n)
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {storage_offset}")
    if n and span > (<Py_ssize_t>self.storage.nbytes - offset) // ITEMSIZE[self.code]:
        raise RuntimeError(f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset "
                           f"{offset // ITEMSIZE[self.code]}, and itemsize {ITEMSIZE[self.code]} requiring a storage "
                           f"size of {offset + <object>span * ITEMSIZE[self.code]} are out of bounds for storage of "
                           f"size {self.storage.nbytes}")
    return make_view(self, ndim, shape, strides, offset)


def view_as_real(TensorBase self not None):
    """A complex tensor as a real one with a last dimension of 2."""
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef Py_ssize_t strides[MAX_DIMS]
    cdef int i
    cdef TensorBase r
    if not self.is_complex():
        raise RuntimeError("view_as_real is only supported for complex tensors")
    if self.ndim_ == MAX_DIMS:
        raise too_many_dims()
    for i in range(self.ndim_):
        shape[i], strides[i] = self.shape_[i], 2 * self.strides_[i]
    shape[self.ndim_], strides[self.ndim_] = 2, 1
    r = make_view(self, self.ndim_ + 1, shape, strides, self.offset)
    r.code = self.code - 2
    r.finish_strides()
    return r


def view_as_complex(TensorBase self not None):
    """A real tensor with a last dimension of 2 as a complex one."""
    cdef Py_ssize_t strides[MAX_DIMS]
    cdef int i, last = self.ndim_ - 1
    cdef TensorBase r
    if self.code != 8 and self.code != 9:
        raise RuntimeError("view_as_complex is only supported for floating point tensors, but got a tensor of scalar "
                           f"type: {self.dtype}")
    if self.ndim_ == 0 or self.shape_[last] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if self.strides_[last] != 1:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    for i in range(last):
        if self.strides_[i] % 2:
            raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
        strides[i] = self.strides_[i] // 2
    r = make_view(self, last, self.shape_, strides, self.offset)
    r.code = self.code + 2
    r.finish_strides()
    return r


def part(TensorBase self not None, int index):
    """The real (0) or imaginary (1) part of a complex tensor, as a view."""
    cdef Py_ssize_t strides[MAX_DIMS]
    cdef int i
    cdef TensorBase r
    if not self.is_complex() or not 0 <= index <= 1:
        raise RuntimeError("real and imag are parts of complex tensors")
    for i in range(self.ndim_):
        strides[i] = 2 * self.strides_[i]
    r = make_view(self, self.ndim_, self.shape_, strides, self.offset + index * ITEMSIZE[self.code] // 2)
    r.code = self.code - 2
    r.finish_strides()
    return r


def several(TensorBase self not None, dim, sizes):
    """Views on consecutive stretches of a dimension; none may be written to in place under autograd."""
    cdef int d
    cdef Py_ssize_t start = 0, n
    cdef list result = []
    cdef TensorBase r
    if self.ndim_ == 0:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    d = wrap_dim(dim, self.ndim_)
    for n in sizes:
        if n < 0 or n > self.shape_[d] - start:
            raise RuntimeError(f"split_with_sizes expects split_sizes to sum exactly to {self.shape_[d]} (input "
                               f"tensor's size at dimension {d}), but got split_sizes={list(sizes)}")
        r = slice_dim(self, d, start, n, 1)
        multi_output(r)
        result.append(r)
        start += n
    return tuple(result)


def unbind(TensorBase self not None, dim=0):
    """The slices along a dimension, without it."""
    cdef int d
    cdef Py_ssize_t i
    cdef list result = []
    cdef TensorBase r
    if self.ndim_ == 0:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    d = wrap_dim(dim, self.ndim_)
    for i in range(self.shape_[d]):
        r = select_dim(self, d, i)
        multi_output(r)
        result.append(r)
    return tuple(result)


cdef void multi_output(TensorBase r) noexcept:
    if r.view_kind == VIEW_DEFAULT:
        r.view_kind = VIEW_MULTI_OUTPUT


def is_contiguous(TensorBase self not None, memory_format=None):
    """Whether the elements lie in memory in the order of the dimensions (or as memory_format says)."""
    if memory_format is None or memory_format.name == "contiguous_format":
        return self.contiguous_
    if memory_format.name == "channels_last":
        return self.ndim_ == 4 and in_order(self, (0, 2, 3, 1))
    if memory_format.name == "channels_last_3d":
        return self.ndim_ == 5 and in_order(self, (0, 2, 3, 4, 1))
    raise RuntimeError(f"is_contiguous: unsupported memory format option {memory_format}")


cdef bint in_order(TensorBase t, tuple order):
    """Whether the memory runs through the dimensions in that order, outermost first."""
    cdef Py_ssize_t n = 1
    cdef int d
    for d in reversed(order):
        if t.shape_[d] != 1:
            if t.strides_[d] != n:
                return False
            n *= t.shape_[d]
    return True
