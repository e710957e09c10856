"""The examples and statements of the torch.sparse documentation of versions 0.3 to 1.1."""
import numpy as np
import pytest
import scipy.sparse

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


def test_creation_in_a_sparse_layout():
    for make in (torch.zeros, torch.empty):
        for layout in (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc):
            x = make(2, 3, dtype=torch.float64, layout=layout, requires_grad=True)
            assert x.layout is layout and x.dtype is torch.float64 and x._nnz() == 0 and x.requires_grad
            assert x.to_dense().equal(torch.zeros(2, 3, dtype=torch.float64))
    assert torch.zeros_like(torch.ones(2, 3), layout=torch.sparse_coo).is_sparse
    with pytest.raises(RuntimeError, match="without blocksize"):
        torch.zeros(2, 3, layout=torch.sparse_bsr)
    with pytest.raises(NotImplementedError, match="layout"):
        torch.ones(2, 3, layout=torch.sparse_coo)


def test_further_functions():
    x = torch.tensor([[0.0, 2, 0], [1, 0, -1]]).to_sparse()
    a = x.to_dense()
    assert x.nonzero().equal(a.nonzero()) and x.count_nonzero().item() == 3
    assert x.count_nonzero(0).to_dense().equal(a.count_nonzero(0))
    assert all(p.equal(q) for p, q in zip(x.nonzero(as_tuple=True), a.nonzero(as_tuple=True), strict=True))
    assert x[1].dot(a[1]).item() == 2
    w, b = torch.ones(2, 3).mul(2), torch.tensor([1.0, 2.0])
    assert torch.nn.functional.linear(x, w, b).equal(torch.nn.functional.linear(a, w, b))
    assert torch.nn.functional.linear(w, x).equal(torch.nn.functional.linear(w, a))
    copy = torch.values_copy(x)
    assert copy.equal(x.values()) and copy.data_ptr() != x.values().data_ptr()
    assert torch.col_indices_copy(x.to_sparse_csr()).equal(x.to_sparse_csr().col_indices())
    assert torch.resize_as_sparse_(torch.sparse_coo_tensor((5,)), x).shape == (2, 3)
    i = torch.tensor([[0, 1]])
    assert torch.sparse.FloatTensor(i, torch.ones(2), size=torch.Size([3])).shape == (3,)


@pytest.mark.parametrize("function, out", ((torch.sparse.to_scipy, 0), (torch.sparse.from_scipy, 1)))
def test_what_scipy_is_not_given(function, out):
    wrong = torch.ones(2, 2) if not out else np.ones((2, 2))
    with pytest.raises(TypeError, match="expected a"):
        function(wrong)


@pytest.mark.parametrize("options", ({"layout": torch.sparse_coo}, {"layout": torch.sparse_csr},
                                     {"layout": torch.sparse_csc}, {"layout": torch.sparse_bsr, "blocksize": (2, 1)}))
def test_scipy_and_back_without_a_copy(options):
    x = torch.tensor([[0.0, 2, 0], [1, 0, -1]]).to_sparse(**options)
    matrix = torch.sparse.to_scipy(x)
    np.testing.assert_array_equal(matrix.toarray(), x.to_dense().numpy())
    assert np.shares_memory(matrix.data, x.values().numpy())
    back = torch.sparse.from_scipy(matrix)
    assert back.layout is x.layout and back.to_dense().equal(x.to_dense())
    assert np.shares_memory(matrix.data, (back._values() if back.is_sparse else back.values()).numpy())
    for part in {"sparse_csr": ("crow_indices", "col_indices"), "sparse_bsr": ("crow_indices", "col_indices"),
                 "sparse_csc": ("ccol_indices", "row_indices")}.get(str(x.layout).split(".")[1], ("_indices",)):
        assert np.shares_memory(getattr(x, part)().numpy(), getattr(back, part)().numpy())


@pytest.mark.parametrize("kind", ("apart", "narrow", "one array", "turned", "upside down", "empty"))
def test_coordinates_from_scipy(kind):
    ij = np.array([[0, 2, 1], [1, 0, 2]])
    if kind == "narrow":
        ij = ij.astype(np.int32)
    elif kind == "turned":
        ij = np.ascontiguousarray(ij.T).T
    rows, columns = ij[::-1] if kind == "upside down" else ij
    if kind == "apart":
        rows, columns = rows.copy(), columns.copy()
    if kind == "empty":
        rows, columns = rows[:0], columns[:0]
    matrix = scipy.sparse.coo_array((np.arange(1.0, rows.size + 1), (rows, columns)), shape=(3, 3))
    matrix.coords = (rows, columns)
    x = torch.sparse.from_scipy(matrix)
    np.testing.assert_array_equal(x.to_dense().numpy(), matrix.toarray())
    assert np.shares_memory(x._indices().numpy(), ij) == (kind == "one array")


def test_diagonals():
    rows, offsets = torch.arange(9.0).reshape(3, 3), torch.tensor([0, -1, 1])
    for layout in (None, torch.sparse_coo, torch.sparse_csr, torch.sparse_csc):
        x = torch.sparse.spdiags(rows, offsets, (3, 4), layout)
        assert x.to_dense().tolist() == [[0, 7, 0, 0], [3, 1, 8, 0], [0, 4, 2, 0]]
    assert torch.sparse.spdiags(torch.arange(3.0), torch.tensor(5), (3, 4))._nnz() == 0
    for message, args in (("contains duplicate values", (rows, torch.tensor([0, 0, 1]), (3, 4))),
                          (r"\(3\) does not match the number of offsets \(2\)", (rows, offsets[:2], (3, 4))),
                          ("shape must be 2d", (rows, offsets, (3, 4, 5))),
                          ("must have dtype Long", (rows, offsets.float(), (3, 4))),
                          ("Offsets must be scalar or vector", (rows, offsets.view(1, 3), (3, 4))),
                          ("got SparseBsr", (rows, offsets, (3, 4), torch.sparse_bsr))):
        with pytest.raises(RuntimeError, match=message):
            torch.sparse.spdiags(*args)
