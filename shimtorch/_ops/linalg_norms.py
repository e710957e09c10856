"""Norms of vectors and matrices, condition numbers, and the functions of torch.linalg that other ops make up."""
import math

from .._core import OPS
from .._core.declaring import op
from .._core.dtype import bfloat16, float16, promote_types, scalar_type
from .._core.tensor import TensorBase
from .chains import multiplied
from .linalg_base import LinAlgError, check_float, check_matrix, check_square
from .linalg_factor import _LINALG
from .linalg_solve import inv_ex, linalg_solve
from .linalg_spectra import svdvals
from .norms import _norm
from .samples import Draw, Samples, call
from .shape import wrap


def _m(*shape):
    return Draw(*shape, matrix="regular")


def _in_dtype(x, dtype, name):
    """x in the dtype that its norm is computed in, which may not hold less of it."""
    if dtype is None:
        return x
    kind = "complex" if x.is_complex() else "real"
    if not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(f"{name}: dtype should be floating point or complex, but got {scalar_type(dtype)}")
    if dtype.is_complex != x.is_complex():
        raise RuntimeError(f"{name}: dtype should be {kind} for {kind} inputs, but got {scalar_type(dtype)}")
    if promote_types(x.dtype, dtype) is not dtype:
        raise RuntimeError(f"{name}: the dtype of the input ({scalar_type(x.dtype)}) should be convertible without "
                           f"narrowing to the specified dtype ({scalar_type(dtype)})")
    return x.to(dtype)


# ---------------------------------------------------------------- vectors

@op(out=True, samples=Samples([
    call(Draw(3, 4)), call(Draw(3, 4), 1), call(Draw(3, 4), 3.5, -1, True), call(Draw(2, 3, 4), 2, (0, 2)),
    call(Draw(3, 4), math.inf, 1), call(Draw(3, 4), 0, 1), call(Draw(3, 4), -2), call(Draw(3, 4), dim=()),
    call(Draw(0)), call(Draw())], "floating"), **dict(_LINALG, renames={"A": "x", "input": "x", "self": "x"}))
def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None):
    """The norm of order ``ord`` of the elements, of all or along dimensions."""
    check_float(x, "linalg.vector_norm")
    if isinstance(ord, TensorBase) and not ord.dim():
        ord = ord.item()
    if not isinstance(ord, (int, float)):
        raise RuntimeError(f"linalg.vector_norm: Expected a number for ord, got {type(ord).__name__}")
    x = _in_dtype(x, dtype, "linalg.vector_norm")
    if ord < 0 and not x.numel() and dim is None:
        raise RuntimeError(f"linalg.vector_norm cannot compute the {ord:g} norm on an empty tensor because the "
                           "operation does not have an identity")
    dim = None if isinstance(dim, (tuple, list)) and not len(dim) else dim
    dim = tuple(dim) if isinstance(dim, list) else dim
    return _norm(x, ord if isinstance(ord, bool) else float(ord), dim, keepdim)


@op(out=True, samples=Samples([call(Draw(3, 4), Draw(3, 4)), call(Draw(3, 4), Draw(4)),
                               call(Draw(3, 4), Draw(3, 4), dim=0)], "floating"),
    **dict(_LINALG, renames={"input": "x"}))
def vecdot(x, y, *, dim=-1):
    """The inner products of vectors along a dimension, the first ones conjugated."""
    if x.dtype is not y.dtype:
        raise RuntimeError("linalg.vecdot: Expected x and y to have the same dtype, but found x of type "
                           f"{scalar_type(x.dtype)} and y of type {scalar_type(y.dtype)} instead")
    return (x.conj() * y if x.is_complex() else x * y).sum(dim)


# ---------------------------------------------------------------- matrices

def _two_dims(A, dim, name):
    if not isinstance(dim, (tuple, list)) or len(dim) != 2:
        raise RuntimeError(f"{name}: dim must be a 2-tuple. Got {dim if not isinstance(dim, int) else (dim,)}")
    a, b = (wrap(d, A.dim()) for d in dim)
    if a == b:
        raise RuntimeError(f"{name}: dims must be different. Got ({dim[0]}, {dim[1]})")
    return a, b


def _matrix_norm(A, ord, dim, keepdim, dtype):
    name = "linalg.matrix_norm"
    check_matrix(A, name)
    check_float(A, name)
    if isinstance(ord, str) and ord not in ("fro", "nuc") or not isinstance(ord, str) and abs(ord) not in (
            1, 2, math.inf):
        raise RuntimeError(f"{name}: Order {ord} not supported.")
    if ord in ("nuc", 2, -2) and A.dtype in (bfloat16, float16):
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {scalar_type(A.dtype)}")
    a, b = _two_dims(A, dim, name)
    A = _in_dtype(A, dtype, name)
    if ord == "fro":
        return _norm(A, 2.0, (a, b), keepdim)
    if ord == "nuc" or abs(ord) == 2:
        values = svdvals(A.to_dense().movedim((a, b), (-2, -1)))
        result = values.sum(-1) if ord == "nuc" else _greatest(values, -1) if ord > 0 else values.amin(-1)
        if keepdim:
            for d in sorted((a, b)):
                result = result.unsqueeze(d)
        return result
    inner, outer = (a, b) if abs(ord) == 1 else (b, a)
    if outer > inner and not keepdim:
        outer -= 1
    sums = _norm(A, 1.0, inner, keepdim)
    return _greatest(sums, outer, keepdim) if ord > 0 else sums.amin(outer, keepdim)


def _greatest(values, dim, keepdim=False):
    """The greatest along a dimension of what is not negative, 0 if there is nothing."""
    return values.amax(dim, keepdim) if values.shape[dim] else values.sum(dim, keepdim)


_ORDERS = ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf)


@op(out=True, samples=Samples(
    [call(Draw(3, 4), p) for p in _ORDERS] + [call(Draw(2, 3, 4), p, (2, 0), True) for p in _ORDERS]
    + [call(Draw(2, 3, 4), -1, (0, 1))], "floating"), **_LINALG)
def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None):
    """The norm of matrices: "fro", "nuc", inf and 1 (sums of rows and columns), 2 (singular values), or a negative."""
    return _matrix_norm(A, ord, dim, keepdim, dtype)


@op(name="norm", out=True, samples=Samples([
    call(Draw(2, 3, 4)), call(Draw(3), 3), call(Draw(3, 4), 2), call(Draw(3, 4), "nuc"), call(Draw(3, 4), 1, 1),
    call(Draw(2, 3, 4), "fro", (0, 1), True), call(Draw(2, 3, 4), dim=(0, 1)), call(Draw(2, 3), keepdim=True)],
    "floating"), **dict(_LINALG, renames={"input": "A", "self": "A"}))
def linalg_norm(A, ord=None, dim=None, keepdim=False, *, dtype=None):
    """A norm of vectors (one dimension) or of matrices (two); without ``ord`` the root of the sum of squares."""
    if dim is not None:
        dim = (dim,) if isinstance(dim, int) else tuple(dim)
        if len(dim) > 2 and ord is not None or not 1 <= len(dim) <= 2 and ord is not None:
            raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dim)}")
    elif ord is not None and A.dim() not in (1, 2):
        raise RuntimeError("linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
                           f"{A.dim()}D.")
    if ord is not None and (dim is not None and len(dim) == 2 or dim is None and A.dim() == 2):
        return _matrix_norm(A, ord, (0, 1) if dim is None else dim, keepdim, dtype)
    if isinstance(ord, str):
        raise RuntimeError("linalg.matrix_norm: The input tensor A must have at least 2 dimensions."
                           if ord in ("fro", "nuc") else f"linalg.matrix_norm: Order {ord} not supported.")
    return vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


@op(method=False, out=True, samples=Samples([call(Draw(3, 4)), call(Draw(2, 3, 4), (0, 2)),
                                             call(Draw(2, 3, 4), (0, 2), True)]))
def nuclear_norm(self, dim=None, keepdim=False):
    """The sum of the singular values of a matrix, or of the matrices that two dimensions make."""
    if dim is None and self.dim() != 2:
        raise RuntimeError(f"nuclear_norm: Expected a tensor with 2 dimensions, but got a tensor with {self.dim()} "
                           "dimensions instead")
    return _matrix_norm(self, "nuc", (0, 1) if dim is None else dim, keepdim, None)


@op(out=True, samples=Samples(
    [call(_m(3, 3)), call(Draw(4, 3)), call(_m(2, 3, 3), -2)] + [call(_m(3, 3), p) for p in ("fro", "nuc", 1, -1,
                                                                                           math.inf)], "floating"),
    **_LINALG)
def cond(A, p=None):
    """Condition numbers: the norm of matrices times that of their inverses; by default from singular values."""
    check_matrix(A, "linalg.cond", "input tensor")
    if p is None or not isinstance(p, str) and abs(p) == 2:
        values = svdvals(A)
        first, last = values.select(-1, 0), values.select(-1, -1)
        return last / first if p == -2 else first / last
    if p not in _ORDERS:
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    check_square(A, f"linalg.cond(ord={p})")
    if not A.numel():
        return A.abs().new_zeros(A.shape[:-2])
    inverse, info = inv_ex(A)
    result = matrix_norm(A, p) * matrix_norm(inverse, p)
    if info.numel() and bool((info > 0).any()):
        result = result.masked_fill(info > 0, math.inf)
    return result


# ---------------------------------------------------------------- made up of others

@op(name="cross", out=True, samples=Samples([call(Draw(2, 3), Draw(2, 3)), call(Draw(3, 2), Draw(3, 2), dim=0),
                                             call(Draw(2, 3), Draw(1, 3))], "floating"),
    **dict(_LINALG, renames={"self": "input"}))
def linalg_cross(input, other, *, dim=-1):
    """The cross products of vectors of three elements along a dimension."""
    if input.dtype is not other.dtype:
        raise RuntimeError(f"expected scalar type {scalar_type(input.dtype)} but found {scalar_type(other.dtype)}")
    return OPS["torch.cross"](input, other, dim)


@op(name="diagonal", samples=Samples([call(Draw(3, 4)), call(Draw(2, 3, 4), offset=1, dim1=0, dim2=2)], "floating"),
    **_LINALG)
def linalg_diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    """A view of the diagonals of matrices."""
    return A.diagonal(offset, dim1, dim2)


@op(name="matmul", out=True, samples=Samples([call(Draw(2, 3), Draw(3, 4)), call(Draw(2, 2, 3), Draw(3))], "floating"),
    **dict(_LINALG, renames={"self": "input"}))
def linalg_matmul(input, other):
    """The matrix product with broadcast batches."""
    return input.matmul(other)


@op(name="matrix_power", out=True, samples=Samples(
    [call(_m(3, 3), n) for n in (0, 1, 3, -1, -2)] + [call(_m(2, 3, 3), 2)], "floating"), **_LINALG)
def linalg_matrix_power(A, n):
    """The n-th powers of square matrices; of the inverses for negative n."""
    return OPS["torch.matrix_power"](A, n)


@op(out=True, takes_list=True, samples=Samples([
    call([Draw(2, 3), Draw(3, 4), Draw(4, 2)]), call([Draw(3), Draw(3, 4), Draw(4)]), call([Draw(2, 3), Draw(3)]),
    call([Draw(3), Draw(3)])], "floating"), **dict(_LINALG, renames={}))
def multi_dot(tensors):
    """The product of two or more matrices, in the cheapest order; the first and the last may be vectors."""
    tensors = list(tensors)
    if len(tensors) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    return multiplied(tensors)


def _product(sizes):
    return math.prod(int(n) for n in sizes)


@op(out=True, samples=Samples([call(Draw(2, 3, 6)), call(Draw(6, 2, 3), 1)], "floating"), **_LINALG)
def tensorinv(A, ind=2):
    """The inverse of what ``tensordot(A, ., ind)`` does."""
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    rows, columns = _product(A.shape[:ind]), _product(A.shape[ind:])
    if rows != columns:
        raise RuntimeError("Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), "
                           f"but got {columns} != {rows}")
    inverse, info = inv_ex(A.reshape(columns, rows))
    if int(info):
        raise LinAlgError("Failed to invert the input tensor, because it is singular.")
    return inverse.reshape(tuple(A.shape[ind:]) + tuple(A.shape[:ind]))


@op(out=True, samples=Samples([call(Draw(2, 3, 6), Draw(2, 3)), call(Draw(2, 6, 3), Draw(2, 3), dims=(1,))],
                              "floating"), **_LINALG)
def tensorsolve(A, B, dims=None):
    """X with ``tensordot(A, X, X.dim()) == B``; dims are moved to the end of A first."""
    if dims is not None:
        A = A.movedim(tuple(dims), tuple(range(A.dim() - len(dims), A.dim())))
    shape = tuple(A.shape[B.dim():])
    size, rows = _product(shape), _product(A.shape[:B.dim()])
    if size != rows:
        raise RuntimeError("Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
                           f"prod(self.shape[:other.ndim]), but got {size} != {rows}")
    return linalg_solve(A.reshape(size, size), B.reshape(-1)).reshape(shape)


@op(name="vander", samples=Samples([call(Draw(3)), call(Draw(2, 3), N=5), call(Draw(3), N=1)], "floating"),
    **dict(_LINALG, renames={"input": "x"}))
def linalg_vander(x, N=None):
    """The powers 0 to N - 1 of each element, along a new last dimension."""
    if x.dim() == 0:
        x = x.unsqueeze(0)
    N = x.shape[-1] if N is None else N
    if N <= 1:
        raise RuntimeError("N must be greater than 1.")
    if x.dtype.name in ("bool", "float16", "bfloat16"):
        raise RuntimeError("linalg.vander supports floating point, complex, and integer tensors, but got "
                           f"{scalar_type(x.dtype)}")
    ones = OPS["torch.ones_like"](x).unsqueeze(-1)
    powers = x.unsqueeze(-1).expand(tuple(x.shape) + (N - 1,)).cumprod(-1)
    return OPS["torch.cat"]([ones, powers], -1)
