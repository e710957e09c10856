"""Kinds of Op whose forward is a kernel loop over the elements of one or two tensors."""
from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from .._kernels.table cimport st_bounds, st_factor, st_find, st_loop, st_op
from .autograd cimport check_inplace, rebase
from .destination cimport awaited_result, make_result
from .dtype cimport (
    BOOL, CAT_COMPLEX, CAT_FLOAT, CAT_INT, CATEGORY, COMPLEX64, COMPLEX128, FLOAT32, ITEMSIZE, NDTYPES, UINT8,
    default_code, dtype_of,
)
from .history cimport record, recording
from .inplace cimport InplaceOp
from .iterate cimport (
    alloc_alike, alloc_result, as_code_tensor, broadcast_shape, copy_into, run1, run2, run3, run_flat,
)
from .op cimport Op, check_cast, checked_tensor, enable_vectorcall, scan_flags
from .policy cimport policy
from .promotion cimport result_code
from .tensor cimport (
    MAX_DIMS, ON_DEVICE, REQUIRES_GRAD, SPARSE, VOLATILE, Place, TensorBase, describe_shape, empty_at,
    make_size, place_of, ptr, same_shape, scalar_tensor, seen_flags, write_scalar,
)

import numbers

import numpy as np

from .declaring import enter
from .dtype import scalar_type

# How the dtype of a pointwise result follows from the operands'.
cdef enum Result:
    R_SAME        # the common dtype
    R_FLOAT       # integers become the default float
    R_BOOL        # computed in the common dtype, the result is bool
    R_DIVIDE      # like R_FLOAT, or truncating where the era says so
    R_COMPARE     # bool, or uint8 where the era says so

cdef dict _RESULTS = {"same": R_SAME, "float": R_FLOAT, "bool": R_BOOL, "divide": R_DIVIDE, "compare": R_COMPARE}


cdef TensorBase operand_tensor(object x, int code):
    """An operand in the dtype of the computation."""
    if isinstance(x, TensorBase):
        return as_code_tensor(<TensorBase>x, code)
    return scalar_tensor(code, x)


cdef class Pointwise(Op):
    """An op whose forward is one loop over the elements."""
    cdef st_loop loops[15]             # by dtype of the computation
    cdef object fallback               # computes the op where there is no loop
    cdef int result
    cdef bint keeps_order              # results had the operands' memory order as early as in 1.0
    cdef object complex_error          # the same of complex ones
    cdef object bool_error             # what torch says of bool operands, where it says more than that there is no loop

    def inplace_class(self):
        return InplacePointwise

    @property
    def elementwise(self):
        """Whether the result may be written over an operand: the loop needs each element only for its own place."""
        return self.fallback is None

    cdef int find_loops(self, str kernel, dict options) except -1:
        cdef int i, code = st_op(kernel.encode())
        if code < 0:
            raise ValueError(f"there is no kernel '{kernel}'")
        self.cuda = True                   # the loop runs where the tensors are
        self.result = _RESULTS[options.get("result", "same")]
        self.fallback = options.get("fallback")
        self.keeps_order = options.get("keeps_order", False)
        self.bool_error = options.get("bool_error")
        self.complex_error = options.get("complex_error")
        for i in range(NDTYPES):
            self.loops[i] = NULL if dtype_of(i).name in options.get("refuse", ()) else st_find(code, i)
            if self.result == R_DIVIDE and CATEGORY[i] <= CAT_INT:
                self.loops[i] = st_find(st_op(b"trunc_divide"), i)     # where the era divides integers so
        return 0

    cdef int compute_code(self, int code) noexcept:
        """The dtype that the loop runs in, for operands whose common dtype is code."""
        if CATEGORY[code] <= CAT_INT and (
                self.result == R_FLOAT or (self.result == R_DIVIDE and policy.true_division)):
            return default_code()
        return code

    cdef object missing_loop(self, int code, bint both=True):
        """The error for operands without a loop; both: whether it is all of them that have this dtype."""
        if code == BOOL and self.bool_error is not None:
            return self.bool_error(both)
        if CATEGORY[code] == CAT_COMPLEX and self.complex_error is not None:
            return RuntimeError(self.complex_error)
        return NotImplementedError(f"\"{self.__name__}_cpu\" not implemented for '{scalar_type(dtype_of(code))}'")

    cdef TensorBase alloc(self, int code, int ndim, const Py_ssize_t* shape, TensorBase a, TensorBase b):
        """An uninitialised result."""
        cdef Place place = place_of(a, b)
        cdef TensorBase out = awaited_result(place, code, ndim, shape)
        if out is not None:
            return out
        if policy.row_order and (policy.row_order_arithmetic or not self.keeps_order or not one_order(a, b)):
            return empty_at(place, code, ndim, shape)
        return alloc_alike(code, ndim, shape, a, b)

    cdef int out_code(self, int code) noexcept:
        if self.result == R_BOOL:
            return BOOL
        if self.result == R_COMPARE:
            return UINT8 if policy.compare_uint8 else BOOL
        return code


cdef bint one_order(TensorBase a, TensorBase b) noexcept:
    """Whether b, if it is a tensor of dimensions, has the memory order of a."""
    cdef int i
    if b is None or b.ndim_ == 0:
        return True
    if a.ndim_ != b.ndim_:
        return a.ndim_ == 0
    for i in range(a.ndim_):
        if a.strides_[i] != b.strides_[i]:
            return False
    return True


cdef class UnaryOp(Pointwise):
    """``f(self)``, one loop; integers become floats where the op is a float one."""

    def __init__(self, str name, str kernel, grads, options):
        Op.__init__(self, _unary_signature, name, grads, options)
        self.find_loops(kernel, options)
        self.forward = _bound(self, 1)
        self.has_history = self.has_history and self.rules is not None

    cdef object invoke(self, PyObject** args, Py_ssize_t n, PyObject* kwnames):
        cdef TensorBase a, r
        cdef int flags
        if n != 1 or kwnames != NULL or not isinstance(<object>args[0], TensorBase):
            return self.invoke_other(args, n, kwnames)
        a = <TensorBase><object>args[0]
        flags = seen_flags(a)
        if flags & SPARSE:
            return Op.invoke(self, args, n, kwnames)
        r = self.compute(a, None)
        if flags:
            if recording(flags):
                if self.rules is not None:
                    record(self, [a], r, False)
            elif flags & VOLATILE:
                r.flags |= VOLATILE
        return r

    cdef object invoke_other(self, PyObject** args, Py_ssize_t n, PyObject* kwnames):
        if n > 1 or (n == 0 and kwnames == NULL):
            raise TypeError(f"{self.__name__}() takes 1 positional argument but {n} were given" if n else
                            f"{self.__name__}() missing 1 required positional arguments: \"input\"")
        if n == 1 and not isinstance(<object>args[0], TensorBase):
            raise TypeError(f"{self.__name__}(): argument 'input' (position 1) must be Tensor, not "
                            f"{type(<object>args[0]).__name__}")
        return Op.invoke(self, args, n, kwnames)

    cdef TensorBase compute(self, TensorBase a, TensorBase out):
        """The loop over a, into out if given (of the shape of a)."""
        cdef int code = self.compute_code(a.code), out_code = self.out_code(code)
        cdef st_loop loop = self.loops[code]
        cdef TensorBase r
        cdef char* ptrs[2]
        cdef Py_ssize_t steps[2]
        if loop == NULL:
            if self.fallback is not None and CATEGORY[code] == CAT_COMPLEX:
                return self.fallback(a)
            raise self.missing_loop(code)
        if a.code != code:
            a = as_code_tensor(a, code)
        if out is not None and out.code == (BOOL if self.result == R_BOOL else code):
            run1(loop, out, a, NULL)
            return out
        if a.contiguous_ and not a.flags & ON_DEVICE:
            r = make_result(None, out_code, a.ndim_, a.shape_)
            ptrs[0], ptrs[1] = ptr(r), ptr(a)
            steps[0], steps[1] = ITEMSIZE[out_code], ITEMSIZE[code]
            run_flat(loop, 2, ptrs, steps, a.count, NULL)
        else:
            r = self.alloc(out_code, a.ndim_, a.shape_, a, None)
            run1(loop, r, a, NULL)
        return r

    def call_forward(self, a):
        return self.compute(checked_tensor(self, a), None)


cdef class BinaryOp(Pointwise):
    """``f(self, other)``, one loop over broadcast operands in their common dtype."""

    cdef bint refuses_bool             # also as one operand of two
    cdef st_loop truncating[15]        # what the op was before division rounded down
    cdef bint era_truncates
    cdef int scale                     # 1 or -1 where ``alpha=`` multiplies the other operand, else 0
    cdef list further                  # defaults of the arguments after the two operands
    cdef bint number_first, number_second      # whether a Python number does as that operand

    def __init__(self, str name, str kernel, grads, options):
        cdef int i
        extended = options.get("forward")
        Op.__init__(self, extended or _binary_signature, name, grads, options)
        self.find_loops(kernel, options)
        self.era_truncates = "truncating" in options
        for i in range(NDTYPES):
            if self.era_truncates:
                self.truncating[i] = st_find(st_op(options["truncating"].encode()), i)
        self.further = list(self.defaults[2:])
        self.tensors_only = False
        self.refuses_bool = "bool" in options.get("refuse", ())
        self.scale = options.get("scale", 0)
        self.number_first = options.get("numbers", "both") == "both"
        self.number_second = options.get("numbers", "both") != "none"
        self.forward = extended or _bound(self, 2)
        self.has_history = self.has_history and self.rules is not None

    cdef object invoke(self, PyObject** args, Py_ssize_t n, PyObject* kwnames):
        cdef object a, b
        cdef int flags
        cdef TensorBase r
        if n != 2 or kwnames != NULL:
            if n == 2 and self.scale and only_alpha(kwnames) and unrecorded(scan_flags(args, 2, False)):
                r = self.compute_scaled(<object>args[0], <object>args[1], <object>args[2], None)
                if r is not None:
                    return r
            return Op.invoke(self, args, n, kwnames)
        a, b = <object>args[0], <object>args[1]
        flags = scan_flags(args, 2, False)
        if flags & SPARSE:
            return Op.invoke(self, args, n, kwnames)
        r = self.compute(a, b, None)
        if flags:
            if recording(flags):
                if self.rules is not None:
                    record(self, [a, b] + self.further, r, False)
            elif flags & VOLATILE:
                r.flags |= VOLATILE
        return r

    cdef TensorBase compute(self, object a, object b, TensorBase out):
        """The loop over a and b, into out if given (which must then have the broadcast shape)."""
        cdef TensorBase x, y, r
        cdef int code, ndim, out_code
        cdef st_loop loop
        cdef char* ptrs[3]
        cdef Py_ssize_t steps[3]
        cdef Py_ssize_t shape[MAX_DIMS]
        cdef char number[16]
        # the common case: one dtype, one shape or a Python number, contiguous
        if isinstance(a, TensorBase):
            x = <TensorBase>a
            if self.era_truncates and policy.floor_division != "floor":
                pass
            elif isinstance(b, TensorBase):
                y = <TensorBase>b
                if (x.code == y.code and x.contiguous_ and y.contiguous_ and same_shape(x, y)
                        and not (x.flags | y.flags) & ON_DEVICE):
                    code = self.compute_code(x.code)
                    loop = self.loops[code]
                    if code == x.code and loop != NULL and (out is None or (out is x and self.result == R_SAME)):
                        out_code = self.out_code(code)
                        r = make_result(None, out_code, x.ndim_, x.shape_) if out is None else out
                        ptrs[0], ptrs[1], ptrs[2] = ptr(r), ptr(x), ptr(y)
                        steps[0], steps[1] = ITEMSIZE[out_code], ITEMSIZE[code]
                        steps[2] = steps[1]
                        run_flat(loop, 3, ptrs, steps, x.count, NULL)
                        return r
            elif (x.contiguous_ and (type(b) is float or type(b) is int) and self.number_second
                    and not x.flags & ON_DEVICE):
                code = self.compute_code(result_code(a, b))
                loop = self.loops[code]
                if code == x.code and loop != NULL and (out is None or (out is x and self.result == R_SAME)):
                    write_scalar(number, code, b)
                    out_code = self.out_code(code)
                    r = make_result(None, out_code, x.ndim_, x.shape_) if out is None else out
                    ptrs[0], ptrs[1], ptrs[2] = ptr(r), ptr(x), number
                    steps[0], steps[1], steps[2] = ITEMSIZE[out_code], ITEMSIZE[code], 0
                    run_flat(loop, 3, ptrs, steps, x.count, NULL)
                    return r
        elif not isinstance(b, TensorBase):
            raise TypeError(f"{self.__name__}(): argument 'input' (position 1) must be Tensor, not {type(a).__name__}")
        if not isinstance(b, (TensorBase, float, int, numbers.Number, np.bool_)):
            raise TypeError(f"{self.__name__}(): argument 'other' (position 2) must be Tensor, not {type(b).__name__}")
        if not (isinstance(a, TensorBase) and isinstance(b, TensorBase)):
            self.check_numbers(a, b)
        code = self.compute_code(result_code(a, b))
        loop = self.loops[code]
        if self.era_truncates and policy.floor_division != "floor":
            loop = self.truncating[code]
            warn_truncating(self.__name__)
        if self.refuses_bool and (is_bool(a) or is_bool(b)):
            loop = NULL
        if loop == NULL:
            if self.refuses_bool and (is_bool(a) or is_bool(b)):
                raise self.missing_loop(BOOL, is_bool(a) and is_bool(b))
            raise self.missing_loop(code)
        x, y = operand_tensor(a, code), operand_tensor(b, code)
        if policy.same_numel_pointwise and x.count == y.count and not same_shape(x, y):
            x, y = flatten_alike(x, y)
        ndim = broadcast_shape(x, y, shape)
        out_code = self.out_code(code)
        if out is not None:
            if not has_shape(out, ndim, shape):
                raise RuntimeError(f"output with shape {describe_shape(out)} doesn't match the broadcast shape "
                                   f"{list(make_size(ndim, shape))}")
            if out.code == out_code and not overlaps(out, x) and not overlaps(out, y):
                run2(loop, out, x, y, NULL)
                return out
        r = self.alloc(out_code, ndim, shape, x, y)
        run2(loop, r, x, y, NULL)
        return r

    cdef int check_numbers(self, object a, object b) except -1:
        """Refuse a number where the op takes none."""
        if isinstance(a, TensorBase):
            if not self.number_second:
                raise TypeError(f"{self.__name__}(): argument 'other' (position 2) must be Tensor, not "
                                f"{type(b).__name__}")
        elif not self.number_first:
            if self.number_second:
                raise TypeError(f"{self.__name__}() received an invalid combination of arguments - got "
                                f"({type(a).__name__}, Tensor), but expected one of:\n * (Tensor input, Tensor other)\n"
                                " * (Tensor input, Number other)")
            raise TypeError(f"{self.__name__}(): argument 'input' (position 1) must be Tensor, not {type(a).__name__}")
        return 0

    cdef TensorBase compute_scaled(self, object a, object b, object alpha, TensorBase out):
        """``a + alpha * b`` in one loop where both have one dtype and shape; None where the general path must do it."""
        cdef TensorBase x, y, r
        cdef st_factor factor
        cdef st_loop loop
        if not (isinstance(a, TensorBase) and isinstance(b, TensorBase)) or type(alpha) not in (int, float):
            return None
        x, y = <TensorBase>a, <TensorBase>b
        loop = st_find(ADD_SCALED, x.code)
        if x.code != y.code or CATEGORY[x.code] != CAT_FLOAT or loop == NULL or not same_shape(x, y):
            return None
        factor.re, factor.im, factor.i = self.scale * <double>alpha, 0, 0
        r = self.alloc(x.code, x.ndim_, x.shape_, x, y) if out is None else out
        if out is not None and out.storage is y.storage and overlaps(out, y):
            return None
        run2(loop, r, x, y, &factor)
        return r

    def call_forward(self, a, b):
        return self.compute(a, b, None)


cdef class PowerOp(BinaryOp):
    """``self ** other``; a number as exponent has loops of its own."""
    cdef st_loop by_number[15]

    def __init__(self, str name, str kernel, grads, options):
        cdef int i
        BinaryOp.__init__(self, name, kernel, grads, options)
        for i in range(NDTYPES):
            self.by_number[i] = st_find(st_op(b"pow_scalar"), i)

    cdef TensorBase compute(self, object a, object b, TensorBase out):
        cdef TensorBase x, r = out
        cdef st_factor factor
        cdef int code
        if not isinstance(a, TensorBase) or isinstance(b, TensorBase):
            return BinaryOp.compute(self, a, b, out)
        x = <TensorBase>a
        code = self.compute_code(result_code(x, b))
        if code == BOOL:
            x = x.logical_or(scalar_tensor(BOOL, not b))
            return x if out is None else out.copy_(x)
        if self.by_number[code] == NULL:
            raise self.missing_loop(code)
        set_factor(&factor, code, b)
        if factor.i < 0:
            raise RuntimeError("Integers to negative integer powers are not allowed.")
        x = as_code_tensor(x, code)
        if out is None or out.code != code:
            r = self.alloc(code, x.ndim_, x.shape_, x, None)
        run1(self.by_number[code], r, x, &factor)
        return r


cdef int ADD_SCALED = st_op(b"add_scaled")


cdef bint unrecorded(int flags) noexcept:
    """Whether nothing but ``requires_grad`` is set, and that has no effect."""
    return flags & ~REQUIRES_GRAD == 0 and not recording(flags)


cdef bint only_alpha(PyObject* kwnames):
    """Whether ``alpha`` is the one keyword argument."""
    return kwnames != NULL and len(<tuple>kwnames) == 1 and (<tuple>kwnames)[0] == "alpha"


cdef int set_factor(st_factor* factor, int code, object value) except -1:
    """A Python number as the parameter of loops of a dtype."""
    factor.re = factor.im = 0
    factor.i = 0
    if CATEGORY[code] == CAT_COMPLEX:
        factor.re, factor.im = complex(value).real, complex(value).imag
    elif CATEGORY[code] == CAT_FLOAT:
        factor.re = value
    else:
        factor.i = <int64_t>int(value)
    return 0


cdef int warn_truncating(str name) except -1:
    if policy.floor_division == "trunc_warn":
        import warnings
        warnings.warn(f"{name} is deprecated: it rounds toward 0 (like trunc), which is wrong for negative numbers. "
                      "Use torch.div(a, b, rounding_mode='trunc') to keep that, or rounding_mode='floor'.",
                      UserWarning, stacklevel=2)
    return 0


cdef inline bint is_bool(object x):
    return isinstance(x, TensorBase) and (<TensorBase>x).code == BOOL


cdef bint has_shape(TensorBase t, int ndim, const Py_ssize_t* shape) noexcept:
    cdef int i
    if t.ndim_ != ndim:
        return False
    for i in range(ndim):
        if t.shape_[i] != shape[i]:
            return False
    return True


cdef bint overlaps(TensorBase out, TensorBase t) noexcept:
    """Whether writing out could change elements of t before they are read."""
    cdef int i
    if out.storage is not t.storage:
        return False
    if out.offset != t.offset or not same_shape(out, t):
        return True
    for i in range(t.ndim_):
        if out.strides_[i] != t.strides_[i] and t.shape_[i] > 1:
            return True
    return False


cdef tuple flatten_alike(TensorBase x, TensorBase y):
    """0.2 to 0.4: operands of one element count but different shapes are taken as one-dimensional."""
    cdef Py_ssize_t shape[MAX_DIMS]
    try:
        broadcast_shape(x, y, shape)
        return x, y
    except RuntimeError:
        pass
    import warnings
    warnings.warn("self and other not broadcastable, but have the same number of elements.  Falling back to "
                  "deprecated pointwise behavior.", UserWarning, stacklevel=2)
    return x, y.contiguous().view(x.shape)


cdef class InplacePointwise(InplaceOp):
    """The in-place form of a pointwise op: the loop writes to the tensor itself."""
    cdef int operands

    def __init__(self, forward, str name, grads, options, Op base=None):
        InplaceOp.__init__(self, forward, name, grads, options, base)
        self.operands = 2 if isinstance(base, BinaryOp) else 1

    cdef object invoke(self, PyObject** args, Py_ssize_t n, PyObject* kwnames):
        cdef TensorBase t, r
        cdef object b = None
        cdef int flags
        cdef list values = None
        cdef bint record_it
        if kwnames != NULL or n != self.operands or not isinstance(<object>args[0], TensorBase):
            if n == 2 == self.operands and (<BinaryOp>self.base).scale and only_alpha(kwnames) and (
                    isinstance(<object>args[0], TensorBase)) and unrecorded(scan_flags(args, 2, False)):
                t = <TensorBase><object>args[0]
                check_inplace(t, False)
                if (<BinaryOp>self.base).compute_scaled(t, <object>args[1], <object>args[2], t) is not None:
                    t.storage.version += 1
                    return t
            return InplaceOp.invoke(self, args, n, kwnames)
        t = <TensorBase><object>args[0]
        flags = scan_flags(args, n, False)
        if flags & SPARSE:
            return InplaceOp.invoke(self, args, n, kwnames)
        record_it = recording(flags)
        if record_it and (self.rules is None or self.uses_self):
            return InplaceOp.invoke(self, args, n, kwnames)
        if flags & REQUIRES_GRAD or t.view_kind or not t.contiguous_ or not t.storage.writable:
            check_inplace(t, record_it)
        if n == 2:
            b = <object>args[1]
            r = (<BinaryOp>self.base).compute(t, b, t)
        else:
            r = (<UnaryOp>self.base).compute(t, t)
        if r is not t:
            check_cast(r.code, t.code)
            copy_into(t, r)
        t.storage.version += 1
        if record_it:
            values = [t] if n == 1 else [t, b] + (<BinaryOp>self.base).further
            rebase(t, record(self, values, t, True))
        elif flags & VOLATILE:
            t.flags = (t.flags | VOLATILE) & ~REQUIRES_GRAD
        return t


def _unary_signature(self):
    pass


def _binary_signature(self, other):
    pass


cdef object _bound(op, int n):
    """The forward of a kernel op as a plain function, for the generic paths (out=, keyword arguments)."""
    if n == 1:
        def forward(self):
            return op.call_forward(self)
        return forward

    def forward2(self, other):
        return op.call_forward(self, other)
    return forward2


def unary(name, kernel=None, *, result="same", grads=None, inplace=True, out=True, **options):
    """Declare a pointwise op on one tensor, run by a kernel.

    result: "same" dtype, "float" (integers become the default float), or "bool"; refuse: dtypes not accepted;
    fallback: a function for complex tensors where there is no loop for them; bool_error: makes the error for bools;
    complex_error: what is wrong with complex tensors.
    """
    return enter(UnaryOp(name, kernel or name, grads, dict(options, result=result, out=out)), inplace, options)


def binary(name, kernel=None, *, result="same", grads=None, inplace=True, out=True, **options):
    """Declare a pointwise op on two tensors (or a tensor and a number), run by a kernel.

    result: "same", "float", "divide", "bool" or "compare" (as the era says). forward: serves calls with further
    arguments, and gives the op its signature. numbers: whether one operand may be a number: "both", "second", "none".
    """
    return enter(BinaryOp(name, kernel or name, grads, dict(options, result=result, out=out)), inplace, options)


def power(name, grads, **options):
    """Declare ``self ** other``."""
    return enter(PowerOp(name, name, grads, dict(options, out=True)), True, options)


def pointwise1(str kernel, TensorBase a not None, params=None, TensorBase out=None):
    """A parametrised kernel on one tensor, by name; params: doubles. For ops that build on one."""
    a.need_memory(kernel)
    cdef double numbers_[8]
    cdef st_loop loop = st_find(st_op(kernel.encode()), a.code)
    cdef int i
    if loop == NULL:
        raise NotImplementedError(f"\"{kernel}_cpu\" not implemented for '{scalar_type(dtype_of(a.code))}'")
    if params is not None:
        for i in range(len(params)):
            numbers_[i] = params[i]
    cdef TensorBase r = alloc_like(a) if out is None else out
    run1(loop, r, a, numbers_)
    return r


def pointwise_scaled(str kernel, operands, value, TensorBase out=None):
    """A kernel with a factor (add_scaled, addcmul, addcdiv) on tensors of one dtype that broadcast."""
    cdef st_factor factor
    cdef TensorBase a, b, c = None
    for x in operands:
        if not isinstance(x, TensorBase):
            raise TypeError(f"{kernel}(): expected a Tensor, got {type(x).__name__}")
        (<TensorBase>x).need_memory(kernel)
    a, b = operands[0], operands[1]
    if len(operands) > 2:
        c = operands[2]
    cdef st_loop loop = st_find(st_op(kernel.encode()), a.code)
    if loop == NULL:
        raise NotImplementedError(f"\"{kernel}_cpu\" not implemented for '{scalar_type(dtype_of(a.code))}'")
    set_factor(&factor, a.code, value)
    if out is None:
        out = alloc_broadcast(a.code, a, b, c)
    if c is None:
        run2(loop, out, a, b, &factor)
    else:
        run3(loop, out, a, b, c, &factor)
    return out


def joined_parts(TensorBase real not None, TensorBase imag not None):
    """Complex numbers of their parts: float32 or float64, both alike, which broadcast."""
    cdef st_loop loop = st_find(st_op(b"make_complex"), real.code)
    real.need_memory("complex")
    imag.need_memory("complex")
    cdef TensorBase r = alloc_broadcast(COMPLEX64 if real.code == FLOAT32 else COMPLEX128, real, imag, None)
    run2(loop, r, real, imag, NULL)
    return r


cdef TensorBase alloc_broadcast(int code, TensorBase a, TensorBase b, TensorBase c):
    """An uninitialised result of two or three (c may be None) operands that broadcast."""
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef int ndim = broadcast_shape(a, b, shape)
    cdef TensorBase r = alloc_result(code, ndim, shape, a, b), out
    if c is not None:
        ndim = broadcast_shape(r, c, shape)
        if not has_shape(r, ndim, shape):
            r = empty_at(place_of(r, c), code, ndim, shape)
    out = awaited_result(place_of(r, None), code, ndim, shape)
    return r if out is None else out


cdef TensorBase alloc_like(TensorBase a):
    """An uninitialised result of the dtype and shape of a."""
    cdef TensorBase out = awaited_result(place_of(a, None), a.code, a.ndim_, a.shape_)
    return alloc_result(a.code, a.ndim_, a.shape_, a, None) if out is None else out


def chosen(TensorBase condition not None, TensorBase a not None, TensorBase b not None):
    """Elements of a where the condition (bool or uint8) holds, of b elsewhere; a and b have one dtype."""
    cdef st_loop loop = st_find(st_op(b"where"), a.code)
    cdef TensorBase r
    if a.code != b.code or condition.code not in (BOOL, UINT8):
        raise RuntimeError("where: a bool condition and two tensors of one dtype are expected")
    for t in (condition, a, b):
        (<TensorBase>t).need_memory("where")
    r = alloc_broadcast(a.code, condition, a, b)
    run3(loop, r, condition, a, b, NULL)
    return r


def clamped(TensorBase a not None, low, high):
    """Values kept within numbers; None where there is no limit."""
    cdef st_bounds bounds
    cdef st_loop loop = st_find(st_op(b"clamp"), a.code)
    cdef TensorBase r
    a.need_memory("clamp")
    if loop == NULL:
        raise NotImplementedError(f"\"clamp_scalar_cpu\" not implemented for '{scalar_type(dtype_of(a.code))}'")
    bounds.lo = bounds.hi = 0
    bounds.ilo = bounds.ihi = 0
    bounds.has_lo, bounds.has_hi = low is not None, high is not None
    if CATEGORY[a.code] == CAT_INT:
        bounds.ilo, bounds.ihi = 0 if low is None else int(low), 0 if high is None else int(high)
    else:
        bounds.lo, bounds.hi = 0 if low is None else low, 0 if high is None else high
    r = alloc_like(a)
    run1(loop, r, a, &bounds)
    return r


for _t in (Pointwise, UnaryOp, BinaryOp, PowerOp, InplacePointwise):
    enable_vectorcall(_t)
