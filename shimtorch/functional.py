"""``torch.functional``: functions of the torch namespace under the name of the module that used to hold them."""
from . import _ops


def __getattr__(name):
    if name in ("einsum", "norm", "split", "tensordot", "broadcast_tensors", "chain_matmul", "unique", "meshgrid",
                "cartesian_prod", "block_diag", "atleast_1d", "atleast_2d", "atleast_3d", "cdist", "istft", "lu",
                "pca_lowrank", "stft", "svd_lowrank", "unique_consecutive", "unravel_index"):
        return getattr(_ops, name)
    raise AttributeError(f"module 'torch.functional' has no attribute '{name}'")
