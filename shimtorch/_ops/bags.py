"""Bags of rows of a table, as embedding_bag sums them up."""
import numpy as np

from .._core import OPS
from .._core.declaring import op
from .._core.tensor import wrap_ndarray
from .along import index_add_zeros


@op(method=False, function=False, aux=("chosen",), backward_name="EmbeddingBagBackward0", grads={
    "weight": lambda g, weight_shape, rows, starts, how, row_weights, chosen: _table_grad(
        g, weight_shape, rows, starts, how, row_weights, chosen),
    "row_weights": lambda g, weight, rows, starts: (
        weight.index_select(0, rows) * g.index_select(0, _bag_of(rows, starts))).sum(-1)})
def reduce_bags(weight, rows, starts, how, row_weights=None):
    """The sum, mean or max of each bag ``rows[starts[b]:starts[b + 1]]`` of rows of a float32 or float64 table.

    row_weights, for sums, scale each row. An empty bag gives zeros.
    """
    table = np.ascontiguousarray(weight._ndarray())
    out = np.empty((starts.numel() - 1, table.shape[1]), table.dtype)
    chosen = np.empty(out.shape, np.int64) if how == "max" else None
    places, begins = (np.ascontiguousarray(x._ndarray(), np.int64) for x in (rows, starts))
    factors = None if row_weights is None else np.ascontiguousarray(row_weights._ndarray())
    from .._kernels import bags as kernels
    if not kernels.reduce(table, places, begins, factors, out, chosen, how == "mean"):
        raise IndexError("index out of range in self")
    return wrap_ndarray(out), None if chosen is None else wrap_ndarray(chosen)


def _bag_of(rows, starts):
    """The number of each row's bag."""
    return OPS["torch.arange"](starts.numel() - 1).repeat_interleave(starts.diff())


def _table_grad(g, shape, rows, starts, how, row_weights, chosen):
    sizes = starts.diff()
    if how == "max":
        g = g.masked_fill((sizes == 0).unsqueeze(-1), 0)
        return g.new_zeros(shape).scatter_add(0, chosen, g)
    if how == "mean":
        g = g / sizes.clamp(min=1).to(g.dtype).unsqueeze(-1)
    each = g.index_select(0, _bag_of(rows, starts))
    return index_add_zeros(each if row_weights is None else each * row_weights.unsqueeze(-1), shape, 0, rows)
