"""Where ``torch.cuda.amp`` has these names."""
from . import amp_definitely_not_available

__all__ = ["amp_definitely_not_available"]
