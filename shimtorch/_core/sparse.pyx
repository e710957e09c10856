"""Sparse tensors: what one holds, to dense and back, coalescing; without autograd.

A sparse tensor is a TensorBase without storage. Its `impl` is a CooParts (indices and values) or a CompressedParts
(pointers, plain indices and values). Parts are never changed in place: an in-place operation gives a tensor new ones.
"""
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memset

from .._kernels.cells cimport cell_indices, count_cells, sum_cells
from .._kernels.coalesce cimport Groups, free_groups, group_entries, group_indices, group_sums
from .._kernels.csr cimport expand, take_entries
from .._kernels.coo cimport count_nonzero, first_outside, gather, scatter_add, shares_of, spread, take_nonzero
from .._kernels.indexkeys cimport key_bits
from .._kernels.merge cimport Keys, Merge, fill_merge, merge_keys, merge_source, split_merge
from .._kernels.scratch cimport release, scratch
from .._kernels.sparsetypes cimport IndexSet
from .._kernels.transposing cimport lies_crosswise, turn
from .dtype cimport BFLOAT16, FLOAT16, FLOAT32, INT64, ITEMSIZE, dtype_of
from .iterate cimport as_code_tensor, contiguous_copy
from .dtype import scalar_type
from .tensor cimport (
    MAX_DIMS, ON_DEVICE, SPARSE, TensorBase, describe_shape, empty, parse_shape, ptr, same_shape, seen_flags, shallow,
    strided_alias, tensor_class,
)

from .device import sparse_coo
from .tensor import Size

cdef Py_ssize_t MOST = 0x7fffffffffffffff

cdef enum:
    CHECK_LATER = 1 << 14       # from so many entries on, indices are checked when first used, not when handed over


cdef class CooParts:
    """Indices and values of a sparse tensor in coordinate format."""

    layout = sparse_coo

    @property
    def device(self):
        return self.values.device

    @property
    def place(self):
        """The Place of the device that the parts lie on."""
        return self.values.impl

    @property
    def sparse_dim(self):
        return self.dims

    def item(self, TensorBase t):
        """The value of a tensor of one element."""
        return dense_of(t).item()

    cdef int entries(self, IndexSet* out) except -1:
        out.data = <const int64_t*>ptr(self.indices)
        out.dims = self.dims
        out.nnz = self.indices.shape_[1]
        out.dim_step = self.indices.strides_[0]
        out.entry_step = self.indices.strides_[1]
        return 0

    cdef int check(self, TensorBase t) except -1:
        """RuntimeError unless every index lies within t; nothing to do for indices that were seen before.

        Memory that someone else owns may change unseen and is looked at every time.
        """
        cdef IndexSet entries
        cdef Py_ssize_t place
        cdef int64_t found = 0
        cdef int d = 0
        if self.within and self.version == self.indices.storage.version and (
                self.indices.storage.owner is None or self.indices.flags & ON_DEVICE):
            return 0
        if self.indices.flags & ON_DEVICE:
            place, found = on_device().first_outside(self.indices, t.shape)
            d = <int>(place // max(self.indices.shape_[1], 1))
        else:
            self.entries(&entries)
            place = first_outside(&entries, <const int64_t*>t.shape_)
            if place >= 0:
                d = <int>(place // entries.nnz)
                found = entries.data[d * entries.dim_step + place % entries.nnz * entries.entry_step]
        if place >= 0:
            if found < 0:
                raise RuntimeError(f"found negative index {found} for dim {d}")
            raise RuntimeError(f"size is inconsistent with indices: for dim {d}, size is {t.shape_[d]} but found index "
                               f"{found}")
        if self.version != self.indices.storage.version:
            self.pointer = self.transposed = self.narrow = None
            self.crosswise = False
        self.within = True
        self.version = self.indices.storage.version
        return 0


cdef class CompressedParts:
    """Row or column pointers, plain indices and values of a sparse matrix in a compressed format."""
    cdef readonly object layout
    cdef readonly TensorBase pointers, plain, values
    cdef public object twin                # the same matrix in coordinate format, once it was asked for

    def __init__(self, layout, TensorBase pointers, TensorBase plain, TensorBase values):
        self.layout, self.pointers, self.plain, self.values = layout, pointers, plain, values

    @property
    def device(self):
        return self.values.device

    @property
    def place(self):
        """The Place of the device that the parts lie on."""
        return self.values.impl

    def item(self, TensorBase t):
        return t.to_dense().item()


cdef object on_device():
    """What takes the place of this file's functions for tensors on a device."""
    from .._gpu import sparse
    return sparse


cdef int check_places(TensorBase a, str a_name, TensorBase b, str b_name) except -1:
    """RuntimeError unless two parts lie on one device."""
    if (a.flags | b.flags) & ON_DEVICE and a.impl is not b.impl:
        raise RuntimeError(f"device of {a_name} ({a.device}) must match device of {b_name} ({b.device})")
    return 0


cdef int check_same_place(TensorBase a, TensorBase b) except -1:
    """RuntimeError unless two operands, sparse or dense, lie on one device."""
    if (a.flags | b.flags) & ON_DEVICE and a.device != b.device:
        raise RuntimeError("Expected all tensors to be on the same device, but found at least two devices, "
                           f"{a.device} and {b.device}!")
    return 0


# ---------------------------------------------------------------- making them

cdef TensorBase new_sparse(object impl, TensorBase values, int ndim, const Py_ssize_t* shape):
    cdef TensorBase t = TensorBase.__new__(tensor_class)
    cdef int i
    cdef Py_ssize_t n = 1
    t.set_ndim(ndim)
    for i in range(ndim):
        t.shape_[i] = shape[i]
        t.strides_[i] = 0
        if shape[i] == 0:
            n = 0
        elif n > MOST // shape[i]:
            n = MOST                    # the count of what cannot be dense; numel() is exact
        else:
            n *= shape[i]
    t.count = n
    t.code = values.code
    t.contiguous_ = False
    t.flags = SPARSE | values.flags & ON_DEVICE
    t.impl = impl
    return t


cdef TensorBase new_coo(TensorBase indices, TensorBase values, int ndim, const Py_ssize_t* shape, bint coalesced):
    """A sparse tensor of these parts, which fit together; entries that a kernel made are known to lie within."""
    cdef CooParts p = CooParts.__new__(CooParts)
    p.indices, p.values = indices, values
    p.dims = <int>indices.shape_[0]
    p.coalesced = coalesced or indices.shape_[1] < 2
    return new_sparse(p, values, ndim, shape)


cdef TensorBase trusted(TensorBase t):
    """t, with its indices known to lie within its sizes."""
    cdef CooParts p = <CooParts>t.impl
    p.within = True
    p.version = p.indices.storage.version
    return t


def make_coo(TensorBase indices not None, TensorBase values not None, size, bint coalesced=False, bint checked=False):
    """A sparse tensor of (sparse_dim, nnz) int64 indices and (nnz, ...) values that fit `size`; no history.

    Indices are looked at now, or when first used if they are many; `checked`: they are known to lie within.
    """
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef int ndim = parse_shape(tuple(size), shape), i
    if dense(indices).ndim_ != 2 or indices.code != INT64 or dense(values).ndim_ < 1 or (
            indices.shape_[1] != values.shape_[0]) or ndim != indices.shape_[0] + values.ndim_ - 1:
        raise RuntimeError(f"a sparse tensor of size {list(size)} cannot have indices of size "
                           f"{describe_shape(indices)} and values of size {describe_shape(values)}")
    check_places(indices, "indices", values, "values")
    for i in range(1, values.ndim_):
        if values.shape_[i] != shape[ndim - values.ndim_ + i]:
            raise RuntimeError("values has incorrect size, expected "
                               f"{[values.shape_[0]] + list(size)[1 - values.ndim_:]}, got {describe_shape(values)}")
    cdef TensorBase t = new_coo(shallow(indices), shallow(values), ndim, shape, coalesced)
    if checked:
        trusted(t)
    elif indices.count < CHECK_LATER:
        (<CooParts>t.impl).check(t)
    return t


def turned(TensorBase t not None):
    """t, a transposed coalesced matrix, remembered as one: its entries are sorted by counting."""
    (<CooParts>t.impl).crosswise = True
    return t


def construct(indices, values, size, bint coalesced):
    """A sparse tensor of parts that need no looking after: plain tensors of the right dtypes that fit; else None."""
    cdef TensorBase i, v
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef int ndim, d
    if not isinstance(indices, TensorBase) or not isinstance(values, TensorBase) or type(size) not in (tuple, Size):
        return None
    i, v = <TensorBase>indices, <TensorBase>values
    if i.flags or v.flags or i.code != INT64 or i.ndim_ != 2 or v.ndim_ < 1 or i.shape_[1] != v.shape_[0] or (
            len(size) != i.shape_[0] + v.ndim_ - 1) or seen_flags(v):
        return None
    ndim = parse_shape(size, shape)
    if ndim != i.shape_[0] + v.ndim_ - 1:
        return None
    for d in range(ndim):
        if shape[d] < 0 or (d >= i.shape_[0] and shape[d] != v.shape_[d - i.shape_[0] + 1]):
            return None
    cdef TensorBase t = new_coo(shallow(i), shallow(v), ndim, shape, coalesced)
    if i.count < CHECK_LATER:
        (<CooParts>t.impl).check(t)
    return t


cdef TensorBase dense(TensorBase t):
    """t, unless it has no memory of its own."""
    if t is None or t.flags & SPARSE:
        raise RuntimeError("expected a dense tensor, got "
                           f"{'None' if t is None else f'one of layout {t.layout}'}")
    return t


def make_compressed(layout, TensorBase pointers not None, TensorBase plain not None, TensorBase values not None, size):
    """A matrix in a compressed sparse format, of parts that were checked."""
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef int ndim = parse_shape(tuple(size), shape)
    check_places(pointers, "compressed_indices", values, "values")
    check_places(plain, "plain_indices", values, "values")
    held = CompressedParts(layout, shallow(dense(pointers)), shallow(dense(plain)), shallow(dense(values)))
    return new_sparse(held, values, ndim, shape)


cdef CooParts coo_parts(TensorBase t):
    """The parts of a sparse tensor, its indices checked."""
    cdef CooParts p
    if t is None or not t.flags & SPARSE or type(t.impl) is not CooParts:
        raise RuntimeError("expected a tensor of layout torch.sparse_coo, got "
                           f"{'None' if t is None else t.layout}")
    p = <CooParts>t.impl
    p.check(t)
    return p


def parts(TensorBase t not None):
    """The CooParts of a sparse tensor, whose indices lie within its sizes."""
    return coo_parts(t)


def compressed_parts(TensorBase t not None):
    """The CompressedParts of a tensor in a compressed sparse format."""
    if type(t.impl) is not CompressedParts:
        raise RuntimeError(f"expected a tensor in a compressed sparse layout, got {t.layout}")
    return t.impl


def unchecked_parts(TensorBase t not None):
    """The CooParts of a sparse tensor, to look at."""
    if not t.flags & SPARSE or type(t.impl) is not CooParts:
        raise RuntimeError(f"expected a tensor of layout torch.sparse_coo, got {t.layout}")
    return t.impl


def check_indices(TensorBase t not None):
    """RuntimeError unless all indices of a sparse tensor lie within its sizes."""
    coo_parts(t)


def become(TensorBase t not None, TensorBase other not None):
    """Make t, in place, what other is: the end of every in-place operation on a sparse tensor."""
    cdef int i
    t.set_ndim(other.ndim_)
    for i in range(other.ndim_):
        t.shape_[i] = other.shape_[i]
        t.strides_[i] = other.strides_[i]
    t.count, t.code, t.impl = other.count, other.code, other.impl
    t.flags = (t.flags & ~ON_DEVICE) | (other.flags & ON_DEVICE)
    return t


cdef inline Py_ssize_t entry_width(TensorBase values) noexcept:
    """Elements of one entry."""
    cdef Py_ssize_t width = 1
    cdef int i
    for i in range(1, values.ndim_):
        width *= values.shape_[i]
    return width


cdef int kernel_code(int code) except -1:
    """The dtype in which kernels compute this one."""
    if code == FLOAT16 or code == BFLOAT16:
        return FLOAT32
    if code > 11:
        raise NotImplementedError(f"sparse operations are not implemented for '{scalar_type(dtype_of(code))}'")
    return code


cdef TensorBase kernel_values(TensorBase values, int code):
    """Values in memory order, in the dtype that a kernel takes."""
    if values.code != code:
        values = as_code_tensor(values, code)
    return values if values.contiguous_ else contiguous_copy(values)


# ---------------------------------------------------------------- coalescing

def coalesce(TensorBase t not None):
    """t with its entries sorted and those of equal indices summed; t itself if it is so."""
    cdef CooParts p = coo_parts(t)
    cdef IndexSet entries
    cdef Groups groups
    cdef TensorBase values, indices, sums
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef Py_ssize_t width, cells, found
    cdef int i, failed, code = kernel_code(t.code)
    cdef int64_t* numbers
    cdef const int64_t* sizes = <const int64_t*>t.shape_
    cdef const char* source
    cdef char* target
    if p.coalesced:
        return t
    if t.flags & ON_DEVICE:
        return on_device().coalesce(t)
    p.entries(&entries)
    if p.dims == 2 and entries.entry_step == 1 and t.shape_[0] <= EMPTY_ROWS * entries.nnz and (
            p.crosswise or lies_crosswise(entries.data, entries.data + entries.dim_step, entries.nnz)):
        return turned_back(t, p, &entries)
    values = kernel_values(p.values, code)
    width = entry_width(values)
    for i in range(1, values.ndim_):
        shape[i] = values.shape_[i]
    source = ptr(values)
    cells = count_cells(&entries, sizes)
    if cells >= 0 and width == 1:
        shape[0] = min(cells, entries.nnz)
        sums = empty(code, values.ndim_, shape)
        indices = new_indices(1, shape[0]) if p.dims == 1 else None     # in one dimension cells are coordinates
        numbers = <int64_t*>(scratch(shape[0] * sizeof(int64_t)) if indices is None else ptr(indices))
        if numbers == NULL:
            raise MemoryError("coalesce: no memory")
        target = ptr(sums)
        with nogil:
            found = sum_cells(&entries, sizes, code, source, width, numbers, target)
        if indices is not None:
            if found >= 0:
                indices = first_columns(indices, found)
        else:
            if found >= 0:
                indices = new_indices(p.dims, found)
                cell_indices(numbers, found, p.dims, sizes, <int64_t*>ptr(indices))
            release(numbers)
        if found < 0:
            raise MemoryError("coalesce: no memory")
        shape[0] = found
        sums = strided_alias(sums, values.ndim_, shape, sums.strides_, 0)
    else:
        with nogil:
            failed = group_entries(&entries, sizes, &groups)
        if failed:
            free_groups(&groups)
            raise MemoryError("coalesce: no memory")
        try:
            indices = new_indices(p.dims, groups.count)
            numbers = <int64_t*>ptr(indices)
            with nogil:
                group_indices(&groups, &entries, numbers)
            release(groups.keys)                # before there is memory for the sums
            groups.keys = NULL
            shape[0] = groups.count
            sums = empty(code, values.ndim_, shape)
            target = ptr(sums)
            if width and groups.count:
                with nogil:
                    group_sums(&groups, code, source, width, target)
        finally:
            free_groups(&groups)
    if code != t.code:
        sums = as_code_tensor(sums, t.code)
    return trusted(new_coo(indices, sums, t.ndim_, t.shape_, True))


cdef TensorBase turned_back(TensorBase t, CooParts p, const IndexSet* entries):
    """A transposed coalesced matrix with its entries sorted: by counting those of each row."""
    cdef TensorBase source = p.values if p.values.contiguous_ else contiguous_copy(p.values)
    cdef TensorBase indices = new_indices(2, entries.nnz), values = empty(source.code, source.ndim_, source.shape_), r
    cdef TensorBase pointer
    cdef Py_ssize_t shape[1]
    cdef int64_t* rows = <int64_t*>ptr(indices)
    cdef int64_t* starts
    cdef const char* v = ptr(source)
    cdef char* out = ptr(values)
    cdef Py_ssize_t n_rows = t.shape_[0], n_columns = t.shape_[1], size = entry_width(source) * ITEMSIZE[source.code]
    cdef int failed
    shape[0] = n_rows + 1
    pointer = empty(INT64, 1, shape)
    starts = <int64_t*>ptr(pointer)
    with nogil:
        failed = turn(entries.data, entries.data + entries.dim_step, v, size, entries.nnz, n_rows, n_columns, starts,
                      rows + entries.nnz, out)
        expand(starts, n_rows, rows)
    if failed:
        raise MemoryError("coalesce: no memory")
    r = trusted(new_coo(indices, values, t.ndim_, t.shape_, True))
    if t.ndim_ == 2:
        (<CooParts>r.impl).pointer = pointer
    return r


cdef TensorBase new_indices(Py_ssize_t dims, Py_ssize_t nnz):
    cdef Py_ssize_t shape[2]
    shape[0], shape[1] = dims, nnz
    return empty(INT64, 2, shape)


cdef TensorBase first_columns(TensorBase indices, Py_ssize_t n):
    """The first n entries of (1, m) indices."""
    cdef Py_ssize_t shape[2]
    cdef Py_ssize_t strides[2]
    shape[0], shape[1] = 1, n
    strides[0], strides[1] = n, 1
    return strided_alias(indices, 2, shape, strides, 0)


def merge_sum(TensorBase a not None, TensorBase x not None, TensorBase b not None, TensorBase y not None):
    """The sum of two coalesced tensors of one size, with values x and y of one dtype in place of their own: coalesced.

    None where their coordinates do not fit in one key.
    """
    cdef CooParts p = coo_parts(a), q = coo_parts(b)
    cdef IndexSet entries[2]
    cdef Keys keys[2]
    cdef Merge merge
    cdef int bits[MAX_DIMS]
    cdef uint64_t* packed[2]
    cdef uint8_t* origins = NULL
    cdef int side, i, out_code = x.code, code = kernel_code(x.code)
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef Py_ssize_t n, width
    cdef TensorBase indices, values
    cdef const char* u
    cdef const char* v
    cdef char* target
    cdef int64_t* coordinates
    if not p.coalesced or not q.coalesced or p.dims != q.dims or not same_shape(a, b) or x.code != y.code or (
            x.ndim_ != y.ndim_ or x.ndim_ != a.ndim_ - p.dims + 1 or x.shape_[0] != p.indices.shape_[1]
            or y.shape_[0] != q.indices.shape_[1]):
        raise RuntimeError("merge_sum: expected two coalesced tensors of one size, and values for them")
    check_same_place(a, b)
    if not x.shape_[0] or not y.shape_[0]:
        return with_values(a if x.shape_[0] else b, (x if x.shape_[0] else y).clone())
    if a.flags & ON_DEVICE:
        return on_device().merge_sum(a, x, b, y)
    if key_bits(<const int64_t*>a.shape_, p.dims, bits) > 64:
        return None
    p.entries(&entries[0])
    q.entries(&entries[1])
    x, y = kernel_values(x, code), kernel_values(y, code)
    width = entry_width(x)
    packed[0] = packed[1] = NULL
    try:
        for side in range(2):
            if p.dims != 2:
                packed[side] = <uint64_t*>scratch(entries[side].nnz * sizeof(uint64_t))
                if packed[side] == NULL:
                    raise MemoryError("add: no memory")
            merge_source(&entries[side], bits, packed[side], &keys[side])
        origins = <uint8_t*>scratch(keys[0].n + keys[1].n)
        if origins == NULL:
            raise MemoryError("add: no memory")
        with nogil:
            split_merge(&keys[0], &keys[1], origins, &merge)
            n = merge_keys(&merge)
        indices = new_indices(p.dims, n)
        shape[0] = n
        for i in range(1, x.ndim_):
            shape[i] = x.shape_[i]
        values = empty(code, x.ndim_, shape)
        coordinates, u, v, target = <int64_t*>ptr(indices), ptr(x), ptr(y), ptr(values)
        with nogil:
            fill_merge(&merge, n, &entries[0], &entries[1], coordinates, code, u, v, width, target)
    finally:
        release(packed[0])
        release(packed[1])
        release(origins)
    if code != out_code:
        values = as_code_tensor(values, out_code)
    return trusted(new_coo(indices, values, a.ndim_, a.shape_, True))


# ---------------------------------------------------------------- dense and back

cdef TensorBase dense_of(TensorBase t):
    cdef CooParts p = coo_parts(t)
    cdef IndexSet entries
    cdef TensorBase values, out
    cdef int64_t steps[MAX_DIMS]
    cdef int code = t.code
    cdef Py_ssize_t width, item, size
    cdef const char* source
    cdef char* target
    cdef int d
    if t.flags & ON_DEVICE:
        return on_device().to_dense(t)
    if not p.coalesced and p.indices.shape_[1] > t.count:   # many for each element: sum them in double
        p = coo_parts(coalesce(t))
    if not p.coalesced:
        code = kernel_code(code)
    p.entries(&entries)
    values = kernel_values(p.values, code)
    width, item = entry_width(values), ITEMSIZE[code]
    out = empty(code, t.ndim_, t.shape_)
    source, target, size = ptr(values), ptr(out), out.count * item
    for d in range(p.dims):
        steps[d] = out.strides_[d] * item if p.coalesced else out.strides_[d]
    if p.coalesced:
        with nogil:
            spread(&entries, source, width * item, target, size, steps)
        return out
    with nogil:
        memset(target, 0, size)
        if width:
            scatter_add(&entries, code, source, width, target, steps)
    return out if code == t.code else as_code_tensor(out, t.code)


def to_dense(TensorBase t not None):
    """The dense tensor that t stands for."""
    return dense_of(t)


def from_dense(TensorBase t not None, int dims):
    """What is not zero in t, as a coalesced sparse tensor whose first `dims` dimensions are sparse."""
    cdef int code = kernel_code(t.code), i
    cdef Py_ssize_t cells = 1, width = 1, count
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef TensorBase source, values, indices
    cdef int64_t* numbers = NULL
    cdef int64_t* coordinates
    cdef const char* data
    cdef char* target
    if not 0 <= dims <= dense(t).ndim_:
        raise RuntimeError(f"from_dense: {dims} sparse dimensions of {t.ndim_}")
    if t.flags & ON_DEVICE:
        return on_device().from_dense(t, dims)
    source = kernel_values(t, code)
    data = ptr(source)
    for i in range(t.ndim_):
        if i < dims:
            cells *= t.shape_[i]
        else:
            width *= t.shape_[i]
            shape[i - dims + 1] = t.shape_[i]
    cdef int64_t* counts = <int64_t*>scratch(shares_of(cells) * sizeof(int64_t))
    try:
        if counts == NULL:
            raise MemoryError("to_sparse: no memory")
        with nogil:
            count = count_nonzero(code, data, cells, width, counts)
        shape[0] = count
        values = empty(code, t.ndim_ - dims + 1, shape)
        indices = new_indices(dims, count)
        numbers = <int64_t*>scratch(count * sizeof(int64_t))
        if numbers == NULL:
            raise MemoryError("to_sparse: no memory")
        target = ptr(values)
        coordinates = <int64_t*>ptr(indices)
        with nogil:
            take_nonzero(code, data, cells, width, counts, numbers, target)
            cell_indices(numbers, count, dims, <const int64_t*>t.shape_, coordinates)
    finally:
        release(counts)
        release(numbers)
    if code != t.code:
        values = as_code_tensor(values, t.code)
    return trusted(new_coo(indices, values, t.ndim_, t.shape_, True))


def add_to_dense(TensorBase out not None, TensorBase t not None):
    """out += t in place, of one shape and dtype; out contiguous."""
    cdef CooParts p = coo_parts(t)
    cdef IndexSet entries
    cdef TensorBase values
    cdef int64_t steps[MAX_DIMS]
    cdef int d, code = kernel_code(out.code)
    cdef Py_ssize_t width
    if code != dense(out).code or not out.contiguous_ or not same_shape(out, t):
        raise RuntimeError("add_to_dense: expected a contiguous tensor of the sparse one's shape")
    check_same_place(out, t)
    if out.flags & ON_DEVICE:
        return on_device().add_to_dense(out, t)
    p.entries(&entries)
    values = kernel_values(p.values, code)
    width = entry_width(values)
    for d in range(p.dims):
        steps[d] = out.strides_[d]
    if width:
        scatter_add(&entries, code, ptr(values), width, ptr(out), steps)
    return out


def take(TensorBase x not None, TensorBase t not None):
    """The (nnz, ...) values of a dense tensor where the sparse one of its shape has entries."""
    cdef CooParts p = coo_parts(t)
    cdef IndexSet entries
    cdef TensorBase source = dense(x), out
    cdef int64_t steps[MAX_DIMS]
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef Py_ssize_t block = ITEMSIZE[x.code], expected = 1
    cdef int d
    cdef const char* data
    cdef char* target
    if not same_shape(x, t):
        raise RuntimeError("sparse_mask(): operands have incompatible sizes; self has size "
                           f"{describe_shape(x)} but mask has size {describe_shape(t)}")
    check_same_place(x, t)
    if t.flags & ON_DEVICE:
        return on_device().take(x, t)
    for d in range(x.ndim_ - 1, p.dims - 1, -1):
        if x.shape_[d] != 1 and x.strides_[d] != expected:
            source = contiguous_copy(x)
            break
        expected *= x.shape_[d]
    p.entries(&entries)
    shape[0] = entries.nnz
    for d in range(x.ndim_):
        if d < p.dims:
            steps[d] = source.strides_[d] * ITEMSIZE[x.code]
        else:
            shape[d - p.dims + 1] = x.shape_[d]
            block *= x.shape_[d]
    out = empty(x.code, x.ndim_ - p.dims + 1, shape)
    data, target = ptr(source), ptr(out)
    if block and entries.nnz:
        with nogil:
            gather(&entries, data, steps, block, target)
    return out


# ---------------------------------------------------------------- other entries, other values

def pick(TensorBase t not None, TensorBase places not None):
    """Indices and values of some entries, named by their numbers (m,) int64, which must be those of entries."""
    cdef CooParts p = coo_parts(t)
    cdef TensorBase values, where, indices, picked
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef Py_ssize_t m = places.count, nnz = p.indices.shape_[1], x, d, block = entry_width(p.values) * ITEMSIZE[t.code]
    cdef Py_ssize_t step = p.indices.strides_[1] * sizeof(int64_t)
    cdef const int64_t* chosen
    cdef const char* source
    cdef char* target
    if dense(places).code != INT64 or places.ndim_ != 1:
        raise RuntimeError("pick: expected the numbers of entries as a 1-d int64 tensor")
    if t.flags & ON_DEVICE:
        return on_device().pick(t, places)
    values = p.values if p.values.contiguous_ else contiguous_copy(p.values)
    where = places if places.contiguous_ else contiguous_copy(places)
    chosen = <const int64_t*>ptr(where)
    for x in range(m):
        if not 0 <= chosen[x] < nnz:
            raise IndexError(f"pick: no entry {chosen[x]} among {nnz}")
    indices = new_indices(p.dims, m)
    for d in range(p.dims):
        source = ptr(p.indices) + d * p.indices.strides_[0] * sizeof(int64_t)
        target = ptr(indices) + d * m * sizeof(int64_t)
        with nogil:
            take_entries(source, step, sizeof(int64_t), chosen, m, target)
    for d in range(1, values.ndim_):
        shape[d] = values.shape_[d]
    shape[0] = m
    picked = empty(t.code, values.ndim_, shape)
    source, target = ptr(values), ptr(picked)
    with nogil:
        take_entries(source, block, block, chosen, m, target)
    return indices, picked


cpdef TensorBase with_values(TensorBase t, TensorBase values, bint coalesced=True):
    """A sparse tensor with t's indices and other values, of any dtype and dense dimensions."""
    cdef CooParts p = coo_parts(t), q
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef int i
    cdef TensorBase r
    if dense(values).ndim_ < 1 or values.shape_[0] != p.indices.shape_[1]:
        raise RuntimeError(f"with_values: expected values for {p.indices.shape_[1]} entries, got size "
                           f"{describe_shape(values)}")
    for i in range(p.dims):
        shape[i] = t.shape_[i]
    for i in range(1, values.ndim_):
        shape[p.dims + i - 1] = values.shape_[i]
    r = trusted(new_coo(p.indices, shallow(values), p.dims + values.ndim_ - 1, shape, coalesced and p.coalesced))
    q = <CooParts>r.impl
    if q.coalesced:                     # what was worked out from the indices holds for any values
        q.pointer, q.transposed, q.transposed_uses = p.pointer, p.transposed, p.transposed_uses
        q.narrow, q.vector_uses = p.narrow, p.vector_uses
    return r
