"""The exceptions of CUDA devices."""


class OutOfMemoryError(RuntimeError):
    """A device's memory is used up."""

    __module__ = "torch"


def _tensors(values):
    from .._core.tensor import TensorBase
    for x in values:
        if isinstance(x, TensorBase):
            yield x
        elif isinstance(x, (list, tuple)):
            yield from _tensors(x)


def refusal(name, args, kwargs):
    """The exception for an op's code that met a device's memory: operands of several devices, or no form there."""
    devices = list(dict.fromkeys(str(t.device) for t in _tensors([*args, *kwargs.values()])))
    if len(devices) > 1:
        return RuntimeError("Expected all tensors to be on the same device, but found at least two devices, "
                            f"{devices[0]} and {devices[1]}!")
    return NotImplementedError(f"{name}: not implemented for device '{devices[0] if devices else 'cuda'}'")
