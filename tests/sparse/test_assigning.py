"""``x[index] = value`` of sparse tensors, against the same of dense ones."""
import pytest

import shimtorch as torch

from .._ops.sparse_cases import check_parts, random_sparse, random_values

LAYOUTS = {"coo": {}, "hybrid": {"sparse_dim": 1}, "csr": {"layout": torch.sparse_csr},
           "csc": {"layout": torch.sparse_csc}, "bsr": {"layout": torch.sparse_bsr, "blocksize": (1, 5)}}
MASK = torch.tensor([[True, False, True, False, True]] * 4)
INDICES = (
    0, (0, 0), (-1, 2), slice(1, None), Ellipsis, (None, 0), (slice(None), 1), (slice(None, None, 2), slice(1, 3)),
    [0, 2], ([0, 2], [1, 3]), (0, [1, 2]), ([2, 0], slice(None)), MASK, (slice(None), [0, -1]), (Ellipsis, 0),
    slice(1, 1), torch.tensor(1), (torch.tensor([0, 0]), torch.tensor([1, 1])))


def sparse_of(dense, kind):
    return dense.to_sparse(**LAYOUTS[kind])


@pytest.mark.parametrize("kind", LAYOUTS)
@pytest.mark.parametrize("index", INDICES, ids=str)
def test_it_is_what_a_dense_tensor_does(index, kind):
    shape = tuple(random_values((4, 5))[index].shape)
    positive = random_values(shape).relu()
    values = [(5.0, 5.0), (0, 0), (2, 2), (random_values(shape), random_values(shape))]
    if shape:
        values += [(random_values(shape)[:1], random_values(shape)[:1]), (positive, positive.to_sparse())]
    for value, given in values:
        want = random_sparse().to_dense()
        got = sparse_of(want, kind)
        same_object, layout = got, got.layout
        want[index] = value
        got[index] = given
        assert got is same_object and got.layout is layout and got.to_dense().equal(want)
        check_parts(got)


def test_entries_of_what_is_overwritten_are_gone():
    x = torch.sparse_coo_tensor([[0, 0, 1], [2, 2, 1]], [1.0, 2.0, 3.0], (2, 3))
    x[0] = 0
    assert x.is_coalesced() and x._indices().tolist() == [[1], [1]]
    x[:, 1] = torch.tensor([4.0, 0.0])
    assert x._indices().tolist() == [[0], [1]] and x._values().tolist() == [4]


def test_in_place_arithmetic_of_a_part():
    want = random_sparse().to_dense()
    x = want.to_sparse()
    for y in (x, want):
        y[1, 2] += 3
        y[2] *= 2
        y[:, 0] -= y[:, 1]
    assert x.to_dense().equal(want)


def test_masks_may_be_sparse():
    want = random_sparse().to_dense()
    x = want.to_sparse()
    assert x[x > 0].to_dense().equal(want[want > 0]) and want[x > 0].equal(want[want > 0])
    x[x > 0] = 7
    want[want > 0] = 7
    assert x.to_dense().equal(want)


def test_sizes_may_be_larger_than_memory():
    n = 2 ** 40
    x = torch.sparse_coo_tensor((n, n))
    x[n - 1, 5] = 2.5
    x[n // 2:n // 2 + 3, 7] = torch.arange(3.0)
    assert x._indices().tolist() == [[n // 2 + 1, n // 2 + 2, n - 1], [7, 7, 5]] and x._values().tolist() == [1, 2, 2.5]


def test_values_are_cast_as_in_dense_tensors():
    x = torch.sparse_coo_tensor([[0, 2]], [1, 2], (3,))
    x[0] = 2.7
    assert x.dtype is torch.int64 and x.to_dense().tolist() == [2, 0, 2]


@pytest.mark.parametrize("error, message, index, value", (
    (IndexError, "index 4 is out of bounds for dimension 0 with size 4", 4, 1),
    (IndexError, "too many indices for tensor of dimension 2", (0, 0, 0), 1),
    (ValueError, "step must be greater than zero", slice(None, None, -1), 1),
    (RuntimeError, r"shape mismatch: value tensor of shape \[3\] cannot be broadcast .* \[5\]", 0, torch.ones(3)),
    (NotImplementedError, "take part in differentiation", 0, torch.ones(5).requires_grad_()),
))
def test_what_is_refused(error, message, index, value):
    x = random_sparse()
    before = x.clone()
    with pytest.raises(error, match=message):
        x[index] = value
    assert x.equal(before)


def test_a_result_that_does_not_fit_the_layout():
    """Every matrix of a batch in compressed rows has as many entries as the others."""
    x = torch.ones(2, 2, 2).to_sparse_csr()
    with pytest.raises(NotImplementedError, match="does not fit into the layout torch.sparse_csr"):
        x[0, 0, 0] = 0
