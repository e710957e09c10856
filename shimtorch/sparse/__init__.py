"""``torch.sparse``: products, sums and softmax of sparse tensors, and their legacy types."""
from .._core.device import strided as _strided
from .._ops import sparse_products as _products
from .._ops import sparse_reduction as _reduction
from .._ops._sparse_parts import checks as _checks
from .._ops._sparse_parts import through_coo as _through_coo
from .._typed import types_of as _types_of

globals().update(_types_of("torch.sparse"))


def mm(mat1, mat2, reduce=None):
    """The product of two matrices, each sparse or dense: dense, unless both are sparse.

    Differentiable in both; a sparse operand's gradient is sparse, on its own indices, and coalesced. ``reduce``
    ("sum", "mean", "prod", "amax", "amin") says how the products of a row come together.
    """
    if reduce is None or reduce == "sum":
        return _products.any_mm(mat1, mat2)
    if reduce not in ("mean", "prod", "amax", "amin"):
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    return _products.mm_reduced(mat1, mat2, reduce)


def addmm(mat, mat1, mat2, beta=1, alpha=1):
    """``beta * mat + alpha * (mat1 @ mat2)`` for a sparse mat1; differentiable in all three.

    Dense unless all three are sparse.
    """
    if mat2.layout is not _strided:
        product = mm(mat1, mat2) * alpha
        return mat * beta + product if beta != 0 or mat.layout is not _strided else product.to_dense()
    if mat1.layout is _strided:
        return mat.addmm(mat1, mat2, beta=beta, alpha=alpha)
    return _products.sparse_addmm(mat, mat1 if mat1.is_sparse else mat1.to_sparse(), mat2, beta, alpha)


def sum(input, dim=None, dtype=None):
    """The sum over ``dim`` (one, several; None: all), which is squeezed away.

    Dense when all sparse dimensions are summed, else sparse. The gradient is sparse, on the input's indices.
    """
    if input.layout is _strided:
        raise NotImplementedError("torch.sparse.sum: expected a sparse tensor")
    if not input.is_sparse:
        input = input.to_sparse()
    if dtype is not None:
        input = input.to(dtype)
    return _reduction.sparse_sum(input, tuple(_reduction.reduced_dims(dim, input.dim())))


def softmax(input, dim, *, dtype=None):
    """Softmax along ``dim`` over the entries of a sparse tensor; what is not stored counts as minus infinity."""
    return _softmax(input, dim, dtype, False)


def log_softmax(input, dim, *, dtype=None):
    """The logarithm of ``softmax``, of the entries alone."""
    return _softmax(input, dim, dtype, True)


@_through_coo
def _softmax(input, dim, dtype, logarithm):
    if dtype is not None:
        input = input.to(dtype)
    return _reduction.sparse_softmax(input, _reduction.reduced_dims(dim, input.dim())[0], logarithm)


def sampled_addmm(input, mat1, mat2, *, beta=1.0, alpha=1.0, out=None):
    """``beta * input + alpha * (mat1 @ mat2)`` where the sparse input has entries: a sparse matrix with its indices."""
    if input.layout is _strided or mat1.layout is not _strided or mat2.layout is not _strided:
        raise RuntimeError("sampled_addmm: Expected a sparse input and dense matrices")
    pattern = input if input.is_sparse else input.to_sparse()
    right = mat2.transpose(0, 1)
    product = _products.sparse_sampled(mat1, right.conj() if right.is_complex() else right, pattern)
    result = pattern.coalesce() * beta + product * alpha
    if not input.is_sparse:
        result = result.to_sparse(layout=input.layout)
    if out is None:
        return result
    if out.layout is not result.layout:
        raise RuntimeError(f"sampled_addmm: expected out of layout {result.layout}, got {out.layout}")
    return out.copy_(result)


def spsolve(input, other, *, left=True):
    """The solution x of ``input @ x = other`` for a square sparse matrix and a dense vector or matrix.

    With left=False of ``x @ input = other``. Factored by SuperLU (SciPy); differentiable in both. RuntimeError where
    the matrix is singular.
    """
    return _products.solve(input, other, left)


def spdiags(diagonals, offsets, shape, layout=None):
    """A sparse matrix with rows of ``diagonals`` along the diagonals that ``offsets`` name.

    An element of row k stands in the column that is its place in the row, as in SciPy's ``spdiags``.
    """
    from ._diagonals import spdiags as make
    return make(diagonals, offsets, shape, layout)


def from_scipy(matrix):
    """A tensor of a SciPy sparse array in format coo, csr, csc or bsr, in the layout of that name.

    It shares the memory of the values and of the indices, which in format coo have to be the rows of one int64 array,
    as those of `to_scipy` are: coordinates in separate arrays, or of 32 bits, are copied.
    """
    from ._scipy import from_scipy as convert
    return convert(matrix)


def to_scipy(input):
    """A SciPy sparse array of a sparse matrix, in the format of its layout, sharing the memory of its parts."""
    from ._scipy import to_scipy as convert
    return convert(input)


def as_sparse_gradcheck(gradcheck):
    """``gradcheck`` for functions of sparse tensors; ours takes them as it is."""
    return gradcheck


class check_sparse_tensor_invariants:
    """Whether constructors check all that a layout demands: sorted, distinct indices too.

    That indices lie within the size is always checked, for a large tensor at its first use. A context manager, a
    decorator, and switched by ``enable`` and ``disable``.
    """

    def __init__(self, enable=True):
        self.state, self.outer = enable, None

    @classmethod
    def is_enabled(cls):
        """What was last set."""
        return _checks["invariants"]

    @classmethod
    def enable(cls):
        """Ask for checks."""
        _checks["invariants"] = True

    @classmethod
    def disable(cls):
        """Ask for no checks."""
        _checks["invariants"] = False

    def __enter__(self):
        self.outer = self.is_enabled()
        _checks["invariants"] = self.state

    def __exit__(self, *exc):
        _checks["invariants"] = self.outer

    def __call__(self, function):
        import functools

        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with type(self)(self.state):
                return function(*args, **kwargs)
        return wrapped


def __getattr__(name):
    from .._refused import attribute
    return attribute("torch.sparse", name)
