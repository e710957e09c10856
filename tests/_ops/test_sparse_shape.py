"""Indexing, joining and rearranging of sparse tensors against the dense ones, and the derivatives."""
import pytest

import shimtorch as torch

from .sparse_cases import check_gradients, check_parts, random_sparse, random_values, same

PLAIN = random_sparse((4, 5, 3), nnz=20)
HYBRID = random_sparse((4, 5), (3, 2), nnz=12)
INDEX = torch.tensor([1, 3, 1, 0])

# name: a function of a tensor of shape (4, 5, 3) whose first two dimensions are sparse (all three for plain ones)
EVERY = {
    "transpose": lambda x: x.transpose(0, 1), "transpose negative": lambda x: x.transpose(1, -x.dim()),
    "transpose same": lambda x: x.transpose(1, 1), "permute": lambda x: x.permute(1, 0, *range(2, x.dim())),
    "permute list": lambda x: x.permute([0, 1, *range(2, x.dim())]),
    "unsqueeze first": lambda x: x.unsqueeze(0), "unsqueeze last": lambda x: x.unsqueeze(-1),
    "unsqueeze middle": lambda x: x.unsqueeze(2), "squeeze": lambda x: x.unsqueeze(0).unsqueeze(-1).squeeze(),
    "squeeze dim": lambda x: x.unsqueeze(1).squeeze(1), "select": lambda x: x.select(0, 1),
    "select negative": lambda x: x.select(-2, -1), "select last": lambda x: x.select(-1, 1),
    "narrow": lambda x: x.narrow(1, 1, 3), "narrow_copy": lambda x: x.narrow_copy(0, 1, 2),
    "narrow last": lambda x: x.narrow_copy(-1, 1, 1), "narrow empty": lambda x: x.narrow(0, 4, 0),
    "index_select": lambda x: x.index_select(0, INDEX), "index_select 1": lambda x: x.index_select(1, INDEX),
    "index_select sorted": lambda x: x.index_select(1, INDEX[1:2]),
    "index_select none": lambda x: x.index_select(0, INDEX[:0]),
    "index_select last": lambda x: x.index_select(-1, INDEX[2:]), "int": lambda x: x[2], "ints": lambda x: x[1, 2],
    "negative": lambda x: x[-1], "slice": lambda x: x[1:3], "slices": lambda x: x[:, 2:5], "step": lambda x: x[:, ::2],
    "step from 1": lambda x: x[1::2, 1:], "slice last": lambda x: x[..., 1:], "None": lambda x: x[None, :, 1],
    "tensor": lambda x: x[INDEX], "slice and tensor": lambda x: x[1:, INDEX], "cat": lambda x: torch.cat([x, x * 2]),
    "cat 1": lambda x: torch.cat([x, x, x], 1), "cat last": lambda x: torch.cat([x, x * 3], -1),
    "stack": lambda x: torch.stack([x, x * 2]), "stack 1": lambda x: torch.stack([x, x], 1),
    "unbind": lambda x: torch.stack(list(x.unbind(1))[::2]), "expand": lambda x: x.expand(2, *x.shape),
    "pairs": lambda x: x[INDEX, INDEX], "table": lambda x: x[INDEX.unsqueeze(1), INDEX],
    "table first": lambda x: x[INDEX.view(2, 2)], "negative pairs": lambda x: x[-INDEX - 1, INDEX - 2],
    "mask of rows": lambda x: x[torch.tensor([True, False, True, False])],
    "mask": lambda x: x[random_sparse().to_dense() > 0], "list": lambda x: x[[0, 2]],
    "int and tensor": lambda x: x[1, INDEX],
    "apart": lambda x: x[INDEX, :, INDEX % 2], "last": lambda x: x[..., INDEX % 2], "None and pairs": lambda x: x[
        None, INDEX, :, INDEX % 2], "slice and pairs": lambda x: x[:, INDEX, INDEX % 2], "Ellipsis": lambda x: x[...],
    "flatten": lambda x: x.flatten(0, 1), "unflatten": lambda x: x.unflatten(0, (2, 2)),
    "reshape": lambda x: x.reshape(20, *x.shape[2:]), "reshape -1": lambda x: x.reshape(2, 2, -1, *x.shape[2:]),
    "view": lambda x: x.view(2, 2, *x.shape[1:]), "ravel": lambda x: x.flatten(0, 1).unsqueeze(0).flatten(0, 1),
    "chunk": lambda x: torch.cat(x.chunk(2, 1)[::-1], 1), "split": lambda x: x.split([1, 3])[1],
    "hstack": lambda x: torch.hstack([x, x]), "vstack": lambda x: torch.vstack([x, x]),
    "movedim": lambda x: x.movedim(0, 1), "diff": lambda x: x.diff(dim=1),
    "broadcast_to": lambda x: x[:1].broadcast_to(x.shape), "atleast_3d": lambda x: torch.atleast_3d(x),
    "swapaxes": lambda x: x.swapaxes(0, 1), "tensor_split": lambda x: x.tensor_split(3)[0],
    "expand ones": lambda x: x.unsqueeze(0).expand(3, *[-1] * x.dim()),
}


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("coalesced", (False, True))
@pytest.mark.parametrize("kind", ("plain", "hybrid"))
def test_as_dense_tensors(name, coalesced, kind):
    x = PLAIN if kind == "plain" else HYBRID
    if coalesced:
        x = x.coalesce()
    got, want = EVERY[name](x), EVERY[name](x.to_dense())
    assert got.shape == want.shape
    same(got, want)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("kind", ("plain", "hybrid"))
def test_gradients(name, kind):
    x = PLAIN if kind == "plain" else HYBRID
    indices, values = x._indices(), x._values()
    check_gradients(lambda v: EVERY[name](torch.sparse_coo_tensor(indices, v, x.shape)), values, second=False)


def test_selecting_the_last_sparse_dimension_gives_a_dense_tensor():
    x = random_sparse((6,), (2,), 8)
    assert x[3].layout is torch.strided and x[3].shape == (2,)
    same(x[int(x._indices()[0, 0])], x.to_dense()[int(x._indices()[0, 0])])


def test_parts_of_dense_dimensions_transpose_too():
    x = HYBRID
    same(x.transpose(2, 3), x.to_dense().transpose(2, 3))
    same(x.permute(1, 0, 3, 2), x.to_dense().permute(1, 0, 3, 2))
    with pytest.raises(RuntimeError, match="transposed dimensions must be sparse Got sparse_dim: 2, d0: 0, d1: 2"):
        x.transpose(0, 2)
    with pytest.raises(RuntimeError, match="transpositions between sparse and dense dimensions"):
        x.permute(2, 0, 1, 3)


def test_t_and_in_place_forms():
    x = random_sparse()
    same(x.t(), x.to_dense().t())
    same(x.T, x.to_dense().T)
    for change in (lambda y: y.t_(), lambda y: y.transpose_(0, 1)):
        y = x.clone()
        assert change(y) is y and y.shape == (5, 4)
        same(y, x.to_dense().t())
    with pytest.raises(RuntimeError, match="<= 2"):
        PLAIN.t()


def test_coalesced_stays_known_where_order_is_kept():
    x = PLAIN.coalesce()
    for y in (x.narrow(0, 1, 2), x[:, :, 0].coalesce().index_select(0, INDEX), x.index_select(1, INDEX[:2]),
              x.unsqueeze(0), x[1], torch.cat([x, x]), x.expand(2, 4, 5, 3)):
        assert y.is_coalesced()
        check_parts(y)
    assert not x.transpose(0, 1).is_coalesced() and not x.index_select(1, INDEX).is_coalesced()


def test_index_select_in_a_dimension_too_long_to_list():
    x = torch.sparse_coo_tensor([[5, 10**15, 5]], [1.0, 2, 3], (2 * 10**15,))
    got = x.index_select(0, torch.tensor([10**15, 7, 5, 5]))
    assert got.to_dense().tolist() == [2, 0, 4, 4]


@pytest.mark.parametrize("error, message, call", (
    (IndexError, "out of range", lambda x: x.transpose(0, 3)),
    (IndexError, r"indexing tensors could not be broadcast together with shapes \[2\], \[3\]",
     lambda x: x[[0, 1], [0, 0, 0]]),
    (IndexError, "index_select.*contains 9.*out of range", lambda x: x.index_select(0, torch.tensor([9]))),
    (RuntimeError, "dtype", lambda x: x.index_select(0, torch.tensor([1.0]))),
    (IndexError, "vector", lambda x: x.index_select(0, torch.tensor([[1]]))),
    (IndexError, "out of", lambda x: x[7]),
    (IndexError, "index 7 out of range", lambda x: x.select(0, 7)),
    (RuntimeError, r"subset of range\(0, 4\)", lambda x: x.narrow_copy(0, 1, 4)),
    (RuntimeError, "dense tensor was found at position 1", lambda x: torch.cat([x, x.to_dense()])),
    (RuntimeError, "same shape", lambda x: torch.cat([x, random_sparse((4, 4, 3))])),
    (RuntimeError, "same sparse_dim", lambda x: torch.cat([x, random_sparse((4, 5), (3,))])),
    (RuntimeError, "must match the existing size", lambda x: x.expand(4, 6, 3)),
    (RuntimeError, "number of sizes", lambda x: x.expand(4, 6)),
    (RuntimeError, "duplicate", lambda x: x.permute(0, 0, 1)),
    (IndexError, "index 7 is out of bounds for dimension 1 with size 5", lambda x: x[INDEX, INDEX + 6]),
    (IndexError, "too many indices", lambda x: x[0, 0, 0, 0]),
    (IndexError, "mask", lambda x: x[torch.ones(3, dtype=torch.bool)]),
    (NotImplementedError, "reshape", lambda x: HYBRID.reshape(-1)),
    (RuntimeError, "invalid for input of size", lambda x: x.reshape(7)),
))
def test_refusals(error, message, call):
    with pytest.raises(error, match=message):
        call(PLAIN)


def test_narrow_copy_of_a_dense_tensor_is_a_copy():
    x = torch.arange(6.0).view(2, 3)
    y = x.narrow_copy(1, 0, 2)
    assert y.tolist() == [[0, 1], [3, 4]] and y.data_ptr() != x.data_ptr()
    check_gradients(lambda v: v.narrow_copy(0, 1, 1), random_values((2, 3)))


# ---------------------------------------------------------------- sizes in place

def test_resizing():
    x = random_sparse((2, 3), nnz=4)
    assert x.sparse_resize_((4, 5), 2, 0) is x and x.shape == (4, 5) and x._nnz() == 4
    assert x.resize_as_(torch.sparse_coo_tensor((6, 7))) is x and x.shape == (6, 7)
    hybrid = random_sparse((2,), (3,), 4)
    want = torch.zeros(2, 5, dtype=torch.float64)
    want[:, :3] = hybrid.to_dense()
    same(hybrid.sparse_resize_((2, 5), 1, 1), want)
    for size, dims, message in (((1, 7), (2, 0), "shrinking the size of sparse"),
                                ((6, 7, 1), (2, 1), "number of dense"), ((6, 7), (1, 1), "number of sparse"),
                                ((6, 7, 1), (2, 0), r"len\(size\) = 3")):
        with pytest.raises(RuntimeError, match=message):
            x.sparse_resize_(size, *dims)
    assert x.sparse_resize_and_clear_((4,), 1, 0) is x and x.shape == (4,) and x._nnz() == 0
    assert x.sparse_resize_((2, 2), 1, 1).dense_dim() == 1
    with pytest.raises(NotImplementedError):
        torch.zeros(2).sparse_resize_((4,), 1, 0)


def test_rows_of_an_embedding():
    x, places = random_sparse((4, 5), nnz=12), torch.tensor([[3, 1, 1], [0, 3, 2]])
    same(torch.nn.functional.embedding(places, x), x.to_dense()[places])


def test_the_index_method_indexes():
    x = random_sparse((4, 5), nnz=12)
    for index in (torch.tensor([2, 0, 2]), x.to_dense() > 0):
        same(x.index(index), x.to_dense()[index])
