"""Copies of a module that share its parameters (torch.nn.parallel.replicate)."""

__all__ = ["replicate"]


def replicate(network, devices, detach=False):
    """A copy of *network* for each device, with the same parameters and buffers (detached or not)."""
    return [_copy(network, detach, {}) for _ in devices]


def _copy(module, detach, known):
    if id(module) in known:
        return known[id(module)]
    copy = known[id(module)] = module.__new__(type(module))
    copy.__dict__ = module.__dict__.copy()
    copy._parameters = {
        name: p.detach() if detach and p is not None else p for name, p in module._parameters.items()
    }
    copy._buffers = module._buffers.copy()
    copy._modules = {
        name: None if child is None else _copy(child, detach, known) for name, child in module._modules.items()
    }
    return copy
