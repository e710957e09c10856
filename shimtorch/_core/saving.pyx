"""What nodes save for backward: their own outputs, and what hooks made of tensors; the check of versions."""
from _thread import _local

from .autograd cimport Node, leaf_or_node, user_call
from .dtype cimport CAT_FLOAT, CATEGORY
from .policy cimport ThreadState, thread_state
from .tensor cimport REQUIRES_GRAD, TensorBase, describe_shape, shallow

from .autograd import anomaly_mode, shown_name

cdef int open_hooks = 0                # how many pairs of saved-tensor hooks are set, in all threads
cdef object here = _local()            # .hooks: those of this thread; .refusal: why no more may be set


cdef class SavedOutput:
    """An output that its own node saved: kept without history, so that tensor and node form no cycle."""

    def __init__(self, TensorBase t not None, int nr):
        self.tensor = shallow(t)
        self.nr = nr

    cdef TensorBase unpack(self, Node node):
        cdef TensorBase t
        if not thread_state().grad_enabled or CATEGORY[self.tensor.code] < CAT_FLOAT:
            return self.tensor
        t = shallow(self.tensor)
        t.node = node
        t.output_nr = self.nr
        t.flags |= REQUIRES_GRAD
        return t


# ---------------------------------------------------------------- saved-tensor hooks

cdef class PackedTensor:
    """What a pack hook made of a saved tensor, with the tensor's place in the graph."""

    cdef TensorBase unpack(self, Node node):
        cdef TensorBase t
        cdef AliasNode alias
        result = user_call(self.unpack_hook, (self.packed,))
        if not isinstance(result, TensorBase):
            raise TypeError(f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                            f"{type(result).__name__}")
        if not thread_state().grad_enabled or (self.source is None and not self.own):
            return result
        if result is self.source:
            return result
        t = shallow(<TensorBase>result)
        t.flags |= REQUIRES_GRAD
        t.output_nr = self.nr
        if self.own:
            t.node = node
        elif isinstance(self.source, TensorBase):
            alias = AliasNode.__new__(AliasNode)
            alias.set_edges([self.source])
            alias.describe(t, 0, 1)
            t.node = alias
        else:
            t.node = self.source
        return t


cdef class AliasNode(Node):
    """Stands between a leaf and a copy of it that an unpack hook made."""

    cdef object apply(self, object g, bint create):
        return (g,)

    def name(self):
        return "AliasBackward0"


cdef bint packing() noexcept:
    """Whether any thread has saved-tensor hooks set."""
    return open_hooks > 0


cdef object packed(TensorBase t):
    """t as the hooks of this thread pack it; t itself if there are none."""
    cdef PackedTensor p
    hooks = getattr(here, "hooks", None)
    if not hooks:
        return t
    p = pack(t, hooks[len(hooks) - 1])
    p.source = leaf_or_node(t)
    p.nr = t.output_nr
    return p


cdef object packed_output(TensorBase t, int nr):
    """An output that its own node saves, as the hooks of this thread pack it."""
    cdef PackedTensor p
    hooks = getattr(here, "hooks", None)
    if not hooks:
        return SavedOutput(t, nr)
    p = pack(shallow(t), hooks[len(hooks) - 1])
    p.own, p.nr = True, nr
    return p


cdef PackedTensor pack(TensorBase t, tuple hooks):
    cdef PackedTensor p = PackedTensor.__new__(PackedTensor)
    cdef ThreadState* st = thread_state()
    cdef int grad_enabled = st.grad_enabled
    version = t._version
    p.unpack_hook = hooks[1]
    st.grad_enabled = 0
    try:
        p.packed = user_call(hooks[0], (t,))
    finally:
        st.grad_enabled = grad_enabled
    if t._version != version:
        raise RuntimeError(
            "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot "
            "be modified by in-place operations as this can lead to unexpected side-effects. Please open an issue if "
            "you need to perform in-place operations on the input to a pack hook.")
    return p


def push_hooks(pack_hook, unpack_hook):
    """Pack what this thread saves from now on with pack_hook."""
    global open_hooks
    refusal = getattr(here, "refusal", None)
    if refusal is not None:
        raise RuntimeError(refusal)
    if not hasattr(here, "hooks"):
        here.hooks = []
    here.hooks.append((pack_hook, unpack_hook))
    open_hooks += 1


def pop_hooks():
    """Take the latest hooks of this thread away."""
    global open_hooks
    here.hooks.pop()
    open_hooks -= 1


def swap_refusal(message):
    """Refuse saved-tensor hooks in this thread with a message (None: allow them); the message before."""
    before = getattr(here, "refusal", None)
    if message is not None and getattr(here, "hooks", None):
        raise RuntimeError(message)
    here.refusal = message
    return before


# ---------------------------------------------------------------- checks

cdef int unpack_check(TensorBase t, object version, object maker, int nr) except -1:
    """Refuse a saved tensor, made by a node as its output nr, that was written to since."""
    cdef object now = t._version
    if now != version:
        made_by = "" if maker is None else f", which is output {nr} of {shown_name(maker)},"
        if anomaly_mode()[0]:
            hint = ("Hint: the backtrace further above shows the operation that failed to compute its gradient. The "
                    "variable in question was changed in there or anywhere later. Good luck!")
        else:
            hint = ("Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
                    "torch.autograd.set_detect_anomaly(True, check_nan=False).")
        raise RuntimeError("one of the variables needed for gradient computation has been modified by an inplace "
                           f"operation: [{t.type()} {describe_shape(t)}]{made_by} is at version {now}; expected "
                           f"version {version} instead. {hint}")
    return 0


def freed_error():
    """The error of a second backward through a graph whose saved tensors are gone."""
    return RuntimeError(
        "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
        "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
        "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access "
        "saved tensors after calling backward.")
