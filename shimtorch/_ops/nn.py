"""The ops of neural network layers: linear maps, look-ups, losses on indices."""
import numpy as np

from .._core import products
from .._core.factory import new_empty
from .._core.op import op, scalar_type
from .._core.tensor import wrap_ndarray
from .samples import Draw, Samples, call

_SPACE = dict(namespace="torch.nn.functional", method=False)


@op(**_SPACE, backward_name="AddmmBackward0",
    samples=Samples([call(Draw(2, 3), Draw(4, 3), Draw(4)), call(Draw(2, 3), Draw(4, 3)), call(Draw(3), Draw(4, 3), Draw(4)),
                     call(Draw(5, 2, 3), Draw(4, 3), Draw(4))]),
    grads={"input": lambda g, weight: g.matmul(weight),
           "weight": lambda g, input: _rows(g).t().mm(_rows(input)),
           "bias": lambda g: g})
def linear(input, weight, bias=None):
    """``input @ weight.T + bias``: (..., in) with (out, in) and (out) gives (..., out)."""
    result = products.linear_product(input, weight)
    return result if bias is None else result.add_(bias)


def _rows(x):
    return x if x.dim() == 2 else x.reshape(-1, x.shape[-1])


@op(**_SPACE, samples=Samples([call(Draw(5, 3), Draw(2, 4, low=0, high=5, dtype="int64")),
                               call(Draw(5, 3), Draw(4, low=0, high=5, dtype="int64"), 1)]), name="embedding_lookup",
    backward_name="EmbeddingBackward0",
    grads={"weight": lambda g, weight_shape, indices, padding_idx: embedding_dense_backward(
        g, indices, weight_shape[0], padding_idx)})
def embedding_lookup(weight, indices, padding_idx=-1):
    """The rows of weight that indices name."""
    if indices.dtype.name not in ("int64", "int32"):
        raise RuntimeError("Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, "
                           f"Int; but got torch.{scalar_type(indices.dtype)}Tensor instead (while checking arguments "
                           "for embedding)")
    where = indices._ndarray()
    if where.size and (int(where.min()) < 0 or int(where.max()) >= weight.shape[0]):
        raise IndexError("index out of range in self")
    return wrap_ndarray(weight._ndarray().take(where, axis=0))


@op(**_SPACE, grads={"grad": lambda g, indices, padding_idx: _masked_rows(
    embedding_lookup(g, indices), indices, padding_idx)})
def embedding_dense_backward(grad, indices, num_weights, padding_idx=-1):
    """The gradient of an embedding's weight: rows summed where they were looked up, the padding row left out."""
    where = indices._ndarray().reshape(-1)
    rows = grad._ndarray().reshape(where.size, -1)
    if padding_idx >= 0:
        keep = where != padding_idx
        where, rows = where[keep], rows[keep]
    result = np.zeros((num_weights, rows.shape[1]), rows.dtype)
    np.add.at(result, where, rows)
    return wrap_ndarray(result)


def _masked_rows(x, indices, padding_idx):
    return x if padding_idx < 0 else x * (indices != padding_idx).unsqueeze(-1).to(x.dtype)


@op(**_SPACE, name="nll_sum", backward_name="NllLossBackward0", aux=("total",),
    samples=Samples([call(Draw(4, 3), Draw(4, low=0, high=3, dtype="int64"))]),
    grads={"input": lambda g, input_shape, target, weight, ignore_index, mean, total: nll_backward(
        g, input_shape, target, weight, ignore_index, mean, total)})
def nll_sum(input, target, weight=None, ignore_index=-100, mean=False):
    """Minus the sum (or weighted mean) of input (N, C) at the classes target (N), which may be ignored."""
    rows, classes, weights = _picked(input, target, weight, ignore_index)
    values = input._ndarray()[rows, classes]
    out = new_empty((), input.dtype)
    array = out._ndarray()
    if weights is None:
        total = float(len(rows))
        array[...] = -values.sum(dtype=values.dtype)
    else:
        total = float(weights.sum())
        array[...] = -(values * weights).sum(dtype=values.dtype)
    if mean:
        array[...] = array / total if total else np.nan
    return out, total


def _picked(input, target, weight, ignore_index):
    """Rows, their classes and weights, of the targets that count."""
    classes = target._ndarray()
    keep = classes != ignore_index
    rows = np.arange(len(classes))
    if not keep.all():
        rows, classes = rows[keep], classes[keep]
    n = input.shape[1]
    if classes.size and (int(classes.min()) < 0 or int(classes.max()) >= n):
        bad = classes[(classes < 0) | (classes >= n)][0]
        raise IndexError(f"Target {bad} is out of bounds.")
    return rows, classes, None if weight is None else weight._ndarray()[classes]


@op(**_SPACE, grads={"grad": lambda g, target, weight, ignore_index, mean, total: _nll_linear(
    g, target, weight, ignore_index, mean, total)})
def nll_backward(grad, shape, target, weight, ignore_index, mean, total):
    result = grad.new_zeros(shape)
    rows, classes, weights = _picked(result, target, weight, ignore_index)
    scale = -1.0 / total if mean and total else -1.0
    value = grad._ndarray() * grad._ndarray().dtype.type(scale)
    result._ndarray()[rows, classes] = value if weights is None else value * weights
    return result


def _nll_linear(g, target, weight, ignore_index, mean, total):
    result = nll_sum(g, target, weight, ignore_index, False)
    return result / total if mean and total else result
