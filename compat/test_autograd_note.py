"""The statements of the note on autograd mechanics (0.3, with Variable and volatile), one test each.

Statements that stayed true are tested in later eras too.
"""

import pytest

from .eras import ERAS

pytestmark = pytest.mark.filterwarnings("ignore")  # deprecations of the later versions are theirs to give
NOTE = pytest.mark.eras("0.3")
EVER_SINCE = pytest.mark.eras(*ERAS)
SAVED_WAS_CHANGED = "one of the variables needed for gradient computation has been modified by an inplace operation"


def variable(torch, values, **flags):
    return torch.autograd.Variable(torch.FloatTensor(values), **flags)


def small_net(torch):
    """Stands for the pretrained network of the note: a base and a last layer named `fc`."""
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.base = nn.Sequential(nn.Linear(4, 5), nn.ReLU())
            self.fc = nn.Linear(5, 3)

        def forward(self, x):
            return self.fc(self.base(x))

    return Net()


# requires_grad ------------------------------------------------------------------------------------------------------


@EVER_SINCE
def test_one_input_that_requires_grad_is_enough_for_the_output(torch):
    x, z = variable(torch, [1, 2]), variable(torch, [3, 4], requires_grad=True)
    assert (x + z).requires_grad and (z + x).requires_grad
    assert torch.cat([x, x, z]).requires_grad


@EVER_SINCE
def test_output_does_not_require_grad_when_no_input_does(torch):
    x, y = variable(torch, [1, 2]), variable(torch, [3, 4])
    assert not (x + y).requires_grad
    assert (x + y).grad_fn is None


@EVER_SINCE
def test_backward_is_not_performed_where_no_variable_requires_grad(torch):
    x, y, z = variable(torch, [1, 2]), variable(torch, [3, 4]), variable(torch, [5, 6], requires_grad=True)
    ((x * y) * z).sum().backward()
    assert z.grad.data.tolist() == [3, 8]
    assert x.grad is None and y.grad is None


@EVER_SINCE
def test_parameters_of_new_modules_require_grad(torch):
    assert all(p.requires_grad for p in torch.nn.Linear(8, 100).parameters())


@EVER_SINCE
def test_freezing_a_base_trains_the_classifier_alone(torch):
    torch.manual_seed(0)               # of all random bases, some give zeros
    model = small_net(torch)
    for param in model.parameters():
        param.requires_grad = False
    model.fc = torch.nn.Linear(5, 2)
    optimizer = torch.optim.SGD(model.fc.parameters(), lr=1e-2, momentum=0.9)
    base_before = [p.data.tolist() for p in model.base.parameters()]
    fc_before = model.fc.weight.data.tolist()

    x = variable(torch, [[1, 2, 3, 4], [4, 3, 2, 1]])
    assert not model.base(x).requires_grad and model.base(x).grad_fn is None
    output = model(x)
    assert output.requires_grad
    output.sum().backward()
    optimizer.step()

    assert all(p.grad is None for p in model.base.parameters())
    assert [p.data.tolist() for p in model.base.parameters()] == base_before
    assert model.fc.weight.data.tolist() != fc_before


@EVER_SINCE
def test_an_optimizer_takes_a_list_with_frozen_parameters_and_leaves_them_alone(torch):
    frozen, free = variable(torch, [1, 2]), variable(torch, [3, 4], requires_grad=True)
    optimizer = torch.optim.SGD([free], lr=1.0)
    (frozen * free).sum().backward()
    optimizer.step()
    assert free.data.tolist() == [2, 2] and frozen.data.tolist() == [1, 2]


# volatile -----------------------------------------------------------------------------------------------------------


@NOTE
def test_every_variable_has_two_flags(torch):
    x = variable(torch, [1, 2])
    assert x.requires_grad is False and x.volatile is False
    assert variable(torch, [1, 2], requires_grad=True).requires_grad is True
    assert variable(torch, [1, 2], volatile=True).volatile is True


@NOTE
def test_volatile_determines_that_requires_grad_is_false(torch):
    x, z = variable(torch, [1, 2], volatile=True), variable(torch, [3, 4], requires_grad=True)
    assert x.requires_grad is False
    assert (x * z).requires_grad is False


@NOTE
def test_a_single_volatile_leaf_makes_the_output_volatile(torch):
    x, y = variable(torch, [1, 2], volatile=True), variable(torch, [3, 4])
    z = variable(torch, [5, 6], requires_grad=True)
    assert (x + y).volatile and (y + x).volatile and (x * z).volatile
    assert torch.cat([y, z, x]).volatile
    assert ((x * z).sum() + y).volatile


@NOTE
def test_output_is_not_volatile_without_a_volatile_leaf(torch):
    assert (variable(torch, [1, 2]) + variable(torch, [3, 4])).volatile is False
    assert (variable(torch, [1, 2]) + variable(torch, [3, 4], requires_grad=True)).volatile is False


@NOTE
def test_volatile_inference_needs_no_change_of_the_parameters(torch):
    model = small_net(torch)
    output = model(variable(torch, [[1, 2, 3, 4]], volatile=True))
    assert output.volatile and not output.requires_grad
    assert all(p.requires_grad and not p.volatile for p in model.parameters())
    assert model(variable(torch, [[1, 2, 3, 4]])).requires_grad


@NOTE
def test_volatile_keeps_no_history(torch):
    x, z = variable(torch, [1, 2], volatile=True), variable(torch, [3, 4], requires_grad=True)
    result = (x * z).sum()
    assert result.grad_fn is None
    with pytest.raises(RuntimeError):
        result.backward()
    assert z.grad is None


@NOTE
def test_volatile_gives_the_same_numbers(torch):
    model = small_net(torch)
    values = [[1, 2, 3, 4], [0, -1, 2, 5]]
    assert model(variable(torch, values, volatile=True)).data.tolist() == model(variable(torch, values)).data.tolist()


@NOTE
def test_volatile_can_be_set_on_a_leaf(torch):
    x = variable(torch, [1, 2])
    x.volatile = True
    assert (x * 2).volatile
    x.volatile = False
    assert not (x * 2).volatile


# history ------------------------------------------------------------------------------------------------------------


@EVER_SINCE
def test_leaves_are_inputs_and_roots_have_a_grad_fn(torch):
    x = variable(torch, [1, 2], requires_grad=True)
    y = (x * x).sum()
    assert x.grad_fn is None and x.is_leaf
    assert y.grad_fn is not None and not y.is_leaf


@EVER_SINCE
def test_the_graph_can_be_traced_from_root_to_leaves(torch):
    x = variable(torch, [1, 2], requires_grad=True)
    node, seen = ((x * 3) + 1).sum().grad_fn, []
    while node is not None:
        seen.append(type(node).__name__)
        node = next((parent for parent, _ in node.next_functions if parent is not None), None)
    assert len(seen) >= 4
    assert seen[-1] == "AccumulateGrad"


@EVER_SINCE
def test_gradients_follow_the_chain_rule(torch):
    x = variable(torch, [1, 2, 3], requires_grad=True)
    ((x * x + 1) * x).sum().backward()
    assert x.grad.data.tolist() == [4, 13, 28]


@EVER_SINCE
def test_control_flow_may_change_the_graph_at_every_iteration(torch):
    x = variable(torch, [2.0], requires_grad=True)
    for steps in (1, 4, 2):
        if x.grad is not None:
            x.grad.data.zero_()
        y = x
        for _ in range(steps):
            y = y * x
        y.sum().backward()
        assert x.grad.data.tolist() == [(steps + 1) * 2.0 ** steps]


@EVER_SINCE
def test_buffers_are_freed_by_backward(torch):
    x = variable(torch, [1, 2], requires_grad=True)
    y = (x * x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


@EVER_SINCE
def test_retain_graph_keeps_the_buffers(torch):
    x = variable(torch, [1, 2], requires_grad=True)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.data.tolist() == [4, 8]


# in place -----------------------------------------------------------------------------------------------------------


@EVER_SINCE
def test_overwriting_a_value_needed_for_the_gradient_is_an_error(torch):
    x = variable(torch, [1, 2], requires_grad=True)
    a = x * 1
    y = (a * a).sum()
    a.add_(1)
    with pytest.raises(RuntimeError, match=SAVED_WAS_CHANGED):
        y.backward()


@EVER_SINCE
def test_overwriting_a_result_needed_for_the_gradient_is_an_error(torch):
    x = variable(torch, [1, 2], requires_grad=True)
    y = x.exp()
    z = y.sum()
    y.mul_(2)
    with pytest.raises(RuntimeError, match=SAVED_WAS_CHANGED):
        z.backward()


@EVER_SINCE
def test_overwriting_a_value_not_needed_for_the_gradient_is_no_error(torch):
    x = variable(torch, [1, 2], requires_grad=True)
    a = x * 1
    y = (a + 1).sum()
    a.mul_(10)
    y.backward()
    assert x.grad.data.tolist() == [1, 1]


@EVER_SINCE
def test_log_in_place_never_gives_a_wrong_gradient(torch):
    x = variable(torch, [1, 2, 4], requires_grad=True)
    a = x * 1
    try:
        a.log_()
        a.sum().backward()
    except (AttributeError, RuntimeError, NotImplementedError):
        return
    assert x.grad.data.tolist() == [1, 0.5, 0.25]


@EVER_SINCE
def test_in_place_operations_rewrite_the_graph(torch):
    x = variable(torch, [1, 2], requires_grad=True)
    a = x * 3
    before = a.grad_fn
    a.mul_(2)
    assert a.grad_fn is not before
    a.sum().backward()
    assert x.grad.data.tolist() == [6, 6]


@EVER_SINCE
def test_in_place_on_a_view_changes_the_history_of_its_base(torch):
    x = variable(torch, [[1, 2], [3, 4]], requires_grad=True)
    a = x * 1
    a[0].mul_(5)
    a.t()[1].mul_(2)
    a.sum().backward()
    assert a.data.tolist() == [[5, 20], [3, 8]]
    assert x.grad.data.tolist() == [[5, 10], [1, 2]]


@EVER_SINCE
def test_in_place_on_a_leaf_that_requires_grad_is_an_error(torch):
    x = variable(torch, [1, 2], requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf"):
        x.add_(1)


# version counters ---------------------------------------------------------------------------------------------------


@EVER_SINCE
def test_the_version_counter_counts_in_place_operations(torch):
    x = variable(torch, [1, 2])
    start = x._version
    x.add_(1)
    assert x._version == start + 1
    x.mul_(2).sub_(1)
    assert x._version == start + 3
    _ = x + 1
    assert x._version == start + 3


@EVER_SINCE
def test_views_share_the_version_counter(torch):
    x = variable(torch, [[1, 2], [3, 4]])
    start = x._version
    x[0].zero_()
    assert x._version == start + 1
    x.t().zero_()
    assert x._version == start + 2


@EVER_SINCE
def test_a_view_changed_in_place_spoils_what_was_saved_of_its_base(torch):
    x = variable(torch, [[1, 2], [3, 4]], requires_grad=True)
    a = x * 1
    y = (a * a).sum()
    a[0].zero_()
    with pytest.raises(RuntimeError, match=SAVED_WAS_CHANGED):
        y.backward()


@pytest.mark.eras("0.3", "0.4", "1.0", "1.1")
def test_saved_tensors_are_checked_once_they_are_accessed(torch):
    class Square(torch.autograd.Function):
        def forward(self, x):
            self.save_for_backward(x)
            return x * x

        def backward(self, grad):
            x, = self.saved_tensors
            return grad * x * 2

    x = variable(torch, [1, 2], requires_grad=True)
    Square()(x * 1).sum().backward()
    assert x.grad.data.tolist() == [2, 4]

    a = x * 1
    y = Square()(a).sum()
    a.add_(1)
    with pytest.raises(RuntimeError, match=SAVED_WAS_CHANGED):
        y.backward()


@pytest.mark.eras("0.3", "0.4", "1.0", "1.1")
def test_marking_dirty_counts_as_a_change(torch):
    class AddOne(torch.autograd.Function):
        def forward(self, x):
            self.mark_dirty(x)
            return x.add_(1)

        def backward(self, grad):
            return grad

    x = variable(torch, [1, 2], requires_grad=True)
    a = x * 1
    y = (a * a).sum()
    before = a._version
    AddOne()(a)
    assert a._version > before
    with pytest.raises(RuntimeError, match=SAVED_WAS_CHANGED):
        y.backward()
