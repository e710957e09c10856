"""Copies of a module on several devices (torch.nn.parallel.replicate)."""

from .scatter_gather import device_of

__all__ = ["replicate"]


def replicate(network, devices, detach=False):
    """A copy of *network* for each device, with its parameters and buffers there: gradients flow to *network*'s own.

    A parameter that is on the device already is shared, and so is every one on a machine without CUDA (*detach*:
    without its history).
    """
    from ... import cuda

    places = [device_of(d) if cuda.is_available() else None for d in devices]
    return [_copy(network, place, detach, {}, {}) for place in places]


def _there(tensor, place, detach, moved):
    """A parameter or buffer at a place; one that several modules share is copied once."""
    if tensor is None:
        return None
    if id(tensor) not in moved:
        given = tensor.detach() if detach else tensor
        moved[id(tensor)] = given if place is None or given.device == place else given.to(place, non_blocking=True)
    return moved[id(tensor)]


def _copy(module, place, detach, known, moved):
    if id(module) in known:
        return known[id(module)]
    copy = known[id(module)] = module.__new__(type(module))
    copy.__dict__ = module.__dict__.copy()
    copy._parameters = {name: _there(p, place, detach, moved) for name, p in module._parameters.items()}
    copy._buffers = {
        name: b if place is None else _there(b, place, True, moved) for name, b in module._buffers.items()
    }
    copy._modules = {
        name: None if child is None else _copy(child, place, detach, known, moved)
        for name, child in module._modules.items()
    }
    return copy
