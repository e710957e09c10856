"""``torch.accelerator``: the device beside the CPU, whichever there is."""
from ._core.device import device as _device

__all__ = ["current_accelerator", "current_device_index", "current_stream", "device_count", "empty_cache",
           "is_available", "set_device_index", "synchronize"]


def _cuda():
    from . import cuda
    return cuda


def is_available():
    """Whether there is an accelerator that can be used."""
    return _cuda().is_available()


def device_count():
    """How many accelerators there are."""
    return _cuda().device_count()


def current_accelerator(check_available=False):
    """``device(type="cuda")`` where there is one, else None."""
    return _device("cuda") if is_available() else None


def _needed():
    if not is_available():
        raise RuntimeError("Cannot access accelerator device when none is available.")
    return _cuda()


def current_device_index():
    """The number of the current accelerator; RuntimeError without any."""
    return _needed().current_device()


def set_device_index(device):
    """Make the accelerator of a number the current one; RuntimeError without any."""
    _needed().set_device(device)


def current_stream(device=None):
    """The current stream of an accelerator; RuntimeError without any."""
    return _needed().current_stream(device)


def synchronize(device=None):
    """Wait for an accelerator; RuntimeError without any."""
    _needed().synchronize(device)


def empty_cache():
    """Give back what the allocator of the accelerator keeps; RuntimeError without any."""
    _needed().empty_cache()
