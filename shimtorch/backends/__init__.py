"""``torch.backends``: switches of libraries that torch may use. Only those of ``opt_einsum`` have an effect here."""
from . import cuda, cudnn, mkl, mkldnn, openmp, opt_einsum

__all__ = ["cuda", "cudnn", "mkl", "mkldnn", "openmp", "opt_einsum"]
