"""``torch.backends``: switches of libraries that torch may use; here they are kept and have no effect."""
from . import cuda, cudnn, mkl, mkldnn, openmp

__all__ = ["cuda", "cudnn", "mkl", "mkldnn", "openmp"]
