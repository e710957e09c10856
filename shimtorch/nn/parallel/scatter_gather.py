"""Batches split and put together again (torch.nn.parallel.scatter_gather)."""

from ... import _ops
from ..._core import Tensor
from ..._core.device import device

__all__ = ["gather", "scatter", "scatter_kwargs"]


def scatter(inputs, target_gpus, dim=0):
    """The tensors in *inputs* split into chunks, one for each device; other things go to all."""
    if isinstance(inputs, Tensor):
        return _pieces(inputs, target_gpus, dim)
    if isinstance(inputs, tuple) and inputs:
        parts = list(zip(*(scatter(x, target_gpus, dim) for x in inputs), strict=False))
        return [type(inputs)(*part) for part in parts] if hasattr(inputs, "_fields") else parts
    if isinstance(inputs, list) and inputs:
        return [list(part) for part in zip(*(scatter(x, target_gpus, dim) for x in inputs), strict=False)]
    if isinstance(inputs, dict) and inputs:
        parts = zip(*(scatter(x, target_gpus, dim) for x in inputs.values()), strict=False)
        return [type(inputs)(zip(inputs, part, strict=True)) for part in parts]
    return [inputs for _ in target_gpus]


def _pieces(tensor, devices, dim):
    """The chunks of a tensor, each on its device; where there is no CUDA device, all on the CPU."""
    from ... import cuda

    chunks = tensor.chunk(len(devices), dim)
    if not cuda.is_available():
        return chunks
    return tuple(chunk.to(device_of(d), non_blocking=True) for chunk, d in zip(chunks, devices))


def device_of(d):
    """The device that a user names by its number or otherwise."""
    return device("cuda", d) if isinstance(d, int) else device(d)


def scatter_kwargs(inputs, kwargs, target_gpus, dim=0):
    """Positional and keyword arguments for each device, filled up to one length."""
    inputs = list(scatter(inputs, target_gpus, dim)) if inputs else []
    kwargs = list(scatter(kwargs, target_gpus, dim)) if kwargs else []
    inputs += [()] * (len(kwargs) - len(inputs))
    kwargs += [{}] * (len(inputs) - len(kwargs))
    return tuple(inputs), tuple(kwargs)


def gather(outputs, target_device, dim=0):
    """The outputs of all devices joined on one; numbers (tensors without dimensions) become a vector."""
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
        if any(t.is_cuda for t in outputs):
            target = device("cpu") if target_device in (-1, "cpu", device("cpu")) else device_of(target_device)
            outputs = [t.to(target) for t in outputs]
        return _ops.cat(list(outputs), dim)
    if first is None:
        return None
    if isinstance(first, dict):
        return type(first)((key, gather([o[key] for o in outputs], target_device, dim)) for key in first)
    parts = (gather(list(part), target_device, dim) for part in zip(*outputs, strict=True))
    return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)
