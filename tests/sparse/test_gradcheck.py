"""gradcheck and gradgradcheck of sparse functions, where only what is stored varies (masked) or every element does."""
import pytest

import shimtorch as torch

from .._ops.sparse_cases import random_sparse, random_values

A = random_sparse((4, 5), nnz=7, coalesced=True)
B = random_sparse((5, 4), nnz=6, seed=1, coalesced=True)
D = random_values((5, 3))
HYBRID = random_sparse((4, 5), (2,), 6, coalesced=True)


def whole(x, masked):
    return x if x.layout is torch.strided else x.to_dense(masked_grad=masked)


# name: the function, its inputs, whether all elements may vary too
CASES = {
    "to_dense": (lambda x: x, (A,), True), "coalesce": (lambda x: x.coalesce(), (A,), True),
    "scaled": (lambda x: x * 3 - x / 2, (A,), True), "sum": (lambda x, y: x + y * 2, (A, A * 0.5), True),
    "transposed": (lambda x: x.t(), (A,), True), "part": (lambda x: x[1:, 2:], (A,), True),
    "square": (lambda x: x * x, (A,), False), "sine": (lambda x: x.sin(), (A,), False),
    "power": (lambda x: x ** 3, (A,), False), "product": (lambda x, y: torch.sparse.mm(x, y), (A, D), False),
    "dense product": (lambda y, x: torch.sparse.mm(y, x), (D.t(), B), False),
    "sparse product": (lambda x, y: torch.sparse.mm(x, y), (A, B), False),
    "addmm": (lambda b, x, y: torch.sparse.addmm(b, x, y, beta=0.5, alpha=3), (random_values((4, 3)), A, D), False),
    "mm": (lambda x, y: x @ y, (A, D), False), "sum 0": (lambda x: torch.sparse.sum(x, 0), (A,), False),
    "sum hybrid": (lambda x: torch.sparse.sum(x, (1, 2)), (HYBRID,), False),
    "sum all": (lambda x: x.sum(), (A,), False),
    "mean": (lambda x: x.mean(1), (A,), False), "softmax": (lambda x: torch.sparse.softmax(x, 1), (A,), False),
    "log_softmax": (lambda x: torch.sparse.log_softmax(x, 0), (A,), False),
    "sampled": (lambda x, y, z: torch.sparse.sampled_addmm(x, y, z, beta=2, alpha=3), (A, D[:4], D.t()), False),
    "row": (lambda x: x[2], (A,), False), "pairs": (lambda x: x[[0, 1, 3], [2, 2, 0]], (A,), False),
    "rows": (lambda x: x[[3, 0, 0]], (A,), False), "norm": (lambda x: x.norm(), (A,), False),
    "times dense": (lambda x, y: x * y, (A, random_values((4, 1))), False),
    "plus dense": (lambda x, y: y + x, (A, random_values((4, 5))), False),
    "csr": (lambda x: x.to_sparse_csr().to_sparse(), (A,), False),
    "bsr": (lambda x: (x.to_sparse_bsr((2, 5)) * 2).to_sparse(), (A,), False),
    "hybrid": (lambda x: x.transpose(0, 1) * 2, (HYBRID,), True),
}


def leaves(inputs):
    return tuple([x.detach().clone().requires_grad_() for x in inputs])


@pytest.mark.parametrize("name", CASES)
def test_what_is_stored_varies(name):
    f, inputs, _ = CASES[name]
    assert torch.autograd.gradcheck(lambda *xs: whole(f(*xs), True), leaves(inputs), masked=True)


@pytest.mark.parametrize("name", [name for name in CASES if CASES[name][2]])
def test_every_element_varies(name):
    f, inputs, _ = CASES[name]
    assert torch.autograd.gradcheck(lambda *xs: whole(f(*xs), False), leaves(inputs), masked=False)


@pytest.mark.parametrize("name", CASES)
def test_second_derivatives(name):
    """Through the values, so that the first gradient is a dense tensor."""
    f, inputs, _ = CASES[name]
    patterns = [x.detach() for x in inputs]

    def of_values(*values):
        return whole(f(*[v if p.layout is torch.strided else torch.sparse_coo_tensor(p._indices(), v, p.shape)
                         for v, p in zip(values, patterns, strict=True)]), True)
    values = [x.detach().clone() if x.layout is torch.strided else x._values().clone() for x in inputs]
    assert torch.autograd.gradgradcheck(of_values, tuple([v.requires_grad_() for v in values]))
