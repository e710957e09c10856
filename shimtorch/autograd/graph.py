"""The graph: its nodes and edges, hooks on what it saves, hooks on several gradients at once."""
from collections import namedtuple

from .._core import engine, saving
from .._core.autograd import Node, accumulator_of, bump_version
from .._core.tensor import TensorBase

__all__ = ["Node", "GradientEdge", "get_gradient_edge", "saved_tensors_hooks", "save_on_cpu",
           "disable_saved_tensors_hooks", "allow_mutation_on_saved_tensors", "register_multi_grad_hook",
           "increment_version"]

GradientEdge = namedtuple("GradientEdge", "node output_nr ownership_token", defaults=(None,))


def get_gradient_edge(tensor):
    """Where the gradient of a tensor goes: a node and the number of its output."""
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    node = tensor.grad_fn
    return GradientEdge(accumulator_of(tensor), 0) if node is None else GradientEdge(node, tensor.output_nr)


def increment_version(tensor):
    """Count an in-place write to a tensor, or to each of several."""
    for t in (tensor,) if isinstance(tensor, TensorBase) else tensor:
        bump_version(t)


class saved_tensors_hooks:
    """A context in which what operations save goes through ``pack_hook``, and in backward through ``unpack_hook``.

    ``pack_hook`` takes a tensor, which it must not change, and returns anything; ``unpack_hook`` makes of that a tensor
    with the same contents. Packed tensors are not checked against in-place changes.
    """

    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self):
        saving.push_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *exc):
        saving.pop_hooks()


class save_on_cpu(saved_tensors_hooks):
    """A context in which what operations save for backward is kept in the host's memory."""

    def __init__(self, pin_memory=False, device_type="cuda"):
        super().__init__(lambda t: (t.device, t.cpu()), lambda packed: packed[1].to(packed[0]))


class disable_saved_tensors_hooks:
    """A context in which saved-tensor hooks are refused with a message."""

    def __init__(self, error_message):
        self.error_message = error_message

    def __enter__(self):
        self.before = saving.swap_refusal(self.error_message)

    def __exit__(self, *exc):
        saving.swap_refusal(self.before)


def allow_mutation_on_saved_tensors():
    """Not implemented: in-place changes of saved tensors are errors."""
    raise NotImplementedError("autograd.graph.allow_mutation_on_saved_tensors is not implemented")


def register_multi_grad_hook(tensors, fn, *, mode="all"):
    """Call ``fn`` once per backward pass: with all gradients when the last is known, or with the first that is.

    mode: "all" (``fn(grads)``, with None for each tensor that the pass does not come to) or "any" (``fn(grad)``). The
    handle that is returned has ``remove()``.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    engine.watch_runs()
    tensors = tuple(tensors)
    if mode == "all" and not all(t.requires_grad for t in tensors):
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    watch = _MultiWatch(tensors, fn, mode)
    return _Handles([t.register_hook(watch.hook_for(i)) for i, t in enumerate(tensors)
                     if mode == "all" or t.requires_grad])


class _MultiWatch:
    """The gradients of several tensors that one backward pass has brought so far."""

    def __init__(self, tensors, fn, mode):
        self.fn, self.mode = fn, mode
        self.places = [t if t.grad_fn is None else t.grad_fn for t in tensors]
        self.run = None

    def hook_for(self, index):
        def hook(grad):
            run = engine.current_run()
            if run is not self.run:
                self.run, self.grads, self.missing = run, [None] * len(self.places), sum(map(run.reaches, self.places))
                if self.mode == "any":
                    self.fn(grad)
            self.grads[index] = grad
            self.missing -= 1
            if self.missing == 0:
                grads, self.grads, self.run = self.grads, None, None
                if self.mode == "all":
                    self.fn(grads)
        return hook


class _Handles:
    """Removes several hooks at once."""

    def __init__(self, handles):
        self.handles = tuple(handles)

    def remove(self):
        for handle in self.handles:
            handle.remove()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.remove()
