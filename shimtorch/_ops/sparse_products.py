"""Products with sparse matrices.

``torch.sparse.mm`` gives a sparse operand a sparse gradient, on its own indices: a sampled product, whose work is that
of the entries. ``torch.mm`` gives it a dense one, as torch does. `sparse_mm`, `sparse_mm_adjoint` and `sparse_sampled`
are each other's derivatives.
"""
from .._core import OPS, factory
from .._core.device import strided
from .._core.op import op
from .._core.tensor import TensorBase, wrap_ndarray
from ._rules import conj
from ._sparse_parts import is_coo, on_sparse, parts
from .sparse import mask_of, sparse_coo_from_parts


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
    if a.layout is strided and b.layout is strided:
        return a.mm(b)
    if a.layout is strided:
        return any_mm(b.transpose(0, 1), a.transpose(0, 1)).transpose(0, 1)
    if not is_coo(a):
        a = a.to_sparse()
    if b.layout is strided:
        return sparse_mm(a, b)
    return sparse_sparse_mm(a, b if is_coo(b) else b.to_sparse())


# ---------------------------------------------------------------- torch.mm and its kin

def _coo(x):
    return x if x.layout is strided or is_coo(x) else x.to_sparse()


def _mm(a, b):
    a, b = _coo(a), _coo(b)
    if a.layout is strided:
        return parts.multiply(b.transpose(0, 1), a.transpose(0, 1)).transpose(0, 1)
    return parts.multiply(a, b) if b.layout is strided else _multiply_sparse(a, b)


@on_sparse("mm")
def mm(self, mat2):
    return _mm(self, mat2)


@on_sparse("mv")
def mv(self, vec):
    if self.layout is strided or vec.layout is not strided:
        raise NotImplementedError("mv: a sparse vector is not implemented; use to_dense() first")
    if vec.dim() != 1:
        raise RuntimeError(f"mv: two tensor dim should be 2 and 1, but got SparseTensor Dim: {self.dim()} Tensor Dim: "
                           f"{vec.dim()}")
    if vec.shape[0] != self.shape[-1]:
        raise RuntimeError(f"mv: expected self.size(-1) == vec.size(-1), but got {self.shape[-1]} and {vec.shape[0]}")
    return parts.multiply(_coo(self), vec.unsqueeze(1)).squeeze(1)


@on_sparse("addmm")
def addmm(self, mat1, mat2, *, beta=1, alpha=1):
    if is_coo(mat1) and mat2.layout is strided and self.layout is strided:
        return parts.multiply_add(self, mat1, mat2, beta, alpha)
    if self.layout is strided:
        product = _mm(mat1, mat2)
        product = product if product.layout is strided else product.to_dense()
        return product * alpha + (self * beta if beta != 0 else 0)
    if mat1.layout is strided or mat2.layout is strided:
        raise RuntimeError("addmm_sparse_dense: expected strided result tensor, got tensor with layout Sparse")
    return _coo(self) * beta + _mm(mat1, mat2) * alpha


@on_sparse("addmm", inplace=True)
def addmm_(self, mat1, mat2, *, beta=1, alpha=1):
    result = addmm(self, mat1, mat2, beta=beta, alpha=alpha)
    return factory.copy_from(self, result) if self.layout is strided else parts.become(self, result)


@on_sparse("bmm")
def bmm(self, mat2):
    if is_coo(self) and mat2.layout is strided and self.dim() == mat2.dim() == 3 and self.shape[0] == mat2.shape[0]:
        if not self.shape[0]:
            return mat2.new_zeros((0, self.shape[1], mat2.shape[2]))
        return OPS["torch.stack"]([parts.multiply(self.select(0, k), mat2.select(0, k)) for k in range(self.shape[0])])
    raise NotImplementedError(f"bmm: not implemented for layouts {self.layout} and {mat2.layout} of sizes "
                              f"{list(self.shape)} and {list(mat2.shape)}")


@on_sparse("matmul", composite=True)
def matmul(self, other):
    a, b = self.dim(), other.dim()
    if a == 2 and b == 2:
        return self.mm(other)
    if a == 2 and b == 1:
        return self.mv(other)
    if a == 1 and b == 2 and self.layout is strided:
        return other.transpose(0, 1).mv(self)
    raise NotImplementedError(f"matmul: not implemented for a {a}-d tensor of layout {self.layout} and a {b}-d one of "
                              f"layout {other.layout}")


# ---------------------------------------------------------------- sparse results

def _rows_of(mat1):
    """The rows of a sparse matrix that have entries, and the matrix without the others; differentiable."""
    import numpy as np
    mat1 = mat1.coalesce()
    indices = mat1._indices()
    rows, places = np.unique(indices[0]._ndarray(), return_inverse=True)
    fewer = OPS["torch.stack"]([wrap_ndarray(places.astype(np.int64, copy=False)), indices[1]])
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
    import numpy as np
    _check_hspmm(mat, mat2, "smm")
    rows, fewer = _rows_of(mat)
    width = mat2.shape[1]
    indices = np.stack((np.repeat(rows._ndarray(), width), np.tile(np.arange(width), rows.shape[0])))
    values = sparse_mm(fewer, mat2).reshape(-1)
    return sparse_coo_from_parts(wrap_ndarray(indices), values, (mat.shape[0], width), False, True)


def sspaddmm(self, mat1, mat2, beta=1, alpha=1):
    """``beta * self + alpha * (mat1 @ mat2)`` for sparse self and mat1 and a dense mat2: sparse."""
    if not is_coo(self):
        raise RuntimeError(f"sspaddmm: expected argument #1 to be sparse, got layout {self.layout}")
    for d, n in enumerate((mat1.shape[0], mat2.shape[-1])):
        if self.dim() != 2 or self.shape[d] != n:
            raise RuntimeError(f"sspaddmm: Argument #1: Expected dim {d} size {n}, got "
                               f"{self.shape[d] if d < self.dim() else 'none'}")
    return _times(self, beta) + _times(smm(mat1, mat2), alpha)
