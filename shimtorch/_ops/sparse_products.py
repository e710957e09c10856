"""Products with sparse matrices.

``torch.sparse.mm`` gives a sparse operand a sparse gradient, on its own indices: a sampled product, whose work is that
of the entries. ``torch.mm`` gives it a dense one, as torch does. `sparse_mm`, `sparse_mm_adjoint` and `sparse_sampled`
are each other's derivatives.
"""
from .._core import OPS, factory
from .._core.declaring import op
from .._core.device import strided
from .._core.tensor import TensorBase, wrap_ndarray
from ._rules import conj
from ._sparse_parts import counted, is_coo, on_device, on_sparse, parts, through_coo
from .shape import broadcast_shapes
from .sparse import mask_of, sparse_coo_from_parts
from .sparse_shape import sparse_reshape


def _times(x, factor):
    return x if type(factor) is int and factor == 1 else x * factor


def _masked(g, pattern):
    """A gradient as a sparse tensor with the pattern's indices."""
    return g if is_coo(g) and g.is_coalesced() else mask_of(g, pattern)


@op(method=False, function=False, sparse=True, backward_name="SparseAddmmBackward0", grads={
    "self": lambda g, self, mat2: sparse_sampled(g, mat2, self), "mat2": lambda g, self: sparse_mm_adjoint(self, g)})
def sparse_mm(self, mat2):
    """A sparse matrix times a dense one."""
    return parts.multiply(self, mat2)


@op(method=False, function=False, sparse=True, grads={
    "self": lambda g, self, mat2: sparse_sampled(mat2, g, self), "mat2": lambda g, self: sparse_mm(self, g)})
def sparse_mm_adjoint(self, mat2):
    """The conjugate transpose of a sparse matrix times a dense one."""
    return parts.multiply(self, mat2, True)


@op(method=False, function=False, sparse=True, grads={
    "left": lambda g, right, pattern: sparse_mm(_masked(g, pattern), right),
    "right": lambda g, left, pattern: sparse_mm_adjoint(_masked(g, pattern), left)})
def sparse_sampled(left, right, pattern):
    """``left @ right.H`` where a sparse matrix has entries: sparse, coalesced."""
    return parts.sampled(left, right, parts.coalesce(pattern))


@op(method=False, function=False, sparse=True, backward_name="SparseAddmmBackward0", grads={
    "self": lambda g, beta: _times(g, beta),
    "mat1": lambda g, mat1, mat2, alpha: _times(sparse_sampled(g, mat2, mat1), alpha),
    "mat2": lambda g, mat1, alpha: _times(sparse_mm_adjoint(mat1, g), alpha)})
def sparse_addmm(self, mat1, mat2, beta=1, alpha=1):
    """``beta * self + alpha * (mat1 @ mat2)`` for a sparse mat1 and dense others."""
    if not isinstance(self, TensorBase) or self.layout is not strided or mat2.layout is not strided:
        raise RuntimeError("addmm_sparse_dense: expected strided result tensor, got tensor with layout Sparse")
    return parts.multiply_add(self, mat1, mat2, beta, alpha)


def _adjoint(x):
    return conj(x.transpose(0, 1))


@op(method=False, function=False, sparse=True, backward_name="SparseSparseMatmulBackward0", grads={
    "self": lambda g, self, mat2: mask_of(any_mm(g, _adjoint(mat2)), self),
    "mat2": lambda g, self, mat2: mask_of(any_mm(_adjoint(self), g), mat2)})
def sparse_sparse_mm(self, mat2):
    """The product of two sparse matrices: sparse, coalesced."""
    return _multiply_sparse(self, mat2)


def _multiply_sparse(a, b):
    import numpy as np

    from .._kernels import csr, spgemm
    _check_matrices(a, b)
    dtype = a.dtype
    work = "float32" if dtype.name in ("float16", "bfloat16") else None
    a, b = parts.coalesce(a), parts.coalesce(b)
    product = parts.multiply_sparse(a, b)
    if product is not None:
        return product
    p, q = parts.parts(a), parts.parts(b)
    size = (a.shape[0], b.shape[1])
    a_indices, b_indices = p.indices._ndarray(), q.indices._ndarray()
    a_values, b_values = (x.values.float() if work else x.values for x in (p, q))
    # Number the rows of a and b and the columns of b where they are too many to keep lists for.
    rows, a_rows = _numbered(a_indices[0], a.shape[0])
    inner, both = _numbered(np.concatenate((a_indices[1], b_indices[0])), a.shape[1])
    columns, b_columns = _numbered(b_indices[1], b.shape[1])
    split = a_indices.shape[1]
    n_rows = a.shape[0] if rows is None else rows.size
    n_inner = a.shape[1] if inner is None else inner.size
    n_columns = b.shape[1] if columns is None else columns.size
    pointer, result_columns, values = spgemm.matmul_sparse(
        csr.row_pointer(a_rows, n_rows), np.ascontiguousarray(both[:split]), a_values.contiguous()._ndarray(),
        csr.row_pointer(np.ascontiguousarray(both[split:]), n_inner), b_columns, b_values.contiguous()._ndarray(),
        n_columns)
    result_rows = csr.row_numbers(pointer)
    indices = np.stack((result_rows if rows is None else rows[result_rows],
                        result_columns if columns is None else columns[result_columns]))
    values = wrap_ndarray(values)
    return parts.make_coo(wrap_ndarray(indices), values.to(dtype) if work else values, size, True, True)


def _numbered(numbers, size):
    """(None, numbers) if a list of `size` is no burden; else the distinct numbers, and each one's place among them."""
    import numpy as np
    if size <= 8 * numbers.size + 1024:
        return None, np.ascontiguousarray(numbers)
    distinct, places = np.unique(numbers, return_inverse=True)
    return distinct, np.ascontiguousarray(places)


def _check_matrices(a, b):
    for x in (a, b):
        if parts.unchecked_parts(x).sparse_dim != 2 or x.dim() != 2:
            raise RuntimeError(f"sparse matmul: expected sparse matrices, got a tensor of {x.dim()} dimensions, "
                               f"{parts.unchecked_parts(x).sparse_dim} of them sparse")
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({a.shape[0]}x{a.shape[1]} and "
                           f"{b.shape[0]}x{b.shape[1]})")
    if a.dtype is not b.dtype:
        raise RuntimeError(f"sparse matmul: expected matrices of one dtype, got {a.dtype} and {b.dtype}")


def any_mm(a, b):
    """The product of two matrices, each sparse or dense; a sparse operand's gradient is sparse."""
    if is_coo(a) and b.layout is strided:
        return sparse_mm(a, b)
    if a.layout is strided and b.layout is strided:
        return a.mm(b)
    return _mm_of_any_layout(a, b)


@through_coo
def _mm_of_any_layout(a, b):
    if a.layout is strided:
        return sparse_mm(b.transpose(0, 1), a.transpose(0, 1)).transpose(0, 1)
    return sparse_mm(a, b) if b.layout is strided else sparse_sparse_mm(a, b)


# ---------------------------------------------------------------- torch.mm and its kin

on_sparse("mm", composed=True)(any_mm)


@on_sparse("mv", composed=True)
def mv(self, vec):
    if vec.dim() != 1:
        raise RuntimeError(f"mv: two tensor dim should be 2 and 1, but got SparseTensor Dim: {self.dim()} Tensor Dim: "
                           f"{vec.dim()}")
    if vec.shape[0] != self.shape[-1]:
        raise RuntimeError(f"mv: expected self.size(-1) == vec.size(-1), but got {self.shape[-1]} and {vec.shape[0]}")
    return any_mm(self, vec.unsqueeze(1)).squeeze(1)


@on_sparse("addmm", composed=True)
def addmm(self, mat1, mat2, *, beta=1, alpha=1):
    if is_coo(mat1) and mat2.layout is strided and self.layout is strided:
        return sparse_addmm(self, mat1, mat2, beta, alpha)
    return _plus(self, any_mm(mat1, mat2), beta, alpha)


def _plus(self, product, beta, alpha):
    """beta * self + alpha * product, of which self is dense or both are sparse."""
    product = _times(product, alpha)
    if self.layout is not strided and product.layout is strided:
        raise RuntimeError("addmm_sparse_dense: expected strided result tensor, got tensor with layout Sparse")
    if beta == 0:                       # what is in self does not count, NaN neither
        return product if self.layout is not strided or product.layout is strided else product.to_dense()
    return _times(self, beta) + product


@on_sparse("addmv", composed=True)
def addmv(self, mat, vec, *, beta=1, alpha=1):
    return _plus(self, mv(mat, vec), beta, alpha)


@on_sparse("baddbmm", composed=True)
def baddbmm(self, batch1, batch2, *, beta=1, alpha=1):
    return _plus(self, bmm(batch1, batch2), beta, alpha)


@on_sparse("addbmm", composed=True)
def addbmm(self, batch1, batch2, *, beta=1, alpha=1):
    return _plus(self, bmm(batch1, batch2).sum(0), beta, alpha)


def _in_place(name, product):
    @on_sparse(name, inplace=True)
    def in_place(self, x, y, *, beta=1, alpha=1):
        result = product(self, x, y, beta=beta, alpha=alpha)
        return factory.copy_from(self, result) if self.layout is strided else parts.become(self, result)


for _name, _product in (("addmm", addmm), ("addmv", addmv), ("baddbmm", baddbmm), ("addbmm", addbmm)):
    _in_place(_name, _product)


def _side_by_side(batch, square):
    """A (b, n, m) sparse tensor as a (b n, m) matrix, or as one of (b n, b m) with the matrices along its diagonal."""
    b, n, m = batch.shape
    number, row, column = batch._indices()
    indices = OPS["torch.stack"]([number * n + row, number * m + column if square else column])
    return sparse_coo_from_parts(indices, batch.values(), (b * n, b * m if square else m), True, True)


@on_sparse("bmm", composed=True)
def bmm(self, mat2):
    for name, x in (("self", self), ("mat2", mat2)):
        if x.dim() != 3:
            raise RuntimeError(f"bmm_sparse: Tensor '{name}' must have 3 dims, but has {x.dim()} dims")
        if is_coo(x) and parts.unchecked_parts(x).sparse_dim != 3:
            raise RuntimeError(f"bmm_sparse: Tensor '{name}' must not have dense dims, but has "
                               f"{3 - parts.unchecked_parts(x).sparse_dim} dense dims")
    if self.shape[0] != mat2.shape[0]:
        raise RuntimeError(f"bmm_sparse: 'self.size(0)' and 'mat2.size(0)' must match, but got {self.shape[0]} and "
                           f"{mat2.shape[0]}")
    if self.shape[2] != mat2.shape[1]:
        raise RuntimeError(f"bmm_sparse: 'self.size(2)' and 'mat2.size(1)' must match, but got {self.shape[2]} and "
                           f"{mat2.shape[1]}")
    if self.layout is strided:
        return bmm(mat2.transpose(1, 2), self.transpose(1, 2)).transpose(1, 2)
    size = (self.shape[0], self.shape[1], mat2.shape[2])
    left = _side_by_side(self.coalesce(), True)
    if mat2.layout is strided:
        return sparse_mm(left, mat2.reshape(mat2.shape[0] * mat2.shape[1], mat2.shape[2])).reshape(size)
    product = sparse_sparse_mm(left, _side_by_side(mat2.coalesce(), False))
    return sparse_reshape(product, size)


@on_sparse("matmul", composite=True)
def matmul(self, other):
    a, b = self.dim(), other.dim()
    if a == 0 or b == 0:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {a}D and {b}D")
    if a == 2 and b == 2:
        return any_mm(self, other)
    if a == 1 and b == 1:
        if self.shape != other.shape:
            raise RuntimeError("inconsistent tensor size, expected tensor "
                               f"[{self.shape[0]}] and src [{other.shape[0]}] to have the same number of elements, but "
                               f"got {self.shape[0]} and {other.shape[0]} elements respectively")
        return (self * other).sum()
    if a == 1:
        return matmul(self.unsqueeze(0), other).squeeze(-2)
    if b == 1:
        return matmul(self, other.unsqueeze(1)).squeeze(-1)
    batch = broadcast_shapes(self.shape[:-2], other.shape[:-2])
    self, other = (x.expand(batch + x.shape[-2:]).reshape((batch.numel(), *x.shape[-2:])) for x in (self, other))
    result = bmm(self, other)
    return result.reshape((*batch, *result.shape[1:]))


# ---------------------------------------------------------------- other reductions than the sum, and solving

@through_coo
def mm_reduced(mat1, mat2, reduce):
    """A sparse matrix times a dense one, the products of each row reduced by mean, prod, amax or amin; 0 for none.

    All but the mean keep one number for each entry and column.
    """
    if not is_coo(mat1) or mat2.layout is not strided:
        raise NotImplementedError(f"torch.sparse.mm: reduce='{reduce}' is not implemented for layouts {mat1.layout} "
                                  f"and {mat2.layout}")
    _check_hspmm(mat1, mat2, "torch.sparse.mm")
    if mat1.dtype is not mat2.dtype or not mat1.is_floating_point():
        raise RuntimeError(f"torch.sparse.mm: reduce='{reduce}' expects matrices of one floating dtype, got "
                           f"{mat1.dtype} and {mat2.dtype}")
    mat1 = mat1.coalesce()
    rows, columns = mat1._indices()
    pointer = parts.compressed_rows(mat1.detach())[0]
    each = (pointer[1:] - pointer[:-1]).to(mat1.dtype).unsqueeze(1)
    if reduce == "mean":
        return sparse_mm(mat1, mat2) / each.clamp(1)
    products = mat1.values().unsqueeze(1) * mat2.index_select(0, columns)
    start = mat2.new_zeros((mat1.shape[0], mat2.shape[1]))
    index = rows.unsqueeze(1).expand(products.shape)
    return start.scatter_reduce(0, index, products, reduce, include_self=False)


@op(method=False, function=False, sparse=True, grads={
    "self": lambda g, self, out, adjoint: sparse_sampled(out, -sparse_solve(self, g, False), self) if adjoint
    else sparse_sampled(-sparse_solve(self, g, True), out, self),
    "other": lambda g, self, adjoint: sparse_solve(self, g, not adjoint)})
def sparse_solve(self, other, adjoint=False):
    """The dense matrix x with ``self @ x = other``, or ``self.H @ x = other``, for a square sparse matrix."""
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import splu
    self = parts.coalesce(self)
    pointer, columns = parts.compressed_rows(self)
    values = parts.parts(self).values.contiguous()
    matrix = csr_array((values._ndarray(), columns._ndarray(), pointer._ndarray()), tuple(self.shape))
    try:
        # SuperLU takes columns: those of the transpose.
        factors = splu(matrix.T)
    except RuntimeError as error:
        raise RuntimeError(f"torch.sparse.spsolve: {error}") from None
    right = other.contiguous()._ndarray()
    if adjoint:
        return wrap_ndarray(factors.solve(right.conj()).conj())
    return wrap_ndarray(factors.solve(right, "T"))


def solve(matrix, other, left=True):
    """``torch.sparse.spsolve``."""
    name = "torch.sparse.spsolve"
    if matrix.layout is strided or other.layout is not strided:
        raise RuntimeError(f"{name}: expected a sparse matrix and a dense right-hand side, got layouts {matrix.layout} "
                           f"and {other.layout}")
    if matrix.dim() != 2 or matrix.shape[0] != matrix.shape[1]:
        raise RuntimeError(f"{name}: expected a square matrix, got size {list(matrix.shape)}")
    if other.dim() not in (1, 2) or other.shape[0 if left else -1] != matrix.shape[0]:
        raise RuntimeError(f"{name}: a right-hand side of size {list(other.shape)} does not fit a matrix of size "
                           f"{list(matrix.shape)}")
    if matrix.dtype is not other.dtype or matrix.dtype.name not in ("float32", "float64", "complex64", "complex128"):
        raise RuntimeError(f"{name}: expected one floating or complex dtype, got {matrix.dtype} and {other.dtype}")
    if not matrix.is_sparse:
        matrix = matrix.to_sparse()
    if not left:
        matrix = matrix.transpose(0, 1)
    if other.dim() == 1:
        return sparse_solve(matrix, other.unsqueeze(1)).squeeze(1)
    return sparse_solve(matrix, other) if left else sparse_solve(matrix, other.transpose(0, 1)).transpose(0, 1)


@on_sparse("dot", composed=True)
def dot(self, tensor):
    if self.dim() != 1 or tensor.dim() != 1:
        raise RuntimeError(f"1D tensors expected, but got {self.dim()}D and {tensor.dim()}D tensors")
    return matmul(self, tensor)


@on_sparse("linear", composed=True)
def linear(input, weight, bias=None):
    result = matmul(input, weight.transpose(-2, -1) if weight.dim() > 1 else weight)
    return result if bias is None else bias + result


# ---------------------------------------------------------------- sparse results

def _rows_of(mat1):
    """The rows of a sparse matrix that have entries, and the matrix without the others; differentiable."""
    import numpy as np
    mat1 = mat1.coalesce()
    indices = mat1._indices()
    if mat1.is_cuda:
        groups = on_device().Groups(indices[:1], mat1.shape)
        fewer = OPS["torch.stack"]([groups.inverse(), indices[1]])
        size = groups.count, mat1.shape[1]
        return groups.indices()[0], sparse_coo_from_parts(fewer, mat1.values(), size, True, True)
    ascending = indices[0]._ndarray()
    starts = np.ones(ascending.size, bool)
    np.not_equal(ascending[1:], ascending[:-1], out=starts[1:])
    rows = ascending[starts]
    places = np.cumsum(starts, dtype=np.int64)
    places -= 1
    fewer = OPS["torch.stack"]([wrap_ndarray(places), indices[1]])
    return wrap_ndarray(rows), sparse_coo_from_parts(fewer, mat1.values(), (rows.size, mat1.shape[1]), True, True)


def _check_hspmm(mat1, mat2, name):
    if not is_coo(mat1) or mat2.layout is not strided:
        raise RuntimeError(f"{name}: expected a sparse and a dense matrix, got layouts {mat1.layout} and {mat2.layout}")
    if mat1.dim() != 2 or parts.unchecked_parts(mat1).sparse_dim != 2:
        raise RuntimeError(f"{name}: Argument #2: matrices expected, {parts.unchecked_parts(mat1).sparse_dim}D tensor "
                           "given")
    if mat2.dim() != 2:
        raise RuntimeError(f"{name}: Argument #3: matrices expected, {mat2.dim()}D tensor given")
    if mat1.shape[1] != mat2.shape[0]:
        raise RuntimeError(f"{name}: Argument #3: Expected dim 0 size {mat1.shape[1]}, got {mat2.shape[0]}")


def hspmm(mat1, mat2):
    """sparse @ dense as a hybrid tensor: its rows that are not empty, dense."""
    _check_hspmm(mat1, mat2, "hspmm")
    rows, fewer = _rows_of(mat1)
    return sparse_coo_from_parts(rows.unsqueeze(0), sparse_mm(fewer, mat2), (mat1.shape[0], mat2.shape[1]), True, True)


def smm(mat, mat2):
    """sparse @ dense as a sparse matrix, with an entry for each column of the rows that are not empty."""
    _check_hspmm(mat, mat2, "smm")
    rows, fewer = _rows_of(mat)
    n, width = rows.shape[0], mat2.shape[1]
    columns = counted(width, rows)
    indices = OPS["torch.stack"]([rows.unsqueeze(1).expand(n, width), columns.unsqueeze(0).expand(n, width)])
    values = sparse_mm(fewer, mat2).reshape(-1)
    return sparse_coo_from_parts(indices.reshape(2, n * width), values, (mat.shape[0], width), False, True)


def sspaddmm(self, mat1, mat2, beta=1, alpha=1):
    """``beta * self + alpha * (mat1 @ mat2)`` for sparse self and mat1 and a dense mat2: sparse."""
    if not is_coo(self):
        raise RuntimeError(f"sspaddmm: expected argument #1 to be sparse, got layout {self.layout}")
    for d, n in enumerate((mat1.shape[0], mat2.shape[-1])):
        if self.dim() != 2 or self.shape[d] != n:
            raise RuntimeError(f"sspaddmm: Argument #1: Expected dim {d} size {n}, got "
                               f"{self.shape[d] if d < self.dim() else 'none'}")
    return _times(self, beta) + _times(smm(mat1, mat2), alpha)
