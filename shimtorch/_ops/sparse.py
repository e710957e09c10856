"""Sparse tensors in coordinate format: making them, what they hold, to dense and back.

The ops of this file are differentiable and closed under differentiation. `sparse_coo_from_parts` puts values at
coordinates, `values_at` reads a tensor there; each is the other's derivative. What other ops do to sparse operands
stands in ``sparse_arithmetic``, ``sparse_shape``, ``sparse_products`` and ``sparse_reduction``; further functions and
methods are named in ``sparse_methods``.
"""
from .._core import factory
from .._core.autograd import make_detached
from .._core.declaring import op
from .._core.device import as_device, cpu, sparse_coo, strided
from .._core.dtype import get_default_dtype, int64
from .._core.tensor import Size, TensorBase, wrap_ndarray
from ._sparse_parts import checks, is_coo, layout_name, on_device, parts, refuse_dense

# ---------------------------------------------------------------- values at coordinates


@op(method=False, function=False, cuda=True, backward_name="SparseCooTensorWithDimsAndTensorsBackward0",
    grads={"values": lambda g, out: values_at(g, out)})
def sparse_coo_from_parts(indices, values, size, coalesced=False, checked=False):
    """A sparse tensor of indices and values that fit the size."""
    return parts.make_coo(indices, values, size, coalesced, checked)


@op(method=False, function=False, sparse=True, grads={"self": lambda g, self, pattern: _spread(g, self, pattern)})
def values_at(self, pattern):
    """The (nnz, ...) elements of a dense or sparse tensor where the sparse one of its shape has entries."""
    if not is_coo(self):
        return parts.take(self, pattern)
    if self.shape != pattern.shape:
        raise RuntimeError("sparse_mask(): operands have incompatible sizes; self has size "
                           f"{list(self.shape)} but mask has size {list(pattern.shape)}")
    mine, theirs = parts.parts(self), parts.parts(pattern)
    if mine.sparse_dim != theirs.sparse_dim:
        return parts.take(parts.to_dense(self), pattern)
    if theirs.coalesced and same_indices(mine.indices, theirs.indices):
        return make_detached(mine.values)
    return _look_up(parts.coalesce(self), pattern)


def _spread(values, like, pattern):
    """Values put where the pattern has entries: where a sparse `like` has some too, or in a dense tensor."""
    result = sparse_coo_from_parts(pattern._indices(), values, like.shape, pattern.is_coalesced(), True)
    if not is_coo(like):
        return result.to_dense()
    known = parts.parts(like)
    if known.coalesced and result.is_coalesced() and same_indices(known.indices, pattern._indices()):
        return result
    return mask_of(result, like)


def same_indices(a, b):
    """Whether two index tensors hold the same, entry by entry."""
    if a is b or a.shape != b.shape or not a.numel():
        return a.shape == b.shape
    if a.data_ptr() == b.data_ptr() and a.stride() == b.stride():
        return True
    if a.is_cuda or b.is_cuda:
        return bool((a == b).all())
    a, b = a._ndarray(), b._ndarray()
    return bool((a[:, -1] == b[:, -1]).all() and (a == b).all())


def _look_up(coalesced, pattern):
    """Values of a coalesced tensor at the coordinates of another sparse one, which may repeat; 0 where it has none."""
    from .._kernels import coalesce, merge
    mine, theirs = parts.parts(coalesced), parts.parts(pattern)
    sizes = tuple(pattern.shape[:theirs.sparse_dim])
    if theirs.indices.is_cuda:
        return on_device().look_up(mine, theirs, sizes)
    wanted, back = theirs.indices._ndarray(), None
    if not theirs.coalesced:
        grouping = coalesce.Grouping(wanted, sizes)
        wanted, back = grouping.indices(), grouping.inverse()
    if merge.fits(sizes):
        in_mine, in_wanted = merge.intersection(mine.indices._ndarray(), wanted, sizes)
    else:
        in_mine, in_wanted = intersect_wide(mine.indices._ndarray(), wanted, sizes)
    values = mine.values._ndarray()
    found = _zeros((wanted.shape[1], *values.shape[1:]), values.dtype)
    found[in_wanted] = values[in_mine]
    return factory.from_data(found if back is None else found[back], None, False)


def _zeros(shape, dtype):
    import numpy as np
    return np.zeros(shape, dtype)


def intersect_wide(a, b, sizes):
    """`merge.intersection` for coordinates that do not fit in 64 bits: a group of two is an entry of both."""
    import numpy as np

    from .._kernels import coalesce
    grouping = coalesce.Grouping(np.concatenate((a, b), 1), sizes)
    order, starts = grouping.order(), grouping.starts()
    both = starts[:-1][np.diff(starts) == 2]
    return order[both], order[both + 1] - a.shape[1]


def common_entries(a, b, sizes):
    """The places in two index tensors, each without repetitions, of the coordinates that both have."""
    if a.is_cuda:
        return on_device().intersection(a, b, sizes)
    from .._kernels import merge
    find = merge.intersection if merge.fits(sizes) else intersect_wide
    return tuple(map(wrap_ndarray, find(a._ndarray(), b._ndarray(), sizes)))


# ---------------------------------------------------------------- making them

def sparse_coo_tensor_forward(indices=None, values=None, size=None, *, dtype=None, device=None, requires_grad=False,
                              check_invariants=None, is_coalesced=None, pin_memory=False):
    """A sparse tensor of (sparse_dim, nnz) indices and (nnz, ...) values; without a size, the least that holds them.

    Values at equal indices count as their sum. ``sparse_coo_tensor(size)`` has no entries. Indices and values are
    shared, not copied, when they are tensors of the right dtypes, on the device: that of the values unless another is
    named. RuntimeError where parts do not fit.
    """
    if check_invariants is None:
        check_invariants = checks["invariants"]
    if device is None and dtype is None and not requires_grad and not check_invariants:
        result = parts.construct(indices, values, size, bool(is_coalesced))
        if result is not None:
            return result
    if values is None and (indices is None or size is None):
        sizes = size if indices is None else indices
        if sizes is None:
            raise TypeError("sparse_coo_tensor(): expected indices and values, or a size")
        if isinstance(sizes, TensorBase):
            raise TypeError("sparse_coo_tensor(): argument 'size' must be tuple of ints, not Tensor")
        result = empty_sparse(sizes, dtype, device=device)
        return result.requires_grad_() if requires_grad else result
    if not isinstance(values, TensorBase):
        values = factory.from_data(values, dtype)
        if values.dim() == 0:
            values = values.view(1)
    elif values.layout is not strided:
        raise RuntimeError(f"expected values to be a dense tensor, but got values of layout {layout_name(values)}")
    elif values.dim() == 0:
        values = values.view(1)
    if dtype is not None and values.dtype is not dtype:
        values = values.to(dtype)
    if device is not None:
        values = values.to(as_device(device))
    indices = _as_indices(indices, size).to(values.device)
    sparse_dim, nnz = indices.shape
    if values.shape[0] != nnz:
        raise RuntimeError(f"indices and values must have same nnz, but got nnz from indices: {nnz}, nnz from values: "
                           f"{values.shape[0]}")
    if size is None:
        size = _least_size(indices, values)
    else:
        size = tuple(size)
        _check_size(size, sparse_dim, values)
    result = sparse_coo_from_parts(indices, values, size, bool(is_coalesced))
    if check_invariants:
        parts.check_indices(result)
        _check_coalesced(result)
    if requires_grad and not result.requires_grad:
        result.requires_grad_()
    return result


sparse_coo_tensor = op(sparse_coo_tensor_forward, name="sparse_coo_tensor", method=False)


def _as_indices(indices, size):
    """Indices as an int64 tensor; RuntimeError naming the first that is no whole number."""
    given = indices if isinstance(indices, TensorBase) else factory.from_data(indices, None)
    if given.layout is not strided:
        raise RuntimeError(f"expected indices to be a dense tensor, but got indices of layout {layout_name(given)}")
    if given.dim() != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(given.shape)}")
    if given.dtype is int64:
        return given
    indices = given.to(int64)
    if given.is_floating_point() or given.is_complex():
        for d, x in (indices != given).nonzero()[:1].tolist():
            raise RuntimeError(f"indices must be whole numbers, but found {given[d, x].item()} for dim {d}"
                               + (f" of size {list(size)}" if size is not None else ""))
    return indices


def _least_size(indices, values):
    from .._kernels import coo
    if indices.shape[1] == 0:
        return (0,) * indices.shape[0] + tuple(values.shape[1:])
    if indices.is_cuda:
        lows, highs = indices.amin(1).tolist(), indices.amax(1).tolist()
    else:
        lows, highs = coo.index_bounds(indices._ndarray())
    for d, low in enumerate(lows):
        if low < 0:
            raise RuntimeError(f"found negative index {low} for dim {d}")
    return tuple(h + 1 for h in highs) + tuple(values.shape[1:])


def _check_size(size, sparse_dim, values):
    dense = values.shape[1:]
    if len(size) != sparse_dim + len(dense):
        raise RuntimeError(f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(size)}, "
                           f"sparse_dim = {sparse_dim}, dense_dim = {len(dense)}")
    if size[sparse_dim:] != dense:
        raise RuntimeError(f"values has incorrect size, expected {[values.shape[0], *size[sparse_dim:]]}, got "
                           f"{list(values.shape)}")
    for n in size:
        if n < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {list(size)}")


def _check_coalesced(tensor):
    p = parts.parts(tensor)
    if p.coalesced and not grouping(p.indices, tuple(tensor.shape[:p.sparse_dim])).distinct:
        raise RuntimeError("is_coalesced: the indices are not sorted and distinct")


def grouping(indices, sizes):
    """The entries of equal coordinates: a Grouping of the CPU's, or what takes its place on a device."""
    if indices.is_cuda:
        return on_device().Groups(indices, sizes)
    from .._kernels.coalesce import Grouping
    return Grouping(indices._ndarray(), sizes)


def empty_sparse(size, dtype=None, sparse_dim=None, device=None):
    """A sparse tensor without entries; all dimensions are sparse unless told otherwise."""
    size = tuple(size) if hasattr(size, "__len__") else (size,)
    for n in size:
        if not hasattr(n, "__index__"):
            raise TypeError("sparse_coo_tensor(): argument 'size' must be tuple of ints, but found element of type "
                            f"{type(n).__name__}")
        if n < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {list(size)}")
    dims = len(size) if sparse_dim is None else sparse_dim
    indices = factory.new_empty((dims, 0), int64)
    values = factory.new_empty((0, *size[dims:]), get_default_dtype() if dtype is None else dtype)
    if device is not None and as_device(device) is not cpu:
        indices, values = indices.to(device), values.to(device)
    return parts.make_coo(indices, values, size, True, True)


def _sparse_zeros(sizes, dtype, layout, requires_grad, device):
    """``zeros(size, layout=...)``: a sparse tensor without entries."""
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        sizes = sizes[0]
    result = empty_sparse(sizes, dtype, device=device)
    if layout is not sparse_coo:
        result = result.to_sparse(layout=layout)
    return result.requires_grad_() if requires_grad else result


factory.bind_sparse_zeros(_sparse_zeros)


@op(method=False, function=False)
def legacy_sparse_tensor(dtype, args, kwargs):
    if "size" in kwargs and len(args) == 2:
        args = (*args, kwargs.pop("size"))
    if kwargs:
        raise TypeError(f"new() got an unexpected keyword argument {next(iter(kwargs))!r}")
    if not args:
        return empty_sparse((0,), dtype)
    if isinstance(args[0], TensorBase):
        if len(args) in (2, 3) and isinstance(args[1], TensorBase):
            if args[0].dtype is not int64:
                raise RuntimeError("indices must be an int64 tensor")
            return sparse_coo_tensor_forward(*args)
    elif len(args) == 1 and isinstance(args[0], Size):
        return empty_sparse(args[0], dtype)
    elif all(isinstance(a, int) or (hasattr(a, "__index__") and not isinstance(a, TensorBase)) for a in args):
        return empty_sparse(args, dtype)
    elif len(args) == 1 and isinstance(args[0], (list, tuple)):
        raise TypeError("torch.sparse.SparseTensor(sequence) only accepts sizes.  Please use torch.sparse_coo_tensor() "
                        "or construct a strided tensor and convert it to sparse via to_sparse.")
    raise TypeError("new() received an invalid combination of arguments - got ("
                    + ", ".join(type(a).__name__ for a in args) + ")")


def legacy_sparse_new(dtype, args, kwargs):
    """``torch.sparse.FloatTensor``: nothing, sizes, (indices, values) or (indices, values, size)."""
    return legacy_sparse_tensor(dtype, args, kwargs)


# ---------------------------------------------------------------- what they hold

@op(function=False, aliases=("_sparseDims", "_dimI"))
def sparse_dim(self):
    """The number of sparse dimensions; 0 for a dense tensor."""
    return parts.unchecked_parts(self).sparse_dim if is_coo(self) else 0 if self.layout is strided else 2


@op(function=False, aliases=("_denseDims", "_dimV"))
def dense_dim(self):
    """The number of dense dimensions."""
    if self.layout is not strided and not is_coo(self):
        from .sparse_compressed import dense_dim as compressed_dense_dim
        return compressed_dense_dim(self)
    return self.dim() - sparse_dim(self)


@op(function=False)
def _nnz(self):
    """The number of entries, those of equal indices counted each."""
    if self.layout is strided:
        raise NotImplementedError("_nnz: not implemented for dense tensors")
    if not is_coo(self):
        return parts.compressed_parts(self).plain.shape[-1]
    return parts.unchecked_parts(self).indices.shape[1]


@op(function=False)
def _indices(self):
    """The (sparse_dim, nnz) indices, as they stand."""
    if not is_coo(self):
        raise NotImplementedError(f"_indices: not implemented for tensors of layout {self.layout}")
    return make_detached(parts.unchecked_parts(self).indices)


@op(function=False)
def _values(self):
    """The (nnz, ...) values, as they stand; without history."""
    if not is_coo(self):
        raise NotImplementedError(f"_values: not implemented for tensors of layout {self.layout}")
    return make_detached(parts.unchecked_parts(self).values)


@op(function=False)
def indices(self):
    """The (sparse_dim, nnz) indices of a coalesced tensor."""
    _need_coalesced(self, "indices")
    return make_detached(parts.unchecked_parts(self).indices)


@op(function=False, sparse=True, grads={
    "self": lambda g, self: sparse_coo_from_parts(self._indices(), g, self.shape, True, True) if is_coo(self)
    else _compressed_like(self, g)})
def values(self):
    """The (nnz, ...) values of a coalesced tensor, or of one in a compressed format."""
    if self.layout is not strided and not is_coo(self):
        return make_detached(parts.compressed_parts(self).values)
    _need_coalesced(self, "values")
    return make_detached(parts.unchecked_parts(self).values)


def _compressed_like(self, values):
    from .sparse_compressed import with_values
    return with_values(self, values)


def _need_coalesced(self, name):
    refuse_dense(self, name)
    if not parts.unchecked_parts(self).coalesced:
        raise RuntimeError(f"Cannot get {name} on an uncoalesced tensor, please call .coalesce() first")


@op(function=False)
def is_coalesced(self):
    """Whether the entries are sorted and none repeats an index."""
    refuse_dense(self, "is_coalesced")
    return parts.unchecked_parts(self).coalesced


@op(function=False, sparse=True, grads={"self": lambda g: g})
def coalesce(self):
    """This tensor with entries sorted by index and those of equal indices summed; itself if it is so already."""
    refuse_dense(self, "coalesce")
    return parts.coalesce(self)


@op(function=False, name="_coalesced_")
def _coalesced_(self, coalesced):
    """Claim in place that the tensor is, or is not, coalesced; a false claim is refused."""
    refuse_dense(self, "_coalesced_")
    p = parts.parts(self)
    changed = parts.make_coo(p.indices, p.values, self.shape, bool(coalesced), True)
    if coalesced:
        _check_coalesced(changed)
    return parts.become(self, changed)


# ---------------------------------------------------------------- to dense and back

@op(function=False, sparse=True, cuda=True, aliases=("toDense",), backward_name="ToDenseBackward0", grads={
    "self": lambda g, self, masked_grad: g if masked_grad is False or not is_coo(self) else mask_of(g, self)})
def to_dense(self, dtype=None, *, masked_grad=None):
    """The dense tensor that this one stands for; a dense tensor as it is.

    The gradient of a sparse tensor is sparse, on its own indices, unless ``masked_grad`` is False.
    """
    if self.layout is strided:
        return self if dtype is None else self.to(dtype)
    if dtype is not None:
        raise RuntimeError("dtype argument is not supported by sparse_to_dense")
    return parts.to_dense(self) if is_coo(self) else parts.to_dense(_to_coo(self))


def _to_coo(self):
    from .sparse_compressed import to_coo
    return to_coo(self)


def mask_of(x, like):
    """What x has where a sparse tensor has entries: sparse and coalesced."""
    pattern = parts.coalesce(like.detach())
    return sparse_coo_from_parts(pattern._indices(), values_at(x, pattern), x.shape, True, True)


@op(function=False, sparse=True)
def sparse_mask(self, mask):
    """This tensor, dense or sparse, where the sparse ``mask`` has entries: a sparse tensor with the mask's indices."""
    if not isinstance(mask, TensorBase) or mask.layout is strided:
        raise NotImplementedError("sparse_mask: the mask must be a sparse tensor")
    if not is_coo(mask):
        from .sparse_compressed import mask_by_compressed
        return mask_by_compressed(self, mask)
    return sparse_coo_from_parts(mask._indices(), values_at(self, mask.detach()), mask.shape, mask.is_coalesced(), True)


@op(method=False, function=False, cuda=True, backward_name="ToSparseBackward0",
    grads={"self": lambda g: g if g.layout is strided else g.to_dense()})
def dense_to_coo(self, dims):
    return parts.from_dense(self, dims)


@op(function=False, renames={"sparseDims": "sparse_dim"})
def to_sparse(self, sparse_dim=None, *, layout=None, blocksize=None, dense_dim=None):
    """What is not zero in this tensor, as a coalesced sparse one; the first ``sparse_dim`` dimensions are sparse.

    ``layout`` names another format than torch.sparse_coo; bsr and bsc need a ``blocksize``. ``dense_dim`` says the same
    as ``sparse_dim`` from the other end.
    """
    if layout is not None and layout is not sparse_coo and layout is not strided:
        if sparse_dim is not None:
            raise RuntimeError("to_sparse: expected sparse_dim only for the layout torch.sparse_coo")
        return _to_layout(self, layout, blocksize, dense_dim)
    if layout is strided:
        return self.to_dense()
    if blocksize is not None:
        raise RuntimeError("to_sparse: blocksize is only for the layouts torch.sparse_bsr and torch.sparse_bsc")
    if is_coo(self):
        if sparse_dim is not None and sparse_dim != parts.unchecked_parts(self).sparse_dim:
            raise RuntimeError("to_sparse: conversion from Sparse to Sparse with sparse_dim argument "
                               "!=self.sparse_dim() is not supported")
        return self
    if self.layout is not strided:
        return _to_coo(self)
    dims = sparse_dim if sparse_dim is not None else self.dim() - (dense_dim or 0)
    if dims > self.dim() or dims < 0:
        raise RuntimeError(f"dense_to_sparse: sparse_dim argument must be in [0,{self.dim()}] range, but {dims} is "
                           "given")
    if dims == 0 and self.dim():
        raise RuntimeError("dense_to_sparse: sparse_dim argument must be in >0 when self.dim()>0")
    return dense_to_coo(self, dims)


op(to_sparse.forward, name="to_sparse_coo", function=False)


def _to_layout(self, layout, blocksize, dense_dim):
    from .sparse_compressed import to_compressed
    return to_compressed(self, layout, blocksize, dense_dim)
