"""Hooks on what operations save for backward, and other parts of ``autograd.graph``."""
import threading

import pytest


@pytest.fixture
def graph(torch):
    return torch.autograd.graph


def as_lists(log):
    return [(what, t.tolist()) for what, t in log]


def test_what_is_packed_and_unpacked(torch, leaf, graph):
    log = []

    def pack(t):
        log.append(("pack", t))
        return t.tolist()

    def unpack(packed):
        t = torch.tensor(packed)
        log.append(("unpack", t))
        return t

    x = leaf(1.0, 2.0)
    with graph.saved_tensors_hooks(pack, unpack):
        y = (x * x) + 1
        z = y.sqrt()
    root = z.detach().tolist()
    z.sum().backward()
    assert as_lists(log) == [("pack", [1, 2]), ("pack", [1, 2]), ("pack", root), ("unpack", root), ("unpack", [1, 2]),
                             ("unpack", [1, 2])]
    assert torch.allclose(x.grad, x.detach() / z.detach())


def test_hooks_hold_for_what_is_saved_while_they_are_set(torch, leaf, graph):
    log = []
    x = leaf(1.0, 2.0)
    with graph.saved_tensors_hooks(lambda t: log.append("outer") or t, lambda t: t):
        with graph.saved_tensors_hooks(lambda t: log.append("inner") or t, lambda t: t):
            x.exp()
        x.exp()
    x.exp()
    with graph.saved_tensors_hooks(lambda t: log.append("never") or t, lambda t: t), torch.no_grad():
        x.exp()
    assert log == ["inner", "outer"]


def test_hooks_are_those_of_their_thread(torch, leaf, graph):
    log, x = [], leaf(1.0, 2.0)
    with graph.saved_tensors_hooks(lambda t: log.append("pack") or t, lambda t: t):
        thread = threading.Thread(target=lambda: x.exp())
        thread.start()
        thread.join()
    assert log == []


def test_packed_lists_of_tensors(torch, leaf, graph):
    x = leaf(1.0, 2.0, 3.0)
    with graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        y = x[torch.tensor([2, 0, 2])]
    (y * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert x.grad.tolist() == [10, 0, 101]


def test_second_derivatives_through_packed_tensors(torch, leaf, graph):
    def f(x, w):
        with graph.saved_tensors_hooks(lambda t: (t.clone(), 0), lambda packed: packed[0]):
            y = (x * w).exp()
            y.mul_(x)
            return (y * y).tanh().sum()

    x, w = leaf(0.3, 0.2, dtype=torch.float64), leaf(0.5, 0.4, dtype=torch.float64)
    assert torch.autograd.gradcheck(f, (x, w)) and torch.autograd.gradgradcheck(f, (x, w))
    g, = torch.autograd.grad(f(x, w), x, create_graph=True)
    g.sum().backward()
    assert x.grad is not None and w.grad is not None


def test_packed_tensors_are_not_checked(torch, leaf, graph):
    x = leaf(1.0, 2.0)
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = x * 1
        z = y * y
    y.add_(1)
    z.sum().backward()
    assert x.grad.tolist() == [4, 6]


def test_packed_tensors_are_let_go_by_backward(torch, leaf, graph):
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = leaf(1.0).exp()
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


def test_hooks_on_user_defined_functions(torch, leaf, graph):
    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * y + x * 0

    log = []
    x = leaf(1.0, 0.5, dtype=torch.float64)

    def f(x):
        with graph.saved_tensors_hooks(lambda t: log.append("p") or t.clone(), lambda t: log.append("u") or t):
            return Exp.apply(x)
    f(x).sum().backward()
    assert log == ["p", "p", "u", "u"]
    assert torch.autograd.gradgradcheck(f, (x,))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_refusals(torch, leaf, graph):
    x = leaf(1.0, 2.0)
    with graph.saved_tensors_hooks(lambda t: 3, lambda packed: packed):
        y = x * x
    with pytest.raises(TypeError, match="^Output of saved tensor unpack_hook expected to be a Tensor but got result of "
                                        "type int$"):
        y.sum().backward()
    with graph.saved_tensors_hooks(lambda t: t.add_(1), lambda packed: packed):
        with pytest.raises(RuntimeError, match="^A saved tensor pack hook is modifying its input in place."):
            (x * 1).exp()
    with graph.saved_tensors_hooks(lambda t: 1 / 0, lambda packed: packed):
        with pytest.raises(ZeroDivisionError):
            x * x
    assert torch.is_grad_enabled()


def test_hooks_can_be_forbidden(torch, leaf, graph):
    with graph.disable_saved_tensors_hooks("not here"):
        with pytest.raises(RuntimeError, match="^not here$"):
            with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
                leaf(1.0).exp()
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        with pytest.raises(RuntimeError, match="^not here$"):
            with graph.disable_saved_tensors_hooks("not here"):
                pass
        leaf(1.0).exp()


def test_save_on_cpu(torch, leaf, graph):
    x = leaf(0.5, 1.5)
    with graph.save_on_cpu():
        y = (x * x).exp()
    g, = torch.autograd.grad(y.sum(), x, create_graph=True)
    h, = torch.autograd.grad(g.sum(), x)
    plain, = torch.autograd.grad((x * x).exp().sum(), x, create_graph=True)
    assert torch.equal(g, plain) and torch.allclose(h, torch.autograd.grad(plain.sum(), x)[0])


def test_edges(torch, leaf, graph):
    x = leaf(1.0, 2.0)
    y = x * 2
    edge = graph.get_gradient_edge(y)
    assert edge.node is y.grad_fn and edge.output_nr == 0
    assert graph.get_gradient_edge(x).node is y.grad_fn.next_functions[0][0]
    with pytest.raises(RuntimeError, match="^It is not possible to get the gradient edge for a Tensor that does not "
                                           "require gradients"):
        graph.get_gradient_edge(torch.ones(2))


def test_gradients_by_edges(torch, leaf, graph):
    x = leaf(1.0, 2.0)
    y = x * 3
    gy, gx = torch.autograd.grad((y * y).sum(), [graph.get_gradient_edge(y), graph.get_gradient_edge(x)])
    assert gy.tolist() == [6, 12] and gx.tolist() == [18, 36]


def test_versions_can_be_counted_on(torch, leaf, graph):
    x = leaf(1.0, 2.0) * 1
    y = (x * x).sum()
    graph.increment_version(x)
    assert x._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()
