"""torch.utils.checkpoint gives the gradients of the function that it runs twice, and torch's errors."""

import warnings

import pytest

import shimtorch as torch
from shimtorch import nn
from shimtorch.utils import checkpoint as module
from shimtorch.utils.checkpoint import CheckpointError, checkpoint, checkpoint_sequential


@pytest.fixture
def net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Dropout(0.5), nn.Linear(3, 3), nn.Tanh())


def gradients(net, run, requires_grad=True):
    """The output of run(x), the gradients of x and of the weights, and the next random number."""
    net.zero_grad()
    torch.manual_seed(1)
    x = torch.arange(6.0).view(2, 3).requires_grad_(requires_grad)
    out = run(x)
    following = torch.rand(1)
    out.pow(2).sum().backward()
    for_x = x.grad.tolist() if requires_grad else None
    return [out.tolist(), for_x, [p.grad.tolist() for p in net.parameters()], following.item()]


@pytest.mark.parametrize("reentrant", [True, False])
def test_gradients_are_those_of_one_run(net, reentrant):
    calls = []

    def function(x, factor):
        calls.append(1)
        return net(x) * factor

    once = gradients(net, lambda x: function(x, 2.0))
    calls.clear()
    assert gradients(net, lambda x: checkpoint(function, x, 2.0, use_reentrant=reentrant)) == once
    assert len(calls) == 2
    sequential = gradients(net, lambda x: 2.0 * checkpoint_sequential(net, 2, x, use_reentrant=reentrant))
    assert sequential == once


def test_without_reentry_no_input_needs_a_gradient_and_keywords_are_taken(net):
    once = gradients(net, net, requires_grad=False)
    assert gradients(net, lambda x: checkpoint(net.forward, input=x, use_reentrant=False), False) == once
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"), pytest.raises(RuntimeError):
        gradients(net, lambda x: checkpoint(net, x, use_reentrant=True), False)


def test_nested_and_repeated_backward():
    x = torch.tensor([0.5, 1.5], requires_grad=True)
    inner = lambda b: (b * b).exp()  # noqa: E731
    out = checkpoint(lambda a: checkpoint(inner, a, use_reentrant=False).sin() * a, x, use_reentrant=False).sum()
    got = [torch.autograd.grad(out, x, retain_graph=True)[0].tolist() for _ in range(2)]
    want = torch.autograd.grad((inner(x).sin() * x).sum(), x)[0].tolist()
    assert got == [want, want]


@pytest.mark.parametrize("second, stops, message", [
    (lambda x: x.exp().sin().cos(), False, "trying to save more tensors during recomputation"),
    (lambda x: x.exp(), True, "A different number of tensors was saved during the original forward and recomputation"),
    (lambda x: x[:1].exp().sin(), True, "have different metadata than during the forward pass"),
])
def test_another_second_run_is_noticed(second, stops, message):
    runs = []

    def function(x):
        runs.append(1)
        return x.exp().sin() if len(runs) == 1 else second(x)

    out = checkpoint(function, torch.ones(2, requires_grad=True), use_reentrant=False, early_stop=stops)
    with pytest.raises(CheckpointError, match=message):
        out.sum().backward()


def test_early_stop_ends_the_second_run_where_nothing_more_is_needed():
    ended = []

    def function(x):
        y = x.exp()
        y.sum()
        ended.append(1)
        return y

    for stops, runs in ((True, 1), (False, 2)):
        ended.clear()
        with module.set_checkpoint_early_stop(stops):
            out = checkpoint(function, torch.ones(2, requires_grad=True), use_reentrant=False)
        out.sum().backward()
        assert len(ended) == runs


def test_wrong_arguments():
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(ValueError, match="Unexpected keyword arguments: z"):
        checkpoint(torch.exp, x, use_reentrant=True, z=1)
    with pytest.raises(ValueError, match="`context_fn` or `debug` is only supported when use_reentrant=False"):
        checkpoint(torch.exp, x, use_reentrant=True, debug=True)
    with pytest.raises(ValueError, match="determinism_check should be one of"):
        checkpoint(torch.exp, x, use_reentrant=False, determinism_check="x")
    with pytest.raises(NotImplementedError, match="debug=True is not implemented"):
        checkpoint(torch.exp, x, use_reentrant=False, debug=True)
    with pytest.raises(RuntimeError, match="Only tuple of tensors is supported"):
        module.detach_variable([x])


@pytest.mark.parametrize("era, warned", [("0.4", 0), ("1.11", 0), ("modern", 1)])
def test_the_missing_choice_is_warned_of_since_2_0(era, warned):
    with torch.era(era), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        checkpoint(torch.exp, torch.ones(2, requires_grad=True)).sum().backward()
    assert len(caught) == warned


@pytest.mark.parametrize("call", [
    lambda y, x: torch.autograd.grad(y, x),
    lambda y, x: y.backward(inputs=[x]),
])
def test_the_reentrant_kind_gives_gradients_to_all_leaves_only(call):
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="incompatible with .grad.. or passing an `inputs` parameter"):
        call(checkpoint(torch.exp, x, use_reentrant=True).sum(), x)
    call(checkpoint(torch.exp, x, use_reentrant=False).sum(), x)
