"""The kind of Op whose forward is a kernel reduction, and kernel reductions by name."""
from cpython.object cimport PyObject

from .._kernels.table cimport st_find_reduce, st_reduce, st_reduce_dtype, st_reduce_op
from .destination cimport make_result
from .dtype cimport CAT_INT, CATEGORY, INT64, ITEMSIZE, NDTYPES, as_code, dtype_of
from .history cimport record, recording
from .iterate cimport as_code_tensor, reduce_into
from .op cimport Op, checked_tensor, enable_vectorcall
from .tensor cimport (
    MAX_DIMS, ON_DEVICE, SPARSE, VOLATILE, TensorBase, empty, place_of, seen_flags, strided_alias, wrap_dim,
)

from .declaring import enter
from .dtype import scalar_type


cdef unsigned long long dims_mask(object dim, int ndim) except? 0xFFFFFFFFFFFFFFFF:
    """The dimensions named by dim (None or an empty list: all) as bits."""
    cdef unsigned long long mask = 0, bit
    if dim is None:
        return all_dims(ndim)
    if type(dim) is int:
        return <unsigned long long>1 << wrap_dim(dim, ndim)
    if isinstance(dim, (tuple, list)):
        if len(dim) == 0:
            return all_dims(ndim)
        for x in dim:
            bit = <unsigned long long>1 << wrap_dim(x, ndim)
            if mask & bit:
                raise RuntimeError(f"dim {wrap_dim(x, ndim)} appears multiple times in the list of dims")
            mask |= bit
        return mask
    return <unsigned long long>1 << wrap_dim(dim, ndim)


cdef unsigned long long all_dims(int ndim) noexcept:
    return 0xFFFFFFFFFFFFFFFE if ndim == 64 else (<unsigned long long>1 << ndim) - 1


cdef TensorBase reduced(TensorBase a, unsigned long long mask, bint keepdim, int code):
    """An uninitialised tensor for the reduction of a over mask."""
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef int i, n = 0
    for i in range(a.ndim_):
        if mask >> i & 1:
            if keepdim:
                shape[n] = 1
                n += 1
        else:
            shape[n] = a.shape_[i]
            n += 1
    return make_result(place_of(a, None), code, n, shape)


cdef class ReduceOp(Op):
    """``f(self, dim=None, keepdim=False, *, dtype=None)``, a kernel reduction over one, several or all dimensions."""
    cdef st_reduce kernels[15]
    cdef int out_codes[15]
    cdef bint floats_only
    cdef bint needs_elements           # no value for an empty reduction

    def __init__(self, str name, str kernel, grads, options):
        cdef int i, code = st_reduce_op(kernel.encode())
        if code < 0:
            raise ValueError(f"there is no reduction '{kernel}'")
        Op.__init__(self, _reduce_signature, name, grads, options)
        self.cuda = True
        for i in range(NDTYPES):
            self.kernels[i] = st_find_reduce(code, i)
            self.out_codes[i] = st_reduce_dtype(code, i)
        self.floats_only = options.get("result") == "float"
        self.needs_elements = options.get("needs_elements", False)
        self.forward = self.make_forward()

    def make_forward(self):
        def forward(self_, dim=None, keepdim=False, *, dtype=None):
            return self.call_forward(self_, dim, keepdim, dtype)
        return forward

    cdef object invoke(self, PyObject** args, Py_ssize_t n, PyObject* kwnames):
        cdef TensorBase a, r
        cdef int flags
        cdef object dim = None, keepdim = False
        if kwnames != NULL or n < 1 or n > 3 or not isinstance(<object>args[0], TensorBase):
            return self.invoke_general(args, n, kwnames)
        a = <TensorBase><object>args[0]
        flags = seen_flags(a)
        if flags & (SPARSE | ON_DEVICE):
            return self.invoke_general(args, n, kwnames)
        if n > 1:
            dim = <object>args[1]
            if type(dim) is not int and not isinstance(dim, (tuple, list)) and dim is not None:
                return self.invoke_general(args, n, kwnames)
        if n > 2:
            keepdim = <object>args[2]
            if type(keepdim) is not bool:
                return self.invoke_general(args, n, kwnames)
        r = self.compute(a, dim, keepdim, -1)
        if flags:
            if recording(flags):
                if self.rules is not None:
                    record(self, [a, dim, keepdim, None], r, False)
            elif flags & VOLATILE:
                r.flags |= VOLATILE
        return r

    cdef object invoke_general(self, PyObject** args, Py_ssize_t n, PyObject* kwnames):
        """Keyword arguments, and ``x.sum(0, 1)``: the old way to name several dimensions."""
        cdef Py_ssize_t i, k = 0 if kwnames == NULL else len(<object>kwnames)
        cdef PyObject* stack[8]
        cdef tuple dims
        if n > 2 and n + k <= 7 and type(<object>args[2]) is int:
            dims = tuple([<object>args[i] for i in range(1, n)])
            stack[0], stack[1] = args[0], <PyObject*>dims
            for i in range(k):
                stack[2 + i] = args[n + i]
            return Op.invoke(self, stack, 2, kwnames)
        return Op.invoke(self, args, n, kwnames)

    cdef TensorBase compute(self, TensorBase a, object dim, bint keepdim, int code):
        cdef unsigned long long mask = dims_mask(dim, a.ndim_)
        cdef st_reduce kernel
        cdef TensorBase r
        if code >= 0:
            a = as_code_tensor(a, code)
        elif self.floats_only and CATEGORY[a.code] <= CAT_INT:
            raise RuntimeError(f"{self.__name__}(): could not infer output dtype. Input dtype must be either a "
                               f"floating point or complex dtype. Got: {scalar_type(dtype_of(a.code))}")
        kernel = self.kernels[a.code]
        if kernel == NULL:
            raise NotImplementedError(f"\"{self.__name__}_cpu\" not implemented for "
                                      f"'{scalar_type(dtype_of(a.code))}'")
        if self.needs_elements:
            check_elements(self, a, dim, mask)
        r = reduced(a, mask, keepdim, self.out_codes[a.code])
        reduce_into(kernel, r, a, mask, NULL, None)
        if code >= 0 and r.code != code:
            r = as_code_tensor(r, code)
        return r

    def call_forward(self, a, dim, keepdim, dtype):
        return self.compute(checked_tensor(self, a), dim, keepdim, -1 if dtype is None else as_code(dtype))


cdef int check_elements(Op op, TensorBase a, object dim, unsigned long long mask) except -1:
    cdef int i
    for i in range(a.ndim_):
        if mask >> i & 1 and a.shape_[i] == 0:
            if dim is None:
                raise RuntimeError(f"{op.__name__}(): Expected reduction dim to be specified for input.numel() == 0. "
                                   "Specify the reduction dim with the 'dim' argument.")
            raise IndexError(f"{op.__name__}(): Expected reduction dim {i} to have non-zero size.")
    return 0


def _reduce_signature(self, dim=None, keepdim=False, *, dtype=None):
    pass


def reduction(name, kernel=None, *, grads=None, out=True, **options):
    """Declare a reduction run by a kernel.

    result "float": integers are refused; needs_elements: an empty reduction has no value.
    """
    return enter(ReduceOp(name, kernel or name, grads, dict(options, out=out)), False, options)


def extreme(TensorBase a not None, dim, bint keepdim, str kernel):
    """Values and int64 indices of the largest ("max_arg") or smallest ("min_arg") along one dimension."""
    a.need_memory(kernel[:3])
    cdef int d = wrap_dim(dim, a.ndim_)
    cdef unsigned long long mask = (<unsigned long long>1 << d) if a.ndim_ else 0
    cdef int code = st_reduce_op(kernel.encode())
    cdef st_reduce f = st_find_reduce(code, a.code)
    cdef TensorBase values, indices
    if f == NULL:
        raise NotImplementedError(f"\"{kernel[:3]}_values_cpu\" not implemented for '{scalar_type(dtype_of(a.code))}'")
    if a.ndim_ and a.shape_[d] == 0:
        raise IndexError(f"{kernel[:3]}(): Expected reduction dim {d} to have non-zero size.")
    values = reduced(a, mask, keepdim, a.code)
    indices = reduced(a, mask, keepdim, INT64)
    reduce_into(f, values, a, mask, NULL, indices)
    return values, indices


def reduce_all(TensorBase a not None, str kernel, dim=None, bint keepdim=False, double param=0):
    """A kernel reduction by name, for ops that build on one (var, norm ...)."""
    a.need_memory(kernel)
    cdef unsigned long long mask = dims_mask(dim, a.ndim_)
    cdef int code = st_reduce_op(kernel.encode())
    cdef st_reduce f = st_find_reduce(code, a.code)
    cdef TensorBase r
    if f == NULL:
        raise NotImplementedError(f"{kernel}: not implemented for '{scalar_type(dtype_of(a.code))}'")
    r = reduced(a, mask, keepdim, st_reduce_dtype(code, a.code))
    reduce_into(f, r, a, mask, &param, None)
    return r


def reduce_each(list tensors, str kernel):
    """``reduce_all`` of each tensor, as the elements of one; None if they are not dense, on the CPU, and of one dtype.

    It keeps no history.
    """
    cdef TensorBase first = tensors[0], t, r
    cdef int op = st_reduce_op(kernel.encode())
    cdef st_reduce f = st_find_reduce(op, first.code)
    cdef Py_ssize_t i, n = len(tensors)
    if f == NULL or st_reduce_dtype(op, first.code) != first.code:
        return None
    for x in tensors:
        t = x
        if t.code != first.code or t.flags & (SPARSE | ON_DEVICE) or t.storage is None:
            return None
    r = empty(first.code, 1, &n)
    for i in range(n):
        t = tensors[i]
        reduce_into(f, strided_alias(r, 0, NULL, NULL, i * ITEMSIZE[r.code]), t, dims_mask(None, t.ndim_), NULL, None)
    return r


enable_vectorcall(ReduceOp)
