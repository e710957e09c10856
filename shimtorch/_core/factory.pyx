"""Making tensors: uninitialised, filled, from Python data, joined from others."""
from libc.math cimport INFINITY
from libc.string cimport memcpy

import numpy as np

cimport numpy as cnp

from .destination cimport make_result
from .dtype cimport (
    BFLOAT16, BOOL, CATEGORY, CAT_COMPLEX, CAT_FLOAT, CAT_INT, COMPLEX64, FLOAT16, FLOAT32, INT64, ITEMSIZE, NDTYPES,
    UINT8, UINT64, as_code, code_of_numpy, default_code, dtype_of, promote_checked,
)
from .iterate cimport alloc_at, alloc_result, as_code_tensor, broadcast_shape, contiguous_copy, copy_into, run1
from .promotion cimport number_code, result_code
from .policy cimport policy
from .storage cimport Storage, alias
from .tensor cimport (
    MAX_DIMS, ON_DEVICE, SPARSE, Place, TensorBase, describe_shape, empty, empty_at, from_ndarray, make_size,
    parse_shape, place_of, ptr, scalar_tensor, shallow, span_of, strided_alias, wrap_dim,
)
from .._kernels.table cimport st_cast, st_shared_copy_rows, st_shared_zero

from .device import as_device, channels_last, channels_last_3d, place_on, strided

cdef extern from "Python.h":
    Py_ssize_t PY_SSIZE_T_MAX

cnp.import_array()


cdef int check_sizes(int ndim, const Py_ssize_t* shape) except -1:
    cdef int i
    cdef double n = 1
    for i in range(ndim):
        if shape[i] < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {shape[i]}: "
                               f"{list(make_size(ndim, shape))}")
        n *= shape[i]
    if n > 2.0 ** 58:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(make_size(ndim, shape))}")
    return 0


cpdef TensorBase new_empty(object size, object dtype=None, TensorBase like=None, object device=None):
    """An uninitialised contiguous tensor, on a device, or else on that of ``like``; dtype None: the default one."""
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef int ndim = parse_shape(size, shape)
    check_sizes(ndim, shape)
    return empty_at(place_of(like, None) if device is None else place_at(device),
                    default_code() if dtype is None else as_code(dtype), ndim, shape)


cdef Place place_at(device):
    """The Place of a device that a user names; None for the CPU."""
    device = as_device(device)
    return None if device.type == "cpu" else <Place?>place_on(device)


cpdef TensorBase empty_alike(TensorBase t, object dtype=None, object device=None):
    """An uninitialised tensor of the shape of t and in its memory order; dtype, device None: its own."""
    cdef TensorBase r
    cdef int code = t.code if dtype is None else as_code(dtype)
    if device is None:
        return alloc_result(code, t.ndim_, t.shape_, t, None)
    if code == t.code:
        return alloc_at(place_at(device), t)
    r = alloc_result(code, t.ndim_, t.shape_, t, None)
    return alloc_at(place_at(device), r)


cdef TensorBase finish(TensorBase t, device, layout, bint requires_grad, bint pin=False):
    if device is not None:
        t = on_device(t, as_device(device))
    if layout is not None and layout is not strided:
        raise NotImplementedError(f"creation of a tensor with layout {layout} is not implemented")
    if pin:
        t = t.pin_memory()
    if requires_grad:
        t.requires_grad_(True)
    return t


cpdef TensorBase on_device(TensorBase t, device, bint non_blocking=False):
    """A tensor on a device, given by ``as_device``: itself, or a copy in the same memory order.

    non_blocking: a copy of pinned memory is not waited for.
    """
    cdef TensorBase r
    if t.device == device:
        return t
    if t.flags & SPARSE:
        raise NotImplementedError(f"sparse tensors: not implemented for device '{device}'")
    r = alloc_at(place_at(device), t)
    copy_between(r, t, non_blocking)
    return r


cdef int copy_between(TensorBase to, TensorBase source, bint non_blocking) except -1:
    if non_blocking and (to.flags | source.flags) & ON_DEVICE:
        from .._gpu._device import copy_unawaited
        copy_unawaited(to, source)
        return 0
    return copy_into(to, source)


cdef object sparse_zeros = None         # a sparse tensor without entries: (sizes, dtype, layout, requires_grad, device)


def bind_sparse_zeros(f):
    """Give the function that makes sparse tensors for ``zeros`` and ``empty``."""
    global sparse_zeros
    sparse_zeros = f


cdef bint asks_for_sparse(layout, out) noexcept:
    return layout is not None and layout is not strided and out is None


cdef TensorBase made(str name, tuple sizes, object size, object out, object dtype, object device):
    """The uninitialised result of a function that takes sizes: a new tensor on a device, or ``out`` resized."""
    cdef TensorBase t
    if size is not None:
        if sizes:
            raise TypeError(f"{name}() got multiple values for argument 'size'")
        sizes = (size,)
    elif not sizes:
        raise TypeError(f"{name}() missing 1 required positional arguments: \"size\"")
    try:
        if out is None:
            return new_empty(sizes, dtype, None, device)
        if not isinstance(out, TensorBase):
            raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")
        t = <TensorBase>out
        if dtype is not None and as_code(dtype) != t.code:
            raise RuntimeError(f"dtype {dtype} does not match dtype of out parameter ({t.dtype})")
        return t.resize_(*sizes)
    except (TypeError, OverflowError):
        check_size_arguments(name, sizes)
        raise


cdef int check_size_arguments(str name, tuple sizes) except -1:
    """Raise torch's error for arguments that are no sizes."""
    cdef Py_ssize_t i
    cdef tuple items = tuple(sizes[0]) if isinstance(sizes[0], (tuple, list)) else sizes
    for i in range(len(items)):
        item = items[i]
        if not hasattr(item, "__index__") or (isinstance(item, TensorBase) and (<TensorBase>item).ndim_):
            if i == 0:
                raise TypeError(f"{name}(): argument 'size' (position 1) must be tuple of ints, not "
                                f"{type(item).__name__}")
            raise TypeError(f"{name}(): argument 'size' failed to unpack the object at pos {i + 1} with error \"type "
                            f"must be tuple of ints,but got {type(item).__name__}\"")
        if not -0x8000000000000000 <= item.__index__() <= 0x7FFFFFFFFFFFFFFF:
            raise TypeError(f"{name}(): argument 'size' failed to unpack the object at pos {i + 1} with error "
                            "\"Overflow when unpacking long long")
    return 0


def empty_tensor(*sizes, size=None, out=None, dtype=None, layout=None, device=None, requires_grad=False,
                 pin_memory=False, memory_format=None):
    """A tensor of the given size whose values are whatever was in memory; a sparse one has no entries."""
    if asks_for_sparse(layout, out):
        return sparse_zeros(sizes if size is None else size, dtype, layout, requires_grad, device)
    cdef TensorBase t = made("empty", sizes, size, out, dtype, device)
    if memory_format is not None and memory_format.name not in ("contiguous_format", "preserve_format"):
        t = in_format(t, memory_format.name)
    return finish(t, device, layout, requires_grad, pin_memory)


def zeros(*sizes, size=None, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor of zeros of the given size, dense or in a sparse layout."""
    if asks_for_sparse(layout, out):
        return sparse_zeros(sizes if size is None else size, dtype, layout, requires_grad, device)
    return finish(zero(made("zeros", sizes, size, out, dtype, device)), device, layout, requires_grad, pin_memory)


def ones(*sizes, size=None, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor of ones of the given size."""
    return finish(fill(made("ones", sizes, size, out, dtype, device), 1), device, layout, requires_grad, pin_memory)


def full(size, fill_value, *, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor of the given size with every element ``fill_value``; its dtype is that of the number."""
    cdef TensorBase t
    if not isinstance(fill_value, (int, float, complex, TensorBase, np.number, np.bool_)):
        raise TypeError(f"full(): argument 'fill_value' (position 2) must be Number, not {type(fill_value).__name__}")
    if dtype is None and out is None:
        if policy.float_full and not isinstance(fill_value, complex):
            dtype = dtype_of(default_code())
        elif isinstance(fill_value, TensorBase):
            dtype = fill_value.dtype
        else:
            dtype = dtype_of(result_code(scalar_tensor(BOOL, False), fill_value))
    t = made("full", (size,), None, out, dtype, device)
    if isinstance(fill_value, TensorBase) and not (<TensorBase>fill_value).ndim_:
        fill_value = fitting(t, fill_value)
    return finish(fill(t, fill_value), device, layout, requires_grad, pin_memory)


_C_TYPES = ("bool", "uint8_t", "int8_t", "int16_t", "int", "int64_t", "c10::Half", "c10::BFloat16", "float", "double",
            "c10::complex<float>", "c10::complex<double>", "uint16_t", "uint32_t", "uint64_t")
cdef list INTEGER_LIMITS = [1, 255, 127, 32767, 2147483647, 0x7FFFFFFFFFFFFFFF, 0, 0, 0, 0, 0, 0, 65535, 4294967295,
                            0xFFFFFFFFFFFFFFFF]
# Numbers beyond these are too large; infinity is not.
cdef dict FLOAT_LIMITS = {FLOAT16: 65504.0, BFLOAT16: 3.3895313892515355e38, FLOAT32: 3.4028234663852886e38,
                          COMPLEX64: 3.4028234663852886e38}


def fitting(TensorBase x not None, value, str name="fill_"):
    """A number, or that of a 0-dim tensor, once it is sure that an element of x can be it; name is the op's."""
    if isinstance(value, TensorBase):
        value = value.item()
    check_fits(x.code, value, name)
    return value


cdef int check_fits(int code, object value, str name="fill_") except -1:
    """Refuse a number that no element of the dtype can be: too large, infinite for an integer, complex."""
    cdef bint fits
    if isinstance(value, TensorBase):
        if (<TensorBase>value).ndim_:
            raise RuntimeError("fill_ only supports 0-dimension value tensor but got tensor with "
                               f"{(<TensorBase>value).ndim_} dimensions.")
        return 0
    if not isinstance(value, (int, float, complex, np.number, np.bool_)):
        raise TypeError(f"{name}() received an invalid combination of arguments - got ({type(value).__name__}), but "
                        "expected one of:\n * (Tensor value)\n * (Number value)")
    if CATEGORY[code] == CAT_INT:
        limit = INTEGER_LIMITS[code]
        fits = not isinstance(value, complex) and -limit - 1 <= value <= limit
    else:
        fits = CATEGORY[code] != CAT_FLOAT or not isinstance(value, complex)
        if fits and code in FLOAT_LIMITS:
            fits = not FLOAT_LIMITS[code] < max(abs(value.real), abs(value.imag)) < INFINITY
    if not fits:
        raise RuntimeError(f"value cannot be converted to type {_C_TYPES[code]} without overflow")
    return 0


cdef enum:
    PATTERN = 4096                     # bytes that are copied again and again: a multiple of every element's size


cpdef object fill(TensorBase t, value):
    """Set every element."""
    cdef TensorBase s
    if t is None:
        raise TypeError("fill: expected a Tensor, got NoneType")
    t.need_memory("fill_")
    if t.count != 1 or ITEMSIZE[t.code] != 2 or CATEGORY[t.code] != CAT_FLOAT:      # one float of 16 bits may overflow
        check_fits(t.code, value)
    if t.count == 0:
        return t
    s = scalar_tensor(t.code, value)
    if t.contiguous_ and not t.flags & ON_DEVICE and t.count * ITEMSIZE[t.code] >= 2 * PATTERN:
        repeat(ptr(t), ptr(s), t.count * ITEMSIZE[t.code], ITEMSIZE[t.code])
    else:
        run1(st_cast(t.code, t.code), t, s, NULL)
    return t


cdef void repeat(char* to, const char* element, size_t nbytes, size_t size) noexcept:
    """Fill memory with copies of an element: of a pattern of them."""
    cdef size_t done = size, blocks = nbytes // PATTERN
    memcpy(to, element, size)
    while done < PATTERN:
        memcpy(to + done, to, done)
        done *= 2
    st_shared_copy_rows(to + PATTERN, PATTERN, to, 0, blocks - 1, PATTERN)
    memcpy(to + blocks * PATTERN, to, nbytes - blocks * PATTERN)


cpdef object zero(TensorBase t):
    """Set every element to 0."""
    if t is None:
        raise TypeError("zero: expected a Tensor, got NoneType")
    t.need_memory("zero_")
    if t.contiguous_ and not t.flags & ON_DEVICE:
        st_shared_zero(ptr(t), t.count * ITEMSIZE[t.code])
        return t
    return fill(t, 0)


# ---------------------------------------------------------------- from Python data

cpdef TensorBase from_data(object data, object dtype=None, bint copy=True):
    """A tensor of nested sequences, numbers, ndarrays, tensors or anything with a buffer; dtype None: inferred."""
    cdef TensorBase t
    cdef object array
    cdef int code
    if isinstance(data, TensorBase):
        t = shallow(<TensorBase>data) if not (<TensorBase>data).flags & SPARSE else data
        if dtype is not None and (<TensorBase>data).code != as_code(dtype):
            return as_code_tensor(t, as_code(dtype))
        return contiguous_or_strided_copy(t) if copy else t
    if type(data) is float:
        return scalar_tensor(default_code() if dtype is None else as_code(dtype), data)
    if type(data) is int and dtype is not None and CATEGORY[as_code(dtype)] != CAT_INT:
        return scalar_tensor(as_code(dtype), data)
    if isinstance(data, (list, tuple)):
        array = sequence_array(data)
        code = inferred_code(data) if dtype is None else as_code(dtype)
        return of_array(exact_array(array, data, code), code)
    elif isinstance(data, (np.ndarray, np.generic)):
        array = data
        t = from_ndarray(np.asarray(array))
        if dtype is not None and t.code != as_code(dtype):
            return as_code_tensor(t, as_code(dtype))
        return contiguous_or_strided_copy(t) if copy or isinstance(data, np.generic) else t
    elif isinstance(data, (bool, int, complex)):
        return of_array(np.asarray(data), element_code(data) if dtype is None else as_code(dtype))
    elif hasattr(data, "__array__") or hasattr(data, "__array_interface__") or isinstance(
            data, (bytes, bytearray, memoryview)):
        return from_data(np.asarray(data) if not isinstance(data, (bytes, bytearray)) else
                         np.frombuffer(data, dtype=np.uint8), dtype, copy)
    elif hasattr(data, "__len__") and hasattr(data, "__getitem__") and not isinstance(data, (str, dict, set)):
        return from_data([data[i] for i in range(len(data))], dtype, copy)
    raise_type_error(data)


cdef object raise_type_error(object data):
    if data is None:
        raise RuntimeError("Could not infer dtype of NoneType")
    if isinstance(data, str):
        raise TypeError("new(): invalid data type 'str'")
    raise RuntimeError(f"Could not infer dtype of {type(data).__name__}")


cdef TensorBase contiguous_or_strided_copy(TensorBase t):
    """A copy in the same memory order."""

    cdef TensorBase r
    if t.flags & SPARSE:
        return t.clone()
    r = alloc_result(t.code, t.ndim_, t.shape_, t, None)
    copy_into(r, t)
    return r


cdef int element_code(object x) except -1:
    """The dtype that a number within a sequence stands for; that of a NumPy scalar is its own."""
    cdef type kind = type(x)
    if kind is bool:
        return UINT8 if policy.compare_uint8 else BOOL
    if kind is not float and kind is not int and isinstance(x, np.generic) and (
            kind is not np.float64 or policy.numpy_doubles_kept):
        return code_of_numpy(x.dtype)
    return number_code(x)


cdef int inferred_code(object data) except -1:
    """The dtype of a nested sequence: the promotion of what its elements have; the default one for an empty one."""
    cdef int code = NDTYPES
    widen_code(data, &code)
    return default_code() if code == NDTYPES else code


cdef int widen_code(object data, int* code) except -1:
    """Promote code (NDTYPES: none yet) with the dtypes of all elements of a nested sequence."""
    cdef int found
    for x in data:
        if isinstance(x, (list, tuple)):
            widen_code(x, code)
            continue
        if isinstance(x, TensorBase):
            found = (<TensorBase>x).code
        elif isinstance(x, np.ndarray):
            found = code_of_numpy((<cnp.ndarray>x).dtype)
        elif isinstance(x, (float, int, complex, np.generic)):
            found = element_code(x)
        else:                          # another kind of sequence
            widen_code(x, code)
            continue
        if found != code[0]:
            code[0] = found if code[0] == NDTYPES else promote_checked(code[0], found)
    return 0


cdef TensorBase of_array(object array, int code):
    """A fresh array, made from Python numbers, as a tensor of a dtype."""
    cdef cnp.ndarray a = array
    cdef TensorBase t
    cdef str kind = a.dtype.kind
    if kind == "u" and a.dtype == np.uint64 and code != UINT64 and CATEGORY[code] == CAT_INT:
        raise ValueError("Overflow when unpacking long long")
    t = from_ndarray(a)
    if t.code == code:
        return t
    if CATEGORY[t.code] == CAT_COMPLEX and CATEGORY[code] != CAT_COMPLEX and code != BOOL:
        raise TypeError("must be real number, not complex" if CATEGORY[code] == CAT_FLOAT else
                        "'complex' object cannot be interpreted as an integer")
    if CATEGORY[code] == CAT_INT and (code != INT64 or kind == "f"):
        check_array_fits(a, code)
    return as_code_tensor(t, code)


cdef int check_array_fits(cnp.ndarray a, int code) except -1:
    """Refuse data of which an integer dtype cannot hold an element."""
    if a.size:
        limit = INTEGER_LIMITS[code]
        if not (-limit - 1 <= a.min() and a.max() <= limit):
            raise RuntimeError(f"value cannot be converted to type {dtype_of(code).name} without overflow")
    return 0


cdef object sequence_array(object data):
    """A nested sequence of numbers (and tensors) as an ndarray."""
    cdef object array
    if holds_tensors(data):
        data = plain(data)
    try:
        array = np.array(data)
    except ValueError:
        check_regular(data, 0)
        raise
    kind = array.dtype.kind
    if kind == "O":
        check_regular(data, 0)
        if not all([isinstance(x, (int, float)) for x in array.flat]):
            raise_object(data)
    if kind in "SUVmM":
        raise_object(data)
    return array


cdef object exact_array(cnp.ndarray array, object data, int code):
    """What became of a sequence in NumPy's hands, made again where large integers among its numbers lost digits."""
    cdef str kind = array.dtype.kind
    if kind == "O" and CATEGORY[code] != CAT_INT:
        return array.astype(np.float64)
    if not array.size or CATEGORY[code] != CAT_INT:
        return array
    if kind == "f" and code != UINT64 and not np.abs(array).max() >= 9007199254740992:
        return array
    if kind in "biu" and (code != UINT64 or array.min() >= 0):
        return array
    array = np.array(plain(data), dtype=object)
    whole = [exact_integer(x, code) for x in array.flat]
    return np.array(whole, dtype=np.uint64 if code == UINT64 else np.int64).reshape((<object>array).shape)


cdef object exact_integer(object x, int code):
    """A number of a sequence as an integer that int64 (uint64) can hold."""
    if code == UINT64:
        if isinstance(x, (float, np.floating)):
            raise TypeError("an integer is required")
        if x < 0:
            raise OverflowError("can't convert negative int to unsigned")
        if x > 0xFFFFFFFFFFFFFFFF:
            raise OverflowError("int too big to convert")
        return int(x)
    if not -0x8000000000000000 <= x <= 0x7FFFFFFFFFFFFFFF:
        if isinstance(x, int):
            raise ValueError("Overflow when unpacking long long")
        raise RuntimeError(f"value cannot be converted to type {dtype_of(code).name} without overflow")
    return int(x)


cdef object raise_object(object data):
    for item in data:
        if isinstance(item, (list, tuple)):
            raise_object(item)
        elif isinstance(item, str):
            raise TypeError("new(): invalid data type 'str'")
        elif not isinstance(item, (int, float, complex, np.generic)):
            raise RuntimeError(f"Could not infer dtype of {type(item).__name__}")
    raise TypeError("cannot make a tensor of this data")


cdef bint holds_tensors(object data):
    cdef object item = data
    while isinstance(item, (list, tuple)) and len(item):
        for x in item:
            if isinstance(x, TensorBase):
                return True
        item = item[0]
    return False


cdef object plain(object data):
    """Nested sequences with their tensors as Python numbers."""
    if isinstance(data, TensorBase):
        return data.tolist()
    if isinstance(data, (list, tuple)):
        return [plain(x) for x in data]
    return data


cdef int check_regular(object data, int dim) except -1:
    """Raise torch's error for a ragged nested sequence."""
    cdef object first = data[0]
    if not isinstance(first, (list, tuple, np.ndarray)):
        for x in data:
            if isinstance(x, (list, tuple)):
                raise TypeError(f"must be real number, not {type(x).__name__}" if isinstance(first, (int, float)) else
                                f"expected sequence at dim {dim + 1}")
        return 0
    for x in data:
        if not isinstance(x, (list, tuple, np.ndarray)):
            raise TypeError(f"expected sequence of length {len(first)} at dim {dim + 1} (got {type(x).__name__})")
        if len(x) != len(first):
            raise ValueError(f"expected sequence of length {len(first)} at dim {dim + 1} (got {len(x)})")
    if len(first):
        for x in data:
            check_regular(x, dim + 1)
    return 0


def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """A new tensor holding a copy of data: nested sequences, a number, an ndarray, a tensor.

    The dtype is inferred: Python floats give the default dtype, ints int64, bools bool.
    """
    if isinstance(data, TensorBase):
        import warnings
        warnings.warn("To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
                      "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).",
                      UserWarning, stacklevel=2)
    return finish(from_data(data, dtype, True), device, None, requires_grad, pin_memory)


def as_tensor(data, dtype=None, device=None):
    """Data as a tensor: a tensor as it is, an ndarray without a copy, the rest as ``tensor`` does."""
    if isinstance(data, TensorBase):
        if device is None or as_device(device) == data.device:
            return data if dtype is None or (<TensorBase>data).code == as_code(dtype) else data.to(dtype)
        return data.to(device=device, dtype=dtype)
    return finish(from_data(data, dtype, False), device, None, False)


# ---------------------------------------------------------------- copies

def clone(TensorBase self not None, *, memory_format=None):
    """A copy of the data, in the same memory order."""
    if memory_format is not None and memory_format.name == "contiguous_format":
        return contiguous_copy(self)
    if memory_format is not None and memory_format.name != "preserve_format":
        return in_format(self, memory_format.name)
    return contiguous_or_strided_copy(self)


def contiguous(TensorBase self not None, memory_format=None):
    """The tensor itself if its memory is in the order of its dimensions, else a copy that is."""
    if memory_format is not None and memory_format.name != "contiguous_format":
        return self if self.is_contiguous(memory_format) else in_format(self, memory_format.name)
    return self if self.contiguous_ else contiguous_copy(self)


cdef TensorBase in_format(TensorBase t, str name):
    cdef tuple order, back
    if name == "channels_last" and t.ndim_ == 4:
        order, back = (0, 2, 3, 1), (0, 3, 1, 2)
    elif name == "channels_last_3d" and t.ndim_ == 5:
        order, back = (0, 2, 3, 4, 1), (0, 4, 1, 2, 3)
    else:
        raise RuntimeError(f"required rank {5 if name.endswith('3d') else 4} tensor to use {name} format")
    return contiguous_copy(shallow(t).permute(order)).permute(back)


def cast(TensorBase self not None, dtype):
    """A copy in another dtype, in the same memory order."""
    return as_code_tensor(self, as_code(dtype))


def copy_from(TensorBase self not None, src, bint non_blocking=False):
    """Write src, broadcast and cast, into self; the forward of ``copy_``."""
    cdef TensorBase s
    cdef Py_ssize_t shape[MAX_DIMS]
    if not isinstance(src, TensorBase):
        if isinstance(src, (int, float, complex, bool)):
            return fill(self, src)
        raise TypeError(f"copy_(): argument 'other' (position 1) must be Tensor, not {type(src).__name__}")
    s = <TensorBase>src
    if s.flags & SPARSE:
        s = s.to_dense()
    if s.ndim_ > self.ndim_ or not fits(s, self):
        if policy.same_numel_pointwise and s.count == self.count:
            s = contiguous_copy(s).view(self.shape)
        else:
            if s.ndim_ > self.ndim_:
                raise RuntimeError(f"output with shape {describe_shape(self)} doesn't match the broadcast shape "
                                   f"{describe_shape(s)}")
            broadcast_shape(self, s, shape)      # raises, unless it is self that would have to grow
            raise RuntimeError(f"output with shape {describe_shape(self)} doesn't match the broadcast shape "
                               f"{list(make_size(self.ndim_, shape))}")
    copy_between(self, s, non_blocking)
    return self


cdef bint fits(TensorBase s, TensorBase t) noexcept:
    """Whether s broadcasts to the shape of t."""
    cdef int i, d
    for i in range(s.ndim_):
        d = t.ndim_ - s.ndim_ + i
        if s.shape_[i] != 1 and s.shape_[i] != t.shape_[d]:
            return False
    return True


def alias_data(TensorBase self not None):
    """The same memory without history and with a version counter of its own: ``x.data``."""
    cdef TensorBase r = shallow(self)
    if r.storage is not None:
        r.storage = alias(r.storage)
    return r


def set_data(TensorBase self not None, TensorBase source not None):
    """Make self a tensor on source's memory, keeping its place in the graph."""
    cdef int i
    self.set_ndim(source.ndim_)
    for i in range(source.ndim_):
        self.shape_[i], self.strides_[i] = source.shape_[i], source.strides_[i]
    self.count, self.code, self.offset = source.count, source.code, source.offset
    self.storage, self.impl, self.contiguous_ = source.storage, source.impl, source.contiguous_
    self.flags = (self.flags & ~(SPARSE | ON_DEVICE)) | (source.flags & (SPARSE | ON_DEVICE))


def set_geometry(TensorBase self not None, storage, Py_ssize_t offset, size, stride, dtype=None):
    """Point self at a storage (offset in elements); bounds are the caller's to check."""

    cdef Py_ssize_t shape[MAX_DIMS]
    cdef Py_ssize_t strides[MAX_DIMS]
    cdef int ndim = parse_shape(tuple(size), shape), i, code = self.code if dtype is None else as_code(dtype)
    cdef Py_ssize_t n = 0
    cdef Storage memory = storage_of(storage)
    for i in range(ndim):
        strides[i] = stride[i]
    span_of(ndim, shape, strides, &n)
    self.set_ndim(ndim)
    for i in range(ndim):
        self.shape_[i], self.strides_[i] = shape[i], strides[i]
    self.code = code
    self.count, self.storage, self.offset = n, memory, offset * ITEMSIZE[code]
    if memory.place is not None:
        self.impl = memory.place
        self.flags |= ON_DEVICE
    elif self.flags & ON_DEVICE:
        self.impl = None
        self.flags &= ~ON_DEVICE
    self.finish_strides()
    return self


cdef Storage storage_of(object x):
    if not isinstance(x, Storage):
        raise TypeError(f"expected a Storage, got {type(x).__name__}")
    return <Storage>x


def grow_storage(TensorBase self not None, Py_ssize_t nbytes):
    """Make the storage hold at least nbytes."""
    self.need_memory("resize_")
    if nbytes > 0:
        self.storage.resize(nbytes)


def blank(cls, dtype):
    """An empty tensor of a class, for ``set_geometry`` and ``set_data``."""
    cdef TensorBase t = cls.__new__(cls)
    cdef Py_ssize_t zero_size[1]
    cdef TensorBase e
    zero_size[0] = 0
    e = empty(as_code(dtype), 1, zero_size)
    set_data(t, e)
    return t


# ---------------------------------------------------------------- joining

cdef enum:
    NARROW = 32                       # bytes that are not worth a call that copies them


cdef TensorBase channels_last_like(list parts, TensorBase r):
    """The joined tensor with the channels last in memory where all parts have them last."""
    if r.ndim_ != 4 and r.ndim_ != 5:
        return r
    layout = channels_last if r.ndim_ == 4 else channels_last_3d
    for part in parts:
        if (<TensorBase>part).contiguous_ or not part.is_contiguous(memory_format=layout):
            return r
    return in_format(r, layout.name)


def cat(tensors, dim=0):
    """Tensors joined along a dimension; their dtypes promote, empty 1-d tensors are skipped."""
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef int i, d, code, k
    cdef Py_ssize_t at = 0, outer = 1, chunk, total
    cdef TensorBase t, r
    cdef list parts
    cdef char* dst
    cdef char* src
    cdef Py_ssize_t row
    cdef bint plain_copy = True
    if not isinstance(tensors, (list, tuple)):
        raise TypeError(f"cat(): argument 'tensors' (position 1) must be tuple of Tensors, not "
                        f"{type(tensors).__name__}")
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    parts = []
    code = -1
    for x in tensors:
        if not isinstance(x, TensorBase):
            raise TypeError(f"expected Tensor as element {len(parts)} in argument 0, but got {type(x).__name__}")
        t = <TensorBase>x
        if t.ndim_ == 0:
            t = strided_alias(t, 1, one, one, t.offset)      # a scalar result counts as one element in every era
        code = t.code if code < 0 else promote_checked(code, t.code)
        if t.ndim_ == 1 and t.shape_[0] == 0:
            continue
        parts.append(t)
    if not parts:
        shape[0] = 0
        return empty_at(place_of(t, None), code, 1, shape)
    t = <TensorBase>parts[0]
    d = wrap_dim(dim, t.ndim_)
    for i in range(t.ndim_):
        shape[i] = t.shape_[i]
    total = 0
    for k in range(len(parts)):
        t = <TensorBase>parts[k]
        if t.ndim_ != (<TensorBase>parts[0]).ndim_:
            raise RuntimeError(f"Tensors must have same number of dimensions: got {(<TensorBase>parts[0]).ndim_} and "
                               f"{t.ndim_}")
        for i in range(t.ndim_):
            if i != d and t.shape_[i] != shape[i]:
                raise RuntimeError(f"Sizes of tensors must match except in dimension {d}. Expected size {shape[i]} but "
                                   f"got size {t.shape_[i]} for tensor number {k} in the list.")
        if t.shape_[d] > PY_SSIZE_T_MAX - total:
            raise RuntimeError(f"cat(): the sizes in dimension {d} add up to more than any memory holds")
        total += t.shape_[d]
        plain_copy = plain_copy and t.contiguous_ and t.code == code
    shape[d] = total
    r = make_result(place_of(<TensorBase>parts[0], None), code, (<TensorBase>parts[0]).ndim_, shape)
    if r.count == 0:
        return r
    for i in range(d):
        outer *= shape[i]
    row = r.count // outer * ITEMSIZE[code]
    if r.flags & ON_DEVICE or not plain_copy or (outer > 1 and row < NARROW * len(parts)):
        for k in range(len(parts)):
            t = <TensorBase>parts[k]
            for i in range(r.ndim_):
                shape[i] = t.shape_[i]
            copy_into(strided_alias(r, r.ndim_, shape, r.strides_, r.offset + at * r.strides_[d] * ITEMSIZE[code]), t)
            at += t.shape_[d]
        return channels_last_like(parts, r)
    dst = ptr(r)
    for k in range(len(parts)):
        t = <TensorBase>parts[k]
        chunk = t.count // outer * ITEMSIZE[code]
        src = ptr(t)
        st_shared_copy_rows(dst, row, src, chunk, outer, chunk)
        dst += chunk
    return r


cdef Py_ssize_t[1] one = [1]


cdef object unequal_sizes(TensorBase first, TensorBase t, int k):
    return RuntimeError(f"stack expects each tensor to be equal size, but got {describe_shape(first)} at entry 0 and "
                        f"{describe_shape(t)} at entry {k}")


def stack(tensors, dim=0):
    """Tensors of one shape joined along a new dimension."""
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef Py_ssize_t strides[MAX_DIMS]
    cdef TensorBase t, f
    cdef int i, k, d
    cdef list parts = []
    if not isinstance(tensors, (list, tuple)):
        raise TypeError(f"stack(): argument 'tensors' (position 1) must be tuple of Tensors, not "
                        f"{type(tensors).__name__}")
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    for k in range(len(tensors)):
        if not isinstance(tensors[k], TensorBase):
            raise TypeError(f"expected Tensor as element {k} in argument 0, but got {type(tensors[k]).__name__}")
    f = <TensorBase>tensors[0]
    d = wrap_dim(dim, f.ndim_ + 1)
    if f.ndim_ == MAX_DIMS:
        raise RuntimeError(f"shimtorch tensors have at most {MAX_DIMS} dimensions")
    for k in range(len(tensors)):
        t = <TensorBase>tensors[k]
        if t.ndim_ != f.ndim_:
            raise unequal_sizes(f, t, k)
        for i in range(t.ndim_ + 1):
            if i < t.ndim_ and t.shape_[i] != f.shape_[i]:
                raise unequal_sizes(f, t, k)
            if i < d:
                shape[i], strides[i] = t.shape_[i], t.strides_[i]
            elif i > d:
                shape[i], strides[i] = t.shape_[i - 1], t.strides_[i - 1]
            else:
                shape[i] = 1
                strides[i] = t.shape_[i] * t.strides_[i] if i < t.ndim_ else 1
        parts.append(strided_alias(t, t.ndim_ + 1, shape, strides, t.offset))
    return cat(parts, d)
