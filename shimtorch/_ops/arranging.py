"""Rearrangements that copy: repeating, flipping, rolling, triangles and diagonals."""
from operator import index

from .._core import OPS
from .._core import arranging as _arranging
from .._core.declaring import inplace_op, op
from .._core.device import contiguous_format
from .._core.einsum import contract_labelled
from .._core.history import name_history
from .._core.tensor import TensorBase, wrap_ndarray
from .samples import Draw, Samples, call, integers
from .shape import diagonal_backward, wrap

_number = dict(dtypes="number")


# ---------------------------------------------------------------- padding

@op(namespace="torch.nn.functional", method=False, function=False, backward_name="ConstantPadNdBackward0",
    samples=Samples([call(Draw(2, 3), (1,), (2,), 0.5), call(Draw(2, 3, 4), (0, 1), (2, 0)),
                     call(Draw(4, 5), (-1, 2), (1, -3), 1.0), call(Draw(4, 5), (-1, 0), (0, -2))],
                    reference=lambda torch: lambda x, before, after, value=0.0: torch.nn.functional.pad(
                        x, [n for pair in zip(reversed(before), reversed(after)) for n in pair], value=value),
                    **_number),
    grads={"self": lambda g, before, after: pad_constant(g, tuple(-n for n in before), tuple(-n for n in after))})
def pad_constant(self, before, after, value=0.0):
    """The last dimensions with so many elements of a value before and after them, or cut off where negative."""
    from .._core import padding
    if padding.takes(self):
        return padding.padded(self, tuple(before), tuple(after), "constant", value)
    size, inner, source = list(self.shape), [slice(None)] * self.dim(), [slice(None)] * self.dim()
    for i, (b, a) in enumerate(zip(before, after), self.dim() - len(before)):
        size[i] += b + a
        inner[i] = slice(max(b, 0), size[i] - max(a, 0))
        source[i] = slice(max(-b, 0), self.shape[i] - max(-a, 0))
    kept = self[tuple(source)]
    if max(*before, *after) <= 0:
        return kept.clone(memory_format=contiguous_format)
    padded = self.new_full(size, value)
    padded[tuple(inner)] = kept
    return padded


def _edges_reference(torch):
    def f(x, before, after, mode):
        return torch.nn.functional.pad(x, [n for pair in zip(reversed(before), reversed(after)) for n in pair], mode)
    return f


@op(namespace="torch.nn.functional", method=False, function=False, samples=Samples(
        [call(Draw(2, 3, 4), (1,), (2,), "reflect"), call(Draw(2, 3, 4), (1, 3), (2, 0), "reflect"),
         call(Draw(1, 2, 3, 4), (1, 5), (4, 0), "replicate"), call(Draw(2, 3, 2, 4), (1, 0, 2), (2, 1, 2), "replicate"),
         call(Draw(2, 3, 4), (1, 3), (3, 4), "circular"), call(Draw(2, 3, 4), (-1,), (2,), "replicate"),
         call(Draw(2, 5), (2,), (-1,), "reflect")], reference=_edges_reference, dtypes="floating"),
    grads={"self": lambda g, before, after, mode: pad_fold(g, before, after, mode)})
def pad_edges(self, before, after, mode):
    """The last dimensions continued beyond their ends: mode is "reflect", "replicate" or "circular"."""
    from .._core import padding
    return padding.padded(self, before, after, mode)


@op(namespace="torch.nn.functional", method=False, function=False,
    grads={"grad": lambda g, before, after, mode: pad_edges(g, before, after, mode)})
def pad_fold(grad, before, after, mode):
    """The gradient of pad_edges: all that came from one element is added up."""
    from .._core import padding
    if grad.is_complex():
        parts = padding.folded(OPS["torch.view_as_real"](grad.resolve_conj()), (*before, 0), (*after, 0), mode)
        return OPS["torch.view_as_complex"](parts)
    return padding.folded(grad, before, after, mode)


# ---------------------------------------------------------------- repeating

@op(function=False, backward_name="RepeatBackward0", renames={"repeats": "sizes"}, samples=Samples([
        call(Draw(3, 4), 2, 2), call(Draw(3), (2,)), call(Draw(2, 3), 2, 1, 2), call(Draw(2, 3), 1, 0),
        call(Draw(1), 3), call(Draw(2, 3), repeats=(2, 1)), call(Draw(2, 3), 1, 1)], **_number))
def repeat(self, *sizes):
    """Copies of the tensor beside each other, so many along each dimension."""
    sizes = tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes
    if len(sizes) < self.dim():
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    extra = len(sizes) - self.dim()
    shape = (1,) * extra + tuple(self.shape)
    if any(r < 0 for r in sizes):
        raise RuntimeError("Trying to create tensor with negative dimension "
                           f"{min(r * s for r, s in zip(sizes, shape))}: {[r * s for r, s in zip(sizes, shape)]}")
    x = self.reshape([n for s in shape for n in (1, s)])
    x = x.expand([n for r, s in zip(sizes, shape) for n in (r, s)])
    return x.clone(memory_format=contiguous_format).reshape([r * s for r, s in zip(sizes, shape)])


@op(renames={"reps": "dims"}, samples=Samples([
    call(Draw(3, 4), (2, 2)), call(Draw(2, 3), (2,)), call(Draw(2, 3), dims=(2, 1))], **_number))
def tile(self, *dims):
    """Copies beside each other; missing numbers of copies, in front, are 1."""
    dims = tuple(dims[0]) if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else dims
    return self.repeat((1,) * (self.dim() - len(dims)) + tuple(dims))


@op(overloads=True, samples=Samples([
    call(Draw(3, 4), 2), call(Draw(3, 4), 2, 0), call(Draw(3, 4), integers(3), 0), call(Draw(4), integers(4)),
    call(integers(4))], **_number))
def repeat_interleave(self, repeats=None, dim=None, *, output_size=None):
    """Each element repeated, so often or as often as a tensor says; with one argument, each index so often."""
    if repeats is not None and not isinstance(repeats, TensorBase):
        repeats = index(repeats)
    if repeats is None:
        self, repeats = wrap_ndarray(_counting(self.numel())), self
    if dim is None:
        self, dim = self.reshape(-1), 0
    n = self.shape[wrap(dim, self.dim())] if self.dim() else 1
    counts = repeats if isinstance(repeats, TensorBase) else None
    if counts is not None and (counts.dim() > 1 or counts.dtype.name not in ("int64", "int32")):
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat" if counts.dim() > 1 else
                           "repeats has to be Long or Int tensor")
    if counts is not None and counts.numel() == 1:
        repeats, counts = counts.item(), None
    if counts is not None and len(counts) != n:
        raise RuntimeError("repeats must have the same size as input along dim, but got repeats.size(0) = "
                           f"{len(counts)} and input.size({dim}) = {n}")
    if (repeats if counts is None else int(counts.min()) if n else 0) < 0:
        raise RuntimeError("Repeats must be non-negative" if counts is None else "repeats can not be negative")
    places = _counting(n).repeat(repeats if counts is None else counts._ndarray())
    return self.index_select(dim, wrap_ndarray(places))


def _counting(n):
    import numpy as np
    return np.arange(n, dtype=np.int64)


# ---------------------------------------------------------------- reversing, rolling, turning

def flipped_dims(dims, ndim):
    """The dimensions that flip was given, apart or in one sequence, counted from 0; none may stand there twice."""
    dims = dims[0] if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else dims
    if None in dims:
        raise TypeError("flip(): argument 'dims' (position 2) must be tuple of ints, not NoneType")
    places = [wrap(d, ndim) for d in dims]
    for d in places:
        if places.count(d) > 1:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
    return places


def rolled_dims(shifts, dims, ndim):
    """(shifts, dims) of roll as tuples of one length; without dims, one shift rolls the elements in a row."""
    shifts = (shifts,) if hasattr(shifts, "__index__") else tuple(shifts)
    dims = () if dims is None else (dims,) if hasattr(dims, "__index__") else tuple(dims)
    if not shifts:
        raise RuntimeError("`shifts` required")
    if dims and not ndim:
        raise IndexError(f"Dimension specified as {dims[0]} but tensor has no dimensions")
    if len(dims) != len(shifts) and (dims or len(shifts) > 1):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    return shifts, dims


@op(samples=Samples([call(Draw(3, 4), (0,)), call(Draw(3, 4), (0, 1)), call(Draw(3, 4), (-1,)), call(Draw(), ()),
                     call(Draw(3, 4), dims=(1,))], **_number),
    grads={"self": lambda g, dims: g.flip(*dims)})
def flip(self, *dims):
    """The order of the elements reversed along dimensions."""
    return _arranging.flipped(self, flipped_dims(dims, self.dim()))


@op(samples=Samples([call(Draw(3, 4))], **_number))
def fliplr(self):
    """The second dimension reversed."""
    if self.dim() < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return self.flip(1)


@op(samples=Samples([call(Draw(3, 4)), call(Draw(3))], **_number))
def flipud(self):
    """The first dimension reversed."""
    if self.dim() < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return self.flip(0)


@op(samples=Samples([call(Draw(3, 4), 1), call(Draw(3, 4), -1, 0), call(Draw(3, 4), (1, 2), (0, 1)),
                     call(Draw(3, 4), 1, None),
                     call(Draw(0, 2), 1, 0)], **_number),
    grads={"self": lambda g, shifts, dims: roll(
        g, tuple(-s for s in shifts) if isinstance(shifts, (tuple, list)) else -shifts, dims)})
def roll(self, shifts, dims=()):
    """Elements moved along dimensions; what leaves at one end comes in at the other."""
    shifts, dims = rolled_dims(shifts, dims, self.dim())
    return _arranging.rolled(self, shifts, [wrap(d, self.dim()) for d in dims])


@op(samples=Samples([call(Draw(3, 4)), call(Draw(3, 4), 2, (1, 0)), call(Draw(2, 3, 4), -1, (0, 2)),
                     call(Draw(3, 4), 4)], **_number))
def rot90(self, k=1, dims=(0, 1)):
    """A plane turned by 90 degrees, k times."""
    k = index(k)
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if self.dim() < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {self.dim()}")
    a, b = (wrap(d, self.dim()) for d in dims)
    if a == b:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    if k % 4 == 2:
        return self.flip(a, b)
    if k % 4 == 0:
        return self.clone()
    return self.flip(b).transpose(a, b) if k % 4 == 1 else self.transpose(a, b).flip(b)


# ---------------------------------------------------------------- triangles

_triangles = Samples([call(Draw(3, 4), 0), call(Draw(3, 4), 1), call(Draw(4, 4), -1), call(Draw(2, 3, 3)),
                      call(Draw(3, 3, special=True), -1)], **_number)


@op(inplace=True, out=True, samples=_triangles, renames={"k": "diagonal"},
    grads={"self": lambda g, diagonal: g.tril(diagonal)})
def tril(self, diagonal=0):
    """The lower triangle of matrices; the rest is 0."""
    return _triangle(self, diagonal, True, "tril")


@op(inplace=True, out=True, samples=_triangles, renames={"k": "diagonal"},
    grads={"self": lambda g, diagonal: g.triu(diagonal)})
def triu(self, diagonal=0):
    """The upper triangle of matrices; the rest is 0."""
    return _triangle(self, diagonal, False, "triu")


def _triangle(x, diagonal, lower, name):
    if x.dim() < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
    return _arranging.triangle(x, max(min(diagonal, 1 << 40), -1 << 40), lower)


# ---------------------------------------------------------------- diagonals

@op(out=True, samples=Samples([call(Draw(3)), call(Draw(3), 1), call(Draw(3, 4)), call(Draw(3, 3), -1)], **_number))
def diag(self, diagonal=0):
    """A vector as the diagonal of a matrix, or the diagonal of a matrix."""
    if self.dim() == 1:
        return diag_embed(self, diagonal)
    if self.dim() != 2:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {self.dim()}D")
    return self.diagonal(diagonal).clone()


@op(samples=Samples([call(Draw(3, 4)), call(Draw(3, 4), 1, 0, 2), call(Draw(3), -1)], **_number))
def diag_embed(self, offset=0, dim1=-2, dim2=-1):
    """The last dimension as the diagonal of new matrices, in dimensions dim1 and dim2 of the result."""
    n = self.dim() + 1
    a, b = wrap(dim1, n), wrap(dim2, n)
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    size = self.shape[-1] + (offset if offset >= 0 else -offset)
    shape = list(self.shape[:-1])
    for d in sorted((a, b)):
        shape.insert(d, size)
    return diagonal_backward(self, tuple(shape), offset, a, b)


@op(samples=Samples([call(Draw(3)), call(Draw(2, 2), -1)], **_number))
def diagflat(self, offset=0):
    """All elements as the diagonal of a matrix."""
    return diag_embed(self.reshape(-1), offset)


@op(samples=Samples([call(Draw(3, 4)), call(Draw(3, 3))], **_number))
def trace(self):
    """The sum of the diagonal of a matrix."""
    if self.dim() != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {self.dim()}")
    if self.dtype.name == "bool":
        raise NotImplementedError("\"trace\" not implemented for 'Bool'")
    return self.diagonal().sum()


@inplace_op(samples=Samples([call(Draw(3, 4), 2), call(Draw(5, 2), 2, True), call(Draw(2, 2, 2), 1.0)], **_number),
            grads={"self": lambda g, wrap: fill_diagonal_(g.clone(), 0, wrap)})
def fill_diagonal_(self, fill_value, wrap=False):
    """Set the main diagonal; with wrap, that of a tall matrix starts again below its end."""
    if self.dim() < 2:
        raise RuntimeError("dimensions must larger than 1")
    if self.dim() > 2 and len(set(self.shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    step, n = sum(self.stride()), min(self.shape)
    OPS["torch.as_strided"](self.detach(), (n,), (step,), self.storage_offset()).fill_(fill_value)
    if wrap and self.dim() == 2:
        for start in range(self.shape[1] + 1, self.shape[0], self.shape[1] + 1):
            fill_diagonal_(self.detach()[start:], fill_value)
    return self


@op(samples=Samples([call(Draw(2, 3), Draw(2, 2)), call(Draw(3), Draw(2, 2))], **_number), out=True)
def kron(self, other):
    """The Kronecker product: every element of self times the whole of other."""
    n = max(self.dim(), other.dim())
    a = self.reshape((1,) * (n - self.dim()) + tuple(self.shape))
    b = other.reshape((1,) * (n - other.dim()) + tuple(other.shape))
    product = contract_labelled((a, b), (tuple(range(0, 2 * n, 2)), tuple(range(1, 2 * n, 2))), tuple(range(2 * n)),
                                "product")
    return name_history(product.reshape([x * y for x, y in zip(a.shape, b.shape)]), "UnsafeViewBackward0")
