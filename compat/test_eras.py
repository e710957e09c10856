"""What a tensor is and how its arithmetic goes, version by version (rows 1 to 14 of the table of differences)."""

import warnings

import pytest

from .eras import ERAS, SINCE_0_4, by_era

pytestmark = pytest.mark.filterwarnings("ignore")  # deprecations of the later versions are theirs to give
EVERY = pytest.mark.eras(*ERAS)
LATER = pytest.mark.eras(*SINCE_0_4)


def silent(call):
    """The result of `call`, which must not warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return call()


def mask(torch):
    """The comparison result [1, 0]."""
    return torch.FloatTensor([1, -1]) > 0


# 1: Tensor and Variable ---------------------------------------------------------------------------------------------


@pytest.mark.eras("0.3")
@pytest.mark.parametrize("reduce", ["sum", "mean", "max", "min", "prod", "std", "var", "norm"])
def test_reductions_of_a_tensor_were_python_numbers(torch, reduce):
    assert type(getattr(torch.FloatTensor([1, 2, 4]), reduce)()) is float
    assert type(getattr(torch, reduce)(torch.FloatTensor([1, 2, 4]))) is float


@pytest.mark.eras("0.3")
def test_reductions_of_an_integer_tensor_were_python_integers(torch):
    for reduce in ("sum", "max", "min", "prod"):
        assert type(getattr(torch.LongTensor([1, 2, 4]), reduce)()) is int


@pytest.mark.eras("0.3")
def test_full_indexing_of_a_tensor_gave_a_python_number(torch):
    assert type(torch.FloatTensor([1, 2])[0]) is float
    assert type(torch.FloatTensor([[1, 2]])[0, 1]) is float
    assert type(torch.FloatTensor([[1, 2]])[0][1]) is float
    assert type(torch.LongTensor([1, 2])[0]) is int
    assert type(torch.FloatTensor([1, 2]).dot(torch.FloatTensor([3, 4]))) is float


@pytest.mark.eras("0.3")
def test_reductions_of_a_variable_had_size_one(torch):
    v = torch.autograd.Variable(torch.FloatTensor([1, 2, 4]))
    for scalar in (v.sum(), v.mean(), v.max(), v.norm(), v[0], v.dot(v), torch.sum(v)):
        assert type(scalar) is torch.autograd.Variable
        assert scalar.size() == torch.Size([1])


@pytest.mark.eras("0.3")
def test_tensor_and_variable_were_two_types(torch):
    x = torch.FloatTensor([1, 2])
    v = torch.autograd.Variable(x)
    assert type(v) is not type(x)
    assert isinstance(v, torch.autograd.Variable) and not isinstance(x, torch.autograd.Variable)
    assert torch.is_tensor(x) and not torch.is_tensor(v)
    assert isinstance(v.data, torch.FloatTensor) and not isinstance(v.data, torch.autograd.Variable)


@pytest.mark.eras("0.3")
def test_an_operation_on_a_variable_gave_a_variable(torch):
    v = torch.autograd.Variable(torch.FloatTensor([[1, 2], [3, 4]]))
    for result in (v + v, v * 2, 2 - v, v.t(), v[0], v > 1, torch.cat([v, v]), v.max(1)[0], v.max(1)[1]):
        assert type(result) is torch.autograd.Variable
    x = torch.FloatTensor([[1, 2], [3, 4]])
    for result in (x + x, x * 2, 2 - x, x.t(), x[0], x > 1, torch.cat([x, x]), x.max(1)[0]):
        assert not isinstance(result, torch.autograd.Variable)


@pytest.mark.eras("0.3")
def test_data_of_a_variable_shared_its_memory(torch):
    x = torch.FloatTensor([1, 2])
    v = torch.autograd.Variable(x)
    v.data[0] = 5
    assert x.tolist() == [5, 2]
    assert v.data.data_ptr() == x.data_ptr()


@pytest.mark.eras("0.3")
def test_gradients_were_variables(torch):
    v = torch.autograd.Variable(torch.FloatTensor([1, 2]), requires_grad=True)
    v.sum().backward()
    assert type(v.grad) is torch.autograd.Variable
    assert v.grad.data.tolist() == [1, 1]


@LATER
def test_scalar_results_have_no_dimension(torch):
    x = torch.tensor([1., 2.])
    for scalar in (x.sum(), x.max(), x[0], x.dot(x)):
        assert torch.is_tensor(scalar) and scalar.dim() == 0
    assert x.sum().item() == 3


@LATER
def test_variable_returns_a_tensor(torch):
    x = torch.tensor([1., 2.])
    v = torch.autograd.Variable(x, requires_grad=True)
    assert torch.is_tensor(v) and v.requires_grad
    assert isinstance(x, torch.autograd.Variable) and type(v.data) is torch.Tensor


# 2: loss.data[0] ----------------------------------------------------------------------------------------------------


@pytest.mark.eras("0.3")
def test_data_0_of_a_loss_was_a_python_number(torch):
    v = torch.autograd.Variable(torch.FloatTensor([1, 2]), requires_grad=True)
    value = silent(lambda: (v * v).sum().data[0])
    assert type(value) is float and value == 5


@pytest.mark.lenient
@LATER
def test_data_0_of_a_loss_warns_and_gives_the_value(torch):
    loss = torch.tensor([1., 2.], requires_grad=True).sum()
    with pytest.warns(UserWarning, match="invalid index of a 0-dim tensor"):
        value = loss.data[0]
    assert float(value) == 3


# 3: volatile --------------------------------------------------------------------------------------------------------


@LATER
def test_volatile_is_accepted_without_effect_and_with_a_warning(torch):
    with pytest.warns(UserWarning, match="volatile was removed and now has no effect"):
        v = torch.autograd.Variable(torch.tensor([1., 2.]), volatile=True)
    result = v * torch.ones(2, requires_grad=True)
    assert result.tolist() == [1, 2] and result.requires_grad
    with pytest.warns(UserWarning, match="volatile was removed"):
        assert v.volatile is False


# 4 to 7: masks ------------------------------------------------------------------------------------------------------

BYTE_UNTIL_1_1 = by_era({"0.3 0.4 1.0 1.1": "torch.ByteTensor", "1.11 modern": "torch.BoolTensor"})


@BYTE_UNTIL_1_1
def test_type_of_a_comparison(torch, expected):
    x = torch.FloatTensor([1, 2])
    for result in (x > 1, x >= 1, x < 1, x <= 1, x == 1, x != 1, x.eq(x), torch.ne(x, x)):
        assert result.type() == expected


@pytest.mark.eras("0.3")
def test_comparison_of_a_variable_was_a_byte_variable(torch):
    v = torch.autograd.Variable(torch.FloatTensor([1, 2]))
    assert (v > 1).data.type() == "torch.ByteTensor"


@pytest.mark.eras("0.3", "0.4", "1.0", "1.1")
def test_arithmetic_on_masks_was_that_of_bytes(torch):
    m = mask(torch)
    assert (1 - m).tolist() == [0, 1]
    assert (m + m).tolist() == [2, 0]
    assert (m * 2).tolist() == [2, 0]
    assert (-m).tolist() == [255, 0]


@by_era({"0.3 0.4 1.0 1.1": [0, 1], "1.11 modern": [False, True]})
def test_inversion_of_a_mask_is_logical(torch, expected):
    assert (~mask(torch)).tolist() == expected


@by_era({"0.3 0.4 1.0 1.1": [0, 1], "1.11 modern": [254, 255]})
def test_inversion_of_bytes(torch, expected):
    assert (~torch.ByteTensor([1, 0])).tolist() == expected


@pytest.mark.eras("1.11", "modern")
def test_bool_refuses_minus(torch):
    m = mask(torch)
    invert = " is not supported. If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."
    for call, message in [
        (lambda: 1 - m, "Subtraction, the `-` operator, with a bool tensor" + invert),
        (lambda: -m, "Negation, the `-` operator, on a bool tensor" + invert),
        (lambda: m - m, "Subtraction, the `-` operator, with two bool tensors is not supported. "
                        "Use the `^` or `logical_xor()` operator instead."),
    ]:
        with pytest.raises(RuntimeError) as error:
            call()
        assert str(error.value) == message
    assert (m + m).tolist() == [True, False] and (m * 2).tolist() == [2, 0]


@pytest.mark.eras("0.3", "0.4", "1.0", "1.1")
def test_a_byte_mask_indexes_silently(torch):
    x, m = torch.FloatTensor([1, 2]), torch.ByteTensor([1, 0])
    assert silent(lambda: x[m]).tolist() == [1]
    assert silent(lambda: x.masked_select(m)).tolist() == [1]
    assert silent(lambda: x.clone().masked_fill_(m, 9)).tolist() == [9, 2]
    x[m] = 3
    assert x.tolist() == [3, 2]


@pytest.mark.eras("1.11", "modern")
def test_a_byte_mask_indexes_with_a_warning(torch):
    with pytest.warns(UserWarning, match="indexing with dtype torch.uint8 is now deprecated"):
        assert torch.tensor([1., 2.])[torch.ByteTensor([1, 0])].tolist() == [1]


@pytest.mark.parametrize("name, arguments, result", [
    ("masked_fill_", (9.0,), [9, 2]), ("masked_select", (), [1]), ("masked_scatter_", ([3.0, 4.0],), [3, 2])])
@pytest.mark.eras("1.11")
def test_masked_operations_take_bytes_with_a_warning(torch, name, arguments, result):
    check_masked_with_bytes(torch, name, arguments, result)


@pytest.mark.lenient
@pytest.mark.parametrize("name, arguments, result", [
    ("masked_fill_", (9.0,), [9, 2]), ("masked_select", (), [1]), ("masked_scatter_", ([3.0, 4.0],), [3, 2])])
@pytest.mark.eras("modern")
def test_masked_operations_still_take_bytes(torch, name, arguments, result):
    check_masked_with_bytes(torch, name, arguments, result)


def check_masked_with_bytes(torch, name, arguments, result):
    arguments = [torch.tensor(a) if isinstance(a, list) else a for a in arguments]
    with pytest.warns(UserWarning, match=name + " received a mask with dtype torch.uint8, this behavior is now deprec"):
        got = getattr(torch.tensor([1., 2.]), name)(torch.ByteTensor([1, 0]), *arguments)
    assert got.tolist() == result


@pytest.mark.eras("0.3")
def test_sum_of_bytes_was_an_integer_or_wrapped(torch):
    many = torch.ones(300).byte()
    total = many.sum()
    assert type(total) is int and total == 300
    wrapped = torch.autograd.Variable(many).sum()
    assert wrapped.data.type() == "torch.ByteTensor" and wrapped.data[0] == 300 % 256


@LATER
def test_sum_of_bytes_is_a_long(torch):
    total = torch.ones(300).byte().sum()
    assert total.type() == "torch.LongTensor" and total.item() == 300


# 8 and 9: division --------------------------------------------------------------------------------------------------


@by_era({"0.3 0.4 1.0 1.1": [3, -3], "1.11 modern": [3.5, -3.5]})
def test_division_of_integers(torch, expected):
    x = torch.LongTensor([7, -7])
    for result in (x / 2, x / torch.LongTensor([2, 2]), x.div(2), torch.div(x, 2)):
        assert result.tolist() == expected


@EVERY
def test_division_of_floats(torch):
    assert (torch.FloatTensor([7, -7]) / 2).tolist() == [3.5, -3.5]


@by_era({"0.3 0.4 1.0 1.1": [3, -3], "modern": [3, -4]})
def test_floor_division(torch, expected):
    assert silent(lambda: torch.LongTensor([7, -7]) // 2).tolist() == expected
    assert silent(lambda: torch.FloatTensor([7, -7]) // 2).tolist() == expected


@pytest.mark.eras("1.11")
def test_floor_division_truncates_with_a_warning(torch):
    with pytest.warns(UserWarning, match="__floordiv__ is deprecated"):
        assert (torch.LongTensor([7, -7]) // 2).tolist() == [3, -3]


@by_era({"0.3 0.4 1.0 1.1": [3, -3]})
def test_division_of_integers_in_place(torch, expected):
    x = torch.LongTensor([7, -7])
    x /= 2
    assert x.tolist() == x.type("torch.LongTensor").tolist() == expected


@pytest.mark.eras("1.11", "modern")
def test_true_division_of_integers_in_place_is_refused(torch):
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        torch.LongTensor([7, -7]).div_(2)


# 10 and 11: types of what is made -----------------------------------------------------------------------------------


@by_era({"0.3 0.4": "torch.FloatTensor", "1.0 1.1 1.11 modern": "torch.LongTensor"})
def test_arange_of_integers(torch, expected):
    assert torch.arange(5).type() == expected
    assert torch.arange(1, 5).type() == expected
    assert torch.arange(0, 5, 2).tolist() == [0, 2, 4]


@EVERY
def test_arange_of_floats(torch):
    assert torch.arange(0, 1, 0.25).type() == "torch.FloatTensor"
    assert torch.arange(0, 1, 0.25).tolist() == [0, 0.25, 0.5, 0.75]


@EVERY
def test_range_is_of_floats_and_holds_its_end(torch):
    assert torch.range(0, 4).type() == "torch.FloatTensor"
    assert torch.range(0, 4).tolist() == [0, 1, 2, 3, 4]


@by_era({"0.3 0.4 1.0 1.1": "torch.FloatTensor", "1.11 modern": "torch.LongTensor"})
def test_full_of_an_integer(torch, expected):
    assert torch.full((2,), 3).type() == expected


# 12: mixed types ----------------------------------------------------------------------------------------------------


@by_era({
    "0.3": "",
    "0.4 1.0": "expected type torch.FloatTensor but got torch.LongTensor",
    "1.1": "expected backend CPU and dtype Float but got backend CPU and dtype Long",
})
def test_mixed_types_were_refused(torch, expected):
    x, k = torch.FloatTensor([1, 2]), torch.LongTensor([7, -7])
    for call in (lambda: x + k, lambda: x * k, lambda: x.add_(k)):
        with pytest.raises((RuntimeError, TypeError), match=expected):
            call()


@pytest.mark.eras("1.11", "modern")
def test_mixed_types_are_promoted(torch):
    x, k = torch.FloatTensor([1, 2]), torch.LongTensor([7, -7])
    assert (x + k).type() == (k * x).type() == "torch.FloatTensor"
    assert (k + 1.5).tolist() == [8.5, -5.5]
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        k.add_(x)


@by_era({"1.0 1.1": [8, -6], "1.11 modern": [8.5, -5.5]})
def test_integers_and_a_python_float(torch, expected):
    assert (torch.LongTensor([7, -7]) + 1.5).tolist() == expected


# 13 and 14: printing ------------------------------------------------------------------------------------------------


@pytest.mark.eras("0.3")
@pytest.mark.parametrize("make, text", [
    (lambda torch: torch.FloatTensor([[1, 2], [3, 4]]), "\n 1  2\n 3  4\n[torch.FloatTensor of size 2x2]\n"),
    (lambda torch: torch.FloatTensor([1.5, -2]), "\n 1.5000\n-2.0000\n[torch.FloatTensor of size 2]\n"),
    (lambda torch: torch.LongTensor([10, -200]), "\n  10\n-200\n[torch.LongTensor of size 2]\n"),
    (lambda torch: torch.DoubleTensor([[0.25]]), "\n 0.2500\n[torch.DoubleTensor of size 1x1]\n"),
    (lambda torch: torch.FloatTensor(), "[torch.FloatTensor with no dimension]\n"),
    (lambda torch: torch.FloatTensor([[[1, 2]], [[3, 4]]]),
     "\n(0 ,.,.) = \n  1  2\n\n(1 ,.,.) = \n  3  4\n[torch.FloatTensor of size 2x1x2]\n"),
    (lambda torch: torch.FloatTensor([0.00025, 0.0005]),
     "\n1.00000e-04 *\n  2.5000\n  5.0000\n[torch.FloatTensor of size 2]\n"),
    (lambda torch: torch.FloatTensor([1e5, 0.5]), "\n 1.0000e+05\n 5.0000e-01\n[torch.FloatTensor of size 2]\n"),
    (lambda torch: torch.FloatTensor([1, float("inf")]), "\n  1\ninf\n[torch.FloatTensor of size 2]\n"),
], ids=["matrix", "vector", "integers", "double", "empty", "3d", "scaled", "exponents", "inf"])
def test_a_tensor_was_printed_as_rows_and_its_type(torch, make, text):
    assert repr(make(torch)) == str(make(torch)) == text


@pytest.mark.eras("0.3")
def test_a_variable_was_printed_with_its_heading(torch):
    v = torch.autograd.Variable(torch.FloatTensor([[1, 2, 3], [4, 5, 6]]))
    assert repr(v) == "Variable containing:\n 1  2  3\n 4  5  6\n[torch.FloatTensor of size 2x3]\n"
    assert str(v.sum()) == "Variable containing:\n 21\n[torch.FloatTensor of size 1]\n"


@pytest.mark.eras("0.3")
def test_a_sparse_tensor_was_printed_as_indices_and_values(torch):
    s = torch.sparse.FloatTensor(torch.LongTensor([[0, 1], [2, 0]]), torch.FloatTensor([3, 4]), torch.Size([2, 3]))
    assert repr(s) == (
        "SparseFloatTensor of size 2x3 with indices:\n\n 0  1\n 2  0\n[torch.LongTensor of size 2x2]\n"
        "and values:\n\n 3\n 4\n[torch.FloatTensor of size 2]\n")


@pytest.mark.eras("1.0", "1.1", "1.11", "modern")
@pytest.mark.parametrize("make, text", [
    (lambda torch: torch.ones(2, 3), "tensor([[1., 1., 1.],\n        [1., 1., 1.]])"),
    (lambda torch: torch.LongTensor([7, -7]), "tensor([ 7, -7])"),
    (lambda torch: torch.tensor(3.0), "tensor(3.)"),
    (lambda torch: torch.DoubleTensor([1, 2]), "tensor([1., 2.], dtype=torch.float64)"),
    (lambda torch: torch.Tensor(), "tensor([])"),
    (lambda torch: torch.ones(2, requires_grad=True), "tensor([1., 1.], requires_grad=True)"),
    (lambda torch: torch.ByteTensor([1, 0]), "tensor([1, 0], dtype=torch.uint8)"),
], ids=["matrix", "integers", "scalar", "double", "empty", "leaf", "bytes"])
def test_a_tensor_is_printed_as_an_expression(torch, make, text):
    assert repr(make(torch)) == str(make(torch)) == text


@pytest.mark.eras("0.4")
@pytest.mark.parametrize("make, text", [
    (lambda torch: torch.ones(2, 3), "tensor([[ 1.,  1.,  1.],\n        [ 1.,  1.,  1.]])"),
    (lambda torch: torch.LongTensor([7, -7]), "tensor([ 7, -7])"),
    (lambda torch: torch.tensor(3.0), "tensor(3.)"),
    (lambda torch: torch.DoubleTensor([1, 2]), "tensor([ 1.,  2.], dtype=torch.float64)"),
    (lambda torch: torch.ones(2, requires_grad=True), "tensor([ 1.,  1.])"),
], ids=["matrix", "integers", "scalar", "double", "leaf"])
def test_a_tensor_was_printed_as_an_expression_with_room_for_a_sign(torch, make, text):
    assert repr(make(torch)) == str(make(torch)) == text


@by_era({"1.0 1.1 1.11 modern": "tensor([2., 2.], grad_fn=<MulBackward0>)"})
def test_a_result_is_printed_with_its_grad_fn(torch, expected):
    assert repr(torch.ones(2, requires_grad=True) * 2) == expected


@by_era({
    "0.4": "tensor([ 1,  0], dtype=torch.uint8)",
    "1.0 1.1": "tensor([1, 0], dtype=torch.uint8)",
    "1.11 modern": "tensor([ True, False])",
})
def test_a_mask_is_printed(torch, expected):
    assert repr(mask(torch)) == expected


@pytest.mark.eras("1.0", "1.1", "1.11", "modern")
def test_a_sparse_tensor_is_printed_as_an_expression(torch):
    s = torch.sparse_coo_tensor([[0, 1], [2, 0]], [3., 4.], (2, 3))
    assert repr(s) == (
        "tensor(indices=tensor([[0, 1],\n                       [2, 0]]),\n"
        "       values=tensor([3., 4.]),\n       size=(2, 3), nnz=2, layout=torch.sparse_coo)")


@EVERY
def test_a_size_prints_as_torch_size(torch):
    assert str(torch.ones(2, 3).size()) == repr(torch.ones(2, 3).size()) == "torch.Size([2, 3])"
    assert str(torch.ones(2, 3).sum(0).size()) == "torch.Size([3])"
