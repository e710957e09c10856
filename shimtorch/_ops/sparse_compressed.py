"""Matrices in compressed sparse rows or columns (torch.sparse_csr, torch.sparse_csc), or of blocks (bsr, bsc).

Pointers are (*batch, n + 1), plain indices (*batch, nnz), values (*batch, nnz, *block, *dense). They are computed with
through their twin in coordinate format, made once: of the same entries in the same order, batches as further sparse
dimensions, blocks taken apart.
"""
import math

from .._core import factory
from .._core.declaring import op
from .._core.device import as_device, sparse_bsc, sparse_bsr, sparse_csc, sparse_csr, strided
from .._core.dtype import int64
from .._core.tensor import Size, TensorBase, wrap_ndarray
from ._sparse_parts import checks, counted, is_compressed, is_coo, layout_name, on_device, parts
from .sparse import grouping, mask_of, values_at

# The names of the two index tensors; which dimension the pointers run along; whether entries are blocks.
_FORMATS = {
    sparse_csr: ("crow_indices", "col_indices", 0, False), sparse_csc: ("ccol_indices", "row_indices", 1, False),
    sparse_bsr: ("crow_indices", "col_indices", 0, True), sparse_bsc: ("ccol_indices", "row_indices", 1, True)}
_TRANSPOSED = {sparse_csr: sparse_csc, sparse_csc: sparse_csr, sparse_bsr: sparse_bsc, sparse_bsc: sparse_bsr}


@op(method=False, function=False, cuda=True, backward_name="SparseCompressedTensorBackward0",
    grads={"values": lambda g, out: _values_like(g, out)})
def compressed_from_parts(layout, pointers, plain, values, size):
    """A tensor of parts that fit together."""
    return parts.make_compressed(layout, pointers, plain, values, size)


def _values_like(g, out):
    """The values of a gradient, of any layout, where the compressed tensor has entries and in their order."""
    return values_at(to_coo(g) if is_compressed(g) else g, _twin(out)).reshape(parts.compressed_parts(out).values.shape)


def with_values(self, values):
    """A compressed tensor with the same indices and other values; differentiable."""
    p = parts.compressed_parts(self)
    return compressed_from_parts(p.layout, p.pointers, p.plain, values, self.shape)


# ---------------------------------------------------------------- geometry

def _batch(p):
    return tuple(p.pointers.shape[:-1])


def block_of(self):
    """The size of the blocks of a tensor in layout bsr or bsc; None in the others."""
    p = parts.compressed_parts(self)
    if not _FORMATS[p.layout][3]:
        return None
    n = p.plain.dim()
    return tuple(p.values.shape[n:n + 2])


def dense_dim(self):
    """The number of dense dimensions of a compressed tensor."""
    p = parts.compressed_parts(self)
    return p.values.dim() - p.plain.dim() - (2 if _FORMATS[p.layout][3] else 0)


# ---------------------------------------------------------------- to coordinates and back

def _twin(self):
    p = parts.compressed_parts(self)
    if p.twin is None:
        along, blocked = _FORMATS[p.layout][2:]
        indices, values = _coordinates(p, along), p.values
        if blocked:
            indices = _taken_apart(indices, block_of(self))
        n_sparse = self.dim() - dense_dim(self)
        if blocked or n_sparse > 2:
            values = values.reshape((indices.shape[1], *self.shape[n_sparse:]))
        twin = parts.make_coo(indices, values, self.shape)
        parts.check_indices(twin)
        if along == 0 and not blocked and grouping(indices, tuple(self.shape[:n_sparse])).distinct:
            twin = parts.make_coo(indices, values, self.shape, True, True)
        p.twin = twin
    return p.twin


def _coordinates(p, along):
    """Batch coordinates, row and column of each entry, or of each block."""
    import numpy as np

    from .._kernels import csr
    if p.pointers.is_cuda:
        return on_device().line_coordinates(p.pointers.to(int64).contiguous(), p.plain.to(int64).contiguous(), along)
    pointers, plain = p.pointers.to(int64).contiguous()._ndarray(), p.plain.to(int64).contiguous()._ndarray()
    batch = _batch(p)
    if not batch:
        lines = csr.row_numbers(pointers)
        return wrap_ndarray(np.stack((lines, plain) if along == 0 else (plain, lines)))
    each = np.diff(pointers.reshape(math.prod(batch), pointers.shape[-1]), axis=1)
    lines = np.repeat(np.tile(np.arange(each.shape[1]), each.shape[0]), each.reshape(-1))
    numbers = np.repeat(np.arange(each.shape[0]), plain.shape[-1])
    matrix = (lines, plain.reshape(-1)) if along == 0 else (plain.reshape(-1), lines)
    return wrap_ndarray(np.stack((*np.unravel_index(numbers, batch), *matrix)) if numbers.size else np.zeros(
        (len(batch) + 2, 0), np.int64))


def _taken_apart(indices, block):
    """Coordinates of the elements of blocks, block by block."""
    (height, width), (dims, n) = block, indices.shape
    out = indices.reshape(dims, n, 1, 1).expand(dims, n, height, width).clone()
    out[-2].mul_(height).add_(counted(height, indices).unsqueeze(1))
    out[-1].mul_(width).add_(counted(width, indices))
    return out.reshape(dims, n * height * width)


@op(method=False, function=False, sparse=True, backward_name="ToSparseBackward0", grads={
    "self": lambda g, self: with_values(self, _values_like(g, self.detach()))})
def to_coo(self):
    """The same tensor in coordinate format."""
    return _twin(self).detach()


@op(method=False, function=False, sparse=True, backward_name="ToSparseBackward0",
    grads={"self": lambda g, self: mask_of(to_coo(g) if is_compressed(g) else g, self)})
def coo_to_compressed(self, layout, blocksize=None):
    """A sparse tensor in compressed rows or columns; sparse dimensions before the last two number the matrices."""
    along, n = _FORMATS[layout][2], parts.unchecked_parts(self).sparse_dim
    size = self.shape
    self = parts.coalesce(self.transpose(n - 2, n - 1) if along == 1 else self)
    p = parts.parts(self)
    if n == 2 and self.dim() == 2 and blocksize is None:
        pointer, plain = parts.compressed_rows(self)
        return parts.make_compressed(layout, pointer, plain, p.values, size)
    return parts.make_compressed(layout, *_compress(p, self.shape, along, blocksize), size)


def _compress(p, shape, along, block):
    """Pointers, plain indices and values of sorted entries; `shape` and `p` have lines before what crosses them."""
    import numpy as np

    from .._kernels.coalesce import Grouping
    n = p.sparse_dim
    batch, lines, across = tuple(shape[:n - 2]), shape[n - 2], shape[n - 1]
    if p.indices.is_cuda:
        return on_device().compress(p, batch, lines, across, along, block)
    indices, values = p.indices._ndarray(), p.values
    numbers = np.zeros(indices.shape[1], np.int64)
    for coordinates, length in zip(indices, batch, strict=False):
        numbers = numbers * length + coordinates
    at, plain, inner = indices[n - 2], indices[n - 1], ()
    if block is not None:
        inner = tuple(block)
        tall, wide = block if along == 0 else block[::-1]
        lines, across = lines // tall, across // wide
        groups = Grouping(np.stack((numbers, at // tall, plain // wide)), (math.prod(batch), lines, across))
        row, column = (at % tall, plain % wide) if along == 0 else (plain % wide, at % tall)
        places = (groups.inverse() * block[0] + row) * block[1] + column
        numbers, at, plain = groups.indices()
        filled = values.new_zeros((numbers.size * block[0] * block[1], *values.shape[1:]))
        values = filled.index_copy_(0, wrap_ndarray(places), values)
    total = math.prod(batch)
    each = np.bincount(numbers, minlength=total) if total else np.zeros(1, np.int64)
    if (each != each[0]).any():
        raise uneven()
    pointers = np.zeros((total, lines + 1), np.int64)
    if total and numbers.size:
        counts = np.bincount(numbers * lines + at, minlength=total * lines).reshape(total, lines)
        np.cumsum(counts, axis=1, out=pointers[:, 1:])
    nnz = int(each[0])
    return (wrap_ndarray(pointers.reshape(*batch, lines + 1)),
            wrap_ndarray(np.ascontiguousarray(plain).reshape(*batch, nnz)),
            values.reshape((*batch, nnz, *inner, *p.values.shape[1:])))


def uneven():
    """The error for batches whose matrices have unlike numbers of entries."""
    return RuntimeError("Expect the same number of specified elements per batch.")


def to_compressed(self, layout, blocksize=None, dense_dim=None):
    """``to_sparse(layout=...)`` of a dense tensor or a sparse one."""
    if layout not in _FORMATS:
        raise RuntimeError(f"to_sparse: unknown layout {layout}")
    blocked, name = _FORMATS[layout][3], layout_name(layout)
    if blocked != (blocksize is not None):
        given = "with" if blocksize is not None else "without"
        raise RuntimeError(f"to_sparse: conversion from {layout_name(self)} to {name} {given} blocksize argument given "
                           "is not supported")
    if self.layout is layout and (not blocked or block_of(self) == tuple(blocksize)):
        return self
    if self.layout is strided:
        dims = self.dim() - (dense_dim or 0)
        if dims < 2:
            raise RuntimeError(f"to_sparse: expected at least two sparse dimensions for the {name} layout, got a "
                               f"{self.dim()}-d tensor with {dense_dim or 0} dense dimensions")
        self = self.to_sparse(dims)
    elif not is_coo(self):
        self = to_coo(self)
    n = parts.unchecked_parts(self).sparse_dim
    if n < 2:
        raise RuntimeError(f"to_sparse: tensors with at least two sparse dimensions can be converted to the {name} "
                           f"layout, got one of {n} sparse dimensions and {self.dim()} in all")
    if dense_dim is not None and dense_dim != self.dim() - n:
        raise RuntimeError(f"to_sparse: conversion from {layout_name(self)} to {name} with another dense_dim "
                           f"({dense_dim}) than the tensor's ({self.dim() - n}) is not supported")
    if blocked:
        blocksize = tuple(blocksize)
        if len(blocksize) != 2 or min(blocksize) < 1:
            raise RuntimeError(f"to_sparse: blocksize must be two positive numbers, got {list(blocksize)}")
        if any(s % b for s, b in zip(self.shape[n - 2:n], blocksize, strict=True)):
            raise RuntimeError(f"to_sparse_{layout.name[7:]}: tensor sparse size ({self.shape[n - 2]},"
                               f"{self.shape[n - 1]}) must be divisible by given blocksize ({blocksize[0]},"
                               f"{blocksize[1]})")
    return coo_to_compressed(self, layout, blocksize)


def like(coo, layout, block):
    """A tensor in coordinate format, back in the layout that its operand had, where it fits into that."""
    if not is_coo(coo):
        return coo
    p = parts.parts(coo)
    n = p.sparse_dim
    if n < 2 or (block and any(s % b for s, b in zip(coo.shape[n - 2:n], block, strict=True))):
        return coo
    if n > 2 and (block or not _is_even(parts.parts(parts.coalesce(coo)).indices[:n - 2], tuple(coo.shape[:n - 2]))):
        return coo
    return coo_to_compressed(coo, layout, block)


def _is_even(places, batch):
    """Whether each matrix of a batch has as many entries as the others; places: where in the batch each entry is."""
    import numpy as np
    if places.is_cuda:
        return on_device().is_even(places, batch)
    places = places._ndarray()
    each = np.bincount(np.ravel_multi_index(tuple(places), batch), minlength=math.prod(batch)) if (
        places.size) else np.zeros(1)
    return bool((each == each[0]).all())


# ---------------------------------------------------------------- constructors

def make(layout, pointers, plain, values, size, dtype, device, requires_grad, check_invariants=None):
    """The constructors ``sparse_csr_tensor`` and its kin; every index is looked at."""
    if layout not in _FORMATS:
        raise RuntimeError("sparse_compressed_tensor expected sparse compressed tensor layout but got "
                           f"{'none' if layout is None else layout_name(layout)}")
    pointer_name, plain_name, along, blocked = _FORMATS[layout]
    pointers, plain = (x if isinstance(x, TensorBase) else factory.from_data(x, int64) for x in (pointers, plain))
    values = values if isinstance(values, TensorBase) else factory.from_data(values, dtype)
    for name, x in ((pointer_name, pointers), (plain_name, plain), ("values", values)):
        if x.layout is not strided:
            raise RuntimeError(f"expected {name} to be a strided tensor but got {layout_name(x)} tensor")
    if dtype is not None:
        values = values.to(dtype)
    place = values.device if device is None else as_device(device)
    pointers, plain, values = pointers.to(place), plain.to(place), values.to(place)
    block = _check_shapes(layout, pointers, plain, values)
    n, inner = plain.dim(), 2 if blocked else 0
    dense = tuple(values.shape[n + inner:])
    if size is None:
        crossing = int(plain.max()) + 1 if plain.numel() else 0
        lines = pointers.shape[-1] - 1
        matrix = (lines, crossing) if along == 0 else (crossing, lines)
        size = (*pointers.shape[:-1], *(m * b for m, b in zip(matrix, block, strict=True)), *dense)
    size = Size(size)
    _check_sizes(layout, size, pointers, plain, values, block, dense)
    _check_entries(layout, size, pointers.cpu(), plain.cpu(), block,
                   checks["invariants"] if check_invariants is None else check_invariants)
    result = compressed_from_parts(layout, pointers, plain, values, size)
    _twin(result.detach())
    return result.requires_grad_() if requires_grad and not result.requires_grad else result


def _check_shapes(layout, pointers, plain, values):
    """The size of a block; RuntimeError where the dtypes or numbers of dimensions of the parts do not fit."""
    pointer_name, plain_name, _, blocked = _FORMATS[layout]
    if pointers.dtype is not plain.dtype:
        from .._core.dtype import scalar_type
        raise RuntimeError(f"{pointer_name} and {plain_name} must have the same dtype, got "
                           f"{scalar_type(pointers.dtype)} and {scalar_type(plain.dtype)}, respectively")
    if pointers.dtype.name not in ("int64", "int32"):
        raise RuntimeError(f"{pointer_name} must be an int32 or int64 type, but got: {pointers.dtype}")
    for name, x in ((pointer_name, pointers), (plain_name, plain)):
        if x.dim() < 1:
            raise RuntimeError(f"{name} must have dimensionality >= 1 but got {x.dim()}")
    if pointers.dim() != plain.dim():
        raise RuntimeError(f"{pointer_name} and {plain_name} dimensionalities must be equal but got {pointers.dim()} "
                           f"and {plain.dim()}, respectively")
    least = plain.dim() + (2 if blocked else 0)
    if values.dim() < least:
        raise RuntimeError(f"values must have dimensionality >= {least} in layout {layout} but got {values.dim()}")
    if values.shape[plain.dim() - 1] != plain.shape[-1]:
        raise RuntimeError(f"{plain_name}.shape[-1] must be equal to nnz (={values.shape[plain.dim() - 1]}) as defined "
                           f"by values.shape[{plain.dim() - 1}], but got {plain.shape[-1]}")
    if pointers.shape[-1] < 1:
        raise RuntimeError(f"{pointer_name} must have at least one element")
    if pointers.shape[:-1] != plain.shape[:-1] or pointers.shape[:-1] != values.shape[:plain.dim() - 1]:
        raise RuntimeError(f"all batch dimensions of {pointer_name} (={list(pointers.shape[:-1])}), {plain_name} "
                           f"(={list(plain.shape[:-1])}) and values (={list(values.shape[:plain.dim() - 1])}) must be "
                           "equal")
    return tuple(values.shape[plain.dim():least]) if blocked else (1, 1)


def _check_sizes(layout, size, pointers, plain, values, block, dense):
    pointer_name, _, along, blocked = _FORMATS[layout]
    n_batch = plain.dim() - 1
    if len(size) != n_batch + 2 + len(dense):
        raise RuntimeError("tensor dimensionality must be sum of batch, base, and dense dimensionalities (="
                           f"{n_batch} + 2 + {len(dense)}) but got {len(size)}")
    for name, got, want in (("batch", size[:n_batch], pointers.shape[:-1]), ("dense", size[n_batch + 2:], dense)):
        if tuple(got) != tuple(want):
            raise RuntimeError(f"the {name} dimensions of size, {list(got)}, must be those of the parts, {list(want)}")
    matrix = size[n_batch:n_batch + 2]
    for d in (0, 1):
        if matrix[d] < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {matrix[d]}: {list(size)}")
        if block[d] < 1 or matrix[d] % block[d]:
            raise RuntimeError(f"tensor shape[{n_batch + d}] (={matrix[d]}) must be divisible with blocksize[{d}] "
                               f"(={block[d]}) as defined by values shape")
    lines = matrix[along] // block[along]
    if pointers.shape[-1] != lines + 1:
        what = ("row" if along == 0 else "column") + (" block" if blocked else "")
        raise RuntimeError(f"{pointer_name}.shape[-1] must be equal to the number of {what}s + 1 (={lines + 1}), but "
                           f"got {pointers.shape[-1]}")


def _check_entries(layout, size, pointers, plain, block, check_invariants):
    """RuntimeError unless pointers ascend from 0 to nnz, and plain indices lie within the size.

    check_invariants: those of a line must also ascend.
    """
    import numpy as np
    pointer_name, plain_name, along, _ = _FORMATS[layout]
    nnz, n_batch = plain.shape[-1], plain.dim() - 1
    limit = size[n_batch + 1 - along] // block[1 - along]
    starts, numbers = pointers.contiguous()._ndarray(), plain.contiguous()._ndarray()
    for place, want, found in (("0", "0", starts[..., 0]), ("-1", "nnz", starts[..., -1])):
        wrong = found != (0 if want == "0" else nnz)
        if wrong.any():
            raise RuntimeError(f"`{pointer_name}[..., {place}] == {want}` is not satisfied: found "
                               f"{found[wrong].flat[0]} where nnz is {nnz}.")
    each = np.diff(starts, axis=-1)
    if each.size and not 0 <= each.min():
        at = int(np.argmin(each.reshape(-1)))
        raise RuntimeError(f"`0 <= {pointer_name}[..., 1:] - {pointer_name}[..., :-1] <= "
                           f"{'ncols' if along == 0 else 'nrows'}` is not satisfied: {pointer_name} descends by "
                           f"{-each.reshape(-1)[at]} at place {at % each.shape[-1] + 1}.")
    wrong = (numbers < 0) | (numbers >= limit)
    if wrong.any():
        name = "ncols" if along == 0 else "nrows"
        raise RuntimeError(f"`0 <= {plain_name} < {name}` is not satisfied: found index {numbers[wrong].flat[0]} where "
                           f"{name} is {limit}.")
    if check_invariants and numbers.shape[-1] > 1:
        rows = np.repeat(np.tile(np.arange(each.shape[-1]), each.size // max(each.shape[-1], 1)), each.reshape(-1))
        rows = rows.reshape(numbers.shape)
        wrong = (rows[..., 1:] == rows[..., :-1]) & (numbers[..., 1:] <= numbers[..., :-1])
        if wrong.any():
            raise RuntimeError(f"`{plain_name}[..., {pointer_name}[..., i - 1]:{pointer_name}[..., i]] for all i = 1, "
                               f"..., {'nrows' if along == 0 else 'ncols'} are sorted and distinct along the last "
                               f"dimension values` is not satisfied: found {numbers[..., 1:][wrong].flat[0]} after "
                               f"{numbers[..., :-1][wrong].flat[0]}.")


# ---------------------------------------------------------------- parts and what keeps them

def pointers_of(self, name):
    """``crow_indices`` and ``ccol_indices``."""
    return _part(self, name, 0)


def plain_of(self, name):
    """``col_indices`` and ``row_indices``."""
    return _part(self, name, 1)


def _part(self, name, which):
    if self.layout not in _FORMATS or _FORMATS[self.layout][which] != name:
        expected = "row" if name in ("crow_indices", "col_indices") else "column"
        raise RuntimeError(f"{name} expected sparse {expected} compressed tensor layout but got {layout_name(self)}")
    p = parts.compressed_parts(self)
    return (p.plain if which else p.pointers).detach()


def transpose(self, dim0, dim1):
    """Two dimensions of one kind exchanged; rows for columns give the same parts in the other format."""
    p = parts.compressed_parts(self)
    n, matrix = self.dim(), len(_batch(p))
    a, b = sorted((dim0, dim1))
    kinds = ["Batch" if d < matrix else "Sparse" if d < matrix + 2 else "Dense" for d in (dim0, dim1)]
    if kinds[0] != kinds[1]:
        raise RuntimeError("transpose(): can only transpose dimensions of the same type (Batch, Sparse, Dense), got "
                           f"{dim0}({kinds[0]}) and {dim1}({kinds[1]})")
    size = list(self.shape)
    size[a], size[b] = size[b], size[a]
    layout, pointers, plain, values = p.layout, p.pointers, p.plain, p.values
    if a != b and kinds[0] == "Batch":
        pointers, plain, values = (x.transpose(a, b) for x in (pointers, plain, values))
    elif a != b and kinds[0] == "Dense":
        values = values.transpose(values.dim() - n + a, values.dim() - n + b)
    elif a != b:
        layout = _TRANSPOSED[layout]
        if _FORMATS[layout][3]:
            values = values.transpose(matrix + 1, matrix + 2)
    return parts.make_compressed(layout, pointers, plain, values, size)


def copy(self):
    p = parts.compressed_parts(self)
    return parts.make_compressed(p.layout, p.pointers.clone(), p.plain.clone(), p.values.clone(), self.shape)


def empty_like(self, dtype):
    """A compressed tensor of self's size without entries."""
    p = parts.compressed_parts(self)
    n = p.plain.dim()
    values = factory.new_empty((*p.values.shape[:n - 1], 0, *p.values.shape[n:]), dtype, p.values)
    plain = factory.new_empty((*p.plain.shape[:-1], 0), p.plain.dtype, p.plain)
    return parts.make_compressed(p.layout, p.pointers.new_zeros(p.pointers.shape), plain, values, self.shape)


def mask_by_compressed(self, mask):
    """A tensor where a compressed one has entries, in its format."""
    if is_compressed(self):
        self = to_coo(self)
    shape = parts.compressed_parts(mask).values.shape
    return with_values(mask.detach(), values_at(self, _twin(mask)).reshape(shape))
