"""``torch.backends``: switches of libraries that torch may use. Only those of ``opt_einsum`` have an effect here."""
from . import cpu, cuda, cudnn, cusparselt, miopen, mkl, mkldnn, mps, nnpack, openmp, opt_einsum

__all__ = ["cpu", "cuda", "cudnn", "cusparselt", "miopen", "mkl", "mkldnn", "mps", "nnpack", "openmp", "opt_einsum"]
