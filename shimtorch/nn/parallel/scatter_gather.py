"""Batches split and put together again (torch.nn.parallel.scatter_gather)."""

from ... import _ops
from ..._core import Tensor

__all__ = ["gather", "scatter", "scatter_kwargs"]


def scatter(inputs, target_gpus, dim=0):
    """The tensors in *inputs* split into as many chunks as there are devices; other things go to each."""
    n = len(target_gpus)
    if isinstance(inputs, Tensor):
        return inputs.chunk(n, dim)
    if isinstance(inputs, tuple) and inputs:
        parts = list(zip(*(scatter(x, target_gpus, dim) for x in inputs), strict=False))
        return [type(inputs)(*part) for part in parts] if hasattr(inputs, "_fields") else parts
    if isinstance(inputs, list) and inputs:
        return [list(part) for part in zip(*(scatter(x, target_gpus, dim) for x in inputs), strict=False)]
    if isinstance(inputs, dict) and inputs:
        parts = zip(*(scatter(x, target_gpus, dim) for x in inputs.values()), strict=False)
        return [type(inputs)(zip(inputs, part, strict=True)) for part in parts]
    return [inputs for _ in target_gpus]


def scatter_kwargs(inputs, kwargs, target_gpus, dim=0):
    """Positional and keyword arguments for each device, filled up to one length."""
    inputs = list(scatter(inputs, target_gpus, dim)) if inputs else []
    kwargs = list(scatter(kwargs, target_gpus, dim)) if kwargs else []
    inputs += [()] * (len(kwargs) - len(inputs))
    kwargs += [{}] * (len(inputs) - len(kwargs))
    return tuple(inputs), tuple(kwargs)


def gather(outputs, target_device, dim=0):
    """The outputs of all devices joined; numbers (tensors without dimensions) become a vector."""
    first = outputs[0]
    if isinstance(first, Tensor):
        if all(t.dim() == 0 for t in outputs) and dim == 0:
            import warnings

            warnings.warn(
                "Was asked to gather along dimension 0, but all input tensors were scalars; will instead unsqueeze and "
                "return a vector.",
                stacklevel=2,
            )
            outputs = [t.view(1) for t in outputs]
        return _ops.cat(list(outputs), dim)
    if first is None:
        return None
    if isinstance(first, dict):
        return type(first)((key, gather([o[key] for o in outputs], target_device, dim)) for key in first)
    parts = (gather(list(part), target_device, dim) for part in zip(*outputs, strict=True))
    return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)
