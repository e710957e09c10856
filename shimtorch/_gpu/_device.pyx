"""The Place of CUDA devices: what the core's loops, reductions and copies become there.

A loop of the CPU is known by its address (``st_find``); the device has a kernel of the same op and dtype.
"""
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

from .._core.dtype cimport INT64, ITEMSIZE, NDTYPES, dtype_of
from .._core.iterate cimport copy_into, reduce_into, run_loop
from .._core.storage cimport Storage
from .._core.tensor cimport (
    ON_DEVICE, Place, TensorBase, device_ptr, empty, empty_at, empty_strided, ptr, read_scalar, same_shape,
)
from .._kernels.table cimport st_cast, st_find, st_find_reduce, st_loop, st_reduce, st_rows_op
from ._rt cimport check, current_stream_of, device_storage, use, wait_for
from .cudart cimport (
    cudaErrorNotSupported, cudaMemcpyAsync, cudaMemcpyDefault, cudaMemcpyDeviceToDevice, cudaMemcpyDeviceToHost,
    cudaMemcpyHostToDevice, cudaMemsetAsync, cudaStream_t,
)
from .kernels cimport (
    SHIM_ADD, SHIM_BERNOULLI, SHIM_CAUCHY, SHIM_DIMS, SHIM_EXPONENTIAL, SHIM_GEOMETRIC, SHIM_GREATEST, SHIM_INDICES,
    SHIM_LEAST, SHIM_LOG_NORMAL, SHIM_MULTIPLY, SHIM_NORMAL, SHIM_OPERANDS, SHIM_PUT, SHIM_TAKE, SHIM_UNIFORM,
    shim_cast, shim_compact, shim_draw, shim_has_loop, shim_has_reduction, shim_look_up, shim_lookup, shim_loop,
    shim_nest, shim_params, shim_reduce, shim_reduction, shim_scan,
)

cdef extern from *:
    """
    #include "ops.h"
    #define SHIM_NAME(name) #name,
    #define SHIM_REDUCTION_NAME(name, out) #name,
    static const char *const shim_op_names[] = {ST_POINTWISE(SHIM_NAME)};
    static const char *const shim_reduction_names[] = {ST_REDUCTIONS(SHIM_REDUCTION_NAME)};
    """
    enum: ST_N_OPS
    enum: ST_N_REDUCTIONS
    const char* shim_op_names[1]
    const char* shim_reduction_names[1]

from .._core.device import device
from .._core.tensor import DeviceDtypeError
from ._rt import is_pinned
from .fallback import allowed, warn_once

# How many bytes the parameters of a loop have, for the ops that take any.
_PARAMETERS = {
    "pow_scalar": 24, "add_scaled": 24, "addcmul": 24, "addcdiv": 24, "clamp": 40, "leaky_relu": 8, "celu": 8,
    "hardshrink": 8, "softshrink": 8, "huber": 8, "threshold_backward": 8, "softplus": 16, "threshold": 16, "elu": 24,
}

cdef enum:
    CASTS = -1                         # in place of an op's code

cdef dict loops = {}                   # address: (op or CASTS, dtype, the dtype cast to or bytes of parameters, name)
cdef dict reductions = {}              # address: (op, dtype, name)


cdef int find_loops() except -1:
    """Fill the tables with every loop and reduction that the CPU has.

    One address may serve several ops and dtypes of one width, all alike, except that the kernels of bool write nothing
    but 0 and 1: the others replace them.
    """
    cdef int op, code, to
    cdef void* at
    for code in range(NDTYPES):            # bool first
        for op in range(ST_N_OPS):
            at = <void*>st_find(op, code)
            if at != NULL and (<size_t>at not in loops or shim_has_loop(op, code)):
                name = shim_op_names[op].decode()
                loops[<size_t>at] = (op, code, _PARAMETERS.get(name, 0), name)
        for op in range(ST_N_REDUCTIONS):
            at = <void*>st_find_reduce(op, code)
            if at != NULL and (<size_t>at not in reductions or shim_has_reduction(op, code)):
                reductions[<size_t>at] = (op, code, shim_reduction_names[op].decode())
        for to in range(NDTYPES):
            loops[<size_t><void*>st_cast(code, to)] = (CASTS, code, to, "copy_")
    return 0


def make_place(int index):
    """The Place of the device of an index."""
    cdef DevicePlace place = DevicePlace.__new__(DevicePlace)
    if not loops:
        find_loops()
    place.index = index
    place.device = device("cuda", index)
    return place


cdef class DevicePlace(Place):
    """The memory of one CUDA device."""

    cdef cudaStream_t stream(self) except? NULL:
        """The stream that work goes to, with the device ready to take it."""
        use(self.index)
        return current_stream_of(self.index)

    cdef Storage allocate(self, size_t nbytes):
        return device_storage(self.index, nbytes, self)

    def grow(self, Storage storage not None, size_t nbytes):
        """Move a Storage's contents to a larger block."""
        cdef Storage fresh = device_storage(self.index, nbytes, self)
        if storage.nbytes:
            check(cudaMemcpyAsync(fresh.data, storage.data, storage.nbytes, cudaMemcpyDeviceToDevice, self.stream()))
        storage.owner, storage.data, storage.nbytes = fresh.owner, fresh.data, nbytes

    # ------------------------------------------------------------ copies

    cdef int copy(self, TensorBase out, TensorBase source) except -1:
        """Write source, broadcast and cast, into out; one of them at least is on a device."""
        if out.count == 0:
            return 0
        if not source.flags & ON_DEVICE:
            return self.copy_in(out, source)
        if not out.flags & ON_DEVICE:
            return (<DevicePlace>source.impl).copy_out(out, source)
        if out.impl is not source.impl:
            return self.copy_across(out, source)
        if is_plain(out, source):
            if device_ptr(out) != device_ptr(source):
                check(cudaMemcpyAsync(device_ptr(out), device_ptr(source), out.count * ITEMSIZE[out.code],
                                      cudaMemcpyDeviceToDevice, self.stream()))
            return 0
        return self.convert(out, source)

    cdef int convert(self, TensorBase out, TensorBase source) except -1:
        """The kernel that casts and moves elements one by one."""
        cdef shim_nest nest
        cdef PyObject* operands[2]
        operands[0], operands[1] = <PyObject*>out, <PyObject*>source
        describe(&nest, 2, operands)
        return check(shim_cast(source.code, out.code, &nest, self.stream()))

    cdef int copy_in(self, TensorBase out, TensorBase source) except -1:
        """From the CPU's memory."""
        cdef TensorBase staged
        if source.ndim_ == 0:
            return self.convert(out, source)
        if not source.contiguous_:
            staged = empty(source.code, source.ndim_, source.shape_)
            copy_into(staged, source)
            source = staged
        if not is_plain(out, source):
            staged = empty_at(self, source.code, source.ndim_, source.shape_)
            self.copy_in(staged, source)
            return self.convert(out, staged)
        check(cudaMemcpyAsync(device_ptr(out), ptr(source), out.count * ITEMSIZE[out.code], cudaMemcpyHostToDevice,
                              self.stream()))
        if is_pinned(source.storage) and not unawaited:    # it is read late: the program may change it from now on
            wait_for(current_stream_of(self.index))
        return 0

    cdef int copy_out(self, TensorBase out, TensorBase source) except -1:
        """To the CPU's memory, of which the program may read when this returns."""
        cdef TensorBase staged
        if not source.contiguous_ or source.code != out.code:
            staged = empty_at(self, out.code, source.ndim_, source.shape_)
            self.convert(staged, source)
            source = staged
        if not is_plain(out, source):
            staged = empty(source.code, source.ndim_, source.shape_)
            self.copy_out(staged, source)
            return copy_into(out, staged)
        check(cudaMemcpyAsync(ptr(out), device_ptr(source), out.count * ITEMSIZE[out.code], cudaMemcpyDeviceToHost,
                              self.stream()))
        return 0 if unawaited and is_pinned(out.storage) else wait_for(current_stream_of(self.index))

    cdef int copy_across(self, TensorBase out, TensorBase source) except -1:
        """From one device to another."""
        cdef TensorBase staged
        if not is_plain(out, source):
            staged = empty_at(<Place>out.impl, source.code, source.ndim_, source.shape_)
            self.copy_across(staged, contiguous(source))
            return (<DevicePlace>out.impl).convert(out, staged)
        wait_for((<DevicePlace>source.impl).stream())
        wait_for((<DevicePlace>out.impl).stream())
        check(cudaMemcpyAsync(device_ptr(out), device_ptr(source), out.count * ITEMSIZE[out.code], cudaMemcpyDefault,
                              current_stream_of((<DevicePlace>out.impl).index)))
        return wait_for(current_stream_of((<DevicePlace>out.impl).index))

    cdef object item(self, TensorBase t):
        cdef char number[16]
        check(cudaMemcpyAsync(number, device_ptr(t), ITEMSIZE[t.code], cudaMemcpyDeviceToHost, self.stream()))
        wait_for(current_stream_of(self.index))
        return read_scalar(number, t.code)

    # ------------------------------------------------------------ loops

    cdef int loop(self, void* loop, int n, PyObject** operands, const void* param) except -1:
        """The kernel of a loop of the CPU, on operands that broadcast to the first, the output."""
        cdef int op, code, last
        cdef shim_nest nest
        cdef shim_params params
        op, code, last, name = loops[<size_t>loop]
        if op != CASTS and (n > SHIM_OPERANDS or not shim_has_loop(op, code)):
            return self.loop_on_cpu(<st_loop>loop, n, operands, param, name, code)
        describe(&nest, n, operands)
        if op == CASTS:
            return check(shim_cast(code, last, &nest, self.stream()))
        if last:
            memcpy(&params, param, last)
        return check(shim_loop(op, code, &nest, &params, self.stream()))

    cdef int loop_on_cpu(self, st_loop loop, int n, PyObject** operands, const void* param, str name,
                         int code) except -1:
        cdef PyObject* stack[8]
        cdef TensorBase out = <TensorBase>operands[0], t
        cdef int k
        if not allowed():
            raise missing(name, code, self)
        warn_once(name, self.device)
        t = empty_strided(out.code, out.ndim_, out.shape_, out.strides_)
        kept = [t] + [(<TensorBase>operands[k]).cpu() for k in range(1, n)]
        for k in range(n):
            stack[k] = <PyObject*>kept[k]
        run_loop(loop, n, stack, param)
        return self.copy(out, t)

    # ------------------------------------------------------------ reductions

    cdef int reduce(self, void* kernel, TensorBase out, TensorBase a, unsigned long long dims, const void* param,
                    TensorBase indices) except -1:
        """The kernel of a reduction of the CPU; out and indices are contiguous."""
        cdef int op, code, i
        cdef shim_reduction r
        op, code, name = reductions[<size_t>kernel]
        if not shim_has_reduction(op, code):
            return self.reduce_on_cpu(<st_reduce>kernel, out, a, dims, param, indices, name, code)
        r.kept_ndim = r.reduced_ndim = 0
        r.n_kept, r.n_reduced = out.count, 1
        for i in range(a.ndim_):
            if dims >> i & 1:
                r.n_reduced *= a.shape_[i]
                append(&r.reduced_ndim, r.reduced_shape, r.reduced_strides, a, i)
            else:
                append(&r.kept_ndim, r.kept_shape, r.kept_strides, a, i)
        r.from_, r.out = device_ptr(a), device_ptr(out)
        r.index = NULL if indices is None else <int64_t*>device_ptr(indices)
        r.param = 0 if param == NULL else (<const double*>param)[0]
        return check(shim_reduce(op, code, &r, self.stream()))

    cdef int reduce_on_cpu(self, st_reduce kernel, TensorBase out, TensorBase a, unsigned long long dims,
                           const void* param, TensorBase indices, str name, int code) except -1:
        cdef TensorBase t = empty(out.code, out.ndim_, out.shape_), at = None
        if not allowed():
            raise missing(name, code, self)
        warn_once(name, self.device)
        if indices is not None:
            at = empty(indices.code, indices.ndim_, indices.shape_)
        reduce_into(kernel, t, a.cpu(), dims, param, at)
        self.copy(out, t)
        return 0 if at is None else self.copy(indices, at)


cdef bint unawaited = False            # copies to and from pinned memory are not waited for


def copy_unawaited(TensorBase out not None, TensorBase source not None):
    """``out.copy_(source)``, which may still be under way when this returns where the CPU's memory is pinned."""
    global unawaited
    unawaited = True
    try:
        copy_into(out, source)
    finally:
        unawaited = False


cdef object missing(str name, int code, DevicePlace place):
    return DeviceDtypeError(f"{name}: not implemented for dtype {dtype_of(code).name} on device '{place.device}'")


cdef bint is_plain(TensorBase out, TensorBase source) noexcept:
    """Whether a copy is one of bytes."""
    return out.contiguous_ and source.contiguous_ and out.code == source.code and same_shape(out, source)


cdef TensorBase contiguous(TensorBase t):
    cdef TensorBase r
    if t.contiguous_:
        return t
    r = empty_at(<Place>t.impl, t.code, t.ndim_, t.shape_)
    (<DevicePlace>t.impl).convert(r, t)
    return r


cdef int append(int* ndim, int64_t* shape, int64_t* strides, TensorBase t, int d) except -1:
    """Add a dimension to a list, joined with the last one where memory allows."""
    cdef int64_t step = t.strides_[d] * ITEMSIZE[t.code]
    cdef int last = ndim[0] - 1
    if t.shape_[d] == 1:
        return 0
    if last >= 0 and strides[last] == step * t.shape_[d]:
        shape[last] *= t.shape_[d]
        strides[last] = step
        return 0
    if ndim[0] == SHIM_DIMS:
        raise NotImplementedError(f"tensors of more than {SHIM_DIMS} dimensions that cannot be merged: not implemented "
                                  f"for device '{t.device}'")
    shape[ndim[0]], strides[ndim[0]] = t.shape_[d], step
    ndim[0] += 1
    return 0


cdef int describe(shim_nest* nest, int n, PyObject** operands) except -1:
    """Operands that broadcast to the first, with neighbouring dimensions merged; 0-dim ones of the CPU by value."""
    cdef TensorBase out = <TensorBase>operands[0], t
    cdef int64_t steps[4]
    cdef int i, k, d, last
    cdef bint merge
    nest.count, nest.ndim, nest.by_value = out.count, 0, 0
    for k in range(n):
        t = <TensorBase>operands[k]
        if t.flags & ON_DEVICE:
            if t.impl is not out.impl:
                raise different(out, t)
            nest.at[k] = device_ptr(t)
        elif t.ndim_ == 0 and k:
            nest.at[k] = NULL
            nest.by_value |= 1 << k
            memcpy(&nest.values[k][0], ptr(t), ITEMSIZE[t.code])
        else:
            raise different(out, t)
    for i in range(out.ndim_):
        if out.shape_[i] == 1:
            continue
        last = nest.ndim - 1
        merge = last >= 0
        for k in range(n):
            t = <TensorBase>operands[k]
            d = i - out.ndim_ + t.ndim_
            steps[k] = t.strides_[d] * ITEMSIZE[t.code] if d >= 0 and t.shape_[d] != 1 else 0
            merge = merge and nest.strides[k][last] == steps[k] * out.shape_[i]
        if not merge:
            if nest.ndim == SHIM_DIMS:
                raise NotImplementedError(f"tensors of more than {SHIM_DIMS} dimensions that cannot be merged: not "
                                          f"implemented for device '{out.device}'")
            last = nest.ndim
            nest.ndim += 1
            nest.shape[last] = 1
        nest.shape[last] *= out.shape_[i]
        for k in range(n):
            nest.strides[k][last] = steps[k]
    return 0


cdef object different(TensorBase a, TensorBase b):
    return RuntimeError("Expected all tensors to be on the same device, but found at least two devices, "
                        f"{a.device} and {b.device}!")


# ---------------------------------------------------------------- kernels that only the forms for a device use

TAKE, PUT, ADD = SHIM_TAKE, SHIM_PUT, SHIM_ADD
MULTIPLY, GREATEST, LEAST = SHIM_MULTIPLY, SHIM_GREATEST, SHIM_LEAST
UNIFORM, NORMAL, BERNOULLI, EXPONENTIAL = SHIM_UNIFORM, SHIM_NORMAL, SHIM_BERNOULLI, SHIM_EXPONENTIAL
CAUCHY, LOG_NORMAL, GEOMETRIC = SHIM_CAUCHY, SHIM_LOG_NORMAL, SHIM_GEOMETRIC


cdef DevicePlace place_of_all(tensors):
    """The Place of tensors, which must be the same."""
    cdef TensorBase first = tensors[0], t
    for x in tensors:
        t = x
        if not t.flags & ON_DEVICE or t.impl is not first.impl:
            raise different(first, t)
    return <DevicePlace>first.impl


def look_up(int mode, TensorBase value not None, TensorBase source not None, shape, value_strides, source_strides,
            indices, bint wraps=False):
    """Take value from source, put it there, or combine them, at every place of an iteration over shape.

    value_strides, source_strides: in elements, a number for each dimension of the iteration. indices: (int64 tensor,
    its strides, size, stride in source) for each dimension of source that is named by an index; wraps: negative ones
    count from the end. An index outside its size raises IndexError, when the others are done.
    """
    cdef shim_lookup u
    cdef int i, k, n = len(shape)
    cdef int64_t[2] failure
    cdef TensorBase index, flag
    cdef Py_ssize_t[1] two = [2]
    cdef DevicePlace place = place_of_all([value, source] + [x[0] for x in indices])
    if n > SHIM_DIMS or len(indices) > SHIM_INDICES:
        raise NotImplementedError(f"indices of more than {SHIM_INDICES} dimensions, or results of more than "
                                  f"{SHIM_DIMS}: not implemented for device '{place.device}'")
    flag = empty_at(place, INT64, 1, two)
    check(cudaMemsetAsync(device_ptr(flag), 0, 16, place.stream()))
    u.count, u.ndim, u.n_indices, u.wraps = 1, n, len(indices), wraps
    for i in range(n):
        u.count *= shape[i]
        u.shape[i] = shape[i]
        u.value_strides[i] = value_strides[i] * ITEMSIZE[value.code]
        u.source_strides[i] = source_strides[i] * ITEMSIZE[source.code]
    for k in range(u.n_indices):
        index, strides, size, step = indices[k]
        for i in range(n):
            u.index_strides[k][i] = strides[i]
        u.indices[k], u.sizes[k], u.steps[k] = <int64_t*>device_ptr(index), size, step * ITEMSIZE[source.code]
    u.value, u.source, u.failure = device_ptr(value), device_ptr(source), <int64_t*>device_ptr(flag)
    status = shim_look_up(mode, value.code, &u, place.stream())
    if status == cudaErrorNotSupported:
        raise missing("scatter_reduce", value.code, place)
    check(status)
    check(cudaMemcpyAsync(failure, device_ptr(flag), 16, cudaMemcpyDeviceToHost, place.stream()))
    wait_for(current_stream_of(place.index))
    if failure[0]:
        raise IndexError(f"index {failure[1]} is out of bounds for dimension with size {indices[failure[0] - 1][2]}")


def scan(str kernel, TensorBase t not None, int dim):
    """cumsum or cumprod along a dimension of a contiguous tensor."""
    cdef DevicePlace place = place_of_all([t])
    cdef TensorBase r = empty_at(place, t.code, t.ndim_, t.shape_)
    cdef int64_t n = t.shape_[dim] if t.ndim_ else 1, inner = 1
    cdef int i
    for i in range(dim + 1, t.ndim_):
        inner *= t.shape_[i]
    status = shim_scan(st_rows_op(kernel.encode()), t.code, device_ptr(t), device_ptr(r), t.count // n if n else 0, n,
                       inner, place.stream())
    if status == cudaErrorNotSupported:
        raise missing(kernel, t.code, place)
    check(status)
    return r


def compact(TensorBase flags not None, TensorBase sums not None, TensorBase out not None):
    """out[k]: the place of the k-th flag (bool, contiguous) that is set, by the cumulative count of flags."""
    cdef DevicePlace place = place_of_all([flags, sums, out])
    check(shim_compact(device_ptr(flags), <int64_t*>device_ptr(sums), <int64_t*>device_ptr(out), flags.count,
                       place.stream()))


def draw(int kind, TensorBase t not None, uint64_t seed, uint64_t offset, double a, double b, int grid):
    """Fill a contiguous tensor with random numbers; False where there is no kernel for the dtype."""
    cdef DevicePlace place = place_of_all([t])
    status = shim_draw(kind, t.code, device_ptr(t), t.count, seed, offset, a, b, grid, place.stream())
    if status == cudaErrorNotSupported:
        return False
    check(status)
    return True
