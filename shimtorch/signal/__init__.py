"""``torch.signal``: window functions of signals."""
from . import windows

__all__ = ["windows"]
