"""Op: one declared operation, from which function, method, in-place form, ``out=`` and history follow."""
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF

from .destination cimport await_result, forget_result, meet
from .dtype cimport CAT_INT, CATEGORY, dtype_of
from .history cimport Differentiable, OpNode, node_class, record, record_aux, recording, strip_aux
from .policy cimport ThreadState, policy, thread_state
from .protocol cimport active_modes, dispatch, overridden, plain, tensor_type
from .tensor cimport (
    ON_DEVICE, REQUIRES_GRAD, SPARSE, VOLATILE, TensorBase, describe_shape, make_size, same_shape, seen_flags,
)

from types import MethodType

from .dtype import PYTHON_TYPES, scalar_type
from .tensor import DeviceDtypeError, DeviceMemoryError

cdef extern from "Python.h":
    PyObject* call_raw "PyObject_Vectorcall"(PyObject* f, PyObject** args, size_t nargsf, PyObject* kwnames)

cdef extern from *:
    """
    static void shimtorch_enable_vectorcall(PyTypeObject *t, Py_ssize_t offset) {
        t->tp_vectorcall_offset = offset;
        t->tp_call = PyVectorcall_Call;
        /* a method descriptor: x.f() passes x as first argument without making a bound method */
        t->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR;
        PyType_Modified(t);
    }
    #define SHIMTORCH_NARGS(n) PyVectorcall_NARGS(n)
    static int shimtorch_pending(void) { return -1; }
    """
    int pending_error "shimtorch_pending"() except -1
    void shimtorch_enable_vectorcall(PyObject* t, Py_ssize_t offset)
    Py_ssize_t SHIMTORCH_NARGS(size_t n) noexcept

missing = object()
cdef object _missing = missing
# Keyword aliases: NumPy's, and the names that parameters had in old versions.
cdef dict _renames = {
    "input": "self", "axis": "dim", "keepdims": "keepdim", "x": "self", "x1": "self", "x2": "other", "tensor": "self",
    "tensor1": "self", "tensor2": "other", "mat1": "self", "mat": "self", "batch1": "self", "batch2": "mat2",
    "vec1": "self", "vec2": "other",
}

OPS = {}          # every op by "namespace.name"; in-place forms too


cdef object op_call(object self, PyObject** args, size_t nargsf, PyObject* kwnames):
    cdef Op op = <Op>self
    cdef Py_ssize_t n = SHIMTORCH_NARGS(nargsf), k = 0 if kwnames == NULL else len(<object>kwnames)
    if active_modes or op.takes_list or not plain(args, n + k, tensor_type):
        if overridden(args, n + k, op.takes_list):
            return dispatch(op, args, n, kwnames, op.takes_list)
    if op.has_varargs and kwnames == NULL and n == op.n_positional:
        refuse_nothing(op)
    if policy.wrap_result is not None and thread_state().depth == 0:
        return era_call(op, args, n, kwnames)
    return op.invoke(args, n, kwnames)


cdef int refuse_nothing(Op op) except -1:
    """Refuse a call of an op that takes sizes or dimensions one by one without any."""
    cdef str name = op.params[op.n_params - 1]
    if name in ("size", "sizes", "shape", "dims") and op.n_positional:
        name = next((k for k, v in op.renames.items() if v == name), "size" if name == "sizes" else name)
        raise TypeError(f"{op.__name__}() missing 1 required positional arguments: \"{name}\"")
    return 0


cdef object era_call(Op op, PyObject** args, Py_ssize_t n, PyObject* kwnames):
    """The outermost call in an era that has its own result types."""
    cdef ThreadState* st = thread_state()
    cdef Py_ssize_t i, k = 0 if kwnames == NULL else len(<object>kwnames)
    cdef list given = [<object>args[i] for i in range(n + k)]
    st.depth += 1
    try:
        result = op.invoke(args, n, kwnames)
    finally:
        st.depth -= 1
    return policy.wrap_result(op, given, result)


cdef object call(Op op, object f, PyObject** args, Py_ssize_t n, PyObject* kwnames):
    """Call a forward; a complaint about the arguments is put in the words of the op's own signature."""
    cdef PyObject* r = call_raw(<PyObject*>f, args, n, kwnames)
    cdef object result
    if r == NULL:
        return recover(op, f, args, n, kwnames)
    result = <object>r
    Py_DECREF(result)
    return result


cdef object recover(Op op, object f, PyObject** args, Py_ssize_t n, PyObject* kwnames):
    """Raise the pending error, or what it means for a user of the op; what no device can, the CPU may do if asked."""
    cdef tuple given
    try:
        pending_error()
    except DeviceMemoryError as error:
        from .._gpu.fallback import allowed, fallback
        if not allowed():
            if isinstance(error, DeviceDtypeError):
                raise NotImplementedError(str(error)) from None
            from .._gpu.errors import refusal
            raise refusal(op.__name__, *arguments(args, n, kwnames)) from None
        given = arguments(args, n, kwnames)
        impl = op.forward if f is op.cuda else f
        return fallback(op if f is op.sparse else getattr(op, "base", None) or op, impl)(*given[0], **given[1])
    except (TypeError, AttributeError) as error:
        from .misuse import describe
        better = describe(op, *arguments(args, n, kwnames))
        if better is None:
            raise
        raise better from None


cdef int scan_flags(PyObject** args, Py_ssize_t n, bint lists) noexcept:
    """The flags of all tensors among the arguments, and in lists of them."""
    cdef Py_ssize_t i
    cdef int flags = 0
    cdef object a
    for i in range(n):
        a = <object>args[i]
        if isinstance(a, TensorBase):
            flags |= seen_flags(<TensorBase>a)
        elif lists and isinstance(a, (list, tuple)):
            flags |= list_flags(a)
    return flags


cdef int list_flags(object items) noexcept:
    cdef int flags = 0
    for a in items:
        if isinstance(a, TensorBase):
            flags |= seen_flags(<TensorBase>a)
        elif isinstance(a, (list, tuple)):
            flags |= list_flags(a)
    return flags


cdef class Op(Differentiable):
    """A declared operation. Called as a function or as a method of Tensor; records history when it must."""

    def __init__(self, forward, str name, grads, options):
        self.vectorcall = <vectorcallfunc>op_call
        self.forward = forward
        self.__name__ = name
        setattr(self, "__qualname__", name)
        self.namespace = options.get("namespace", "torch")
        setattr(self, "__module__", "shimtorch" + self.namespace[5:])
        self.__doc__ = options.get("doc") or getattr(forward, "__doc__", None)
        self.aliases = tuple(options.get("aliases", ()))
        self.is_method, self.is_function = options.get("method", True), options.get("function", True)
        self.takes_list = options.get("takes_list", False)
        self.sparse = options.get("sparse")
        self.cuda = options.get("cuda")
        self.legacy = options.get("legacy")
        self.legacy_min = options.get("legacy_min", 2)
        self.aux = tuple(options.get("aux", ()))
        self.has_out = bool(options.get("out", False))
        self.samples = options.get("samples")
        self.overloads = options.get("overloads", False)
        self.tensors_only = options.get("tensors_only", True)
        self.out_needs = options["out"] if isinstance(options.get("out"), str) else None
        self.dtype_of_out = options.get("dtype_of_out", False)
        self.has_history = options.get("differentiable", True)
        self.read_signature(forward if options.get("signature") is None else options["signature"])
        self.name_node(options.get("backward_name"))
        self.renames = {k: v for k, v in _renames.items() if v in self.params and k not in self.params}
        self.renames.update(options.get("renames", {}))
        self.rules = None
        self.materialize_grads = options.get("materialize_grads", True)
        if grads is not None:
            self.read_rules(grads)
        self.names_composite = grads is None and "backward_name" in options

    @property
    def elementwise(self):
        """Whether the result may be written over an operand while the op runs."""
        return False

    def inplace_class(self):
        """The class of the op's in-place form."""
        from .inplace import InplaceOp
        return InplaceOp

    def read_signature(self, f):
        code = f.__code__
        n, k = code.co_argcount, code.co_kwonlyargcount
        names = code.co_varnames[:n + k]
        self.n_positional = n
        self.has_varargs = bool(code.co_flags & 4)
        given = f.__defaults__ or ()
        defaults = [missing] * (n - len(given)) + list(given)
        kw = f.__kwdefaults__ or {}
        defaults += [kw.get(name, missing) for name in names[n:]]
        if self.has_varargs:
            names += (code.co_varnames[n + k],)
            defaults.append(())
        self.params, self.defaults = tuple(names), tuple(defaults)
        self.n_params = len(names)

    def __call__(self, *args, **kwargs):
        raise SystemError("Op is called through vectorcall")

    def __get__(self, obj, cls):
        return self if obj is None else MethodType(self, obj)

    def __repr__(self):
        return f"<built-in method {self.__name__}>"

    def __reduce__(self):
        return _find_op, (f"{self.namespace}.{self.__name__}",)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    @property
    def __wrapped__(self):
        return self.forward

    cdef object invoke(self, PyObject** args, Py_ssize_t n, PyObject* kwnames):
        cdef int flags
        cdef Py_ssize_t k = 0
        cdef object impl = self.forward, result
        if kwnames != NULL:
            k = len(<object>kwnames)
            if needs_rewrite(self, args, n, <tuple>kwnames):
                return rewrite_call(self, args, n, <tuple>kwnames)
        if self.legacy is not None and n >= self.legacy_min:
            changed = legacy_form(self, args, n, kwnames)
            if changed is not None:
                return call_op(self, changed[0], changed[1])
        if n and isinstance(<object>args[0], type):       # CPython 3.11 crashes on some methods of a class without self
            refuse_class(self, <object>args[0])
        if self.rules is None and self.sparse is None and (self.cuda is None or self.cuda is True):
            result = call(self, impl, args, n, kwnames)
            return name_last_node(self, args, n, kwnames, result) if self.names_composite else result
        flags = scan_flags(args, n + k, self.takes_list)
        if flags:
            if flags & SPARSE:
                impl = sparse_forward(self)
            if flags & ON_DEVICE:
                impl = device_forward(self, flags, impl)
            if self.rules is not None and recording(flags) and not (flags & SPARSE and self.sparse_composed):
                return self.recorded(impl, args, n, kwnames)
            if flags & VOLATILE:
                return self.invoke_volatile(impl, args, n, kwnames)
            result = call(self, impl, args, n, kwnames)
            if self.names_composite:
                return name_last_node(self, args, n, kwnames, result)
            return strip_aux(result, len(self.aux)) if self.aux else result
        result = call(self, impl, args, n, kwnames)
        return strip_aux(result, len(self.aux)) if self.aux else result

    cdef object invoke_volatile(self, object impl, PyObject** args, Py_ssize_t n, PyObject* kwnames):
        """Call impl with nothing inside it recorded, and pass on that nothing later is."""
        cdef ThreadState* st = thread_state()
        cdef object result
        st.no_record += 1
        try:
            result = call(self, impl, args, n, kwnames)
        finally:
            st.no_record -= 1
        if self.aux:
            result = strip_aux(result, len(self.aux))
        mark_volatile(result)
        return result

    cdef object recorded(self, object impl, PyObject** args, Py_ssize_t n, PyObject* kwnames):
        """Call impl with nothing inside it recorded, then make the op's node the history of the result."""
        cdef ThreadState* st = thread_state()
        cdef list values
        cdef Py_ssize_t i
        cdef object result
        st.no_record += 1
        st.depth += 1
        try:
            result = call(self, impl, args, n, kwnames)
        finally:
            st.no_record -= 1
            st.depth -= 1
        for i in range(n):
            if <PyObject*>result == args[i]:
                return result              # nothing was computed
        values = self.bind(args, n, kwnames)
        if self.aux:
            return record_aux(self, values, result)
        record(self, values, result, False)
        return result

    cdef list bind(self, PyObject** args, Py_ssize_t n, PyObject* kwnames):
        """The arguments in the order of `params`, defaults filled in."""
        cdef list values = list(self.defaults)
        cdef Py_ssize_t i, first = min(n, self.n_positional)
        for i in range(first):
            values[i] = <object>args[i]
        if n > first:
            values[self.n_params - 1] = tuple([<object>args[i] for i in range(first, n)])
        if kwnames != NULL:
            for i, name in enumerate(<tuple>kwnames):
                if name not in self.params:
                    raise TypeError(f"{self.__name__}() got an unexpected keyword argument '{name}'")
                values[self.params.index(name)] = <object>args[n + i]
        return values

    def bind_arguments(self, *args, **kwargs):
        """The arguments of a call by name."""
        values = list(self.defaults)
        values[:min(len(args), self.n_positional)] = args[:self.n_positional]
        if len(args) > self.n_positional:
            values[self.n_params - 1] = args[self.n_positional:]
        bound = dict(zip(self.params, values))
        bound.update(kwargs)
        return bound


def _find_op(name):
    return OPS[name]


cdef int refuse_class(Op op, object cls) except -1:
    """A class of tensors is no tensor."""
    if issubclass(cls, TensorBase):
        raise TypeError(f"{op.__name__}(): argument 'input' (position 1) must be Tensor, not {type(cls).__name__}")
    return 0


cdef TensorBase checked_tensor(Op op, object x):
    """x as the tensor that an op works on."""
    if not isinstance(x, TensorBase):
        raise TypeError(f"{op.__name__}(): argument 'input' (position 1) must be Tensor, not {type(x).__name__}")
    return <TensorBase>x


def warn_numbers_first(name, args):
    """Warn of an argument order that PyTorch deprecated in 1.5."""
    import warnings
    form = ", ".join(["Tensor" if isinstance(a, TensorBase) else "Number" for a in args])
    warnings.warn(f"This overload of {name} is deprecated:\n\t{name}({form})\nPut the tensors first, and the numbers "
                  "as keywords after them.", UserWarning, stacklevel=2)


cdef object legacy_form(Op op, PyObject** args, Py_ssize_t n, PyObject* kwnames):
    """A call in a form of old versions as (args, kwargs) of today, with a warning where due; None for other calls."""
    given = arguments(args, n, kwnames)
    changed = op.legacy(*given)
    if changed is not None and policy.numbers_first_warning:
        warn_numbers_first(op.__name__, given[0])
    return changed


cdef bint needs_rewrite(Op op, PyObject** args, Py_ssize_t n, tuple kwnames):
    cdef Py_ssize_t i
    for i, name in enumerate(kwnames):
        if name in op.renames or (name == "out" and "out" not in op.params) or (
                op.has_varargs and name == op.params[op.n_params - 1]) or (
                name == "dtype" and isinstance(<object>args[n + i], type) and <object>args[n + i] in PYTHON_TYPES):
            return True
    return False


cdef tuple arguments(PyObject** args, Py_ssize_t n, PyObject* kwnames):
    cdef Py_ssize_t i
    cdef dict kwargs = {}
    if kwnames != NULL:
        for i, name in enumerate(<tuple>kwnames):
            kwargs[name] = <object>args[n + i]
    return tuple([<object>args[i] for i in range(n)]), kwargs


cdef object call_op(Op op, object args, object kwargs):
    """Invoke with Python arguments."""
    cdef PyObject* stack[64]
    cdef Py_ssize_t i = 0, n = len(args)
    cdef tuple names = tuple(kwargs)
    if n + len(names) > 64:
        raise TypeError(f"{op.__name__}() takes at most 64 arguments")
    for a in args:
        stack[i] = <PyObject*>a
        i += 1
    for a in kwargs.values():
        stack[i] = <PyObject*>a
        i += 1
    return op.invoke(stack, n, <PyObject*>names if names else NULL)


cdef object rewrite_call(Op op, PyObject** args, Py_ssize_t n, tuple kwnames):
    """A call with keyword aliases, ``out=``, Python's type as dtype, or what ``*sizes`` and such take as a keyword."""
    cdef list given = [<object>args[i] for i in range(n)]
    cdef dict kwargs = {}
    cdef object out = None
    cdef list rest = []
    for i, name in enumerate(kwnames):
        value = <object>args[n + i]
        if name == "out" and "out" not in op.params:
            if value is None and "axis" in kwnames:
                # what np.sum(x) and its like call; torch refuses it, for only functions have out=
                raise TypeError(f"{op.__name__}() got an unexpected keyword argument 'axis'")
            if not op.has_out:
                raise TypeError(f"{op.__name__}() got an unexpected keyword argument 'out'")
            out = value
            continue
        target = op.renames.get(name, name)
        if op.has_varargs and target == op.params[op.n_params - 1]:
            rest.append(value)
        elif target == "self" and not given:
            given.insert(0, value)
        elif target in kwargs or (target in op.params and op.params.index(target) < len(given)):
            raise TypeError(f"{op.__name__}() got multiple values for argument '{target}'")
        elif target == "dtype" and isinstance(value, type) and value in PYTHON_TYPES:
            kwargs[target] = PYTHON_TYPES[value]
        else:
            kwargs[target] = value
    if rest:
        if len(given) > op.n_positional:
            raise TypeError(f"{op.__name__}() got multiple values for argument '{op.params[op.n_params - 1]}'")
        given += rest
    if out is None:
        return call_op(op, given, kwargs)
    return write_out(op, given, kwargs, out)


cdef object write_out(Op op, list args, dict kwargs, object out):
    """``out=``: the result, resized and cast into the given tensor(s)."""
    cdef ThreadState* st = thread_state()
    outs = out if isinstance(out, (tuple, list)) else (out,)
    for o in outs:
        if not isinstance(o, TensorBase):
            raise TypeError(f"{op.__name__}(): argument 'out' must be Tensor, not {type(o).__name__}")
    tracked = st.grad_enabled and not st.no_record and (
        list_flags(args) | list_flags(list(kwargs.values())) | list_flags(outs)) & REQUIRES_GRAD
    if op.out_needs is not None and len(args) < 2 and op.out_needs not in kwargs:
        raise TypeError(f"{op.__name__}() missing 1 required positional arguments: \"{op.out_needs}\"")
    if op.dtype_of_out and "dtype" not in kwargs and isinstance(out, TensorBase):
        kwargs["dtype"] = out.dtype
    st.no_record += 1
    try:
        if len(outs) == 1 and not tracked:
            await_result(outs[0], op.elementwise and not kwargs, args, kwargs)
        result = call_op(op, args, kwargs)
        results = result if isinstance(result, (tuple, list)) else (result,)
        if tracked:
            refuse_tracked(op, results)
        if len(results) != len(outs):
            raise TypeError(f"{op.__name__}(): expected {len(results)} tensors in 'out', got {len(outs)}")
        for o, r in zip(outs, results):
            if not isinstance(r, TensorBase):
                raise TypeError(f"{op.__name__}(): 'out' takes a Tensor, the result is {type(r).__name__}")
            store_out(op, <TensorBase>o, <TensorBase>r)
    finally:
        forget_result()
        st.no_record -= 1
    return out


cdef int refuse_tracked(Op op, results) except -1:
    """Refuse an ``out=`` beside tensors that require grad, where a result could have history."""
    for r in results:
        if op.has_history and isinstance(r, TensorBase) and CATEGORY[(<TensorBase>r).code] > CAT_INT:
            raise RuntimeError(f"{op.__name__}(): functions with out=... arguments don't support automatic "
                               "differentiation, but one of the arguments requires grad.")
    return 0


cdef int store_out(Op op, TensorBase out, TensorBase result) except -1:
    if result is out:                  # it was made there
        out.storage.version += 1
        return 0
    if result.code != out.code:
        from .misuse import check_out_dtype
        check_out_dtype(op, result.dtype, out.dtype, CATEGORY[result.code] > CATEGORY[out.code])
        check_cast(result.code, out.code)
    if out.flags & SPARSE or result.flags & SPARSE:
        raise NotImplementedError(f"{op.__name__}(): out= is not implemented for sparse tensors")
    if not same_shape(out, result):
        warn_resized(out, describe_shape(result))
        out.resize_(make_size(result.ndim_, result.shape_))
    target = out.detach() if out.flags & REQUIRES_GRAD else out        # the result has no history: nothing is lost
    target.copy_(result.clone() if meet(out, result) else result)
    return 0


cdef int check_cast(int source, int target) except -1:
    """Refuse to write a result of one dtype over a tensor of a lower category: complex, float, integer, bool."""
    if CATEGORY[source] > CATEGORY[target]:
        raise RuntimeError(f"result type {scalar_type(dtype_of(source))} can't be cast to the desired output type "
                           f"{scalar_type(dtype_of(target))}")
    return 0


def warn_resized(TensorBase out, shape):
    """Warn that an ``out`` of another shape, and with elements, is about to be resized."""
    if out.count:
        import warnings
        warnings.warn(f"An output with one or more elements was resized since it had shape {describe_shape(out)}, "
                      f"which does not match the required output shape {list(shape)}. This behavior is "
                      "deprecated, and in a future PyTorch release outputs will not be resized unless they have "
                      "zero elements. You can explicitly reuse an out tensor t by resizing it, inplace, to zero "
                      "elements with t.resize_(0).", UserWarning, stacklevel=2)


cdef object sparse_forward(Op op):
    if op.sparse is None:
        raise NotImplementedError(f"{op.__name__}: not implemented for sparse tensors; use to_dense() first")
    return op.forward if op.sparse is True else op.sparse


cdef object device_forward(Op op, int flags, object impl):
    """What computes op on a device; impl does on the CPU, and there with sparse operands, whose parts know devices."""
    cdef object form = True if flags & SPARSE else op.cuda
    if form is None:
        from .._gpu.fallback import fallback
        return fallback(op, impl)
    return impl if form is True else form


cdef object mark_volatile(object result):
    if isinstance(result, TensorBase):
        (<TensorBase>result).flags = ((<TensorBase>result).flags | VOLATILE) & ~REQUIRES_GRAD
    elif isinstance(result, (tuple, list)):
        for r in result:
            mark_volatile(r)


cdef object name_last_node(Op op, PyObject** args, Py_ssize_t n, PyObject* kwnames, object result):
    """Give the history of a composite's result the name under which torch has it, for there it is one node."""
    cdef Py_ssize_t i
    if not isinstance(result, TensorBase) or not isinstance((<TensorBase>result).node, OpNode):
        return result
    for i in range(n):
        if <PyObject*>result == args[i]:
            return result
    (<TensorBase>result).node.__class__ = node_class(op, None if op.choose_name is None else op.bind(args, n, kwnames))
    return result


cdef void enable_vectorcall(type t):
    cdef Op probe = Op.__new__(Op)
    shimtorch_enable_vectorcall(<PyObject*>t, <char*>&probe.vectorcall - <char*><void*>probe)


enable_vectorcall(Op)
