"""Cases in which sparse libraries are known to go wrong: each has the right value here."""
import copy
import math
import pickle

import numpy as np
import pytest

import shimtorch as torch

from .._ops.sparse_cases import check_parts, random_sparse, random_values, same

REPEATED = torch.sparse_coo_tensor([[1, 0, 1], [2, 0, 2]], [3.0, 1.0, -5.0], (2, 3))


# ---------------------------------------------------------------- the coalesced flag is never wrongly true

def test_the_transpose_of_a_coalesced_tensor():
    x = random_sparse((5, 4), nnz=12, coalesced=True)
    y = x.t()
    assert not y.is_coalesced()
    same(y.mm(random_values((5, 1))), x.to_dense().t() @ random_values((5, 1)))
    same(y.coalesce() @ random_values((5,)), x.to_dense().t() @ random_values((5,)))
    check_parts(y.coalesce())


def test_the_square_of_a_product():
    x = random_sparse((30, 20), nnz=100)
    product = x.t() @ x
    check_parts(product)
    want = x.to_dense().t() @ x.to_dense()
    same(product, want)
    same(product * product, want * want)
    same(product ** 2, want ** 2)


def test_repeated_products_do_not_grow():
    x = torch.sparse_coo_tensor([[1, 1, 1]], [1.0, 2.0, 3.0], (3,))
    for power in (2, 3, 4, 5):
        x = x * torch.sparse_coo_tensor([[1, 1, 1]], [1.0, 2.0, 3.0], (3,))
        assert x._nnz() == 1 and x.to_dense().tolist() == [0, 6 ** power, 0]


def test_functions_act_on_the_sum_of_repeated_entries():
    x = torch.sparse_coo_tensor([[0, 0]], [5.0, -3.0], (1,))
    for got, want in ((x.abs(), 2), (x.sqrt(), math.sqrt(2)), (x.pow(2), 4), (x ** 3, 8), (-x, -2), (x * 3, 6)):
        assert got.to_dense().item() == pytest.approx(want)
    assert torch.sparse_coo_tensor([[0, 0]], [3.0, -5.0], (1,)).abs().to_dense().item() == 2


# ---------------------------------------------------------------- gradients

def test_the_gradient_of_a_product_of_identities():
    a, b = (torch.eye(3).to_sparse().requires_grad_() for _ in range(2))
    torch.sparse.mm(a, b).sum().backward()
    for x in (a, b):
        assert x.grad.is_coalesced() and x.grad._nnz() == 3
        assert x.grad.to_dense().equal(torch.eye(3))


def test_the_gradient_of_a_sparse_product_is_dense_autograds_on_the_pattern():
    a, b = random_sparse((6, 5), nnz=9).requires_grad_(), random_sparse((5, 4), nnz=7).requires_grad_()
    torch.sparse.mm(a, b).sum().backward()
    p, q = (x.detach().to_dense().requires_grad_() for x in (a, b))
    (p @ q).sum().backward()
    for x, whole in ((a, p), (b, q)):
        assert x.grad._indices().equal(x.detach().coalesce()._indices())
        same(x.grad, whole.grad * (x.detach().to_dense() != 0))


# ---------------------------------------------------------------- sums

def test_a_sum_over_dimension_0_sums_that_alone():
    x = random_sparse((4, 5, 3), nnz=20)
    got = torch.sparse.sum(x, 0)
    assert got.shape == (5, 3)
    same(got, x.to_dense().sum(0))


@pytest.mark.parametrize("size, dim, shape", (((4, 5), 0, (5,)), ((4, 5), (0, 1), ()), ((0, 5), 0, (5,)),
                                              ((0, 5), 1, (0,)), ((4, 0), 1, (4,)), ((4, 0, 2), (0, 2), (0,))))
def test_sums_of_nothing(size, dim, shape):
    got = torch.sparse.sum(torch.sparse_coo_tensor(size), dim)
    assert got.shape == shape and got.to_dense().equal(torch.zeros(shape))


def test_the_gradient_of_a_sum_over_dense_dimensions():
    x = random_sparse((4, 5), (3,), 6).requires_grad_()
    torch.sparse.sum(x, 2).to_dense().sum().backward()
    pattern = x.detach().coalesce()
    assert x.grad._indices().equal(pattern._indices()) and x.grad._values().equal(torch.ones_like(pattern._values()))


def test_a_sum_of_repeated_entries():
    x = random_sparse((4, 5), (2,), 30)
    for dim in (0, 1, 2, (0, 1), (1, 2), None):
        same(torch.sparse.sum(x, dim), torch.sparse.sum(x.coalesce(), dim))


def test_many_ones_in_one_place_add_up_exactly():
    n = 20_000_000
    x = torch.sparse_coo_tensor(torch.zeros((1, 1), dtype=torch.int64).expand(1, n), torch.ones(1).expand(n), (1,))
    for got in (x.coalesce().values(), x.to_dense(), torch.sparse.sum(x)):
        assert got.dtype is torch.float32 and got.sum().item() == n


# ---------------------------------------------------------------- broadcasting

def test_broadcasting():
    column, row = random_values((3, 1)), random_values((1, 2))
    same(column.to_sparse() * row, column * row)
    same(row * column.to_sparse(), column * row)
    one, table = random_values((1,)), random_values((4, 3))
    same(one.to_sparse() * table.to_sparse(), one * table)
    same(table.to_sparse() * one.to_sparse(), one * table)


# ---------------------------------------------------------------- malformed parts

@pytest.mark.parametrize("message, indices, values, size", (
    ("found negative index -1 for dim 1", [[0, 1], [0, -1]], [1.0, 2], (2, 3)),
    ("for dim 1, size is 3 but found index 3", [[0, 1], [0, 3]], [1.0, 2], (2, 3)),
    ("for dim 0, size is 1 but found index 1", [[0, 1], [0, 2]], [1.0, 2], (1, 3)),
    ("indices must be sparse_dim x nnz", [0, 1], [1.0, 2], (2,)),
    ("got nnz from indices: 2, nnz from values: 3", [[0, 1]], [1.0, 2, 3], (2,)),
    (r"values has incorrect size, expected \[2, 3\], got \[2, 2\]", [[0, 1]], [[1.0, 2], [3, 4]], (2, 3)),
    (r"len\(size\) = 1, sparse_dim = 1, dense_dim = 1", [[0, 1]], [[1.0, 2], [3, 4]], (2,)),
))
@pytest.mark.parametrize("checks", (True, False, None))
def test_parts_that_do_not_fit(message, indices, values, size, checks):
    with pytest.raises(RuntimeError, match=message):
        torch.sparse_coo_tensor(indices, values, size, check_invariants=checks)


def test_indices_of_the_wrong_dtype():
    """Whole numbers of any dtype are taken, as torch does; what it would cut off is refused."""
    whole = ([[0.0, 1.0]], torch.tensor([[0, 1]], dtype=torch.int32), torch.tensor([[False, True]]))
    for indices in whole:
        x = torch.sparse_coo_tensor(indices, [1.0, 2.0], (2,))
        assert x._indices().dtype is torch.int64 and x._indices().tolist() == [[0, 1]]
    for indices, found in (([[0, 1.5]], "1.5"), (torch.tensor([[0.0, -0.25]]), "-0.25"), ([[0.0, 1j]], "1j"),
                           ([[math.nan, 0.0]], "nan")):
        with pytest.raises(RuntimeError, match=rf"found {found} for dim 0 of size \[2\]"):
            torch.sparse_coo_tensor(indices, [1.0, 2.0], (2,))
    for indices in (torch.tensor([[0.0, 1.0]]), torch.tensor([[0, 1]], dtype=torch.int32)):
        with pytest.raises(RuntimeError, match="indices must be an int64 tensor"):
            torch.sparse.FloatTensor(indices, torch.ones(2), torch.Size([2]))


def test_more_than_2_to_31_entries_are_counted():
    n = 2 ** 31 + 7
    x = torch.sparse_coo_tensor(torch.zeros((1, 1), dtype=torch.int64).expand(1, n),
                                torch.ones(1, dtype=torch.uint8).expand(n), (3,))
    assert x._nnz() == n and x._indices().shape == (1, n) and x._values().numel() == n
    assert torch.sparse.sum(x).item() == n


def test_unchecked_parts_are_checked_on_first_use():
    n = 50_000
    indices = torch.zeros((2, n), dtype=torch.int64)
    indices[0, n // 2] = 10 ** 12
    uses = (torch.Tensor.coalesce, torch.Tensor.to_dense, torch.abs, lambda x: x.mm(torch.ones(3, 2)), lambda x: x * 2,
            lambda x: x + x, lambda x: x.sum(0), lambda x: x[0], lambda x: x.to_sparse_csr(), lambda x: x.amax(0),
            lambda x: torch.sparse.softmax(x, 0), lambda x: x * x, lambda x: x.t() @ torch.ones(3, 1),
            lambda x: torch.ones(3, 3).sparse_mask(x), lambda x: x.index_select(0, torch.tensor([1])),
            lambda x: torch.cat([x, x]), lambda x: x[[0, 1], [1, 1]])
    for use in uses:
        x = torch.sparse_coo_tensor(indices, torch.ones(n), (3, 3), check_invariants=False)
        with pytest.raises(RuntimeError, match="for dim 0, size is 3 but found index 1000000000000"):
            use(x)


# ---------------------------------------------------------------- sizes

@pytest.mark.parametrize("n, dims", ((10 ** 5, 4), (10 ** 6, 4), (10 ** 5, 3), (2 ** 40, 3)))
def test_sizes_beyond_64_bits(n, dims):
    rng = np.random.default_rng(0)
    indices = rng.integers(n - 3, n, (dims, 200))
    x = torch.sparse_coo_tensor(torch.from_numpy(indices), torch.ones(200, dtype=torch.float64), (n,) * dims)
    assert x.numel() == n ** dims and x.shape.numel() == n ** dims
    low = torch.sparse_coo_tensor(torch.from_numpy(indices - (n - 3)), x._values(), (3,) * dims)
    for f in (lambda t: t.coalesce(), lambda t: t + t.transpose(0, 1), lambda t: t * t.transpose(0, 1),
              lambda t: t.permute(*range(dims)[::-1]), lambda t: torch.sparse.sum(t, 0), lambda t: t.amax(1),
              lambda t: t[-2]):
        got, want = f(x).coalesce(), f(low).coalesce()
        assert (got._indices() - (n - 3)).equal(want._indices()) and got._values().equal(want._values())
        check_parts(got)
    assert x.sum().item() == 200
    with pytest.raises((RuntimeError, MemoryError)):
        x.to_dense()


def test_an_index_beyond_32_bits():
    n = 2 ** 33
    x = torch.sparse_coo_tensor([[2 ** 32 + 1, 5], [n - 1, 2 ** 31]], [1.0, 2.0], (n, n))
    assert x.numel() == n * n and x.t().coalesce()._indices().tolist() == [[2 ** 31, n - 1], [5, 2 ** 32 + 1]]
    assert x[5, 2 ** 31].item() == 2 and (x * x).sum().item() == 5


# ---------------------------------------------------------------- round trips

KINDS = {"coo": random_sparse(), "coalesced": random_sparse(coalesced=True), "hybrid": random_sparse((3, 4), (2,), 5),
         "csr": random_sparse().to_sparse_csr(), "csc": random_sparse().to_sparse_csc(),
         "bsr": random_sparse().to_sparse_bsr((2, 5)), "requires grad": random_sparse().requires_grad_()}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("trip", (lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy), ids=("pickle", "copy"))
def test_round_trips(name, trip):
    x = KINDS[name]
    y = trip(x)
    assert y.layout is x.layout and y.shape == x.shape and y.dtype is x.dtype
    assert y.requires_grad == (x.requires_grad and trip is copy.deepcopy)      # PyTorch's pickles do not say it
    if x.is_sparse:
        assert y.is_coalesced() == x.is_coalesced() and y._indices().equal(x._indices())
        assert y._values().equal(x._values()) and y._values().data_ptr() != x._values().data_ptr()
    same(y, x)


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return random_sparse(coalesced=True)[i]


def test_a_data_loader_collates_sparse_tensors():
    batches = list(torch.utils.data.DataLoader(Rows(), batch_size=2))
    assert all(b.is_sparse and b.shape == (2, 5) for b in batches)
    same(torch.cat(batches), random_sparse().to_dense())


# ---------------------------------------------------------------- old methods

def test_sspaddmm_with_a_matrix_of_indices_that_is_not_contiguous():
    x = random_sparse((4, 5), nnz=9)
    indices = torch.from_numpy(np.ascontiguousarray(x._indices().numpy().T)).t()
    assert not indices.is_contiguous()
    y = torch.sparse_coo_tensor(indices, x._values(), (4, 5))
    base, other = random_sparse((4, 3), nnz=5), random_values((5, 3))
    same(torch.sspaddmm(base, y, other, beta=0.5, alpha=3), 0.5 * base.to_dense() + 3 * (x.to_dense() @ other))


def test_addmm_with_factors():
    x, base, other = random_sparse((4, 5), nnz=9), random_values((4, 3)), random_values((5, 3))
    want = 0.5 * base + 3 * (x.to_dense() @ other)
    same(torch.sparse.addmm(base, x, other, beta=0.5, alpha=3), want)
    same(torch.addmm(base, x, other, beta=0.5, alpha=3), want)


def test_resize_as_and_narrow_copy_as_they_were_spelled():
    x = torch.sparse.FloatTensor(torch.tensor([[0, 1], [1, 0]]), torch.tensor([1.0, 2.0]), torch.Size([2, 2]))
    assert x.resizeAs_(torch.sparse.FloatTensor(3, 4)) is x and x.shape == (3, 4)
    assert x.narrow_copy(0, 1, 2).to_dense().tolist() == [[2, 0, 0, 0], [0, 0, 0, 0]]
    assert x.toDense().equal(x.to_dense()) and x._sparseDims() == x._dimI() == 2 and x._denseDims() == x._dimV() == 0
