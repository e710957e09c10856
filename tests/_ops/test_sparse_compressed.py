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


@pytest.mark.parametrize("message, args", (
    (r"`crow_indices\[..., 0\] == 0` is not satisfied: found 1", ([1, 2], [0, 1], [1.0, 2.0])),
    ("crow_indices descends by 1 at place 2", ([0, 2, 1, 2], [0, 1], [1.0, 2.0])),
    (r"`crow_indices\[..., -1\] == nnz` is not satisfied: found 1 where nnz is 2", ([0, 1], [0, 1], [1.0, 2.0])),
    ("`0 <= col_indices < ncols` is not satisfied: found index 5 where ncols is 3", ([0, 1], [5], [1.0], (1, 3))),
    ("found index -1 where ncols is 3", ([0, 1], [-1], [1.0], (1, 3))),
    (r"must be equal to nnz \(=2\) as defined by values.shape\[0\], but got 1", ([0, 1], [0], [1.0, 2.0])),
    (r"number of rows \+ 1 \(=3\), but got 2", ([0, 1], [0], [1.0], (2, 3))),
    (r"dimensionalities \(=0 \+ 2 \+ 0\) but got 1", ([0, 1], [0], [1.0], (2,))),
    ("at least one", ([], [], [])),
    ("all batch dimensions", ([[0, 1]], [[0]], torch.ones(2, 1))),
    ("dimensionalities must be equal but got 2 and 1", ([[0, 1]], [0], [1.0])),
    ("int32 or int64", (torch.tensor([0.0, 1.0]), torch.tensor([0.0]), [1.0])),
    ("must have the same dtype, got Float and Long", (torch.tensor([0.0, 1.0]), [0], [1.0])),
    ("negative dimension -3", ([0, 1], [0], [1.0], (1, -3))),
))
def test_malformed_parts_are_refused(message, args):
    with pytest.raises(RuntimeError, match=message):
        torch.sparse_csr_tensor(*args)


def test_order_within_a_row_is_checked_when_asked_for():
    parts = ([0, 2], [2, 0], [1.0, 2.0], (1, 3))
    torch.sparse_csr_tensor(*parts)
    with pytest.raises(RuntimeError, match="sorted and distinct along the last dimension values` is not satisfied"):
        torch.sparse_csr_tensor(*parts, check_invariants=True)
    with torch.sparse.check_sparse_tensor_invariants(), pytest.raises(RuntimeError, match="found 0 after 2"):
        torch.sparse_csr_tensor(*parts)


def test_what_is_not_there_is_refused():
    x = A.to_sparse_csr()
    for call in (lambda: x.row_indices(), lambda: A.crow_indices()):
        with pytest.raises(RuntimeError, match="expected sparse (row|column) compressed tensor layout"):
            call()
    for call in (lambda: x.exp(), lambda: x._indices()):
        with pytest.raises(NotImplementedError):
            call()
    for message, call in (("without blocksize", lambda: A.to_sparse(layout=torch.sparse_bsr)),
                          ("with blocksize", lambda: A.to_sparse(layout=torch.sparse_csr, blocksize=(2, 2))),
                          ("divisible by given blocksize", lambda: A.to_sparse_bsr((2, 2))),
                          ("two positive numbers", lambda: A.to_sparse_bsr((0, 1))),
                          ("same number of specified elements per batch", lambda: UNEVEN.to_sparse_csr()),
                          ("at least two sparse dimensions", lambda: random_sparse((3,), (2,)).to_sparse_csr()),
                          ("at least two sparse dimensions", lambda: torch.ones(3).to_sparse_csr()),
                          ("another dense_dim", lambda: A.to_sparse_csr(1)),
                          ("got none", lambda: torch.sparse_compressed_tensor([0, 1], [0], [1.0]))):
        with pytest.raises(RuntimeError, match=message):
            call()


UNEVEN = torch.tensor([[[1.0, 0], [0, 0]], [[1, 1], [0, 0]]])

# ---------------------------------------------------------------- all four formats

FORMATS = {torch.sparse_csr: {}, torch.sparse_csc: {}, torch.sparse_bsr: dict(blocksize=(2, 3)),
           torch.sparse_bsc: dict(blocksize=(2, 3))}
every_format = pytest.mark.parametrize("layout", FORMATS, ids=str)
M = random_sparse((6, 9), nnz=11).to_dense()
BATCH = torch.stack([M, M * 2, -M])
HYBRID = random_sparse((6, 9), (2,), nnz=11).to_dense()


def compressed(x, layout, **kwargs):
    return x.to_sparse(layout=layout, **FORMATS[layout], **kwargs)


@every_format
def test_conversions_between_all_layouts(layout):
    for whole, kwargs in ((M, {}), (BATCH, {}), (HYBRID, dict(dense_dim=1)), (BATCH[None], {})):
        x = compressed(whole, layout, **kwargs)
        assert x.layout is layout and x.shape == whole.shape and x.dtype is whole.dtype
        assert x.dense_dim() == kwargs.get("dense_dim", 0) and x.sparse_dim() == 2
        same(x, whole)
        coo = x.to_sparse()
        assert coo.layout is torch.sparse_coo and coo.sparse_dim() == whole.dim() - x.dense_dim()
        same(coo, whole)
        for other in FORMATS:
            same(compressed(x, other), whole)
            same(compressed(coo, other), whole)
        assert compressed(x, layout) is x


@every_format
def test_parts_make_the_same_tensor_again(layout):
    make = getattr(torch, str(layout).replace("torch.", "") + "_tensor")
    lines, across = ("crow", "col") if str(layout).endswith("r") else ("ccol", "row")
    for whole, kwargs in ((M, {}), (BATCH, {}), (HYBRID, dict(dense_dim=1))):
        x = compressed(whole, layout, **kwargs)
        parts = getattr(x, lines + "_indices")(), getattr(x, across + "_indices")(), x.values()
        assert parts[1].shape[-1] == x._nnz()
        same(make(*parts, x.shape), whole)
        same(make(*[p.to(torch.int32) for p in parts[:2]], parts[2], x.shape, dtype=torch.float64), whole)
        same(torch.sparse_compressed_tensor(*parts, x.shape, layout=layout), whole)
        least = make(*parts)
        assert least.shape[:1] == x.shape[:1] or not str(layout).endswith("r")
        same(least.to_sparse().sparse_resize_(x.shape, whole.dim() - x.dense_dim(), x.dense_dim()), whole)


def test_blocks_are_scipys():
    want = sp.bsr_array(M.numpy(), blocksize=(2, 3))
    want.sort_indices()
    x = M.to_sparse_bsr((2, 3))
    np.testing.assert_array_equal(x.crow_indices().numpy(), want.indptr)
    np.testing.assert_array_equal(x.col_indices().numpy(), want.indices)
    np.testing.assert_array_equal(x.values().numpy(), want.data)


@pytest.mark.parametrize("message, call", (
    ("all batch dimensions", lambda: torch.sparse_bsr_tensor([0, 1], [0], torch.ones(2, 1, 2), (2, 2))),
    ("dimensionality >= 3", lambda: torch.sparse_bsr_tensor([0, 1], [0], [1.0], (2, 2))),
    ("divisible with blocksize", lambda: torch.sparse_bsr_tensor([0, 1], [0], torch.ones(1, 2, 2), (2, 3))),
    ("number of row blocks", lambda: torch.sparse_bsr_tensor([0, 1], [0], torch.ones(1, 2, 2), (4, 2))),
    ("found index 1 where ncols is 1", lambda: torch.sparse_bsr_tensor([0, 1], [1], torch.ones(1, 2, 2), (2, 2))),
    ("the dense dimensions", lambda: torch.sparse_csr_tensor([0, 1], [0], torch.ones(1, 2), (1, 1, 3))),
))
def test_malformed_blocks_are_refused(message, call):
    with pytest.raises(RuntimeError, match="all batch|equal to nnz" if "all batch" in message else message):
        call()


@every_format
def test_transposing(layout):
    for whole, kwargs, pairs in ((M, {}, ((0, 1),)), (BATCH, {}, ((1, 2), (-1, -2))), (BATCH[None], {}, ((0, 1),)),
                                 (HYBRID, dict(dense_dim=1), ((0, 1),))):
        x = compressed(whole, layout, **kwargs)
        for a, b in pairs:
            same(x.transpose(a, b), whole.transpose(a, b))
    with pytest.raises(RuntimeError, match=r"same type \(Batch, Sparse, Dense\), got 0\(Batch\) and 1\(Sparse\)"):
        compressed(BATCH, layout).transpose(0, 1)


KEPT = {"times": lambda x: x * 2, "over": lambda x: x / 2, "minus": lambda x: -x, "abs": lambda x: x.abs(),
        "sin": lambda x: x.sin(), "clone": lambda x: x.clone(), "float": lambda x: x.float(), "sum": lambda x: x + x,
        "square": lambda x: x * x, "dense": lambda x: x * (x.to_dense() + 1), "compared": lambda x: x > 0.5,
        "difference": lambda x: x - x * 0.5, "maximum": lambda x: torch.maximum(x, -x), "power": lambda x: x ** 2}


@every_format
@pytest.mark.parametrize("name", KEPT)
def test_arithmetic_keeps_the_layout(layout, name):
    for whole in (M, BATCH):
        x = compressed(whole, layout)
        got = KEPT[name](x)
        assert got.layout is layout or whole is BATCH
        same(got, KEPT[name](whole), 1e-6)


@every_format
def test_other_operations(layout):
    x, y = compressed(M, layout), random_values((9, 4))
    for f in (lambda t: t.sum(), lambda t: t.sum(0), lambda t: t.norm(), lambda t: t[1], lambda t: t[:, 2:5],
              lambda t: t[2:], lambda t: t.select(1, 3), lambda t: t.unsqueeze(0),
              lambda t: t[[0, 3, 3]], lambda t: t[t.to_dense() > 0], lambda t: t @ y, lambda t: y.t() @ t.t(),
              lambda t: t @ t.t(), lambda t: torch.cat([t, t]), lambda t: t.amax(0), lambda t: t.mean(),
              lambda t: t + torch.ones(6, 9), lambda t: torch.ones(9) - t):
        same(f(x), f(M))
    assert x.equal(x.clone()) and not x.equal(x * 2) and torch.allclose(x, x.clone())
    zeros = torch.zeros_like(x)
    assert zeros.layout is layout and zeros.shape == x.shape and zeros._nnz() == 0
    same(zeros, M * 0)
    y = x.clone()
    y *= 2
    y.neg_()
    same(y, M * -2)
    batch = compressed(BATCH, layout)
    same(batch @ random_values((3, 9, 2)), BATCH @ random_values((3, 9, 2)))
    same(batch[1], BATCH[1])
    same(batch.sum(0), BATCH.sum(0))


@every_format
def test_softmax_over_what_is_stored(layout):
    x = compressed(M, layout).requires_grad_()
    stored = x.detach().to_sparse().requires_grad_()
    for f, d in ((torch.sparse.softmax, 0), (torch.sparse.softmax, 1), (torch.sparse.log_softmax, 1)):
        result, want = f(x, d), f(stored, d)
        assert result.layout is layout
        same(result, want)
        weights = random_values(M.shape)
        gradients = [torch.autograd.grad((r.to_dense() * weights).sum(), leaf)[0]
                     for r, leaf in ((result, x), (want, stored))]
        assert gradients[0].layout is layout
        same(*gradients)


@every_format
def test_gradients_in_every_format(layout):
    x = compressed(M, layout).requires_grad_()
    ((x * 3 + x) @ random_values((9, 4))).sum().backward()
    assert x.grad.layout in (layout, torch.sparse_coo)
    check_gradients(lambda v: compressed(torch.sparse_coo_tensor(M.to_sparse()._indices(), v, M.shape), layout) *
                    compressed(M, layout), M.to_sparse()._values())
    parts = [getattr(compressed(M, layout), n)() for n in (("crow_indices", "col_indices") if str(layout).endswith("r")
                                                         else ("ccol_indices", "row_indices"))]
    check_gradients(lambda v: torch.sparse_compressed_tensor(*parts, v, M.shape, layout=layout).to_dense() ** 2,
                    compressed(M, layout).values())


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


def test_no_matrices():
    """A batch of no matrices has no elements, in all layouts."""
    x = torch.zeros(0, 3, 4).to_sparse()
    for layout in (torch.sparse_csr, torch.sparse_csc):
        compressed = x.to_dense().to_sparse(layout=layout)
        assert compressed.to_dense().shape == (0, 3, 4) and compressed._nnz() == 0
