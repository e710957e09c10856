"""Hooks on tensors, leaves, nodes and accumulators: when they run, what they see, what they may return."""
import gc
import weakref

import pytest


def recorder(log, name):
    return lambda g: log.append((name, g.tolist()))


def test_a_hook_sees_and_replaces_the_gradient(torch, leaf):
    x, log = leaf(1.0, 2.0), []
    y = x * 3
    y.register_hook(recorder(log, "before"))
    y.register_hook(lambda g: g * 10)
    y.register_hook(recorder(log, "after"))
    y.sum().backward()
    assert log == [("before", [1, 1]), ("after", [10, 10])] and x.grad.tolist() == [30, 30]


def test_hooks_on_a_leaf(torch, leaf):
    x, log = leaf(1.0, 2.0), []
    x.register_hook(recorder(log, "x"))
    x.register_hook(lambda g: g * 2)
    (x * 3).sum().backward()
    assert log == [("x", [3, 3])] and x.grad.tolist() == [6, 6]
    assert torch.autograd.grad((x * 3).sum(), x)[0].tolist() == [6, 6] and len(log) == 2


def test_a_leaf_hook_sees_the_whole_gradient_once(torch, leaf):
    x, log = leaf(1.0, 2.0), []
    x.register_hook(recorder(log, "x"))
    (x * x + x * 3).sum().backward()
    assert log == [("x", [5, 7])]


def test_hooks_can_be_removed(torch, leaf):
    x = leaf(1.0, 2.0)
    handle = x.register_hook(lambda g: g * 2)
    handle.remove()
    handle.remove()
    with x.register_hook(lambda g: g * 5):
        x.sum().backward()
    x.sum().backward()
    assert x.grad.tolist() == [6, 6]


def test_a_hook_may_remove_itself(torch, leaf):
    x, log = leaf(1.0, 2.0), []

    def once(g):
        log.append("once")
        handle.remove()
    handle = x.register_hook(once)
    x.register_hook(lambda g: log.append("always"))
    x.sum().backward()
    x.sum().backward()
    assert log == ["once", "always", "always"]


def test_leaves_are_served_as_soon_as_their_gradient_is_known(torch, leaf):
    log = []
    x, v, w = leaf(1.0, 2.0), leaf(1.0, 2.0), leaf(1.0, 2.0)
    a = x * v
    b = a * w
    c = b * w
    for name, t in dict(x=x, v=v, w=w, a=a, b=b, c=c).items():
        t.register_hook(lambda g, name=name: log.append(name))
    c.sum().backward()
    assert log == ["c", "b", "w", "a", "x", "v"]
    log.clear()
    (x * (v * 1)).sum().backward()
    assert log == ["x", "v"]


def test_a_leaf_that_some_paths_do_not_reach_is_served_in_the_end(torch, leaf):
    log, x, y = [], leaf(1.0, 2.0), leaf(1.0, 2.0)
    x.register_hook(lambda g: log.append("x"))
    y.register_hook(lambda g: log.append("y"))
    values, rest = (x * 1).split(1)
    (values * y[:1]).sum().backward()
    assert sorted(log) == ["x", "y"] and x.grad.tolist() == [1, 0]


def test_post_accumulate_hooks(torch, leaf):
    x, log = leaf(1.0, 2.0), []

    def descend(p):
        log.append(p.grad.tolist())
        p.grad = None
    handle = x.register_post_accumulate_grad_hook(descend)
    (x * 3).sum().backward()
    assert log == [[3, 3]] and x.grad is None
    handle.remove()
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_refusals_of_registration(torch, leaf):
    text = "^cannot register a hook on a tensor that doesn't require gradient$"
    with pytest.raises(RuntimeError, match=text):
        torch.ones(2).register_hook(print)
    with pytest.raises(RuntimeError, match=text):
        torch.ones(2).register_post_accumulate_grad_hook(print)
    with pytest.raises(RuntimeError, match="^post accumulate grad hooks cannot be registered on non-leaf tensors$"):
        (leaf(1.0) * 2).register_post_accumulate_grad_hook(print)


@pytest.mark.parametrize("where", ["leaf", "result"])
@pytest.mark.parametrize("hook, error, text", [
    (lambda t, g: 3, TypeError, "^expected Variable, but hook returned 'int'$"),
    (lambda t, g: t.ones(3), RuntimeError, "^hook '<lambda>' has changed the size of value$"),
    (lambda t, g: g.double(), RuntimeError, r"^hook '<lambda>' has changed the type of value \(was torch.FloatTensor "
                                            r"got torch.DoubleTensor\)$"),
])
def test_what_a_hook_returns_is_checked(torch, leaf, where, hook, error, text):
    x = leaf(1.0, 2.0)
    y = x * 1
    {"leaf": x, "result": y}[where].register_hook(lambda g: hook(torch, g))
    with pytest.raises(error, match=text):
        y.sum().backward()
    assert x.grad is None and torch.is_grad_enabled()


def test_a_post_accumulate_hook_returns_nothing(torch, leaf):
    x = leaf(1.0)
    x.register_post_accumulate_grad_hook(lambda p: 3)
    with pytest.raises(TypeError, match="^expected Variable, but hook returned 'int'$"):
        x.backward()


def test_errors_in_hooks_leave_everything_as_it_was(torch, leaf):
    x = leaf(1.0, 2.0)
    y = x * 2
    y.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        y.sum().backward()
    assert torch.is_grad_enabled() and x.grad is None and (x * 2).requires_grad


def test_hooks_run_without_recording(torch, leaf):
    x, seen = leaf(1.0, 2.0), []
    y = x * 2
    y.register_hook(lambda g: seen.append((torch.is_grad_enabled(), g.requires_grad)))
    y.sum().backward(retain_graph=True)
    torch.autograd.grad(y.sum(), x, create_graph=True)
    assert seen == [(False, False), (True, False)]


def test_hooks_take_part_in_second_derivatives(torch, leaf):
    x = leaf(2.0)
    y = x * x
    y.register_hook(lambda g: g * x)
    g, = torch.autograd.grad(y, x, create_graph=True)
    assert g.item() == 8
    g.backward()
    assert x.grad.item() == 8            # 2 x² where the hook made the gradient x · 2x


def test_hook_on_one_of_several_outputs(torch, leaf):
    x, log = leaf(1.0, 2.0, 3.0, 4.0), []
    a, b = x.split(2)
    a.register_hook(lambda g: log.append(g))
    b.register_hook(lambda g: g * 5)
    b.sum().backward()
    assert log == [None] and x.grad.tolist() == [0, 0, 5, 5]


# retain_grad --------------------------------------------------------------------------------------------------------

def test_retain_grad(torch, leaf):
    x = leaf(1.0, 2.0)
    y = x * 2
    y.retain_grad()
    y.retain_grad()
    assert y.retains_grad and not x.retains_grad
    z = (y * y).sum()
    z.backward(retain_graph=True)
    assert y.grad.tolist() == [4, 8]
    z.backward()
    assert y.grad.tolist() == [8, 16]


def test_retain_grad_of_leaves_and_constants(torch, leaf):
    x = leaf(1.0)
    x.retain_grad()
    assert not x.retains_grad
    with pytest.raises(RuntimeError, match="^can't retain_grad on Tensor that has requires_grad=False$"):
        torch.ones(2).retain_grad()


def test_what_is_retained_is_what_hooks_made_of_it(torch, leaf):
    x = leaf(1.0, 2.0)
    y = x * 1
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 10,))
    y.retain_grad()
    y.register_hook(lambda g: g * 2)
    y.sum().backward()
    assert y.grad.tolist() == [2, 2] and x.grad.tolist() == [20, 20]


def test_retained_gradient_of_a_tensor_written_to_in_place(torch, leaf):
    x = leaf(1.0, 2.0)
    y = x * 1
    y.retain_grad()
    y.mul_(3)
    y.sum().backward()
    assert y.grad.tolist() == [1, 1] and x.grad.tolist() == [3, 3]


def test_hooks_from_before_a_write_see_the_gradient_from_before(torch, leaf):
    x, log = leaf(1.0, 2.0), []
    y = x * 1
    y.register_hook(recorder(log, "before"))
    y.mul_(3)
    y.register_hook(recorder(log, "after"))
    y.sum().backward()
    assert log == [("after", [1, 1]), ("before", [3, 3])]


# nodes --------------------------------------------------------------------------------------------------------------

def test_hooks_on_a_node(torch, leaf):
    x, log = leaf(1.0, 2.0), []
    y = x * 2
    y.grad_fn.register_hook(
        lambda inputs, outputs: log.append(("post", inputs[0].tolist(), inputs[1], outputs[0].tolist())))
    y.grad_fn.register_prehook(lambda outputs: log.append(("pre", outputs[0].tolist())))
    y.register_hook(recorder(log, "tensor"))
    y.sum().backward()
    assert log == [("tensor", [1, 1]), ("pre", [1, 1]), ("post", [2, 2], None, [1, 1])]


def test_node_hooks_replace(torch, leaf):
    x = leaf(1.0, 2.0)
    y = x.exp()
    handle = y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 0 + 7,))
    y.sum().backward(retain_graph=True)
    assert x.grad.tolist() == [7, 7]
    handle.remove()
    y.grad_fn.register_prehook(lambda outputs: (outputs[0] * 0,))
    y.sum().backward()
    assert x.grad.tolist() == [7, 7]


@pytest.mark.parametrize("result, error, text", [
    (lambda inputs: (inputs[0], None), RuntimeError,
     r"^hook '<lambda>' has returned an incorrect number of values \(got 2, but expected 1\)$"),
    (lambda inputs: inputs[0], TypeError, "^expected tuple, but hook returned 'Tensor'$"),
    (lambda inputs: 3, TypeError, "^expected tuple, but hook returned 'int'$"),
])
def test_what_a_node_hook_returns_is_checked(torch, leaf, result, error, text):
    x = leaf(1.0, 2.0)
    y = x.exp()
    y.grad_fn.register_hook(lambda inputs, outputs: result(inputs))
    with pytest.raises(error, match=text):
        y.sum().backward()
    y = x.exp()
    y.grad_fn.register_prehook(lambda outputs: result(outputs))
    with pytest.raises(error, match=text):
        y.sum().backward()


def test_hooks_on_an_accumulator(torch, leaf):
    x, log = leaf(1.0, 2.0), []
    y = x * 2
    node = y.grad_fn.next_functions[0][0]
    node.register_hook(lambda inputs, outputs: log.append(("post", inputs, outputs[0].tolist(), x.grad.tolist())))
    node.register_prehook(lambda outputs: log.append(("pre", outputs[0].tolist())) or (outputs[0] * 10,))
    x.register_hook(recorder(log, "tensor"))
    y.sum().backward()
    assert log == [("tensor", [2, 2]), ("pre", [2, 2]), ("post", (), [20, 20], [20, 20])]


# hooks on several tensors -------------------------------------------------------------------------------------------

def test_a_hook_on_several_tensors_runs_once(torch, leaf):
    register = torch.autograd.graph.register_multi_grad_hook
    x, y, z, log = leaf(1.0, 1.0), leaf(1.0, 1.0), leaf(1.0, 1.0), []
    a = x * 2
    handle = register((x, y, a, z), lambda grads: log.append([None if g is None else g.tolist() for g in grads]))
    (a * y).sum().backward()
    x.sum().backward()
    assert log == [[[2, 2], [2, 2], [1, 1], None], [[1, 1], None, None, None]]
    handle.remove()
    x.sum().backward()
    assert len(log) == 2


@pytest.mark.ours
def test_a_hook_on_several_tensors_and_grad(torch, leaf):
    x, y, log = leaf(1.0), leaf(1.0), []
    torch.autograd.graph.register_multi_grad_hook((x, y), lambda grads: log.append(grads[0]))
    torch.autograd.grad(x * 2 + y, y)
    assert log == [None]


def test_a_hook_on_the_first_of_several_tensors(torch, leaf):
    register = torch.autograd.graph.register_multi_grad_hook
    x, y, log = leaf(1.0), leaf(1.0), []
    with register((x, y), lambda grad: log.append(grad.item()), mode="any"):
        for _ in range(2):
            (x * 2 + y * 3).backward()
    (x * 2 + y * 3).backward()
    assert log == [3, 3]
    with pytest.raises(ValueError, match=r"^Expects mode to be one of \('all', 'any'\) but got some$"):
        register((x,), print, mode="some")
    with pytest.raises((RuntimeError, AssertionError)):
        register((x, torch.ones(2)), print)
    x.backward()


# passes within passes -----------------------------------------------------------------------------------------------

def test_backward_within_a_hook(torch, leaf):
    x, inner = leaf(1.0, 2.0), leaf(3.0)

    def hook(g):
        with torch.enable_grad():
            (inner * inner).backward()
        return g * inner.grad
    y = x * 2
    y.register_hook(hook)
    (y * y).sum().backward()
    assert x.grad.tolist() == [48, 96] and inner.grad.item() == 6 and torch.is_grad_enabled()


def test_grad_within_a_hook_of_the_same_graph(torch, leaf):
    x, seen = leaf(1.0, 2.0), []
    y = x * x
    z = y * 3
    total = y.sum()
    z.register_hook(lambda g: seen.append(torch.autograd.grad(total, x, retain_graph=True)[0].tolist()))
    z.sum().backward()
    assert seen == [[2, 4]] and x.grad.tolist() == [6, 12]


@pytest.mark.ours
def test_deep_reentrance_ends_in_a_recursion_error(torch, leaf):
    x = leaf(1.0)

    def hook(g):
        with torch.enable_grad():
            y = x * 1
        y.register_hook(hook)
        y.backward()
    y = x * 1
    y.register_hook(hook)
    with pytest.raises(RecursionError):
        y.backward()
    assert torch.is_grad_enabled()


@pytest.mark.ours
def test_cycles_through_hooks_are_collected(torch, leaf):
    x = leaf(1.0, 2.0)
    y = x * 2
    y.register_hook(lambda g, y=y: None)
    y.grad_fn.register_hook(lambda i, o, y=y: None)
    x.register_hook(lambda g, x=x: None)
    refs = [weakref.ref(x), weakref.ref(y), weakref.ref(y.grad_fn)]
    del x, y
    gc.collect()
    assert [r() for r in refs] == [None, None, None]
