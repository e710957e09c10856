"""``torch.backends.cpu``: what the kernels are built for."""
from .._kernels.table import isa

__all__ = ["get_cpu_capability"]


def get_cpu_capability():
    """The instruction set of the kernels in use, as torch names them: "DEFAULT", "AVX2" or "AVX512"."""
    return {"x86-64-v3": "AVX2", "x86-64-v4": "AVX512"}.get(isa(), "DEFAULT")
