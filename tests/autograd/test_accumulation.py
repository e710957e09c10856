"""``.grad``: whose memory it is, how it lies in memory, and how it is assigned."""
import pytest


def memory(t):
    return t.data_ptr()


def test_leaves_that_get_the_same_gradient_do_not_share_it(torch, leaf):
    a, b, g = leaf(1.0, 2.0), leaf(3.0, 4.0), torch.ones(2)
    (a + b).backward(g)
    assert len({memory(a.grad), memory(b.grad), memory(g)}) == 3
    a.grad.zero_()
    assert b.grad.tolist() == g.tolist() == [1, 1]


def test_a_gradient_that_nobody_kept_is_taken_over(torch, leaf):
    made = []

    class Ones(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.sum()

        @staticmethod
        def backward(ctx, g):
            gradient = torch.ones(2)
            made.append(memory(gradient))
            return gradient

    a = leaf(1.0, 2.0)
    Ones.apply(a).backward()
    assert memory(a.grad) == made[0]


def test_the_users_gradient_is_copied(torch, leaf):
    a, g = leaf(1.0, 2.0), torch.ones(2)
    a.backward(g)
    assert a.grad is not g and memory(a.grad) != memory(g)
    (a * 1).backward(g)
    assert g.tolist() == [1, 1] and a.grad.tolist() == [2, 2]


def test_a_gradient_that_a_hook_kept_is_not_taken_over(torch, leaf):
    a, kept = leaf(1.0, 2.0), []
    a.register_hook(kept.append)
    (a * 2).sum().backward()
    (a * 2).sum().backward()
    assert kept[0].tolist() == [2, 2] and memory(kept[0]) != memory(a.grad)


def test_a_retained_gradient_is_not_taken_over(torch, leaf):
    a = leaf(1.0, 2.0)
    y = a * 1
    y.retain_grad()
    (y + 0).sum().backward()
    assert memory(y.grad) != memory(a.grad)
    a.grad.zero_()
    assert y.grad.tolist() == [1, 1]


def test_a_gradient_that_a_function_kept_is_not_taken_over(torch, leaf):
    class Keep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            Keep.kept = g * 2
            return Keep.kept

    x = leaf(1.0, 2.0)
    Keep.apply(x).sum().backward()
    Keep.apply(x).sum().backward()
    assert memory(Keep.kept) != memory(x.grad) and Keep.kept.tolist() == [2, 2] and x.grad.tolist() == [4, 4]


def test_a_saved_tensor_given_as_gradient_is_not_taken_over(torch, leaf):
    x, w = leaf(1.0, 2.0), torch.tensor([3.0, 4.0])
    torch.dot(x, w).backward()
    x.grad.zero_()
    assert w.tolist() == [3, 4]


def test_gradients_of_grad_are_not_changed_by_later_passes(torch, leaf):
    x = leaf(1.0, 2.0)
    y = x * x
    g, = torch.autograd.grad(y.sum(), x, retain_graph=True)
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    assert g.tolist() == [2, 4] and x.grad.tolist() == [4, 8]


def test_shared_operands_do_not_spoil_what_arrives_elsewhere(torch, leaf):
    a, b = leaf(1.0, 2.0), leaf(3.0, 4.0)
    kept = []
    s = a + b
    s.register_hook(kept.append)
    (s + a + a).backward(torch.tensor([1.0, 1.0]))
    assert (a.grad.tolist(), b.grad.tolist(), kept[0].tolist()) == ([3, 3], [1, 1], [1, 1])


@pytest.mark.parametrize("make, stride", [
    (lambda t: t.ones(2, 3), (3, 1)),
    (lambda t: t.ones(2, 3).t(), (1, 3)),
    (lambda t: t.ones(4, 6)[:, ::2], (3, 1)),
    (lambda t: t.ones(2, 3, 4).permute(2, 0, 1), (1, 12, 4)),
])
@pytest.mark.parametrize("use", [
    lambda x: x * 2, lambda x: x.transpose(0, 1) * 2, lambda x: x.sum(), lambda x: x.reshape(-1).cumsum(0),
    lambda x: x.expand(2, *x.shape),
])
def test_layout_of_the_first_gradient(torch, make, stride, use):
    x = make(torch).requires_grad_()
    use(x).sum().backward()
    assert x.grad.stride() == stride and x.grad.shape == x.shape


def test_gradients_in_another_layout_add_up(torch):
    x = torch.arange(6.0).reshape(2, 3).t().requires_grad_()
    w = torch.arange(6.0).reshape(3, 2)
    (x * w).sum().backward()
    (x.t() * w.t()).sum().backward()
    assert x.grad.tolist() == (2 * w).tolist()


def test_accumulation_with_history_makes_a_new_tensor(torch, leaf):
    x = leaf(2.0)
    x.grad = torch.tensor(1.0)
    before = x.grad
    gradient = torch.autograd.grad(x ** 3, x, create_graph=True)[0]
    assert gradient.requires_grad
    (x ** 3).backward()
    assert x.grad is before and before.item() == 13


@pytest.mark.filterwarnings("ignore:Using backward")
def test_create_graph_accumulates_with_history(torch, leaf):
    x = leaf(1.0, 2.0)
    (x * x).sum().backward(create_graph=True)
    first = x.grad
    assert first.requires_grad and first.tolist() == [2, 4]
    (x * x).sum().backward(create_graph=True)
    assert x.grad is not first and x.grad.grad_fn.name() == "AddBackward0" and first.tolist() == [2, 4]
    (x * 1).sum().backward()
    assert x.grad.tolist() == [5, 9]
    x.grad = None


def test_a_gradient_assigned_by_hand_is_added_to_in_place(torch, leaf):
    x = leaf(1.0, 2.0)
    x.grad = g = torch.ones(2)
    x.sum().backward()
    assert x.grad is g and g.tolist() == [2, 2]


def test_an_expanded_gradient_cannot_be_added_to(torch, leaf):
    x = leaf(1.0, 2.0)
    x.grad = torch.ones(1).expand(2)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers to a single memory"):
        x.sum().backward()


def test_assignment(torch, leaf):
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match=r"^attempting to assign a gradient of size '\[3\]' to a tensor of size "
                                           r"'\[2\]'\. Please ensure that the gradient and the tensor are the same "
                                           r"size$"):
        x.grad = torch.ones(3)
    with pytest.raises(RuntimeError, match="attempting to assign a gradient with dtype"):
        x.grad = torch.ones(2, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="^can't assign Variable as its own grad$"):
        x.grad = x
    with pytest.raises(TypeError, match="^assigned grad expected to be a Tensor or None but got grad of type int$"):
        x.grad = 3
    x.grad = torch.ones(2)
    del x.grad
    assert x.grad is None
    x.grad = torch.ones(2)
    x.grad = None
    assert x.grad is None


def test_a_tensor_without_gradients_may_hold_one(torch):
    x = torch.ones(2)
    x.grad = torch.zeros(2)
    assert x.grad.tolist() == [0, 0]
    n = torch.ones(2, dtype=torch.int64)
    n.grad = torch.ones(2, dtype=torch.int64)
    assert n.grad.tolist() == [1, 1]


def test_grad_of_a_result_warns(torch, leaf):
    y = leaf(1.0, 2.0) * 2
    with pytest.warns(UserWarning, match="The .grad attribute of a Tensor that is not a leaf Tensor is being accessed"):
        assert y.grad is None
    y.retain_grad()
    assert y.grad is None


def test_gradients_through_expanded_and_strided_tensors(torch):
    base = torch.arange(12.0).reshape(3, 4)
    x = base[:, 1:3].t().requires_grad_()
    w = torch.arange(1.0, 7.0).reshape(2, 3)
    (x * w).sum().backward()
    assert x.grad.tolist() == w.tolist() and not x.is_contiguous()
    e = torch.ones(3, 1, requires_grad=True)
    (e.expand(3, 4) * base).sum().backward()
    assert e.grad.tolist() == [[6], [22], [38]]
