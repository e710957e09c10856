"""The in-place forms of ops: checked, counted as one write, and made the history of what was written to."""
from libc.string cimport memcpy
from cpython.object cimport PyObject

from .autograd cimport check_inplace, check_write, node_of, rebase
from .history cimport K_ARG, Rule, record, recording
from .op cimport (
    Op, call, call_op, check_cast, device_forward, enable_vectorcall, legacy_form, mark_volatile, needs_rewrite,
    rewrite_call, scan_flags,
)
from .policy cimport ThreadState, thread_state
from .tensor cimport ON_DEVICE, REQUIRES_GRAD, SPARSE, VOLATILE, TensorBase, describe_shape, same_shape, shallow


cdef class InplaceOp(Op):
    """The in-place form of an op: checks, computes, writes, counts the write, and renews the history."""

    def __init__(self, forward, str name, grads, options, Op base=None):
        cdef Rule rule
        cdef int i
        Op.__init__(self, forward, name, grads, options)
        self.base = base
        self.minds_history = options.get("minds_history", False)
        self.minds_overlap = options.get("minds_overlap", False)
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
        if kwnames != NULL and needs_rewrite(self, args, n, <tuple>kwnames):
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
        check_write(t, record_it) if self.minds_overlap else check_inplace(t, record_it)
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
        if self.sparse is None:
            raise NotImplementedError(f"{self.__name__}: not implemented for sparse tensors")
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


enable_vectorcall(InplaceOp)
