"""The node of a user-defined function: the ``ctx`` that its forward and backward are given, and the calls to both."""
from .autograd cimport Node, attach, check_inplace, rebase, renew, user_call
from .dtype cimport CATEGORY, CAT_FLOAT, dtype_of
from .history cimport recording
from .policy cimport ThreadState, policy, thread_state
from .saving cimport PackedTensor, SavedOutput, packed, packed_output, packing, unpack_check
from .tensor cimport (
    REQUIRES_GRAD, VIEW_CUSTOM, VIEW_DEFAULT, VIEW_NO_GRAD, VOLATILE, TensorBase, seen_flags, shallow,
)

from .autograd import detach_output
from .saving import freed_error


cdef class FunctionNode(Node):
    """A node whose derivative is a user's backward. As ``ctx`` it keeps what forward leaves for backward."""

    def __cinit__(self, *args, **kwargs):
        self.materialize_grads = True

    # ------------------------------------------------------------ for use in forward

    def save_for_backward(self, *tensors):
        """Keep inputs, outputs or other tensors (or None) for backward, where ``saved_tensors`` gives them back."""
        self.to_save = tensors

    def save_for_forward(self, *tensors):
        """Accepted for compatibility; forward-mode differentiation does not exist here."""

    def mark_dirty(self, *args):
        """Say which inputs forward changed in place; each must be among the outputs."""
        self.dirty_tensors = args

    def mark_shared_storage(self, *pairs):
        """Accepted for compatibility: shared memory is tracked by itself."""
        import warnings
        warnings.warn("mark_shared_storage is deprecated. Tensors with shared storages are automatically tracked. Note "
                      "that calls to `set_()` are not tracked", FutureWarning, stacklevel=2)

    def mark_non_differentiable(self, *args):
        """Say which outputs have no gradient."""
        self.non_differentiable = args

    def set_materialize_grads(self, value):
        """Whether missing gradients reach backward as zeros (the default) or as None."""
        self.materialize_grads = value

    # ------------------------------------------------------------ for use in backward

    @property
    def saved_tensors(self):
        """What save_for_backward kept; checked against in-place changes."""
        values = self.saved_values()
        return values if policy.wrap_result is None else policy.wrap_result.as_tensors(values)

    @property
    def saved_variables(self):
        """The saved tensors with their history: in the 0.3 era ``saved_tensors`` has none."""
        if policy.wrap_result is not None:
            return policy.wrap_result.as_variables(self.saved_values())
        import warnings
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
        return self.saved_values()

    cdef tuple saved_values(self):
        cdef list result = []
        cdef TensorBase t
        cdef Py_ssize_t i
        if self.freed:
            raise freed_error()
        if self.saved is None:
            return ()
        for i in range(len(self.saved)):
            saved = self.saved[i]
            if saved is None:
                t = None
            elif isinstance(saved, PackedTensor):
                t = (<PackedTensor>saved).unpack(self)
            elif isinstance(saved, SavedOutput):
                t = (<SavedOutput>saved).unpack(self)
                unpack_check(t, self.versions[i], self, (<SavedOutput>saved).nr)
            else:
                t = <TensorBase>saved
                unpack_check(t, self.versions[i], t.node, t.output_nr)
            result.append(t)
        return tuple(result)

    @property
    def requires_grad(self):
        """Whether a gradient can come of it."""
        return self.edges is not None and any([e is not None for e in self.edges])

    def __call__(self, *args, **kwargs):
        raise TypeError(f"'{type(self).__name__}' object is not callable")

    def __repr__(self):
        return f"<{type(self).__module__}.{type(self).__qualname__} object at {<size_t><void*>self:#x}>"

    # ------------------------------------------------------------ forward

    cdef object call_forward(self, object forward, object setup, tuple args):
        """Call forward with nothing recorded in it, and make this node the history of what it returns."""
        cdef ThreadState* st = thread_state()
        cdef int grad_enabled = st.grad_enabled, depth = st.depth, flags = 0, seen
        cdef list tensors = [], slots = [], needs = [False] * len(args)
        cdef dict originals = None
        cdef tuple given = args
        cdef Py_ssize_t i
        cdef bint recorded
        for i in range(len(args)):
            a = args[i]
            if isinstance(a, TensorBase):
                seen = seen_flags(<TensorBase>a)
                flags |= seen
                tensors.append(a)
                slots.append(i)
                if seen & REQUIRES_GRAD:
                    needs[i] = True
            elif self.legacy:
                raise RuntimeError(f"expected a Variable argument, but got {type(a).__name__}")
        self.needs_input_grad, self.slots, self.n_args = tuple(needs), tuple(slots), len(args)
        recorded = recording(flags)
        if recorded:
            self.set_edges(tensors)    # before forward writes to one of them
            if self.legacy:
                renew(self)            # it may be older than what it is applied to
                self.input_info = [(t.size(), t.dtype) for t in tensors]
        if policy.wrap_result is not None:
            given, originals = without_history(args)
        st.grad_enabled = st.depth = 0
        try:
            if setup is not None:
                raw = forward(*given)
                setup(self, given, raw)
            else:
                raw = forward(*given) if self.legacy else forward(self, *given)
        finally:
            st.grad_enabled, st.depth = grad_enabled, depth
        return self.finish(raw, args, originals, recorded, flags & VOLATILE)

    cdef object finish(self, object raw, tuple args, dict originals, bint recorded, bint volatile):
        """What forward returned, with this node as its history."""
        cdef tuple outputs = raw if isinstance(raw, tuple) else (raw,)
        cdef int i, n = len(outputs)
        cdef list results = []
        cdef TensorBase t, source
        cdef bint dirty
        self.n_outputs = n
        if self.dirty_tensors is not None:
            self.check_dirty(outputs)
        for i in range(n):
            if not isinstance(outputs[i], TensorBase):
                if originals is not None:
                    raise TypeError(f"{type(self).__name__}.forward: expected Variable (got "
                                    f"{type(outputs[i]).__name__}) for return value {i}")
                results.append(outputs[i])
                continue
            t = <TensorBase>outputs[i]
            source = input_among(t, args, originals)
            dirty = self.dirty_tensors is not None and held(self.dirty_tensors, t)
            if recorded and CATEGORY[t.code] >= CAT_FLOAT and not (
                    self.non_differentiable is not None and held(self.non_differentiable, t)):
                results.append(self.with_history(t, source, dirty, i, n, args))
            else:
                if recorded:
                    self.describe(t, i, n)
                results.append(source if dirty and source is not None else without(t, source, recorded))
            if volatile:
                (<TensorBase>results[i]).flags = ((<TensorBase>results[i]).flags | VOLATILE) & ~REQUIRES_GRAD
        if recorded and self.to_save is not None:
            self.save(outputs, args, originals)
        self.to_save = self.dirty_tensors = self.non_differentiable = None
        if policy.wrap_result is not None:
            results = list(policy.wrap_result.as_variables(tuple(results)))
        return tuple(results) if isinstance(raw, tuple) else results[0]

    cdef TensorBase with_history(self, TensorBase o, TensorBase source, bint dirty, int nr, int n, tuple args):
        """Output nr of n, o, with this node as its history; source: the input that it is."""
        cdef TensorBase result = o
        if dirty and source is not None:
            if source.base is not None:
                if n > 1:
                    raise RuntimeError(
                        "If your Function modifies inplace an input that is a view of another Tensor, your Function "
                        "cannot return more than one Tensor. This is not supported by the current autograd engine. You "
                        "should either make sure the input is not a view (using .clone() for example) or make your "
                        "Function only return one Tensor (potentially splitting it into two Functions: one doing the "
                        "inplace that returns a single Tensor and a second one that does the other operations). You "
                        "can ask on the forum https://discuss.pytorch.org/ if you need help to do this change.")
                check_inplace(source, True)
                rebase(source, self, slot_of(source, args, self.slots))
                return source
            if source.node is None and source.flags & REQUIRES_GRAD:
                raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
            result = source
        elif source is not None:       # returned as it came: a view, so that it can have a history of its own
            result = shallow(source)
            result.base = source if source.base is None else source.base
            result.view_kind = VIEW_CUSTOM
        elif policy.wrap_result is not None:
            result = shallow(o)        # forward's Tensor stays one; the caller is given a Variable
            result.base = o.base
        if result.base is not None and result is not source:
            if shares_memory(result, args):
                result.view_kind = VIEW_CUSTOM
            else:
                result.base = None     # a view of something that forward alone has seen
        self.describe(result, nr, n)
        attach(result, self, nr)
        return result

    cdef int check_dirty(self, tuple outputs) except -1:
        cdef TensorBase t
        for item in self.dirty_tensors:
            if not isinstance(item, TensorBase):
                raise TypeError(f"mark_dirty can only accept variables, but argument is of type {type(item).__name__}")
            if not held(outputs, item):
                raise RuntimeError("Some elements marked as dirty during the forward method were not returned as "
                                   "output. The inputs that are modified inplace must all be outputs of the Function.")
            t = <TensorBase>item
            if t.storage is not None:
                t.storage.version += 1
        return 0

    cdef int save(self, tuple outputs, tuple args, dict originals) except -1:
        """Keep the tensors of save_for_backward: inputs as they were given, outputs without history."""
        cdef TensorBase t, source
        cdef Py_ssize_t i, k
        cdef list saved = [], versions = []
        for i, item in enumerate(self.to_save):
            if item is None:
                saved.append(None)
                versions.append(0)
                continue
            if not isinstance(item, TensorBase):
                raise TypeError(f"save_for_backward can only save variables, but argument {i} is of type "
                                f"{type(item).__name__}")
            t = <TensorBase>item
            source = input_among(t, args, originals)
            if source is None or (self.dirty_tensors is not None and held(self.dirty_tensors, t)):
                for k in range(len(outputs) - 1, -1, -1):
                    if outputs[k] is t:
                        saved.append(packed_output(t, k) if packing() else SavedOutput(t, k))
                        break
                else:
                    saved.append(packed(t) if packing() else t)
            else:
                saved.append(packed(source) if packing() else source)
            versions.append(t._version)
        self.saved, self.versions = saved, versions
        return 0

    # ------------------------------------------------------------ backward

    cdef object apply(self, object g, bint create):
        cdef tuple grads = tuple(g) if self.n_outputs > 1 else (g,)
        if self.materialize_grads and self.n_outputs > 1:
            grads = self.zeros_for_missing(grads)
        if self.legacy:
            return self.apply_legacy(grads, create)
        return self.check_result(user_call(self._backward, grads))

    cdef tuple zeros_for_missing(self, tuple grads):
        cdef Py_ssize_t i
        some = next(g for g in grads if g is not None)
        return tuple([some.new_zeros(self.shapes[i], dtype=dtype_of(self.codes[i]))
                      if grads[i] is None and self.shapes[i] is not None else grads[i] for i in range(len(grads))])

    cdef object apply_legacy(self, tuple grads, bint create):
        """An old-style backward: it sees plain tensors, nothing in it is recorded, and None stands for zeros."""
        cdef ThreadState* st = thread_state()
        cdef int grad_enabled = st.grad_enabled, depth = st.depth
        cdef list result
        cdef Py_ssize_t i
        st.grad_enabled = st.depth = 0
        try:
            given = grads if policy.wrap_result is None else policy.wrap_result.as_tensors(grads)
            result = self.check_result(self.backward(*given))
        finally:
            st.grad_enabled, st.depth = grad_enabled, depth
        for i in range(len(result)):
            if result[i] is None and self.edges[i] is not None:
                size, dtype = self.input_info[i]
                result[i] = next(g for g in grads if g is not None).new_zeros(size, dtype=dtype)
        if create and any([g is not None and seen_flags(<TensorBase>g) & REQUIRES_GRAD for g in grads]):
            return differentiable_once(f"{self.name()} is not differentiable twice", result, list(grads))
        return result

    cdef list check_result(self, object result):
        """The gradients that backward returned, one per tensor argument."""
        cdef tuple grads = result if isinstance(result, tuple) else (result,)
        cdef Py_ssize_t n = self.n_args, k = len(grads), i, next_slot = 0
        cdef list wanted = []
        if k != n and (k < n or any([g is not None for g in grads[n:]])):
            if self.legacy:
                raise RuntimeError(f"{type(self).__name__} returned an invalid number of gradient tensors (expected "
                                   f"{n}, but got {k})")
            raise RuntimeError(f"function {self.name()} returned an incorrect number of gradients (expected {n}, got "
                               f"{k})")
        for i in range(n):
            g = grads[i]
            if next_slot < len(self.slots) and self.slots[next_slot] == i:
                if g is not None and not isinstance(g, TensorBase):
                    raise RuntimeError(f"expected Variable or None (got {type(g).__name__})")
                wanted.append(g)
                next_slot += 1
            elif g is not None:
                raise RuntimeError(f"function {self.name()} returned a gradient different than None at position "
                                   f"{i + 1}, but the corresponding forward input was not a Variable")
        return wanted

    cdef void release(self):
        self.freed = True
        self.saved = None

    # ------------------------------------------------------------ old-style functions

    def _fresh(self):
        """This function object, or a copy of it if it has been applied: a graph's node stands for one application."""
        if self.edges is None:
            return self
        copy = type(self).__new__(type(self))
        vars(copy).update(vars(self))
        return copy

    def _do_forward(self, *args):
        """Apply an old-style function: call ``self.forward``, and record the call."""
        cdef FunctionNode node = self._fresh()
        node.legacy = True
        result = node.call_forward(node.forward, None, args)
        if node is not self and self.freed:
            vars(self).update(vars(node))        # what forward notes on self is there for all to see
        return result


def apply_function(ctx_class, forward, setup, args):
    """Apply a new-style function: forward is called with a new ctx (or without one, and then setup with it)."""
    cdef FunctionNode node = ctx_class()
    return node.call_forward(forward, setup, args)


cdef bint held(object items, object t):
    for item in items:
        if item is t:
            return True
    return False


cdef TensorBase input_among(TensorBase t, tuple args, dict originals):
    """The argument that t is, if any."""
    if originals is not None:
        return originals.get(id(t))
    for a in args:
        if a is t:
            return t
    return None


cdef int slot_of(TensorBase t, tuple args, tuple slots) except -1:
    cdef int i
    for i in range(len(slots)):
        if args[slots[i]] is t:
            return i
    raise SystemError("the tensor is not an argument")


cdef bint shares_memory(TensorBase t, tuple args):
    for a in args:
        if isinstance(a, TensorBase) and (<TensorBase>a).storage is t.storage:
            return True
    return False


cdef TensorBase without(TensorBase o, TensorBase source, bint recorded):
    """An output that gets no history; source: the input that it is."""
    cdef TensorBase result = o
    cdef bint grad_enabled = thread_state().grad_enabled
    if source is not None:
        result = shallow(source)
        if not recorded:
            result.base = source if source.base is None else source.base
            result.view_kind = VIEW_DEFAULT if grad_enabled else VIEW_NO_GRAD
            result.view_version = source._version
        return result
    if policy.wrap_result is not None:
        result = shallow(o)
        result.base, result.view_kind = o.base, o.view_kind
        result.view_version = o.view_version
    elif o.node is not None or o.flags & REQUIRES_GRAD:
        detach_output(o)
    if result.view_kind == VIEW_NO_GRAD and grad_enabled:
        result.view_kind = VIEW_DEFAULT
    return result


cdef tuple without_history(tuple args):
    """0.3: Variables as Tensors on the same memory, and by identity the arguments that they stand for."""
    cdef list given = []
    cdef dict originals = {}
    for a in args:
        t = a
        if isinstance(a, TensorBase):
            t = shallow(<TensorBase>a)
            originals[id(t)] = a
        given.append(t)
    return tuple(given), originals


# ---------------------------------------------------------------- derivatives that have none themselves

cdef class ErrorNode(Node):
    cdef object message

    cdef object apply(self, object g, bint create):
        raise RuntimeError(self.message)


class Error(ErrorNode):
    __module__ = "builtins"
    __slots__ = ()


def differentiable_once(message, outputs, inputs=()):
    """The tensors among outputs without their history, and with one that raises when it is differentiated."""
    cdef ErrorNode node = Error()
    cdef TensorBase t
    cdef list result = []
    cdef int i, n = len(outputs)
    node.message = message
    node.set_edges([t if isinstance(t, TensorBase) else None for t in inputs])
    for i in range(n):
        if outputs[i] is None:
            result.append(None)
            continue
        t = shallow(<TensorBase?>outputs[i])
        node.describe(t, i, n)
        attach(t, node, i)
        result.append(t)
    node.n_outputs = n
    return result
