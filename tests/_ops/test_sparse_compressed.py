"""Matrices in compressed rows and columns."""
import numpy as np
import pytest
import scipy.sparse as sp

import shimtorch as torch

from .sparse_cases import check_gradients, random_sparse, random_values, same

A = random_sparse(coalesced=True)


def test_rows_and_columns_are_scipys():
    want = sp.csr_array(A.to_dense().numpy())
    for x in (A.to_sparse_csr(), A.to_dense().to_sparse_csr(), A.to_sparse(layout=torch.sparse_csr),
              random_sparse().to_sparse_csr()):
        assert x.layout is torch.sparse_csr and x.is_sparse_csr and not x.is_sparse and x.shape == A.shape
        np.testing.assert_array_equal(x.crow_indices().numpy(), want.indptr)
        np.testing.assert_array_equal(x.col_indices().numpy(), want.indices)
        np.testing.assert_array_equal(x.values().numpy(), want.data)
        assert x._nnz() == want.nnz
        same(x, A)
    want = sp.csc_array(A.to_dense().numpy())
    y = A.to_sparse_csc()
    np.testing.assert_array_equal(y.ccol_indices().numpy(), want.indptr)
    np.testing.assert_array_equal(y.row_indices().numpy(), want.indices)
    np.testing.assert_array_equal(y.values().numpy(), want.data)
    same(y, A)
    same(y.to_sparse_csr(), A)
    same(y.to_sparse(), A)


def test_constructors():
    x = torch.sparse_csr_tensor([0, 2, 2, 3], [0, 2, 1], [1.0, 2.0, 3.0])
    assert x.shape == (3, 3) and x.to_dense().tolist() == [[1, 0, 2], [0, 0, 0], [0, 3, 0]]
    x = torch.sparse_csr_tensor(crow_indices=torch.tensor([0, 1]), col_indices=torch.tensor([3]),
                                values=torch.tensor([2]), size=(1, 5), dtype=torch.float64)
    assert x.dtype is torch.float64 and x.shape == (1, 5)
    y = torch.sparse_csc_tensor([0, 1, 3], [2, 0, 1], [1.0, 2.0, 3.0], (3, 2))
    assert y.to_dense().tolist() == [[0, 2], [0, 3], [1, 0]]
    unsorted = torch.sparse_csr_tensor([0, 2], [2, 0], [1.0, 2.0], (1, 3))
    assert unsorted.to_dense().tolist() == [[2, 0, 1]] and not unsorted.to_sparse().is_coalesced()


@pytest.mark.parametrize("error, message, args", (
    (RuntimeError, "begin with 0", ([1, 2], [0, 1], [1.0, 2.0])),
    (RuntimeError, "descends", ([0, 2, 1, 2], [0, 1], [1.0, 2.0])),
    (RuntimeError, "end with the number", ([0, 1], [0, 1], [1.0, 2.0])),
    (RuntimeError, "found index 5", ([0, 1], [5], [1.0], (1, 3))),
    (RuntimeError, "negative index", ([0, 1], [-1], [1.0], (1, 3))),
    (RuntimeError, "number of col_indices", ([0, 1], [0], [1.0, 2.0])),
    (RuntimeError, r"\(=3\), but got 2", ([0, 1], [0], [1.0], (2, 3))),
    (RuntimeError, "length 2", ([0, 1], [0], [1.0], (2,))),
    (RuntimeError, "at least one", ([], [], [])),
    (NotImplementedError, "batches", ([[0, 1]], [[0]], [[1.0]])),
    (NotImplementedError, "blocks", ([0, 1], [0], [[1.0]])),
    (RuntimeError, "int32 or int64", (torch.tensor([0.0, 1.0]), [0], [1.0])),
))
def test_malformed_parts_are_refused(error, message, args):
    with pytest.raises(error, match=message):
        torch.sparse_csr_tensor(*args)


def test_what_is_not_there_is_refused():
    x = A.to_sparse_csr()
    for call in (lambda: x.row_indices(), lambda: A.crow_indices()):
        with pytest.raises(RuntimeError, match="expected sparse (row|column) compressed tensor layout"):
            call()
    for call in (lambda: A.to_sparse(layout=torch.sparse_bsr), lambda: x[0], lambda: x * A, lambda: x.exp(),
                 lambda: x._indices(), lambda: torch.ones(2, 2, 2).to_sparse_csr()):
        with pytest.raises(NotImplementedError):
            call()
    with pytest.raises((RuntimeError, NotImplementedError), match="add"):
        x + x
    with pytest.raises(RuntimeError, match="two sparse dimensions"):
        random_sparse((3,), (2,)).to_sparse_csr()


def test_arithmetic():
    for x in (A.to_sparse_csr(), A.to_sparse_csc()):
        a, layout = A.to_dense(), x.layout
        for got, want in ((x * 2, a * 2), (x / 2, a / 2), (-x, -a), (x.abs(), a.abs()), (x.sin(), a.sin()),
                          (x.clone(), a), (x.float(), a.float()), (x.t().t(), a)):
            assert got.layout is layout
            same(got, want)
        same(x.t(), a.t())
        same(x.sum(), a.sum())
        same(x.norm(), a.norm())
        assert x.equal(x.clone()) and not x.equal(A) and torch.zeros_like(x).shape == x.shape


def test_products():
    a, y = A.to_dense(), random_values((5, 3))
    for x in (A.to_sparse_csr(), A.to_sparse_csc()):
        for mm in (torch.sparse.mm, torch.mm, lambda p, q: p @ q):
            same(mm(x, y), a @ y)
        same(x @ y[:, 0], a @ y[:, 0])
        same(torch.addmm(torch.ones(4, 3, dtype=torch.float64), x, y, alpha=2), 1 + 2 * (a @ y))
        same(torch.sparse.mm(x, A.t()), a @ a.t())


@pytest.mark.parametrize("f", (
    lambda v, y: torch.sparse.mm(A_with(v).to_sparse_csr(), y),
    lambda v, y: torch.sparse.mm(A_with(v).to_sparse_csc(), y),
    lambda v, y: torch.sparse.mm(torch.sparse_csr_tensor(*CSR, v, (4, 5)), y),
    lambda v, y: torch.sparse_csr_tensor(*CSR, v, (4, 5)).to_dense() @ y,
    lambda v, y: torch.sparse_csr_tensor(*CSR, v, (4, 5)).values()[:4].unsqueeze(1) * y[:4],
    lambda v, y: (A_with(v).to_sparse_csr() * 2).to_sparse().to_dense() @ y,
))
def test_gradients(f):
    check_gradients(f, A._values(), random_values((5, 3)))


CSR = (A.to_sparse_csr().crow_indices(), A.to_sparse_csr().col_indices())


def A_with(values):
    return torch.sparse_coo_tensor(A._indices(), values, (4, 5))


def test_sampled_addmm():
    left, right = random_values((4, 2)), random_values((2, 5))
    mask = (A.to_dense() != 0).double()
    for x in (A, A.to_sparse_csr()):
        got = torch.sparse.sampled_addmm(x, left, right, beta=2, alpha=3)
        assert got.layout is x.layout
        same(got, 2 * A.to_dense() + 3 * (left @ right) * mask)


def test_masks():
    x = random_values((4, 5))
    same(x.sparse_mask(A.to_sparse_csr()), x * (A.to_dense() != 0))
