"""The engine: it walks the graph backwards and brings gradients to where they are wanted. It knows no op."""
from cpython.object cimport PyObject
from libc.stdlib cimport free, malloc, realloc

from _thread import get_ident

from .autograd cimport (
    Node, anomaly_checks_nan, anomaly_on, leaf_or_node, ordered_leaves, retain_grad, run_hooks, run_post_hooks,
    run_pre_hooks, swap_evaluating, user_call,
)
from .deferred cimport Deferred, all_whole
from .dtype cimport CATEGORY, CAT_COMPLEX, CAT_FLOAT, dtype_of
from .iterate cimport copy_into
from .policy cimport ThreadState, policy, thread_state
from .protocol cimport enter_disabled, leave_disabled
from .tensor cimport (
    MAX_DIMS, ON_DEVICE, REQUIRES_GRAD, SPARSE, TensorBase, describe_shape, empty_at, empty_strided, make_size,
    place_of as tensor_place, ptr, same_shape, scalar_tensor, seen_flags, shallow, write_scalar,
)
from .window cimport dense_order

from . import anomaly

cdef object add, sum_to_size, copy_dense, zeros_like, add_, cast
cdef bint watched = False              # whether anyone asks which pass is running ...
cdef dict running = {}                 # ... which this says of each thread


def bind_ops(ops):
    """Give the engine the few ops that it adds and reshapes gradients with."""
    global add, sum_to_size, copy_dense, zeros_like, add_, cast
    add, add_, cast = ops["add"], ops["add_"], ops["to"]
    sum_to_size, copy_dense = ops["sum_to_size"], ops["clone"]
    zeros_like = ops["zeros_like"]


# ---------------------------------------------------------------- gradients in the shape of what they belong to

cdef object fit(TensorBase g, int ndim, const Py_ssize_t* shape, int code, object where, int index):
    """The gradient g, which a node gave its edge `index`, in the shape and dtype of what it belongs to."""
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
                               f"invalid gradient at index {index} - got {describe_shape(g)} but expected shape "
                               f"compatible with {list(make_size(ndim, shape))}")
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


cdef object fit_to(TensorBase g, object size, int code, object where, int index):
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef int i
    for i in range(len(size)):
        shape[i] = size[i]
    return fit(g, len(size), shape, code, where, index)


def fitted(g, size, int code, where):
    """A gradient in the given size and dtype; broadcasting is undone by sums."""
    return fit_to(<TensorBase?>g, size, code, where, 0)


cdef TensorBase on_pattern(TensorBase g, TensorBase leaf):
    """A sparse gradient where its sparse leaf has entries, coalesced."""
    pattern = leaf.detach()
    return g.sparse_mask(pattern.coalesce() if pattern.is_sparse else pattern)


# ---------------------------------------------------------------- accumulation

cdef int accumulate(TensorBase leaf, TensorBase g, bint create) except -1:
    """Add to a leaf's ``.grad``. The memory of g is taken over only when the caller alone holds it."""
    cdef TensorBase old = <TensorBase>leaf.grad_ if leaf.grad_ is not None else None
    if old is None:
        leaf.grad_ = first_gradient(leaf, g, create)
        if policy.wrap_result is not None:
            leaf.grad_, = policy.wrap_result.as_variables((leaf.grad_,))
    elif create or (old.flags & SPARSE) or (g.flags & SPARSE):
        leaf.grad_ = add(old, g)
    else:
        add_(old, g)
    return 0


cdef TensorBase first_gradient(TensorBase leaf, TensorBase g, bint create):
    """g as the first gradient of leaf: nobody else holds its memory; its strides are those of leaf if that is dense."""
    cdef TensorBase r
    cdef bint alone = refcount(g) == 1 and g.base is None
    if g.flags & (SPARSE | ON_DEVICE):
        return shallow(g) if alone and not create else copy_dense(g)
    if create:
        return g.contiguous() if leaf.contiguous_ and not g.contiguous_ else copy_dense(g)
    if leaf.contiguous_ or dense_order(leaf) is None:
        if g.contiguous_:
            if alone and alone_holds(g):
                return shallow(g)
            return copy_dense(shallow(g))
        return shallow(g).contiguous()
    if alone and alone_holds(g) and same_strides(g, leaf):
        return shallow(g)
    r = empty_strided(g.code, leaf.ndim_, leaf.shape_, leaf.strides_)
    copy_into(r, g)
    return r


cdef bint same_strides(TensorBase a, TensorBase b) noexcept:
    cdef int i
    for i in range(a.ndim_):
        if a.strides_[i] != b.strides_[i] and a.shape_[i] > 1:
            return False
    return True


cdef inline Py_ssize_t refcount(object o):
    return (<PyObject*>o).ob_refcnt


cdef inline bint alone_holds(TensorBase t) noexcept:
    """Whether t alone holds its memory. (An attribute given to refcount() would be counted once more.)"""
    return t.storage.owner is None and (<PyObject*>t.storage).ob_refcnt == 1


def accumulate_grad(TensorBase leaf not None, TensorBase g not None):
    """Add to a leaf's ``.grad``, as its AccumulateGrad node does."""
    accumulate(leaf, g, thread_state().grad_enabled)


# ---------------------------------------------------------------- one pass

cdef class Run:
    """One backward pass: the nodes still to run, by age, and the gradients that arrived for them and for leaves."""
    cdef PyObject** heap               # nodes that `buffers` holds, youngest first
    cdef Py_ssize_t size, room
    cdef dict buffers                  # Node -> gradient, or list of gradients per output
    cdef dict leaves                   # leaf tensor -> gradient
    cdef dict awaited                  # leaf with hooks -> how many edges to it are still to be walked
    cdef dict wanted                   # node or leaf -> the outputs whose gradients are asked for; None: all leaves
    cdef dict captured                 # (node or leaf, output) -> gradient; None: they are accumulated in the leaves
    cdef dict needed                   # node -> whether it lies on the way to a wanted one
    cdef list starts                   # the nodes and leaves that it starts from
    cdef set reached                   # all that it can come to, once someone asked
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

    def is_partial(self):
        """Whether it goes only towards tensors whose gradients are asked for, not to all leaves."""
        return self.wanted is not None

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

    cdef int deliver(self, object target, int nr, object g, object source, int index) except -1:
        """Add g to what has arrived at a node's output or at a leaf."""
        cdef Node node
        cdef TensorBase leaf
        cdef list parts
        cdef object old
        if type(g) is Deferred:
            if self.takes(target, <Deferred>g):
                self.buffers[target] = g
                return self.push(<Node>target)
            g = (<Deferred>g).whole()
        if isinstance(target, TensorBase):
            leaf = <TensorBase>target
            g = fit(<TensorBase>g, leaf.ndim_, leaf.shape_, leaf.code, source, index)
            if leaf.flags & SPARSE and (<TensorBase>g).flags & SPARSE:
                g = on_pattern(<TensorBase>g, leaf)
            old = self.leaves.get(leaf)
            if old is None:
                self.leaves[leaf] = g
            elif not self.add_to(<TensorBase>old, g):
                self.leaves[leaf] = add(old, g)
            return 0
        node = <Node>target
        if node.n_outputs == 1 and node.shapes is None:
            g = fit(<TensorBase>g, node.ndim0, node.shape0, node.code0, source, index)
            old = self.buffers.get(node)
            if type(old) is Deferred:
                old = self.buffers[node] = (<Deferred>old).whole()
            if old is None:
                self.buffers[node] = g
                self.push(node)
            elif not self.add_to(<TensorBase>old, g):
                self.buffers[node] = add(old, g)
            return 0
        g = fit_to(<TensorBase>g, node.shapes[nr], node.codes[nr], source, index)
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

    cdef bint takes(self, object target, Deferred g) except -1:
        """Whether a node takes the description of its gradient: nothing else has come to it, and no one looks at it."""
        return (isinstance(target, Node) and type(target).__name__ == g.taker and target not in self.buffers
                and self.unseen(<Node>target))

    cdef bint unseen(self, Node node) except -1:
        """Whether no one but the node itself sees its gradient."""
        return (node.tensor_hooks is None and node.retained is None and not node.pre_hooks and not node.post_hooks
                and (self.wanted is None or node not in self.wanted))

    cdef bint add_to(self, TensorBase old, object g) except -1:
        """Add g in place to what had arrived, if the pass alone holds that: one reference here, one in its dict."""
        if (self.create or refcount(old) != 2 or old.flags or (<TensorBase>g).flags & (SPARSE | ON_DEVICE)
                or not old.contiguous_ or old.base is not None or not alone_holds(old)):
            return False
        add_(old, g)
        return True

    cdef int send(self, Node node, object result) except -1:
        """Send what a node computed along its edges; a leaf with hooks is served when nothing more can come."""
        cdef int i
        cdef object e, left
        for i in range(len(node.edges)):
            e = node.edges[i]
            if e is None:
                continue
            if result[i] is not None and (self.needed is None or (
                    self.needed.get(e) if isinstance(e, Node) else e in self.wanted)):
                self.deliver(e, node.nrs[i], result[i], node, i)
            if self.awaited is not None and isinstance(e, TensorBase):
                left = self.awaited.get(e)
                if left is not None:
                    self.awaited[e] = left - 1
                    if left == 1:
                        self.serve(<TensorBase>e)
        return 0

    cdef int serve(self, TensorBase leaf) except -1:
        """Bring the gradient that arrived at a leaf to its ``.grad``, or to the caller."""
        cdef object g = self.leaves.pop(leaf, None), node = None
        cdef dict extras = leaf.extras
        if g is None or (self.wanted is not None and leaf not in self.wanted):
            return 0
        if extras is None:
            if self.captured is not None:
                self.captured[(leaf, 0)] = g
                return 0
            return accumulate(leaf, <TensorBase>g, self.create)
        if "hooks" in extras:
            g = run_hooks(extras["hooks"], g)
        if self.captured is not None:
            self.captured[(leaf, 0)] = g
            return 0
        node = extras.get("hooked_accumulator")
        if node is not None and (<Node>node).pre_hooks:
            g, = run_pre_hooks(<Node>node, (g,))
        accumulate(leaf, <TensorBase>g, self.create)
        if node is not None and (<Node>node).post_hooks:
            run_post_hooks(<Node>node, (), (g,))
        if "post_hooks" in extras:
            for hook in list(extras["post_hooks"].values()):
                result = user_call(hook, (leaf,))
                if result is not None:
                    raise TypeError(f"expected Variable, but hook returned '{type(result).__name__}'")
        return 0

    cdef int await_leaves(self, list roots) except -1:
        """Count the edges that lead from the roots to leaves with hooks."""
        cdef set seen = set()
        cdef list stack = [r for r in roots if isinstance(r, Node)]
        cdef Node node
        cdef dict extras
        self.awaited = {}
        while stack:
            node = stack.pop()
            if node in seen or node.edges is None or (self.needed is not None and not self.needed.get(node)):
                continue
            seen.add(node)
            for e in node.edges:
                if isinstance(e, Node):
                    stack.append(e)
                elif e is not None:
                    extras = (<TensorBase>e).extras
                    if extras is not None and ("hooks" in extras or "post_hooks" in extras
                                               or "hooked_accumulator" in extras):
                        self.awaited[e] = self.awaited.get(e, 0) + 1
        return 0

    cdef int run(self, bint keep) except -1:
        """Run the nodes, the youngest first."""
        cdef Node node
        cdef object g, result, nr
        while self.size:
            node = self.pop()
            g = self.buffers.pop(node)
            if type(g) is Deferred and not self.unseen(node):
                g = (<Deferred>g).whole()
            if node.tensor_hooks is not None or node.retained is not None:
                g = run_output_hooks(node, g)
            if self.wanted is not None and node in self.wanted:
                if self.captured is not None:
                    for nr in self.wanted[node]:
                        self.captured[(node, nr)] = g if node.n_outputs == 1 else g[nr]
                if not self.leads_on(node):
                    continue
            if node.pre_hooks:
                result = run_pre_hooks(node, tuple(g) if node.n_outputs > 1 else (g,))
                g = list(result) if node.n_outputs > 1 else result[0]
            result = apply_watched(node, g, self.create) if anomaly_on() else node.apply(g, self.create)
            if node.post_hooks:
                result = run_post_hooks(node, all_whole(result), tuple(g) if node.n_outputs > 1 else (g,))
            if not keep:
                node.release()
            g = None                   # accumulate takes memory over that nobody else holds
            self.send(node, result)
        return 0

    def reaches(self, target):
        """Whether the pass comes to a node or a leaf."""
        cdef list stack
        cdef Node node
        if self.reached is None:
            self.reached = set()
            stack = list(self.starts)
            while stack:
                e = stack.pop()
                if e is None or e in self.reached:
                    continue
                if not isinstance(e, Node):
                    if self.wanted is None or e in self.wanted:
                        self.reached.add(e)
                    continue
                node = <Node>e
                if self.needed is None or self.needed.get(node):
                    self.reached.add(node)
                    if node.edges is not None:
                        stack.extend(node.edges)
        return target in self.reached

    cdef bint leads_on(self, Node node):
        """Whether a wanted node has another wanted one behind it."""
        cdef object e
        for e in node.edges:
            if e is not None and (e in self.wanted if isinstance(e, TensorBase) else self.needed.get(e)):
                return True
        return False


cdef dict needed_nodes(list roots, dict targets):
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


cdef object run_output_hooks(Node node, object g):
    """Hooks on the node's outputs, and gradients that its outputs keep."""
    cdef int nr
    cdef object ref, part
    cdef TensorBase t
    if node.tensor_hooks is not None:
        for nr, hooks in list(node.tensor_hooks.items()):
            if node.n_outputs == 1:
                g = run_hooks(hooks, g)
            else:
                g[nr] = run_hooks(hooks, g[nr])
    if node.retained is not None:
        for nr, ref in node.retained.items():
            t = ref()
            part = g if node.n_outputs == 1 else g[nr]
            if t is not None and part is not None:
                t.grad_ = add(t.grad_, part) if t.grad_ is not None else copy_dense(part)
                if policy.wrap_result is not None:
                    t.grad_, = policy.wrap_result.as_variables((t.grad_,))
    return g


cdef object apply_watched(Node node, object g, bint create):
    """In anomaly mode: say where a node was made whose derivative fails or is not a number."""
    cdef Node outer = swap_evaluating(node)
    cdef int i
    try:
        result = all_whole(node.apply(g, create))
    except Exception:
        anomaly.explain(node)
        raise
    finally:
        swap_evaluating(outer)
    if anomaly_checks_nan():
        for i in range(len(result)):
            if result[i] is not None and has_nan(<TensorBase>result[i]):
                anomaly.explain(node)
                raise RuntimeError(f"Function '{node.name()}' returned nan values in its {i}th output.")
    return result


cdef bint has_nan(TensorBase g) except? True:
    if CATEGORY[g.code] < CAT_FLOAT:
        return False
    if g.flags & SPARSE:
        g = g._values()
    g = shallow(g)
    return bool((g != g).any())


cdef list execute(list roots, list grads, bint keep, bint create, list inputs, bint store):
    """Walk the graph from roots. With inputs: only towards them; their gradients are returned unless stored."""
    cdef Run run = Run.__new__(Run)
    cdef ThreadState* st = thread_state()
    cdef int grad_enabled = st.grad_enabled, depth = st.depth, no_record = st.no_record, i
    cdef int protocol = enter_disabled(True)
    cdef TensorBase t
    cdef object e, outer = None, thread = None
    cdef list keys = None
    run.create = create
    st.grad_enabled = create
    st.no_record = 0
    st.depth = depth + 1
    try:
        run.starts = [leaf_or_node(t) for t in roots]
        if watched:
            thread = get_ident()
            outer = running.get(thread)
            running[thread] = run
        if inputs is not None:
            keys, run.wanted = [], {}
            if not store:
                run.captured = {}
            for item in inputs:
                keys.append(place_of(item))
                run.wanted.setdefault(keys[len(keys) - 1][0], []).append(keys[len(keys) - 1][1])
                if store:
                    retain_grad(<TensorBase?>item)
            run.needed = needed_nodes(run.starts, run.wanted)
        if ordered_leaves():
            run.await_leaves(run.starts)
        for i in range(len(roots)):
            e = run.starts[i]
            if e is None:
                raise no_grad_error(i)
            if run.needed is None or isinstance(e, TensorBase) or run.needed.get(e):
                run.deliver(e, (<TensorBase>roots[i]).output_nr, grads[i], None, 0)
        run.run(keep)
        while run.leaves:
            run.serve(<TensorBase>next(iter(run.leaves)))
    finally:
        st.grad_enabled = grad_enabled
        st.depth = depth
        st.no_record = no_record
        leave_disabled(protocol)
        if thread is not None:
            if outer is None:
                del running[thread]
            else:
                running[thread] = outer
    return None if run.captured is None else [run.captured.get(k) for k in keys]


cdef tuple place_of(object x):
    """Where the gradient of a tensor (or of a GradientEdge) arrives: a node or leaf, and the number of an output."""
    cdef object e
    if isinstance(x, TensorBase):
        e = leaf_or_node(<TensorBase>x)
        return e, 0 if isinstance(e, TensorBase) else (<TensorBase>x).output_nr
    e = getattr(x.node, "variable", None)
    return (e, 0) if isinstance(e, TensorBase) else (<Node?>x.node, <int?>x.output_nr)


def current_run():
    """The backward pass that runs in this thread; None outside of any, and before ``watch_runs()``."""
    return running.get(get_ident())


def watch_runs():
    """Have passes from now on known to current_run()."""
    global watched
    watched = True


# ---------------------------------------------------------------- backward and grad

cdef list as_list(object x):
    if isinstance(x, TensorBase) or x is None:
        return [x]
    return list(x)


cdef list root_grads(list roots, list grads):
    """The gradients that a backward pass starts from; ones where a scalar has none."""
    cdef TensorBase t, g
    cdef list result = []
    cdef Py_ssize_t i
    if len(grads) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(grads)} gradients")
    for i in range(len(roots)):
        if not isinstance(roots[i], TensorBase):
            raise AssertionError("Expected output to be a torch.Tensor")
        t = <TensorBase>roots[i]
        if grads[i] is None:
            if not seen_flags(t) & REQUIRES_GRAD:
                raise no_grad_error(i)
            if t.count != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            if CATEGORY[t.code] == CAT_COMPLEX:
                raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got "
                                   f"{dtype_of(t.code)!r}")
            g = empty_at(tensor_place(t, None), t.code, t.ndim_, t.shape_)
            if t.flags & ON_DEVICE:
                copy_into(g, scalar_tensor(t.code, 1))
            else:
                write_scalar(ptr(g), t.code, 1)
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
        if not seen_flags(t) & REQUIRES_GRAD:
            raise no_grad_error(i)
        result.append(g)
    return result


cdef object no_grad_error(Py_ssize_t i):
    return RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")


def backward(tensors=None, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None,
             *, variables=None, retain_variables=None):
    """Add the gradients of tensors (weighted by grad_tensors) to the ``.grad`` of the leaves that they came from.

    ``retain_graph`` (default: create_graph) keeps what was saved so that backward can run again; ``create_graph``
    records the pass itself, for higher derivatives; ``inputs`` limits it to those tensors. Old names of arguments:
    ``variables``, ``grad_variables``, ``retain_variables`` (0.3 had it fifth).
    """
    cdef list roots, targets = None
    if tensors is None and variables is None:
        raise TypeError("backward() missing 1 required positional argument: 'tensors'")
    roots = as_list(variables if tensors is None else tensors)
    if isinstance(grad_variables, bool):
        grad_variables, retain_variables = None, grad_variables
    if retain_variables is not None and retain_graph is None:
        retain_graph = retain_variables
    if grad_variables is not None:
        import warnings
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError("`grad_tensors` and `grad_variables` (deprecated) arguments both passed to "
                               "`backward()`. Please only use `grad_tensors`.")
        grad_tensors = grad_variables
    if inputs is not None:
        targets = as_inputs(inputs, "backward")
        for t in targets:
            if not isinstance(t, TensorBase):
                raise RuntimeError("GradientEdges as inputs of backward() are not supported: use grad()")
    execute(roots, root_grads(roots, [None] * len(roots) if grad_tensors is None else as_list(grad_tensors)),
            create_graph if retain_graph is None else retain_graph, create_graph, targets, True)


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True,
         allow_unused=None, is_grads_batched=False, materialize_grads=False):
    """The gradients of outputs (weighted by grad_outputs) with respect to inputs, as a tuple; ``.grad`` is untouched.

    ``allow_unused`` permits inputs that the outputs do not depend on (None, or zeros with ``materialize_grads``).
    """
    cdef list roots = as_list(outputs), targets = as_inputs(inputs, "grad"), result
    cdef Py_ssize_t i
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
                         "allow_unused=False.")
    if is_grads_batched:
        raise NotImplementedError("autograd.grad(is_grads_batched=True) is not implemented")
    if not only_inputs:
        import warnings
        warnings.warn("only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate "
                      "gradient for other parts of the graph, please use "
                      "torch.autograd.backward.", FutureWarning, stacklevel=2)
    grads = root_grads(roots, [None] * len(roots) if grad_outputs is None else as_list(grad_outputs))
    for t in targets:
        if isinstance(t, TensorBase) and not seen_flags(<TensorBase>t) & REQUIRES_GRAD:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
    result = execute(roots, grads, create_graph if retain_graph is None else retain_graph, create_graph, targets, False)
    for i in range(len(result)):
        if result[i] is None:
            if materialize_grads and isinstance(targets[i], TensorBase):
                result[i] = zeros_like(targets[i].detach())
            elif not allow_unused:
                raise RuntimeError(f"The differentiated Tensor at index {i} appears to not have been used in the "
                                   "graph. Set allow_unused=True if this is the desired behavior.")
        elif not create_graph and (<TensorBase>result[i]).flags & REQUIRES_GRAD:
            result[i] = shallow(result[i])
    if policy.wrap_result is not None:
        return policy.wrap_result.as_variables(tuple(result))
    return tuple(result)


cdef list as_inputs(object inputs, str function):
    """Tensors and GradientEdges (which have a node and an output_nr) to differentiate by."""
    cdef list result = [inputs] if hasattr(inputs, "output_nr") else as_list(inputs)
    if not result:
        raise RuntimeError(f"`inputs` argument to `{function}()` cannot be empty.")
    for t in result:
        if not isinstance(t, TensorBase) and not isinstance(getattr(t, "node", None), Node):
            raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type(t).__name__}")
    return result
