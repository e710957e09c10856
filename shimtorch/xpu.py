"""``torch.xpu``: there is no such device, and what asks for it is answered so."""
from ._absent_device import *  # noqa: F403


def synchronize(device=None):
    """Not to be had: AssertionError."""
    raise AssertionError("Torch not compiled with XPU enabled")
