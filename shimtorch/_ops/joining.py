"""Tensors made of several others: joined, stacked, combined."""
from .._core import OPS, factory
from .._core.declaring import op
from .samples import Draw, Samples, call

_number = dict(dtypes="number")

cat = op(factory.cat, method=False, takes_list=True, out=True, aliases=("concat", "concatenate"),
         renames={"seq": "tensors", "inputs": "tensors"},
         samples=Samples([call([Draw(2, 3), Draw(1, 3)]), call([Draw(2), Draw(0), Draw(3)]),
                          call([Draw(2, 3), Draw(2, 1)], 1), call([Draw(2, 3)], -1),
                          call([Draw(2), Draw(2, dtype="float64")])], **_number),
         grads={"tensors": lambda g, tensors_shape, tensors_dtype, dim: cat_backward(
             g, tensors_shape, tensors_dtype, dim)})
stack = op(factory.stack, method=False, takes_list=True, out=True,
           renames={"sequence": "tensors", "inputs": "tensors"},
           samples=Samples([call([Draw(2, 3), Draw(2, 3)]), call([Draw(2, 3), Draw(2, 3)], -1), call([Draw()])],
                           **_number),
           grads={"tensors": lambda g, dim: list(g.unbind(dim))})


def cat_backward(g, shapes, dtypes, dim):
    """The slices of the gradient that belong to each tensor."""
    grads, at = [], 0
    for shape in shapes:
        if len(shape) == 1 and shape[0] == 0:
            grads.append(g.new_zeros(shape))
            continue
        n = shape[dim] if shape else 1
        piece = g.narrow(dim, at, n)
        grads.append(piece if shape else piece.reshape(()))
        at += n
    return grads


# ---------------------------------------------------------------- at least so many dimensions

def _at_least(name, widen, doc):
    def forward(*tensors):
        if len(tensors) == 1 and not isinstance(tensors[0], (tuple, list)):
            return widen(tensors[0])
        if len(tensors) == 1:
            tensors = tensors[0]
        return tuple(widen(t) for t in tensors)
    forward.__name__, forward.__doc__ = name, doc
    op(forward, method=False, takes_list=True, samples=Samples(
        [call(Draw()), call(Draw(3)), call(Draw(2, 3)), call(Draw(), Draw(2)), call([Draw(), Draw(2)])], **_number))


def _three_dims(x):
    if x.dim() == 2:
        return x.unsqueeze(-1)
    return x if x.dim() > 2 else x.reshape(1, -1, 1)


def _two_dims(x):
    return x if x.dim() > 1 else x.reshape(1, -1)


_at_least("atleast_1d", lambda x: x if x.dim() else x.reshape(1), "Tensors with a dimension added to scalars.")
_at_least("atleast_2d", _two_dims, "Tensors as rows of a matrix, where they have fewer than two dimensions.")
_at_least("atleast_3d", _three_dims, "Tensors with dimensions added until they have three.")


# ---------------------------------------------------------------- stacks by direction

def _stacked(name, prepare, dim, doc, aliases=()):
    def forward(tensors):
        if not isinstance(tensors, (tuple, list)):
            raise TypeError(f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not "
                            f"{type(tensors).__name__}")
        if not tensors:
            raise RuntimeError(f"{name} expects a non-empty TensorList")
        tensors = [prepare(t) for t in tensors]
        return cat(tensors, min(dim, tensors[0].dim() - 1))
    forward.__name__, forward.__doc__ = name, doc
    op(forward, method=False, takes_list=True, out=True, aliases=aliases, samples=Samples(
        [call([Draw(3), Draw(3)]), call([Draw(2, 3), Draw(2, 3)]), call([Draw(), Draw()]),
         call([Draw(2, 3, 1), Draw(2, 3, 1)])], **_number))


_stacked("vstack", _two_dims, 0, "Tensors stacked vertically: 1-d ones as rows.", ("row_stack",))
_stacked("hstack", lambda x: x if x.dim() else x.reshape(1), 1, "Tensors side by side: 1-d ones end to end.")
_stacked("dstack", _three_dims, 2, "Tensors stacked along the third dimension.")
_stacked("column_stack", lambda x: x if x.dim() > 1 else x.reshape(-1, 1), 1,
         "Tensors side by side: 1-d ones as columns.")


# ---------------------------------------------------------------- grids and products of sets

@op(method=False, takes_list=True, samples=Samples([
    call(Draw(2), Draw(3)), call([Draw(2), Draw(3), Draw(2)], indexing="xy"), call(Draw(), Draw(2))], **_number))
def meshgrid(*tensors, indexing=None):
    """The coordinates of a grid, one tensor for each of the given axes."""
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if indexing not in (None, "ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    for t in tensors:
        if t.dim() > 1:
            raise RuntimeError("torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: "
                               + " ".join(f"{v:2g}" for v in t.reshape(-1).tolist()[:8]))
        if t.dtype is not tensors[0].dtype:
            raise RuntimeError("torch.meshgrid expects all tensors to have the same dtype")
    swap = indexing == "xy" and len(tensors) > 1
    axes = (tensors[1], tensors[0], *tensors[2:]) if swap else tensors
    shape = [t.numel() for t in axes]
    grids = [t.reshape([-1 if d == i else 1 for d in range(len(axes))]).expand(shape) for i, t in enumerate(axes)]
    if swap:
        grids[0], grids[1] = grids[1], grids[0]
    return tuple(grids)


@op(method=False, takes_list=True,
    samples=Samples([call(Draw(2), Draw(3)), call(Draw(3)), call(Draw(2), Draw(2), Draw(2))],
                    **_number))
def cartesian_prod(*tensors):
    """All combinations of one element of each vector, as rows."""
    for t in tensors:
        if t.dim() != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(t.shape)}")
    if len(tensors) == 1:
        return tensors[0]
    return stack([g.reshape(-1) for g in meshgrid(*tensors, indexing="ij")], 1)


@op(method=False,
    samples=Samples([call(Draw(4)), call(Draw(3), 2, True), call(Draw(4), 3), call(Draw(2), 3)], **_number))
def combinations(input, r=2, with_replacement=False):
    """All combinations of r elements of a vector, as rows."""
    import itertools

    import numpy as np

    from .._core.tensor import wrap_ndarray
    if input.dim() != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    pick = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = np.array(list(pick(range(input.shape[0]), r)), dtype=np.int64).reshape(-1, r)
    return OPS["torch.take"](input, wrap_ndarray(places))


@op(method=False, takes_list=True, samples=Samples([call(Draw(2, 3), Draw(2), Draw()), call(Draw(2, 2))], **_number))
def block_diag(*tensors):
    """Matrices along the diagonal of a larger one, with zeros elsewhere."""
    for i, t in enumerate(tensors):
        if t.dim() > 2:
            raise RuntimeError(f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {i} has "
                               f"{t.dim()} dimensions")
    if not tensors:
        return factory.new_empty((1, 0))
    blocks = [_two_dims(t) for t in tensors]
    width, rows, at = sum(b.shape[1] for b in blocks), [], 0
    for b in blocks:
        height, n = b.shape
        rows.append(cat([b.new_zeros((height, at)), b, b.new_zeros((height, width - at - n))], 1))
        at += n
    return cat(rows, 0)
