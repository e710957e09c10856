"""Tensors large enough to be shared among threads: results are those of one thread, bit by bit, and right."""
import numpy as np
import pytest

import shimtorch as torch
from shimtorch._kernels import csr

N, NNZ = 3_000, 300_000


def coordinates(seed=0, side=N, nnz=NNZ, crowded=False):
    """Rows and columns; crowded: half of the entries are in one row."""
    indices = np.random.default_rng(seed).integers(0, side, (2, nnz))
    if crowded:
        indices[0, ::2] = side // 3
    return indices


def matrix(seed=0, dtype=torch.float32, crowded=False, side=N, nnz=NNZ):
    values = torch.from_numpy(np.random.default_rng(seed).uniform(-1, 1, nnz)).mul(100).to(dtype)
    return torch.sparse_coo_tensor(torch.from_numpy(coordinates(seed, side, nnz, crowded)), values, (side, side))


def dense(*shape, dtype=torch.float32):
    return torch.from_numpy(np.random.default_rng(0).uniform(-1, 1, shape)).mul(100).to(dtype)


def adjoint(x, g):
    other = torch.zeros(N, g.shape[1], dtype=g.dtype, requires_grad=True)
    return torch.autograd.grad(torch.sparse.mm(x, other), other, g)[0]


def sampled(x, g):
    leaf = x.coalesce().detach().requires_grad_()
    return torch.autograd.grad(torch.sparse.mm(leaf, g), leaf, g)[0]


def softmax(x, y, d):
    leaf = x.coalesce().detach().requires_grad_()
    return torch.autograd.grad(torch.sparse.log_softmax(leaf, 1), leaf, y)[0]


OPS = {
    "coalesce": lambda x, y, d: x.coalesce(), "transpose": lambda x, y, d: x.coalesce().t().coalesce(),
    "add": lambda x, y, d: x.coalesce() + y.coalesce(), "mul": lambda x, y, d: x * y,
    "mm": lambda x, y, d: x.coalesce().mm(d), "mm of a vector": lambda x, y, d: x.coalesce().mv(d[:, 0]),
    "mm unsorted": lambda x, y, d: x.mm(d), "mm adjoint": lambda x, y, d: adjoint(x.coalesce(), d),
    "sampled": lambda x, y, d: sampled(x, d), "sums": lambda x, y, d: torch.sparse.sum(x, 0),
    "sums of integers": lambda x, y, d: torch.sparse.sum(x.to(torch.int32), 1), "softmax": softmax,
    "csr": lambda x, y, d: x.to_sparse_csr(), "csc": lambda x, y, d: x.to_sparse_csc(),
    "to_sparse": lambda x, y, d: x.to_dense().to_sparse(),
    "to_sparse hybrid": lambda x, y, d: x.to_dense().to_sparse(1),
    "to_dense": lambda x, y, d: x.coalesce().to_dense(), "mask": lambda x, y, d: x.to_dense().sparse_mask(y.coalesce()),
    "rows": lambda x, y, d: x.coalesce().index_select(0, torch.arange(0, N, 3)),
    "columns": lambda x, y, d: x.coalesce()[:, 10:-10],
}


def arrays(x):
    if x.layout is torch.strided:
        return [x.numpy()]
    if x.is_sparse:
        return [x._indices().numpy(), x._values().numpy()]
    pointers = x.crow_indices() if x.layout is torch.sparse_csr else x.ccol_indices()
    plain = x.col_indices() if x.layout is torch.sparse_csr else x.row_indices()
    return [pointers.numpy(), plain.numpy(), x.values().numpy()]


def with_threads(n, f):
    before = torch.get_num_threads()
    torch.set_num_threads(n)
    try:
        return f()
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("crowded", (False, True))
@pytest.mark.parametrize("name", OPS)
def test_the_number_of_threads_does_not_matter(name, crowded):
    for width in (1, 70):
        def run(width=width):
            return OPS[name](matrix(0, crowded=crowded), matrix(1), dense(N, width))
        one, three = (arrays(with_threads(n, run)) for n in (1, 3))
        assert all(a.dtype == b.dtype and a.tobytes() == b.tobytes() for a, b in zip(one, three, strict=True))


@pytest.mark.parametrize("dtype", (torch.int64, torch.float64, torch.complex128))
@pytest.mark.parametrize("crowded", (False, True))
def test_results_are_those_of_dense_tensors(crowded, dtype):
    x, y = matrix(0, dtype, crowded, 300, 150_000), matrix(1, dtype, False, 300, 150_000)
    a, b = np.zeros((300, 300), x._values().numpy().dtype), np.zeros((300, 300), x._values().numpy().dtype)
    for array, indices, values in ((a, coordinates(0, 300, 150_000, crowded), x), (b, coordinates(1, 300, 150_000), y)):
        np.add.at(array, tuple(indices), values._values().numpy())
    d = dense(300, 40, dtype=dtype)

    def check(got, want):
        got = got if got.layout is torch.strided else got.to_dense()
        np.testing.assert_allclose(got.numpy(), want, 1e-9, 1e-6)
    p, q = x.coalesce(), y.coalesce()
    check(p, a)
    check(p.t().coalesce(), a.T)
    check(p + q, a + b)
    check(p * q, a * b)
    check(p.mm(d), a @ d.numpy())
    check(x.mm(d), a @ d.numpy())
    check(p.mv(d[:, 0]), a @ d.numpy()[:, 0])
    check(torch.sparse.addmm(d, p, d, beta=2, alpha=3), 2 * d.numpy() + 3 * (a @ d.numpy()))
    check(torch.sparse.sum(x, 1), a.sum(1))
    check(torch.sparse.sum(x, 0), a.sum(0))
    check(p.index_select(0, torch.arange(299, 0, -2)), a[299:0:-2])
    check(p[:, 7:290], a[:, 7:290])
    check(p.to_sparse_csr() @ d, a @ d.numpy())
    if dtype is torch.float64:
        part = np.where(p.to_dense().numpy() != 0, a, -np.inf)
        with np.errstate(invalid="ignore"):
            part = np.exp(part - part.max(0))
            check(torch.sparse.softmax(p, 0), part / part.sum(0))
    few = matrix(2, dtype, False, 300, 10_000).coalesce()
    check(few @ p, few.to_dense().numpy() @ a)


def test_coordinates_beyond_one_key():
    """Sorting by several keys, in pieces."""
    n = 2 ** 40
    indices = torch.from_numpy(np.random.default_rng(0).integers(n - 60, n, (3, 150_000)))
    x = torch.sparse_coo_tensor(indices, torch.ones(150_000), (n, n, n))
    one, three = (with_threads(k, x.coalesce) for k in (1, 3))
    assert one._indices().equal(three._indices()) and one._values().equal(three._values())
    keys, counts = np.unique(np.ravel_multi_index(tuple(indices.numpy() - (n - 60)), (60, 60, 60)), return_counts=True)
    assert one._nnz() == keys.size and one._values().tolist() == counts.tolist()


def test_row_pointers_of_many_entries():
    lengths = np.random.default_rng(0).integers(0, 6, 300_000)
    rows = np.repeat(np.arange(300_000), lengths)
    want = np.concatenate(([0], np.cumsum(lengths)))
    for n in (1, 3):
        pointer = with_threads(n, lambda: csr.row_pointer(rows, 300_000))
        np.testing.assert_array_equal(pointer, want)
        np.testing.assert_array_equal(with_threads(n, lambda: csr.row_numbers(want)), rows)
