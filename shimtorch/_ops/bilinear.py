"""Bilinear maps: contractions of three tensors, in parts where the product of two would be larger than all of them."""
from math import prod

from .._core import OPS
from .._core.declaring import op
from .._core.einsum import contract_labelled

PART = 1 << 22                         # elements that a product of two may always have

# Labels: the dimensions of the two inputs, of the output, the batch (which may go on from there).
_I, _J, _O, _B = range(4)
_ROWS = {"input1": (_B, _I), "input2": (_B, _J), "weight": (_O, _I, _J), "g": (_B, _O)}


def bilinear_product(input1, input2, weight):
    """``sum(input1[..., i] * weight[o, i, j] * input2[..., j])``: (..., o)."""
    shape = input1.shape[:-1]
    if _parts(shape.numel(), weight.shape) == 1:
        batch = tuple(range(_B, _B + len(shape)))
        return contract_labelled((input1, weight, input2), ((*batch, _I), _ROWS["weight"], (*batch, _J)), (*batch, _O),
                                 "reshaped")
    if len(shape) == 1:
        return _large_bilinear(input1, input2, weight)
    rows = _large_bilinear(input1.reshape(-1, input1.shape[-1]), input2.reshape(-1, input2.shape[-1]), weight)
    return rows.view(*shape, weight.shape[0])


def _parts(n, inner):
    """The parts of a batch of n in which no product of two operands has more elements than PART, or than the weight."""
    between = n * max([prod(inner) // size for size in inner if size], default=0)
    return -(-between // max(PART, prod(inner))) or 1


def _in_parts(target, **factors):
    """The contraction of three factors to the labels of the target."""
    rows, operands, output = [_ROWS[name] for name in factors], list(factors.values()), _ROWS[target]
    at = [row.index(_B) if _B in row else None for row in rows]
    n = next(x.shape[d] for x, d in zip(operands, at) if d is not None)
    sizes = {label: size for row, x in zip(rows, operands) for label, size in zip(row, x.shape)}
    step, results = -(-n // _parts(n, [sizes[_I], sizes[_J], sizes[_O]])) or 1, []
    for start in range(0, max(n, 1), step):
        pieces = [x if d is None else x.narrow(d, start, min(step, n - start)) for x, d in zip(operands, at)]
        piece = contract_labelled(pieces, rows, output)
        if _B not in output and results:
            results[0] = results[0] + piece
        else:
            results.append(piece)
    return results[0] if len(results) == 1 else OPS["torch.cat"](results)


@op(name="_large_bilinear", function=False, method=False, backward_name="ViewBackward0", grads={
    "input1": lambda g, input2, weight: _in_parts("input1", g=g, weight=weight, input2=input2),
    "input2": lambda g, input1, weight: _in_parts("input2", g=g, weight=weight, input1=input1),
    "weight": lambda g, input1, input2: _in_parts("weight", g=g, input1=input1, input2=input2)})
def _large_bilinear(input1, input2, weight):
    """bilinear_product in parts of the batch, which saves its operands alone."""
    return _in_parts("g", input1=input1, weight=weight, input2=input2)
