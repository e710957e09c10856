"""The graph of what was computed: its nodes, and the history of tensors, also of views and of in-place writes."""
from libc.stdlib cimport free, malloc

import weakref
from collections import OrderedDict

from .deferred cimport all_whole
from .dtype cimport CATEGORY, CAT_FLOAT, dtype_of
from .policy cimport ThreadState, policy, thread_state
from .tensor cimport (
    INLINE_DIMS, REQUIRES_GRAD, VIEW_CUSTOM, VIEW_NO_GRAD, VOLATILE, TensorBase, describe_shape, make_size, same_shape,
    seen_flags, shallow,
)
from .window cimport Window, window_of

from . import anomaly

cdef long long last_seq = 0
cdef long long leaf_hooks = 0          # how many hooks leaves were given so far
cdef bint anomaly_enabled = False, anomaly_check_nan = True
cdef Node evaluating = None            # in anomaly mode: the node whose derivative is being computed


cdef class Node:
    """A step of the graph: it turns the gradient of its outputs into those of its inputs."""

    def __cinit__(self):
        global last_seq
        last_seq += 2                  # the odd numbers are for AsStridedNode
        self.seq = last_seq
        self.nrs = self.nrs_inline
        self.n_outputs = 1
        if anomaly_enabled:
            self.notes = anomaly.notes(evaluating)

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
            t = <TensorBase>result
            self.describe(t, 0, 1)
            return attach(t, self, 0) if CATEGORY[t.code] >= CAT_FLOAT else 0
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
        return f"<{shown_class(self)} object at {<size_t><void*>self:#x}>"

    def __call__(self, *grads):
        """Apply the node's derivative to gradients of its outputs."""
        if self.edges is None or len(grads) != self.n_outputs:
            raise RuntimeError(f"{self.name()}: expected the gradients of {self.n_outputs} outputs, got {len(grads)}")
        for g in grads:
            if g is not None and not isinstance(g, TensorBase):
                raise TypeError(f"{self.name()}: expected Tensors or None, got {type(g).__name__}")
        result = all_whole(self.apply(grads[0] if self.n_outputs == 1 else list(grads), thread_state().grad_enabled))
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
        return self.seq >> 1

    def register_hook(self, hook):
        """Call ``hook(grad_inputs, grad_outputs)`` after the node ran; a returned tuple replaces grad_inputs."""
        if self.post_hooks is None:
            self.post_hooks = OrderedDict()
        return added(self.post_hooks, hook)

    def register_prehook(self, hook):
        """Call ``hook(grad_outputs)`` before the node runs; a returned tuple replaces grad_outputs."""
        if self.pre_hooks is None:
            self.pre_hooks = OrderedDict()
        return added(self.pre_hooks, hook)


cdef void renew(Node node) noexcept:
    """Make a node the youngest."""
    global last_seq
    last_seq += 2
    node.seq = last_seq


cdef object added(object hooks, object hook):
    from ..utils.hooks import RemovableHandle
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


def shown_class(node):
    """A node's name as reprs give it: without a C++ namespace."""
    return node.name().rpartition(":")[2]


def shown_name(node):
    """A node's name as torch's messages give it: without ``Backward``."""
    return node.name().partition("Backward")[0]


class AccumulateGrad(Node):
    """Where the gradient of a leaf ends: its ``.grad``."""

    def __init__(self, variable):
        self.variable = variable

    def __call__(self, grad):
        from .engine import accumulate_grad
        accumulate_grad(self.variable, grad)

    def name(self):
        return "torch::autograd::AccumulateGrad"

    def register_hook(self, hook):
        keep_accumulator(self.variable, self)
        return Node.register_hook(self, hook)

    def register_prehook(self, hook):
        keep_accumulator(self.variable, self)
        return Node.register_prehook(self, hook)


cdef object accumulator(TensorBase leaf):
    """The AccumulateGrad node of a leaf; one object as long as anyone holds it."""
    ref = None if leaf.extras is None else leaf.extras.get("accumulator")
    node = None if ref is None else ref()
    if node is None:
        node = AccumulateGrad(leaf)
        extras_of(leaf)["accumulator"] = weakref.ref(node)
    return node


def accumulator_of(TensorBase leaf not None):
    """The AccumulateGrad node of a leaf."""
    return accumulator(leaf)


def keep_accumulator(TensorBase leaf not None, node):
    """Let the leaf hold its AccumulateGrad node, whose hooks the engine is to run."""
    global leaf_hooks
    leaf_hooks += 1
    extras_of(leaf)["hooked_accumulator"] = node


cdef dict extras_of(TensorBase t):
    if t.extras is None:
        t.extras = {}
    return t.extras


cdef bint ordered_leaves() noexcept:
    """Whether leaves have hooks, so that it shows when their gradients are accumulated."""
    return leaf_hooks > 0


# ---------------------------------------------------------------- history of tensors

cdef int attach(TensorBase t, Node node, int nr) except -1:
    """Make node the history of t, its output nr."""
    if t.node is not None and (<Node>t.node).retained is not None:
        move_retained(t, <Node>t.node, node, nr)
    t.node = node
    t.output_nr = nr
    t.flags |= REQUIRES_GRAD
    if t.base is not None:
        t.view_version = t.storage.version
    return 0


cdef int move_retained(TensorBase t, Node old, Node new, int nr) except -1:
    """A tensor that keeps its gradient keeps that of what an in-place write made of it."""
    ref = old.retained.get(t.output_nr)
    if ref is not None and ref() is t:
        del old.retained[t.output_nr]
        if new.retained is None:
            new.retained = {}
        new.retained[nr] = ref
    return 0


cdef class AsStridedNode(Node):
    """History of a view whose base was written to in place: the base, seen through the view's window."""
    cdef Window window

    cdef object apply(self, object g, bint create):
        return (self.window.spread(g),)


class AsStridedBackward0(AsStridedNode):
    __module__ = "builtins"
    __slots__ = ()


cdef object node_of(TensorBase t):
    """The node that made t, after an in-place write to the base of a view was taken into account."""
    cdef AsStridedNode node
    cdef TensorBase base = t.base
    if (base is not None and t.view_kind != VIEW_NO_GRAD and base.flags & REQUIRES_GRAD
            and t.view_version != t.storage.version and CATEGORY[t.code] >= CAT_FLOAT):
        if t.view_kind == VIEW_CUSTOM:
            raise custom_view_error(t, "its base or another view of its base has been")
        node = AsStridedBackward0()
        node.set_edges([base])
        # it runs right before the base's node, though it may be made after a node that uses it
        node.seq = 1 if base.node is None else (<Node>base.node).seq + 1
        node.window = window_of(t)
        node.describe(t, 0, 1)
        attach(t, node, 0)
    return t.node


cdef object leaf_or_node(TensorBase t):
    """Where a gradient of t goes: to its node, to t itself, or nowhere."""
    cdef object node = node_of(t)
    return node if node is not None else t if t.flags & REQUIRES_GRAD else None


cdef object custom_view_error(TensorBase t, str what):
    return RuntimeError(
        f"Output {t.output_nr} of {shown_name(t.node)} is a view and {what} modified inplace. This view was created "
        "inside a custom Function (or because an input was returned as-is) and the autograd logic to handle "
        "view+inplace would override the custom backward associated with the custom Function, leading to incorrect "
        "gradients. This behavior is forbidden. You can fix this by cloning the output of the custom Function.")


cdef int check_inplace(TensorBase t, bint recording) except -1:
    """Refuse the in-place writes that autograd cannot follow or memory cannot take, with torch's messages."""
    cdef int i
    check_write(t, recording)
    for i in range(t.ndim_):
        if t.strides_[i] == 0 and t.shape_[i] > 1 and t.count:
            raise RuntimeError("unsupported operation: more than one element of the written-to tensor refers to a "
                               "single memory location. Please clone() the tensor before performing the operation.")
    return 0


cdef int check_write(TensorBase t, bint recording) except -1:
    """`check_inplace` for what may be done where elements lie on each other."""
    if not t.storage.writable:
        raise RuntimeError("cannot write to a tensor on read-only memory; clone() it first")
    if thread_state().grad_enabled and (recording or seen_flags(t) & REQUIRES_GRAD or (
            t.view_kind == VIEW_NO_GRAD and t.base.flags & REQUIRES_GRAD)):
        check_history(t)
    return 0


cdef int check_history(TensorBase t) except -1:
    cdef bint requires_grad = seen_flags(t) & REQUIRES_GRAD
    if t.base is not None:
        if t.view_kind == VIEW_NO_GRAD:
            raise RuntimeError(
                "A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that "
                "this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both "
                "the view and the inplace either both inside the no_grad block (if you don't want the inplace to be "
                "tracked) or both outside (if you want the inplace to be tracked).")
        if t.view_kind == VIEW_CUSTOM and t.node is not None:
            raise custom_view_error(t, "is being")
        # Views that came several at a time (split, unbind) may be written to: windows keep their gradients right,
        # as PyTorch did until it gave them up for lack of such a way.
        if requires_grad and t.base.node is None:
            raise RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation.")
    elif requires_grad and t.node is None:
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
    return 0


cdef class CopySlicesNode(Node):
    """History of a base after a write to one of its views: the gradient in the view goes through the write's node."""
    cdef Node inner
    cdef int slot                      # the edge of inner that is the view
    cdef Window window

    cdef object apply(self, object g, bint create):
        from .engine import fitted
        from .saving import freed_error
        cdef list result
        if self.freed:
            raise freed_error()
        part = self.window.take(g)
        result = list(self.inner.apply(part, create))
        piece = result[self.slot]
        piece = zeros_for(part) if piece is None else fitted(piece, self.window.size, self.window.code, self.inner)
        result[self.slot] = self.window.put(g, piece)
        return result

    cdef void release(self):
        self.inner.release()
        self.freed = True


class CopySlices(CopySlicesNode):
    __module__ = "builtins"
    __slots__ = ()

    def name(self):
        return "torch::autograd::CopySlices"


cdef object zeros_for(object part):
    return part.new_zeros(part.size())


cdef int rebase(TensorBase t, Node node, int slot=0) except -1:
    """Make node (its edge `slot`: t before the write) the history of t, which was written to in place."""
    cdef CopySlicesNode copy
    cdef TensorBase base = t.base
    cdef list edges
    cdef int i
    if CATEGORY[t.code] < CAT_FLOAT:
        return 0
    node.describe(t, 0, 1)
    if base is None:
        return attach(t, node, 0)
    copy = CopySlices()
    copy.inner, copy.slot, copy.window = node, slot, window_of(t)
    # Instead of the view's old history its base's is reached: it leads through the same elements. The view's own
    # history is made anew when asked for.
    copy.set_edges([base if i == slot else None for i in range(len(node.edges))])
    edges = list(node.edges)
    for i in range(len(edges)):
        if i != slot:
            copy.nrs[i] = node.nrs[i]
    # the write's node computes the gradient of its edge `slot` if and only if the base needs it
    if (edges[slot] is None) != (copy.edges[slot] is None):
        edges[slot] = copy.edges[slot]
        node.edges = tuple(edges)
    edges[slot] = copy.edges[slot]
    copy.edges = tuple(edges)
    copy.describe(base, 0, 1)
    attach(base, copy, 0)
    t.view_version = t.storage.version - 1
    return 0


def detach_output(TensorBase t not None):
    """Take a tensor's history away."""
    t.node = None
    t.output_nr = 0
    t.flags &= ~REQUIRES_GRAD


def is_recording(*tensors):
    """Whether an op on these tensors is recorded now: grad mode is on and one of them requires grad."""
    cdef ThreadState* st = thread_state()
    if not st.grad_enabled or st.no_record:
        return False
    for t in tensors:
        if isinstance(t, TensorBase) and seen_flags(t) & REQUIRES_GRAD and not (<TensorBase>t).flags & VOLATILE:
            return True
    return False


# ---------------------------------------------------------------- hooks

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
    """The hooks of a tensor on its gradient, each given what the one before returned."""
    for hook in list(hooks.values()):
        result = user_call(hook, (g,))
        if result is not None:
            check_replacement(hook, g, result)
            g = result
    return g


cdef object run_pre_hooks(Node node, object grads):
    """The hooks of a node on the gradients of its outputs."""
    for hook in list(node.pre_hooks.values()):
        grads = replaced(hook, grads, user_call(hook, (grads,)))
    return grads


cdef object run_post_hooks(Node node, object result, object grads):
    """The hooks of a node on the gradients of its inputs."""
    result = tuple(result)
    for hook in list(node.post_hooks.values()):
        result = replaced(hook, result, user_call(hook, (result, grads)))
    return result


cdef object replaced(object hook, tuple before, object result):
    if result is None:
        return before
    if not isinstance(result, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(result).__name__}'")
    if len(result) != len(before):
        raise RuntimeError(f"{hook_name(hook)} has returned an incorrect number of values (got {len(result)}, but "
                           f"expected {len(before)})")
    for was, now in zip(before, result):
        if now is not None:
            check_replacement(hook, was, now)
    return result


cdef int check_replacement(object hook, object was, object now) except -1:
    cdef TensorBase a, b
    if not isinstance(now, TensorBase):
        raise TypeError(f"expected Variable, but hook returned '{type(now).__name__}'")
    if was is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    a, b = <TensorBase>was, <TensorBase>now
    if a.code != b.code:
        raise RuntimeError(f"{hook_name(hook)} has changed the type of value (was {a.type()} got {b.type()})")
    if not same_shape(a, b):
        raise RuntimeError(f"{hook_name(hook)} has changed the size of value")
    return 0


cdef str hook_name(object hook):
    name = getattr(hook, "__name__", None)
    return "hook" if name is None else f"hook '{name}'"


# ---------------------------------------------------------------- anomaly mode

cdef bint anomaly_on() noexcept:
    return anomaly_enabled


cdef bint anomaly_checks_nan() noexcept:
    return anomaly_check_nan


cdef Node swap_evaluating(Node node):
    """Name the node whose derivative is being computed; the one before."""
    global evaluating
    cdef Node before = evaluating
    evaluating = node
    return before


def anomaly_mode():
    """Whether anomaly detection is on, and whether it looks for NaN."""
    return anomaly_enabled, anomaly_check_nan


def set_anomaly_mode(bint enabled, bint check_nan=True):
    """Switch anomaly detection on or off, for all threads."""
    global anomaly_enabled, anomaly_check_nan
    anomaly_enabled, anomaly_check_nan = enabled, check_nan


# ---------------------------------------------------------------- the part of Tensor that autograd is

def tensor_requires_grad(TensorBase t not None):
    return bool(seen_flags(t) & REQUIRES_GRAD)


def set_requires_grad(TensorBase t not None, bint value):
    if t.node is not None or node_of(t) is not None:
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


def assign_requires_grad(TensorBase t not None, value):
    """``t.requires_grad = value``, which a tensor with history refuses in any case."""
    if value is not True and value is not False:
        raise RuntimeError("requires_grad must be a bool")
    if value and node_of(t) is not None:
        raise RuntimeError("you can only change requires_grad flags of leaf variables.")
    set_requires_grad(t, value)


def tensor_grad_fn(TensorBase t not None):
    return node_of(t)


def grad_of(TensorBase t not None):
    """``t.grad``; warns where a tensor that is no leaf will never have one."""
    if t.grad_ is None and t.node is not None and not retains(t) and not policy.two_types:
        import warnings
        warnings.warn(
            "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
            "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf "
            "Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make "
            "sure you access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information.",
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
        raise RuntimeError(f"attempting to assign a gradient with dtype '{dtype_of(grad.code)}' to a tensor with dtype "
                           f"'{dtype_of(t.code)}'. Please ensure that the gradient and the tensor have the same dtype")
    if not same_shape(grad, t):
        raise RuntimeError(f"attempting to assign a gradient of size '{describe_shape(grad)}' to a tensor of size "
                           f"'{describe_shape(t)}'. Please ensure that the gradient and the tensor are the same size")
    t.grad_ = grad


def hooks_of(TensorBase t not None):
    """The dict of hooks that run on the tensor's gradient."""
    global leaf_hooks
    cdef Node node = node_of(t)
    if node is None:
        leaf_hooks += 1
        return extras_of(t).setdefault("hooks", OrderedDict())
    if node.tensor_hooks is None:
        node.tensor_hooks = {}
    return node.tensor_hooks.setdefault(t.output_nr, OrderedDict())


def known_hooks(TensorBase t not None):
    """The dict of hooks that run on the tensor's gradient, or None if there has been none."""
    cdef Node node = node_of(t)
    if node is None:
        return None if t.extras is None else t.extras.get("hooks")
    return None if node.tensor_hooks is None else node.tensor_hooks.get(t.output_nr)


def post_hooks_of(TensorBase t not None):
    """The dict of hooks that run after a leaf's gradient was accumulated."""
    global leaf_hooks
    if node_of(t) is not None:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    leaf_hooks += 1
    return extras_of(t).setdefault("post_hooks", OrderedDict())


cdef int retain_grad(TensorBase t) except -1:
    cdef Node node
    if not seen_flags(t) & REQUIRES_GRAD:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    node = node_of(t)
    if node is None:
        return 0
    if node.retained is None:
        node.retained = {}
    node.retained[t.output_nr] = weakref.ref(t)
    return 0


def retain(TensorBase t not None):
    """Keep the gradient of a tensor that is not a leaf."""
    retain_grad(t)


def retains(TensorBase t not None):
    """Whether a tensor that is not a leaf keeps its gradient."""
    cdef Node node = t.node
    return node is not None and node.retained is not None and t.output_nr in node.retained


def make_detached(TensorBase t not None):
    """The same memory and version counter without history."""
    return shallow(t)


def detach_in_place(TensorBase t not None):
    """Cut t from the graph."""
    if t.base is not None:
        raise RuntimeError("Can't detach views in-place. Use detach() instead. If you are using "
                           "DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set as True, "
                           "gradients are views of DDP buckets, and hence detach_() cannot be called on these "
                           "gradients. To fix this error, please refer to the Optimizer.zero_grad() function in "
                           "torch/optim/optimizer.py as the solution.")
    detach_output(t)
    return t


def bump_version(TensorBase t not None):
    """Count an in-place write."""
    if t.storage is not None:
        t.storage.version += 1
