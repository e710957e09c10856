"""Functions and methods of sparse tensors by name; what they do stands in modules loaded with the first of these."""
from .._core import METHODS
from .._core.declaring import inplace_op, op
from .._core.device import sparse_bsc, sparse_bsr, sparse_csc, sparse_csr, strided
from .._core.tensor import TensorBase
from .products import _numbers_first

# ---------------------------------------------------------------- compressed rows and columns

def _compressed(name, layout, first, second, blocked):
    def forward(pointers, plain, values, size=None, *, dtype=None, device=None, requires_grad=False, pin_memory=False,
                check_invariants=None, layout=layout):
        if layout is not fixed:
            raise RuntimeError(f"{name}: expected layout {fixed}, got {layout}")
        from .sparse_compressed import make
        return make(layout, pointers, plain, values, size, dtype, device, requires_grad, check_invariants)
    fixed = layout
    forward.__doc__ = (f"A tensor in layout {layout} of {first} (*batch, {'rows' if first[1] == 'r' else 'columns'} + "
                       f"1), {second} (*batch, nnz) and values (*batch, nnz"
                       f"{', *blocksize' if blocked else ''}, *dense).")
    op(forward, name=name, method=False, renames={first: "pointers", second: "plain"})


_compressed("sparse_csr_tensor", sparse_csr, "crow_indices", "col_indices", False)
_compressed("sparse_csc_tensor", sparse_csc, "ccol_indices", "row_indices", False)
_compressed("sparse_bsr_tensor", sparse_bsr, "crow_indices", "col_indices", True)
_compressed("sparse_bsc_tensor", sparse_bsc, "ccol_indices", "row_indices", True)


@op(method=False, renames={"compressed_indices": "pointers", "plain_indices": "plain"})
def sparse_compressed_tensor(pointers, plain, values, size=None, *, dtype=None, layout=None, device=None,
                             pin_memory=False, requires_grad=False, check_invariants=None):
    """A tensor in the compressed sparse ``layout``: compressed_indices, plain_indices and values as each kind has."""
    from .sparse_compressed import make
    return make(layout, pointers, plain, values, size, dtype, device, requires_grad, check_invariants)


def _compressed_part(name, which):
    def forward(self):
        from . import sparse_compressed
        return getattr(sparse_compressed, which)(self, name)
    forward.__doc__ = f"The {name} of a tensor in a compressed sparse format."
    op(forward, name=name, function=False)


for _name, _which in (("crow_indices", "pointers_of"), ("ccol_indices", "pointers_of"), ("col_indices", "plain_of"),
                      ("row_indices", "plain_of")):
    _compressed_part(_name, _which)


def to_compressed(self, layout, blocksize=None, dense_dim=None):
    from . import sparse_compressed
    return sparse_compressed.to_compressed(self, layout, blocksize, dense_dim)


@op(function=False)
def to_sparse_csr(self, dense_dim=None):
    """This tensor, dense or sparse, in compressed sparse rows; dimensions before the matrix's number matrices."""
    return to_compressed(self, sparse_csr, None, dense_dim)


@op(function=False)
def to_sparse_csc(self, dense_dim=None):
    """This tensor, dense or sparse, in compressed sparse columns; dimensions before the matrix's number matrices."""
    return to_compressed(self, sparse_csc, None, dense_dim)


@op(function=False)
def to_sparse_bsr(self, blocksize, dense_dim=None):
    """This tensor, dense or sparse, in compressed rows of blocks of a size that divides the matrix's."""
    return to_compressed(self, sparse_bsr, blocksize, dense_dim)


@op(function=False)
def to_sparse_bsc(self, blocksize, dense_dim=None):
    """This tensor, dense or sparse, in compressed columns of blocks of a size that divides the matrix's."""
    return to_compressed(self, sparse_bsc, blocksize, dense_dim)


def _copied(name):
    def forward(self):
        return getattr(self, name)().clone()
    forward.__doc__ = f"A copy of what ``{name}()`` of a sparse tensor shows."
    op(forward, name=name + "_copy", method=False)


for _name in ("indices", "values", "crow_indices", "col_indices", "ccol_indices", "row_indices"):
    _copied(_name)


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


@op()
def resize_as_sparse_(self, the_template):
    """Give a sparse tensor the size of another in place."""
    return self.resize_as_(the_template)


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
