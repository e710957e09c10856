"""Copies between several devices, and sums over them: ``torch.cuda.comm``."""
from .. import _ops
from .._core.device import device as device_class
from .._gpu import load as _load

__all__ = ["broadcast", "broadcast_coalesced", "gather", "reduce_add", "reduce_add_coalesced", "scatter"]


def _device(d):
    return device_class("cuda", _load.index_of(d))


def _check_either(devices, out):
    if (devices is None) == (out is None):
        raise RuntimeError(f"Exactly one of 'devices' and 'out' must be specified, but got devices={devices} and "
                           f"out={out}")


def broadcast(tensor, devices=None, *, out=None):
    """A tensor on each of devices (itself where it is there already), or written to each of the tensors ``out``."""
    _check_either(devices, out)
    if out is None:
        return tuple(tensor.to(_device(d), non_blocking=True) for d in devices)
    for t in out:
        if not t.is_cuda:
            raise RuntimeError(f"Expected all output tensors to be CUDA tensors, but got one on {t.device}")
        if t.shape != tensor.shape:
            raise RuntimeError(f"Expected all output tensors to have shape {list(tensor.shape)}, but got one with "
                               f"shape {list(t.shape)}")
        t.copy_(tensor, non_blocking=True)
    return tuple(out)


def broadcast_coalesced(tensors, devices, buffer_size=10485760):
    """For each of devices, the tensors there; buffer_size is taken for the sake of scripts."""
    devices = [_device(d) for d in devices]
    if not all(t.is_cuda and t.device == devices[0] for t in tensors):
        raise RuntimeError("All tensors must be on devices[0]: " + str(devices[0].index))
    return [tuple(t.to(d, non_blocking=True) for t in tensors) for d in devices]


def reduce_add(inputs, destination=None):
    """The sum of tensors of one shape on several devices, on the current device or the one that is named."""
    inputs = list(inputs)
    target = _device(destination)
    for t in inputs:
        if not t.is_cuda:
            raise AssertionError("reduce_add expects all inputs to be on GPUs")
        if t.shape != inputs[0].shape:
            raise ValueError(f"input {inputs.index(t)} has invalid size: got "
                             f"{'x'.join(map(str, t.shape))}, but expected {'x'.join(map(str, inputs[0].shape))}")
    if not any(t.device == target for t in inputs):
        raise RuntimeError("reduce_add expects destination to be on the same GPU with one of the tensors")
    if len(inputs) == 1:
        return inputs[0]
    result = inputs[0].to(target).clone() if inputs[0].device == target else inputs[0].to(target)
    for t in inputs[1:]:
        result = result.add_(t.to(target))
    return result


def reduce_add_coalesced(inputs, destination=None, buffer_size=10485760):
    """The sums of several lists of tensors, one list a device: see ``reduce_add``."""
    return tuple(reduce_add(list(ones), destination) for ones in zip(*inputs, strict=True))


def scatter(tensor, devices=None, chunk_sizes=None, dim=0, streams=None, *, out=None):
    """A tensor cut along a dimension, a piece for each device: of equal sizes, or of those that are named.

    streams: on which the pieces are copied, one a device (None: the current one).
    """
    _check_either(devices, out)
    if out is not None:
        if chunk_sizes is not None:
            raise RuntimeError("'chunk_sizes' must not be specified when 'out' is specified")
        pieces = tensor.split([t.size(dim) for t in out], dim)
        for t, piece in zip(out, pieces, strict=True):
            t.copy_(piece, non_blocking=True)
        return tuple(out)
    devices = [_device(d) for d in devices]
    if chunk_sizes is not None:
        if sum(chunk_sizes) != tensor.size(dim):
            raise RuntimeError(f"given chunk sizes don't sum up to the tensor's size (sum(chunk_sizes) == "
                               f"{sum(chunk_sizes)}, but expected {tensor.size(dim)})")
        pieces = tensor.split(list(chunk_sizes), dim)
    else:
        pieces = tensor.chunk(len(devices), dim)
    results = []
    for i, piece in enumerate(pieces):
        stream = streams[i] if streams else None
        if stream is None:
            results.append(piece.to(devices[i], non_blocking=True))
        else:
            from .streams import stream as on_stream
            with on_stream(stream):
                results.append(piece.to(devices[i], non_blocking=True))
    return tuple(results)


def gather(tensors, dim=0, destination=None, *, out=None):
    """Tensors of several devices joined along a dimension, on the current device, the one named, or the CPU."""
    tensors = list(tensors)
    for t in tensors:
        if not t.is_cuda:
            raise RuntimeError(f"Expected all input tensors to be CUDA tensors, but got one on {t.device}")
    if out is not None:
        if destination is not None:
            raise RuntimeError("'destination' must not be specified when 'out' is specified, but got "
                               f"destination={destination}")
        return out.copy_(_ops.cat([t.to(out.device) for t in tensors], dim))
    on_cpu = destination == -1 or (not isinstance(destination, (int, type(None)))
                                   and device_class(destination).type == "cpu")
    target = device_class("cpu") if on_cpu else _device(destination)
    return _ops.cat([t.to(target) for t in tensors], dim)
