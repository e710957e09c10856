"""einsum on a device: the pairs that the planner chooses, each a batched product of matrices by cuBLAS.

It is made of ops that record themselves, so it is differentiated through them.
"""
from math import prod

from .._kernels.paths import find_path
from .._ops._einsum_dtypes import check_one_dtype
from .._ops._einsum_parse import labels_of


class _Factor:
    """A tensor with a label for each dimension."""

    def __init__(self, tensor, labels):
        self.tensor, self.labels = tensor, labels

    def arranged(self, labels):
        """The tensor with its dimensions in the order of labels, which are all that it has."""
        order = [self.labels.index(k) for k in labels]
        return self.tensor if order == list(range(len(order))) else self.tensor.permute(order)

    def summed(self, keep):
        """Summed over the labels that are not to be kept."""
        gone = [d for d, k in enumerate(self.labels) if k not in keep]
        if not gone:
            return self
        return _Factor(self.tensor.sum(gone), [k for k in self.labels if k in keep])


def _factor(x, row, sizes):
    """An operand with each label once: diagonals are taken, dimensions that broadcast are dropped."""
    labels = []
    for k in row:
        d = len(labels)
        if x.shape[d] == 1 and sizes[k] != 1:
            x = x.select(d, 0)
        elif k in labels:
            first = labels.index(k)
            x = x.diagonal(0, first, d)            # the diagonal goes to the end
            x = x.permute(*range(first), x.dim() - 1, *range(first, x.dim() - 1))
        else:
            labels.append(k)
    return _Factor(x, labels)


def _multiplied(a, b, keep, sizes):
    """The product of two factors, summed over the labels that are not to be kept."""
    a, b = a.summed(keep.union(b.labels)), b.summed(keep.union(a.labels))
    shared = [k for k in a.labels if k in b.labels]
    batch, inside = [k for k in shared if k in keep], [k for k in shared if k not in keep]
    left, right = [k for k in a.labels if k not in shared], [k for k in b.labels if k not in shared]
    labels = batch + left + right
    x, y = a.arranged(batch + left + inside), b.arranged(batch + inside + right)
    n, m, k, p = (prod([sizes[i] for i in group]) for group in (batch, left, inside, right))
    if not inside or not (x.is_floating_point() or x.is_complex()):
        y = b.arranged(batch + right + inside).reshape(n, 1, p, k)
        product = x.reshape(n, m, 1, k) * y
        product = product.sum(3, dtype=x.dtype) if inside else product.squeeze(3)
    else:
        product = x.reshape(n, m, k).bmm(y.reshape(n, k, p))
    return _Factor(product.reshape([sizes[i] for i in labels]), labels)


def contract(equation, operands):
    """The contraction of operands that an Equation of the core names."""
    terms, output, sizes = labels_of(equation.source, operands)
    check_one_dtype(operands)
    factors = [_factor(x, row, sizes) for x, row in zip(operands, terms)]
    strategy = "auto" if equation.options is None else equation.options
    if isinstance(strategy, tuple):
        path = strategy
    else:
        path = find_path([f.labels for f in factors], output, sizes, strategy)[0]
    for step in path:
        taken = [factors[i] for i in step]
        factors = [f for i, f in enumerate(factors) if i not in step]
        result = taken[0]
        for i, other in enumerate(taken[1:], 2):
            keep = set(output).union(*[f.labels for f in factors + taken[i:]])
            result = _multiplied(result, other, keep, sizes)
        factors.append(result)
    result = factors[0].summed(set(output))
    x = result.arranged([k for k in output if k in result.labels])
    for d, k in enumerate(output):
        if k not in result.labels:
            x = x.unsqueeze(d)
    return x.expand([sizes[k] for k in output])
