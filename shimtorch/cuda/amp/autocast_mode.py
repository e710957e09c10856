"""Where ``torch.cuda.amp`` has these names."""
from . import autocast, custom_bwd, custom_fwd

__all__ = ["autocast", "custom_bwd", "custom_fwd"]
