"""``torch.einsum``: operands are contracted pair by pair, each pair by one batched matrix product."""
from .._core.op import op, scalar_type
from ._einsum_parse import parse
from .samples import Draw, Samples, call

_samples = Samples([
    call("ii", Draw(3, 3)), call("ii->i", Draw(3, 3)), call("i,j->ij", Draw(3), Draw(4)),
    call("ij,jk", Draw(2, 3), Draw(3, 4)),
    call("bij,bjk->bik", Draw(2, 3, 4), Draw(2, 4, 2)), call("...ij->...ji", Draw(2, 3, 4)),
    call("bn,anm,bm->ba", Draw(2, 3), Draw(4, 3, 2), Draw(2, 2)), call("ij->", Draw(2, 3)), call("ij->j", Draw(2, 3)),
    call("ij,ij->i", Draw(2, 3), Draw(2, 3)), call("...i,...i", Draw(2, 3, 4), Draw(3, 4)),
    call("ij,jk->ik", Draw(2, 1), Draw(3, 4)), call("iij->ij", Draw(2, 2, 3)), call("ba", Draw(2, 3)),
    call("Ab,bA->b", Draw(2, 3), Draw(3, 2)), call("", Draw()), call("...,...->", Draw(2, 3), Draw(3))])


@op(method=False, takes_list=True, samples=_samples)
def einsum(*args):
    """Sums of products over labelled dimensions: ``einsum("ij,jk->ik", a, b)``, ``einsum(a, [0, 1], b, [1, 2])``.

    Labels that the output does not name are summed; dimensions of size 1 broadcast; ``...`` covers the dimensions
    that have no label. Without ``->`` the output has the labels that occur once, sorted, after the ellipsis.
    """
    operands, labels, output = parse(args)
    for operand in operands[1:]:
        if operand.dtype is not operands[0].dtype:
            raise RuntimeError(f"expected scalar type {scalar_type(operands[0].dtype)} but found "
                               f"{scalar_type(operand.dtype)}")
    terms = [single_labels(x, row) for x, row in zip(operands, labels)]
    x, row = terms[0]
    for i in range(1, len(terms)):
        later = set(output).union(*(r for _, r in terms[i + 1:]))
        x, row = contract_pair(x, row, *terms[i], later)
    x, row = sum_labels(x, row, [k for k in row if k not in output])
    for k in output:                   # a size-1 dimension that was dropped, or an ellipsis that covers nothing
        if k not in row:
            x, row = x.unsqueeze(-1), row + [k]
    return x if row == output else x.permute([row.index(k) for k in output])


def single_labels(x, row):
    """Dimensions of one label replaced by their diagonal."""
    row = list(row)
    for label in set(row):
        while row.count(label) > 1:
            first = row.index(label)
            second = row.index(label, first + 1)
            x = x.diagonal(0, first, second)
            row = [k for d, k in enumerate(row) if d not in (first, second)] + [label]
    return x, row


def sum_labels(x, row, dropped):
    if not dropped:
        return x, row
    return x.sum([row.index(k) for k in dropped]), [k for k in row if k not in dropped]


def without_broadcast(x, row, y, row_y):
    """x without the size-1 dimensions that y broadcasts."""
    for d in range(len(row) - 1, -1, -1):
        if x.shape[d] == 1 and row[d] in row_y and y.shape[row_y.index(row[d])] != 1:
            x, row = x.squeeze(d), row[:d] + row[d + 1:]
    return x, row


def contract_pair(x, row_x, y, row_y, later):
    """The product of two operands, summed over the labels that nothing after them needs."""
    (x, row_x), (y, row_y) = without_broadcast(x, row_x, y, row_y), without_broadcast(y, row_y, x, row_x)
    x, row_x = sum_labels(x, row_x, [k for k in row_x if k not in later and k not in row_y])
    y, row_y = sum_labels(y, row_y, [k for k in row_y if k not in later and k not in row_x])
    shared = [k for k in row_x if k in row_y]
    batch, inside = [k for k in shared if k in later], [k for k in shared if k not in later]
    left, right = [k for k in row_x if k not in row_y], [k for k in row_y if k not in row_x]
    a = x.permute([row_x.index(k) for k in batch + left + inside])
    b = y.permute([row_y.index(k) for k in batch + inside + right])
    result = batch + left + right
    if not inside:
        n = len(batch)
        a = a.reshape(tuple(a.shape) + (1,) * len(right))
        b = b.reshape(tuple(b.shape[:n]) + (1,) * len(left) + tuple(b.shape[n:]))
        return a * b, result
    sizes = tuple(a.shape[:len(batch) + len(left)])
    shape = sizes + tuple(b.shape[len(batch) + len(inside):])
    n_batch, n_inside = _product(a.shape[:len(batch)]), _product(a.shape[len(batch) + len(left):])
    n_left, n_right = _product(sizes[len(batch):]), _product(shape[len(sizes):])
    a, b = a.reshape(n_batch, n_left, n_inside), b.reshape(n_batch, n_inside, n_right)
    product = a.bmm(b) if n_batch != 1 else a.squeeze(0).mm(b.squeeze(0))
    return product.reshape(shape), result


def _product(sizes):
    result = 1
    for n in sizes:
        result *= n
    return result
