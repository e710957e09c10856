"""In-place writes: history, version counters, and what is refused."""
import pytest

STALE = "^one of the variables needed for gradient computation has been modified by an inplace operation: "
HINT = (r"Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
        r"torch\.autograd\.set_detect_anomaly\(True, check_nan=False\)\.$")
LEAF = "^a leaf Variable that requires grad is being used in an in-place operation.$"
VIEW_OF_LEAF = "^a view of a leaf Variable that requires grad is being used in an in-place operation.$"


def test_a_write_renews_the_history(torch, leaf):
    x = leaf(1.0, 2.0)
    y = x * 3
    before = y.grad_fn
    assert y.mul_(2) is y and y.grad_fn is not before and y.grad_fn.next_functions[0][0] is before
    y.sum().backward()
    assert x.grad.tolist() == [6, 6]


@pytest.mark.parametrize("write, slope", [
    (lambda y: y.add_(1), 1), (lambda y: y.sub_(1), 1), (lambda y: y.mul_(3), 3), (lambda y: y.div_(2), 0.5),
    (lambda y: y.zero_(), 0), (lambda y: y.fill_(3), 0), (lambda y: y.neg_(), -1), (lambda y: y.pow_(2), 4),
    (lambda y: y.clamp_(min=3), 0), (lambda y: y.copy_(y * 5), 5),
])
def test_derivatives_of_writes(torch, leaf, write, slope):
    x = leaf(2.0, 2.0)
    y = x * 1
    write(y)
    y.sum().backward()
    assert x.grad.tolist() == [slope, slope]


def test_writes_of_functions_that_save_their_result(torch, leaf):
    x = leaf(1.0, 2.0, 3.0)
    for name in ("exp", "sigmoid", "tanh", "sqrt", "relu"):
        y = x * 1
        getattr(y, name + "_")()
        (y * y).sum().backward()
        written, x.grad = x.grad, None
        (getattr(x * 1, name)() ** 2).sum().backward()
        assert torch.allclose(written, x.grad)
        x.grad = None


def test_operators_write_in_place(torch, leaf):
    x = leaf(1.0, 2.0)
    y = x * 1
    z = y
    y += 1
    y *= x
    y -= 1
    y /= 2
    assert z is y
    y.sum().backward()
    assert x.grad.tolist() == [1.5, 2.5]


def test_a_constant_gets_a_history(torch, leaf):
    x, y = leaf(1.0, 2.0), torch.zeros(2)
    y.add_(x)
    assert y.requires_grad and not y.is_leaf
    y.sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_assignment_to_elements(torch, leaf):
    x, y = leaf(1.0, 2.0, 3.0), torch.zeros(3)
    y[1] = x[2] * 2
    y[0] = 5
    y[torch.tensor([2])] = x[:1] * 3
    assert y.tolist() == [5, 6, 3]
    (y * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert x.grad.tolist() == [300, 0, 20]


# versions -----------------------------------------------------------------------------------------------------------

def test_every_write_counts_once(torch, leaf):
    x = torch.ones(2, 2)
    for write in (lambda: x.add_(1), lambda: x.mul_(x), lambda: x.zero_(), lambda: x.copy_(x + 1),
                  lambda: x[0].fill_(2), lambda: x.t().sub_(1), lambda: x.clamp_(0, 1), lambda: x.exp_(),
                  lambda: x.detach().neg_()):
        before = x._version
        write()
        assert x._version == before + 1
    y = leaf(1.0, 2.0) * 1
    for write in (lambda: y.mul_(2), lambda: y.mul_(leaf(1.0)), lambda: y.exp_(), lambda: y.sqrt_(),
                  lambda: y[0].mul_(3)):
        before = y._version
        write()
        assert y._version == before + 1


def test_reading_does_not_count(torch):
    x = torch.ones(2)
    _ = x + 1, x.sum(), x[0], x.tolist()
    assert x._version == 0


def test_a_changed_operand_is_noticed(torch, leaf):
    x = leaf(1.0, 2.0)
    y = x * 1
    z = (y * y).sum()
    y.add_(1)
    with pytest.raises(RuntimeError, match=STALE + r"\[torch\.FloatTensor \[2\]\], which is output 0 of Add, is at "
                                                   r"version 1; expected version 0 instead\. " + HINT):
        z.backward()


def test_a_changed_result_is_noticed(torch, leaf):
    y = leaf(1.0, 2.0).exp()
    z = y.sum()
    y.mul_(2)
    with pytest.raises(RuntimeError, match=STALE + r"\[torch\.FloatTensor \[2\]\], which is output 0 of Exp, is at "
                                                   r"version 1; expected version 0 instead\."):
        z.backward()


def test_a_changed_constant_is_noticed(torch, leaf):
    x, w = leaf(1.0, 2.0), torch.ones(2)
    z = (x * w).sum()
    w.add_(1)
    with pytest.raises(RuntimeError, match=STALE + r"\[torch\.FloatTensor \[2\]\] is at version 1; expected version 0 "
                                                   r"instead\."):
        z.backward()


def test_a_leaf_changed_without_recording_is_noticed(torch, leaf):
    x = leaf(1.0, 2.0)
    z = (x * x).sum()
    with torch.no_grad():
        x.sub_(1)
    with pytest.raises(RuntimeError, match=STALE):
        z.backward()


def test_what_is_not_needed_may_change(torch, leaf):
    x, y = leaf(1.0, 2.0), leaf(1.0, 2.0) * 1
    z = (x + y).sum()
    y.mul_(10)
    z.backward()
    assert x.grad.tolist() == [1, 1]


def test_changes_through_data_are_not_noticed(torch, leaf):
    x = leaf(1.0, 2.0)
    y = x * 1
    z = (y * y).sum()
    y.data.mul_(10)
    z.backward()
    assert x.grad.tolist() == [20, 40]


def test_a_tensor_multiplied_by_itself_in_place(torch, leaf):
    y = leaf(1.0, 2.0) * 1
    y.mul_(y)
    with pytest.raises(RuntimeError, match=STALE):
        y.sum().backward()


def test_a_tensor_multiplied_by_its_own_part_in_place(torch, leaf):
    y = leaf(1.0, 2.0, 3.0) * 1
    y[0].mul_(y[1])
    with pytest.raises(RuntimeError, match=STALE):
        y.sum().backward()


def test_versions_are_shared_by_views(torch, leaf):
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    y = x * 1
    z = (y * y).sum()
    y[0].zero_()
    assert y._version == y.t()._version == 1
    with pytest.raises(RuntimeError, match=STALE):
        z.backward()


# refusals -----------------------------------------------------------------------------------------------------------

def test_a_leaf_is_not_written_to(torch, leaf):
    x = leaf(1.0, 2.0)
    for write in (lambda: x.add_(1), lambda: x.zero_(), lambda: x.mul_(x), lambda: x.fill_(1), lambda: x.exp_(),
                  lambda: x.copy_(torch.ones(2)), lambda: x.clamp_(0, 1), lambda: x.mul_(torch.ones(2))):
        with pytest.raises(RuntimeError, match=LEAF):
            write()
    assert x.tolist() == [1, 2] and x._version == 0


def test_a_view_of_a_leaf_is_not_written_to(torch, leaf):
    x = leaf(1.0, 2.0)
    for view in (x[0], x[:1], x.view(2, 1), x.expand(3, 2), x.unsqueeze(0)):
        with pytest.raises(RuntimeError, match=VIEW_OF_LEAF):
            view.add_(1)
    with pytest.raises(RuntimeError, match=VIEW_OF_LEAF):
        x[0] = 5
    y = torch.ones(3)
    v = y[:2].requires_grad_()
    with pytest.raises(RuntimeError, match=VIEW_OF_LEAF):
        v.add_(1)


def test_a_leaf_may_be_written_to_without_recording(torch, leaf):
    x = leaf(1.0, 2.0)
    with torch.no_grad():
        x.sub_(0.5)
        x[0] = 7
        x.view(-1).mul_(2)
    assert x.is_leaf and x.requires_grad and x.tolist() == [14, 3]
    x.detach().zero_()
    x.data.add_(1)
    assert x.tolist() == [1, 1]


def test_views_made_without_recording_are_not_written_to(torch, leaf):
    text = "^A view was created in no_grad mode and is being modified inplace with grad mode enabled."
    x = leaf(1.0, 2.0) * 1
    c = torch.zeros(2)
    with torch.no_grad():
        v, w = x[:1], c[:1]
    with pytest.raises(RuntimeError, match=text):
        v.mul_(2)
    with pytest.raises(RuntimeError, match=text):
        w.add_(leaf([1.0]))
    w.add_(1)
    with torch.no_grad():
        v.mul_(2)
    assert x.tolist() == [2, 2] and c.tolist() == [1, 0]


def test_elements_that_share_memory_are_not_written_to(torch, leaf):
    text = "^unsupported operation: more than one element of the written-to tensor refers to a single memory location"
    with pytest.raises(RuntimeError, match=text):
        torch.ones(3).expand(2, 3).add_(1)
    with pytest.raises(RuntimeError, match=text):
        (leaf(1.0, 2.0) * 1).expand(2, 2).add_(1)


def test_elements_that_share_memory_take_one_value_and_another_shape(torch):
    def x():
        return torch.ones(1, 1).expand(3, 2)
    assert x().zero_().tolist() == [[0, 0]] * 3 and x().fill_(4).tolist() == [[4, 4]] * 3
    assert x().index_fill_(1, torch.tensor([0]), 2).tolist() == [[2, 2]] * 3
    assert x().t_().shape == x().transpose_(0, 1).shape == (2, 3)
    assert x().unsqueeze_(-1).shape == (3, 2, 1) and x()[:, :1].squeeze_(1).shape == (3,)
    assert x().set_(torch.ones(2)).tolist() == [1, 1] and x().resize_(1, 1).tolist() == [[1]]
    assert x().resize_(3, 2).stride() == (0, 0)
    assert x().as_strided_((4,), (0,)).tolist() == [1] * 4


def test_out_takes_no_part_in_history(torch, leaf):
    text = (r"^add\(\): functions with out=\.\.\. arguments don't support automatic differentiation, but one of the "
            r"arguments requires grad\.$")
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match=text):
        torch.add(x, x, out=torch.empty(2))
    with pytest.raises(RuntimeError, match=text):
        torch.add(torch.ones(2), torch.ones(2), out=x)
    with torch.no_grad():
        torch.add(x, x, out=x)
    assert x.tolist() == [2, 4]


@pytest.mark.ours
def test_a_failed_write_changes_nothing(torch, leaf):
    y = leaf(1.0, 2.0) * 1
    node, version = y.grad_fn, y._version
    for write in (lambda: y.add_(torch.ones(3)), lambda: y.copy_(torch.ones(3)), lambda: y.mul_("a"),
                  lambda: y.mul_(torch.tensor(1j))):
        with pytest.raises((RuntimeError, TypeError)):
            write()
        assert y.grad_fn is node and y._version == version and y.tolist() == [1, 2]


# second derivatives -------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("write", [
    lambda y, w: y.mul_(w), lambda y, w: y.exp_(), lambda y, w: y.tanh_(), lambda y, w: y.pow_(3).add_(w),
    lambda y, w: y[1:].mul_(w[1:]), lambda y, w: y[1:].exp_(), lambda y, w: y.view(3, 1).sigmoid_(),
    lambda y, w: y[0].copy_(w[2] * w[1]), lambda y, w: y[:2].mul_(3).sin_(),
])
def test_second_derivatives_through_writes(torch, leaf, write):
    def f(x, w):
        y = x * x
        write(y, w)
        return (y * y).sum()

    x = leaf(0.3, 0.5, 0.7, dtype=torch.float64)
    w = leaf(1.3, 0.9, 1.1, dtype=torch.float64)
    assert torch.autograd.gradcheck(f, (x, w))
    assert torch.autograd.gradgradcheck(f, (x, w))
