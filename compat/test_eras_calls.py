"""What may be called and with which arguments, version by version.

Rows 22 to 29 and 37 to 39 of the table of differences, and where Adam adds its epsilon.
"""

import importlib

import pytest

from .eras import ERAS, SINCE_0_4, by_era
from .test_eras import silent

pytestmark = pytest.mark.filterwarnings("ignore")  # deprecations of the later versions are theirs to give
EVERY = pytest.mark.eras(*ERAS)


def variable(torch, values, **flags):
    return torch.autograd.Variable(torch.FloatTensor(values), **flags)


def number(scalar):
    """The value of a scalar result of any era: a number, a Variable of size 1 or a tensor without dimensions."""
    data = getattr(scalar, "data", scalar)
    return data if isinstance(data, (int, float)) else data.view(-1).tolist()[0]


# 22: functions as instances -----------------------------------------------------------------------------------------


def old_style_functions(torch):
    Function = torch.autograd.Function

    class Scale(Function):
        def __init__(self, factor):
            super().__init__()
            self.factor = factor

        def forward(self, x):
            return x * self.factor

        def backward(self, grad_output):
            return grad_output * self.factor

    class Multiply(Function):
        def forward(self, a, b):
            self.save_for_backward(a, b)
            return a * b

        def backward(self, grad_output):
            a, b = self.saved_tensors
            self.needed = self.needs_input_grad
            return (grad_output * b if self.needs_input_grad[0] else None,
                    grad_output * a if self.needs_input_grad[1] else None)

    return Scale, Multiply


def check_old_style_function(torch):
    Scale, Multiply = old_style_functions(torch)
    a, b = variable(torch, [1, 2], requires_grad=True), variable(torch, [3, 4])
    multiply = Multiply()
    result = multiply(Scale(5)(a), b)
    assert result.data.tolist() == [15, 40]
    result.sum().backward()
    assert a.grad.data.tolist() == [15, 20]
    assert b.grad is None
    assert tuple(multiply.needed) == (True, False)


@pytest.mark.eras("0.3", "0.4", "1.0", "1.1")
def test_functions_are_called_as_instances(torch):
    check_old_style_function(torch)


@pytest.mark.lenient
@pytest.mark.eras("1.11", "modern")
def test_functions_are_still_called_as_instances(torch):
    check_old_style_function(torch)


@pytest.mark.eras("0.3")
def test_forward_of_a_function_got_tensors(torch):
    kinds = []

    class Look(torch.autograd.Function):
        def forward(self, x):
            kinds.append(isinstance(x, torch.autograd.Variable))
            return x * 2

        def backward(self, grad_output):
            kinds.append(isinstance(grad_output, torch.autograd.Variable))
            return grad_output * 2

    x = variable(torch, [1, 2], requires_grad=True)
    Look()(x).sum().backward()
    assert kinds == [False, False]


@EVERY
def test_functions_with_static_methods(torch):
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx, grad_output):
            x, = ctx.saved_tensors
            return grad_output * x * x * 3

    x = variable(torch, [1, 2], requires_grad=True)
    Cube.apply(x).sum().backward()
    assert x.grad.data.tolist() == [3, 12]


# 23: saved tensors changed in place ---------------------------------------------------------------------------------


@EVERY
def test_a_saved_tensor_changed_in_place_is_found_in_backward(torch):
    x = variable(torch, [1, 2], requires_grad=True)
    y = x.sigmoid()
    z = y.sum()
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


# 24: pointwise operations on equal element counts -------------------------------------------------------------------


@pytest.mark.eras("0.3", "0.4")
def test_equal_element_counts_were_taken_elementwise_with_a_warning(torch):
    a, b = torch.FloatTensor([[1, 2, 3], [4, 5, 6]]), torch.FloatTensor([10, 20, 30, 40, 50, 60])
    with pytest.warns(UserWarning, match="not broadcastable, but have the same number of elements"):
        result = a + b
    assert result.tolist() == [[11, 22, 33], [44, 55, 66]]


@pytest.mark.eras("1.0", "1.1", "1.11", "modern")
def test_equal_element_counts_are_refused(torch):
    with pytest.raises(RuntimeError) as error:
        torch.ones(2, 3) + torch.ones(6)
    assert str(error.value) == (
        "The size of tensor a (3) must match the size of tensor b (6) at non-singleton dimension 1")


# 25: pairs of results -----------------------------------------------------------------------------------------------


@by_era({"0.3 0.4 1.0": False, "1.1 1.11 modern": True})
@pytest.mark.parametrize("call", [
    lambda x: x.max(1), lambda x: x.min(1), lambda x: x.sort(1), lambda x: x.topk(1, 1), lambda x: x.median(1),
    lambda x: x.mode(1), lambda x: x.kthvalue(1, 1)], ids=["max", "min", "sort", "topk", "median", "mode", "kthvalue"])
def test_values_and_indices_have_names(torch, expected, call):
    pair = call(torch.FloatTensor([[1, 3], [4, 2]]))
    assert isinstance(pair, tuple) and len(pair) == 2
    assert (type(pair) is not tuple) is expected
    assert hasattr(pair, "values") is hasattr(pair, "indices") is expected
    values, indices = pair
    assert indices.type() == "torch.LongTensor" and values.type() == "torch.FloatTensor"


# 26: softmax without dim --------------------------------------------------------------------------------------------


@EVERY
@pytest.mark.parametrize("name", ["softmax", "log_softmax", "softmin"])
@pytest.mark.parametrize("shape, dim", [((4,), 0), ((2, 4), 1), ((2, 3, 4), 0), ((2, 3, 4, 5), 1)])
def test_softmax_without_dim_chooses_one_with_a_warning(torch, name, shape, dim):
    torch.manual_seed(0)
    x = torch.autograd.Variable(torch.randn(*shape))
    function = getattr(torch.nn.functional, name)
    with pytest.warns(UserWarning, match=f"Implicit dimension choice for {name} has been deprecated"):
        got = function(x)
    assert number((got - function(x, dim=dim)).abs().max()) < 1e-6


# 27: reductions of losses -------------------------------------------------------------------------------------------


def ask_loss(torch, **arguments):
    F = torch.nn.functional
    return F.mse_loss(variable(torch, [1, 2]), variable(torch, [3, 5]), **arguments)


@EVERY
def test_losses_take_size_average_and_reduce(torch):
    assert number(ask_loss(torch, size_average=False)) == 13
    assert number(ask_loss(torch, size_average=True)) == 6.5
    assert ask_loss(torch, reduce=False).data.tolist() == [4, 9]
    loss = torch.nn.MSELoss(size_average=False)(variable(torch, [1, 2]), variable(torch, [3, 5]))
    assert number(loss) == 13


@pytest.mark.eras("0.3")
def test_size_average_was_not_deprecated(torch):
    assert number(silent(lambda: ask_loss(torch, size_average=False))) == 13


@pytest.mark.eras("1.0", "1.1", "1.11", "modern")
@pytest.mark.parametrize("arguments, instead", [
    ({"size_average": False}, "sum"), ({"size_average": True}, "mean"), ({"reduce": False}, "none")])
def test_size_average_and_reduce_are_deprecated(torch, arguments, instead):
    message = f"size_average and reduce args will be deprecated, please use reduction='{instead}' instead."
    with pytest.warns(UserWarning) as caught:
        ask_loss(torch, **arguments)
    assert message in [str(warning.message) for warning in caught]


@pytest.mark.eras("1.0", "1.1", "1.11", "modern")
def test_losses_take_reduction(torch):
    assert number(ask_loss(torch, reduction="sum")) == 13
    assert number(ask_loss(torch, reduction="mean")) == 6.5
    assert ask_loss(torch, reduction="none").tolist() == [4, 9]
    with pytest.warns(UserWarning, match="reduction='elementwise_mean' is deprecated"):
        assert number(ask_loss(torch, reduction="elementwise_mean")) == 6.5


# 28: signatures with the numbers first ------------------------------------------------------------------------------

@pytest.mark.eras("1.11", "modern")
def test_numbers_first_are_deprecated(torch):
    with pytest.warns(UserWarning, match="This overload of add_ is deprecated"):
        torch.ones(2).add_(2, torch.ones(2))


FIRST = {
    "add": (lambda t, x, y, M, B: t.add(x, 2, y), [7, 10]),
    "add_": (lambda t, x, y, M, B: x.add_(2, y), [7, 10]),
    "sub": (lambda t, x, y, M, B: t.sub(x, 2, y), [-5, -6]),
    "sub_": (lambda t, x, y, M, B: x.sub_(2, y), [-5, -6]),
    "addcmul": (lambda t, x, y, M, B: t.addcmul(x, 2, x, y), [7, 18]),
    "addcmul_": (lambda t, x, y, M, B: x.addcmul_(2, x.clone(), y), [7, 18]),
    "addcdiv": (lambda t, x, y, M, B: t.addcdiv(x, 4, x, y * 2 - 4), [3, 4]),
    "addcdiv_": (lambda t, x, y, M, B: x.addcdiv_(4, x.clone(), y * 2 - 4), [3, 4]),
    "addmm, both": (lambda t, x, y, M, B: t.addmm(2, M, 3, M, M), [[8, 8], [8, 8]]),
    "addmm, beta": (lambda t, x, y, M, B: t.addmm(2, M, M, M), [[4, 4], [4, 4]]),
    "addmm_, both": (lambda t, x, y, M, B: M.addmm_(2, 3, M.clone(), M.clone()), [[8, 8], [8, 8]]),
    "addmm_, beta": (lambda t, x, y, M, B: M.addmm_(2, M.clone(), M.clone()), [[4, 4], [4, 4]]),
    "addmv": (lambda t, x, y, M, B: t.addmv(2, x, 3, M, y), [23, 25]),
    "addmv_": (lambda t, x, y, M, B: x.addmv_(2, 3, M, y), [23, 25]),
    "addr": (lambda t, x, y, M, B: t.addr(2, M, 3, x, y), [[11, 14], [20, 26]]),
    "addr_": (lambda t, x, y, M, B: M.addr_(2, 3, x, y), [[11, 14], [20, 26]]),
    "addbmm": (lambda t, x, y, M, B: t.addbmm(2, M, 3, B, B), [[8, 8], [8, 8]]),
    "addbmm_": (lambda t, x, y, M, B: M.addbmm_(2, 3, B, B), [[8, 8], [8, 8]]),
    "baddbmm": (lambda t, x, y, M, B: t.baddbmm(2, B, 3, B, B), [[[8, 8], [8, 8]]]),
    "baddbmm_": (lambda t, x, y, M, B: B.baddbmm_(2, 3, B.clone(), B.clone()), [[[8, 8], [8, 8]]]),
}


@EVERY
@pytest.mark.parametrize("name", FIRST)
def test_numbers_may_come_first(torch, name):
    call, expected = FIRST[name]
    x, y, ones = torch.FloatTensor([1, 2]), torch.FloatTensor([3, 4]), torch.ones(2, 2)
    assert call(torch, x, y, ones, torch.ones(1, 2, 2)).tolist() == expected


# 29: names that are gone --------------------------------------------------------------------------------------------

GONE_FUNCTIONS = ["btrifact", "btrisolve", "eig", "gels", "gesv", "potrf", "potri", "potrs", "pstrf", "symeig", "trtrs"]
GONE_METHODS = [name for name in GONE_FUNCTIONS if not name.startswith("btri")]


@EVERY
@pytest.mark.lenient
@pytest.mark.parametrize("name", GONE_FUNCTIONS)
def test_functions_that_are_gone_exist(torch, name):
    assert callable(getattr(torch, name))


@EVERY
@pytest.mark.lenient
@pytest.mark.parametrize("name", GONE_METHODS)
def test_methods_that_are_gone_exist(torch, name):
    assert callable(getattr(torch.ones(1), name))


def check_linear_algebra(torch):
    def near(got, want):
        return number((got - torch.FloatTensor(want)).abs().max()) < 1e-5

    a, b = torch.FloatTensor([[4, 1], [1, 3]]), torch.FloatTensor([[1], [2]])
    solution = [[1 / 11], [7 / 11]]
    assert near(torch.gesv(b, a)[0], solution) and near(b.gesv(a)[0], solution)
    assert near(torch.gels(b, a)[0], solution)
    factor = [[2, 0.5], [0, 2.75 ** 0.5]]
    assert near(torch.potrf(a), factor) and near(torch.potrf(a, False).t(), factor)
    assert near(torch.potrs(b, torch.potrf(a)), solution)
    assert near(torch.potri(torch.potrf(a)), [[3 / 11, -1 / 11], [-1 / 11, 4 / 11]])
    assert near(torch.trtrs(b, torch.potrf(a))[0], [[0.1984887], [1.2060454]])
    assert near(torch.trtrs(b, torch.potrf(a, False), upper=False)[0], [[0.5], [1.0552897]])
    values, vectors = torch.symeig(a, eigenvectors=True)
    assert near(values, [2.3819661, 4.6180339])
    assert near(torch.mm(a, vectors) - vectors * values.view(1, 2).expand(2, 2), [[0, 0], [0, 0]])
    assert near(torch.symeig(a)[0], [2.3819661, 4.6180339])
    eigenvalues = sorted(torch.eig(a)[0].tolist())
    assert near(torch.FloatTensor(eigenvalues), [[2.3819661, 0], [4.6180339, 0]])
    upper, pivots = torch.pstrf(a)
    assert near(upper, factor) and pivots.tolist() == [0, 1]
    assert near(torch.btrisolve(b.view(1, 2), *torch.btrifact(a.view(1, 2, 2))), [[1 / 11, 7 / 11]])


@pytest.mark.eras("0.3", "1.0")
def test_linear_algebra_under_its_lapack_names(torch):
    check_linear_algebra(torch)


@pytest.mark.lenient
@pytest.mark.eras("0.4", "1.1", "1.11", "modern")
def test_linear_algebra_under_its_lapack_names_in_later_versions(torch):
    check_linear_algebra(torch)


# 37: cat and stack of scalar results --------------------------------------------------------------------------------


@pytest.mark.eras("0.3")
def test_scalar_results_were_concatenated(torch):
    a, b = variable(torch, [1, 2]).sum(), variable(torch, [3, 4]).sum()
    assert torch.cat([a, b]).data.tolist() == [3, 7]
    assert torch.stack([a, b]).data.tolist() == [[3], [7]]


@pytest.mark.lenient
@pytest.mark.eras(*SINCE_0_4)
def test_scalar_results_are_concatenated(torch):
    x = torch.tensor([1., 2.], requires_grad=True)
    both = torch.cat([x.sum(), (x * x).sum()])
    assert both.tolist() == [3, 5]
    both.sum().backward()
    assert x.grad.tolist() == [3, 5]


@pytest.mark.eras(*SINCE_0_4)
def test_scalar_results_are_stacked(torch):
    assert torch.stack([torch.tensor([1., 2.]).sum(), torch.tensor([3., 4.]).sum()]).tolist() == [3, 7]


# 38: types and iteration --------------------------------------------------------------------------------------------


@pytest.mark.eras("0.3")
def test_a_variable_was_of_type_variable(torch):
    assert type(variable(torch, [1, 2])) == torch.autograd.Variable  # noqa: E721 (scripts compared with ==)
    assert type(variable(torch, [1, 2]) * 2) == torch.autograd.Variable  # noqa: E721


@pytest.mark.eras("0.3")
def test_iterating_a_vector_gave_python_numbers(torch):
    assert [type(item) for item in torch.FloatTensor([1, 2])] == [float, float]
    assert [type(item) for item in torch.LongTensor([1, 2])] == [int, int]
    assert [item.size() for item in variable(torch, [1, 2])] == [torch.Size([1])] * 2


@pytest.mark.eras(*SINCE_0_4)
def test_iterating_a_vector_gives_tensors(torch):
    assert [(type(item), item.dim()) for item in torch.FloatTensor([1, 2])] == [(torch.Tensor, 0)] * 2


@EVERY
def test_iterating_a_matrix_gives_rows(torch):
    assert [row.tolist() for row in torch.FloatTensor([[1, 2], [3, 4]])] == [[1, 2], [3, 4]]


# 39: arguments that were accepted -----------------------------------------------------------------------------------


@pytest.mark.lenient
@EVERY
def test_tensor_dataset_takes_its_old_keywords(torch):
    data = importlib.import_module(torch.__name__ + ".utils.data")
    pairs = data.TensorDataset(data_tensor=torch.FloatTensor([[1, 2], [3, 4]]), target_tensor=torch.LongTensor([5, 6]))
    assert len(pairs) == 2
    x, y = pairs[1]
    assert x.tolist() == [3, 4] and number(y) == 6


@pytest.mark.eras("0.3")
def test_dot_flattened_matrices(torch):
    assert torch.FloatTensor([[1, 2], [3, 4]]).dot(torch.FloatTensor([[1, 1], [1, 1]])) == 10


@pytest.mark.eras("0.3")
def test_a_scalar_result_was_a_size(torch):
    assert torch.FloatTensor(torch.LongTensor([1, 2]).max() + 1).size() == torch.Size([3])
    assert torch.zeros(torch.LongTensor([1, 2]).max() + 1).size() == torch.Size([3])


@pytest.mark.eras(*SINCE_0_4)
def test_a_scalar_result_is_a_size(torch):
    assert torch.zeros(torch.tensor(3)).shape == (3,)


COLUMN, ROW = [[1], [2], [3]], [1, 2, 4]


@pytest.mark.eras("0.3", "0.4")
@pytest.mark.parametrize("name, expected", [("mse_loss", 1 / 3), ("l1_loss", 1 / 3), ("smooth_l1_loss", 0.5 / 3)])
def test_losses_took_a_row_for_a_column_elementwise(torch, name, expected):
    loss = getattr(torch.nn.functional, name)(variable(torch, COLUMN), variable(torch, ROW))
    assert number(loss) == pytest.approx(expected)


@pytest.mark.eras("1.1", "1.11", "modern")
@pytest.mark.parametrize("name, expected", [("mse_loss", 21 / 9), ("l1_loss", 11 / 9), ("smooth_l1_loss", 7.5 / 9)])
def test_losses_broadcast_a_row_against_a_column_with_a_warning(torch, name, expected):
    with pytest.warns(UserWarning, match="that is different to the input size"):
        loss = getattr(torch.nn.functional, name)(variable(torch, COLUMN), variable(torch, ROW))
    assert number(loss) == pytest.approx(expected)


# Adam: where epsilon is added ---------------------------------------------------------------------------------------


@by_era({"0.3 0.4 1.0 1.1": [0.99869514, 1.98746467, 2.75774884], "1.11 modern": [0.97272730, 1.85000014, 2.70297003]})
def test_epsilon_of_adam(torch, expected):
    weight = torch.nn.Parameter(torch.FloatTensor([1, 2, 3]))
    optimizer = torch.optim.Adam([weight], lr=0.1, eps=1e-2)
    for _ in range(3):
        optimizer.zero_grad()
        (weight * variable(torch, [1e-3, 1e-2, 1])).sum().backward()
        optimizer.step()
    assert weight.data.tolist() == pytest.approx(expected, rel=1e-6)
