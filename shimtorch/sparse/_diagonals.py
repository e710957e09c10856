"""``torch.sparse.spdiags``."""
from .._core.device import sparse_coo, sparse_csc, sparse_csr
from .._core.dtype import int64, scalar_type
from .._ops import OPS
from .._ops._sparse_parts import layout_name


def spdiags(diagonals, offsets, shape, layout=None):
    """See ``torch.sparse.spdiags``."""
    if layout not in (None, sparse_coo, sparse_csr, sparse_csc):
        raise RuntimeError("Only output layouts (Sparse, SparseCsc, SparseCsr) are supported, got "
                           f"{layout_name(layout)}")
    if len(shape) != 2:
        raise RuntimeError("Output shape must be 2d")
    if diagonals.dim() == 1:
        diagonals = diagonals.unsqueeze(0)
    if offsets.dim() == 0:
        offsets = offsets.unsqueeze(0)
    if offsets.dim() != 1:
        raise RuntimeError("Offsets must be scalar or vector")
    if diagonals.dim() != 2:
        raise RuntimeError("Diagonals must be vector or matrix")
    if diagonals.shape[0] != offsets.shape[0]:
        raise RuntimeError(f"Number of diagonals ({diagonals.shape[0]}) does not match the number of offsets "
                           f"({offsets.shape[0]})")
    if offsets.dtype is not int64:
        raise RuntimeError(f"Offset Tensor must have dtype Long but got {scalar_type(offsets.dtype)}")
    offsets = offsets.tolist()
    if len(set(offsets)) != len(offsets):
        raise RuntimeError("Offset tensor contains duplicate values")
    columns, numbers = [], []
    for k in offsets:
        first = max(k, 0)
        last = min(shape[0] + k, shape[1], diagonals.shape[1])
        columns.append(OPS["torch.arange"](first, max(first, last), dtype=int64))
        numbers.append(columns[-1] - k)
    cat = OPS["torch.cat"]
    values = cat([d.index_select(0, c) for d, c in zip(diagonals.unbind(), columns, strict=True)])
    indices = OPS["torch.stack"]([cat(numbers), cat(columns)])
    result = OPS["torch.sparse_coo_tensor"](indices, values, tuple(shape))
    return result if layout in (None, sparse_coo) else result.to_sparse(layout=layout)
