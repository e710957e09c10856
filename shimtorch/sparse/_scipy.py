"""Sparse matrices to and from SciPy, which is imported when these are called."""
from .._core.device import sparse_bsr, sparse_coo, sparse_csc, sparse_csr
from .._core.tensor import wrap_ndarray
from .._ops import OPS
from .._ops._sparse_parts import parts

_LAYOUTS = {"coo": sparse_coo, "csr": sparse_csr, "csc": sparse_csc, "bsr": sparse_bsr}


def from_scipy(matrix):
    """See ``torch.sparse.from_scipy``."""
    kind = getattr(matrix, "format", None)
    if kind not in _LAYOUTS:
        raise TypeError("torch.sparse.from_scipy: expected a SciPy sparse array in format coo, csr, csc or bsr, got "
                        f"{type(matrix).__name__ if kind is None else kind}")
    values, size = wrap_ndarray(matrix.data), matrix.shape
    if kind == "coo":
        coords = matrix.coords if hasattr(matrix, "coords") else (matrix.row, matrix.col)
        return OPS["torch.sparse_coo_tensor"](wrap_ndarray(_stacked(coords)), values, size)
    pointers, plain = wrap_ndarray(matrix.indptr), wrap_ndarray(matrix.indices)
    return OPS["torch.sparse_compressed_tensor"](pointers, plain, values, size, layout=_LAYOUTS[kind])


def _stacked(coords):
    """Coordinates as rows of one int64 array: that which they are rows of, if they lie so, or a copy."""
    import numpy as np
    first = coords[0]
    places = [c.__array_interface__["data"][0] for c in coords]
    step = places[-1] - places[-2] if len(coords) > 1 else first.nbytes
    if (first.base is not None and step >= first.nbytes > 0 and step % 8 == 0
            and all(c.base is first.base and c.dtype == np.int64 and c.flags.carray for c in coords)
            and places == [places[0] + d * step for d in range(len(coords))]):
        return np.lib.stride_tricks.as_strided(first, (len(coords), first.size), (step, 8))
    return np.stack([np.asarray(c, np.int64) for c in coords])


def to_scipy(tensor):
    """See ``torch.sparse.to_scipy``."""
    import scipy.sparse
    if tensor.requires_grad:
        raise RuntimeError("Can't convert a sparse tensor that requires grad to SciPy. Use tensor.detach() instead.")
    kinds = {layout: kind for kind, layout in _LAYOUTS.items()}
    if tensor.layout not in kinds:
        raise TypeError(f"torch.sparse.to_scipy: expected a tensor in layout coo, csr, csc or bsr, got {tensor.layout}")
    if tensor.dense_dim() or (tensor.layout is not sparse_coo and tensor.dim() != 2):
        raise TypeError("torch.sparse.to_scipy: expected a tensor without batches and dense dimensions, got size "
                        f"{list(tensor.shape)} with {tensor.dense_dim()} dense dimensions")
    kind = kinds[tensor.layout]
    if kind == "coo":
        values = tensor._values().numpy()
        result = scipy.sparse.coo_array(tuple(tensor.shape), dtype=values.dtype)
        coords = tuple(tensor._indices().numpy())
        if hasattr(result, "coords"):
            result.coords = coords
        else:                           # before SciPy 1.13
            result.row, result.col = coords
        result.data = values
        result.has_canonical_format = tensor.is_coalesced()
        return result
    held = parts.compressed_parts(tensor)
    pointers, plain, values = (x.detach().contiguous().numpy() for x in (held.pointers, held.plain, held.values))
    options = {"blocksize": values.shape[1:]} if kind == "bsr" else {}
    result = getattr(scipy.sparse, kind + "_array")(tuple(tensor.shape), dtype=values.dtype, **options)
    result.data, result.indices, result.indptr = values, plain, pointers
    return result
