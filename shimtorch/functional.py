"""``torch.functional``: functions of the torch namespace under the name of the module that used to hold them."""
from . import _ops

_NAMES = frozenset("""
    atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors btrifact btrifact_with_info btrisolve btriunpack
    cartesian_prod cdist chain_matmul einsum gesv histogramdd isfinite isinf istft lu lu_unpack meshgrid norm
    pca_lowrank potrf potri potrs pstrf split stft svd_lowrank tensordot trtrs unique unique_consecutive unravel_index
    """.split())


def __getattr__(name):
    if name in _NAMES:
        return getattr(_ops, name)
    if name == "broadcast_shapes":
        from ._ops.shape import broadcast_shapes
        return broadcast_shapes
    from ._refused import attribute
    return attribute("torch.functional", name)
