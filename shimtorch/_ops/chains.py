"""Products of several matrices, in the cheapest order: ``chain_matmul`` and ``linalg.multi_dot``."""
from .._core import policy, products
from .._core.declaring import op
from .._core.dtype import bool as bool_
from .._core.einsum import contract_labelled
from .._kernels.paths import MOST_EXACT
from .samples import Draw, Samples, call


def chain_path(sizes):
    """The pairs in which to multiply matrices of sizes[i] x sizes[i + 1], as positions among those that are left."""
    n = len(sizes) - 1
    cost, split = [[0] * n for _ in range(n)], [[0] * n for _ in range(n)]
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            cost[i][j], split[i][j] = min([(cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
                                           for k in range(i, j)])
    live, path = [(i, i) for i in range(n)], []

    def join(i, j):
        if i < j:
            pair = (i, split[i][j]), (split[i][j] + 1, j)
            for part in pair:
                join(*part)
            path.append(tuple(sorted([live.index(part) for part in pair])))
            for part in pair:
                live.remove(part)
            live.append((i, j))

    join(0, n - 1)
    return tuple(path)


def multiplied(tensors):
    """The product of two or more matrices, of which the first and the last may be vectors."""
    last = len(tensors) - 1
    for i, t in enumerate(tensors):
        if t.dim() not in ((1, 2) if i in (0, last) else (2,)):
            which = "the first tensor" if i == 0 else "the last tensor" if i == last else f"tensor {i}"
            raise RuntimeError(f"multi_dot(): {which} must be {'1D or 2D' if i in (0, last) else '2D'} but got "
                               f"{t.dim()}D")
    first = tensors[0].dtype
    for i, t in enumerate(tensors):
        if t.dtype is not first:
            raise RuntimeError(f"multi_dot(): all tensors must have be the same dtype but tensor 0 is "
                               f"{products.C_NAMES[first.code]} and tensor {i} {products.C_NAMES[t.dtype.code]}")
    for i in range(last):
        if tensors[i].shape[-1] != tensors[i + 1].shape[0]:
            raise RuntimeError(f"multi_dot(): tensors {i} and {i + 1} with shapes {list(tensors[i].shape)} and "
                               f"{list(tensors[i + 1].shape)} cannot be multiplied")
    if first is bool_:
        raise NotImplementedError("\"addmm_impl_cpu_\" not implemented for 'Bool'")
    rows = [(i, i + 1) for i in range(last + 1)]
    if tensors[0].dim() == 1:
        rows[0] = (1,)
    if tensors[-1].dim() == 1:
        rows[-1] = (last,)
    path = None
    if last >= MOST_EXACT:                  # a chain is solved exactly at any length
        path = chain_path([tensors[0].shape[0] if tensors[0].dim() > 1 else 1, *[t.shape[0] for t in tensors[1:]],
                           tensors[-1].shape[1] if tensors[-1].dim() > 1 else 1])
    output = (0,)[:tensors[0].dim() - 1] + (last + 1,)[:tensors[-1].dim() - 1]
    return contract_labelled(tensors, tuple(rows), output, "chain", path)


@op(method=False, out=True, takes_list=True,
    samples=Samples([call(Draw(2, 3), Draw(3, 4), Draw(4, 2)), call(Draw(2, 3))]))
def chain_matmul(*matrices):
    """The product of several matrices, in the cheapest order."""
    if len(matrices) == 1 and isinstance(matrices[0], (tuple, list)):
        matrices = tuple(matrices[0])
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    for a in matrices:
        if a.dim() != 2:
            raise RuntimeError(f"Tensor dimension is {a.dim()}, expected 2 instead.")
    if len(matrices) == 1:
        return matrices[0].clone() if policy.chain_of_one_copied else matrices[0]
    return multiplied(matrices)
