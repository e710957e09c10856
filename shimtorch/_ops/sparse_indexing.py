"""``x[index]`` of sparse tensors: numbers, slices, None, ``...``, masks, and tensors of indices in any dimensions."""
from .._core import METHODS, OPS
from .._core.device import strided
from .._core.dtype import int64
from .._core.tensor import wrap_ndarray
from ._sparse_join import join, keys_of
from ._sparse_parts import counted, is_compressed, on_device, on_sparse, parts
from .indexing import _split_index, unlike_indices
from .shape import broadcast_shapes
from .sparse import sparse_coo_from_parts


def sparse_getitem(x, index):
    """``x[index]``: a copy, sparse unless a number took the last sparse dimension; in the layout of x where it fits."""
    if is_compressed(x):
        from .sparse_compressed import block_of, like, to_coo
        return like(sparse_getitem(to_coo(x), index), x.layout, block_of(x))
    view, tensors = _split_index(x, index)
    if tensors is None:
        return view
    places = [d for d, t in enumerate(tensors) if t is not None]
    if len(places) == 1 and tensors[places[0]].dim() == 1 and view.layout is not strided:
        return view.index_select(places[0], tensors[places[0]])
    return OPS["torch.index"](view, tensors)


@on_sparse("index", composed=True)
def index(self, indices):
    """The elements that index tensors, broadcast together, name; sparse in the dimensions that these have."""
    self = self.coalesce()
    n = parts.parts(self.detach()).sparse_dim
    where = [d for d, t in enumerate(indices) if t is not None]
    try:
        shape = broadcast_shapes(*[indices[d].shape for d in where])
    except RuntimeError:
        raise unlike_indices([indices[d] for d in where]) from None
    chosen = {d: _checked(indices[d], self.shape, d).expand(shape).reshape(-1) for d in where}
    first = where[0] if where == list(range(where[0], where[-1] + 1)) else 0
    outer = [d for d in where if d < n]
    kept = [d for d in range(n) if d not in outer]
    after = [d for d in range(n, self.dim()) if d not in where]
    if not outer:
        if first == 0:
            raise NotImplementedError("indexing dense dimensions of a sparse tensor with tensors that are not "
                                      "neighbours is not implemented; use to_dense() first")
        values = OPS["torch.index"](self.values(), [None] + [
            indices[d] if d < len(indices) else None for d in range(n, self.dim())])
        return sparse_coo_from_parts(self._indices(), values, (*self.shape[:n], *values.shape[1:]), True, True)
    find = on_device().found if self.is_cuda else _found
    entries, numbers, spread, old = find(self._indices(), chosen, outer, kept, self.shape, shape)
    values = self.values().index_select(0, entries)
    inner = [d for d in where if d >= n]
    if inner:                           # of each entry only what its own place asks for
        taken = [None] * (values.dim())
        taken[0] = counted(entries.shape[0], entries)
        for d in inner:
            taken[d - n + 1] = chosen[d].index_select(0, numbers)
        values = OPS["torch.index"](values, taken)
    at = sum(1 for d in kept if d < first)
    new = OPS["torch.cat"]([old[:at], spread, old[at:]])
    size = [self.shape[d] for d in kept]
    size[at:at] = shape
    size += [self.shape[d] for d in after]
    if not new.shape[0]:                # nothing sparse is left
        return values.sum(0, dtype=self.dtype)
    return sparse_coo_from_parts(new, values, size, False, True).coalesce()


def _found(coordinates, chosen, outer, kept, sizes, shape):
    """Entries whose coordinates in the outer dimensions are chosen: their numbers, and each one's among the chosen.

    And the coordinates that these numbers have in a shape, and those of the entries in the kept dimensions.
    """
    import numpy as np
    coordinates = coordinates._ndarray()
    asked = np.stack([chosen[d]._ndarray() for d in outer])
    entries, numbers = join(*keys_of([coordinates[outer], asked], [sizes[d] for d in outer]))
    spread = np.stack(np.unravel_index(numbers, shape)) if len(shape) and numbers.size else np.zeros(
        (len(shape), numbers.size), np.int64)
    return tuple([wrap_ndarray(a) for a in (entries, numbers, spread, coordinates[kept][:, entries])])


def _checked(places, shape, d):
    """Indices from 0 along dimension d; IndexError where one lies outside."""
    places, n = places.to(int64), shape[d]
    wrong = (places < -n) | (places >= n)
    if bool(wrong.any()):
        raise IndexError(f"index {places[wrong][0].item()} is out of bounds for dimension {d} with size {n}")
    return OPS["torch.where"](places < 0, places + n, places)


METHODS["index"].sparse = sparse_getitem            # ``x.index(i)`` is x[i]; the op of that name takes a list
