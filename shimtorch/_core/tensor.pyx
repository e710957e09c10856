# cython: binding=False
"""TensorBase: what a tensor is. Shape, strides and offset are C fields over a Storage; ndarrays are made on demand."""
from cpython.object cimport Py_EQ, Py_GE, Py_GT, Py_LE, Py_LT, PyObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_SET_ITEM
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc

import numpy as np

cimport numpy as cnp

from .dtype cimport (
    BFLOAT16, BOOL, CAT_COMPLEX, CAT_FLOAT, CAT_INT, CATEGORY, COMPLEX64, COMPLEX128, FLOAT16, FLOAT32,
    FLOAT64, INT8, INT16, INT32, INT64, ITEMSIZE, NPNUM, UINT8, UINT16, UINT32, UINT64, code_of_numpy, dtype_of,
    numpy_dtype,
)
from .policy cimport policy
from .protocol cimport active_modes, dispatch, dispatch_operator, overridden, plain, tensor_type
from .storage cimport borrow, new_storage

from .device import cpu, sparse_coo, strided

cnp.import_array()

cdef extern from "Python.h":
    object PyObject_Vectorcall(PyObject* f, PyObject** args, size_t nargsf, PyObject* kwnames)
    object PyType_GenericAlloc "PyType_GenericAlloc"(type t, Py_ssize_t n)

cdef extern from *:
    """
    static int shimtorch_mul_overflow(Py_ssize_t a, Py_ssize_t b, Py_ssize_t *r) {
        return __builtin_mul_overflow(a, b, r);
    }
    """
    bint mul_overflow "shimtorch_mul_overflow"(Py_ssize_t a, Py_ssize_t b, Py_ssize_t* r) noexcept nogil

cdef extern from *:
    """
    static PyObject *shimtorch_size_type;
    static PyObject *shimtorch_size_subscript(PyObject *self, PyObject *index) {
        PyObject *item = PyTuple_Type.tp_as_mapping->mp_subscript(self, index), *size;
        if (item == NULL || !PySlice_Check(index)) return item;
        const Py_ssize_t n = PyTuple_GET_SIZE(item);
        size = PyType_GenericAlloc((PyTypeObject *)shimtorch_size_type, n);
        for (Py_ssize_t i = 0; size != NULL && i < n; i++) {
            PyObject *one = PyTuple_GET_ITEM(item, i);
            Py_INCREF(one);
            PyTuple_SET_ITEM(size, i, one);
        }
        Py_DECREF(item);
        return size;
    }
    static void shimtorch_set_size_type(PyObject *type) {
        shimtorch_size_type = type;
        ((PyTypeObject *)type)->tp_as_mapping->mp_subscript = shimtorch_size_subscript;
        PyType_Modified((PyTypeObject *)type);
    }
    """
    void shimtorch_set_size_type(PyObject* type)

cdef extern from *:
    """
    #include <string.h>
    /* One element of the two 16-bit float formats, exactly. */
    static float shimtorch_half_to_float(unsigned short h) {
        unsigned int sign = (unsigned int)(h & 0x8000) << 16, e = (h >> 10) & 31, m = h & 1023, bits;
        float f;
        if (e == 31) bits = sign | 0x7f800000u | (m << 13);
        else if (e) bits = sign | ((e + 112) << 23) | (m << 13);
        else { f = (float)m * 5.9604644775390625e-8f; return sign ? -f : f; }
        memcpy(&f, &bits, 4);
        return f;
    }
    static float shimtorch_bfloat_to_float(unsigned short h) {
        unsigned int bits = (unsigned int)h << 16; float f; memcpy(&f, &bits, 4); return f;
    }
    static unsigned short shimtorch_float_to_half(float f) {
        unsigned int x, sign, e, m, half, round;
        memcpy(&x, &f, 4);
        sign = (x >> 16) & 0x8000;
        e = (x >> 23) & 255;
        m = x & 0x7fffff;
        if (e == 255) return sign | 0x7c00 | (m ? 0x200 | (m >> 13) : 0);
        if (e >= 143) return sign | 0x7c00;
        if (e < 102) return sign;
        if (e < 113) {                          /* a subnormal half */
            unsigned int shift = 126 - e;
            m |= 0x800000;
            half = m >> shift;
            round = m & ((1u << shift) - 1);
            return sign | (half + (round > (1u << (shift - 1)) || (round == (1u << (shift - 1)) && (half & 1))));
        }
        half = ((e - 112) << 10) | (m >> 13);
        round = m & 0x1fff;
        return sign | (half + (round > 0x1000 || (round == 0x1000 && (half & 1))));
    }
    static unsigned short shimtorch_float_to_bfloat(float f) {
        unsigned int bits; memcpy(&bits, &f, 4);
        if (f != f) return 0x7fc0 | (unsigned short)((bits >> 16) & 0x8000);
        return (unsigned short)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
    }
    """
    float shimtorch_half_to_float(unsigned short h) noexcept nogil
    float shimtorch_bfloat_to_float(unsigned short h) noexcept nogil
    unsigned short shimtorch_float_to_half(float f) noexcept nogil
    unsigned short shimtorch_float_to_bfloat(float f) noexcept nogil

cdef extern from "numpy/arrayobject.h":
    object PyArray_New(type cls, int nd, cnp.npy_intp* dims, int type_num, cnp.npy_intp* strides, void* data,
                       int itemsize, int flags, PyObject* obj)
    object PyArray_NewFromDescr(type cls, cnp.dtype descr, int nd, cnp.npy_intp* dims, cnp.npy_intp* strides,
                                void* data, int flags, PyObject* obj)
    int PyArray_SetBaseObject(cnp.ndarray arr, object obj) except -1


class Size(tuple):
    """The sizes of a tensor's dimensions."""

    __slots__ = ()
    __module__ = __name__.partition(".")[0]

    def __new__(cls, sizes=()):
        return tuple.__new__(cls, [_size_item(i, s) for i, s in enumerate(sizes)])

    def numel(self):
        """The number of elements of a tensor of this size."""
        n = 1
        for s in self:
            n *= s
        return n

    def __repr__(self):
        return f"torch.Size([{', '.join([repr(s) for s in self])}])"

    def __add__(self, other):
        return Size(tuple.__add__(self, tuple(other)))

    def __radd__(self, other):
        return Size(tuple(other) + tuple(self))

    def __mul__(self, n):
        return Size(tuple.__mul__(self, n))

    __rmul__ = __mul__

    def __reduce__(self):
        return Size, (tuple(self),)


def _size_item(i, s):
    try:
        return s.__index__()
    except AttributeError:
        raise TypeError(f"torch.Size() takes an iterable of 'int' (item {i} is '{type(s).__name__}')") from None


cdef type size_class = Size


# Size's subscript as a C slot: a method written in Python would cost more than the rest of x.shape[0].
shimtorch_set_size_type(<PyObject*>Size)

cdef type tensor_class = None


def set_tensor_class(type cls):
    """Name the Python class that ops make their results of."""
    global tensor_class
    tensor_class = cls


cdef object make_size(int ndim, const Py_ssize_t* shape):
    cdef object size = PyType_GenericAlloc(size_class, ndim), item
    cdef int i
    for i in range(ndim):
        item = shape[i]
        Py_INCREF(item)
        PyTuple_SET_ITEM(size, i, item)
    return size


cdef object describe_shape(TensorBase t):
    """The sizes as they stand in torch's error messages: ``[2, 3]``."""
    return list(make_size(t.ndim_, t.shape_))


cdef int wrap_dim(object dim, int ndim) except -1:
    """A dimension as a number from 0; raises IndexError as torch does."""
    cdef Py_ssize_t d
    try:
        d = dim.__index__()
    except AttributeError:
        raise TypeError(f"dim must be int, not {type(dim).__name__}") from None
    cdef int n = ndim if ndim else 1
    if d < -n or d >= n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {d})")
    return <int>(d + n if d < 0 else d)


cdef Py_ssize_t parse_shape(object size, Py_ssize_t* shape) except -1:
    """Read sizes (ints, or one sequence of ints) into shape; the number of dimensions."""
    cdef Py_ssize_t n, i
    cdef object item
    if isinstance(size, (tuple, list)):
        if len(size) == 1 and isinstance(size[0], (tuple, list)):
            size = size[0]
    elif isinstance(size, TensorBase) and (<TensorBase>size).ndim_ == 1:
        size = size.tolist()
    else:
        size = (size,)
    n = len(size)
    if n > MAX_DIMS:
        raise RuntimeError(f"shimtorch tensors have at most {MAX_DIMS} dimensions, got {n}")
    for i in range(n):
        item = size[i]
        if type(item) is int:
            shape[i] = item
        else:
            if isinstance(item, (float, str)) or item is None:
                raise TypeError(f"size must be a tuple of ints, but found element of type {type(item).__name__} "
                                f"at pos {i}")
            shape[i] = item.__index__()
    return n


cdef Py_ssize_t count_elements(int ndim, const Py_ssize_t* shape) except -1:
    """The product of the sizes; refuses what no memory could hold."""
    cdef Py_ssize_t n = 1
    cdef int i
    for i in range(ndim):
        if mul_overflow(n, shape[i], &n):
            raise RuntimeError(f"numel: integer multiplication overflow: {list(make_size(ndim, shape))}")
    return n


cdef Py_ssize_t span_of(int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides, Py_ssize_t* count) except -1:
    """How many elements of memory strides >= 0 reach over, 0 if there is no element; count is set as well."""
    cdef Py_ssize_t last = 1, step
    cdef int i
    count[0] = count_elements(ndim, shape)
    if count[0] == 0:
        return 0
    for i in range(ndim):
        if mul_overflow(shape[i] - 1, strides[i], &step) or step > 0x3FFFFFFFFFFFFFFF - last:
            raise RuntimeError(f"Storage size calculation overflowed with sizes={list(make_size(ndim, shape))} and "
                               f"strides={list(make_size(ndim, strides))}")
        last += step
    return last


cdef TensorBase alloc():
    return TensorBase.__new__(tensor_class)


cdef TensorBase empty(int code, int ndim, const Py_ssize_t* shape):
    """A contiguous tensor whose memory is not initialised."""
    cdef TensorBase t = TensorBase.__new__(tensor_class)
    cdef int i
    cdef Py_ssize_t n = 1, nbytes
    t.set_ndim(ndim)
    for i in range(ndim - 1, -1, -1):
        t.shape_[i] = shape[i]
        t.strides_[i] = n
        n *= shape[i] if shape[i] > 1 else 1
    t.count = n = count_elements(ndim, shape)
    t.code = code
    t.contiguous_ = True
    if mul_overflow(n, ITEMSIZE[code], &nbytes):
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(make_size(ndim, shape))}")
    t.storage = new_storage(nbytes)
    return t


cdef TensorBase empty_strided(int code, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides):
    cdef TensorBase t = TensorBase.__new__(tensor_class)
    cdef int i
    cdef Py_ssize_t span = span_of(ndim, shape, strides, &t.count), nbytes
    t.set_ndim(ndim)
    for i in range(ndim):
        t.shape_[i] = shape[i]
        t.strides_[i] = strides[i]
    t.code = code
    if mul_overflow(span, ITEMSIZE[code], &nbytes):
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(make_size(ndim, shape))}")
    t.storage = new_storage(nbytes)
    t.finish_strides()
    return t


cdef TensorBase empty_at(Place place, int code, int ndim, const Py_ssize_t* shape):
    """A contiguous tensor whose memory, at a Place or (None) the CPU's, is not initialised."""
    cdef Py_ssize_t strides[MAX_DIMS]
    cdef Py_ssize_t n = 1
    cdef int i
    if place is None:
        return empty(code, ndim, shape)
    for i in range(ndim - 1, -1, -1):
        strides[i] = n
        n *= shape[i] if shape[i] > 1 else 1
    return empty_strided_at(place, code, ndim, shape, strides)


cdef TensorBase empty_strided_at(Place place, int code, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides):
    """A tensor of given strides whose memory, at a Place or (None) the CPU's, is not initialised."""
    cdef TensorBase t
    cdef int i
    cdef Py_ssize_t nbytes
    if place is None:
        return empty_strided(code, ndim, shape, strides)
    t = TensorBase.__new__(tensor_class)
    if mul_overflow(span_of(ndim, shape, strides, &t.count), ITEMSIZE[code], &nbytes):
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(make_size(ndim, shape))}")
    t.set_ndim(ndim)
    for i in range(ndim):
        t.shape_[i] = shape[i]
        t.strides_[i] = strides[i]
    t.code = code
    t.storage = place.allocate(nbytes)
    t.impl = place
    t.flags = ON_DEVICE
    t.finish_strides()
    return t


cdef class Place:
    """What the core asks of a device; the one that exists is made by ``shimtorch._gpu``."""

    cdef Storage allocate(self, size_t nbytes):
        raise NotImplementedError

    cdef int copy(self, TensorBase out, TensorBase source) except -1:
        raise NotImplementedError

    cdef int loop(self, void* loop, int n, PyObject** operands, const void* param) except -1:
        raise NotImplementedError

    cdef int reduce(self, void* kernel, TensorBase out, TensorBase a, unsigned long long dims, const void* param,
                    TensorBase indices) except -1:
        raise NotImplementedError

    cdef object item(self, TensorBase t):
        raise NotImplementedError


class DeviceMemoryError(NotImplementedError):
    """Code that runs on the CPU was given memory of a device; an op that is being called adds its name."""


class DeviceDtypeError(DeviceMemoryError):
    """A device has no kernel for a dtype; the message says whose."""


cdef int refuse_device(TensorBase t) except -1:
    raise DeviceMemoryError(f"not implemented for device '{t.impl.device}'")


cdef Place sparse_place(TensorBase t):
    """The Place of a sparse tensor on a device: that of its values."""
    return t.impl.place


cdef TensorBase shallow(TensorBase t):
    """Another tensor on the same memory, without history."""
    return strided_alias(t, t.ndim_, t.shape_, t.strides_, t.offset)


cdef TensorBase strided_alias(TensorBase t, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides,
                              Py_ssize_t offset):
    """A tensor on t's storage; offset in bytes."""
    cdef TensorBase r = TensorBase.__new__(tensor_class)
    cdef int i
    r.set_ndim(ndim)
    for i in range(ndim):
        r.shape_[i] = shape[i]
        r.strides_[i] = strides[i]
    r.count = count_elements(ndim, shape) if not t.flags & SPARSE else t.count     # which may be beyond a number
    r.code = t.code
    r.offset = offset
    r.storage = t.storage
    r.impl = t.impl
    r.flags = t.flags & (SPARSE | ON_DEVICE)
    r.finish_strides()
    return r


cdef TensorBase scalar_tensor(int code, object value):
    """A 0-dim tensor."""
    cdef TensorBase t = empty(code, 0, NULL)
    write_scalar(t.storage.data, code, value)
    return t


cdef object as_ndarray(TensorBase t):
    """An ndarray on the tensor's memory; bfloat16 as ml_dtypes has it."""
    cdef cnp.npy_intp dims[MAX_DIMS]
    cdef cnp.npy_intp strides[MAX_DIMS]
    cdef int i, size = ITEMSIZE[t.code], flags = cnp.NPY_ARRAY_ALIGNED
    cdef cnp.ndarray a
    cdef object descr
    if t.flags & (SPARSE | ON_DEVICE):
        raise TypeError(f"can't convert {t.layout} layout tensor to numpy. Use Tensor.to_dense() first."
                        if t.flags & SPARSE else f"can't convert {t.impl.device} device type tensor to numpy. Use "
                        "Tensor.cpu() to copy the tensor to host memory first.")
    if t.storage.writable:
        flags |= cnp.NPY_ARRAY_WRITEABLE
    for i in range(t.ndim_):
        dims[i] = t.shape_[i]
        strides[i] = t.strides_[i] * size
    if NPNUM[t.code] >= 0:
        a = PyArray_New(cnp.ndarray, t.ndim_, dims, NPNUM[t.code], strides, ptr(t), size, flags, NULL)
    else:
        descr = numpy_dtype(t.code)
        Py_INCREF(descr)
        a = PyArray_NewFromDescr(cnp.ndarray, descr, t.ndim_, dims, strides, ptr(t), flags, NULL)
    Py_INCREF(t.storage)
    PyArray_SetBaseObject(a, t.storage)
    return a


cdef TensorBase from_ndarray(object array):
    """A tensor on an ndarray's memory; copies only what no tensor can view."""
    cdef cnp.ndarray a = array if type(array) is cnp.ndarray else np.asarray(array)
    cdef int i, code = code_of_numpy(a.descr), size = ITEMSIZE[code]
    cdef TensorBase t
    cdef Py_ssize_t n = 1, last = 0
    cdef char* data
    for i in range(a.ndim):
        if a.strides[i] % size or (a.strides[i] < 0 and a.shape[i] > 1):
            a = a.copy()
            break
    if not a.dtype.isnative:
        a = a.astype(a.dtype.newbyteorder("="))
    data = <char*>cnp.PyArray_DATA(a)
    t = TensorBase.__new__(tensor_class)
    t.set_ndim(a.ndim)
    for i in range(a.ndim):
        t.shape_[i] = a.shape[i]
        t.strides_[i] = a.strides[i] // size if a.strides[i] >= 0 else 1
        n *= a.shape[i]
        last += (a.shape[i] - 1) * t.strides_[i]
    t.count = n
    t.code = code
    t.storage = borrow(data, (last + 1) * size if n else 0, a, cnp.PyArray_ISWRITEABLE(a))
    t.finish_strides()
    return t


cdef object read_scalar(const char* p, int code):
    """The element at p as a Python number."""
    if code == FLOAT32:
        return <double>(<float*>p)[0]
    if code == FLOAT64:
        return (<double*>p)[0]
    if code == INT64:
        return (<int64_t*>p)[0]
    if code == BOOL:
        return (<uint8_t*>p)[0] != 0
    if code == INT32:
        return (<int32_t*>p)[0]
    if code == UINT8:
        return (<uint8_t*>p)[0]
    if code == INT8:
        return (<int8_t*>p)[0]
    if code == INT16:
        return (<int16_t*>p)[0]
    if code == FLOAT16:
        return <double>shimtorch_half_to_float((<unsigned short*>p)[0])
    if code == BFLOAT16:
        return <double>shimtorch_bfloat_to_float((<unsigned short*>p)[0])
    if code == COMPLEX64:
        return complex((<float*>p)[0], (<float*>p)[1])
    if code == COMPLEX128:
        return complex((<double*>p)[0], (<double*>p)[1])
    if code == UINT16:
        return (<uint16_t*>p)[0]
    if code == UINT32:
        return (<uint32_t*>p)[0]
    return (<uint64_t*>p)[0]


cdef int write_scalar(char* p, int code, object value) except -1:
    """Store a Python number (or a one-element tensor) at p, converted as torch converts it."""
    cdef double f
    cdef int64_t i
    cdef object c
    if isinstance(value, TensorBase):
        value = value.item()
    if CATEGORY[code] == CAT_FLOAT:
        if isinstance(value, complex):
            raise RuntimeError(f"value cannot be converted to type {dtype_of(code).name} without overflow")
        f = value
        if code == FLOAT32:
            (<float*>p)[0] = <float>f
        elif code == FLOAT64:
            (<double*>p)[0] = f
        elif code == FLOAT16:
            (<unsigned short*>p)[0] = shimtorch_float_to_half(<float>f)
        else:
            (<unsigned short*>p)[0] = shimtorch_float_to_bfloat(<float>f)
        return 0
    if code == BOOL:
        (<uint8_t*>p)[0] = bool(value)
        return 0
    if CATEGORY[code] == CAT_COMPLEX:
        c = complex(value)
        if code == COMPLEX64:
            (<float*>p)[0] = <float>(<double>c.real)
            (<float*>p)[1] = <float>(<double>c.imag)
        else:
            (<double*>p)[0] = c.real
            (<double*>p)[1] = c.imag
        return 0
    if code == UINT64:
        (<uint64_t*>p)[0] = <uint64_t>(int(value) & 0xFFFFFFFFFFFFFFFF)
        return 0
    if type(value) is not int:
        if isinstance(value, complex) or value != value or value in (float("inf"), float("-inf")):
            raise RuntimeError(f"value cannot be converted to type {dtype_of(code).name} without overflow")
        value = int(value)
    if not -0x8000000000000000 <= value <= 0x7FFFFFFFFFFFFFFF:
        raise RuntimeError(f"value cannot be converted to type {dtype_of(code).name} without overflow")
    i = value
    if code == INT64:
        (<int64_t*>p)[0] = i
    elif code == INT32:
        (<int32_t*>p)[0] = <int32_t>i
    elif code == INT16:
        (<int16_t*>p)[0] = <int16_t>i
    elif code == INT8:
        (<int8_t*>p)[0] = <int8_t>i
    elif code == UINT8:
        (<uint8_t*>p)[0] = <uint8_t>i
    elif code == UINT16:
        (<uint16_t*>p)[0] = <uint16_t>i
    else:
        (<uint32_t*>p)[0] = <uint32_t>i
    return 0


# ---------------------------------------------------------------- what ops register for the operators

cdef dict _operators = {}
cdef PyObject* slots[48]

cdef enum:
    S_ADD, S_SUB, S_RSUB, S_MUL, S_TRUEDIV, S_RTRUEDIV, S_FLOORDIV, S_RFLOORDIV, S_MOD, S_RMOD, S_POW, S_RPOW, S_MATMUL
    S_AND, S_OR, S_XOR, S_LSHIFT, S_RLSHIFT, S_RSHIFT, S_RRSHIFT, S_NEG, S_POS, S_ABS, S_INVERT
    S_EQ, S_NE, S_LT, S_LE, S_GT, S_GE
    S_IADD, S_ISUB, S_IMUL, S_ITRUEDIV, S_IFLOORDIV, S_IMOD, S_IPOW, S_IAND, S_IOR, S_IXOR, S_ILSHIFT, S_IRSHIFT
    S_GETITEM, S_SETITEM

_SLOT_NAMES = (
    "add sub rsub mul truediv rtruediv floordiv rfloordiv mod rmod pow rpow matmul and or xor lshift rlshift rshift "
    "rrshift neg pos abs invert eq ne lt le gt ge iadd isub imul itruediv ifloordiv imod ipow iand ior ixor ilshift "
    "irshift getitem setitem").split()


def bind_operator(str name, f):
    """Make ``f`` the implementation of an operator, such as ``"add"`` or ``"getitem"``."""
    _operators[name] = f
    slots[_SLOT_NAMES.index(name)] = <PyObject*>f


cdef object call1(int slot, object a):
    cdef PyObject* args[1]
    args[0] = <PyObject*>a
    if (active_modes or not plain(args, 1, tensor_type)) and overridden(args, 1, False):
        return dispatch_operator(operator_function(slot), args, 1)
    return PyObject_Vectorcall(slots[slot], args, 1, NULL)


cdef object call2(int slot, object a, object b):
    cdef PyObject* args[2]
    args[0] = <PyObject*>a
    args[1] = <PyObject*>b
    if (active_modes or not plain(args, 2, tensor_type)) and overridden(args, 2, False):
        return dispatch_operator(operator_function(slot), args, 2)
    if not operand(b):
        return NotImplemented
    return PyObject_Vectorcall(slots[slot], args, 2, NULL)


# The operators that __torch_function__ sees as the method of Tensor that stands for them; the others as their ops.
cdef dict _seen_as = {
    "rsub": "__rsub__", "rtruediv": "__rdiv__", "rfloordiv": "__rfloordiv__", "rmod": "__rmod__", "rpow": "__rpow__",
    "rlshift": "__rlshift__", "rrshift": "__rrshift__", "floordiv": "__floordiv__", "and": "__and__", "or": "__or__",
    "xor": "__xor__", "lshift": "__lshift__", "rshift": "__rshift__", "invert": "__invert__", "eq": "__eq__",
    "getitem": "__getitem__", "setitem": "__setitem__",
}


cdef object operator_function(int slot):
    """What ``__torch_function__`` is told that an operator is."""
    name = _SLOT_NAMES[slot]
    return getattr(tensor_class, _seen_as[name]) if name in _seen_as else <object>slots[slot]


cdef inline bint operand(object b):
    """Whether b can stand beside a tensor in an operator."""
    return (isinstance(b, TensorBase) or type(b) is float or type(b) is int or type(b) is bool
            or isinstance(b, (int, float, complex, np.number, np.bool_)))


cdef class TensorBase:
    """A tensor: a strided view on a Storage, its dtype, and its place in the autograd graph."""

    def __cinit__(self, *args, **kwargs):
        self.shape_ = self.inline_dims
        self.strides_ = self.inline_dims + INLINE_DIMS
        self.contiguous_ = True

    def __dealloc__(self):
        if self.shape_ != self.inline_dims:
            free(self.shape_)

    def __init__(self, *args, **kwargs):
        raise TypeError(f"cannot create '{type(self).__name__}' instances")

    cdef int set_ndim(self, int ndim) except -1:
        if ndim > INLINE_DIMS and ndim > self.ndim_:
            if ndim > MAX_DIMS:
                raise RuntimeError(f"shimtorch tensors have at most {MAX_DIMS} dimensions, got {ndim}")
            if self.shape_ != self.inline_dims:
                free(self.shape_)
            self.shape_ = <Py_ssize_t*>malloc(2 * MAX_DIMS * sizeof(Py_ssize_t))
            if self.shape_ == NULL:
                self.shape_ = self.inline_dims
                raise MemoryError
            self.strides_ = self.shape_ + MAX_DIMS
        self.ndim_ = ndim
        return 0

    cdef void finish_strides(self) noexcept:
        """Set the contiguous flag from shape and strides."""
        cdef int i
        cdef Py_ssize_t n = 1
        self.contiguous_ = True
        if self.count == 0:
            return
        for i in range(self.ndim_ - 1, -1, -1):
            if self.shape_[i] != 1:
                if self.strides_[i] != n:
                    self.contiguous_ = False
                    return
                n *= self.shape_[i]

    # ------------------------------------------------------------ geometry

    @property
    def shape(self):
        """The sizes of the dimensions, a ``torch.Size``."""
        return make_size(self.ndim_, self.shape_)

    def size(self, dim=None):
        """The sizes of all dimensions, or of one."""
        if dim is None:
            return make_size(self.ndim_, self.shape_)
        if self.ndim_ == 0:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        return self.shape_[wrap_dim(dim, self.ndim_)]

    def stride(self, dim=None):
        """The steps in memory, in elements, along all dimensions or one."""
        cdef int i
        self.need_memory("stride")
        if dim is None:
            return tuple([self.strides_[i] for i in range(self.ndim_)])
        if self.ndim_ == 0:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        return self.strides_[wrap_dim(dim, self.ndim_)]

    def dim(self):
        """The number of dimensions."""
        return self.ndim_

    ndimension = dim

    @property
    def ndim(self):
        return self.ndim_

    def numel(self):
        """The number of elements; of a sparse tensor it may be more than memory could hold."""
        return self.count if not self.flags & SPARSE else self.shape.numel()

    nelement = numel

    def element_size(self):
        """Bytes per element."""
        return ITEMSIZE[self.code]

    @property
    def itemsize(self):
        return ITEMSIZE[self.code]

    @property
    def nbytes(self):
        return self.count * ITEMSIZE[self.code]

    def storage_offset(self):
        """Where the first element lies in the storage, in elements."""
        self.need_memory("storage_offset")
        return self.offset // ITEMSIZE[self.code]

    def data_ptr(self):
        """Address of the first element."""
        self.need_memory("data_ptr")
        return <size_t>device_ptr(self) if self.storage.nbytes else 0

    def _memory(self):
        """The Storage that the tensor views."""
        self.need_memory("storage")
        return self.storage

    cdef int need_memory(self, str what) except -1:
        if self.storage is None:
            if self.flags & SPARSE:
                raise NotImplementedError(f"{what}: sparse tensors do not have storage")
            raise RuntimeError(f"{what}: the tensor is not initialised")
        return 0

    @property
    def dtype(self):
        return dtype_of(self.code)

    @property
    def device(self):
        return cpu if not self.flags & ON_DEVICE else self.impl.device

    @property
    def layout(self):
        return strided if not self.flags & SPARSE else self.impl.layout

    @property
    def is_sparse(self):
        return bool(self.flags & SPARSE) and self.impl.layout is sparse_coo

    @property
    def is_sparse_csr(self):
        return bool(self.flags & SPARSE) and str(self.impl.layout) == "torch.sparse_csr"

    @property
    def is_cuda(self):
        return bool(self.flags & ON_DEVICE)

    @property
    def is_cpu(self):
        return not self.flags & ON_DEVICE

    is_mps = is_xpu = is_meta = is_quantized = is_mkldnn = is_nested = is_vulkan = False

    def get_device(self):
        """The index of the CUDA device, -1 on the CPU."""
        return -1 if not self.flags & ON_DEVICE else self.impl.device.index

    def is_floating_point(self):
        """Whether the dtype is a real floating point type."""
        return CATEGORY[self.code] == CAT_FLOAT

    def is_complex(self):
        """Whether the dtype is complex."""
        return CATEGORY[self.code] == CAT_COMPLEX

    def is_signed(self):
        """Whether the dtype can hold negative numbers."""
        return dtype_of(self.code).is_signed

    def is_conj(self):
        """Always False: conjugation is done at once here, never put off."""
        return False

    is_neg = is_inference = is_conj

    # ------------------------------------------------------------ autograd state

    @property
    def output_nr(self):
        return self.output_nr

    @property
    def _version(self):
        return 0 if self.storage is None else self.storage.version

    @property
    def _base(self):
        return self.base

    def _is_view(self):
        return self.base is not None

    @property
    def volatile(self):
        """0.3: nothing computed from this tensor keeps history. Later: always False, with a warning."""
        if not policy.two_types:
            import warnings
            warnings.warn("volatile was removed (Variable.volatile is always False)", UserWarning, stacklevel=1)
            return False
        return bool(self.flags & VOLATILE)

    @volatile.setter
    def volatile(self, bint value):
        if not policy.two_types:
            import warnings
            warnings.warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.",
                          UserWarning, stacklevel=1)
            return
        if self.node is not None:
            raise RuntimeError("volatile can only be set on leaf variables")
        if value:
            self.flags = (self.flags | VOLATILE) & ~REQUIRES_GRAD
        else:
            self.flags &= ~VOLATILE

    # ------------------------------------------------------------ Python numbers and NumPy

    def item(self):
        """The value of a one-element tensor as a Python number."""
        if self.flags & SPARSE:
            return self.impl.item(self)
        if self.count != 1:
            if policy.era[0] == "0":
                raise ValueError("only one element tensors can be converted to Python scalars")
            raise RuntimeError(f"a Tensor with {self.count} elements cannot be converted to Scalar")
        return read_scalar(ptr(self), self.code) if not self.flags & ON_DEVICE else (<Place>self.impl).item(self)

    def tolist(self):
        """The elements as nested Python lists; a number for a 0-dim tensor."""
        if self.flags & SPARSE:
            return self.to_dense().tolist()
        if self.ndim_ == 0:
            return self.item()
        if self.flags & ON_DEVICE:
            return self.cpu().tolist()
        return list_level(self, 0, ptr(self))

    def _ndarray(self):
        """The memory as an ndarray, whatever autograd says."""
        if self.flags & ON_DEVICE and not self.flags & SPARSE:
            refuse_device(self)
        return as_ndarray(self)

    def numpy(self, *, bint force=False):
        """An ndarray on the same memory (bfloat16: refused, as torch does)."""
        if force:
            return self.detach().cpu().resolve_conj().numpy()
        if seen_flags(self) & REQUIRES_GRAD and not policy.two_types:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        if self.code == BFLOAT16:
            raise TypeError("Got unsupported ScalarType BFloat16")
        return as_ndarray(self)

    def __array__(self, dtype=None, copy=None):
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    def __len__(self):
        if self.ndim_ == 0:
            raise TypeError("len() of a 0-d tensor")
        return self.shape_[0]

    def __bool__(self):
        if self.flags & SPARSE:
            return bool(self.item())
        if self.count != 1:
            if self.count == 0:
                raise RuntimeError("Boolean value of Tensor with no values is ambiguous")
            raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
        return bool(read_scalar(ptr(self), self.code) if not self.flags & ON_DEVICE else self.item())

    def __int__(self):
        return int(one_element(self))

    def __float__(self):
        return float(one_element(self))

    def __complex__(self):
        return complex(one_element(self))

    def __index__(self):
        if CATEGORY[self.code] > CAT_INT or self.count != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.item())

    def __hash__(self):
        return <Py_ssize_t><void*>self >> 4

    # ------------------------------------------------------------ operators

    def __add__(self, other):
        return call2(S_ADD, self, other)

    def __radd__(self, other):
        return call2(S_ADD, self, other)

    def __sub__(self, other):
        return call2(S_SUB, self, other)

    def __rsub__(self, other):
        return call2(S_RSUB, self, other)

    def __mul__(self, other):
        return call2(S_MUL, self, other)

    def __rmul__(self, other):
        return call2(S_MUL, self, other)

    def __truediv__(self, other):
        return call2(S_TRUEDIV, self, other)

    def __rtruediv__(self, other):
        return call2(S_RTRUEDIV, self, from_ndarray(other) if isinstance(other, np.ndarray) else other)

    def __floordiv__(self, other):
        return call2(S_FLOORDIV, self, other)

    def __rfloordiv__(self, other):
        return call2(S_RFLOORDIV, self, other)

    def __mod__(self, other):
        return call2(S_MOD, self, other)

    def __rmod__(self, other):
        return call2(S_RMOD, self, other)

    def __pow__(self, other, modulo):
        return call2(S_POW, self, other)

    def __rpow__(self, other, modulo):
        return call2(S_RPOW, self, other)

    def __matmul__(self, other):
        if isinstance(other, TensorBase) or hasattr(type(other), "__torch_function__"):
            return call2(S_MATMUL, self, other)
        return NotImplemented

    def __rmatmul__(self, other):
        cdef PyObject* args[2]
        args[0], args[1] = <PyObject*>other, <PyObject*>self
        if not plain(args, 2, tensor_type) and overridden(args, 2, False):
            return dispatch_operator(operator_function(S_MATMUL), args, 2)
        return call2(S_MATMUL, other, self) if isinstance(other, TensorBase) else NotImplemented

    def __and__(self, other):
        return call2(S_AND, self, other)

    def __rand__(self, other):
        return call2(S_AND, self, other)

    def __or__(self, other):
        return call2(S_OR, self, other)

    def __ror__(self, other):
        return call2(S_OR, self, other)

    def __xor__(self, other):
        return call2(S_XOR, self, other)

    def __rxor__(self, other):
        return call2(S_XOR, self, other)

    def __lshift__(self, other):
        return call2(S_LSHIFT, self, other)

    def __rlshift__(self, other):
        return call2(S_RLSHIFT, self, other)

    def __rshift__(self, other):
        return call2(S_RSHIFT, self, other)

    def __rrshift__(self, other):
        return call2(S_RRSHIFT, self, other)

    def __neg__(self):
        return call1(S_NEG, self)

    def __pos__(self):
        return call1(S_POS, self)

    def __abs__(self):
        return call1(S_ABS, self)

    def __invert__(self):
        return call1(S_INVERT, self)

    def __iadd__(self, other):
        return call2(S_IADD, self, other)

    def __isub__(self, other):
        return call2(S_ISUB, self, other)

    def __imul__(self, other):
        return call2(S_IMUL, self, other)

    def __itruediv__(self, other):
        return call2(S_ITRUEDIV, self, other)

    def __ifloordiv__(self, other):
        return call2(S_IFLOORDIV, self, other)

    def __imod__(self, other):
        return call2(S_IMOD, self, other)

    def __ipow__(self, other, modulo):
        return call2(S_IPOW, self, other)

    def __iand__(self, other):
        return call2(S_IAND, self, other)

    def __ior__(self, other):
        return call2(S_IOR, self, other)

    def __ixor__(self, other):
        return call2(S_IXOR, self, other)

    def __ilshift__(self, other):
        return call2(S_ILSHIFT, self, other)

    def __irshift__(self, other):
        return call2(S_IRSHIFT, self, other)

    def __richcmp__(self, other, int op):
        if op == Py_LT:
            return call2(S_LT, self, other)
        if op == Py_LE:
            return call2(S_LE, self, other)
        if op == Py_GT:
            return call2(S_GT, self, other)
        if op == Py_GE:
            return call2(S_GE, self, other)
        if op == Py_EQ:
            return call2(S_EQ, self, from_ndarray(other) if isinstance(other, np.ndarray) else other)
        return call2(S_NE, self, other)

    def __getitem__(self, index):
        cdef PyObject* args[2]
        args[0] = <PyObject*>self
        args[1] = <PyObject*>index
        if (active_modes or not plain(args, 2, tensor_type)) and overridden(args, 2, False):
            return dispatch(operator_function(S_GETITEM), args, 2, NULL, False)
        return PyObject_Vectorcall(slots[S_GETITEM], args, 2, NULL)

    def __setitem__(self, index, value):
        cdef PyObject* args[3]
        args[0] = <PyObject*>self
        args[1] = <PyObject*>index
        args[2] = <PyObject*>value
        if (active_modes or not plain(args, 3, tensor_type)) and overridden(args, 3, False):
            dispatch(operator_function(S_SETITEM), args, 3, NULL, False)
            return
        PyObject_Vectorcall(slots[S_SETITEM], args, 3, NULL)


cdef object one_element(TensorBase t):
    if t.count != 1 and not t.flags & SPARSE:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return t.item()


cdef list list_level(TensorBase t, int dim, const char* p):
    cdef Py_ssize_t i, step = t.strides_[dim] * ITEMSIZE[t.code]
    if dim == t.ndim_ - 1:
        return [read_scalar(p + i * step, t.code) for i in range(t.shape_[dim])]
    return [list_level(t, dim + 1, p + i * step) for i in range(t.shape_[dim])]


def is_tensor(obj):
    """Whether obj is a tensor."""
    return isinstance(obj, TensorBase)


def from_numpy(array):
    """A tensor that shares memory with an ndarray (negative strides are refused)."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    for s, n in zip(array.strides, array.shape):
        if s < 0 and n > 1:
            raise ValueError(
                "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
                "currently supported. (You can probably work around this by making a copy of your array  with "
                "array.copy().) ")
        if s % array.itemsize:
            raise ValueError(f"given numpy array strides not a multiple of the element byte size {array.itemsize}. "
                             "Copy the numpy array to reallocate the memory.")
    if not array.dtype.isnative:
        raise ValueError("given numpy array has byte order different from the native byte order. Conversion between "
                         "byte orders is currently not supported.")
    return from_ndarray(array)


def wrap_ndarray(array):
    """A tensor on an ndarray's memory, copied only where no tensor can view it: for results that NumPy computed."""
    return from_ndarray(array)
