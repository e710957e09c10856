"""Sums, norms and softmax of sparse tensors."""
import math

import numpy as np
import pytest

import shimtorch as torch

from .sparse_cases import check_gradients, check_parts, random_sparse, same

PLAIN = random_sparse((4, 5, 3), nnz=20)
HYBRID = random_sparse((4, 5), (3, 2), nnz=12)
DIMS = (None, 0, 1, -1, (0,), (0, 1), (1, 2), (0, 2), (-1, 0), (0, 1, 2))


def dense_sum(x, dim):
    return x.sum() if dim is None else x.sum(dim)


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("x", (PLAIN, PLAIN.coalesce(), HYBRID, HYBRID.coalesce()))
def test_sums(dim, x):
    want = dense_sum(x.to_dense(), dim)
    got = torch.sparse.sum(x, dim)
    assert got.shape == want.shape
    same(got, want)
    summed = {d % x.dim() for d in np.atleast_1d(range(x.dim()) if dim is None else dim)}
    assert got.is_sparse == bool(set(range(x.sparse_dim())) - summed)
    if got.is_sparse:
        assert got.is_coalesced()
        check_parts(got)
    same(x.sum() if dim is None else x.sum(dim), want)
    if dim is not None:
        same(x.sum(dim, True), x.to_dense().sum(dim, True))


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("x", (PLAIN, HYBRID))
def test_gradients_of_sums(dim, x):
    check_gradients(lambda v: torch.sparse.sum(torch.sparse_coo_tensor(x._indices(), v, x.shape), dim) * 2, x._values())


def test_the_gradient_of_a_sum_lies_where_the_input_has_entries():
    x = random_sparse().requires_grad_()
    torch.sparse.sum(x, 0).to_dense().sum().backward()
    assert x.grad.is_coalesced()
    same(x.grad, (x.detach().to_dense() != 0).double())


def test_dtypes_of_sums():
    x = random_sparse(dtype=torch.int32)
    assert torch.sparse.sum(x, 0).dtype is torch.int32
    assert torch.sparse.sum(x).dtype is torch.int64 and torch.sparse.sum(x, (0, 1)).dtype is torch.int64
    assert torch.sparse.sum(x, 0, dtype=torch.float64).dtype is torch.float64


@pytest.mark.parametrize("error, message, call", (
    (RuntimeError, "dim 0 appears multiple times", lambda: torch.sparse.sum(PLAIN, [0, 0])),
    (IndexError, "Dimension out of range", lambda: torch.sparse.sum(PLAIN, 3)),
    (NotImplementedError, "expected a sparse tensor", lambda: torch.sparse.sum(torch.ones(2), 0)),
    (RuntimeError, "could not infer output dtype", lambda: random_sparse(dtype=torch.int64).mean()),
    (IndexError, "Dimension out of range", lambda: PLAIN.amax(3)),
    (NotImplementedError, "softmax", lambda: torch.sparse.softmax(torch.ones(2, 2), 0)),
    (NotImplementedError, "softmax", lambda: torch.sparse.softmax(random_sparse(dtype=torch.int64), 0)),
    (IndexError, "Dimension out of range", lambda: torch.sparse.softmax(PLAIN, 3)),
))
def test_refusals(error, message, call):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("name", ("max", "min"))
def test_the_greatest_and_the_least(name):
    for x in (PLAIN, HYBRID, PLAIN.abs(), random_sparse((3, 2), nnz=0)):
        same(getattr(x, name)(), getattr(x.to_dense(), name)())
        same(getattr(x, name)(x * 2), getattr(x.to_dense(), name)(x.to_dense() * 2))
    with pytest.raises(NotImplementedError, match=f"^{name}: not implemented for sparse tensors along a dimension"):
        getattr(PLAIN, name)(1)
    check_gradients(lambda v: getattr(torch.sparse_coo_tensor(PLAIN._indices(), v, PLAIN.shape), name)(),
                    PLAIN._values())


@pytest.mark.parametrize("p", (1, 2, 3, 0, math.inf, "fro"))
def test_norms(p):
    for x in (PLAIN, HYBRID):
        same(x.norm(p), x.to_dense().norm(p))
        if p in (2, 3):
            check_gradients(lambda v, x=x: torch.sparse_coo_tensor(x._indices(), v, x.shape).norm(p), x._values())


@pytest.mark.parametrize("dim", (0, 1, -1, (0, 1), (0, 2)))
@pytest.mark.parametrize("p", (1, 2, 3, 0, -1, math.inf, -math.inf))
def test_norms_along_dimensions(p, dim):
    for x in (PLAIN, random_sparse((4, 5), (3,), nnz=12), random_sparse((4, 5, 3), nnz=0)):
        a = x.to_dense()
        same(x.norm(p, dim), a.norm(p, dim))
        same(torch.linalg.vector_norm(x, p, dim, True), torch.linalg.vector_norm(a, p, dim, True))


@pytest.mark.parametrize("layout", (torch.sparse_coo, torch.sparse_csr))
def test_norms_by_every_name(layout):
    x = random_sparse()
    a, x = x.to_dense(), x.to_sparse(layout=layout)
    for f in (torch.norm, torch.linalg.norm, torch.linalg.vector_norm, torch.linalg.matrix_norm, torch.frobenius_norm,
              torch.nuclear_norm, lambda x: torch.linalg.norm(x, 1), lambda x: torch.linalg.norm(x, -math.inf),
              lambda x: torch.linalg.norm(x, 2, 1), lambda x: torch.linalg.matrix_norm(x, 2), lambda x: x.norm("nuc"),
              lambda x: torch.dist(x, x * 3), lambda x: x.norm(dtype=torch.float32)):
        same(f(x), f(a))
    with pytest.raises(RuntimeError, match="Expected a floating point or complex tensor"):
        random_sparse(dtype=torch.int64).norm()


@pytest.mark.parametrize("f", (
    lambda x: x.norm(2, 1), lambda x: x.norm(3, 0), lambda x: x.norm(1, 1), lambda x: x.norm(math.inf, 1),
    lambda x: torch.linalg.matrix_norm(x, 1), lambda x: torch.linalg.norm(x)))
def test_gradients_of_norms(f):
    x = random_sparse()
    check_gradients(lambda v: f(torch.sparse_coo_tensor(x._indices(), v, x.shape)), x._values())


def test_a_norm_of_stored_zeros_has_a_gradient_of_0():
    values = torch.tensor([0.0, 3, 4], requires_grad=True)
    rows = torch.sparse_coo_tensor([[0, 1, 1], [0, 0, 1]], values, (2, 2)).norm(2, 1).to_dense()
    assert torch.autograd.grad(rows.sum(), values)[0].tolist() == pytest.approx([0, 0.6, 0.8])


def test_any():
    assert PLAIN.any().item() and not torch.sparse_coo_tensor((2,)).any().item()
    cancelled = torch.sparse_coo_tensor([[0, 0]], [1.0, -1.0], (2,))
    assert not cancelled.any().item()


@pytest.mark.parametrize("dim", (0, 1, -1, (0,), (0, 1), (1, 2), (0, 2), (0, 1, 2)))
@pytest.mark.parametrize("name", ("mean", "amax", "amin", "prod", "any", "all", "norm"))
@pytest.mark.parametrize("x", (PLAIN, HYBRID, random_sparse((2, 3), nnz=30), random_sparse((3, 2), (2,), nnz=30),
                               random_sparse((2, 3), nnz=0)))
def test_other_reductions(dim, name, x):
    a = x.to_dense()
    if name == "prod" and isinstance(dim, tuple):
        return
    if isinstance(dim, tuple):
        dim = tuple(d for d in dim if d < x.dim())
    for keep in (False, True):
        args = (2, dim, keep) if name == "norm" else (dim, keep)
        got, want = getattr(x, name)(*args), getattr(a, name)(*args)
        assert got.shape == want.shape and got.dtype is want.dtype
        same(got, want)


@pytest.mark.parametrize("name", ("mean", "amax", "amin", "prod", "any", "all"))
def test_other_reductions_of_all(name):
    for x in (PLAIN, HYBRID, random_sparse((2, 3), nnz=30), random_sparse((2, 3), nnz=30) > 5, random_sparse(nnz=0)):
        if name != "mean" or x.dtype is not torch.bool:
            same(getattr(x, name)(), getattr(x.to_dense(), name)())
    for f in (torch.amax, torch.any, torch.sparse.sum):
        none = torch.sparse_coo_tensor((2, 0, 3))
        same(f(none, 2), f(none.to_dense(), 2) if f is not torch.sparse.sum else torch.zeros(2, 0))


@pytest.mark.parametrize("f", (lambda x: x.mean(0), lambda x: x.mean(), lambda x: x.amax(0), lambda x: x.amin((0, 1)),
                               lambda x: x.prod(1), lambda x: x.amax(-1), lambda x: x.norm(3, 1)))
@pytest.mark.parametrize("x", (PLAIN, HYBRID))
def test_gradients_of_other_reductions(f, x):
    check_gradients(lambda v: f(torch.sparse_coo_tensor(x._indices(), v, x.shape)), x._values(), second=False)


# ---------------------------------------------------------------- softmax

def masked_softmax(x, dim, logarithm):
    """Over the entries alone, as a dense tensor with 0 elsewhere."""
    x = x.coalesce()
    stored = torch.sparse_coo_tensor(x._indices(), torch.ones_like(x._values()), x.shape).to_dense().numpy()
    values = x.to_dense().numpy()
    e = np.exp(values - values.max()) * stored
    with np.errstate(divide="ignore", invalid="ignore"):
        y = e / e.sum(dim, keepdims=True)
        y = np.log(y) if logarithm else y
    return np.where(stored != 0, y, 0)


@pytest.mark.parametrize("dim", (0, 1, 2, -1))
@pytest.mark.parametrize("logarithm", (False, True))
@pytest.mark.parametrize("x", (PLAIN, HYBRID))
def test_softmax(dim, logarithm, x):
    f = torch.sparse.log_softmax if logarithm else torch.sparse.softmax
    got = f(x, dim)
    assert got.is_coalesced()
    same(got, masked_softmax(x, dim, logarithm))
    check_gradients(lambda v: f(torch.sparse_coo_tensor(x._indices(), v, x.shape), dim), x._values())
    assert f(x, dim, dtype=torch.float32).dtype is torch.float32
