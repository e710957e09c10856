"""Where ``torch.cuda.amp`` has these names."""
from . import GradScaler

__all__ = ["GradScaler"]
