"""Functions and methods of sparse tensors by name; what they do stands in modules loaded with the first of these."""
from .._core import METHODS
from .._core.device import sparse_csc, sparse_csr, strided
from .._core.op import inplace_op, op
from .._core.tensor import TensorBase
from .products import _numbers_first

# ---------------------------------------------------------------- compressed rows and columns

def _compressed(name, layout, first, second):
    def forward(pointers, plain, values, size=None, *, dtype=None, device=None, requires_grad=False, pin_memory=False,
                check_invariants=None):
        from .sparse_compressed import make
        return make(layout, pointers, plain, values, size, dtype, device, requires_grad)
    forward.__doc__ = (f"A matrix in layout {layout} of {first} ({'rows' if first[1] == 'r' else 'columns'} + 1,), "
                       f"{second} (nnz,) and values (nnz,).")
    op(forward, name=name, method=False, renames={first: "pointers", second: "plain"})


_compressed("sparse_csr_tensor", sparse_csr, "crow_indices", "col_indices")
_compressed("sparse_csc_tensor", sparse_csc, "ccol_indices", "row_indices")


def _compressed_part(name, which):
    def forward(self):
        from . import sparse_compressed
        return getattr(sparse_compressed, which)(self, name)
    forward.__doc__ = f"The {name} of a matrix in a compressed sparse format."
    op(forward, name=name, function=False)


for _name, _which in (("crow_indices", "pointers_of"), ("ccol_indices", "pointers_of"), ("col_indices", "plain_of"),
                      ("row_indices", "plain_of")):
    _compressed_part(_name, _which)


def to_compressed(self, layout):
    from . import sparse_compressed
    return sparse_compressed.to_compressed(self, layout)


@op(function=False)
def to_sparse_csr(self, dense_dim=None):
    """This matrix, dense or sparse, in compressed sparse rows."""
    return to_compressed(self, sparse_csr)


@op(function=False)
def to_sparse_csc(self, dense_dim=None):
    """This matrix, dense or sparse, in compressed sparse columns."""
    return to_compressed(self, sparse_csc)


# ---------------------------------------------------------------- sizes

@op(grads={"self": lambda g, self_shape, dim, start, length: slice_backward(g, self_shape, dim, start, length)})
def narrow_copy(self, dim, start, length):
    """The part of a tensor from ``start``, ``length`` long, along a dimension: a copy, dense or sparse."""
    return self.narrow(dim, start, length).clone()


def slice_backward(g, shape, dim, start, length):
    from .shape import slice_backward as backward
    return backward(g, shape, dim, int(start) % shape[dim] if shape[dim] else 0, length, 1)


@inplace_op
def sparse_resize_(self, size, sparse_dim, dense_dim):
    """Give a sparse tensor another size in place; sizes may only grow while it has entries."""
    raise NotImplementedError("sparse_resize_: not implemented for dense tensors")


METHODS["resizeAs_"] = METHODS["resize_as_"]         # the spelling of the 0.3 documentation


@inplace_op
def sparse_resize_and_clear_(self, size, sparse_dim, dense_dim):
    """Give a sparse tensor another size in place and take its entries away."""
    raise NotImplementedError("sparse_resize_and_clear_: not implemented for dense tensors")


# ---------------------------------------------------------------- products with names of their own

@op(aliases=("hsmm",))
def hspmm(self, mat2):
    """A sparse matrix times a dense one: a hybrid tensor, whose rows that are not empty are dense."""
    from . import sparse_products
    return sparse_products.hspmm(self, mat2)


@op(aliases=("sspmm",))
def smm(self, mat2):
    """A sparse matrix times a dense one: a sparse matrix, its rows that are not empty full."""
    from . import sparse_products
    return sparse_products.smm(self, mat2)


@op(aliases=("dsmm",))
def spmm(self, mat2):
    """The product of two matrices, of which one or both are sparse; a sparse one's gradient is sparse."""
    from . import sparse_products
    return sparse_products.any_mm(self, mat2)


@op(aliases=("saddmm",), legacy=_numbers_first, legacy_min=4)
def sspaddmm(self, mat1, mat2, *, beta=1, alpha=1):
    """``beta * self + alpha * (mat1 @ mat2)`` for sparse self and mat1 and a dense mat2: a sparse matrix."""
    from . import sparse_products
    return sparse_products.sspaddmm(self, mat1, mat2, beta, alpha)


@op()
def spadd(self, *args):
    """``spadd(dense, sparse)`` or ``spadd(dense, alpha, sparse)``, in either order: the dense sum (an old method)."""
    if len(args) not in (1, 2) or not isinstance(args[-1], TensorBase):
        raise TypeError("spadd(): expected a dense and a sparse tensor, and perhaps a number between them")
    dense, sparse = (self, args[-1]) if self.layout is strided else (args[-1], self)
    return dense.add(sparse, alpha=args[0] if len(args) == 2 else 1)
