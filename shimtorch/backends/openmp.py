"""``torch.backends.openmp``: whether the kernels share their work among threads of OpenMP."""
from .._kernels.table import openmp as is_available

__all__ = ["is_available"]
