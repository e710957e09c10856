"""Products of sparse matrices on a device: what ``_core.sparse_products`` does on the CPU.

cuSPARSE multiplies float32, float64, complex64 and complex128; kernels of ours the other dtypes. Row pointers and the
order of the entries by columns are made once and kept with the tensor's parts.
"""
from .._core import OPS, factory
from .._core import sparse as parts
from .._settings import are_deterministic_algorithms_enabled
from . import _sparse, load

_BY_LIBRARY = ("float32", "float64", "complex64", "complex128")


def row_pointer(t):
    """The row pointer of a coalesced matrix, made once."""
    p = parts.parts(t)
    if p.pointer is None:
        p.pointer = _sparse.row_pointer(p.indices[0], t.shape[0])
    return p.pointer


def _by_column(t):
    """Row pointer and columns of the transpose of a coalesced matrix, and the order of its entries; made once."""
    p = parts.parts(t)
    if p.transposed is None:
        rows, columns = p.indices.unbind(0)
        order = _sparse.sorted_order(columns.unsqueeze(0), [t.shape[1]])
        pointer = _sparse.row_pointer(_sparse.take_blocks(columns.contiguous(), order), t.shape[1])
        p.transposed = pointer, _sparse.take_blocks(rows.contiguous(), order), order
    return p.transposed


def _adjacent(x):
    """A matrix whose columns are neighbours in memory, and whose rows do not overlap."""
    rows, columns = x.shape
    return x if (columns <= 1 or x.stride(1) == 1) and (rows <= 1 or x.stride(0) >= columns) else x.contiguous()


def _library(*tensors):
    """cuSPARSE, if it takes the dtype of these tensors and none is empty; else None."""
    if tensors[0].dtype.name not in _BY_LIBRARY or not all([t.numel() for t in tensors]):
        return None
    return load.sparse_library()


def multiply(t, other, adjoint=False, base=None, beta=0, alpha=1):
    """beta * base + alpha * (t @ other), or t.H in place of t; base broadcasts to the result."""
    t = parts.coalesce(t)
    p = parts.parts(t)
    rows = t.shape[1] if adjoint else t.shape[0]
    out = factory.new_empty((rows, other.shape[1]), t.dtype, other)
    if beta != 0:
        factory.copy_from(out, base)
    values, other = p.values.contiguous(), _adjacent(other)
    pointer, columns, order = _by_column(t) if adjoint else (row_pointer(t), p.indices[1].contiguous(), None)
    library = _library(values, other, out)
    if library is None:
        return _sparse.multiply_rows(pointer, columns, values, order, other, out, adjoint, alpha, beta)
    if order is not None:
        values = _sparse.take_blocks(values, order)
        values = values.conj().resolve_conj() if values.is_complex() else values
    return library.multiply_rows(pointer, columns, values, other, out, alpha, beta,
                                 are_deterministic_algorithms_enabled())


def sampled(left, right, pattern):
    """The values of left @ right.H where a coalesced matrix has entries."""
    p = parts.parts(pattern)
    left, right = _adjacent(left), _adjacent(right.conj().resolve_conj() if right.is_complex() else right)
    rows, columns = p.indices.contiguous().unbind(0)
    library = _library(left, right, columns)
    if library is None:
        return _sparse.sample(rows, columns, left, right)
    return library.sample(row_pointer(pattern), columns, left, right)


def multiply_sparse(a, b):
    """The product of two coalesced matrices of one dtype."""
    p, q = parts.parts(a), parts.parts(b)
    x, y = p.values.contiguous(), q.values.contiguous()
    inner, columns = p.indices[1].contiguous(), q.indices[1].contiguous()
    size = a.shape[0], b.shape[1]
    library = _library(x, y) if load.runtime().versions()[1] >= 13000 else None     # before, 64-bit indices fail
    if library is not None:
        pointer, columns, values = library.multiply_sparse((row_pointer(a), inner, x), (row_pointer(b), columns, y),
                                                           a.shape[1], b.shape[1])
        rows = _sparse.row_numbers(pointer, columns.numel())
        return parts.coalesce(parts.make_coo(OPS["torch.stack"]([rows, columns]), values, size, False, True))
    # every product of two entries, summed where they meet
    _, right, left = _sparse.rows_listed(row_pointer(b), inner)
    indices = OPS["torch.stack"]([_sparse.take_blocks(p.indices[0].contiguous(), left),
                                  _sparse.take_blocks(columns, right)])
    narrow = a.dtype if a.dtype.name in ("float16", "bfloat16") else None
    if narrow is not None:
        x, y = x.float(), y.float()
    product = parts.coalesce(parts.make_coo(indices, _sparse.pair_products(x, left, y, right), size, False, True))
    return product if narrow is None else parts.with_values(product, parts.parts(product).values.to(narrow))
