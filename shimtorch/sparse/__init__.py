"""``torch.sparse``: products, sums and softmax of sparse tensors, and their legacy types."""
from .._core.device import strided as _strided
from .._ops import sparse_products as _products
from .._ops import sparse_reduction as _reduction
from .._typed import types_of as _types_of

globals().update(_types_of("torch.sparse"))


def mm(mat1, mat2, reduce=None):
    """The product of two matrices, each sparse or dense: dense, unless both are sparse.

    Differentiable in both; a sparse operand's gradient is sparse, on its own indices, and coalesced. ``reduce`` other
    than "sum" is not implemented.
    """
    if reduce not in (None, "sum"):
        raise NotImplementedError(f"torch.sparse.mm: reduce='{reduce}' is not implemented")
    return _products.any_mm(mat1, mat2)


def addmm(mat, mat1, mat2, beta=1, alpha=1):
    """``beta * mat + alpha * (mat1 @ mat2)`` for a sparse mat1 and dense mat and mat2; differentiable in all three."""
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


def _softmax(input, dim, dtype, logarithm):
    if dtype is not None:
        input = input.to(dtype)
    return _reduction.sparse_softmax(input, _reduction.reduced_dims(dim, input.dim())[0], logarithm)


def sampled_addmm(input, mat1, mat2, *, beta=1.0, alpha=1.0, out=None):
    """``beta * input + alpha * (mat1 @ mat2)`` where the sparse input has entries: a sparse matrix with its indices."""
    if input.layout is _strided or mat1.layout is not _strided or mat2.layout is not _strided:
        raise RuntimeError("sampled_addmm: Expected a sparse input and dense matrices")
    if out is not None:
        raise NotImplementedError("torch.sparse.sampled_addmm: out= is not implemented")
    pattern = input if input.is_sparse else input.to_sparse()
    right = mat2.transpose(0, 1)
    product = _products.sparse_sampled(mat1, right.conj() if right.is_complex() else right, pattern)
    result = pattern.coalesce() * beta + product * alpha
    return result if input.is_sparse else result.to_sparse(layout=input.layout)


class check_sparse_tensor_invariants:
    """Whether constructors check indices: here they always do, or at the first use of a large tensor.

    Accepted for compatibility, as a context manager, a decorator and through ``enable`` and ``disable``.
    """

    _enabled = False

    def __init__(self, enable=True):
        self.state, self.outer = enable, None

    @classmethod
    def is_enabled(cls):
        """What was last set."""
        return check_sparse_tensor_invariants._enabled

    @classmethod
    def enable(cls):
        """Ask for checks."""
        check_sparse_tensor_invariants._enabled = True

    @classmethod
    def disable(cls):
        """Ask for no checks."""
        check_sparse_tensor_invariants._enabled = False

    def __enter__(self):
        self.outer = self.is_enabled()
        check_sparse_tensor_invariants._enabled = self.state

    def __exit__(self, *exc):
        check_sparse_tensor_invariants._enabled = self.outer

    def __call__(self, function):
        import functools

        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with type(self)(self.state):
                return function(*args, **kwargs)
        return wrapped
