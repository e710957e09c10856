"""The graph that operations leave behind: nodes, edges, leaves, flags."""
import gc
import weakref

import pytest


def test_a_result_points_at_what_it_was_made_of(torch, leaf):
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    z = (x * y).sum()
    assert type(z.grad_fn).__name__ == z.grad_fn.name() == "SumBackward0"
    (mul, nr), = z.grad_fn.next_functions
    assert (mul.name(), nr) == ("MulBackward0", 0)
    (first, _), (second, _) = mul.next_functions
    assert first.variable is x and second.variable is y
    assert first.next_functions == ()


def test_types_and_names_of_nodes(torch, leaf):
    node = (leaf(1.0) * 2).grad_fn
    assert str(type(node)) == "<class 'MulBackward0'>"
    assert repr(node).startswith("<MulBackward0 object at 0x")
    accumulate = node.next_functions[0][0]
    assert type(accumulate).__name__ == "AccumulateGrad"
    assert accumulate.name() == "torch::autograd::AccumulateGrad"
    assert isinstance(node, torch.autograd.graph.Node)


def test_a_number_has_an_edge_to_nowhere(torch, leaf):
    assert (leaf(1.0) * 2).grad_fn.next_functions[1] == (None, 0)


def test_the_accumulator_of_a_leaf_is_one_object(torch, leaf):
    x = leaf(1.0)
    a, b = x * 2, x * 3
    assert a.grad_fn.next_functions[0][0] is b.grad_fn.next_functions[0][0]


def test_metadata_is_a_dict_of_ones_own(torch, leaf):
    node = (leaf(1.0) * 2).grad_fn
    node.metadata["note"] = 5
    assert node.metadata == {"note": 5}


def test_leaves_and_results(torch, leaf):
    x = leaf(1.0)
    assert x.is_leaf and x.requires_grad and x.grad_fn is None
    y = x * 2
    assert not y.is_leaf and y.requires_grad and y.grad_fn is not None
    z = torch.ones(2) * 2
    assert z.is_leaf and not z.requires_grad and z.grad_fn is None


def test_one_differentiable_operand_is_enough(torch, leaf):
    x, c = leaf(1.0, 2.0), torch.ones(2)
    assert (c * x).requires_grad and torch.cat([c, c, x]).requires_grad and torch.stack([c, x]).requires_grad
    assert not torch.cat([c, c]).requires_grad


def test_results_of_other_kinds_of_numbers_have_no_history(torch, leaf):
    x = leaf(1.5, 2.5)
    assert not x.long().requires_grad and x.long().grad_fn is None
    assert not (x > 2).requires_grad
    assert not x.argmax().requires_grad
    values, indices = torch.stack([x, x]).max(0)
    assert values.requires_grad and not indices.requires_grad
    n = torch.zeros(2, dtype=torch.int64)
    n.copy_(x * 2)
    assert not n.requires_grad and n.grad_fn is None and n.tolist() == [3, 5]


def test_requires_grad_of_a_leaf_can_be_switched(torch):
    x = torch.ones(2)
    assert x.requires_grad_() is x and x.requires_grad
    x.requires_grad = False
    assert not x.requires_grad and not (x * 2).requires_grad


def test_requires_grad_of_a_result_cannot_be_switched_off(torch, leaf):
    y = leaf(1.0) * 2
    assert y.requires_grad_() is y
    text = r"^you can only change requires_grad flags of leaf variables\."
    with pytest.raises(RuntimeError, match=text + " If you want to use a computed variable in a subgraph that doesn't "
                                                  r"require differentiation use var_no_grad = var\.detach\(\)\.$"):
        y.requires_grad = False
    with pytest.raises(RuntimeError, match=text + "$"):
        y.requires_grad = True


def test_integers_cannot_require_grad(torch):
    with pytest.raises(RuntimeError, match="only Tensors of floating point and complex dtype can require gradients"):
        torch.ones(2, dtype=torch.int64).requires_grad = True
    with pytest.raises(RuntimeError, match="(?i)only Tensors of floating point and complex dtype can require "
                                           "gradients"):
        torch.tensor([1, 2], requires_grad=True)
    assert not torch.ones(2, dtype=torch.bool).requires_grad_(False).requires_grad


@pytest.mark.parametrize("value", [1, None, "yes"])
def test_requires_grad_is_a_bool(torch, value):
    with pytest.raises(RuntimeError, match="requires_grad must be a bool"):
        torch.ones(2).requires_grad = value


def test_detach_shares_memory_and_version_but_no_history(torch, leaf):
    x = leaf(1.0, 2.0) * 1
    d = x.detach()
    assert d.is_leaf and not d.requires_grad and d.data_ptr() == x.data_ptr() and not d._is_view()
    d.zero_()
    assert x.tolist() == [0, 0] and x._version == d._version == 1


def test_detach_in_place_makes_a_leaf(torch, leaf):
    x = leaf(1.0, 2.0)
    y = x * 2
    assert y.detach_() is y and y.is_leaf and not y.requires_grad
    with pytest.raises(RuntimeError, match=r"^Can't detach views in-place\. Use detach\(\) instead\."):
        (x * 2)[:1].detach_()


def test_data_has_a_version_of_its_own(torch, leaf):
    x = leaf(1.0, 2.0) * 1
    x.data.zero_()
    assert x._version == 0 and x.tolist() == [0, 0] and x.grad_fn is not None


def test_views_of_a_tensor_that_requires_grad_later(torch):
    x = torch.zeros(3)
    v = x[:2]
    x.requires_grad_()
    assert v.requires_grad and (v * 2).requires_grad and v.grad_fn is None
    (v * 2).sum().backward()
    assert x.grad is None


def test_what_was_saved_can_be_looked_at(torch, leaf):
    x = leaf(1.0, 2.0) * 1
    node = (x * x).grad_fn
    assert node._saved_self is x and node._saved_other is x
    e = x.exp()
    assert e.grad_fn._saved_result.tolist() == e.tolist()
    e.sum().backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        _ = e.grad_fn._saved_result
    with pytest.raises(AttributeError):
        _ = e.grad_fn._saved_nothing


@pytest.mark.ours
def test_a_graph_is_freed_without_the_garbage_collector(torch, leaf):
    gc.collect()
    gc.disable()
    try:
        x = leaf(1.0, 2.0)
        y = x.exp() * x
        node, saved = weakref.ref(y.grad_fn), weakref.ref(y)
        del y
        assert node() is None and saved() is None
    finally:
        gc.enable()


def test_nodes_can_be_applied_by_hand(torch, leaf):
    x = leaf(2.0, 3.0)
    y = x.exp()
    assert torch.allclose(y.grad_fn(torch.ones(2)), y)


@pytest.mark.ours
def test_misused_nodes_raise(torch, leaf):
    node = (leaf(1.0, 2.0) * 2).grad_fn
    for args in [(), (torch.ones(2), torch.ones(2)), (3,)]:
        with pytest.raises((RuntimeError, TypeError)):
            node(*args)
    with pytest.raises((RuntimeError, TypeError)):
        type(node)()(torch.ones(2))
    with pytest.raises(AttributeError):
        _ = type(node)()._saved_self
    assert type(node)().next_functions == ()
