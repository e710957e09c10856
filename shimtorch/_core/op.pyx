"""Op: one declared operation, from which function, method, in-place form, ``out=`` and history follow."""
from libc.string cimport memcpy
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF

from .autograd cimport Node, check_inplace, node_of, rebase
from .dtype cimport CAT_FLOAT, CATEGORY, dtype_of
from .policy cimport ThreadState, policy, thread_state
from .protocol cimport active_modes, dispatch, overridden, plain, tensor_type
from .saving cimport PackedTensor, SavedOutput, packed, packed_output, packing, unpack_check
from .tensor cimport (
    ON_DEVICE, REQUIRES_GRAD, SPARSE, VIEW_MULTI_OUTPUT, VOLATILE, TensorBase, describe_shape, make_size, same_shape,
    seen_flags, shallow,
)

from types import MethodType

from .node_names import old_name
from .saving import freed_error
from .tensor import DeviceMemoryError

cdef extern from "Python.h":
    object PyObject_Vectorcall(PyObject* f, PyObject** args, size_t nargsf, PyObject* kwnames)
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

# What a parameter of a derivative rule is.
cdef enum Kind:
    K_G, K_OUT, K_ARG, K_SHAPE, K_DTYPE, K_AUX, K_NEEDS

missing = object()
cdef object _missing = missing
# Keyword aliases: NumPy's, and the names that parameters had in old versions.
cdef dict _renames = {
    "input": "self", "axis": "dim", "keepdims": "keepdim", "x": "self", "x1": "self", "x2": "other", "tensor": "self",
    "tensor1": "self", "tensor2": "other", "mat1": "self", "mat": "self", "batch1": "self", "batch2": "mat2",
    "vec1": "self", "vec2": "other",
}

OPS = {}          # every op by "namespace.name"; in-place forms too
METHODS = {}      # what Tensor gets


cdef object op_call(object self, PyObject** args, size_t nargsf, PyObject* kwnames):
    cdef Op op = <Op>self
    cdef Py_ssize_t n = SHIMTORCH_NARGS(nargsf), k = 0 if kwnames == NULL else len(<object>kwnames)
    if active_modes or op.takes_list or not plain(args, n + k, tensor_type):
        if overridden(args, n + k, op.takes_list):
            return dispatch(op, args, n, kwnames, op.takes_list)
    if policy.wrap_result is not None and thread_state().depth == 0:
        return era_call(op, args, n, kwnames)
    return op.invoke(args, n, kwnames)


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
    """Raise the pending error, or what it means for a user of the op. The CPU may do what a device cannot, if asked to."""
    cdef tuple given
    try:
        pending_error()
    except DeviceMemoryError as error:
        from .._gpu.fallback import allowed, fallback
        if not allowed():
            raise NotImplementedError(f"{op.__name__}: {error}") from None
        given = arguments(args, n, kwnames)
        if isinstance(op, InplaceOp) and (<InplaceOp>op).base is not None:
            op = (<InplaceOp>op).base
        return fallback(op, f)(*given[0], **given[1])
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


cdef bint recording(int flags) noexcept:
    cdef ThreadState* st
    if not flags & REQUIRES_GRAD or flags & VOLATILE:
        return False
    st = thread_state()
    return st.grad_enabled and not st.no_record


cdef class Rule:
    """A derivative rule: a function whose parameter names say what it needs of the forward pass."""

    def __init__(self, f, slots, bint joint, params, aux):
        cdef int i
        names = f.__code__.co_varnames[:f.__code__.co_argcount]
        if len(names) > 16 or len(slots) > 16:
            raise TypeError("a derivative rule has at most 16 parameters")
        self.f, self.joint = f, joint
        self.n_slots, self.n_params = len(slots), len(names)
        for i in range(self.n_slots):
            self.slots[i] = slots[i]
        for i in range(self.n_params):
            self.kinds[i], self.indices[i] = read_parameter(names[i], params, aux)


cdef tuple read_parameter(str name, tuple params, tuple aux):
    if name == "g":
        return K_G, 0
    if name == "out":
        return K_OUT, 0
    if name == "needs":
        return K_NEEDS, 0
    if name in aux:
        return K_AUX, aux.index(name)
    if name in params:
        return K_ARG, params.index(name)
    for suffix, kind in (("_shape", K_SHAPE), ("_dtype", K_DTYPE)):
        if name.endswith(suffix) and name[:-len(suffix)] in params:
            return kind, params.index(name[:-len(suffix)])
    raise TypeError(f"a derivative rule asks for '{name}', which is not an argument of the op ({', '.join(params)})")


cdef class Op:
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
        self.cuda, self.cuda_sparse = options.get("cuda"), options.get("cuda_sparse")
        self.legacy = options.get("legacy")
        self.legacy_min = options.get("legacy_min", 2)
        self.aux = tuple(options.get("aux", ()))
        self.has_out = options.get("out", False)
        self.samples = options.get("samples")
        self.overloads = options.get("overloads", False)
        self.tensors_only = options.get("tensors_only", True)
        self.read_signature(forward if options.get("signature") is None else options["signature"])
        self.name_node(options.get("backward_name"))
        self.renames = {k: v for k, v in _renames.items() if v in self.params and k not in self.params}
        self.renames.update(options.get("renames", {}))
        self.rules = None
        if grads is not None:
            self.read_rules(grads)
        self.names_composite = grads is None and "backward_name" in options

    def name_node(self, given):
        self.backward_name = given if isinstance(given, str) else camel(self.__name__) + "Backward0"
        if callable(given):
            self.choose_name = given
            self.name_args = tuple([self.params.index(name) for name in given.__code__.co_varnames])

    def inplace_class(self):
        """The class of the op's in-place form."""
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

    def read_rules(self, grads):
        self.rules = []
        for names, f in grads.items():
            joint = isinstance(names, tuple)
            slots = []
            for name in (names if joint else (names,)):
                if self.n_diff == 16:
                    raise TypeError("an op has at most 16 differentiable arguments")
                slots.append(self.n_diff)
                self.diff_args[self.n_diff] = self.params.index(name)
                self.n_diff += 1
            self.rules.append(Rule(f, slots, joint, self.params, self.aux))

    @property
    def differentiable(self):
        """The names of the arguments that have a derivative rule; None for a composite."""
        cdef int i
        return None if self.rules is None else tuple([self.params[self.diff_args[i]] for i in range(self.n_diff)])

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
            if needs_rewrite(self, <tuple>kwnames):
                return rewrite_call(self, args, n, <tuple>kwnames)
        if self.legacy is not None and n >= self.legacy_min:
            changed = legacy_form(self, args, n, kwnames)
            if changed is not None:
                return call_op(self, changed[0], changed[1])
        if n and isinstance(<object>args[0], type):       # CPython 3.11 crashes on some methods of a class without self
            refuse_class(self, <object>args[0])
        if self.rules is None and self.sparse is None:
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


cdef int refuse_class(Op op, object cls) except -1:
    """A class of tensors is no tensor."""
    if issubclass(cls, TensorBase):
        raise TypeError(f"{op.__name__}(): argument 'input' (position 1) must be Tensor, not {type(cls).__name__}")
    return 0


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


cdef bint needs_rewrite(Op op, tuple kwnames):
    for name in kwnames:
        if name in op.renames or (name == "out" and "out" not in op.params) or (
                op.has_varargs and name == op.params[op.n_params - 1]):
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
    """A call with keyword aliases, ``out=``, or what ``*sizes`` and the like take as a keyword."""
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
    if st.grad_enabled and not st.no_record:
        stack_flags = list_flags(args) | list_flags(list(kwargs.values()))
        if stack_flags & REQUIRES_GRAD or list_flags(outs) & REQUIRES_GRAD:
            raise RuntimeError(f"{op.__name__}(): functions with out=... arguments don't support automatic "
                               "differentiation, but one of the arguments requires grad.")
    st.no_record += 1
    try:
        result = call_op(op, args, kwargs)
        results = result if isinstance(result, (tuple, list)) else (result,)
        if len(results) != len(outs):
            raise TypeError(f"{op.__name__}(): expected {len(results)} tensors in 'out', got {len(outs)}")
        for o, r in zip(outs, results):
            if not isinstance(r, TensorBase):
                raise TypeError(f"{op.__name__}(): 'out' takes a Tensor, the result is {type(r).__name__}")
            if not isinstance(r, TensorBase):
                raise TypeError(f"{op.__name__}(): this form has no 'out'")
            store_out(op, <TensorBase>o, <TensorBase>r)
    finally:
        st.no_record -= 1
    return out


cdef int store_out(Op op, TensorBase out, TensorBase result) except -1:
    if CATEGORY[result.code] > CATEGORY[out.code] and not (CATEGORY[out.code] == 1 and CATEGORY[result.code] <= 1):
        raise RuntimeError(f"result type {scalar_type_name(result.code)} can't be cast to the desired output type "
                           f"{scalar_type_name(out.code)}")
    if out.flags & SPARSE or result.flags & SPARSE:
        raise NotImplementedError(f"{op.__name__}(): out= is not implemented for sparse tensors")
    if not same_shape(out, result):
        warn_resized(out, describe_shape(result))
        out.resize_(make_size(result.ndim_, result.shape_))
    out.copy_(result)
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


_SCALAR_TYPES = ("Bool", "Byte", "Char", "Short", "Int", "Long", "Half", "BFloat16", "Float", "Double", "ComplexFloat",
                 "ComplexDouble", "UInt16", "UInt32", "UInt64")


cdef str scalar_type_name(int code):
    """The name that torch's error messages use for a dtype: Float, Long ..."""
    return _SCALAR_TYPES[code]


def scalar_type(dtype):
    """The name that torch's error messages use for a dtype: Float, Long ..."""
    return _SCALAR_TYPES[dtype.code]


cdef object sparse_forward(Op op):
    if op.sparse is None:
        raise NotImplementedError(f"{op.__name__}: not implemented for sparse tensors; use to_dense() first")
    return op.forward if op.sparse is True else op.sparse


cdef object device_forward(Op op, int flags, object impl):
    """What computes op on a device; impl does on the CPU."""
    cdef object form = op.cuda_sparse if flags & SPARSE else op.cuda
    if form is None:
        from .._gpu.fallback import fallback
        return fallback(op, impl)
    return impl if form is True else form


cdef object strip_aux(object result, Py_ssize_t n):
    kept = result[:len(result) - n]
    return kept[0] if len(kept) == 1 else kept


cdef object mark_volatile(object result):
    if isinstance(result, TensorBase):
        (<TensorBase>result).flags = ((<TensorBase>result).flags | VOLATILE) & ~REQUIRES_GRAD
    elif isinstance(result, (tuple, list)):
        for r in result:
            mark_volatile(r)


# ---------------------------------------------------------------- history

cdef object record_aux(Op op, list values, object result):
    cdef Py_ssize_t n = len(op.aux)
    kept = strip_aux(result, n)
    cdef OpNode node = record(op, values, kept, False)
    node.aux_values = tuple(result[len(result) - n:])
    return kept


_node_classes = {}


cdef object named_class(str name):
    cls = _node_classes.get(name)
    if cls is None:
        cls = _node_classes[name] = type(name, (OpNode,), {"__slots__": (), "__module__": "builtins"})
    return cls


cdef object node_class(Op op, list values):
    """The class of op's nodes, which bears the name that torch gives them."""
    if op.choose_name is not None:
        return named_class(op.choose_name(*[values[i] for i in op.name_args]))
    if op.node_class is None:
        op.node_class = named_class(op.backward_name)
    return op.node_class


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


def name_history(TensorBase result not None, str name):
    """Give the last node of what was computed by several ops the name under which torch has it; returns result."""
    if isinstance(result.node, OpNode):
        result.node.__class__ = named_class(name)
    return result


cdef OpNode record(Op op, list values, object result, bint inplace):
    """Make a node of op the history of result; it saves what the rules that will run ask for."""
    cdef OpNode node
    cdef Rule rule
    cdef object v
    cdef int i, index, kind
    node = OpNode.__new__(node_class(op, values))
    node.op = op
    if inplace and (<TensorBase>result).base is not None:
        caught_up(<TensorBase>result)
    set_op_edges(node, op, values)
    for rule in op.rules:
        if not rule_active(node, rule):
            continue
        for i in range(rule.n_params):
            kind, index = rule.kinds[i], rule.indices[i]
            if kind == K_ARG:
                save_value(node, op, index, values[index], <TensorBase>result if inplace else None)
            elif kind == K_OUT:
                if node.out is None:
                    node.saves_tensors = True
                    node.out = save_output(apart(<TensorBase>result) if inplace else result)
            elif kind == K_SHAPE:
                if node.shapes_of is None:
                    node.shapes_of = [None] * op.n_params
                v = values[index]
                node.shapes_of[index] = make_size((<TensorBase>v).ndim_, (<TensorBase>v).shape_) if isinstance(
                    v, TensorBase) else [t.size() for t in v] if isinstance(v, (list, tuple)) else ()
            elif kind == K_DTYPE:
                if node.dtypes_of is None:
                    node.dtypes_of = [None] * op.n_params
                v = values[index]
                node.dtypes_of[index] = v.dtype if isinstance(v, TensorBase) else [
                    t.dtype for t in v] if isinstance(v, (list, tuple)) else None
    if not inplace:
        if not isinstance(result, TensorBase) and single_gradient(result):
            node.set_outputs(result[0])
        else:
            node.set_outputs(result)
    return node


cdef void caught_up(TensorBase view) noexcept:
    """Tell a view that was just written to, and knew of every write before, that its history need not be made anew."""
    if view.view_version + 1 == view.storage.version:
        view.view_version = view.storage.version


cdef int set_op_edges(OpNode node, Op op, list values) except -1:
    """Edges to the differentiable arguments; those of a list of tensors stand side by side."""
    cdef list tensors, spans
    cdef object v
    cdef int i
    for i in range(op.n_diff):
        if isinstance(values[op.diff_args[i]], (list, tuple)):
            break
    else:
        return node.set_edges([with_grad(values[op.diff_args[i]]) for i in range(op.n_diff)])
    tensors, spans = [], []
    for i in range(op.n_diff):
        v = values[op.diff_args[i]]
        if isinstance(v, (list, tuple)):
            spans.append((len(tensors), len(v)))
            for item in v:
                tensors.append(with_grad(item))
        else:
            spans.append((len(tensors), 1))
            tensors.append(with_grad(v))
    node.spans = tuple(spans)
    return node.set_edges(tensors)


cdef inline bint rule_active(OpNode node, Rule rule):
    """Whether any of the gradients that a rule gives is asked for."""
    cdef int i
    for i in range(rule.n_slots):
        if edge_active(node, rule.slots[i]):
            return True
    return False


cdef inline object with_grad(object v):
    return v if isinstance(v, TensorBase) and seen_flags(<TensorBase>v) & REQUIRES_GRAD else None


cdef bint single_gradient(object result):
    """Whether only the first of several results is differentiable, as with max(dim) and its indices."""
    for r in result[1:]:
        if isinstance(r, TensorBase) and CATEGORY[(<TensorBase>r).code] >= CAT_FLOAT:
            return False
    return len(result) > 0 and isinstance(result[0], TensorBase) and len(result) > 1


cdef bint edge_active(OpNode node, int slot):
    cdef int i
    if node.spans is None:
        return node.edges[slot] is not None
    start, n = node.spans[slot]
    for i in range(start, start + n):
        if node.edges[i] is not None:
            return True
    return False


cdef int save_value(OpNode node, Op op, int index, object v, TensorBase written) except -1:
    """Keep an argument for backward. What shares memory with `written`, written to in place since, is stale."""
    cdef Py_ssize_t stale = 0
    if node.values is None:
        node.values = [None] * op.n_params
        node.versions = [None] * op.n_params
    if isinstance(v, TensorBase):
        node.saves_tensors = True
        if (<TensorBase>v).storage is None:
            node.versions[index] = 0
        else:
            if written is not None and (<TensorBase>v).storage is written.storage:
                stale = 1
            node.versions[index] = (<TensorBase>v).storage.version - stale
        node.values[index] = packed(<TensorBase>v) if packing() else v
    elif isinstance(v, (list, tuple)):
        node.versions[index] = [None] * len(v)
        node.values[index] = v = list(v) if isinstance(v, list) else v       # the caller may change a list
        for i, t in enumerate(v):
            if isinstance(t, TensorBase):
                node.saves_tensors = True
                node.versions[index][i] = t._version
        if packing():
            node.values[index] = [packed(<TensorBase>t) if isinstance(t, TensorBase) else t for t in v]
    else:
        node.values[index] = v
    return 0


cdef TensorBase apart(TensorBase t):
    """What is saved of t after a write. A piece of split() is copied: writes to others must not seem to change it."""
    cdef ThreadState* st = thread_state()
    cdef TensorBase r = shallow(t)
    if t.view_kind != VIEW_MULTI_OUTPUT:
        return r
    st.no_record += 1
    try:
        return r.clone()
    finally:
        st.no_record -= 1


cdef object save_output(object result):
    if isinstance(result, TensorBase):
        return save_one(<TensorBase>result, 0)
    return [save_one(<TensorBase>r, i) if isinstance(r, TensorBase) else None for i, r in enumerate(result)]


cdef tuple save_one(TensorBase t, int nr):
    return packed_output(t, nr) if packing() else SavedOutput(t, nr), t._version


cdef class OpNode(Node):
    """The node of an Op: it applies the op's derivative rules to what the op saved."""

    def name(self):
        return type(self).__name__ if policy.node_names is None else old_name(type(self).__name__, policy.node_names)

    cdef object apply(self, object g, bint create):
        cdef Rule rule
        cdef list result = [None] * len(self.edges)
        cdef int i
        if self.freed:
            raise freed_error()
        if self.n_outputs > 1:
            g = self.materialize(<list>g)
        for rule in self.op.rules:
            if not rule_active(self, rule):
                continue
            value = self.call_rule(rule, g)
            if rule.joint:
                for i in range(rule.n_slots):
                    self.put(result, rule.slots[i], value[i])
            elif self.spans is None:
                result[rule.slots[0]] = value
            else:
                self.put(result, rule.slots[0], value)
        return result

    def put(self, list result, int slot, value):
        if self.spans is None:
            result[slot] = value
        else:
            start, n = self.spans[slot]
            if isinstance(value, (list, tuple)):
                result[start:start + n] = value
            else:
                result[start] = value

    cdef object call_rule(self, Rule rule, object g):
        cdef PyObject* args[16]
        cdef list held = []            # what only the argument array refers to
        cdef object v
        cdef int i, kind, index
        for i in range(rule.n_params):
            kind, index = rule.kinds[i], rule.indices[i]
            if kind == K_G:
                args[i] = <PyObject*>g
                continue
            if kind == K_ARG:
                v = self.unpack(index)
            elif kind == K_OUT:
                v = unpack_output(self.out, self)
            elif kind == K_SHAPE:
                v = self.shapes_of[index]
            elif kind == K_DTYPE:
                v = self.dtypes_of[index]
            elif kind == K_AUX:
                v = self.aux_values[index]
            else:
                v = [e is not None for e in self.edges]
            held.append(v)
            args[i] = <PyObject*>v
        return PyObject_Vectorcall(<PyObject*>rule.f, args, rule.n_params, NULL)

    cdef object unpack(self, int index):
        cdef object v = self.values[index]
        cdef int i
        if isinstance(v, TensorBase):
            if (<TensorBase>v).storage is not None and (<TensorBase>v).storage.version != self.versions[index]:
                unpack_check(<TensorBase>v, self.versions[index], (<TensorBase>v).node, (<TensorBase>v).output_nr)
        elif isinstance(v, PackedTensor):
            return (<PackedTensor>v).unpack(self)
        elif isinstance(v, (list, tuple)):
            for i in range(len(v)):
                if isinstance(v[i], TensorBase):
                    unpack_check(<TensorBase>v[i], self.versions[index][i], (<TensorBase>v[i]).node,
                                 (<TensorBase>v[i]).output_nr)
                elif isinstance(v[i], PackedTensor):
                    return [(<PackedTensor>t).unpack(self) if isinstance(t, PackedTensor) else t for t in v]
        return v

    def __getattr__(self, str name):
        """``_saved_<argument>`` and ``_saved_result``: what was saved for backward."""
        cdef str what = name[7:]
        if name.startswith("_saved_") and self.op is not None:
            if what == "result" and (self.out is not None or self.freed):
                if self.freed:
                    raise freed_error()
                return unpack_output(self.out, self)
            if what in self.op.params:
                if self.freed:
                    raise freed_error()
                index = self.op.params.index(what)
                if self.values is not None and (self.values[index] is not None or self.versions[index] is not None):
                    return self.unpack(index)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    cdef list materialize(self, list g):
        """Zeros for outputs that no gradient came from."""
        cdef int i
        cdef object some = None
        for part in g:
            if part is not None:
                some = part
        return [some.new_zeros(self.shapes[i], dtype=dtype_of(self.codes[i]))
                if g[i] is None and self.shapes is not None and self.shapes[i] is not None else g[i]
                for i in range(len(g))]

    cdef void release(self):
        if self.saves_tensors or self.aux_values is not None:
            self.freed = True
            self.values = self.versions = None
            self.out = self.aux_values = None


cdef object unpack_output(object saved, Node node):
    if isinstance(saved, list):
        return tuple([None if s is None else unpack_output(s, node) for s in saved])
    output, version = saved
    if isinstance(output, PackedTensor):
        return (<PackedTensor>output).unpack(node)
    t = (<SavedOutput>output).unpack(node)
    if (<TensorBase>t)._version != version:
        unpack_check(<TensorBase>t, version, node, (<SavedOutput>output).nr)
    return t


# ---------------------------------------------------------------- in-place forms

cdef class InplaceOp(Op):
    """The in-place form of an op: checks, computes, writes, counts the write, and renews the history."""

    def __init__(self, forward, str name, grads, options, Op base=None):
        cdef Rule rule
        cdef int i
        Op.__init__(self, forward, name, grads, options)
        self.base = base
        self.minds_history = options.get("minds_history", False)
        if base is not None:
            self.rules, self.n_diff = base.rules, base.n_diff
            for i in range(16):
                self.diff_args[i] = base.diff_args[i]
            self.backward_name, self.choose_name, self.name_args = base.backward_name, base.choose_name, base.name_args
            self.takes_list = base.takes_list
        self.uses_self = False
        if self.rules is not None:
            for rule in self.rules:
                for i in range(rule.n_params):
                    if rule.kinds[i] == K_ARG and rule.indices[i] == 0:
                        self.uses_self = True

    cdef object invoke(self, PyObject** args, Py_ssize_t n, PyObject* kwnames):
        cdef Py_ssize_t k = 0 if kwnames == NULL else len(<object>kwnames)
        cdef TensorBase t
        cdef int flags
        cdef list values = None
        cdef ThreadState* st
        cdef bint record_it
        cdef size_t version
        cdef object impl = self.forward if self.base is None else self.base.forward
        if kwnames != NULL and needs_rewrite(self, <tuple>kwnames):
            return rewrite_call(self, args, n, <tuple>kwnames)
        if self.legacy is not None and n >= self.legacy_min:
            changed = legacy_form(self, args, n, kwnames)
            if changed is not None:
                return call_op(self, changed[0], changed[1])
        if n == 0 or not isinstance(<object>args[0], TensorBase):
            raise TypeError(f"descriptor '{self.__name__}' for 'torch._C.TensorBase' objects doesn't apply to a "
                            f"'{'nothing' if n == 0 else type(<object>args[0]).__name__}' object")
        t = <TensorBase><object>args[0]
        flags = scan_flags(args, n + k, self.takes_list)
        if flags & SPARSE:
            return self.invoke_sparse(t, flags, args, n, kwnames)
        if flags & ON_DEVICE:
            impl = device_forward(self if self.base is None else self.base, flags, impl)
        record_it = recording(flags)
        if record_it and self.rules is None:
            if self.base is not None:
                return self.invoke_composite(t, args, n, kwnames)
            if not self.minds_history:
                raise NotImplementedError(f"the derivative for '{self.__name__}' is not implemented")
            record_it = False
        check_inplace(t, record_it)
        if record_it:
            values = self.bind(args, n, kwnames)
            if self.uses_self:
                values[0] = history_copy(t)
        version = t.storage.version
        st = thread_state()
        st.no_record += 1
        st.depth += 1
        try:
            if self.base is None:
                call(self, impl, args, n, kwnames)
            else:
                write_result(self, t, call(self, impl, args, n, kwnames))
        finally:
            st.no_record -= 1
            st.depth -= 1
        t.storage.version = version + 1            # one write, whatever ops it was made of
        if record_it:
            values[0] = t if not self.uses_self else values[0]
            rebase(t, record(self, values, t, True))
        elif flags & VOLATILE:
            mark_volatile(t)
        return <object>args[0]

    cdef object invoke_composite(self, TensorBase t, PyObject** args, Py_ssize_t n, PyObject* kwnames):
        """In place, with the history of what the ops that make up a composite record; they read a copy of t."""
        cdef TensorBase before = history_copy(t)
        cdef PyObject* stack[64]
        cdef Py_ssize_t k = n + (0 if kwnames == NULL else len(<object>kwnames))
        if k > 64:
            raise TypeError(f"{self.__name__}() takes at most 64 arguments")
        memcpy(stack, args, k * sizeof(PyObject*))
        stack[0] = <PyObject*>before
        result = call(self, self.base.forward, stack, n, kwnames)
        if not isinstance(result, TensorBase):
            raise TypeError(f"{self.__name__}(): the result is no Tensor")
        check_result(t, <TensorBase>result)
        t.copy_(result)
        return t

    cdef object invoke_sparse(self, TensorBase t, int flags, PyObject** args, Py_ssize_t n, PyObject* kwnames):
        """In place on a sparse tensor: `sparse` replaces the parts of t itself."""
        if self.sparse is None or (flags & ON_DEVICE and not self.cuda_sparse):
            raise NotImplementedError(f"{self.__name__}: not implemented for sparse tensors" + (
                f" on device '{t.device}'" if flags & ON_DEVICE else ""))
        if recording(flags):
            raise NotImplementedError(f"{self.__name__}: in-place operations on sparse tensors that require grad are "
                                      "not implemented")
        if not t.flags & SPARSE:
            check_inplace(t, False)
            t.storage.version += 1
        call(self, self.sparse, args, n, kwnames)
        return <object>args[0]


cdef TensorBase history_copy(TensorBase t):
    """A copy of t as it is before an in-place write, with t's place in the graph."""
    cdef TensorBase r
    cdef object node = node_of(t)
    cdef ThreadState* st = thread_state()
    st.no_record += 1
    try:
        r = shallow(t).clone()
    finally:
        st.no_record -= 1
    r.flags |= t.flags & REQUIRES_GRAD
    r.node, r.output_nr = node, t.output_nr
    return r


cdef int write_result(Op op, TensorBase t, object result) except -1:
    if not isinstance(result, TensorBase):
        raise TypeError(f"{op.__name__}(): the result is no Tensor")
    check_result(t, <TensorBase>result)
    t.copy_(result)
    return 0


cdef int check_result(TensorBase t, TensorBase r) except -1:
    """Whether a result can be written over t."""
    check_cast(r.code, t.code)
    if not same_shape(r, t):
        raise RuntimeError(f"output with shape {describe_shape(t)} doesn't match the broadcast shape "
                           f"{describe_shape(r)}")
    return 0


cdef int check_cast(int source, int target) except -1:
    if CATEGORY[source] > CATEGORY[target] and not (CATEGORY[source] == 1 and CATEGORY[target] == 1):
        raise RuntimeError(f"result type {scalar_type_name(source)} can't be cast to the desired output type "
                           f"{scalar_type_name(target)}")
    return 0


# ---------------------------------------------------------------- declaring

def _find_op(name):
    return OPS[name]


def camel(str name):
    """``log_softmax`` -> ``LogSoftmax``, as node names are written."""
    return "".join([part[:1].upper() + part[1:] for part in name.split("_")])


def register(Op op):
    """Enter an op in the tables under its name and aliases."""
    for name in (op.__name__,) + op.aliases:
        if op.is_function:
            OPS[f"{op.namespace}.{name}"] = op
        if op.is_method:
            METHODS[name] = op
    OPS.setdefault(f"{op.namespace}.{op.__name__}", op)
    return op


def op(forward=None, *, name=None, grads=None, inplace=False, **options):
    """Declare an op: a decorator of its forward function.

    grads: {argument: rule}, or {(arguments): rule giving a tuple}; a rule's parameter names say what backward needs:
    ``g`` (the gradient), ``out``, arguments by name, ``<arg>_shape``, ``<arg>_dtype``, ``needs``, names of ``aux``.
    None makes a composite, differentiated through the ops that it calls.

    Options: namespace ("torch"), method, function (True), inplace (False), out (False), aliases, aux (further results
    for the rules alone), takes_list, sparse (forward for sparse operands), cuda and cuda_sparse (forwards for operands
    on a CUDA device; most are listed in _gpu/forms.py), legacy (argument forms of old versions),
    renames (keyword aliases), samples, backward_name (the node's name, or a function of some of the arguments that
    gives it; of a composite, the name of its last node), operator, inplace_operator. For error messages: overloads
    (torch has several forms), tensors_only (True: a number does not do for ``other`` and its like).
    """
    if forward is None:
        return lambda f: op(f, name=name, grads=grads, inplace=inplace, **options)
    cdef Op made = Op(forward, name or forward.__name__, grads, options)
    register(made)
    finish_declaration(made, inplace, options)
    return made


def finish_declaration(Op made, inplace, options):
    """The in-place form and the operators of a declared op."""
    from .tensor import bind_operator
    if inplace:
        # the signature is the base op's, whose forward it shares
        extra = {k: options[k] for k in ("legacy", "legacy_min", "renames", "signature") if k in options}
        made.inplace_op = made.inplace_class()(made.forward, made.__name__ + "_", None,
                                               dict(extra, method=made.namespace == "torch", function=True,
                                                    namespace=made.namespace, sparse=options.get("sparse_"),
                                                    aliases=[a + "_" for a in made.aliases]), made)
        register(made.inplace_op)
    for slot in names_of(options.get("operator")):
        bind_operator(slot, made)
    for slot in names_of(options.get("inplace_operator")):
        bind_operator(slot, made.inplace_op)


def names_of(x):
    return () if x is None else (x,) if isinstance(x, str) else x


def inplace_op(forward=None, *, name=None, grads=None, **options):
    """Declare an op whose forward itself writes to its first argument.

    Options: those of ``op``, and minds_history: without rules, the forward itself sees to tensors that require grad.
    """
    if forward is None:
        return lambda f: inplace_op(f, name=name, grads=grads, **options)
    options.setdefault("function", False)
    made = InplaceOp(forward, name or forward.__name__, grads, options)
    register(made)
    for slot in names_of(options.get("operator")):
        from .tensor import bind_operator
        bind_operator(slot, made)
    return made


cdef void enable_vectorcall(type t):
    cdef Op probe = Op.__new__(Op)
    shimtorch_enable_vectorcall(<PyObject*>t, <char*>&probe.vectorcall - <char*><void*>probe)


enable_vectorcall(Op)
enable_vectorcall(InplaceOp)
