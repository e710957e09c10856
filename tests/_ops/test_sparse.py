"""Sparse tensors: making them, what they hold, coalescing, conversions, refusals."""
import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shimtorch as torch

from .sparse_cases import check_parts, dense, random_sparse, same

I = torch.tensor([[0, 1, 1, 0], [2, 0, 2, 2]])  # noqa: E741
V = torch.tensor([3.0, 4.0, 5.0, 1.0])
DENSE = [[0, 0, 4], [4, 0, 5]]
ALL = [getattr(torch, name) for name in ("float32 float64 complex64 complex128 int64 int32 int16 int8 uint8 bool "
                                         "float16 bfloat16").split()]


def make(**kwargs):
    return torch.sparse_coo_tensor(I, V.clone(), (2, 3), **kwargs)


# ---------------------------------------------------------------- constructors

def test_parts_are_shared_not_copied():
    values = V.clone()
    x = torch.sparse_coo_tensor(I, values, (2, 3))
    values[0] = 30
    assert x.to_dense().tolist() == [[0, 0, 31], [4, 0, 5]]
    assert x._values().data_ptr() == values.data_ptr() and x._indices().data_ptr() == I.data_ptr()


def test_size_is_the_least_that_holds_the_indices():
    assert torch.sparse_coo_tensor(I, V).shape == (2, 3)
    assert torch.sparse_coo_tensor([[0, 4]], [[1.0, 2], [3, 4]]).shape == (5, 2)
    assert torch.sparse_coo_tensor(torch.empty((2, 0), dtype=torch.int64), torch.empty(0)).shape == (0, 0)


@pytest.mark.parametrize("args, dtype, nnz, shape", (
    (([[0, 1], [2, 0]], [3, 4]), torch.int64, 2, (2, 3)),
    (([[0, 1], [2, 0]], [3.0, 4.0], [2, 4]), torch.float32, 2, (2, 4)),
    (((2, 3),), torch.float32, 0, (2, 3)),
    ((torch.Size([2, 3]),), torch.float32, 0, (2, 3)),
    (([[0]], 1.0, (2,)), torch.float32, 1, (2,)),
    ((torch.zeros((0, 2), dtype=torch.int64), [5.0, 6.0], ()), torch.float32, 2, ()),
    ((torch.tensor([[0, 1]], dtype=torch.int32), [1, 2]), torch.int64, 2, (2,)),
    ((np.array([[0, 1]]), np.array([1.0, 2.0])), torch.float64, 2, (2,)),
))
def test_forms(args, dtype, nnz, shape):
    x = torch.sparse_coo_tensor(*args)
    check_parts(x)
    assert (x.dtype, x._nnz(), x.shape) == (dtype, nnz, shape)


def test_keywords():
    x = torch.sparse_coo_tensor(indices=I, values=V, size=(2, 3), dtype=torch.float64, requires_grad=True, device="cpu")
    assert x.dtype is torch.float64 and x.requires_grad and x.is_leaf
    assert torch.sparse_coo_tensor(size=(2, 3)).shape == (2, 3)
    assert torch.sparse_coo_tensor([[0, 1]], [1.0, 2], (2,), is_coalesced=True).is_coalesced()


@pytest.mark.parametrize("error, message, call", (
    (RuntimeError, "indices must be sparse_dim x nnz", lambda: torch.sparse_coo_tensor([], [])),
    (RuntimeError, "indices must be sparse_dim x nnz", lambda: torch.sparse_coo_tensor([[[0, 1]]], [1.0, 2])),
    (RuntimeError, "same nnz, but got nnz from indices: 2, nnz from values: 3",
     lambda: torch.sparse_coo_tensor([[0, 1]], [1.0, 2, 3], (2,))),
    (RuntimeError, r"len\(size\) = 2, sparse_dim = 1, dense_dim = 0",
     lambda: torch.sparse_coo_tensor([[0, 1]], [1.0, 2], (2, 3))),
    (RuntimeError, r"values has incorrect size, expected \[2, 3\], got \[2, 2\]",
     lambda: torch.sparse_coo_tensor([[0, 1]], [[1.0, 2], [3, 4]], (2, 3))),
    (RuntimeError, "for dim 0, size is 3 but found index 5", lambda: torch.sparse_coo_tensor([[0, 5]], [1.0, 2], (3,))),
    (RuntimeError, "found negative index -5 for dim 0", lambda: torch.sparse_coo_tensor([[0, -5]], [1.0, 2], (3,))),
    (RuntimeError, "found negative index -5 for dim 0", lambda: torch.sparse_coo_tensor([[0, -5]], [1.0, 2])),
    (RuntimeError, "numel: integer multiplication overflow",
     lambda: torch.sparse_coo_tensor([[0], [1]], [1.0], (2**40, 2**40)).to_dense()),
    (RuntimeError, "expected values to be a dense tensor", lambda: torch.sparse_coo_tensor([[0, 1]], make(), (2,))),
    (RuntimeError, "negative dimension -2", lambda: torch.sparse_coo_tensor([[0, 1]], [1.0, 2], (-2,))),
    (RuntimeError, "negative dimension -2", lambda: torch.sparse_coo_tensor((3, -2))),
    (RuntimeError, "not sorted and distinct",
     lambda: torch.sparse_coo_tensor([[1, 0]], [1.0, 2], (2,), is_coalesced=True, check_invariants=True)),
    (TypeError, "expected indices and values, or a size", lambda: torch.sparse_coo_tensor()),
))
def test_what_does_not_fit_is_refused(error, message, call):
    with pytest.raises(error, match=message):
        call()


def test_many_indices_are_checked_before_they_are_used():
    n = 100_000
    indices = torch.zeros((2, n), dtype=torch.int64)
    indices[1, n - 1] = 7
    for use in (lambda x: x.coalesce(), lambda x: x.to_dense(), lambda x: x.mm(torch.ones(5, 1)), lambda x: x.t(),
                lambda x: x + x, lambda x: x.sum(0)):
        with pytest.raises(RuntimeError, match="for dim 1, size is 5 but found index 7"):
            use(torch.sparse_coo_tensor(indices, torch.ones(n), (5, 5)))


def test_indices_written_to_later_are_checked_again():
    indices = I.clone()
    x = torch.sparse_coo_tensor(indices, V, (2, 3))
    x.to_dense()
    indices[0, 0] = 1000
    with pytest.raises(RuntimeError, match="found index 1000"):
        x.to_dense()
    array = I.numpy().copy()
    x = torch.sparse_coo_tensor(torch.from_numpy(array), V, (2, 3))
    x.to_dense()
    array[1, 1] = -1
    with pytest.raises(RuntimeError, match="negative index -1"):
        x.coalesce()


def test_legacy_types():
    types = torch.sparse
    assert types.FloatTensor(I, V, torch.Size([2, 3])).to_dense().tolist() == DENSE
    assert types.FloatTensor(I, V).shape == (2, 3)
    assert types.FloatTensor(2, 3)._nnz() == 0 and types.FloatTensor(2, 3).shape == (2, 3)
    assert types.DoubleTensor(torch.Size([2, 3])).dtype is torch.float64
    assert types.FloatTensor().shape == (0,)
    assert isinstance(make(), types.FloatTensor) and not isinstance(make(), types.DoubleTensor)
    assert not isinstance(V, types.FloatTensor) and not isinstance(make(), torch.FloatTensor)
    assert make().type() == "torch.sparse.FloatTensor"
    assert make().type("torch.sparse.DoubleTensor").dtype is torch.float64
    for wrong in ((make(),), (V,), ("a",), ([2, 3],), (5, I, V)):
        with pytest.raises(TypeError):
            types.FloatTensor(*wrong)


# ---------------------------------------------------------------- what they hold

def test_accessors():
    x = random_sparse((4, 5), (2,), 6)
    assert (x.sparse_dim(), x.dense_dim(), x._nnz(), x.dim(), x.numel()) == (2, 1, 6, 3, 40)
    assert x.is_sparse and x.layout is torch.sparse_coo and x.device == torch.device("cpu") and not x.is_contiguous()
    assert (torch.zeros(2, 3).sparse_dim(), torch.zeros(2, 3).dense_dim()) == (0, 2)
    assert not x._values().requires_grad and x._indices().dtype is torch.int64


def test_indices_and_values_need_a_coalesced_tensor():
    x = make()
    for name in ("indices", "values"):
        with pytest.raises(RuntimeError, match=f"Cannot get {name} on an uncoalesced tensor, please call .coalesce"):
            getattr(x, name)()
    assert x.coalesce().indices().tolist() == [[0, 1, 1], [2, 0, 2]]
    assert x.coalesce().values().tolist() == [4, 4, 5]


@pytest.mark.parametrize("name", ("coalesce", "is_coalesced", "indices"))
def test_dense_tensors_have_no_sparse_parts(name):
    with pytest.raises(RuntimeError, match=f"{name} expected sparse coordinate tensor layout but got Strided"):
        getattr(V, name)()


def test_dense_only_things_are_refused():
    x = make()
    for call in (x.numpy, x.data_ptr, x.stride, x.storage_offset, lambda: x.view(torch.int32), lambda: np.asarray(x)):
        with pytest.raises((NotImplementedError, TypeError, RuntimeError)):
            call()


def test_item_bool_len():
    x = torch.sparse_coo_tensor(torch.zeros((1, 2), dtype=torch.int64), torch.tensor([5.0, 6.0]), (1,))
    assert x.item() == 11 and bool(x) and len(make()) == 2
    assert make().tolist() == DENSE


# ---------------------------------------------------------------- coalescing

@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("shape", ((), (3,), (2, 2), (0,)))
def test_coalesce_every_dtype(dtype, shape):
    x = random_sparse((3, 4), shape, 30, dtype)
    c = x.coalesce()
    check_parts(c)
    assert c.is_coalesced() and c.dtype is dtype and not x.is_coalesced()
    want = np.zeros((3, 4, *shape), np.complex128)
    np.add.at(want, tuple(x._indices().numpy()), x._values().to(torch.complex128).numpy())
    got = c.to_dense().to(torch.complex128).numpy()
    np.testing.assert_allclose(got, want != 0 if dtype is torch.bool else want, 0.02, 0.02)


def test_coalesce_returns_a_coalesced_tensor_itself():
    c = make().coalesce()
    assert c.coalesce() is c


def test_fewer_than_two_entries_are_coalesced():
    assert torch.sparse_coo_tensor([[1]], [2.0], (3,)).is_coalesced()
    assert torch.sparse_coo_tensor((3,)).is_coalesced()


@settings(deadline=None)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=4), st.integers(0, 60), st.integers(0, 99))
def test_coalesce_keeps_the_dense_tensor_and_is_idempotent(sizes, nnz, seed):
    x = random_sparse(tuple(sizes), (), nnz, seed=seed)
    c = x.coalesce()
    same(c, x)
    again = torch.sparse_coo_tensor(c._indices(), c._values(), x.shape).coalesce()
    assert again._indices().equal(c._indices()) and again._values().equal(c._values())


def test_claims_of_being_coalesced_are_checked():
    with pytest.raises(RuntimeError, match="not sorted and distinct"):
        make()._coalesced_(True)
    c = make().coalesce()
    assert not c._coalesced_(False).is_coalesced() and c.coalesce().is_coalesced()


# ---------------------------------------------------------------- conversions

@pytest.mark.parametrize("dtype", ALL)
def test_dense_and_back(dtype):
    x = random_sparse((3, 4, 2), (), 10, dtype).to_dense()
    for dims in (1, 2, 3, None):
        y = x.to_sparse(dims)
        check_parts(y)
        assert y.is_coalesced() and y.dtype is dtype and y.sparse_dim() == (dims or 3)
        assert y.to_dense().equal(x)


def test_to_sparse_details():
    assert torch.tensor(3.0).to_sparse().to_dense().item() == 3
    assert make().to_sparse()._nnz() == 4
    x = torch.arange(12.0).view(3, 4).t()
    same(x.to_sparse(), x)
    with pytest.raises(RuntimeError, match="sparse_dim argument must be in >0"):
        x.to_sparse(0)
    with pytest.raises(RuntimeError, match=r"must be in \[0,2\] range, but 3 is given"):
        x.to_sparse(3)
    assert V.to_dense() is V


def test_sparse_mask():
    x = torch.arange(6.0).view(2, 3)
    masked = x.sparse_mask(make())
    assert masked._values().tolist() == [2, 3, 5, 2] and masked._indices().equal(I)
    assert x.t().contiguous().t().sparse_mask(make())._values().tolist() == [2, 3, 5, 2]
    other = torch.sparse_coo_tensor([[0, 0], [0, 2]], [1.0, 1.0], (2, 3)).coalesce()
    assert make().sparse_mask(other)._values().tolist() == [0, 4]
    hybrid = torch.arange(12.0).view(2, 3, 2).sparse_mask(random_sparse((2, 3), (2,), 4, torch.float32))
    assert hybrid.dense_dim() == 1 and hybrid._values().shape == (4, 2)
    with pytest.raises(RuntimeError, match=r"self has size \[3, 3\] but mask has size \[2, 3\]"):
        torch.zeros(3, 3).sparse_mask(make())
    with pytest.raises(NotImplementedError):
        x.sparse_mask(x)


def test_masks_of_indices_too_wide_for_one_key():
    sizes = (2**31, 1, 2**31)
    a = torch.sparse_coo_tensor([[5, 5, 2**31 - 1], [0, 0, 0], [9, 9, 0]], [1.0, 2, 3], sizes)
    b = torch.sparse_coo_tensor([[2**31 - 1, 5], [0, 0], [0, 8]], [1.0, 1], sizes)
    assert a.sparse_mask(b)._values().tolist() == [3, 0]
    assert (a * b)._values().tolist() == [3]
    assert (a + b).coalesce()._values().tolist() == [1, 3, 4]


# ---------------------------------------------------------------- copies

def test_copies():
    x = make()
    for y in (x.clone(), copy.deepcopy(x)):
        assert y._values().data_ptr() != x._values().data_ptr() and not y.is_coalesced()
        same(y, x)
    assert x.detach()._values().data_ptr() == x._values().data_ptr()
    leaf = make(requires_grad=True)
    assert copy.deepcopy(leaf).requires_grad


def test_pickle():
    for x in (make(), make().coalesce(), make(requires_grad=True), random_sparse((3, 4), (2,), 5)):
        y = pickle.loads(pickle.dumps(x))
        assert y.is_coalesced() == x.is_coalesced() and y._nnz() == x._nnz()
        assert not y.requires_grad         # PyTorch's pickles of sparse tensors do not say it
        np.testing.assert_array_equal(dense(y), dense(x))
