"""The statements of the torch.einsum document (the page of 1.11), one test each."""

import pytest

pytestmark = pytest.mark.filterwarnings("ignore")  # deprecations of the later versions are theirs to give
DOCUMENTED = pytest.mark.eras("1.11", "modern")


def counting(torch, *shape):
    """0., 1., 2., ... in the given shape."""
    count = 1
    for size in shape:
        count *= size
    return torch.arange(float(count)).reshape(shape)


def same(a, b):
    return a.shape == b.shape and bool((a - b).abs().max() <= 1e-4)


# the examples' values -----------------------------------------------------------------------------------------------


@DOCUMENTED
def test_trace(torch):
    a = counting(torch, 4, 4)
    result = torch.einsum("ii", a)
    assert result.dim() == 0
    assert result.item() == torch.trace(a).item() == 30


@DOCUMENTED
def test_diagonal(torch):
    assert torch.einsum("ii->i", counting(torch, 4, 4)).tolist() == [0, 5, 10, 15]


@DOCUMENTED
def test_outer_product(torch):
    product = torch.einsum("i,j->ij", torch.tensor([1., 2., 3.]), torch.tensor([4., 5.]))
    assert product.tolist() == [[4, 5], [8, 10], [12, 15]]


@DOCUMENTED
def test_batch_matrix_multiplication(torch):
    a, b = counting(torch, 3, 2, 5), counting(torch, 3, 5, 4)
    assert same(torch.einsum("bij,bjk->bik", a, b), torch.bmm(a, b))


@DOCUMENTED
def test_sublist_format_and_ellipsis(torch):
    a, b = counting(torch, 3, 2, 5), counting(torch, 3, 5, 4)
    assert same(torch.einsum(a, [..., 0, 1], b, [..., 1, 2], [..., 0, 2]), torch.bmm(a, b))


@DOCUMENTED
def test_batch_permute(torch):
    a = counting(torch, 2, 3, 4, 5)
    assert same(torch.einsum("...ij->...ji", a), a.transpose(2, 3))


@DOCUMENTED
def test_bilinear(torch):
    a, left, right = counting(torch, 3, 5, 4) / 10, counting(torch, 2, 5) / 10, counting(torch, 2, 4) / 10
    assert same(torch.einsum("bn,anm,bm->ba", left, a, right), torch.nn.functional.bilinear(left, right, a))


# the equation -------------------------------------------------------------------------------------------------------


@pytest.mark.eras("0.4", "1.0", "1.1", "1.11", "modern")
def test_matrix_multiplication(torch):
    a, b = torch.tensor([[0., 1., 2.], [3., 4., 5.]]), torch.tensor([[1., 2.], [3., 4.], [5., 6.]])
    assert torch.einsum("ij,jk->ik", (a, b)).tolist() == [[13, 16], [40, 52]]


@DOCUMENTED
def test_operands_come_in_the_order_of_the_subscripts(torch):
    a, b = counting(torch, 2, 3), counting(torch, 3, 4)
    assert same(torch.einsum("ij,jk->ik", a, b), a @ b)
    assert same(torch.einsum("jk,ij->ik", b, a), a @ b)


@DOCUMENTED
def test_capital_and_small_letters_are_different_subscripts(torch):
    a = counting(torch, 2, 3)
    assert same(torch.einsum("iI->Ii", a), a.t())
    assert same(torch.einsum("zZ,ZY->zY", a, counting(torch, 3, 4)), a @ counting(torch, 3, 4))


@DOCUMENTED
def test_same_subscripts_broadcast_when_a_size_is_one(torch):
    a = counting(torch, 2, 3)
    assert same(torch.einsum("ij,ij->ij", a, torch.full((1, 3), 2.0)), a * 2)
    assert same(torch.einsum("ij,ij->ij", a, torch.full((2, 1), 2.0)), a * 2)


@DOCUMENTED
def test_same_subscripts_of_other_sizes_are_refused(torch):
    with pytest.raises(RuntimeError, match="einsum.*not broadcast"):
        torch.einsum("ij,jk->ik", counting(torch, 2, 3), counting(torch, 2, 3))


@pytest.mark.eras("modern")
def test_refusal_names_subscript_operand_and_sizes(torch):
    with pytest.raises(RuntimeError) as error:
        torch.einsum("ij,jk->ik", counting(torch, 2, 3), counting(torch, 2, 3))
    assert str(error.value) == (
        "einsum(): subscript j has size 2 for operand 1 which does not broadcast with previously seen size 3 "
        "(operand 0)")


@DOCUMENTED
def test_repeated_subscript_of_one_operand_takes_its_diagonal(torch):
    a = counting(torch, 3, 2, 3)
    assert same(torch.einsum("iji->ij", a), torch.stack([a[0, :, 0], a[1, :, 1], a[2, :, 2]]))


@DOCUMENTED
@pytest.mark.parametrize("first", [1, 2])
def test_repeated_subscript_of_one_operand_wants_equal_sizes_even_with_one(torch, first):
    with pytest.raises(RuntimeError) as error:
        torch.einsum("ii", counting(torch, first, 3))
    assert str(error.value) == (
        f"einsum(): subscript i is repeated for operand 0 but the sizes don't match, 3 != {first}")


@DOCUMENTED
def test_implicit_output_holds_the_subscripts_that_appear_once_in_alphabetical_order(torch):
    a, b = counting(torch, 2, 3), counting(torch, 3, 4)
    assert same(torch.einsum("ij,jk", a, b), a @ b)
    assert same(torch.einsum("kj,ji", a, b), (a @ b).t())
    assert same(torch.einsum("ba", a), a.t())
    assert same(torch.einsum("Ba", a), a)
    assert same(torch.einsum("bA,Aa", a, b), (a @ b).t())


@DOCUMENTED
def test_subscripts_left_out_of_the_output_are_summed(torch):
    a = counting(torch, 2, 3)
    assert torch.einsum("ij->j", a).tolist() == [3, 5, 7]
    assert torch.einsum("ij->i", a).tolist() == [3, 12]
    assert torch.einsum("ij->", a).item() == 15


@DOCUMENTED
def test_explicit_output_transposes_the_product(torch):
    a, b = counting(torch, 2, 3), counting(torch, 3, 4)
    assert same(torch.einsum("ij,jk->ki", a, b), (a @ b).t())


@DOCUMENTED
def test_output_subscripts_must_appear_in_the_input(torch):
    with pytest.raises(RuntimeError) as error:
        torch.einsum("ij->ik", counting(torch, 2, 3))
    assert str(error.value) == "einsum(): output subscript k does not appear in the equation for any input operand"


@DOCUMENTED
def test_output_subscripts_appear_at_most_once(torch):
    with pytest.raises(RuntimeError) as error:
        torch.einsum("ij->ii", counting(torch, 2, 3))
    assert str(error.value) == "einsum(): output subscript i appears more than once in the output"


# the ellipsis -------------------------------------------------------------------------------------------------------


@DOCUMENTED
def test_ellipsis_covers_the_dimensions_without_subscripts(torch):
    a = counting(torch, 2, 3, 4, 5, 6)
    assert same(torch.einsum("ab...c->c...ab", a), a.permute(4, 2, 3, 0, 1))


@DOCUMENTED
def test_ellipsis_may_cover_nothing(torch):
    a = counting(torch, 2, 3, 4)
    assert same(torch.einsum("ab...c->abc...", a), a)


@DOCUMENTED
def test_an_operand_has_at_most_one_ellipsis(torch):
    with pytest.raises(RuntimeError) as error:
        torch.einsum("...i...->i", counting(torch, 2, 3))
    assert str(error.value) == "einsum(): found '.' for operand 0 for which an ellipsis was already found"


@DOCUMENTED
def test_shapes_under_the_ellipsis_broadcast_and_may_differ_in_length(torch):
    a, b = counting(torch, 2, 3, 4), counting(torch, 3, 4)
    assert same(torch.einsum("...i,...i->...i", a, b), a * b)
    assert same(torch.einsum("...i,...i->...", a, counting(torch, 1, 4)), (a * counting(torch, 1, 4)).sum(-1))


@DOCUMENTED
def test_ellipsis_comes_first_in_an_implicit_output(torch):
    a, b = counting(torch, 5, 2, 3), counting(torch, 5, 3, 4)
    assert same(torch.einsum("...ij,...jk", a, b), a @ b)
    assert same(torch.einsum("i...", counting(torch, 2, 3)), counting(torch, 2, 3).t())


@DOCUMENTED
def test_ellipsis_left_out_of_the_output_is_summed(torch):
    a = counting(torch, 2, 3, 4)
    assert same(torch.einsum("...i->i", a), a.sum((0, 1)))


# spelling -----------------------------------------------------------------------------------------------------------


@DOCUMENTED
def test_spaces_are_allowed_between_the_elements(torch):
    a, b = counting(torch, 2, 3), counting(torch, 3, 4)
    assert same(torch.einsum(" i j , j k -> i k ", a, b), a @ b)


@DOCUMENTED
@pytest.mark.parametrize("equation", [". ..ij", "..ij"])
def test_a_broken_ellipsis_is_refused(torch, equation):
    with pytest.raises(RuntimeError) as error:
        torch.einsum(equation, counting(torch, 2, 3))
    assert str(error.value) == "einsum(): found '.' for operand 0 that is not part of any ellipsis"


@DOCUMENTED
def test_empty_equation_is_valid_for_scalars(torch):
    assert torch.einsum("", torch.tensor(3.0)).item() == 3
    assert torch.einsum(",", torch.tensor(3.0), torch.tensor(4.0)).item() == 12


@DOCUMENTED
def test_subscripts_are_letters(torch):
    with pytest.raises(RuntimeError) as error:
        torch.einsum("i1->i", counting(torch, 2, 3))
    assert str(error.value) == (
        "einsum(): invalid subscript given at index 1 in the equation string, subscripts must be in [a-zA-Z]")


@DOCUMENTED
@pytest.mark.parametrize("equation, count", [("ijk", 3), ("i", 1)])
def test_every_dimension_has_a_subscript(torch, equation, count):
    with pytest.raises(RuntimeError) as error:
        torch.einsum(equation, counting(torch, 2, 3))
    assert str(error.value) == (
        f"einsum(): the number of subscripts in the equation ({count}) does not match the number of dimensions (2) "
        "for operand 0 and no ellipsis was given")


@DOCUMENTED
def test_there_are_as_many_operands_as_the_equation_says(torch):
    a = counting(torch, 2, 3)
    with pytest.raises(RuntimeError, match="fewer operands were provided than specified in the equation"):
        torch.einsum("ij,jk->ik", a)
    with pytest.raises(RuntimeError, match="more operands were provided than specified in the equation"):
        torch.einsum("ij->i", a, a)


# sublists -----------------------------------------------------------------------------------------------------------


@DOCUMENTED
def test_sublists_without_an_output_follow_the_implicit_rule(torch):
    a, b = counting(torch, 2, 3), counting(torch, 3, 4)
    assert same(torch.einsum(a, [0, 1], b, [1, 2]), a @ b)


@DOCUMENTED
def test_sublists_are_numbers_from_0(torch):
    a, b = counting(torch, 2, 3), counting(torch, 3, 4)
    for label in (51, 52, 10**6):      # the document stops at 51, for want of letters
        assert same(torch.einsum(a, [0, label], b, [label, 2], [2, 0]), (a @ b).t())
    with pytest.raises(ValueError, match="not within the valid range"):
        torch.einsum(a, [0, -1])


@DOCUMENTED
def test_ellipsis_object_in_a_sublist_broadcasts(torch):
    a, b = counting(torch, 5, 2, 3), counting(torch, 3, 4)
    assert same(torch.einsum(a, [..., 0, 1], b, [1, 2], [..., 2, 0]), (a @ b).transpose(1, 2))


# gradients ----------------------------------------------------------------------------------------------------------


@pytest.mark.eras("0.4", "1.0", "1.1", "1.11", "modern")
def test_gradients_of_a_product(torch):
    a = torch.tensor([[0., 1., 2.], [3., 4., 5.]], requires_grad=True)
    b = torch.tensor([[1., 2.], [3., 4.], [5., 6.]], requires_grad=True)
    torch.einsum("ij,jk->ik", (a, b)).sum().backward()
    assert a.grad.tolist() == [[3, 7, 11], [3, 7, 11]]
    assert b.grad.tolist() == [[3, 3], [5, 5], [7, 7]]


@DOCUMENTED
def test_gradients_of_a_trace_stay_on_the_diagonal(torch):
    a = counting(torch, 3, 3).requires_grad_(True)
    torch.einsum("ii", a).backward()
    assert a.grad.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
