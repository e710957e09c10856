"""``torch.backends.openmp``: whether the kernels share their work among threads (the pool is shimtorch's own)."""
from .._kernels.table import threaded as is_available

__all__ = ["is_available"]
