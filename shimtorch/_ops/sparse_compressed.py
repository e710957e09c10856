"""Matrices in compressed sparse rows (torch.sparse_csr) or columns (torch.sparse_csc).

They are computed with through their twin in coordinate format, made once: of the same entries in the same order.
"""
from .._core import factory
from .._core.device import as_device, sparse_csc, sparse_csr, strided
from .._core.dtype import int64
from .._core.op import op
from .._core.tensor import TensorBase, wrap_ndarray
from ._sparse_parts import is_coo, layout_name, parts
from .sparse import mask_of, values_at

# The names of the two index tensors, and which dimension the pointers run along.
_FORMATS = {sparse_csr: ("crow_indices", "col_indices", 0), sparse_csc: ("ccol_indices", "row_indices", 1)}


def _check_layout(layout, name):
    if layout not in _FORMATS:
        raise NotImplementedError(f"{name}: layout {layout} is not implemented")
    return _FORMATS[layout]


@op(method=False, function=False, backward_name="SparseCompressedTensorBackward0",
    grads={"values": lambda g, out: _values_like(g, out)})
def compressed_from_parts(layout, pointers, plain, values, size):
    """A matrix of parts that fit together."""
    return parts.make_compressed(layout, pointers, plain, values, size)


def _values_like(g, out):
    """The values of a gradient, of any layout, where the compressed tensor has entries and in their order."""
    pattern = _twin(out)
    return values_at(g if g.layout is strided or is_coo(g) else to_coo(g), pattern)


def with_values(self, values):
    """A compressed tensor with the same indices and other values; differentiable."""
    p = parts.compressed_parts(self)
    return compressed_from_parts(p.layout, p.pointers, p.plain, values, self.shape)


def _twin(self):
    from .._kernels import csr
    from .._kernels.coalesce import Grouping
    p = parts.compressed_parts(self)
    if p.twin is None:
        import numpy as np
        along = _FORMATS[p.layout][2]
        lines = csr.row_numbers(p.pointers.to(int64).contiguous()._ndarray())
        plain = p.plain.to(int64)._ndarray()
        indices = np.stack((lines, plain) if along == 0 else (plain, lines))
        twin = parts.make_coo(wrap_ndarray(indices), p.values, self.shape)
        parts.check_indices(twin)
        if along == 0 and Grouping(indices, tuple(self.shape)).distinct:
            twin = parts.make_coo(wrap_ndarray(indices), p.values, self.shape, True, True)
        p.twin = twin
    return p.twin


@op(method=False, function=False, sparse=True, backward_name="ToSparseBackward0", grads={
    "self": lambda g, self: with_values(self, _values_like(g, self.detach()))})
def to_coo(self):
    """The same matrix in coordinate format."""
    return _twin(self).detach()


@op(method=False, function=False, sparse=True, backward_name="ToSparseBackward0",
    grads={"self": lambda g, self: _from_compressed(g, self)})
def coo_to_compressed(self, layout):
    """A sparse matrix in compressed rows or columns."""
    along = _FORMATS[layout][2]
    if along == 1:
        self = parts.coalesce(self.transpose(0, 1))
    else:
        self = parts.coalesce(self)
    pointer, plain = parts.compressed_rows(self)
    size = self.shape if along == 0 else self.shape[::-1]
    return parts.make_compressed(layout, pointer, plain, parts.parts(self).values, size)


def _from_compressed(g, self):
    return mask_of(g if g.layout is strided or is_coo(g) else to_coo(g), self)


def to_compressed(self, layout, blocksize=None):
    """``to_sparse(layout=...)`` of a dense matrix or a sparse one."""
    _check_layout(layout, "to_sparse")
    if self.layout is layout:
        return self
    if self.layout is strided:
        if self.dim() != 2:
            raise NotImplementedError(f"to_sparse: batches of matrices in layout {layout} are not implemented, got a "
                                      f"{self.dim()}-d tensor")
        self = self.to_sparse()
    elif not is_coo(self):
        self = to_coo(self)
    if parts.unchecked_parts(self).sparse_dim != 2 or self.dim() != 2:
        raise RuntimeError(f"Only tensors with two sparse dimensions can be converted to the {layout} "
                           "layout, got a tensor of "
                           f"{parts.unchecked_parts(self).sparse_dim} sparse dimensions and {self.dim()} in all")
    return coo_to_compressed(self, layout)


def make(layout, pointers, plain, values, size, dtype, device, requires_grad):
    """The constructors ``sparse_csr_tensor`` and ``sparse_csc_tensor``."""
    from .._kernels import csr
    pointer_name, plain_name, along = _check_layout(layout, "sparse_compressed_tensor")
    if device is not None:
        as_device(device)
    pointers, plain = (x if isinstance(x, TensorBase) else factory.from_data(x, int64) for x in (pointers, plain))
    values = values if isinstance(values, TensorBase) else factory.from_data(values, dtype)
    for name, x in ((pointer_name, pointers), (plain_name, plain)):
        if x.dtype.name not in ("int64", "int32"):
            raise RuntimeError(f"{name} must be an int32 or int64 type, but got: {x.dtype}")
        if x.dim() != 1:
            raise NotImplementedError(f"{name}: batches of matrices in layout {layout} are not implemented, got a "
                                      f"{x.dim()}-d tensor")
    if values.dim() != 1:
        raise NotImplementedError(f"values: blocks and batches in layout {layout} are not implemented, got a "
                                  f"{values.dim()}-d tensor")
    if plain.shape != values.shape:
        raise RuntimeError(f"number of {plain_name} (={plain.shape[0]}) must be equal to number of values "
                           f"(={values.shape[0]})")
    if pointers.shape[0] < 1:
        raise RuntimeError(f"{pointer_name} must have at least one element")
    if dtype is not None:
        values = values.to(dtype)
    if size is None:
        across = int(plain.max()) + 1 if plain.shape[0] else 0
        size = (pointers.shape[0] - 1, across) if along == 0 else (across, pointers.shape[0] - 1)
    size = tuple(size)
    if len(size) != 2:
        raise RuntimeError(f"size of a tensor of layout {layout} must be of length 2, got {len(size)}")
    if pointers.shape[0] != size[along] + 1:
        raise RuntimeError(f"{pointer_name}.shape[-1] must be equal to the number of compressed rows or columns plus "
                           f"one (={size[along] + 1}), but got {pointers.shape[0]}")
    try:
        csr.check_pointer(pointers.to(int64).contiguous()._ndarray(), plain.shape[0])
    except ValueError as error:
        raise RuntimeError(f"{pointer_name}: {error}") from None
    result = compressed_from_parts(layout, pointers, plain, values, size)
    _twin(result.detach())
    return result.requires_grad_() if requires_grad and not result.requires_grad else result


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
    """Rows for columns: the same parts in the other format."""
    p = parts.compressed_parts(self)
    if (dim0 - dim1) % 2 == 0:
        return parts.make_compressed(p.layout, p.pointers, p.plain, p.values, self.shape)
    other = sparse_csc if p.layout is sparse_csr else sparse_csr
    return parts.make_compressed(other, p.pointers, p.plain, p.values, self.shape[::-1])


def scale(self, other):
    """A compressed tensor times a number."""
    if isinstance(other, TensorBase) and (other.layout is not strided or other.dim()):
        raise NotImplementedError(f"mul: not implemented for layouts {self.layout} and {other.layout}")
    p = parts.compressed_parts(self)
    return parts.make_compressed(p.layout, p.pointers, p.plain, p.values * other, self.shape)


def copy(self):
    p = parts.compressed_parts(self)
    return parts.make_compressed(p.layout, p.pointers.clone(), p.plain.clone(), p.values.clone(), self.shape)


def mask_by_compressed(self, mask):
    """A tensor where a compressed one has entries, in its format."""
    pattern = _twin(mask)
    if self.layout is not strided and not is_coo(self):
        self = to_coo(self)
    return with_values(mask.detach(), values_at(self, pattern))
