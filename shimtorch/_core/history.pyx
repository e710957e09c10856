"""What recording needs to know of an op, its derivative rules, and the node that runs them in backward."""
from cpython.object cimport PyObject

from .autograd cimport Node
from .dtype cimport CAT_FLOAT, CATEGORY, dtype_of
from .policy cimport ThreadState, policy, thread_state
from .saving cimport PackedTensor, SavedOutput, packed, packed_output, packing, unpack_check
from .tensor cimport REQUIRES_GRAD, VIEW_MULTI_OUTPUT, VOLATILE, TensorBase, make_size, seen_flags, shallow

from .node_names import old_name
from .saving import freed_error

cdef extern from "Python.h":
    object PyObject_Vectorcall(PyObject* f, PyObject** args, size_t nargsf, PyObject* kwnames)

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


def camel(str name):
    """``log_softmax`` -> ``LogSoftmax``, as node names are written."""
    return "".join([part[:1].upper() + part[1:] for part in name.split("_")])


cdef class Differentiable:
    """An op as recording sees it: its arguments, its derivative rules, and the name of its node."""

    def name_node(self, given):
        self.backward_name = given if isinstance(given, str) else camel(self.__name__) + "Backward0"
        if callable(given):
            self.choose_name = given
            self.name_args = tuple([self.params.index(name) for name in given.__code__.co_varnames])

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


cdef object strip_aux(object result, Py_ssize_t n):
    kept = result[:len(result) - n]
    return kept[0] if len(kept) == 1 else kept


cdef object record_aux(Differentiable op, list values, object result):
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


cdef object node_class(Differentiable op, list values):
    """The class of op's nodes, which bears the name that torch gives them."""
    if op.choose_name is not None:
        return named_class(op.choose_name(*[values[i] for i in op.name_args]))
    if op.node_class is None:
        op.node_class = named_class(op.backward_name)
    return op.node_class


def name_history(TensorBase result not None, str name):
    """Give the last node of what was computed by several ops the name under which torch has it; returns result."""
    if isinstance(result.node, OpNode):
        result.node.__class__ = named_class(name)
    return result


cdef OpNode record(Differentiable op, list values, object result, bint inplace):
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


cdef int set_op_edges(OpNode node, Differentiable op, list values) except -1:
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


cdef int save_value(OpNode node, Differentiable op, int index, object v, TensorBase written) except -1:
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
        return type(self).__name__ if policy.texts_of is None else old_name(type(self).__name__, policy.texts_of)

    cdef object apply(self, object g, bint create):
        cdef Rule rule
        cdef list result = [None] * len(self.edges)
        cdef int i
        if self.freed:
            raise freed_error()
        if self.n_outputs > 1 and self.op.materialize_grads:
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
