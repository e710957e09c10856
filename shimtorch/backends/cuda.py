"""``torch.backends.cuda``: whether there is CUDA in this build, and how products of matrices are computed with it."""
from .._gpu import load as _load
from .._gpu import switches as _switches


def is_built():
    """Whether the package was built with CUDA; ``torch.cuda.is_available`` says whether a device can be used."""
    return _load.built()


class _Products:
    """``torch.backends.cuda.matmul``: what cuBLAS may round for the sake of speed."""

    def __init__(self):
        self.allow_fp16_reduced_precision_reduction = True
        self.allow_bf16_reduced_precision_reduction = True
        self.allow_fp16_accumulation = False

    @property
    def allow_tf32(self):
        """Whether products of float32 may round their factors to 10 bits."""
        return _switches.allow_tf32

    @allow_tf32.setter
    def allow_tf32(self, allowed):
        _switches.allow_tf32 = bool(allowed)


matmul = _Products()
