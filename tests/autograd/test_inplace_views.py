"""In-place writes to views and to what has views: the history of all of them follows."""
import pytest


def test_a_write_to_a_view_is_history_of_the_base(torch, leaf):
    x = leaf(1.0, 2.0, 3.0, 4.0)
    y = x * 1
    y[1].mul_(5)
    assert y.grad_fn.name() == "torch::autograd::CopySlices" and str(type(y.grad_fn)) == "<class 'CopySlices'>"
    assert repr(y) == "tensor([ 1., 10.,  3.,  4.], grad_fn=<CopySlices>)"
    assert y.grad_fn.next_functions[0][0].name() == "MulBackward0"
    y.sum().backward()
    assert x.grad.tolist() == [1, 5, 1, 1]


def test_a_view_keeps_up_with_its_base(torch, leaf):
    x = leaf(1.0, 2.0, 3.0)
    y = x * 1
    v = y[:2]
    before = v.grad_fn
    y.mul_(3)
    assert v.tolist() == [3, 6] and v.grad_fn is not before and v.grad_fn.name() == "AsStridedBackward0"
    assert v.grad_fn is v.grad_fn
    v.sum().backward()
    assert x.grad.tolist() == [3, 3, 0]


def test_a_view_that_was_written_to_goes_through_the_base(torch, leaf):
    x = leaf(1.0, 2.0, 3.0)
    y = x * 1
    v = y[0]
    v.mul_(2)
    assert v.grad_fn.name() == "AsStridedBackward0" and v.grad_fn.next_functions[0][0] is y.grad_fn
    (v * 10 + y.sum()).backward()
    assert x.grad.tolist() == [22, 1, 1]


def test_views_see_each_others_writes(torch, leaf):
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    y = x * 1
    row, column = y[0], y.t()[0]
    row.mul_(5)
    assert column.tolist() == [5, 3]
    (column * torch.tensor([1.0, 10.0])).sum().backward()
    assert x.grad.tolist() == [[5, 0], [10, 0]]


def test_writes_to_several_views_in_turn(torch, leaf):
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    y = x * 1
    y[0].mul_(5)
    y.t()[1].mul_(2)
    y.view(-1)[3:].add_(x[0, 0])
    y[:, 1:].unsqueeze(0).neg_()
    (y * torch.tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
    assert y.tolist() == [[5, -20], [3, -9]]
    assert x.grad.tolist() == [[5 - 4, -20], [3, -8]]


def test_a_view_of_a_view(torch, leaf):
    x = leaf(torch_range(12))
    y = x * 1
    inner = y.view(3, 4)[1:].t()[2]
    inner.mul_(7)
    assert inner._base is y
    y.sum().backward()
    assert x.grad.tolist() == [1, 1, 1, 1, 1, 1, 7, 1, 1, 1, 7, 1]


def torch_range(n):
    return [float(i) for i in range(n)]


def test_a_constant_base_gets_a_history_through_a_view(torch, leaf):
    x, y = leaf(1.0, 2.0), torch.zeros(4)
    v, w = y[1:3], y[2:]
    v.copy_(x * 3)
    assert y.requires_grad and type(y.grad_fn).__name__ == "CopySlices" and w.requires_grad
    (w * torch.tensor([5.0, 100.0])).sum().backward()
    assert x.grad.tolist() == [0, 15]


def test_a_base_with_history_written_over_by_a_view(torch, leaf):
    x, z = leaf(1.0, 2.0), leaf(3.0)
    y = x * 1
    y[0].copy_(z * 2)
    y.sum().backward()
    assert x.grad.tolist() == [0, 1] and z.grad.item() == 2


def test_a_base_whose_memory_is_in_another_order(torch, leaf):
    x = leaf([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    y = x.t().clone()
    assert y.stride() == (1, 3) and y._base is None
    y[0].mul_(2)
    y[:, 1].mul_(torch.tensor([1.0, 10.0, 100.0]))
    v = y.t()[1]
    y.add_(1)
    (y.sum() + v.sum()).backward()
    assert x.grad.tolist() == [[2, 1, 1], [4, 20, 200]]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 0, 2), (2, 1, 0)])
def test_second_derivatives_in_any_order_of_memory(torch, order):
    def f(x):
        y = (x * x).permute(order).clone()
        y.select(1, 0).mul_(torch.arange(1.0, 7.0, dtype=torch.float64)[:y.select(1, 0).numel()].reshape(
            y.select(1, 0).shape))
        v = y.select(0, 0)
        y.sin_()
        return (y ** 2).sum() + v.sum()

    x = torch.arange(1.0, 13.0, dtype=torch.float64).div(13).reshape(2, 3, 2).requires_grad_()
    assert torch.autograd.gradcheck(f, (x,))


@pytest.mark.ours
def test_a_base_with_gaps_in_memory_is_refused(torch, leaf):
    x, y = leaf(1.0, 2.0), torch.zeros(4)[::2]
    y = y.detach()
    y.add_(x)
    v = y[:1]
    with pytest.raises(NotImplementedError, match="its base has gaps in memory"):
        v.mul_(2)


def test_gradients_that_begin_within_other_memory(torch, leaf):
    x = leaf(torch_range(6))
    y = x * 3
    y[1:3].mul_(2)
    (torch.cat([torch.ones(2), y]) * torch.arange(8.0)).sum().backward()
    assert x.grad.tolist() == [6, 18, 24, 15, 18, 21]


def test_views_that_show_elements_several_times(torch, leaf):
    x = leaf(1.0, 2.0, 3.0)
    y = x * 1
    wide, windows = y.expand(2, 3), y.unfold(0, 2, 1)
    y.mul_(2)
    wide.sum().backward(retain_graph=True)
    assert x.grad.tolist() == [4, 4, 4]
    windows.sum().backward()
    assert x.grad.tolist() == [6, 8, 6]


def test_parts_of_complex_tensors(torch):
    z = torch.ones(3, dtype=torch.complex64, requires_grad=True)
    w = z * 1
    torch.view_as_real(w).mul_(2)
    w.real.mul_(5)
    w.imag.add_(w.real.detach())
    (w.real * 3 + w.imag).sum().backward()
    assert w.tolist() == [10 + 10j] * 3 and z.grad.tolist() == [30 + 2j] * 3


def test_pairs_as_complex_numbers(torch, leaf):
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    y = x * 1
    torch.view_as_complex(y).mul_(2j)
    assert y.tolist() == [[-4, 2], [-8, 6]]
    (y * torch.tensor([1.0, 10.0])).sum().backward()
    assert x.grad.tolist() == [[20, -2], [20, -2]]


@pytest.mark.ours
def test_views_that_came_several_at_a_time_may_be_written_to(torch, leaf):
    x = leaf(1.0, 2.0, 3.0, 4.0)
    y = x * 1
    a, b = y.chunk(2)
    a.mul_(3)
    c = y.unbind()[3]
    c.add_(a[0])
    b.sigmoid_()                       # saves its result, which what follows does not touch
    a.add_(1)
    (a.sum() + 10 * b.sum()).backward()
    s = torch.sigmoid(torch.tensor([3.0, 4.0 + 3.0]))
    slopes = 10 * s * (1 - s)
    assert torch.allclose(x.grad, torch.stack([3 + 3 * slopes[1], torch.tensor(3.0), slopes[0], slopes[1]]))
    assert type(y.grad_fn).__name__ == "CopySlices"


@pytest.mark.ours
def test_gates_cut_from_one_product(torch):
    """How recurrent cells were written: chunk, then a nonlinearity in place on each piece."""
    def cell(x, inplace):
        i, f, o, c = (x * x).chunk(4)
        if inplace:
            i.sigmoid_(), f.sigmoid_(), o.sigmoid_(), c.tanh_()
        else:
            i, f, o, c = i.sigmoid(), f.sigmoid(), o.sigmoid(), c.tanh()
        return (f * 0.5 + i * c).tanh() * o

    x = torch.linspace(-1, 1, 8, dtype=torch.float64).requires_grad_()
    expected, = torch.autograd.grad(cell(x, False).sum(), x)
    found, = torch.autograd.grad(cell(x, True).sum(), x)
    assert torch.allclose(found, expected)
    assert torch.autograd.gradgradcheck(lambda x: cell(x, True), (x,))


def test_a_view_written_to_before_and_after_its_base(torch, leaf):
    x = leaf(1.0, 2.0)
    y = x * 1
    v = y[:1]
    v.mul_(2)
    y.mul_(3)
    v.mul_(5)
    w = v.view(1, 1)
    y.add_(1)
    (w.sum() + y[1]).backward()
    assert x.grad.tolist() == [30, 3]


def test_a_view_used_before_and_after_a_write_to_its_base(torch, leaf):
    x = leaf(1.0, 2.0)
    y = x * 1
    v = y[:1]
    before = v * 10
    y.add_(x * 4)
    after = v * 100
    assert (before.tolist(), after.tolist()) == ([10], [500])
    (before + after).sum().backward()
    assert x.grad.tolist() == [10 + 500, 0]


def test_a_view_used_twice_after_a_write_to_its_base(torch, leaf):
    x, calls = leaf(1.0, 2.0), []
    y = x * 1
    v = y[:1]
    y.mul_(3)
    a = v * 10
    b = v * 100
    v.register_hook(lambda g: calls.append(g.tolist()))
    (a + b).sum().backward()
    assert x.grad.tolist() == [330, 0] and calls == [[110]]


def test_a_chain_of_writes_to_rows(torch, leaf):
    x, w = leaf(1.0, 2.0, 3.0), leaf(2.0)
    state = torch.zeros(4)
    state[0] = w
    for i in range(3):
        state[i + 1] = state[i].clone() * w + x[i]
    state[3].backward()
    assert w.grad.item() == 4 * 2 ** 3 + 2 * 2 * 1 + 2 and x.grad.tolist() == [4, 2, 1]


def test_backward_twice_through_a_write_to_a_view(torch, leaf):
    x = leaf(1.0, 2.0)
    y = x * 1
    y[0].add_(1)
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    assert x.grad.tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.sum().backward()


def test_detached_views_write_without_history(torch, leaf):
    x = leaf(1.0, 2.0)
    y = x * 3
    y[0].detach().zero_()
    y.sum().backward()
    assert x.grad.tolist() == [3, 3] and y.tolist() == [0, 6]
