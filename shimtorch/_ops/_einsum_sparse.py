"""einsum with sparse operands, in coordinate format or compressed rows or columns.

The result is sparse when nothing dense has to be filled: when all operands are sparse, or when it has every label of a
sparse operand, so that its entries are those of that operand (`'ij,ik,jk->ij'`, `'ij,j->ij'`). Sparse times dense that
sums over a label of the sparse operand is dense, as ``torch.sparse.mm`` is. Gradients of sparse operands are sparse, on
their own entries. The work is that of the entries; no sparse operand is ever made dense.
"""
from math import prod

from .._core import OPS
from .._core.device import strided
from .._core.dtype import int64
from .._core.einsum import contract_labelled
from ._einsum_dtypes import check_one_dtype
from ._einsum_parse import labels_of
from ._rules import conj
from .creation import arange
from .sparse import sparse_coo_from_parts
from .sparse_products import any_mm, sparse_sampled


class Entries:
    """The entries of a sparse operand: a tensor of places for each label, and their values; places may occur twice."""

    def __init__(self, places, values):
        self.places, self.values = places, values

    def over(self, labels):
        """Only some labels: what differs in the others alone is a sum."""
        return Entries({x: p for x, p in self.places.items() if x in labels}, self.values)

    def flat(self, labels, sizes):
        """One number for the places of several labels."""
        n = prod([sizes[x] for x in labels])
        if n >= 1 << 62:
            raise RuntimeError(f"einsum(): the sparse operands have too many places to number: {n}")
        number = self.values.new_zeros(self.values.shape[0], dtype=int64)
        for x in labels:
            number = number * sizes[x] + self.places[x]
        return number

    def matrix(self, rows, columns, sizes):
        """A sparse matrix whose rows and columns are the places of several labels."""
        indices = OPS["torch.stack"]([self.flat(rows, sizes), self.flat(columns, sizes)])
        size = prod([sizes[x] for x in rows]), prod([sizes[x] for x in columns])
        return sparse_coo_from_parts(indices, self.values, size, False, True)


def unraveled(numbers, labels, sizes):
    """The places that numbers made by ``flat`` stand for."""
    places = {}
    for x in reversed(labels):
        places[x] = numbers % sizes[x]
        numbers = OPS["torch.div"](numbers, sizes[x], rounding_mode="floor")
    return {x: places[x] for x in labels}


def entries_of(x, row, sizes):
    """The entries of a sparse tensor: diagonals taken, the dense dimensions of a hybrid tensor made sparse."""
    x = (x if x.is_sparse else x.to_sparse()).coalesce()
    indices, values = x.indices(), x.values()
    columns = list(indices.unbind(0))
    tail = tuple(values.shape[1:])
    if tail:
        n, inner = values.shape[0], prod(tail)
        within = unraveled(arange(inner, dtype=int64, device=values.device).repeat(n), range(len(tail)), tail)
        columns = [c.repeat_interleave(inner) for c in columns] + list(within.values())
        values = values.reshape(-1)
    places, same = {}, None
    for label, size, column in zip(row, x.shape, columns):
        if label in places:
            equal = places[label] == column
            same = equal if same is None else same & equal
        elif size == sizes[label]:     # of size 1 where the label is larger: it broadcasts
            places[label] = column
    if same is not None:
        kept = same.nonzero().reshape(-1)
        places = {label: column.index_select(0, kept) for label, column in places.items()}
        values = values.index_select(0, kept)
    return Entries(places, values)


def dense_of(x, row, keep, sizes):
    """A dense operand with each label once, summed over those that only it has: (tensor, labels)."""
    labels = [k for k in dict.fromkeys(row) if k in keep and x.shape[list(row).index(k)] == sizes[k]]
    return (x if list(row) == labels else contract_labelled([x], [row], labels)), labels


def gathered(entries, x, labels, sizes):
    """A dense operand at the places of entries: one row for each, of the labels that the entries lack."""
    shared = [k for k in labels if k in entries.places]
    rest = [k for k in labels if k not in entries.places]
    x = contract_labelled([x], [labels], shared + rest)
    x = x.reshape((prod([sizes[k] for k in shared]), *[sizes[k] for k in rest]))
    return x.index_select(0, entries.flat(shared, sizes)), rest


def times_dense(entries, x, labels, keep, sizes):
    """Entries times a dense operand: Entries where all labels of the entries are kept, else (tensor, labels)."""
    entries = entries.over(keep.union(labels))
    own = list(entries.places)
    if all(k in keep for k in own):
        rows, rest = gathered(entries, x, labels, sizes)
        if not rest:
            return Entries(entries.places, entries.values * rows)
        n = prod([sizes[k] for k in rest])
        places = {k: p.repeat_interleave(n) for k, p in entries.places.items()}
        within = arange(n, dtype=int64, device=rows.device).repeat(entries.values.shape[0])
        places.update(unraveled(within, rest, sizes))
        return Entries(places, (entries.values.unsqueeze(1) * rows.reshape(-1, n)).reshape(-1))
    batch = [k for k in own if k in labels and k in keep]
    inside = [k for k in own if k in labels and k not in keep]
    left = [k for k in own if k not in labels]
    right = [k for k in labels if k not in entries.places]
    flat = contract_labelled([x], [labels], batch + inside + right).reshape(
        prod([sizes[k] for k in batch + inside]), prod([sizes[k] for k in right]))
    result = any_mm(entries.matrix(batch + left, batch + inside, sizes), flat)
    return result.reshape([sizes[k] for k in batch + left + right]), batch + left + right


def times_sparse(a, b, keep, sizes):
    """The product of the entries of two operands."""
    a, b = a.over(keep.union(b.places)), b.over(keep.union(a.places))
    both = [k for k in a.places if k in b.places]
    batch, inside = [k for k in both if k in keep], [k for k in both if k not in keep]
    left, right = [k for k in a.places if k not in both], [k for k in b.places if k not in both]
    product = any_mm(a.matrix(batch + left, batch + inside, sizes), b.matrix(batch + inside, right, sizes)).coalesce()
    rows, columns = product.indices().unbind(0)
    return Entries({**unraveled(rows, batch + left, sizes), **unraveled(columns, right, sizes)}, product.values())


def sampled(entries, factors, sizes):
    """Entries times the product of dense factors, summed over what the entries lack, at the entries alone."""
    own = list(entries.places)
    if len(factors) == 2 and len(own) == 2:
        (a, row_a), (b, row_b) = factors
        shared = [k for k in row_a if k in row_b]
        left, right = [k for k in row_a if k not in shared], [k for k in row_b if k not in shared]
        if left == own[1:] and right == own[:1]:
            (a, left), (b, right) = (b, right), (a, left)
            row_a, row_b = row_b, row_a
        if left == own[:1] and right == own[1:] and len(shared) == 1:
            a, b = contract_labelled([a], [row_a], left + shared), contract_labelled([b], [row_b], right + shared)
            pattern = entries.matrix(left, right, sizes)
            at = sparse_sampled(a, conj(b), pattern.detach()).values()
            coalesced = pattern.coalesce()
            rows, columns = coalesced.indices().unbind(0)
            return Entries({left[0]: rows, right[0]: columns}, coalesced.values() * at)
    entry = max(sizes) + 1
    tensors, rows = [entries.values], [(entry,)]
    for x, labels in factors:
        x, rest = gathered(entries, x, labels, sizes)
        tensors.append(x)
        rows.append((entry, *rest))
    return Entries(entries.places, contract_labelled(tensors, rows, (entry,)))


def einsum_sparse(equation, operands):
    """The einsum of operands of which some are sparse."""
    terms, output, sizes = labels_of(equation.source, operands)
    check_one_dtype(operands)
    keep = frozenset(output)
    if len(operands) == 1 and not keep.issuperset(terms[0]) and not (
            operands[0].is_floating_point() or operands[0].is_complex()):
        operands = [operands[0].to(int64)]          # in which sums of whole numbers are counted
    sparse = [entries_of(x, row, sizes) for x, row in zip(operands, terms) if x.layout is not strided]
    needed = keep.union(*[e.places for e in sparse])
    dense = []
    for i, (x, row) in enumerate(zip(operands, terms)):
        if x.layout is strided:
            others = set().union(*[r for k, r in enumerate(terms) if k != i])
            dense.append(dense_of(x, row, needed | others, sizes))
    if len(sparse) == 1 and len(dense) > 1 and keep == set(sparse[0].places):
        return _sparse_result(sampled(sparse[0], dense, sizes), output, sizes)
    while sparse and len(sparse) + len(dense) > 1:
        entries = sparse.pop(0)
        if dense:
            i = max(range(len(dense)), key=lambda i: sum([k in entries.places for k in dense[i][1]]))
            x, labels = dense.pop(i)
            result = times_dense(entries, x, labels, keep.union(*[e.places for e in sparse],
                                                                *[row for _, row in dense]), sizes)
        else:
            i = max(range(len(sparse)), key=lambda i: sum([k in entries.places for k in sparse[i].places]))
            other = sparse.pop(i)
            result = times_sparse(entries, other, keep.union(*[e.places for e in sparse]), sizes)
        if isinstance(result, Entries):
            sparse.insert(0, result)
        else:
            dense.append(result)
    if sparse:
        return _sparse_result(sparse[0].over(keep), output, sizes)
    return contract_labelled([x for x, _ in dense], [row for _, row in dense], output)


def _sparse_result(entries, output, sizes):
    values = entries.values
    if not output:
        return values.sum()
    if len(entries.places) < len([k for k in output if sizes[k] != 1]):
        raise NotImplementedError("einsum(): a sparse operand that is spread over a label it lacks is not implemented")
    zeros = values.new_zeros(values.shape[0], dtype=int64)
    indices = OPS["torch.stack"]([entries.places.get(k, zeros) for k in output])
    return sparse_coo_from_parts(indices, values, tuple([sizes[k] for k in output]), False, True).coalesce()
