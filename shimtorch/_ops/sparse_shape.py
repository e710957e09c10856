"""What indexing, joining and rearranging do to sparse operands: new indices for the same values, or a part of them."""
import math

from .._core import OPS, factory
from .._core.declaring import op
from .._core.dtype import int64
from .._core.tensor import TensorBase, wrap_ndarray
from .._core.views import inferred_size
from ._sparse_parts import counted, is_coo, on_device, on_sparse, parts
from .sparse import empty_sparse


def _wrap(dim, ndim):
    n = max(ndim, 1)
    if not -n <= dim < n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    return dim % n


def _need_coo(self, name):
    if not is_coo(self):
        raise NotImplementedError(f"{name}: not implemented for tensors of layout {self.layout}")


def _make(indices, values, size, coalesced=False):
    return parts.make_coo(indices, values, size, coalesced, True)


def _take_entries(self, places):
    """Indices and values of some entries, numbered by an int64 tensor."""
    return parts.pick(self, places)


def _column(p, d):
    """The coordinates in a sparse dimension, to be compared: an ndarray, on a device a tensor."""
    return p.indices[d] if p.indices.is_cuda else p.indices[d]._ndarray()


def _places(mask):
    """Where the comparison of a `_column` holds."""
    return on_device().places(mask) if isinstance(mask, TensorBase) else wrap_ndarray(mask.nonzero()[0])


# ---------------------------------------------------------------- order of dimensions

@on_sparse("transpose", compressed=True)
def transpose(self, dim0, dim1):
    if not is_coo(self):
        from .sparse_compressed import transpose as transpose_compressed
        return transpose_compressed(self, _wrap(dim0, self.dim()), _wrap(dim1, self.dim()))
    a, b = _wrap(dim0, self.dim()), _wrap(dim1, self.dim())
    p = parts.parts(self)
    if a == b:
        return _make(p.indices, p.values, self.shape, p.coalesced)
    if (a < p.sparse_dim) != (b < p.sparse_dim):
        raise RuntimeError("sparse transpose: transposed dimensions must be sparse "
                           f"Got sparse_dim: {p.sparse_dim}, d0: {a}, d1: {b}")
    order = list(range(self.dim()))
    order[a], order[b] = b, a
    return _permuted(self, p, order)


def _permuted(self, p, order):
    size = [self.shape[d] for d in order]
    n = p.sparse_dim
    indices, values, coalesced = p.indices, p.values, p.coalesced
    if order[:n] != list(range(n)):
        indices = indices.index_select(0, wrap_ndarray(_int64(order[:n])))
        coalesced = False
    if order[n:] != list(range(n, self.dim())):
        values = values.permute(0, *[d - n + 1 for d in order[n:]])
    result = _make(indices, values, size, coalesced)
    return parts.turned(result) if n == 2 and p.coalesced and not coalesced else result


def _int64(numbers):
    import numpy as np
    return np.array(numbers, np.int64)


@on_sparse("t", compressed=True)
def t(self):
    if self.dim() > 2:
        raise RuntimeError("t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got "
                           f"{self.dim()} dimensions")
    if self.dim() < 2:
        return transpose(self, 0, 0)
    if is_coo(self) and parts.unchecked_parts(self).sparse_dim != 2:
        raise RuntimeError("t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got "
                           f"{parts.unchecked_parts(self).sparse_dim} sparse and "
                           f"{2 - parts.unchecked_parts(self).sparse_dim} dense dimensions")
    return transpose(self, 0, 1)


@on_sparse("permute")
def permute(self, *dims):
    _need_coo(self, "permute")
    if len(dims) == 1 and isinstance(dims[0], (tuple, list)):
        dims = dims[0]
    if len(dims) != self.dim():
        raise RuntimeError("permute(sparse_coo): number of dimensions in the tensor input does not match the length of "
                           f"the desired ordering of dimensions i.e. input.dim() = {self.dim()} is not equal to "
                           f"len(dims) = {len(dims)}")
    order = [_wrap(d, self.dim()) for d in dims]
    if len(set(order)) != len(order):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    p = parts.parts(self)
    if any(d >= p.sparse_dim for d in order[:p.sparse_dim]):
        raise RuntimeError("permute(sparse_coo): transpositions between sparse and dense dimensions are not allowed."
                           "Only transpositions within sparse and dense dimensions are supported.")
    return _permuted(self, p, order)


@on_sparse("transpose", inplace=True)
def transpose_(self, dim0, dim1):
    return parts.become(self, transpose(self, dim0, dim1))


@on_sparse("t", inplace=True)
def t_(self):
    return parts.become(self, t(self))


@on_sparse("unsqueeze")
def unsqueeze(self, dim):
    _need_coo(self, "unsqueeze")
    d = _wrap(dim, self.dim() + 1)
    p = parts.parts(self)
    size = list(self.shape)
    size.insert(d, 1)
    if d > p.sparse_dim:
        return _make(p.indices, p.values.unsqueeze(d - p.sparse_dim + 1), size, p.coalesced)
    zero = factory.zero(factory.new_empty((1, p.indices.shape[1]), int64))
    indices = OPS["torch.cat"]([p.indices[:d], zero, p.indices[d:]])
    return _make(indices, p.values, size, p.coalesced)


@on_sparse("squeeze")
def squeeze(self, dim=None):
    _need_coo(self, "squeeze")
    dims = range(self.dim()) if dim is None else dim if isinstance(dim, (tuple, list)) else (dim,)
    gone = {_wrap(d, self.dim()) for d in dims}
    gone = [d for d in sorted(gone) if self.dim() and self.shape[d] == 1]
    p = parts.parts(self)
    kept = [d for d in range(p.sparse_dim) if d not in gone]
    values = p.values
    for d in reversed(gone):
        if d >= p.sparse_dim:
            values = values.squeeze(d - p.sparse_dim + 1)
    indices = p.indices if len(kept) == p.sparse_dim else p.indices.index_select(0, wrap_ndarray(_int64(kept)))
    return _make(indices, values, [n for d, n in enumerate(self.shape) if d not in gone], p.coalesced)


@on_sparse("reshape", composite=True)
def reshape(self, *shape):
    return sparse_reshape(self, inferred_size(self, shape))


@on_sparse("view", composed=True)
def view(self, *shape):
    if len(shape) == 1 and not isinstance(shape[0], (int, tuple, list)):
        raise NotImplementedError("view: a sparse tensor cannot be viewed as another dtype; use to()")
    return sparse_reshape(self, inferred_size(self, shape))


@op(method=False, function=False, sparse=True, backward_name="ReshapeBackward0",
    grads={"self": lambda g, self_shape: g.reshape(self_shape)})
def sparse_reshape(self, shape):
    """The elements in another shape, where the sparse dimensions do not mix with the dense ones."""
    _need_coo(self, "reshape")
    p = parts.parts(self)
    old, inner = self.shape[:p.sparse_dim], self.shape[p.sparse_dim:]
    for k in range(len(shape), -1, -1) if not inner else range(len(shape) + 1):
        if math.prod(shape[:k]) == old.numel() and math.prod(shape[k:]) == inner.numel():
            break
    else:
        raise NotImplementedError(f"reshape: not implemented from size {list(self.shape)} with {p.sparse_dim} sparse "
                                  f"dimensions to {list(shape)}; use to_dense() first")
    return _make(_renumbered(p.indices, old, shape[:k]),
                 p.values.reshape((-1, *shape[k:]) if p.values.numel() else (p.values.shape[0], *shape[k:])), shape,
                 p.coalesced)


def _renumbered(indices, old, new):
    """Coordinates in sizes `new` of the elements that have the given ones in sizes `old`."""
    import numpy as np
    if old.numel() >= 2 ** 63:
        raise NotImplementedError(f"reshape: not implemented for sparse tensors of 2**63 elements, got {list(old)}")
    if indices.is_cuda:
        return on_device().renumbered(indices, old, new)
    indices = indices._ndarray()
    numbers = np.zeros(indices.shape[1], np.int64)
    for coordinates, n in zip(indices, old, strict=True):
        numbers = numbers * n + coordinates
    out = np.empty((len(new), numbers.size), np.int64)
    for d in range(len(new) - 1, -1, -1):
        numbers, out[d] = np.divmod(numbers, max(new[d], 1))
    return wrap_ndarray(out)


@on_sparse("expand")
def expand(self, *sizes):
    """Entries repeated along dimensions of size 1 and new leading ones."""
    _need_coo(self, "expand")
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        sizes = sizes[0]
    lead = len(sizes) - self.dim()
    if lead < 0:
        raise RuntimeError(f"expand({self.type()}{{{list(self.shape)}}}, size={list(sizes)}): the number of sizes "
                           f"provided ({len(sizes)}) must be greater or equal to the number of dimensions in the "
                           f"tensor ({self.dim()})")
    p = parts.parts(self)
    old = (1,) * lead + tuple(self.shape)
    size = [o if n == -1 and d >= lead else n for d, (o, n) in enumerate(zip(old, sizes, strict=True))]
    for d, (o, n) in enumerate(zip(old, size, strict=True)):
        if o not in (1, n) or n < 0:
            raise RuntimeError(f"The expanded size of the tensor ({n}) must match the existing size ({o}) at "
                               f"non-singleton dimension {d}.  Target sizes: {list(sizes)}.  Tensor sizes: "
                               f"{list(self.shape)}")
    n_sparse = p.sparse_dim + lead
    values = p.values.expand(p.values.shape[0], *size[n_sparse:])
    indices = OPS["torch.cat"]([p.indices.new_zeros((lead, p.indices.shape[1])), p.indices]) if lead else p.indices
    for d in range(n_sparse):
        if size[d] != old[d]:
            n, count = size[d], indices.shape[1]
            indices = indices.unsqueeze(1).expand(n_sparse, n, count).reshape(n_sparse, n * count)
            numbers = counted(n, indices).unsqueeze(1).expand(n, count)
            if n == 1 or not indices.is_contiguous():       # it may be a view still
                indices = indices.clone()
            indices[d] = numbers.reshape(n * count)
            values = OPS["torch.cat"]([values] * n) if n else values[:0]
    return parts.coalesce(_make(indices, values, size)) if p.coalesced else _make(indices, values, size)


# ---------------------------------------------------------------- parts of a tensor

def _narrowed(self, d, start, length, step=1):
    p = parts.parts(self)
    size = list(self.shape)
    size[d] = length
    if d >= p.sparse_dim:
        values = p.values.narrow(d - p.sparse_dim + 1, start, (length - 1) * step + 1 if length else 0)
        if step != 1:
            values = values[(slice(None),) * (d - p.sparse_dim + 1) + (slice(None, None, step),)]
        return _make(p.indices, values.contiguous(), size, p.coalesced)
    along = _column(p, d)
    chosen = (along >= start) & (along < start + length * step)
    if step != 1:
        chosen &= (along - start) % step == 0
    indices, values = _take_entries(self, _places(chosen))
    indices[d] = (indices[d] - start) if step == 1 else (indices[d] - start).floor_divide(step)
    return _make(indices, values, size, p.coalesced)


@on_sparse("narrow_copy")
def narrow_copy(self, dim, start, length):
    _need_coo(self, "narrow_copy")
    d = _wrap(dim, self.dim())
    if self.dim() == 0:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    start = int(start)
    n = self.shape[d]
    if not -n <= start <= n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n}], but got {start})")
    start = start + n if start < 0 else start
    if length < 0 or start + length > n:
        raise RuntimeError("Invalid range to narrow. range(start, start+length) must be a subset of range(0, "
                           f"{n}).")
    return _narrowed(self, d, start, length)


on_sparse("narrow")(narrow_copy)


@on_sparse("slice")
def slice_(self, dim, start, length, step):
    _need_coo(self, "slice")
    return _narrowed(self, dim, start, length, step)


@on_sparse("slice_backward")
def slice_backward(grad, shape, dim, start, length, step):
    d = dim % len(shape)
    p = parts.parts(grad)
    if d >= p.sparse_dim:
        values = p.values.new_zeros((p.values.shape[0], *shape[p.sparse_dim:]))
        values[(slice(None),) * (d - p.sparse_dim + 1) + (slice(start, start + length * step, step),)] = p.values
        return _make(p.indices, values, shape, p.coalesced)
    indices = p.indices.clone()
    indices[d] = indices[d] * step + start
    return _make(indices, p.values, shape, p.coalesced)


@on_sparse("select", composed=True)
def select(self, dim, index):
    _need_coo(self, "select")
    if self.dim() == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    d, n, i = _wrap(dim, self.dim()), None, int(index)
    n = self.shape[d]
    if not -n <= i < n:
        raise IndexError(f"select(): index {i} out of range for tensor of size {list(self.shape)} at dimension {d}")
    i %= n
    if d == 0 and parts.unchecked_parts(self).sparse_dim == 1:      # nothing sparse is left
        from .sparse_reduction import sparse_sum
        return sparse_sum(self.narrow(0, i, 1), (0,)).to(self.dtype)
    return sparse_select(self, d, i)


@op(method=False, function=False, sparse=True, backward_name="SelectBackward0", grads={
    "self": lambda g, self_shape, d, i: OPS["torch.select_backward"](g, self_shape, d, i)})
def sparse_select(self, d, i):
    """A tensor without its dimension d, where its coordinate is i; some sparse dimension is left."""
    p = parts.parts(self)
    size = [s for k, s in enumerate(self.shape) if k != d]
    if d >= p.sparse_dim:
        return _make(p.indices, p.values.select(d - p.sparse_dim + 1, i).contiguous(), size, p.coalesced)
    places = _places(_column(p, d) == i)
    indices, values = _take_entries(self, places)
    kept = wrap_ndarray(_int64([k for k in range(p.sparse_dim) if k != d]))
    return _make(indices.index_select(0, kept), values, size, p.coalesced)


@on_sparse("select_backward")
def select_backward(grad, shape, dim, index):
    d = dim % len(shape)
    return slice_backward(unsqueeze(grad, d), shape, d, int(index) % shape[d], 1, 1)


@on_sparse("index_select")
def index_select(self, dim, index):
    import numpy as np
    _need_coo(self, "index_select")
    d = _wrap(dim, self.dim())
    if not isinstance(index, TensorBase) or index.dtype.name not in ("int64", "int32"):
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    if index.dim() > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if self.is_cuda:
        return on_device().index_select(self, d, (index if index.dim() else index.unsqueeze(0)).to(self.device, int64))
    chosen = (index if index.dim() else index.unsqueeze(0)).to(int64).contiguous()._ndarray()
    n = self.shape[d]
    if len(chosen) and not 0 <= chosen.min() <= chosen.max() < n:
        for i in chosen[(chosen < -n) | (chosen >= n)][:1]:
            raise IndexError(f"index_select(): index contains {i} that is out of range for tensor of size "
                             f"{list(self.shape)} at dimension {d}")
        chosen = chosen % n
    size = list(self.shape)
    size[d] = len(chosen)
    p = parts.parts(self)
    if d >= p.sparse_dim:
        return _make(p.indices, p.values.index_select(d - p.sparse_dim + 1, wrap_ndarray(chosen)), size, p.coalesced)
    if d == 0 and p.coalesced and p.sparse_dim == 2 and self.dim() == 2:
        rows = parts.take_rows(self, wrap_ndarray(np.ascontiguousarray(chosen)))
        if rows is not None:
            return rows
    places, asked = _find(self, p, d, chosen)
    indices, values = _take_entries(self, wrap_ndarray(places))
    indices[d].copy_(wrap_ndarray(asked))
    ascending = len(chosen) < 2 or bool((chosen[1:] > chosen[:-1]).all())
    return _make(indices, values, size, p.coalesced and ascending)


def _find(self, p, d, chosen):
    """Entries whose coordinate in dimension d is chosen, once for each time, and the place among the chosen."""
    import numpy as np

    from .._kernels import csr
    along = p.indices[d].contiguous()._ndarray()
    if self.shape[d] <= 16 * (along.size + chosen.size) + 1024:
        return csr.select(along, self.shape[d], chosen)
    # A dimension too long to keep lists for: number the coordinates that occur.
    known, numbers = np.unique(np.concatenate((along, chosen)), return_inverse=True)
    return csr.select(numbers[:along.size].copy(), known.size, numbers[along.size:].copy())


@on_sparse("index_add_zeros")
def index_add_zeros(grad, shape, dim, index):
    d = dim % max(len(shape), 1)
    p = parts.parts(grad)
    index = (index if index.dim() else index.unsqueeze(0)).to(int64)
    index = index + (index < 0).to(int64) * shape[d]
    if d >= p.sparse_dim:
        values = p.values.new_zeros((p.values.shape[0], *shape[p.sparse_dim:]))
        return _make(p.indices, values.index_add_(d - p.sparse_dim + 1, index, p.values), shape, p.coalesced)
    indices = p.indices.clone()
    indices[d] = index.index_select(0, indices[d])
    return _make(indices, p.values, shape)


@on_sparse("embedding_lookup", composed=True)
def embedding_lookup(weight, indices, padding_idx=-1):
    if padding_idx >= 0 and weight.requires_grad:
        raise NotImplementedError("embedding: not implemented for a sparse weight with gradient and padding_idx")
    rows = weight.index_select(0, indices.reshape(-1))
    return rows.view(*indices.shape, *weight.shape[1:])


@on_sparse("unbind")
def unbind(self, dim=0):
    return tuple([select(self, dim, i) for i in range(self.shape[_wrap(dim, self.dim())])])


@on_sparse("split_with_sizes", composed=True)
def split_with_sizes(self, split_sizes, dim=0):
    d = _wrap(dim, self.dim())
    sizes = [int(n) for n in split_sizes]
    if sum(sizes) != self.shape[d] or min(sizes, default=0) < 0:
        raise RuntimeError(f"split_with_sizes expects split_sizes to sum exactly to {self.shape[d]} (input tensor's "
                           f"size at dimension {d}), but got split_sizes={sizes}")
    starts = [sum(sizes[:k]) for k in range(len(sizes))]
    return tuple([self.narrow(d, at, n) for at, n in zip(starts, sizes, strict=True)])


# ---------------------------------------------------------------- joining

@on_sparse("cat")
def cat(tensors, dim=0):
    for k, x in enumerate(tensors):
        if not is_coo(x):
            raise RuntimeError(f"Concatenating sparse tensors, but a dense tensor was found at position {k}.")
    first = tensors[0]
    d = _wrap(dim, first.dim())
    n_sparse = next((parts.unchecked_parts(x).sparse_dim for x in tensors if x._nnz()),
                    parts.unchecked_parts(first).sparse_dim)
    tensors = [x if x._nnz() else empty_sparse(x.shape, x.dtype, n_sparse, x.device) for x in tensors]
    for k, x in enumerate(tensors[1:], 1):
        if x.dim() != first.dim() or any(x.shape[i] != n for i, n in enumerate(first.shape) if i != d):
            raise RuntimeError(f"All tensors must have the same shape: {list(first.shape)} (except in the "
                               f"concatenating dimension), but found shape: {list(x.shape)} at position {k}.")
        n = parts.unchecked_parts(x).sparse_dim
        if n != n_sparse:
            raise RuntimeError(f"All tensors must have the same sparse_dim and dense_dim: {n_sparse}, "
                               f"{first.dim() - n_sparse}, but tensor at position {k} has {n}, {x.dim() - n}.")
    join = OPS["torch.cat"]
    size = list(first.shape)
    size[d] = sum(x.shape[d] for x in tensors)
    indices, values, at = [], [], 0
    for x in tensors:
        p = parts.parts(x)
        i, v = p.indices, p.values
        if d < n_sparse:
            if at:
                i = i.clone()
                i[d] += at
        else:
            wide = v.new_zeros((v.shape[0], *size[n_sparse:]))
            wide.narrow(d - n_sparse + 1, at, x.shape[d]).copy_(v)
            v = wide
        indices.append(i)
        values.append(v)
        at += x.shape[d]
    ordered = d == 0 and all(parts.unchecked_parts(x).coalesced for x in tensors)
    return _make(join(indices, 1), join(values), size, ordered and n_sparse > 0)


@on_sparse("stack")
def stack(tensors, dim=0):
    d = _wrap(dim, tensors[0].dim() + 1)
    return cat([unsqueeze(x, d) if is_coo(x) else x for x in tensors], d)


# ---------------------------------------------------------------- sizes in place

def _check_resize(self, size, n_sparse, n_dense):
    if len(size) != n_sparse + n_dense:
        raise RuntimeError(f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(size)}, "
                           f"sparse_dim = {n_sparse}, dense_dim = {n_dense}")
    p = parts.parts(self)
    if p.indices.shape[1] == 0:
        return p
    old = self.dim() - p.sparse_dim
    for what, before, now in (("sparse", p.sparse_dim, n_sparse), ("dense", old, n_dense)):
        if before != now:
            raise RuntimeError(f"changing the number of {what} dimensions (from {before} to {now}) on a non-empty "
                               "sparse tensor is not supported.")
    for what, before, now in (("sparse", self.shape[:n_sparse], size[:n_sparse]),
                              ("dense", self.shape[n_sparse:], size[n_sparse:])):
        if any(b > n for b, n in zip(before, now, strict=True)):
            raise RuntimeError(f"shrinking the size of {what} dimensions (from {list(before)} to {list(now)}) on a "
                               "non-empty sparse tensor is not supported.")
    return p


@on_sparse("sparse_resize", inplace=True)
def sparse_resize_(self, size, sparse_dim, dense_dim):
    _need_coo(self, "sparse_resize_")
    size = tuple(size)
    p = _check_resize(self, size, sparse_dim, dense_dim)
    if p.indices.shape[1] == 0:
        return parts.become(self, empty_sparse(size, self.dtype, sparse_dim, self.device))
    values = p.values
    if size[sparse_dim:] != tuple(self.shape[sparse_dim:]):
        values = values.new_zeros((values.shape[0], *size[sparse_dim:]))
        values[tuple(slice(n) for n in p.values.shape)].copy_(p.values)
    return parts.become(self, _make(p.indices, values, size, p.coalesced))


@on_sparse("sparse_resize_and_clear", inplace=True)
def sparse_resize_and_clear_(self, size, sparse_dim, dense_dim):
    _need_coo(self, "sparse_resize_and_clear_")
    if len(tuple(size)) != sparse_dim + dense_dim:
        raise RuntimeError(f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(tuple(size))}, "
                           f"sparse_dim = {sparse_dim}, dense_dim = {dense_dim}")
    return parts.become(self, empty_sparse(size, self.dtype, sparse_dim, self.device))


@on_sparse("resize_as", inplace=True)
def resize_as_(self, other, *, memory_format=None):
    _need_coo(self, "resize_as_")
    if not is_coo(other):
        raise RuntimeError("resize_as_: a sparse tensor takes the size of a sparse tensor only")
    n = parts.unchecked_parts(other).sparse_dim
    return sparse_resize_(self, other.shape, n, other.dim() - n)
