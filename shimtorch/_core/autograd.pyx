"""The graph of what was computed, and the engine that walks it backwards. It knows no op."""
from cpython.object cimport PyObject
from libc.stdlib cimport free, malloc, realloc

import weakref

from .dtype cimport CATEGORY, CAT_COMPLEX, CAT_FLOAT, dtype_of
from .policy cimport ThreadState, policy, thread_state
from .tensor cimport (
    INLINE_DIMS, ON_DEVICE, REQUIRES_GRAD, SPARSE, VIEW_CUSTOM, VIEW_DEFAULT, VIEW_MULTI_OUTPUT, VIEW_NO_GRAD,
    VOLATILE, TensorBase, describe_shape, empty, make_size, same_shape, seen_flags, shallow, write_scalar,
)

cdef long long last_seq = 0
cdef object add, sum_to_size, copy_dense, as_strided, as_strided_scatter, ones_like, zeros_like, add_, cast


def bind_ops(ops):
    """Give the engine the few ops that it adds and reshapes gradients with."""
    global add, sum_to_size, copy_dense, as_strided, as_strided_scatter, ones_like, zeros_like, add_, cast
    add, add_, cast = ops["add"], ops["add_"], ops["to"]
    sum_to_size, copy_dense = ops["sum_to_size"], ops["clone"]
    as_strided, as_strided_scatter = ops["as_strided"], ops["as_strided_scatter"]
    ones_like, zeros_like = ops["ones_like"], ops["zeros_like"]


cdef class Node:
    """A step of the graph: it turns the gradient of its outputs into those of its inputs."""

    def __cinit__(self):
        global last_seq
        last_seq += 1
        self.seq = last_seq
        self.nrs = self.nrs_inline
        self.n_outputs = 1

    def __dealloc__(self):
        if self.nrs != self.nrs_inline:
            free(self.nrs)

    cdef int set_edges(self, list tensors) except -1:
        """Point at what made the given tensors (None: no gradient goes there)."""
        cdef Py_ssize_t i, n = len(tensors)
        cdef TensorBase t
        cdef object node
        cdef list edges = [None] * n
        if n > 4:
            self.nrs = <int*>malloc(n * sizeof(int))
            if self.nrs == NULL:
                self.nrs = self.nrs_inline
                raise MemoryError
        for i in range(n):
            self.nrs[i] = 0
            if tensors[i] is None:
                continue
            t = <TensorBase>tensors[i]
            node = node_of(t)
            if node is not None:
                edges[i] = node
                self.nrs[i] = t.output_nr
            elif t.flags & REQUIRES_GRAD:
                edges[i] = t
        self.edges = tuple(edges)
        return 0

    cdef int describe(self, TensorBase t, int nr, int n) except -1:
        """Note shape and dtype of output nr of n."""
        cdef int i
        self.n_outputs = n
        if n == 1 and t.ndim_ <= INLINE_DIMS:
            self.ndim0 = t.ndim_
            self.code0 = t.code
            for i in range(t.ndim_):
                self.shape0[i] = t.shape_[i]
            return 0
        if self.shapes is None:
            self.shapes = [None] * n
            self.codes = [0] * n
        self.shapes[nr] = make_size(t.ndim_, t.shape_)
        self.codes[nr] = t.code
        return 0

    cdef int set_outputs(self, object result) except -1:
        """Make this node the history of an op's result: a tensor, or a sequence with tensors in it."""
        cdef int nr, n
        cdef TensorBase t
        if isinstance(result, TensorBase):
            self.describe(<TensorBase>result, 0, 1)
            return attach(<TensorBase>result, self, 0)
        n = len(result)
        for nr in range(n):
            if isinstance(result[nr], TensorBase):
                t = <TensorBase>result[nr]
                self.describe(t, nr, n)
                if CATEGORY[t.code] >= CAT_FLOAT:
                    attach(t, self, nr)
        self.n_outputs = n
        return 0

    cdef object apply(self, object g, bint create):
        raise NotImplementedError(type(self).__name__)

    cdef void release(self):
        """Let go of what was saved for backward."""
        self.freed = True

    def name(self):
        """The node's name, such as ``AddBackward0``."""
        return type(self).__name__

    def __repr__(self):
        return f"<{self.name()} object at {<size_t><void*>self:#x}>"

    def __call__(self, *grads):
        """Apply the node's derivative to gradients of its outputs."""
        result = self.apply(grads[0] if self.n_outputs == 1 else list(grads), thread_state().grad_enabled)
        return result[0] if len(result) == 1 else tuple(result)

    @property
    def next_functions(self):
        """The nodes that this one sends gradients to, each with the number of its output."""
        cdef int i
        if self.edges is None:
            return ()
        return tuple([(accumulator(e) if isinstance(e, TensorBase) else e, self.nrs[i])
                      for i, e in enumerate(self.edges)])

    @property
    def metadata(self):
        """A dict for the user's own notes."""
        if self.notes is None:
            self.notes = {}
        return self.notes

    def _sequence_nr(self):
        return self.seq

    def register_hook(self, hook):
        """Call ``hook(grad_inputs, grad_outputs)`` after the node ran; a returned tuple replaces grad_inputs."""
        from ..utils.hooks import RemovableHandle
        if self.post_hooks is None:
            self.post_hooks = {}
        handle = RemovableHandle(self.post_hooks)
        self.post_hooks[handle.id] = hook
        return handle

    def register_prehook(self, hook):
        """Call ``hook(grad_outputs)`` before the node runs; a returned tuple replaces grad_outputs."""
        from ..utils.hooks import RemovableHandle
        if self.pre_hooks is None:
            self.pre_hooks = {}
        handle = RemovableHandle(self.pre_hooks)
        self.pre_hooks[handle.id] = hook
        return handle


class AccumulateGrad(Node):
    """Where the gradient of a leaf ends: its ``.grad``."""

    def __init__(self, variable):
        self.variable = variable

    def __call__(self, grad):
        accumulate(self.variable, grad, False)


cdef object accumulator(TensorBase leaf):
    """The AccumulateGrad node of a leaf; one object as long as anyone holds it."""
    ref = None if leaf.extras is None else leaf.extras.get("accumulator")
    node = None if ref is None else ref()
    if node is None:
        node = AccumulateGrad(leaf)
        extras_of(leaf)["accumulator"] = weakref.ref(node)
    return node


cdef dict extras_of(TensorBase t):
    if t.extras is None:
        t.extras = {}
    return t.extras


# ---------------------------------------------------------------- history of tensors

cdef int attach(TensorBase t, Node node, int nr) except -1:
    t.node = node
    t.output_nr = nr
    t.flags |= REQUIRES_GRAD
    if t.base is not None:
        t.view_version = t.storage.version
    return 0


cdef class AsStridedNode(Node):
    """History of a view whose base was written to in place: the base, seen through the view's strides."""
    cdef tuple geometry                # shape and strides of the base, then size, stride, offset of the view

    cdef object apply(self, object g, bint create):
        base_shape, size, stride, offset = self.geometry
        zeros = zeros_like(g).new_zeros(base_shape)
        return (as_strided_scatter(zeros, g, size, stride, offset),)

    def name(self):
        return "AsStridedBackward0"


cdef tuple view_geometry(TensorBase view):
    """Size, stride and offset of a view relative to its base, as a contiguous tensor of the base's shape has them."""
    return view.size(), view.stride(), (view.offset - view.base.offset) // view.element_size()


cdef object node_of(TensorBase t):
    """The node that made t, after an in-place write to the base of a view was taken into account."""
    cdef AsStridedNode node
    cdef TensorBase base = t.base
    if (base is not None and t.view_kind != VIEW_NO_GRAD and base.flags & REQUIRES_GRAD
            and t.view_version != t.storage.version and CATEGORY[t.code] >= CAT_FLOAT):
        if not base.contiguous_:
            raise NotImplementedError("gradient through a view of a non-contiguous tensor after an in-place operation "
                                      "is not implemented: write to a contiguous() copy")
        node = AsStridedNode.__new__(AsStridedNode)
        node.set_edges([base])
        node.geometry = (base.size(),) + view_geometry(t)
        node.describe(t, 0, 1)
        attach(t, node, 0)
    return t.node


cdef int check_inplace(TensorBase t, bint recording) except -1:
    """Refuse the in-place writes that autograd cannot follow, with torch's messages."""
    cdef int i
    if not t.storage.writable:
        raise RuntimeError("cannot write to a tensor on read-only memory; clone() it first")
    for i in range(t.ndim_):
        if t.strides_[i] == 0 and t.shape_[i] > 1:
            raise RuntimeError("unsupported operation: more than one element of the written-to tensor refers to a "
                               "single memory location. Please clone() the tensor before performing the operation.")
    if not thread_state().grad_enabled:
        return 0
    if t.base is None:
        if t.node is None and t.flags & REQUIRES_GRAD:
            raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
        return 0
    if recording or t.base.flags & REQUIRES_GRAD:
        if t.view_kind == VIEW_NO_GRAD and t.base.flags & REQUIRES_GRAD:
            raise RuntimeError(
                "A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that "
                "this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both "
                "the view and the inplace either both inside the no_grad block (if you don't want the inplace to be "
                "tracked) or both outside (if you want the inplace to be tracked).")
        if t.view_kind == VIEW_MULTI_OUTPUT:
            raise RuntimeError(
                f"Output {t.output_nr} of {'a function' if t.node is None else t.node.name()} is a view and is being "
                "modified inplace. This view is the output of a function that returns multiple views. Such functions "
                "do not allow the output views to be modified inplace. You should replace the inplace operation by an "
                "out-of-place one.")
        if t.base.node is None and t.base.flags & REQUIRES_GRAD:
            raise RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation.")
    return 0


cdef class CopySlicesNode(Node):
    """History of a base after a write to one of its views: the gradient in the view goes through the write's node."""
    cdef Node inner
    cdef tuple geometry

    cdef object apply(self, object g, bint create):
        size, stride, offset = self.geometry
        g = g.contiguous()
        inner = self.inner.apply(as_strided(g, size, stride, offset), create)
        piece = inner[0]
        if piece is None:
            piece = zeros_like(g).new_zeros(size)
        piece = sum_to_size(cast(piece, g.dtype), size)
        return (as_strided_scatter(g, piece, size, stride, offset),) + tuple(inner[1:])

    cdef void release(self):
        self.inner.release()
        self.freed = True

    def name(self):
        return "CopySlices"


cdef int rebase(TensorBase t, Node node) except -1:
    """Make node (its edge 0: t before the write) the history of t, which was written to in place."""
    cdef CopySlicesNode copy
    cdef TensorBase base = t.base
    cdef tuple edges
    cdef int i
    if base is None:
        node.describe(t, 0, 1)
        return attach(t, node, 0)
    if not base.contiguous_:
        raise NotImplementedError("in-place operation on a view of a non-contiguous tensor that requires grad is not "
                                  "implemented: write to a contiguous() copy")
    copy = CopySlicesNode.__new__(CopySlicesNode)
    copy.inner = node
    copy.geometry = view_geometry(t)
    node.describe(t, 0, 1)
    copy.set_edges([base] + [None] * (len(node.edges) - 1))
    for i in range(1, len(node.edges)):
        copy.nrs[i] = node.nrs[i]
    # the first edge of the write was the view; through the base it is reached all the same
    edges = (copy.edges[0],) + node.edges[1:]
    copy.edges = edges
    if edges[0] is None and node.edges[0] is not None:
        node.edges = (None,) + node.edges[1:]
    elif edges[0] is not None and node.edges[0] is None:
        node.edges = (edges[0],) + node.edges[1:]
    copy.describe(base, 0, 1)
    attach(base, copy, 0)
    t.view_version = t.storage.version - 1       # its own history is made anew when asked for
    return 0


cdef int unpack_check(TensorBase t, object version, Node node) except -1:
    """Refuse a saved tensor that was written to since."""
    cdef object now = t._version
    if now != version:
        made_by = "" if t.node is None else f", which is output {t.output_nr} of {t.node.name()},"
        raise RuntimeError(
            "one of the variables needed for gradient computation has been modified by an inplace operation: "
            f"[{t.type()} {describe_shape(t)}]{made_by} is at version {now}; expected version {version} instead. "
            "Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
            "torch.autograd.set_detect_anomaly(True).")
    return 0


# ---------------------------------------------------------------- engine

cdef object fit(TensorBase g, int ndim, const Py_ssize_t* shape, int code, object where):
    """The gradient g in the shape and dtype of what it belongs to: broadcasting is undone by sums."""
    cdef int i
    cdef bint same = g.ndim_ == ndim
    if same:
        for i in range(ndim):
            if g.shape_[i] != shape[i]:
                same = False
                break
    if not same:
        if not can_sum_to(g, ndim, shape):
            raise RuntimeError(f"Function {where.name() if where is not None else 'AccumulateGrad'} returned an "
                               f"invalid gradient - got {describe_shape(g)} but expected shape compatible with "
                               f"{list(make_size(ndim, shape))}")
        g = sum_to_size(g, make_size(ndim, shape))
    if g.code != code:
        if CATEGORY[g.code] == CAT_COMPLEX and CATEGORY[code] != CAT_COMPLEX:
            g = g.real
        if g.code != code:
            g = cast(g, dtype_of(code))
    return g


cdef bint can_sum_to(TensorBase g, int ndim, const Py_ssize_t* shape) noexcept:
    cdef int i, lead = g.ndim_ - ndim
    if lead < 0:
        return False
    for i in range(ndim):
        if shape[i] != 1 and g.shape_[lead + i] != shape[i]:
            return False
    return True


cdef class Run:
    """One backward pass: the nodes still to run, by age, and the gradients that arrived for them."""
    cdef PyObject** heap               # nodes that `buffers` holds, youngest first
    cdef Py_ssize_t size, room
    cdef dict buffers                  # Node -> gradient, or list of gradients per output
    cdef dict leaves                   # leaf tensor -> gradient
    cdef bint create

    def __cinit__(self):
        self.room = 32
        self.heap = <PyObject**>malloc(self.room * sizeof(PyObject*))
        if self.heap == NULL:
            raise MemoryError
        self.buffers = {}
        self.leaves = {}

    def __dealloc__(self):
        free(self.heap)

    cdef int push(self, Node node) except -1:
        cdef Py_ssize_t i = self.size, parent
        cdef PyObject** grown
        if i == self.room:
            grown = <PyObject**>realloc(self.heap, 2 * self.room * sizeof(PyObject*))
            if grown == NULL:
                raise MemoryError
            self.heap = grown
            self.room *= 2
        self.size += 1
        while i > 0:
            parent = (i - 1) >> 1
            if (<Node>self.heap[parent]).seq >= node.seq:
                break
            self.heap[i] = self.heap[parent]
            i = parent
        self.heap[i] = <PyObject*>node
        return 0

    cdef Node pop(self):
        cdef Node top = <Node>self.heap[0], last
        cdef Py_ssize_t i = 0, child
        self.size -= 1
        if self.size:
            last = <Node>self.heap[self.size]
            while True:
                child = 2 * i + 1
                if child >= self.size:
                    break
                if child + 1 < self.size and (<Node>self.heap[child + 1]).seq > (<Node>self.heap[child]).seq:
                    child += 1
                if (<Node>self.heap[child]).seq <= last.seq:
                    break
                self.heap[i] = self.heap[child]
                i = child
            self.heap[i] = <PyObject*>last
        return top

    cdef int deliver(self, object target, int nr, object g, object source) except -1:
        """Add g to what has arrived at a node's output or at a leaf."""
        cdef Node node
        cdef TensorBase leaf
        cdef list parts
        cdef object old
        if isinstance(target, TensorBase):
            leaf = <TensorBase>target
            g = fit(<TensorBase>g, leaf.ndim_, leaf.shape_, leaf.code, source)
            old = self.leaves.get(leaf)
            self.leaves[leaf] = g if old is None else add(old, g)
            return 0
        node = <Node>target
        if node.n_outputs == 1 and node.shapes is None:
            g = fit(<TensorBase>g, node.ndim0, node.shape0, node.code0, source)
            old = self.buffers.get(node)
            if old is None:
                self.buffers[node] = g
                self.push(node)
            else:
                self.buffers[node] = add(old, g)
            return 0
        g = fit_to(<TensorBase>g, node.shapes[nr], node.codes[nr], source)
        if node.n_outputs == 1:
            old = self.buffers.get(node)
            if old is None:
                self.push(node)
            self.buffers[node] = g if old is None else add(old, g)
            return 0
        parts = self.buffers.get(node)
        if parts is None:
            self.buffers[node] = parts = [None] * node.n_outputs
            self.push(node)
        parts[nr] = g if parts[nr] is None else add(parts[nr], g)
        return 0


cdef object fit_to(TensorBase g, object size, int code, object where):
    cdef Py_ssize_t shape[64]
    cdef int i
    for i in range(len(size)):
        shape[i] = size[i]
    return fit(g, len(size), shape, code, where)


cdef dict needed_nodes(list roots, set targets):
    """Which nodes lie between the roots and the targets (nodes or leaves); every visited node -> bool."""
    cdef dict needed = {}
    cdef list stack = [r for r in roots if isinstance(r, Node)]
    cdef Node node
    cdef object e
    cdef bint found, open_
    while stack:
        node = stack[len(stack) - 1]
        if node in needed and needed[node] is not None:
            stack.pop()
            continue
        found = node in targets
        open_ = False
        if node.edges is not None:
            for e in node.edges:
                if e is None:
                    continue
                if isinstance(e, TensorBase):
                    found = found or e in targets
                elif needed.get(e) is None and (e not in needed):
                    stack.append(e)
                    open_ = True
                elif needed.get(e):
                    found = True
        if open_ and node not in needed:
            needed[node] = None        # visited, waiting for its children
            continue
        needed[node] = found
        stack.pop()
    return needed


cdef object user_call(object f, tuple args):
    """Call a user's function from inside the engine as if from outside any op."""
    cdef ThreadState* st = thread_state()
    cdef int depth = st.depth
    st.depth = 0
    try:
        if policy.wrap_result is not None:
            args = policy.wrap_result.as_variables(args)
        return f(*args)
    finally:
        st.depth = depth


cdef object run_hooks(object hooks, object g):
    for hook in list(hooks.values()):
        result = user_call(hook, (g,))
        if result is not None:
            if not isinstance(result, TensorBase):
                raise TypeError(f"expected Variable, but hook returned '{type(result).__name__}'")
            g = result
    return g


cdef object run_node_hooks(Node node, object g):
    """Hooks on the node's outputs, and gradients that its outputs keep."""
    cdef int nr
    cdef object ref
    cdef TensorBase t
    if node.tensor_hooks is not None:
        for nr, hooks in list(node.tensor_hooks.items()):
            if node.n_outputs == 1:
                g = run_hooks(hooks, g)
            elif g[nr] is not None:
                g[nr] = run_hooks(hooks, g[nr])
    if node.pre_hooks:
        for hook in list(node.pre_hooks.values()):
            result = user_call(hook, (tuple(g) if node.n_outputs > 1 else (g,),))
            if result is not None:
                result = result if isinstance(result, (tuple, list)) else (result,)
                g = list(result) if node.n_outputs > 1 else result[0]
    if node.retained is not None:
        for nr, ref in node.retained.items():
            t = ref()
            part = g if node.n_outputs == 1 else g[nr]
            if t is not None and part is not None:
                t.grad_ = part if t.grad_ is None else add(t.grad_, part)
    return g


cdef int accumulate(TensorBase leaf, object grad, bint create) except -1:
    """Add to a leaf's ``.grad``."""
    cdef TensorBase g = <TensorBase>grad, old = <TensorBase>leaf.grad_ if leaf.grad_ is not None else None
    if old is None:
        if create:
            leaf.grad_ = g if not g.flags & SPARSE else copy_dense(g)
        elif g.flags & SPARSE:
            leaf.grad_ = shallow(g)
        elif g.contiguous_ and g.storage.owner is None and refcount(g.storage) == 1 and g.base is None:
            leaf.grad_ = shallow(g)    # nobody else sees this memory
        else:
            leaf.grad_ = copy_dense(shallow(g))
    elif create or (old.flags & SPARSE) or (g.flags & SPARSE):
        leaf.grad_ = add(old, g)
    else:
        add_(old, g)
    if leaf.extras is not None and "post_hooks" in leaf.extras:
        for hook in list(leaf.extras["post_hooks"].values()):
            user_call(hook, (leaf,))
    return 0


cdef inline Py_ssize_t refcount(object o):
    return (<PyObject*>o).ob_refcnt


cdef list execute(list roots, list grads, bint keep, bint create, list inputs, bint store):
    """Walk the graph from roots. With inputs: only towards them; their gradients are returned (or None)."""
    cdef Run run = Run.__new__(Run)
    cdef ThreadState* st = thread_state()
    cdef int grad_enabled = st.grad_enabled, depth = st.depth, no_record = st.no_record, i
    cdef Node node
    cdef TensorBase t
    cdef object g, result, e, target
    cdef dict needed = None, captured = None, wanted = None
    cdef list keys = None
    run.create = create
    st.grad_enabled = create
    st.no_record = 0
    st.depth = depth + 1
    try:
        if inputs is not None:
            keys, wanted, captured = [], {}, {}
            for t in inputs:
                e = node_of(t)
                key = (t if e is None else e, 0 if e is None else t.output_nr)
                keys.append(key)
                wanted.setdefault(key[0], []).append(key[1])
            starts = []
            for t in roots:
                e = node_of(t)
                starts.append(t if e is None else e)
            needed = needed_nodes(starts, set(wanted))
        for i in range(len(roots)):
            t = roots[i]
            e = node_of(t)
            target = t if e is None else e
            if needed is None or isinstance(target, TensorBase) or needed.get(target):
                run.deliver(target, t.output_nr, grads[i], None)
        while run.size:
            node = run.pop()
            g = run.buffers.pop(node)
            if node.tensor_hooks is not None or node.pre_hooks is not None or node.retained is not None:
                g = run_node_hooks(node, g)
            if wanted is not None and node in wanted:
                for nr in wanted[node]:
                    captured[(node, nr)] = g if node.n_outputs == 1 else g[nr]
                if not leads_on(node, needed, wanted):
                    continue
            result = node.apply(g, create)
            if node.post_hooks:
                result = run_post_hooks(node, result, g)
            if not keep:
                node.release()
            for i in range(len(node.edges)):
                e = node.edges[i]
                if e is None or result[i] is None:
                    continue
                if needed is not None and (not needed.get(e) if isinstance(e, Node) else e not in wanted):
                    continue
                run.deliver(e, node.nrs[i], result[i], node)
        for leaf, g in run.leaves.items():
            t = <TensorBase>leaf
            if wanted is not None and t not in wanted:
                continue
            if t.extras is not None and "hooks" in t.extras:
                g = run_hooks(t.extras["hooks"], g)
            if captured is not None and not store:
                captured[(t, 0)] = g
            else:
                accumulate(t, g, create)
        if inputs is not None and store:
            for i in range(len(inputs)):
                t = inputs[i]
                if isinstance(keys[i][0], Node) and captured.get(keys[i]) is not None:
                    accumulate(t, captured[keys[i]], create)
    finally:
        st.grad_enabled = grad_enabled
        st.depth = depth
        st.no_record = no_record
    if inputs is None or store:
        return None
    return [captured.get(k) for k in keys]


cdef bint leads_on(Node node, dict needed, dict wanted):
    """Whether a wanted node has another wanted one behind it."""
    cdef object e
    for e in node.edges:
        if e is not None and (e in wanted if isinstance(e, TensorBase) else needed.get(e)):
            return True
    return False


cdef object run_post_hooks(Node node, object result, object g):
    grads_out = tuple(g) if node.n_outputs > 1 else (g,)
    for hook in list(node.post_hooks.values()):
        changed = user_call(hook, (tuple(result), grads_out))
        if changed is not None:
            result = changed if isinstance(changed, (tuple, list)) else (changed,)
    return result


cdef list as_list(object x):
    if isinstance(x, TensorBase) or x is None:
        return [x]
    return list(x)


cdef list root_grads(list roots, list grads, str what):
    """The gradients that a backward pass starts from; ones where a scalar has none."""
    cdef TensorBase t, g
    cdef list result = []
    cdef Py_ssize_t i
    for i in range(len(roots)):
        if not isinstance(roots[i], TensorBase):
            raise TypeError(f"{what}: expected tensors, got {type(roots[i]).__name__}")
        t = <TensorBase>roots[i]
        if not t.requires_grad:
            raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")
        if grads[i] is None:
            if t.count != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            if CATEGORY[t.code] == CAT_COMPLEX:
                raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got "
                                   f"{dtype_of(t.code)!r}")
            g = empty(t.code, t.ndim_, t.shape_)
            write_scalar(g.storage.data, t.code, 1)
            result.append(g)
            continue
        if not isinstance(grads[i], TensorBase):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(grads[i]).__name__}")
        g = <TensorBase>grads[i]
        if not same_shape(g, t):
            raise RuntimeError(f"Mismatch in shape: grad_output[{i}] has a shape of {make_size(g.ndim_, g.shape_)} and "
                               f"output[{i}] has a shape of {make_size(t.ndim_, t.shape_)}.")
        if (CATEGORY[g.code] == CAT_COMPLEX) != (CATEGORY[t.code] == CAT_COMPLEX):
            raise RuntimeError(f"For complex Tensors, both grad_output and output are required to have the same dtype. "
                               f"Mismatch in dtype: grad_output[{i}] has a dtype of {dtype_of(g.code)!r} and "
                               f"output[{i}] has a dtype of {dtype_of(t.code)!r}.")
        result.append(g)
    return result


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None):
    """Add the gradients of tensors (weighted by grad_tensors) to the ``.grad`` of the leaves that they came from.

    ``retain_graph`` (default: create_graph) keeps what was saved so that backward can run again; ``create_graph``
    records the pass itself, for higher derivatives; ``inputs`` limits it to those tensors.
    """
    cdef list roots = as_list(tensors), grads
    if grad_variables is not None:
        import warnings
        warnings.warn("'grad_variables' is deprecated. Use 'grad_tensors' instead.", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError("'grad_tensors' and 'grad_variables' (deprecated) arguments both passed to backward(). "
                               "Please only use 'grad_tensors'.")
        grad_tensors = grad_variables
    if inputs is not None:
        inputs = as_list(inputs)
        if not inputs:
            raise RuntimeError("'inputs' argument to backward() cannot be empty.")
    grads = [None] * len(roots) if grad_tensors is None else as_list(grad_tensors)
    if len(grads) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(grads)} gradients")
    grads = root_grads(roots, grads, "backward")
    execute(roots, grads, create_graph if retain_graph is None else retain_graph, create_graph, inputs, True)


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True,
         allow_unused=None, is_grads_batched=False, materialize_grads=False):
    """The gradients of outputs (weighted by grad_outputs) with respect to inputs, as a tuple; ``.grad`` is untouched.

    ``allow_unused`` permits inputs that the outputs do not depend on (None, or zeros with ``materialize_grads``).
    """
    cdef list roots = as_list(outputs), targets = as_list(inputs), grads, result
    cdef Py_ssize_t i
    if is_grads_batched:
        raise NotImplementedError("autograd.grad(is_grads_batched=True) is not implemented")
    if not only_inputs:
        raise NotImplementedError("autograd.grad(only_inputs=False) is not implemented")
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
                         "allow_unused=False.")
    grads = [None] * len(roots) if grad_outputs is None else as_list(grad_outputs)
    if len(grads) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(grads)} gradients")
    grads = root_grads(roots, grads, "grad")
    for t in targets:
        if not isinstance(t, TensorBase):
            raise TypeError(f"grad: inputs must be tensors, got {type(t).__name__}")
        if not t.requires_grad:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
    result = execute(roots, grads, create_graph if retain_graph is None else retain_graph, create_graph, targets, False)
    for i in range(len(result)):
        if result[i] is None:
            if materialize_grads:
                result[i] = zeros_like(targets[i].detach())
            elif not allow_unused:
                raise RuntimeError("One of the differentiated Tensors appears to not have been used in the graph. Set "
                                   "allow_unused=True if this is the desired behavior.")
        elif not create_graph and (<TensorBase>result[i]).flags & REQUIRES_GRAD:
            result[i] = shallow(result[i])
    if policy.wrap_result is not None:
        return policy.wrap_result.as_variables(tuple(result))
    return tuple(result)


# ---------------------------------------------------------------- user-defined functions

cdef class FunctionNode(Node):
    """The node of a user's Function: the ``ctx`` that forward and backward are given."""
    cdef public object run_backward    # called with the gradients of the outputs, returns those of the inputs
    cdef object saved
    cdef list saved_versions
    cdef public object dirty
    cdef public object non_differentiable
    cdef public bint materialize
    cdef public tuple needs_input_grad
    cdef public list output_info       # (size, dtype) per output, to make zeros of

    def __cinit__(self, *args, **kwargs):
        self.materialize = True

    def save_for_backward(self, *tensors):
        """Keep tensors for backward, where ``saved_tensors`` gives them back."""
        for t in tensors:
            if t is not None and not isinstance(t, TensorBase):
                raise TypeError(f"save_for_backward can only save variables, but argument is of type "
                                f"{type(t).__name__}")
        self.saved = tensors

    def save_for_forward(self, *tensors):
        """Accepted for compatibility; forward-mode differentiation does not exist here."""

    def mark_dirty(self, *tensors):
        """Say which inputs forward changed in place."""
        self.dirty = tensors

    def mark_non_differentiable(self, *tensors):
        """Say which outputs have no gradient."""
        self.non_differentiable = tensors

    def set_materialize_grads(self, value):
        """Whether missing gradients reach backward as zeros (the default) or as None."""
        self.materialize = value

    @property
    def to_save(self):
        return self.saved

    @property
    def saved_tensors(self):
        """What save_for_backward kept; checked against in-place changes."""
        cdef list result = []
        cdef TensorBase t
        if self.freed:
            raise freed_error()
        if self.saved is None:
            return ()
        for i, saved in enumerate(self.saved):
            if isinstance(saved, SavedOutput):
                t = (<SavedOutput>saved).unpack(self)
            else:
                t = saved
            if t is not None and self.saved_versions is not None:
                unpack_check(t, self.saved_versions[i], self)
            result.append(t)
        if policy.wrap_result is not None:
            return policy.wrap_result.as_variables(tuple(result))
        return tuple(result)

    @property
    def saved_variables(self):
        return self.saved_tensors

    def finish(self, list tensors, result, tuple outputs):
        """Tie the node into the graph: edges to the input tensors, outputs' history, versions of what was saved."""
        cdef int nr, n = len(outputs)
        cdef TensorBase t
        cdef list saved = []
        cdef list versions = []
        self.set_edges(tensors)
        for nr in range(n):
            if isinstance(outputs[nr], TensorBase):
                self.describe(outputs[nr], nr, n)
        self.n_outputs = n
        if self.saved is not None:
            for t in self.saved:
                if t is None:
                    saved.append(None)
                    versions.append(0)
                    continue
                for nr in range(n):
                    if t is outputs[nr]:
                        saved.append(SavedOutput(t, nr))
                        break
                else:
                    saved.append(t)
                versions.append(t._version)
            self.saved, self.saved_versions = saved, versions

    cdef object apply(self, object g, bint create):
        cdef list grads = list(g) if self.n_outputs > 1 else [g]
        if self.materialize and self.output_info is not None:
            for i in range(len(grads)):
                if grads[i] is None and self.output_info[i] is not None:
                    size, dtype = self.output_info[i]
                    grads[i] = ones_like(g if self.n_outputs == 1 else next(x for x in grads if x is not None)
                                         ).new_zeros(size, dtype=dtype)
        result = user_call(self.run_backward, (self,) + tuple(grads))
        if not isinstance(result, (tuple, list)):
            result = (result,)
        return self.check_result(tuple(result))

    cdef tuple check_result(self, tuple result):
        cdef Py_ssize_t n = len(self.needs_input_grad), k = len(result)
        if k > n:
            if any(r is not None for r in result[n:]):
                raise RuntimeError(f"function {self.name()} returned an incorrect number of gradients (expected {n}, "
                                   f"got {k})")
            result = result[:n]
        elif k < n:
            raise RuntimeError(f"function {self.name()} returned an incorrect number of gradients (expected {n}, got "
                               f"{k})")
        for i, r in enumerate(result):
            if r is not None and not isinstance(r, TensorBase):
                raise TypeError(f"function {self.name()}: expected a Tensor or None as gradient {i}, got "
                                f"{type(r).__name__}")
        return result

    cdef void release(self):
        self.freed = True
        self.saved = None


cdef class SavedOutput:
    """An output that its own node saved: kept without history, so that tensor and node form no cycle."""

    def __init__(self, TensorBase t not None, int nr):
        self.tensor = shallow(t)
        self.nr = nr

    cdef TensorBase unpack(self, Node node):
        cdef TensorBase t
        if not thread_state().grad_enabled:
            return self.tensor
        t = shallow(self.tensor)
        t.node = node
        t.output_nr = self.nr
        t.flags |= REQUIRES_GRAD
        return t


def freed_error():
    """The error of a second backward through a graph whose saved tensors are gone."""
    return RuntimeError(
        "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
        "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
        "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access "
        "saved tensors after calling backward.")


def attach_output(TensorBase t not None, Node node not None, int nr):
    """Make node the history of t (its output nr)."""
    attach(t, node, nr)


def detach_output(TensorBase t not None):
    """Take a tensor's history away."""
    t.node = None
    t.output_nr = 0
    t.flags &= ~REQUIRES_GRAD


def inplace_output(TensorBase t not None, Node node not None):
    """Make node the history of t, which node's function wrote to in place."""
    rebase(t, node)


def bump_version(TensorBase t not None):
    """Count an in-place write."""
    t.storage.version += 1


def is_recording(*tensors):
    """Whether an op on these tensors is recorded now: grad mode is on and one of them requires grad."""
    cdef ThreadState* st = thread_state()
    if not st.grad_enabled or st.no_record:
        return False
    for t in tensors:
        if isinstance(t, TensorBase) and t.requires_grad and not (<TensorBase>t).flags & VOLATILE:
            return True
    return False


# ---------------------------------------------------------------- grad mode

def is_grad_enabled():
    """Whether operations on tensors that require grad are recorded."""
    return bool(thread_state().grad_enabled)


def swap_grad_enabled(bint enabled):
    """Set the grad mode; the mode before."""
    cdef ThreadState* st = thread_state()
    before = bool(st.grad_enabled)
    st.grad_enabled = enabled
    return before


cdef class GradMode:
    """A context that sets the grad mode, and a decorator that runs a function in it."""
    cdef bint enabled
    cdef int before[32]                # one context object can be entered again
    cdef int level

    def __enter__(self):
        cdef ThreadState* st = thread_state()
        if self.level == 32:
            raise RuntimeError(f"{type(self).__name__}: entered too often")
        self.before[self.level] = st.grad_enabled
        self.level += 1
        st.grad_enabled = self.enabled

    def __exit__(self, *exc):
        self.level -= 1
        thread_state().grad_enabled = self.before[self.level]

    def __call__(self, f):
        return decorate(type(self), self.enabled, f)

    def clone(self):
        return type(self)()


class no_grad(GradMode):
    """Operations inside are not recorded."""

    def __new__(cls, orig_func=None):
        if orig_func is not None:
            return decorate(cls, False, orig_func)
        return GradMode.__new__(cls)

    def __init__(self, orig_func=None):
        pass


cdef class _enabled(GradMode):
    def __cinit__(self, *args):
        self.enabled = True


class enable_grad(_enabled):
    """Operations inside are recorded, also within no_grad."""

    def __new__(cls, orig_func=None):
        if orig_func is not None:
            return decorate(cls, True, orig_func)
        return _enabled.__new__(cls)

    def __init__(self, orig_func=None):
        pass


cdef class _set_grad(GradMode):
    """Sets the mode at once, and sets it back when used as a context."""
    cdef int outer

    def __init__(self, mode):
        cdef ThreadState* st = thread_state()
        self.outer = st.grad_enabled
        self.enabled = mode
        st.grad_enabled = self.enabled

    def __enter__(self):
        thread_state().grad_enabled = self.enabled

    def __exit__(self, *exc):
        thread_state().grad_enabled = self.outer

    def __call__(self, f):
        thread_state().grad_enabled = self.outer
        return decorate(no_grad if not self.enabled else enable_grad, self.enabled, f)

    def clone(self):
        return type(self)(self.enabled)


class set_grad_enabled(_set_grad):
    """Sets whether operations are recorded: a function, a context and a decorator."""


def decorate(cls, mode, f):
    """f run in a grad mode; a generator function keeps the mode while its body runs."""
    import functools
    import inspect
    if inspect.isclass(f):
        raise TypeError(f"{cls.__name__} decorates functions, not classes")
    if inspect.isgeneratorfunction(f):
        @functools.wraps(f)
        def generator(*args, **kwargs):
            gen = f(*args, **kwargs)
            sent, error = None, None
            while True:
                before = swap_grad_enabled(mode)
                try:
                    item = gen.send(sent) if error is None else gen.throw(error)
                except StopIteration as stop:
                    return stop.value
                finally:
                    swap_grad_enabled(before)
                sent, error = None, None
                try:
                    sent = yield item
                except GeneratorExit:
                    gen.close()
                    raise
                except BaseException as exc:
                    error = exc
        return generator

    @functools.wraps(f)
    def wrapped(*args, **kwargs):
        before = swap_grad_enabled(mode)
        try:
            return f(*args, **kwargs)
        finally:
            swap_grad_enabled(before)
    return wrapped


# ---------------------------------------------------------------- the part of Tensor that autograd is

def tensor_requires_grad(TensorBase t not None):
    node_of(t)
    return bool(t.flags & REQUIRES_GRAD)


def set_requires_grad(TensorBase t not None, bint value):
    if node_of(t) is not None:
        if value:
            return
        raise RuntimeError("you can only change requires_grad flags of leaf variables. If you want to use a computed "
                           "variable in a subgraph that doesn't require differentiation use var_no_grad = "
                           "var.detach().")
    if value:
        if CATEGORY[t.code] < CAT_FLOAT:
            raise RuntimeError("only Tensors of floating point and complex dtype can require gradients")
        t.flags = (t.flags | REQUIRES_GRAD) & ~VOLATILE
    else:
        t.flags &= ~REQUIRES_GRAD


def tensor_grad_fn(TensorBase t not None):
    return node_of(t)


def grad_of(TensorBase t not None):
    """``t.grad``; warns where a tensor that is no leaf will never have one."""
    if t.grad_ is None and t.node is not None and not retains(t) and not policy.two_types:
        import warnings
        warnings.warn(
            "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
            "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf "
            "Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure "
            "you access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more informations.",
            UserWarning)
    return t.grad_


def clear_grad(TensorBase t not None):
    """``del t.grad``."""
    t.grad_ = None


def tensor_grad(TensorBase t not None):
    return t.grad_


def set_tensor_grad(TensorBase t not None, g):
    cdef TensorBase grad
    if g is None:
        t.grad_ = None
        return
    if not isinstance(g, TensorBase):
        raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type(g).__name__}")
    grad = <TensorBase>g
    if grad is t:
        raise RuntimeError("can't assign Variable as its own grad")
    if grad.code != t.code:
        raise RuntimeError(f"assigned grad has data of a different type: expected {dtype_of(t.code)!r}, got "
                           f"{dtype_of(grad.code)!r}")
    if not same_shape(grad, t):
        raise RuntimeError(f"assigned grad has data of a different size: expected {describe_shape(t)}, got "
                           f"{describe_shape(grad)}")
    t.grad_ = grad


def hooks_of(TensorBase t not None):
    """The dict of hooks that run on the tensor's gradient."""
    cdef Node node = node_of(t)
    if node is None:
        return extras_of(t).setdefault("hooks", {})
    if node.tensor_hooks is None:
        node.tensor_hooks = {}
    return node.tensor_hooks.setdefault(t.output_nr, {})


def post_hooks_of(TensorBase t not None):
    """The dict of hooks that run after a leaf's gradient was accumulated."""
    if node_of(t) is not None:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    return extras_of(t).setdefault("post_hooks", {})


def retain(TensorBase t not None):
    """Keep the gradient of a tensor that is not a leaf."""
    cdef Node node = node_of(t)
    if not t.flags & REQUIRES_GRAD:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if node is None:
        return
    if node.retained is None:
        node.retained = {}
    node.retained[t.output_nr] = weakref.ref(t)


def retains(TensorBase t not None):
    cdef Node node = t.node
    return node is not None and node.retained is not None and t.output_nr in node.retained


def make_detached(TensorBase t not None):
    """The same memory and version counter without history."""
    return shallow(t)


def detach_in_place(TensorBase t not None):
    if t.base is not None:
        raise RuntimeError("Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel "
                           "(DDP) for training, and gradient_as_bucket_view is set as True, gradients are views of DDP "
                           "buckets, and hence detach_() cannot be called on these gradients. To fix this error, please "
                           "refer to the Optimizer.zero_grad() function in torch/optim/optimizer.py as a solution.")
    t.node = None
    t.output_nr = 0
    t.flags &= ~REQUIRES_GRAD
    return t
