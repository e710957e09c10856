"""Parameters as one vector and back (torch.nn.utils.convert_parameters)."""

from ... import _ops
from ..._core import Tensor

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def _check_devices(devices):
    if len(devices) > 1:
        raise TypeError("Found two parameters on different devices, this is currently not supported.")


def parameters_to_vector(parameters):
    """All parameters, flattened, one after the other."""
    parameters = list(parameters)
    _check_devices({p.device for p in parameters})
    return _ops.cat([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec, parameters):
    """Set the data of the parameters to the parts of *vec*, as views of it."""
    if not isinstance(vec, Tensor):
        from ... import typename

        raise TypeError(f"expected torch.Tensor, but got: {typename(vec)}")
    start = 0
    for p in parameters:
        _check_devices({vec.device, p.device})
        size = p.numel()
        p.data = vec[start : start + size].view_as(p).data
        start += size
