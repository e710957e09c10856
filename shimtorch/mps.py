"""``torch.mps``: there is no such device, and what asks for it is answered so."""
from ._absent_device import *  # noqa: F403


def synchronize():
    """Not to be had: RuntimeError."""
    raise RuntimeError("Cannot execute deviceSynchronize() without MPS backend.")
