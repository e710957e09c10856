"""einsum on tensors: finds the plan, runs it, and is its node in the graph.

Gradients go back through the pairs that the plan contracted: each pair gives two contractions of the pair's gradient
with one of its factors, which the forward pass left in place. Where a gradient is to be differentiated again, it is
made of recorded contractions instead.
"""
from libc.string cimport memset

from .autograd cimport Node
from .contraction cimport Equation, Plan, find_equation, labelled
from .dtype cimport CAT_COMPLEX, CAT_FLOAT, CATEGORY, ITEMSIZE
from .iterate cimport as_code_tensor, contiguous_copy, copy_into
from .history cimport recording
from .policy cimport policy
from .saving cimport PackedTensor, packed, packing, unpack_check
from .tensor cimport (
    MAX_DIMS, ON_DEVICE, REQUIRES_GRAD, SPARSE, VOLATILE, TensorBase, empty, make_size, ptr, seen_flags, strided_alias,
)

from .node_names import contraction_name
from .saving import freed_error

cdef object recorded_view, recorded_gradients, on_sparse, read_arguments, conjugate, find_form


def set_parts(view, gradients, sparse, arguments, conj, form):
    """Name the functions for what is not done here.

    view: an equation that gives a view of its operand, by recorded ops. gradients: those that may be differentiated.
    sparse: operands of sparse layouts. arguments: the equation and the operands of a call. conj: complex conjugates.
    form: what torch has for an einsum, a key of node_names.CONTRACTIONS.
    """
    global recorded_view, recorded_gradients, on_sparse, read_arguments, conjugate, find_form
    recorded_view, recorded_gradients, on_sparse, read_arguments = view, gradients, sparse, arguments
    conjugate, find_form = conj, form


def einsum(*args, optimize=None, path=None):
    """Sums of products over labelled dimensions: ``einsum("ij,jk->ik", a, b)``, ``einsum(a, [0, 1], b, [1, 2])``.

    Labels that the output does not name are summed; dimensions of size 1 broadcast; ``...`` covers the dimensions
    that have no label. Without ``->`` the output has the labels that occur once, sorted, after the ellipsis.

    Beyond torch: ``path`` is the order of the pairs to contract, as ``numpy.einsum_path`` gives it; ``optimize``
    (True, False, "greedy", "optimal", "auto") how to look for one. Lists of labels may hold any number of labels.
    Operands may be sparse (COO, CSR ...). The result is sparse if all are, or if it has every label of a sparse one;
    gradients of sparse operands are sparse, on their entries.
    """
    cdef tuple operands
    cdef Py_ssize_t i, n = len(args)
    if optimize is None and path is None and n > 1 and type(args[0]) is str:
        for i in range(1, n):
            if not isinstance(args[i], TensorBase):
                break
        else:
            return contract(find_equation(args[0], None), args[1:], None)
    source, operands, options = read_arguments(args, optimize, path)
    return contract(find_equation(source, options), operands, None)


def contract_labelled(operands, rows, output, str form="pair", path=None):
    """Contract operands whose dimensions have rows of integer labels, as einsum does.

    form: what torch has for it, a key of node_names.CONTRACTIONS; path: the pairs to contract.
    """
    if type(rows) is not tuple or type(output) is not tuple:
        rows, output = tuple([tuple(row) for row in rows]), tuple(output)
    return contract(find_equation((rows, output), path), tuple(operands), form)


cdef object contract(Equation e, tuple operands, str form):
    """The contraction of operands; form is as in `contract_labelled`, None for einsum's own."""
    cdef int flags = 0
    cdef Plan plan
    cdef TensorBase t
    for t in operands:
        flags |= seen_flags(t)
    if flags & ~REQUIRES_GRAD:
        if flags & SPARSE:
            return on_sparse(e, operands)
        if flags & ON_DEVICE:
            from .._gpu.contraction import contract as on_device
            return on_device(e, operands)
    if recording(flags):
        return recorded(e, operands, form)
    plan = e.plan_for(operands, False)
    result = plan.run(operands, None)
    if flags & VOLATILE:
        (<TensorBase>result).flags = ((<TensorBase>result).flags | VOLATILE) & ~REQUIRES_GRAD
    return result


cdef object recorded(Equation e, tuple operands, str form):
    """The result with its node."""
    cdef Plan plan = e.plan_for(operands, True)
    cdef EinsumNode node
    cdef list slots, inputs = []
    cdef TensorBase t, result
    cdef Py_ssize_t i, n = len(operands), wanting = 0, which = 0
    if plan.is_view:
        return recorded_view(plan, operands[0])
    if plan.stages is not None:
        return plan.stages(operands)
    slots = [None] * plan.n_slots
    result = plan.run(operands, slots)
    if form is None:
        if plan.form is None:
            plan.form = find_form(plan.terms, plan.output, operands)
        form = plan.form
    node = EinsumNode.__new__(node_class(form))
    for i in range(n):
        t = <TensorBase>operands[i]
        if seen_flags(t) & REQUIRES_GRAD and CATEGORY[t.code] >= CAT_FLOAT:
            inputs.append(t)
            wanting, which = wanting + 1, i
        else:
            inputs.append(None)
    node.set_edges(inputs)
    node.plan = plan
    node.saved = [None] * n
    node.versions = [None] * n
    node.codes_of = tuple([(<TensorBase>operands[i]).code for i in range(n)])
    node.shapes_of = tuple([make_size((<TensorBase>operands[i]).ndim_, (<TensorBase>operands[i]).shape_)
                            for i in range(n)])
    for i in range(n):                 # an operand is a factor of the gradients of the others
        if wanting > 1 or i != which:
            node.versions[i] = operands[i]._version
            node.saved[i] = packed(<TensorBase>operands[i]) if packing() else operands[i]
    node.slots = slots
    keep_factors(plan, node)
    node.set_outputs(result)
    return result


cdef int keep_factors(Plan plan, EinsumNode node) except -1:
    """Let go of the slots that no gradient is made of."""
    cdef set needed = set()
    cdef list wants = [False] * plan.n_slots
    cdef int i
    for i in range(plan.n_operands):
        wants[i] = node.edges[i] is not None
    for a, b, out in plan.tree:
        wants[out] = wants[a] or (b >= 0 and wants[b])
        if b >= 0:
            if wants[a]:
                needed.add(b)
            if wants[b]:
                needed.add(a)
    for i in range(plan.n_slots):
        if i not in needed or (i < plan.n_operands and not plan.casts):
            node.slots[i] = None
    node.wants = tuple(wants)
    return 0


cdef class EinsumNode(Node):
    """The node of a contraction."""

    cdef readonly Plan plan
    cdef list saved                    # the operands, and their versions when they were saved
    cdef list versions
    cdef list slots                    # what the steps made, where gradients need it
    cdef tuple codes_of
    cdef tuple shapes_of
    cdef tuple wants                   # of every slot: whether its gradient is asked for

    cdef object apply(self, object g, bint create):
        cdef list operands
        if self.freed:
            raise freed_error()
        operands = [self.unpack(i) for i in range(len(self.saved))]
        if create or (<TensorBase>g).flags & ~REQUIRES_GRAD:
            return recorded_gradients(self.plan, g, operands, self.shapes_of, [e is not None for e in self.edges])
        return self.gradients(<TensorBase>g, operands)

    cdef object unpack(self, int i):
        cdef object v = self.saved[i]
        if v is None:
            return None
        if isinstance(v, PackedTensor):
            return (<PackedTensor>v).unpack(self)
        unpack_check(<TensorBase>v, self.versions[i], (<TensorBase>v).node, (<TensorBase>v).output_nr)
        return v

    def name(self):
        return contraction_name(type(self).form, policy.texts_of)

    cdef void release(self):
        self.freed = True
        self.saved = self.slots = None

    cdef list gradients(self, TensorBase g, list operands):
        """The gradients of the operands, by contractions that are not recorded."""
        cdef Plan plan = self.plan
        cdef list result = [None] * plan.n_operands, grads = [None] * plan.n_slots, pieces
        cdef tuple rows, way
        cdef Equation e
        cdef Py_ssize_t shape[MAX_DIMS]
        cdef Py_ssize_t strides[MAX_DIMS]
        cdef int i, n = 0
        cdef unsigned long long mask = 0
        if plan.is_zero:
            for i in range(plan.n_operands):
                if self.edges[i] is not None:
                    result[i] = zeros(self.codes_of[i], self.shapes_of[i])
            return result
        for i in range(g.ndim_):       # what sum() and expand() spread out is one number
            if g.shape_[i] != 1 and g.strides_[i] != 0:
                shape[n], strides[n] = g.shape_[i], g.strides_[i]
                mask |= <unsigned long long>1 << i
                n += 1
        grads[plan.last] = as_code_tensor(strided_alias(g, n, shape, strides, g.offset), plan.code)
        key = (self.wants, mask)
        found = plan.back.get(key)
        if found is None:
            found = plan.back[key] = way_back(plan, self.wants, mask, g.ndim_)
        pieces, rows = found
        for way in pieces:
            source, other, target = way[0], way[1], way[2]
            if other < 0:
                grads[target] = grads[source]
                continue
            e = <Equation>way[3]
            factor = self.factor(other, operands)
            pair = (grads[source], factor)
            grads[target] = e.plan_for(pair, False).run(pair, None)
        for i in range(plan.n_operands):
            if self.edges[i] is not None:
                result[i] = spread(<TensorBase>grads[i], <tuple>rows[i], plan.terms[i], self.shapes_of[i],
                                   self.codes_of[i])
                if isinstance(self.edges[i], TensorBase) and not (<TensorBase>result[i]).contiguous_:
                    result[i] = contiguous_copy(<TensorBase>result[i])       # a gradient for the user's eyes
        return result

    cdef TensorBase factor(self, int slot, list operands):
        """A slot as a tensor with one dimension for each label, conjugated."""
        cdef Plan plan = self.plan
        cdef TensorBase t = <TensorBase>(self.slots[slot] if self.slots[slot] is not None else operands[slot])
        cdef Py_ssize_t shape[MAX_DIMS]
        cdef Py_ssize_t strides[MAX_DIMS]
        cdef int n = 0
        cdef dict lies = <dict>plan.slot_strides[slot]
        for x in <tuple>plan.rows[slot]:
            shape[n], strides[n] = plan.sizes[x], lies[x]
            n += 1
        t = strided_alias(t, n, shape, strides, t.offset)
        return conjugate(t) if CATEGORY[t.code] == CAT_COMPLEX else t


cdef dict node_classes = {}


cdef object node_class(str form):
    """The class of the nodes of a form, which bears torch's name."""
    cls = node_classes.get(form)
    if cls is None:
        cls = node_classes[form] = type(contraction_name(form, None), (EinsumNode,),
                                        {"__slots__": (), "__module__": "builtins", "form": form})
    return cls


cdef TensorBase zeros(int code, object size):
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef TensorBase r
    cdef int i
    for i in range(len(size)):
        shape[i] = size[i]
    r = empty(code, len(size), shape)
    memset(ptr(r), 0, r.count * ITEMSIZE[code])
    return r


cdef tuple way_back(Plan plan, tuple wants, unsigned long long mask, int ndim):
    """The contractions that lead from the gradient of the result to those of the operands, and their labels."""
    cdef list ways = [], rows = [None] * plan.n_slots
    cdef tuple factor, mine, target
    rows[plan.last] = tuple([plan.output[i] for i in range(ndim) if mask >> i & 1])
    for a, b, out in reversed(plan.tree):
        mine = rows[out]
        if b < 0:
            if wants[a]:
                rows[a] = mine
                ways.append((out, -1, a))
            continue
        for this, other in ((a, b), (b, a)):
            if wants[this]:
                factor = plan.rows[other]
                target = tuple([x for x in plan.rows[this] if x in mine or x in factor])
                rows[this] = target
                ways.append((out, other, this, labelled((mine, factor), target)))
    return ways, tuple(rows)


cdef TensorBase spread(TensorBase g, tuple row, object term, object size, int code):
    """The gradient of an operand: g, whose dimensions are `row`, repeated along what was summed, on diagonals."""
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef Py_ssize_t strides[MAX_DIMS]
    cdef Py_ssize_t places[MAX_DIMS]
    cdef TensorBase r
    cdef int i, j, n = len(term)
    cdef bint whole = True
    g = as_code_tensor(g, code)
    for i in range(n):
        shape[i], strides[i] = size[i], 0
        for j in range(i):
            if term[j] == term[i] and shape[i] != 1:
                whole = False
    if whole:
        for i in range(n):
            if shape[i] != 1 and term[i] in row:
                strides[i] = g.strides_[<int>row.index(term[i])]
        return strided_alias(g, n, shape, strides, g.offset)
    r = zeros(code, size)
    labels = []
    j = 0
    for i in range(n):                 # r seen as its diagonal, and g spread to the same dimensions
        if shape[i] == 1:
            continue
        if term[i] in labels:
            places[<int>labels.index(term[i])] += r.strides_[i]
        else:
            labels.append(term[i])
            shape[j], places[j] = shape[i], r.strides_[i]
            strides[j] = g.strides_[<int>row.index(term[i])] if term[i] in row else 0
            j += 1
    copy_into(strided_alias(r, j, shape, places, r.offset), strided_alias(g, j, shape, strides, g.offset))
    return r
