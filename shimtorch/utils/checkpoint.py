"""Computing again in backward instead of keeping what forward made (torch.utils.checkpoint)."""

import warnings
from contextlib import contextmanager, nullcontext

from .._core import Tensor, engine
from .._core.grad_mode import enable_grad, is_grad_enabled, no_grad
from .._core.policy import policy
from ..autograd import Function
from ..autograd.graph import saved_tensors_hooks

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "detach_variable",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_early_stop",
    "set_device_states",
]


class CheckpointError(RuntimeError):
    """The second run of a checkpointed function saved something else than the first."""


def detach_variable(inputs):
    """A tuple like *inputs*, its tensors cut off from their history, with their requires_grad."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}"
        )
    return tuple(
        x.detach().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x for x in inputs
    )


def check_backward_validity(inputs):
    """Warn if none of the tensors requires grad."""
    if not any(x.requires_grad for x in inputs if isinstance(x, Tensor)):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2)


def get_device_states(*args):
    """The devices of the arguments other than the CPU, and their random states: there are none."""
    return [], []


def set_device_states(devices, states, *, device_type=None):
    """Take back what get_device_states gave."""


def noop_context_fn():
    """The contexts of the first and of the second run that do nothing."""
    return nullcontext(), nullcontext()


@contextmanager
def _random_state(state):
    """Inside, the default generator goes on from *state*; None leaves it alone."""
    if state is None:
        yield
        return
    from ..random import get_rng_state, set_rng_state

    before = get_rng_state()
    set_rng_state(state)
    try:
        yield
    finally:
        set_rng_state(before)


def _state_to_keep(preserve):
    from ..random import get_rng_state

    return get_rng_state() if preserve else None


class CheckpointFunction(Function):
    """The checkpoint that runs the whole function again under the autograd engine (``use_reentrant=True``)."""

    @staticmethod
    def forward(ctx, run_function, preserve_rng_state, *args):
        check_backward_validity(args)
        engine.watch_runs()
        ctx.run_function = run_function
        ctx.rng_state = _state_to_keep(preserve_rng_state)
        ctx.places = [i for i, x in enumerate(args) if isinstance(x, Tensor)]
        ctx.inputs = [None if isinstance(x, Tensor) else x for x in args]
        ctx.save_for_backward(*(args[i] for i in ctx.places))
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx, *grads):
        from .. import autograd

        run = engine.current_run()
        if run is not None and run.is_partial():    # the second run gives all leaves their gradients
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` "
                "parameter to .backward(). To resolve this error, you can either set use_reentrant=False, or call "
                ".backward() without passing the `inputs` argument."
            )
        inputs = list(ctx.inputs)
        for i, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):
            inputs[i] = tensor
        inputs = detach_variable(tuple(inputs))
        with _random_state(ctx.rng_state), enable_grad():
            outputs = ctx.run_function(*inputs)
        if isinstance(outputs, Tensor):
            outputs = (outputs,)
        pairs = [(out, g) for out, g in zip(outputs, grads) if isinstance(out, Tensor) and out.requires_grad]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        autograd.backward(*(list(part) for part in zip(*pairs, strict=True)))
        return None, None, *(x.grad if isinstance(x, Tensor) else None for x in inputs)


def _reentrant_or_default(use_reentrant, name, year, stacklevel):
    if use_reentrant is not None:
        return use_reentrant
    if policy.checkpoint_warns:
        warnings.warn(
            f"torch.utils.checkpoint{name}: the use_reentrant parameter should be passed explicitly. {year} "
            "use_reentrant=False is recommended, but if you need to preserve the current default behavior, you can "
            "pass use_reentrant=True. Refer to docs for more details on the differences between the two variants.",
            stacklevel=stacklevel,
        )
    return True


def checkpoint(
    function,
    *args,
    use_reentrant=None,
    context_fn=noop_context_fn,
    determinism_check="default",
    debug=False,
    early_stop=True,
    **kwargs,
):
    """``function(*args, **kwargs)``, whose intermediate results are not kept: backward runs it again.

    The random state is the first run's unless ``preserve_rng_state=False``. With *use_reentrant* (the default) the
    function takes no keywords, at least one argument must require grad, and only ``backward()`` without inputs works;
    without it none of these limits holds, and the second run must save as many tensors as the first, of the same
    shapes, dtypes and devices unless *determinism_check* is "none" (CheckpointError). *context_fn* gives the contexts
    of the two runs.
    """
    use_reentrant = _reentrant_or_default(
        use_reentrant,
        "",
        "Starting in PyTorch 2.9, calling checkpoint without use_reentrant will raise an exception.",
        3,
    )
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug is not False:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        return CheckpointFunction.apply(function, preserve, *args)
    if determinism_check not in ("default", "none"):
        raise ValueError(
            f"determinism_check should be one of ['default', 'none'], but got {determinism_check}"
        )
    if not is_grad_enabled():
        return function(*args, **kwargs)
    if debug:
        raise NotImplementedError("torch.utils.checkpoint.checkpoint with debug=True is not implemented")
    stop = early_stop if _early_stop is None else _early_stop
    first, second = context_fn()

    def again():
        return function(*args, **kwargs)

    frame = _Frame(again, second, _state_to_keep(preserve), determinism_check == "default", stop)
    with saved_tensors_hooks(frame.pack, frame.unpack), first:
        return function(*args, **kwargs)


_early_stop = None


@contextmanager
def set_checkpoint_early_stop(enable):
    """Inside, whether the second run of checkpoints made there stops when all that is needed has been computed."""
    global _early_stop
    before, _early_stop = _early_stop, enable
    try:
        yield
    finally:
        _early_stop = before


class _Stop(Exception):
    """Ends a second run early."""


class _Frame:
    """What one call saves: numbers in place of tensors; the tensors of the second run when the first is asked for."""

    def __init__(self, function, context, rng_state, checked, early_stop):
        self.function = function
        self.context = context
        self.rng_state = rng_state
        self.checked = checked
        self.early_stop = early_stop
        self.saved = []  # what the first run saved: shape, dtype and device
        self.recomputed = {}

    @staticmethod
    def _kind(tensor):
        return {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}

    def pack(self, tensor):
        self.saved.append(self._kind(tensor))
        return len(self.saved) - 1

    def unpack(self, number):
        if number not in self.recomputed:
            self._recompute()
        return self.recomputed.pop(number)

    def _recompute(self):
        found = []

        def keep(tensor):
            found.append(tensor.detach())
            if len(found) > len(self.saved):
                raise CheckpointError(
                    "torch.utils.checkpoint: trying to save more tensors during recomputation than during the "
                    "original forward pass."
                )
            if self.early_stop and len(found) == len(self.saved):
                raise _Stop
            return tensor.detach()

        with _random_state(self.rng_state), enable_grad(), self.context:
            try:
                with saved_tensors_hooks(keep, lambda tensor: tensor):
                    self.function()
            except _Stop:
                pass
        self._check(found)
        self.recomputed = dict(enumerate(found))

    def _check(self, found):
        if len(found) != len(self.saved):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
                f"recomputation.\nNumber of tensors saved during forward: {len(self.saved)}\n"
                f"Number of tensors saved during recomputation: {len(found)}."
            )
        if not self.checked:
            return
        lines = [
            f"tensor at position {i}:\nsaved metadata: {before}\nrecomputed metadata: {self._kind(tensor)}"
            for i, (before, tensor) in enumerate(zip(self.saved, found, strict=True))
            if before != self._kind(tensor)
        ]
        if lines:
            listed = "\n".join(lines)
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than "
                f"during the forward pass.\n{listed}."
            )


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    """The modules of a Sequential, or of a list, run in *segments* parts, all but the last one checkpointed."""
    use_reentrant = _reentrant_or_default(
        use_reentrant,
        ".checkpoint_sequential",
        "In version 2.9 we will raise an exception if use_reentrant is not passed.",
        3,
    )
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if hasattr(functions, "children"):
        functions = list(functions.children())

    def part(start, end):
        def run(x):
            for function in functions[start:end]:
                x = function(x)
            return x

        return run

    size = len(functions) // segments
    end = 0
    for start in range(0, size * (segments - 1), size) if segments > 1 else ():
        end = start + size
        input = checkpoint(part(start, end), input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return part(end, len(functions))(input)
