"""The examples and statements of the torch.sparse documentation of versions 0.3 to 1.1."""
import numpy as np
import pytest

import shimtorch as torch


def test_construction():
    i = torch.LongTensor([[0, 1, 1], [2, 0, 2]])
    v = torch.FloatTensor([3, 4, 5])
    assert torch.sparse.FloatTensor(i, v, torch.Size([2, 3])).to_dense().tolist() == [[0, 0, 3], [4, 0, 5]]
    i = torch.LongTensor([[0, 2], [1, 0], [1, 2]])
    assert torch.sparse.FloatTensor(i.t(), v, torch.Size([2, 3])).to_dense().tolist() == [[0, 0, 3], [4, 0, 5]]


def test_hybrid():
    i = torch.LongTensor([[2, 4]])
    v = torch.FloatTensor([[1, 3], [5, 7]])
    assert torch.sparse.FloatTensor(i, v).to_dense().tolist() == [[0, 0], [0, 0], [1, 3], [0, 0], [5, 7]]


def test_empty():
    x = torch.sparse.FloatTensor(2, 3)
    assert x.shape == (2, 3) and x._nnz() == 0 and x.to_dense().tolist() == [[0, 0, 0]] * 2


@pytest.mark.parametrize("sizes, dense", (((3,), ()), ((2, 3), (4,)), ((2, 2, 2), (1, 3))))
def test_invariants(sizes, dense):
    nnz = 5
    indices = torch.zeros((len(sizes), nnz), dtype=torch.int64)
    x = torch.sparse_coo_tensor(indices, torch.ones(nnz, *dense), (*sizes, *dense))
    assert x.sparse_dim() + x.dense_dim() == len(x.shape)
    assert x._indices().shape == (x.sparse_dim(), nnz)
    assert x._values().shape == (nnz, *x.shape[x.sparse_dim():])


@pytest.mark.parametrize("name", (
    "add add_ clone dim div div_ get_device hspmm mm mul mul_ narrow_copy resizeAs_ size spadd spmm sspaddmm sspmm sub "
    "sub_ t_ toDense transpose transpose_ zero_ coalesce is_coalesced _indices _values _nnz").split())
def test_every_documented_method_is_there(name):
    assert callable(getattr(torch.sparse.FloatTensor(2, 3), name))


def test_mm():
    a = torch.randn(2, 3).to_sparse().requires_grad_(True)
    b = torch.randn(3, 2, requires_grad=True)
    y = torch.sparse.mm(a, b)
    y.sum().backward()
    np.testing.assert_allclose(y.detach().numpy(), a.detach().to_dense().numpy() @ b.detach().numpy(), 1e-5, 1e-6)
    assert a.grad.is_sparse and a.grad.is_coalesced() and a.grad._nnz() == 6
    np.testing.assert_allclose(a.grad.to_dense().numpy(), np.tile(b.detach().numpy().sum(1), (2, 1)), 1e-5)


def test_sum():
    nnz, dims = 3, [5, 5, 2, 3]
    i = torch.cat([torch.randint(0, dims[k], size=(nnz,)) for k in (0, 1)], 0).reshape(2, nnz)
    s = torch.sparse_coo_tensor(i, torch.randn(nnz, dims[2], dims[3]), torch.Size(dims))
    some = torch.sparse.sum(s, [1, 3])
    assert some.is_sparse and some.shape == (5, 2)
    np.testing.assert_allclose(some.to_dense().numpy(), s.to_dense().sum([1, 3]).numpy(), 1e-4, 1e-6)
    every = torch.sparse.sum(s, [0, 1, 3])
    assert not every.is_sparse and every.shape == (2,)
    np.testing.assert_allclose(every.numpy(), s.to_dense().sum([0, 1, 3]).numpy(), 1e-4, 1e-6)


def test_repeated_addition_should_be_coalesced_now_and_then():
    total = torch.sparse_coo_tensor((4,))
    for k in range(4):
        total = total + torch.sparse_coo_tensor([[k, 0]], [1.0, 1.0], (4,))
    assert total.to_dense().tolist() == [5, 1, 1, 1]
    assert total.coalesce()._nnz() == 4


def test_invariant_checks_can_be_asked_for():
    checks = torch.sparse.check_sparse_tensor_invariants
    assert not checks.is_enabled()
    with checks():
        assert checks.is_enabled()
    assert not checks.is_enabled()

    @checks(True)
    def inside():
        return checks.is_enabled()
    assert inside() and not checks.is_enabled()
    checks.enable()
    assert checks.is_enabled()
    checks.disable()
