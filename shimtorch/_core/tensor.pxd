from cpython.object cimport PyObject

from .storage cimport Storage

cdef enum:
    INLINE_DIMS = 6
    MAX_DIMS = 64

# What an op must look at beyond plain dense CPU numbers; zero for most tensors, so that one test clears the fast path.
cdef enum:
    REQUIRES_GRAD = 1
    SPARSE = 4             # layout is not strided: `impl` holds the parts
    ON_DEVICE = 8          # the memory is not the CPU's: `impl` says whose
    VOLATILE = 16          # 0.3: whatever is computed from it keeps no history

# How a view came about; decides whether it may be written to in place under autograd.
cdef enum:
    VIEW_DEFAULT = 0
    VIEW_NO_GRAD = 1
    VIEW_MULTI_OUTPUT = 2
    VIEW_CUSTOM = 3

cdef class TensorBase:
    cdef Storage storage
    cdef Py_ssize_t offset             # bytes
    cdef Py_ssize_t count              # number of elements
    cdef Py_ssize_t* shape_
    cdef Py_ssize_t* strides_          # elements
    cdef Py_ssize_t inline_dims[12]
    cdef int ndim_
    cdef int code                      # dtype
    cdef int flags
    cdef bint contiguous_
    cdef int output_nr
    cdef int view_kind
    cdef object node                   # the Node that made it
    cdef object grad_
    cdef dict extras                   # rare things: hooks of a leaf, its AccumulateGrad node
    cdef TensorBase base               # the tensor it is a differentiable view of
    cdef size_t view_version           # storage version that `node` belongs to, for views
    cdef object impl                   # parts of a sparse tensor, the Place of a tensor on a device
    cdef dict __dict__
    cdef object __weakref__

    cdef int set_ndim(self, int ndim) except -1
    cdef void finish_strides(self) noexcept
    cdef int need_memory(self, str what) except -1

cdef class Place:
    """A device's memory and what can be done in it: `impl` of the tensors there. See `_gpu/place.pyx`."""
    cdef readonly object device

    cdef Storage allocate(self, size_t nbytes)
    cdef int copy(self, TensorBase out, TensorBase source) except -1
    cdef int loop(self, void* loop, int n, PyObject** operands, const void* param) except -1
    cdef int reduce(self, void* kernel, TensorBase out, TensorBase a, unsigned long long dims, const void* param,
                    TensorBase indices) except -1
    cdef object item(self, TensorBase t)

cdef int refuse_device(TensorBase t) except -1
cdef Place sparse_place(TensorBase t)

cdef inline char* ptr(TensorBase t) except? NULL:
    """The address of the first element, for code that runs on the CPU: a tensor on a device is refused."""
    if t.flags & ON_DEVICE:
        refuse_device(t)
    return t.storage.data + t.offset

cdef inline char* device_ptr(TensorBase t) noexcept:
    """The address of the first element in the memory of whatever device."""
    return t.storage.data + t.offset

cdef inline Place place_of(TensorBase a, TensorBase b):
    """The Place of the first of the two (either may be None) that is on a device; None if they are the CPU's."""
    if a is not None and a.flags & ON_DEVICE:
        return sparse_place(a) if a.flags & SPARSE else <Place>a.impl
    if b is not None and b.flags & ON_DEVICE:
        return sparse_place(b) if b.flags & SPARSE else <Place>b.impl
    return None

cdef inline int seen_flags(TensorBase t) noexcept:
    """The flags, with what a later in-place write to the base means for a view."""
    if t.base is None or t.view_kind == VIEW_NO_GRAD:
        return t.flags
    return t.flags | (t.base.flags & REQUIRES_GRAD)

cdef inline bint same_shape(TensorBase a, TensorBase b) noexcept:
    cdef int i
    if a.ndim_ != b.ndim_:
        return False
    for i in range(a.ndim_):
        if a.shape_[i] != b.shape_[i]:
            return False
    return True

cdef type tensor_class

cdef Py_ssize_t count_elements(int ndim, const Py_ssize_t* shape) except -1
cdef Py_ssize_t span_of(int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides, Py_ssize_t* count) except -1

cdef TensorBase alloc()
cdef TensorBase empty(int code, int ndim, const Py_ssize_t* shape)
cdef TensorBase empty_strided(int code, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides)
cdef TensorBase empty_at(Place place, int code, int ndim, const Py_ssize_t* shape)
cdef TensorBase empty_strided_at(Place place, int code, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides)
cdef TensorBase scalar_tensor(int code, object value)
cdef TensorBase shallow(TensorBase t)
cdef TensorBase strided_alias(TensorBase t, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides,
                              Py_ssize_t offset)
cdef TensorBase from_ndarray(object array)
cdef object as_ndarray(TensorBase t)
cdef object make_size(int ndim, const Py_ssize_t* shape)
cdef object read_scalar(const char* p, int code)
cdef int write_scalar(char* p, int code, object value) except -1
cdef Py_ssize_t parse_shape(object size, Py_ssize_t* shape) except -1
cdef object describe_shape(TensorBase t)
cdef int wrap_dim(object dim, int ndim) except -1
