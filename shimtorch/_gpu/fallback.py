"""What happens to an op that has no form for a device: it is refused or, with SHIMTORCH_CUDA_FALLBACK=1, done here."""
import os

from .._core.inplace import InplaceOp
from .._core.tensor import TensorBase

_warned = set()


def allowed():
    """Whether ops without a form for the device are computed on the CPU."""
    return os.environ.get("SHIMTORCH_CUDA_FALLBACK", "0") not in ("", "0")


def warn_once(name, device):
    """Say, once for each op, that it is computed on the CPU."""
    if name not in _warned:
        _warned.add(name)
        import warnings
        warnings.warn(f"{name}: not implemented for device '{device}', computed on the CPU (SHIMTORCH_CUDA_FALLBACK)",
                      UserWarning, stacklevel=2)


def _moved(x, device):
    if isinstance(x, TensorBase):
        return x.to(device) if x.device != device else x
    if isinstance(x, (list, tuple)):
        items = [_moved(i, device) for i in x]
        return type(x)._make(items) if hasattr(type(x), "_make") else type(x)(items)
    return x


def _device_of(values):
    for x in values:
        if isinstance(x, TensorBase) and x.is_cuda:
            return x.device
        if isinstance(x, (list, tuple)) and (found := _device_of(x)) is not None:
            return found
    return None


def fallback(op, impl):
    """What computes op in place of a form for the device; raises if that is not allowed."""
    name = op.__name__.lstrip("_")

    def on_cpu(*args, **kwargs):
        device = _device_of([*args, *kwargs.values()])
        if not allowed():
            raise NotImplementedError(f"{name}: not implemented for device '{device}'")
        warn_once(name, device)
        moved = _moved(args, "cpu")
        result = impl(*moved, **{k: _moved(v, "cpu") for k, v in kwargs.items()})
        if isinstance(op, InplaceOp):
            args[0].copy_(moved[0])
            return args[0]
        return _moved(result, device)
    return on_cpu
