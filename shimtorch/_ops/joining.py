"""Tensors put together."""
from .._core import OPS, factory
from .._core.op import op
from .samples import Draw, Samples, call

_pairs = [[Draw(2, 3), Draw(1, 3)], [Draw(2), Draw(0), Draw(3)]]

op(factory.cat, method=False, takes_list=True, out=True, aliases=("concat", "concatenate"),
   samples=Samples([call(_pairs[0]), call(_pairs[1]), call([Draw(2, 3), Draw(2, 1)], 1), call([Draw(2, 3)], -1)],
                   dtypes="number"),
   grads={"tensors": lambda g, tensors_shape, tensors_dtype, dim: cat_backward(g, tensors_shape, tensors_dtype, dim)})
op(factory.stack, method=False, takes_list=True, out=True,
   samples=Samples([call([Draw(2, 3), Draw(2, 3)]), call([Draw(2, 3), Draw(2, 3)], -1), call([Draw()])],
                   dtypes="number"),
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


@op(method=False, takes_list=True, samples=Samples([call([Draw(3), Draw(3)]), call([Draw(2, 3), Draw(1, 3)])],
                                                   dtypes="number"), aliases=("row_stack",))
def vstack(tensors):
    """Tensors stacked vertically: 1-d ones as rows."""
    return OPS["torch.cat"]([t.reshape(1, -1) if t.dim() < 2 else t for t in tensors], 0)


@op(method=False, takes_list=True, samples=Samples([call([Draw(3), Draw(2)]), call([Draw(2, 3), Draw(2, 1)])],
                                                   dtypes="number"))
def hstack(tensors):
    """Tensors side by side: 1-d ones end to end."""
    tensors = [t.reshape(1) if t.dim() == 0 else t for t in tensors]
    return OPS["torch.cat"](tensors, 0 if tensors[0].dim() == 1 else 1)
