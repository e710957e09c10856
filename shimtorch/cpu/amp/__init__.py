"""``torch.cpu.amp``: the name of ``torch.amp.autocast`` for the CPU, which is deprecated in modern torch."""
import warnings

from ... import amp as _amp
from ..._core.dtype import bfloat16
from ..._core.policy import policy

__all__ = ["autocast"]


class autocast(_amp.autocast):
    """``torch.amp.autocast("cpu", ...)``."""

    def __init__(self, enabled=True, dtype=bfloat16, cache_enabled=True):
        if policy.texts_of is None:
            warnings.warn("`torch.cpu.amp.autocast(args...)` is deprecated. Please use `torch.amp.autocast('cpu', "
                          "args...)` instead.", FutureWarning, stacklevel=2)
        super().__init__("cpu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)
