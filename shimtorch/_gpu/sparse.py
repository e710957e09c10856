"""Sparse tensors on a device: what ``_core.sparse`` does on the CPU, made of the kernels of ``_sparse``.

Functions of the same names take and give the same. All sums are in the order of the entries, so that a result does not
depend on how the blocks of a kernel run.
"""
from math import prod

from .._core import OPS, factory
from .._core import sparse as parts
from .._core.declaring import op
from .._core.dtype import int64
from .._ops._sparse_parts import counted
from . import _sparse
from ._sparse import first_outside  # noqa: F401  (asked for by _core.sparse)


class Groups:
    """Entries of equal coordinates, as ``_kernels.coalesce.Grouping``; those of a group keep their order."""

    def __init__(self, indices, sizes):
        self._indices = indices
        self._order = _sparse.sorted_order(indices, sizes)
        self._sums = _sparse.group_sums(indices, self._order)
        self.count = _sparse.total(self._sums)

    @property
    def distinct(self):
        """Whether the entries ascend and none repeats the coordinates of another."""
        n = self._indices.shape[1]
        return self.count == n and (n < 2 or bool((self._order[1:] > self._order[:-1]).all()))

    def order(self):
        """The entries by coordinates."""
        return self._order

    def starts(self):
        """Where each group begins in that order, and the number of entries."""
        return _sparse.group_starts(self._sums, self.count)

    def indices(self):
        """The coordinates of the groups, (dims, count)."""
        return take_columns(self._indices, _sparse.take_blocks(self._order, self.starts()[:-1]))

    def inverse(self):
        """The group of each entry."""
        return _sparse.group_inverse(self._sums, self._order)

    def reduced(self, values, how="sum"):
        """The values of each group brought together: their sum, prod, amax or amin."""
        return _sparse.segments(how, values.contiguous(), self._order, self.starts())


def take_columns(indices, chosen):
    """Some entries of (dims, nnz) indices, by number."""
    rows = [_sparse.take_blocks(row.contiguous(), chosen) for row in indices.unbind(0)]
    return OPS["torch.stack"](rows) if rows else indices.new_empty((0, chosen.numel()))


def ravelled(indices, sizes):
    """The number of each entry's cell in row-major order of the sizes."""
    steps = [prod(sizes[d + 1:]) for d in range(len(sizes))]
    return _sparse.cells(indices, steps)


# ---------------------------------------------------------------- what the core asks for

def coalesce(t):
    """t with its entries sorted and those of equal indices summed."""
    p = parts.parts(t)
    groups = Groups(p.indices, t.shape)
    return parts.make_coo(groups.indices(), groups.reduced(p.values), t.shape, True, True)


def merge_sum(a, x, b, y):
    """The sum of two coalesced tensors of one size, with values x and y in place of their own."""
    cat = OPS["torch.cat"]
    indices = cat([parts.parts(a).indices, parts.parts(b).indices], 1)
    return coalesce(parts.make_coo(indices, cat([x, y]), a.shape, False, True))


def to_dense(t):
    """The dense tensor that t stands for."""
    t = parts.coalesce(t)
    p = parts.parts(t)
    out = factory.zero(factory.new_empty(t.shape, t.dtype, p.values))
    if p.values.numel():
        sizes = t.shape[:p.sparse_dim]
        _sparse.put_blocks(out.view(sizes.numel(), *t.shape[p.sparse_dim:]), ravelled(p.indices, sizes),
                           p.values.contiguous())
    return out


def from_dense(t, dims):
    """What is not zero in t, as a coalesced sparse tensor whose first dims dimensions are sparse."""
    from .indexing import places
    sizes, inner = t.shape[:dims], t.shape[dims:]
    blocks = t.contiguous().view(sizes.numel(), *inner)
    flags = blocks != 0
    flags = flags.reshape(blocks.shape[0], inner.numel()).any(1) if inner else flags
    found = places(flags)
    return parts.make_coo(_sparse.coordinates(found, sizes), _sparse.take_blocks(blocks, found), t.shape, True, True)


def add_to_dense(out, t):
    """out += t in place, of one shape and dtype; out contiguous."""
    t = parts.coalesce(t)
    p = parts.parts(t)
    if p.values.numel():
        sizes = t.shape[:p.sparse_dim]
        blocks = out.view(sizes.numel(), *t.shape[p.sparse_dim:])
        at = ravelled(p.indices, sizes)
        _sparse.put_blocks(blocks, at, _sparse.take_blocks(blocks, at) + p.values)
    return out


def take(x, t):
    """The (nnz, ...) values of a dense tensor where the sparse one of its shape has entries."""
    p = parts.parts(t)
    n = p.sparse_dim
    for d in range(n):
        if x.stride(d) == 0:                # broadcast: its first slice is all that there is
            x = x.narrow(d, 0, min(x.shape[d], 1))
    blocks = x.contiguous().view(x.shape[:n].numel(), *x.shape[n:])
    steps = [prod(x.shape[d + 1:n]) if x.shape[d] == t.shape[d] else 0 for d in range(n)]
    return _sparse.take_blocks(blocks, _sparse.cells(p.indices, steps))


def pick(t, places):
    """Indices and values of some entries, named by their numbers (m,) int64, which must be those of entries."""
    p = parts.parts(t)
    nnz, places = p.indices.shape[1], places.contiguous()
    outside, found = first_outside(places.unsqueeze(0), [nnz])
    if outside >= 0:
        raise IndexError(f"pick: no entry {found} among {nnz}")
    return take_columns(p.indices, places), _sparse.take_blocks(p.values.contiguous(), places)


# ---------------------------------------------------------------- matching entries

def intersection(a, b, sizes):
    """The places in two lists of distinct coordinates of those that stand in both, in ascending order."""
    groups = Groups(OPS["torch.cat"]([a, b], 1), sizes)
    from .indexing import places
    starts = groups.starts()
    both = _sparse.take_blocks(starts, places(starts[1:] - starts[:-1] == 2))
    order = groups.order()
    return _sparse.take_blocks(order, both), _sparse.take_blocks(order, both + 1) - a.shape[1]


def join(left, right):
    """Places in two 1-d lists of keys that hold the same key, every pair; ascending in the first."""
    groups = Groups(right.unsqueeze(0), [2**62])
    together = Groups(OPS["torch.cat"]([groups.indices()[0], left]).unsqueeze(0), [2**62])
    # the group in right of each key that occurs anywhere; groups.count, an empty one, for those that right has not
    known = together.inverse()
    place = factory.fill(factory.new_empty((together.count,), int64, right), groups.count)
    _sparse.put_blocks(place, known[:groups.count].contiguous(), counted(groups.count, right))
    starts = groups.starts()
    pointer = OPS["torch.cat"]([starts, starts[-1:]])
    _, entries, in_left = _sparse.rows_listed(pointer, _sparse.take_blocks(place, known[groups.count:].contiguous()))
    return in_left, _sparse.take_blocks(groups.order(), entries)


def keys_of(arrays, sizes):
    """A number for each column of each (dims, n) list of coordinates within sizes; equal for equal columns."""
    if prod(int(n) for n in sizes) < 2**62:
        return [ravelled(a, sizes) for a in arrays]
    inverse = Groups(OPS["torch.cat"](list(arrays), 1), sizes).inverse()
    return [x.contiguous() for x in inverse.split([a.shape[1] for a in arrays])]


def look_up(mine, theirs, sizes):
    """Values of coalesced parts at the coordinates of others, which may repeat; 0 where they have none."""
    wanted, back = theirs.indices, None
    if not theirs.coalesced:
        groups = Groups(wanted, sizes)
        wanted, back = groups.indices(), groups.inverse()
    in_mine, in_wanted = intersection(mine.indices, wanted, sizes)
    found = mine.values.new_zeros((wanted.shape[1], *mine.values.shape[1:]))
    _sparse.put_blocks(found, in_wanted, _sparse.take_blocks(mine.values.contiguous(), in_mine))
    return found if back is None else _sparse.take_blocks(found, back)


def matching(a, b, shape):
    """Entries of two coalesced, aligned tensors that meet when broadcast, and the coordinates where they do."""
    x, y = parts.parts(a).indices, parts.parts(b).indices
    common = [d for d in range(x.shape[0]) if a.shape[d] == b.shape[d]]
    in_a, in_b = join(*keys_of([x[common], y[common]], [shape[d] for d in common]))
    rows = [_sparse.take_blocks((x if a.shape[d] != 1 or b.shape[d] == 1 else y)[d].contiguous(),
                                in_a if a.shape[d] != 1 or b.shape[d] == 1 else in_b) for d in range(x.shape[0])]
    return in_a, in_b, OPS["torch.stack"](rows) if rows else x.new_empty((0, in_a.numel()))


# ---------------------------------------------------------------- other shapes

def split_entries(indices, inner, width):
    """Indices of the elements of entries with dense dimensions of the sizes `inner`, of width elements each."""
    if not width:
        return indices.new_empty((indices.shape[0] + len(inner), 0))
    numbers = counted(indices.shape[1] * width, indices)
    outer = take_columns(indices, numbers.div(width, rounding_mode="floor"))
    return OPS["torch.cat"]([outer, _sparse.coordinates((numbers % width).contiguous(), inner)])


def renumbered(indices, old, new):
    """Coordinates in sizes `new` of the elements that have the given ones in sizes `old`."""
    return _sparse.coordinates(ravelled(indices, old), new)


def places(mask):
    """Where a 1-d tensor of flags holds."""
    from .indexing import places as found
    return found(mask)


def index_select(t, d, index):
    """The slices of t along dimension d that a 1-d int64 tensor names, which may be negative."""
    p, n, index = parts.parts(t), t.shape[d], index.contiguous()
    outside, found = first_outside((index + n).unsqueeze(0), [2 * n])
    if outside >= 0:
        raise IndexError(f"index_select(): index contains {found - n} that is out of range for tensor of size "
                         f"{list(t.shape)} at dimension {d}")
    index = OPS["torch.where"](index < 0, index + n, index)
    size = list(t.shape)
    size[d] = index.numel()
    if d >= p.sparse_dim:
        return parts.make_coo(p.indices, p.values.index_select(d - p.sparse_dim + 1, index), size, p.coalesced, True)
    in_index, entries = join(index, p.indices[d].contiguous())
    indices = take_columns(p.indices, entries)
    indices[d] = in_index
    result = parts.make_coo(indices, _sparse.take_blocks(p.values, entries), size, d == 0 and p.coalesced, True)
    if d and p.coalesced and (index.numel() < 2 or bool((index[1:] > index[:-1]).all())):
        return coalesce(result)             # as on the CPU, where the entries of ascending slices keep their order
    return result


# ---------------------------------------------------------------- indexing

def found(coordinates, chosen, outer, kept, sizes, shape):
    """What ``_ops.sparse_indexing._found`` gives."""
    stack = OPS["torch.stack"]
    asked = stack([chosen[d].to(coordinates.device) for d in outer])
    entries, numbers = join(*keys_of([stack([coordinates[d] for d in outer]), asked], [sizes[d] for d in outer]))
    spread = _sparse.coordinates(numbers, shape)
    old = take_columns(coordinates[kept] if kept else coordinates[:0], entries)
    return entries, numbers, spread, old


# ---------------------------------------------------------------- compressed rows and columns

def line_coordinates(pointers, plain, along):
    """Batch coordinates, row and column of each entry of compressed rows (along 0) or columns (1)."""
    batch, nnz, lines = tuple(plain.shape[:-1]), plain.shape[-1], pointers.shape[-1] - 1
    many = prod(batch)
    if not many * nnz:
        return plain.new_empty((len(batch) + 2, 0))
    if batch:                               # the lines of all matrices, one after another
        numbers = counted(many, pointers)
        starts = pointers.reshape(many, lines + 1)[:, :-1] + (numbers * nnz).unsqueeze(1)
        pointers = OPS["torch.cat"]([starts.reshape(-1), numbers.new_full((1,), many * nnz)])
    line, plain = _sparse.row_numbers(pointers, many * nnz), plain.reshape(-1)
    which, line = line.div(max(lines, 1), rounding_mode="floor"), line % max(lines, 1)
    matrix = [line, plain] if along == 0 else [plain, line]
    return OPS["torch.cat"]([_sparse.coordinates(which, batch), OPS["torch.stack"](matrix)])


def compress(p, batch, lines, across, along, block):
    """Pointers, plain indices, values of sorted entries, whose coordinates are a batch's, a line, what crosses it."""
    n, total, stack = p.sparse_dim, prod(batch), OPS["torch.stack"]
    numbers, values, inner = ravelled(p.indices[:n - 2], batch), p.values, ()
    at, plain = p.indices[n - 2], p.indices[n - 1]
    if block is not None:
        inner = tuple(block)
        tall, wide = block if along == 0 else block[::-1]
        lines, across = lines // tall, across // wide
        down, right = (x.div(size, rounding_mode="floor") for x, size in ((at, tall), (plain, wide)))
        groups = Groups(stack([numbers, down, right]), (total, lines, across))
        row, column = (at % tall, plain % wide) if along == 0 else (plain % wide, at % tall)
        places = (groups.inverse() * block[0] + row) * block[1] + column
        filled = values.new_zeros((groups.count * block[0] * block[1], *values.shape[1:]))
        values = _sparse.put_blocks(filled, places.contiguous(), values.contiguous())
        numbers, at, plain = groups.indices().unbind(0)
    starts = _sparse.row_pointer(numbers * lines + at, total * lines)
    index = (counted(total, starts) * lines).unsqueeze(1) + counted(lines + 1, starts)
    pointers = _sparse.take_blocks(starts, index.reshape(-1)).reshape(total, lines + 1)
    pointers = pointers - pointers[:, :1]
    each = pointers[:, -1]
    if total and bool((each != each[0]).any()):
        from .._ops.sparse_compressed import uneven
        raise uneven()
    nnz = plain.shape[0] // total if total else 0
    return (pointers.reshape(*batch, lines + 1), plain.reshape(*batch, nnz),
            values.reshape((*batch, nnz, *inner, *p.values.shape[1:])))


def is_even(places, batch):
    """Whether each matrix of a batch has as many entries as the others; places: where in the batch each entry is."""
    numbers = ravelled(places, batch)
    starts = _sparse.row_pointer(numbers, prod(batch))
    each = starts[1:] - starts[:-1]
    return not places.shape[1] or bool((each == each[0]).all())


# ---------------------------------------------------------------- values of groups

def softmax(groups, values, logarithm):
    """Softmax, or its logarithm, within groups of entries."""
    inverse = groups.inverse()
    shifted = values - _sparse.take_blocks(groups.reduced(values, "amax"), inverse)
    sums = _sparse.take_blocks(groups.reduced(shifted.exp()), inverse)
    return shifted - sums.log() if logarithm else shifted.exp() / sums


@op(method=False, function=False, cuda=True, grads={
    "values": lambda g, values, out, groups, how: _ungrouped(g, values, out, groups, how)})
def grouped(values, groups, how):
    """The values of each group of entries brought together: their sum, prod, amax or amin; differentiable."""
    return groups.reduced(values, how)


def _ungrouped(g, values, out, groups, how):
    inverse = groups.inverse()
    g = g.index_select(0, inverse)
    if how == "sum":
        return g
    if how == "prod":
        return g * _others(values, groups)
    chosen = (values == out.index_select(0, inverse)).to(values.dtype)
    return g * chosen / grouped(chosen, groups, "sum").index_select(0, inverse)


def _others(values, groups):
    """For each value the product of the others of its group."""
    where, inverse = OPS["torch.where"], groups.inverse()
    zero = values == 0
    zeros = grouped(zero.to(int64), groups, "sum").index_select(0, inverse)
    rest = grouped(where(zero, 1, values), groups, "prod").index_select(0, inverse)
    others = where(zero, rest, rest / where(zero, 1, values))
    return where(zeros - zero.to(int64) > 0, 0, others)
