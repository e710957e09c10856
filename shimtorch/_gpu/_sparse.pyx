"""The kernels for sparse tensors, called with tensors of one device.

Index tensors are int64; those of shape (dims, nnz) may have any strides, all others are contiguous. What is read from
them is not looked at again: callers have checked it.
"""
from libc.stdint cimport int64_t, uint64_t

from .._core.dtype cimport CAT_COMPLEX, CAT_FLOAT, CATEGORY, INT64, ITEMSIZE, dtype_of
from .._core.iterate cimport contiguous_copy
from .._core.tensor cimport (
    MAX_DIMS, ON_DEVICE, SPARSE, TensorBase, device_ptr, empty_at, write_scalar,
)
from ._device cimport DevicePlace
from ._rt cimport check, current_stream_of, wait_for
from .cudart cimport cudaErrorNotSupported, cudaMemcpyAsync, cudaMemcpyDeviceToHost, cudaMemsetAsync, cudaStream_t
from .sparse_kernels cimport *

from .._core.tensor import DeviceDtypeError

SEGMENTS = {"sum": SHIM_SEGMENT_SUM, "prod": SHIM_SEGMENT_PROD, "amax": SHIM_SEGMENT_MAX, "amin": SHIM_SEGMENT_MIN}


cdef DevicePlace place_of_all(tensors):
    """The Place of dense contiguous tensors, which must be the same."""
    cdef TensorBase first = tensors[0], t
    if not first.flags & ON_DEVICE or first.flags & SPARSE:
        raise RuntimeError(f"a kernel for sparse tensors was given one of layout {first.layout} on {first.device}")
    for x in tensors:
        t = x
        if not t.flags & ON_DEVICE or t.flags & SPARSE or t.impl is not first.impl:
            raise RuntimeError("Expected all tensors to be on the same device, but found at least two devices, "
                               f"{first.device} and {t.device}!")
        if not t.contiguous_:
            raise RuntimeError(f"a kernel for sparse tensors was given strides {t.stride()}")
    return <DevicePlace>first.impl


cdef inline int64_t* numbers(TensorBase t) except? NULL:
    if t.code != INT64:
        raise RuntimeError(f"a kernel for sparse tensors was given indices of dtype {t.dtype}")
    return <int64_t*>device_ptr(t)


cdef TensorBase integers(DevicePlace place, Py_ssize_t n):
    return empty_at(place, INT64, 1, &n)


cdef TensorBase space(DevicePlace place, int64_t bytes):
    return integers(place, bytes // 8 + 1)


cdef DevicePlace describe(TensorBase indices, shim_entries* e):
    """Indices as a kernel takes them, and their device."""
    if not indices.flags & ON_DEVICE or indices.flags & SPARSE or indices.ndim_ != 2 or (
            indices.shape_[0] > SHIM_SPARSE_DIMS):
        raise RuntimeError(f"a kernel for sparse tensors was given indices of size {list(indices.shape)} on "
                           f"{indices.device}")
    e.data, e.dims, e.nnz = numbers(indices), <int>indices.shape_[0], indices.shape_[1]
    e.dim_step, e.entry_step = indices.strides_[0], indices.strides_[1]
    return <DevicePlace>indices.impl


cdef int fill_sizes(sizes, int dims, int64_t* out) except -1:
    cdef int d
    if len(sizes) < dims:
        raise RuntimeError(f"a kernel for sparse tensors was given {len(sizes)} sizes for {dims} dimensions")
    for d in range(dims):
        out[d] = sizes[d]
    return 0


cdef int64_t read(DevicePlace place, const void* at) except? -1:
    """A number in the device's memory; waits for it."""
    cdef int64_t number
    check(cudaMemcpyAsync(&number, at, 8, cudaMemcpyDeviceToHost, place.stream()))
    wait_for(current_stream_of(place.index))
    return number


# ---------------------------------------------------------------- order

def prefix(TensorBase t not None, bint exclusive=False):
    """Cumulative sums of a 1-d tensor; without each number itself if ``exclusive``."""
    cdef DevicePlace place = place_of_all([t])
    cdef TensorBase out = integers(place, t.count), work = space(place, shim_prefix_space(t.count))
    check(shim_prefix(numbers(t), numbers(out), t.count, exclusive, device_ptr(work), place.stream()))
    return out


def total(TensorBase sums not None):
    """The last of cumulative sums; 0 of none."""
    return read(place_of_all([sums]), numbers(sums) + sums.count - 1) if sums.count else 0


def sorted_order(TensorBase indices not None, sizes):
    """The numbers of entries in the order of their coordinates, those of equal ones as they stand.

    Coordinates are packed into keys of 64 bits; where they need more, the later ones are sorted by first.
    """
    cdef shim_entries e
    cdef DevicePlace place = describe(indices, &e)
    cdef int bits[64]
    cdef int first, last = e.dims - 1, width
    cdef bint fresh = True
    cdef TensorBase keys = integers(place, e.nnz), order = integers(place, e.nnz)
    cdef TensorBase other_keys = integers(place, e.nnz), other_order = integers(place, e.nnz)
    cdef TensorBase work = space(place, shim_sort_keys_space(e.nnz))
    cdef cudaStream_t stream = place.stream()
    for d in range(e.dims):
        bits[d] = max(int(sizes[d]) - 1, 0).bit_length()
    while True:
        width, first = 0, last + 1
        while first > 0 and width + bits[first - 1] <= 64:
            first -= 1
            width += bits[first]
        if width and e.nnz:
            check(shim_pack(&e, first, last, bits, NULL if fresh else numbers(order), <uint64_t*>numbers(keys), stream))
        if width or fresh:
            check(shim_sort_keys(<uint64_t*>numbers(keys), numbers(order), <uint64_t*>numbers(other_keys),
                                 numbers(other_order), e.nnz, width, fresh, device_ptr(work), stream))
            if shim_sort_keys_turns(width) % 2:
                keys, other_keys = other_keys, keys
                order, other_order = other_order, order
        fresh, last = False, first - 1
        if last < 0:
            return order


def group_sums(TensorBase indices not None, TensorBase order not None):
    """For sorted entries: the number of different coordinates up to each."""
    cdef shim_entries e
    cdef DevicePlace place = describe(indices, &e)
    cdef TensorBase heads = integers(place, e.nnz)
    place_of_all([order, heads])
    check(shim_heads(&e, numbers(order), numbers(heads), place.stream()))
    return prefix(heads)


def group_starts(TensorBase sums not None, Py_ssize_t count):
    """Where each of the groups begins, and the number of entries."""
    cdef DevicePlace place = place_of_all([sums])
    cdef TensorBase out = integers(place, count + 1)
    check(shim_starts(numbers(sums), sums.count, count, numbers(out), place.stream()))
    return out


def group_inverse(TensorBase sums not None, TensorBase order not None):
    """The number of each entry's group."""
    cdef DevicePlace place = place_of_all([sums, order])
    cdef TensorBase out = integers(place, sums.count)
    check(shim_inverse(numbers(sums), numbers(order), sums.count, numbers(out), place.stream()))
    return out


# ---------------------------------------------------------------- places

def first_outside(TensorBase indices not None, sizes):
    """The first index outside its size as (dimension * nnz + entry, index); (-1, 0) if there is none."""
    cdef shim_entries e
    cdef DevicePlace place = describe(indices, &e)
    cdef int64_t limits[64]
    cdef int64_t found
    cdef TensorBase flag
    if not e.nnz or not e.dims:
        return -1, 0
    flag = integers(place, 1)
    fill_sizes(sizes, e.dims, limits)
    check(cudaMemsetAsync(numbers(flag), 255, 8, place.stream()))
    check(shim_outside(&e, limits, <uint64_t*>numbers(flag), place.stream()))
    found = read(place, numbers(flag))
    if found < 0:
        return -1, 0
    return found, read(place, e.data + found // e.nnz * e.dim_step + found % e.nnz * e.entry_step)


def cells(TensorBase indices not None, steps):
    """For each entry the sum of its coordinates times steps."""
    cdef shim_entries e
    cdef DevicePlace place = describe(indices, &e)
    cdef int64_t each[64]
    cdef TensorBase out = integers(place, e.nnz)
    fill_sizes(steps, e.dims, each)
    check(shim_cells(&e, each, numbers(out), place.stream()))
    return out


def coordinates(TensorBase cells not None, sizes):
    """The (dims, n) coordinates of cells numbered in row-major order."""
    cdef DevicePlace place = place_of_all([cells])
    cdef int64_t limits[64]
    cdef int dims = len(sizes)
    cdef Py_ssize_t[2] shape = [dims, cells.count]
    cdef TensorBase out = empty_at(place, INT64, 2, shape)
    fill_sizes(sizes, min(dims, SHIM_SPARSE_DIMS), limits)
    check(shim_coordinates(numbers(cells), cells.count, dims, limits, numbers(out), place.stream()))
    return out


def row_pointer(TensorBase rows not None, Py_ssize_t n_rows):
    """Where each row begins among ascending 1-d row numbers of any stride, and their count."""
    cdef DevicePlace place = <DevicePlace?>rows.impl
    cdef TensorBase out = integers(place, n_rows + 1)
    check(shim_row_pointer(numbers(rows), rows.strides_[0], rows.shape_[0], n_rows, numbers(out), place.stream()))
    return out


def row_numbers(TensorBase pointer not None, Py_ssize_t nnz):
    """The row of each of nnz entries."""
    cdef DevicePlace place = place_of_all([pointer])
    cdef TensorBase out = integers(place, nnz)
    check(shim_row_numbers(numbers(pointer), pointer.count - 1, nnz, numbers(out), place.stream()))
    return out


cdef TensorBase like_blocks(TensorBase t, Py_ssize_t n):
    """A tensor as t, with n blocks along the first dimension."""
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef int d
    for d in range(t.ndim_):
        shape[d] = t.shape_[d]
    shape[0] = n
    return empty_at(<DevicePlace>t.impl, t.code, t.ndim_, shape)


cdef int64_t block_bytes(TensorBase t) noexcept:
    cdef int64_t bytes = ITEMSIZE[t.code]
    cdef int d
    for d in range(1, t.ndim_):
        bytes *= t.shape_[d]
    return bytes


def take_blocks(TensorBase t not None, TensorBase chosen not None):
    """t[chosen], along the first dimension; t may have any strides."""
    cdef DevicePlace place
    cdef TensorBase out
    if not t.contiguous_:
        t = contiguous_copy(t)
    place = place_of_all([t, chosen])
    out = like_blocks(t, chosen.count)
    check(shim_take_blocks(device_ptr(t), numbers(chosen), chosen.count, block_bytes(t), ITEMSIZE[t.code],
                           device_ptr(out), place.stream()))
    return out


def put_blocks(TensorBase out not None, TensorBase chosen not None, TensorBase t not None):
    """out[chosen] = t, along the first dimension; the chosen are different."""
    cdef DevicePlace place = place_of_all([out, chosen, t])
    if out.code != t.code or block_bytes(out) != block_bytes(t) or chosen.count != t.shape_[0]:
        raise RuntimeError("put_blocks: sizes or dtypes do not fit")
    check(shim_put_blocks(device_ptr(t), numbers(chosen), chosen.count, block_bytes(t), ITEMSIZE[t.code],
                          device_ptr(out), place.stream()))
    return out


def rows_listed(TensorBase pointer not None, TensorBase chosen not None):
    """The entries of chosen rows, row by row: where each row's begin, their places, which of the chosen each is of."""
    cdef DevicePlace place = place_of_all([pointer, chosen])
    cdef Py_ssize_t n = chosen.count
    cdef TensorBase counts = integers(place, n), ends, entries, which, starts
    cdef cudaStream_t stream = place.stream()
    check(shim_row_counts(numbers(pointer), numbers(chosen), n, numbers(counts), stream))
    ends = prefix(counts)
    starts = ends.sub(counts)
    count = total(ends)
    entries, which = integers(place, count), integers(place, count)
    check(shim_row_entries(numbers(pointer), numbers(chosen), numbers(starts), n, count, numbers(entries),
                           numbers(which), stream))
    return starts, entries, which


# ---------------------------------------------------------------- values

cdef object missing(str name, TensorBase t):
    return DeviceDtypeError(f"{name}: not implemented for dtype {dtype_of(t.code).name} on device '{t.device}'")


def segments(str how, TensorBase values not None, TensorBase order, TensorBase starts not None):
    """Blocks of values, in an order (None: as they stand), brought together from each start to the next."""
    cdef DevicePlace place = place_of_all([values, starts] if order is None else [values, order, starts])
    cdef Py_ssize_t count = starts.count - 1
    cdef TensorBase out = like_blocks(values, count)
    status = shim_segments(SEGMENTS[how], values.code, device_ptr(values), block_bytes(values) // ITEMSIZE[values.code],
                           NULL if order is None else numbers(order), numbers(starts), count, values.shape_[0],
                           device_ptr(out), place.stream())
    if status == cudaErrorNotSupported:
        raise missing(how, values)
    check(status)
    return out


cdef shim_number as_number(int code, x) except *:
    """A Python number as a kernel for a dtype takes it."""
    cdef shim_number r
    r.re = r.im = r.whole = 0
    if CATEGORY[code] == CAT_COMPLEX:
        x = complex(x)
        r.re, r.im = x.real, x.imag
    elif CATEGORY[code] == CAT_FLOAT:
        r.re = x
    else:
        write_scalar(<char*>&r.whole, INT64, x)
        r.re = r.whole != 0
    return r


def multiply_rows(TensorBase pointer not None, TensorBase columns not None, TensorBase values not None,
                  TensorBase order, TensorBase other not None, TensorBase out not None, bint conjugate=False, alpha=1,
                  beta=0):
    """out = alpha * A @ other + beta * out, A given by rows; the matrices have adjacent columns."""
    cdef DevicePlace place = place_of_all([pointer, columns, values] + ([] if order is None else [order]))
    cdef shim_product p
    if other.impl is not place or out.impl is not place or out.code != values.code or other.code != values.code:
        raise RuntimeError("multiply_rows: operands of different devices or dtypes")
    p.pointer, p.columns, p.order = numbers(pointer), numbers(columns), NULL if order is None else numbers(order)
    p.values, p.other, p.out = device_ptr(values), device_ptr(other), device_ptr(out)
    p.n_rows, p.width, p.other_step, p.out_step = out.shape_[0], out.shape_[1], other.strides_[0], out.strides_[0]
    p.alpha, p.beta, p.conjugate = as_number(values.code, alpha), as_number(values.code, beta), conjugate
    check(shim_multiply(values.code, &p, place.stream()))
    return out


def sample(TensorBase rows not None, TensorBase columns not None, TensorBase a not None, TensorBase b not None):
    """For each entry the product of a row of a and a row of b, both with adjacent columns."""
    cdef DevicePlace place = place_of_all([rows, columns])
    cdef TensorBase out
    cdef Py_ssize_t n = rows.count
    if a.impl is not place or b.impl is not place or a.code != b.code or a.shape_[1] != b.shape_[1]:
        raise RuntimeError("sample: operands of different devices, dtypes or widths")
    out = empty_at(place, a.code, 1, &n)
    check(shim_sample_product(a.code, numbers(rows), numbers(columns), n, device_ptr(a), a.strides_[0], device_ptr(b),
                              b.strides_[0], a.shape_[1], device_ptr(out), place.stream()))
    return out


def pair_products(TensorBase a not None, TensorBase left not None, TensorBase b not None, TensorBase right not None):
    """a[left] * b[right]."""
    cdef DevicePlace place = place_of_all([a, left, b, right])
    cdef Py_ssize_t n = left.count
    cdef TensorBase out = empty_at(place, a.code, 1, &n)
    if a.code != b.code or right.count != n:
        raise RuntimeError("pair_products: dtypes or sizes do not fit")
    check(shim_pair_products(a.code, device_ptr(a), numbers(left), device_ptr(b), numbers(right), n, device_ptr(out),
                             place.stream()))
    return out
