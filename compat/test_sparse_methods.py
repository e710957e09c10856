"""The methods that the torch.sparse document lists, one test each, under the names that it gives them."""

import pytest

from .sparse_examples import dense, duplicated, example

pytestmark = pytest.mark.filterwarnings("ignore")  # deprecations of the later versions are theirs to give
OLD_AND_NEW = pytest.mark.eras("0.3", "1.0", "1.1", "1.11", "modern")


@OLD_AND_NEW
def test_add(torch):
    assert dense(example(torch).add(example(torch))) == [[0, 0, 6], [8, 0, 10]]
    assert dense(example(torch).add(2, example(torch))) == [[0, 0, 9], [12, 0, 15]]


@OLD_AND_NEW
def test_add_in_place(torch):
    s = example(torch)
    assert s.add_(example(torch)) is s
    assert dense(s) == [[0, 0, 6], [8, 0, 10]]
    s.add_(-1, example(torch))
    assert dense(s) == [[0, 0, 3], [4, 0, 5]]


@OLD_AND_NEW
def test_a_sparse_tensor_is_added_to_a_dense_one(torch):
    assert dense(torch.ones(2, 3).add(example(torch))) == [[1, 1, 4], [5, 1, 6]]
    assert dense(torch.add(torch.ones(2, 3), 2, example(torch))) == [[1, 1, 7], [9, 1, 11]]
    d = torch.ones(2, 3)
    assert d.add_(0.5, example(torch)) is d
    assert dense(d) == [[1, 1, 2.5], [3, 1, 3.5]]


@OLD_AND_NEW
def test_clone(torch):
    s = example(torch)
    copy = s.clone()
    copy.mul_(2)
    assert dense(copy) == [[0, 0, 6], [8, 0, 10]]
    assert dense(s) == [[0, 0, 3], [4, 0, 5]]


@OLD_AND_NEW
def test_dim(torch):
    assert example(torch).dim() == 2
    assert torch.sparse.FloatTensor(torch.LongTensor([[2, 4]]), torch.FloatTensor([[1, 3], [5, 7]])).dim() == 2


@OLD_AND_NEW
def test_div(torch):
    s = example(torch)
    assert dense(s.div(2)) == [[0, 0, 1.5], [2, 0, 2.5]]
    assert dense(s) == [[0, 0, 3], [4, 0, 5]]


@OLD_AND_NEW
def test_div_in_place(torch):
    s = example(torch)
    assert s.div_(2) is s
    assert dense(s) == [[0, 0, 1.5], [2, 0, 2.5]]


@pytest.mark.eras("1.1", "1.11", "modern")
def test_get_device_of_a_cpu_tensor(torch):
    assert example(torch).get_device() == -1


@OLD_AND_NEW
def test_hspmm_function_gives_a_hybrid_matrix(torch):
    h = torch.hspmm(example(torch), torch.ones(3, 2))
    assert h.is_sparse
    assert h._indices().tolist() == [[0, 1]]
    assert h._values().tolist() == [[3, 3], [9, 9]]


@pytest.mark.lenient
@OLD_AND_NEW
def test_hspmm(torch):
    h = example(torch).hspmm(torch.ones(3, 2))
    assert h._indices().size() == torch.Size([1, 2])
    assert dense(h) == [[3, 3], [9, 9]]


@OLD_AND_NEW
def test_mm(torch):
    product = example(torch).mm(torch.FloatTensor([[1, 2], [3, 4], [5, 6]]))
    assert not product.is_sparse
    assert dense(product) == [[15, 18], [29, 38]]


@OLD_AND_NEW
def test_mul(torch):
    s = example(torch)
    assert dense(s.mul(2)) == [[0, 0, 6], [8, 0, 10]]
    assert dense(s.mul(example(torch))) == [[0, 0, 9], [16, 0, 25]]
    assert dense(s) == [[0, 0, 3], [4, 0, 5]]


@OLD_AND_NEW
def test_mul_in_place(torch):
    s = example(torch)
    assert s.mul_(2) is s
    assert dense(s) == [[0, 0, 6], [8, 0, 10]]


@pytest.mark.eras("1.0", "1.1", "1.11", "modern")
def test_narrow_copy(torch):
    s = example(torch)
    part = s.narrow_copy(1, 0, 2)
    assert part.is_sparse and part.size() == torch.Size([2, 2])
    assert dense(part) == [[0, 0], [4, 0]]
    part.mul_(10)
    assert dense(s) == [[0, 0, 3], [4, 0, 5]]


@pytest.mark.lenient
@OLD_AND_NEW
def test_resize_as_under_its_documented_name(torch):
    s = example(torch)
    larger = torch.sparse.FloatTensor(4, 5)
    assert s.resizeAs_(larger) is s
    assert s.size() == torch.Size([4, 5])


@OLD_AND_NEW
def test_resize_as(torch):
    s = example(torch)
    larger = torch.sparse.FloatTensor(torch.LongTensor([[3], [4]]), torch.FloatTensor([1]), torch.Size([4, 5]))
    s.resize_as_(larger)
    assert s.size() == torch.Size([4, 5])


@OLD_AND_NEW
def test_size(torch):
    assert example(torch).size() == torch.Size([2, 3])
    assert example(torch).size(1) == 3


@pytest.mark.lenient
@OLD_AND_NEW
def test_spadd(torch):
    assert dense(example(torch).spadd(duplicated(torch))) == [[0, 0, 6], [8, 0, 10]]


@OLD_AND_NEW
def test_spmm_function(torch):
    assert dense(torch.spmm(example(torch), torch.ones(3, 2))) == [[3, 3], [9, 9]]


@pytest.mark.lenient
@OLD_AND_NEW
def test_spmm(torch):
    product = example(torch).spmm(torch.ones(3, 2))
    assert not product.is_sparse
    assert dense(product) == [[3, 3], [9, 9]]


@OLD_AND_NEW
def test_sspaddmm(torch):
    m = torch.sparse.FloatTensor(torch.LongTensor([[0], [1]]), torch.FloatTensor([7]), torch.Size([2, 2]))
    result = m.sspaddmm(example(torch), torch.ones(3, 2))
    assert result.is_sparse
    assert dense(result) == [[3, 10], [9, 9]]
    assert dense(torch.sspaddmm(m, example(torch), torch.ones(3, 2))) == [[3, 10], [9, 9]]


@pytest.mark.lenient
@OLD_AND_NEW
def test_sspmm(torch):
    result = example(torch).sspmm(torch.ones(3, 2))
    assert result.is_sparse
    assert dense(result) == [[3, 3], [9, 9]]


@OLD_AND_NEW
def test_smm_function(torch):
    result = torch.smm(example(torch), torch.ones(3, 2))
    assert result.is_sparse
    assert dense(result) == [[3, 3], [9, 9]]


@OLD_AND_NEW
def test_sub(torch):
    assert dense(example(torch).sub(example(torch).mul(0.5))) == [[0, 0, 1.5], [2, 0, 2.5]]


@OLD_AND_NEW
def test_sub_in_place(torch):
    s = example(torch)
    assert s.sub_(example(torch).mul(0.5)) is s
    assert dense(s) == [[0, 0, 1.5], [2, 0, 2.5]]


@OLD_AND_NEW
def test_t_in_place(torch):
    s = example(torch)
    assert s.t_() is s
    assert s.size() == torch.Size([3, 2])
    assert dense(s) == [[0, 4], [0, 0], [3, 5]]


@pytest.mark.lenient
@OLD_AND_NEW
def test_to_dense_under_its_documented_name(torch):
    assert example(torch).toDense().tolist() == [[0, 0, 3], [4, 0, 5]]


@OLD_AND_NEW
def test_to_dense(torch):
    d = example(torch).to_dense()
    assert not d.is_sparse and d.type() == "torch.FloatTensor"
    assert d.tolist() == [[0, 0, 3], [4, 0, 5]]


@OLD_AND_NEW
def test_transpose(torch):
    s = example(torch)
    assert dense(s.transpose(0, 1)) == dense(s.t()) == [[0, 4], [0, 0], [3, 5]]
    assert s.size() == torch.Size([2, 3])


@OLD_AND_NEW
def test_transpose_in_place(torch):
    s = example(torch)
    assert s.transpose_(0, 1) is s
    assert dense(s) == [[0, 4], [0, 0], [3, 5]]


@OLD_AND_NEW
def test_zero_in_place(torch):
    s = example(torch)
    assert s.zero_() is s
    assert s.size() == torch.Size([2, 3])
    assert dense(s) == [[0, 0, 0], [0, 0, 0]]


@OLD_AND_NEW
def test_coalesce(torch):
    c = duplicated(torch).coalesce()
    assert c.is_coalesced()
    assert c._indices().tolist() == [[0, 1, 1], [2, 0, 2]]
    assert c._values().tolist() == [3, 4, 5]


@OLD_AND_NEW
def test_is_coalesced(torch):
    assert not example(torch).is_coalesced()
    assert example(torch).coalesce().is_coalesced()


@OLD_AND_NEW
def test_indices(torch):
    assert example(torch)._indices().tolist() == [[0, 1, 1], [2, 0, 2]]


@OLD_AND_NEW
def test_values(torch):
    assert example(torch)._values().tolist() == [3, 4, 5]


@OLD_AND_NEW
def test_nnz(torch):
    assert example(torch)._nnz() == 3
    assert duplicated(torch)._nnz() == 4
