"""The statements of the torch.sparse document (the page of 1.1, whose first examples are of 0.3), one test each."""

import pytest

from .sparse_examples import dense, duplicated, example

pytestmark = pytest.mark.filterwarnings("ignore")  # deprecations of the later versions are theirs to give
OLD_AND_NEW = pytest.mark.eras("0.3", "1.0", "1.1", "1.11", "modern")
FUNCTIONS = pytest.mark.eras("1.1", "1.11", "modern")


# construction -------------------------------------------------------------------------------------------------------


@OLD_AND_NEW
def test_indices_values_and_size_make_a_sparse_tensor(torch):
    s = example(torch)
    assert s.is_sparse
    assert s.size() == torch.Size([2, 3])
    assert dense(s) == [[0, 0, 3], [4, 0, 5]]


@OLD_AND_NEW
def test_indices_are_not_a_list_of_index_tuples(torch):
    pairs = torch.LongTensor([[0, 2], [1, 0], [1, 2]])
    v = torch.FloatTensor([3, 4, 5])
    assert dense(torch.sparse.FloatTensor(pairs.t(), v, torch.Size([2, 3]))) == [[0, 0, 3], [4, 0, 5]]
    with pytest.raises((RuntimeError, ValueError)):
        torch.sparse.FloatTensor(pairs, torch.FloatTensor([3, 4]), torch.Size([2, 3]))


@OLD_AND_NEW
def test_the_size_left_out_is_the_smallest_that_holds_the_indices(torch):
    i = torch.LongTensor([[2, 4]])
    assert torch.sparse.FloatTensor(i, torch.FloatTensor([[1, 3], [5, 7]])).size() == torch.Size([5, 2])


@OLD_AND_NEW
def test_hybrid_tensor_keeps_dense_rows(torch):
    s = torch.sparse.FloatTensor(torch.LongTensor([[2, 4]]), torch.FloatTensor([[1, 3], [5, 7]]))
    assert dense(s) == [[0, 0], [0, 0], [1, 3], [0, 0], [5, 7]]
    assert s._indices().size() == torch.Size([1, 2])
    assert s._values().size() == torch.Size([2, 2])


@OLD_AND_NEW
@pytest.mark.parametrize("as_size", [False, True])
def test_a_size_alone_makes_an_empty_sparse_tensor(torch, as_size):
    s = torch.sparse.FloatTensor(torch.Size([2, 3])) if as_size else torch.sparse.FloatTensor(2, 3)
    assert s.is_sparse and s._nnz() == 0
    assert s.size() == torch.Size([2, 3])
    assert dense(s) == [[0, 0, 0], [0, 0, 0]]


@OLD_AND_NEW
@pytest.mark.parametrize("kind", ["Byte", "Char", "Short", "Int", "Long", "Float", "Double"])
def test_there_is_a_sparse_class_for_every_dense_one(torch, kind):
    values = getattr(torch, kind + "Tensor")([1, 2])
    cls = getattr(torch.sparse, kind + "Tensor")
    s = cls(torch.LongTensor([[0, 1]]), values, torch.Size([3]))
    assert s.type() == "torch.sparse." + kind + "Tensor"
    assert isinstance(s, cls)
    assert dense(s) == [1, 2, 0]


@pytest.mark.eras("0.3", "1.0", "1.1", "1.11")
def test_an_index_beyond_the_size_is_an_error(torch):
    with pytest.raises((RuntimeError, IndexError, ValueError)):
        s = torch.sparse.FloatTensor(torch.LongTensor([[0, 5]]), torch.FloatTensor([1, 2]), torch.Size([3]))
        s.to_dense()


# invariants ---------------------------------------------------------------------------------------------------------

SHAPES = [([2, 3], 2), ([5, 2], 1), ([4, 3, 2], 2), ([4, 3, 2, 6], 3)]


@pytest.mark.parametrize("shape, sparse_dim", SHAPES)
@FUNCTIONS
def test_sparse_dim_and_dense_dim_add_up_to_the_length_of_the_shape(torch, shape, sparse_dim):
    s = torch.ones(shape).to_sparse(sparse_dim)
    assert s.sparse_dim() == sparse_dim
    assert s.sparse_dim() + s.dense_dim() == len(s.shape) == s.dim()


@pytest.mark.parametrize("shape, sparse_dim", SHAPES)
@FUNCTIONS
def test_indices_are_sparse_dim_by_nnz(torch, shape, sparse_dim):
    s = torch.ones(shape).to_sparse(sparse_dim)
    assert s._indices().shape == (s.sparse_dim(), s._nnz())


@pytest.mark.parametrize("shape, sparse_dim", SHAPES)
@FUNCTIONS
def test_values_are_nnz_by_the_dense_part_of_the_shape(torch, shape, sparse_dim):
    s = torch.ones(shape).to_sparse(sparse_dim)
    assert s._values().shape == (s._nnz(),) + tuple(s.shape[s.sparse_dim():])


@FUNCTIONS
def test_indices_have_two_dimensions_even_when_empty(torch):
    assert torch.sparse.FloatTensor(2, 3)._indices().dim() == 2
    assert torch.zeros(2, 3).to_sparse()._indices().shape == (2, 0)


# coalescing ---------------------------------------------------------------------------------------------------------


@OLD_AND_NEW
def test_duplicate_coordinates_mean_the_sum_of_their_values(torch):
    s = duplicated(torch)
    assert s._nnz() == 4
    assert not s.is_coalesced()
    assert dense(s) == dense(example(torch))


@OLD_AND_NEW
@pytest.mark.parametrize("operation", [
    lambda torch, s: s.to_dense(),
    lambda torch, s: s * 3,
    lambda torch, s: s / 2,
    lambda torch, s: s + s,
    lambda torch, s: s - s.mul(0.5),
    lambda torch, s: s * s,
    lambda torch, s: s.transpose(0, 1),
    lambda torch, s: torch.mm(s, torch.ones(3, 2)),
    lambda torch, s: torch.ones(2, 3) + s,
    lambda torch, s: s.clone(),
], ids=["to_dense", "mul", "div", "add", "sub", "mul-sparse", "transpose", "mm", "dense-add", "clone"])
def test_most_operations_do_not_care_whether_a_tensor_is_coalesced(torch, operation):
    assert dense(operation(torch, duplicated(torch))) == dense(operation(torch, duplicated(torch).coalesce()))


@OLD_AND_NEW
def test_coalescing_stops_repeated_additions_from_growing(torch):
    total = example(torch)
    for _ in range(5):
        total = (total + duplicated(torch)).coalesce()
        assert total._nnz() == 3
    assert dense(total) == [[0, 0, 18], [24, 0, 30]]


@OLD_AND_NEW
def test_underscored_accessors_tell_coalesced_from_uncoalesced(torch):
    s = duplicated(torch)
    assert s._values().tolist() == [3, 2, 4, 3]
    assert s._indices().tolist() == [[0, 1, 1, 1], [2, 2, 0, 2]]
    c = s.coalesce()
    assert c._values().tolist() == [3, 4, 5]
    assert c._indices().tolist() == [[0, 1, 1], [2, 0, 2]]


@pytest.mark.eras("1.0", "1.1", "1.11", "modern")
def test_public_accessors_want_a_coalesced_tensor(torch):
    for part in ("values", "indices"):
        with pytest.raises(RuntimeError) as error:
            getattr(duplicated(torch), part)()
        assert str(error.value) == f"Cannot get {part} on an uncoalesced tensor, please call .coalesce() first"
    assert duplicated(torch).coalesce().values().tolist() == [3, 4, 5]


@OLD_AND_NEW
def test_sparse_mask_takes_the_places_of_a_coalesced_mask(torch):
    picked = torch.FloatTensor([[1, 2, 3], [4, 5, 6]]).sparse_mask(example(torch).coalesce())
    assert dense(picked) == [[0, 0, 3], [4, 0, 6]]


@OLD_AND_NEW
def test_scaling_the_raw_values_scales_the_tensor(torch):
    s = duplicated(torch)
    scaled = torch.sparse.FloatTensor(s._indices(), s._values() * 2, s.size())
    assert dense(scaled) == dense(s * 2)


@OLD_AND_NEW
def test_a_square_root_of_the_raw_values_is_right_only_when_coalesced(torch):
    def root(s):
        return torch.sparse.FloatTensor(s._indices(), s._values().sqrt(), s.size()).to_dense()

    truth = example(torch).to_dense().sqrt()
    assert (root(duplicated(torch).coalesce()) - truth).abs().max() < 1e-6
    assert (root(duplicated(torch)) - truth).abs().max() > 0.5


# torch.sparse.addmm -------------------------------------------------------------------------------------------------


def trainable(torch, s):
    return s.coalesce().requires_grad_(True)


def has_coalesced_entries(s):
    """Sorted without duplicates; PyTorch does not always set the flag that says so."""
    return s.is_sparse and s._indices().tolist() == s.coalesce()._indices().tolist()


@FUNCTIONS
def test_sparse_addmm_does_in_forward_what_addmm_does(torch):
    m, b = torch.tensor([[1., 2.], [3., 4.]]), torch.tensor([[1., 2.], [3., 4.], [5., 6.]])
    result = torch.sparse.addmm(m, example(torch), b, beta=2, alpha=3)
    assert result.tolist() == [[47, 58], [93, 122]]
    assert result.tolist() == torch.addmm(m, example(torch).to_dense(), b, beta=2, alpha=3).tolist()


@FUNCTIONS
def test_sparse_addmm_has_beta_and_alpha_of_one(torch):
    assert torch.sparse.addmm(torch.ones(2, 2), example(torch), torch.ones(3, 2)).tolist() == [[4, 4], [10, 10]]


@FUNCTIONS
def test_sparse_addmm_supports_backward_for_the_sparse_matrix(torch):
    s = trainable(torch, example(torch))
    m, b = torch.ones(2, 2, requires_grad=True), torch.tensor([[1., 2.], [3., 4.], [5., 6.]], requires_grad=True)
    torch.sparse.addmm(m, s, b, beta=2, alpha=3).sum().backward()
    assert has_coalesced_entries(s.grad)
    assert s.grad.to_dense().tolist() == [[0, 0, 33], [9, 0, 33]]
    assert m.grad.tolist() == [[2, 2], [2, 2]]
    assert b.grad.tolist() == [[12, 12], [0, 0], [24, 24]]


# torch.sparse.mm ----------------------------------------------------------------------------------------------------


@FUNCTIONS
def test_sparse_mm_gives_a_dense_n_by_p_matrix(torch):
    y = torch.sparse.mm(example(torch), torch.tensor([[1., 2., 0., 1.], [3., 4., 0., 1.], [5., 6., 0., 1.]]))
    assert not y.is_sparse and y.shape == (2, 4)
    assert y.tolist() == [[15, 18, 0, 3], [29, 38, 0, 9]]


@FUNCTIONS
def test_sparse_mm_wants_a_matrix(torch):
    with pytest.raises((RuntimeError, ValueError)):
        torch.sparse.mm(torch.ones(2, 3, 4).to_sparse(), torch.ones(4, 2))
    with pytest.raises((RuntimeError, ValueError)):
        torch.sparse.mm(example(torch), torch.ones(2, 2))


@FUNCTIONS
def test_sparse_mm_supports_backward_for_both_matrices(torch):
    s = trainable(torch, example(torch))
    b = torch.tensor([[1., 2.], [3., 4.], [5., 6.]], requires_grad=True)
    torch.sparse.mm(s, b).sum().backward()
    assert has_coalesced_entries(s.grad)
    assert s.grad._indices().tolist() == [[0, 1, 1], [2, 0, 2]]
    assert s.grad._values().tolist() == [11, 3, 11]
    assert b.grad.tolist() == [[4, 4], [0, 0], [8, 8]]


# torch.sparse.sum ---------------------------------------------------------------------------------------------------


def hybrid(torch):
    """Size (5, 5, 2, 3), three entries, the values 1 to 18 in order."""
    values = torch.arange(1., 19.).reshape(3, 2, 3)
    return torch.sparse_coo_tensor(torch.tensor([[2, 0, 3], [2, 4, 1]]), values, (5, 5, 2, 3))


@FUNCTIONS
def test_sum_over_some_sparse_dims_is_sparse(torch):
    total = torch.sparse.sum(hybrid(torch), [1, 3])
    assert total.is_sparse and total.shape == (5, 2)
    assert total.to_dense().tolist() == [[24, 33], [0, 0], [6, 15], [42, 51], [0, 0]]


@FUNCTIONS
def test_sum_over_all_sparse_dims_is_dense_with_summed_dims_squeezed(torch):
    total = torch.sparse.sum(hybrid(torch), [0, 1, 3])
    assert not total.is_sparse
    assert total.tolist() == [72, 99]


@FUNCTIONS
def test_sum_over_one_dim(torch):
    total = torch.sparse.sum(hybrid(torch), 0)
    assert total.is_sparse and total.shape == (5, 2, 3)
    assert total.to_dense().tolist() == hybrid(torch).to_dense().sum(0).tolist()


@FUNCTIONS
def test_sum_over_all_dims_by_default(torch):
    total = torch.sparse.sum(hybrid(torch))
    assert not total.is_sparse and total.dim() == 0
    assert total.item() == 171


@FUNCTIONS
def test_sum_with_a_dtype(torch):
    assert torch.sparse.sum(hybrid(torch)).dtype == torch.float32
    assert torch.sparse.sum(hybrid(torch), dtype=torch.float64).dtype == torch.float64
    assert torch.sparse.sum(hybrid(torch), [1, 3], dtype=torch.float64).dtype == torch.float64


@FUNCTIONS
@pytest.mark.parametrize("dim", [None, [0, 1, 3], [1, 3], [0, 1]], ids=["all", "sparse", "some", "dense-result"])
def test_gradients_of_sum_propagate_at_the_entries_alone_and_are_coalesced(torch, dim):
    s = hybrid(torch).coalesce().requires_grad_(True)
    total = torch.sparse.sum(s) if dim is None else torch.sparse.sum(s, dim)
    (torch.sparse.sum(total) if total.is_sparse else total.sum()).backward()
    assert has_coalesced_entries(s.grad)
    assert s.grad._indices().tolist() == s.detach()._indices().tolist()
    assert s.grad._values().tolist() == torch.ones(3, 2, 3).tolist()
