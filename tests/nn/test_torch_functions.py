"""Functions that torch has beside those of torch.nn.functional, and what is refused."""
import json
import pathlib

import pytest
import torch_function_cases as cases
from recorded import difference

import shimtorch as torch
from shimtorch import _refused

ANSWERS = json.loads((pathlib.Path(__file__).parent.parent / "answers" / "torch_functions.json").read_text())


@pytest.mark.parametrize("case", cases.CASES)
def test_as_recorded(case):
    got = json.loads(json.dumps(cases.run(torch, case)))
    assert difference(ANSWERS[case], got, rtol=2e-4, atol=2e-5) is None


def test_lowest_eigenvalues_have_derivatives():
    torch.manual_seed(0)
    a = torch.randn(9, 9, dtype=torch.float64)
    a = (a @ a.t()).requires_grad_()
    values, vectors = torch.lobpcg(a, 2)
    (gradient,) = torch.autograd.grad(values[0], a)
    assert torch.allclose(gradient, vectors[:, :1] @ vectors[:, :1].t())


@pytest.mark.parametrize("how", ("sum", "mean", "prod", "max", "min"))
def test_segments_have_derivatives(how):
    x = torch.randn(2, 5, dtype=torch.float64, requires_grad=True)
    lengths = torch.tensor([[2, 0, 3], [1, 1, 3]])
    assert torch.autograd.gradcheck(lambda v: torch.segment_reduce(v, how, lengths=lengths, axis=1, initial=1.0), x)


def test_lstm_of_a_layer_and_as_a_function():
    torch.manual_seed(0)
    layer = torch.nn.LSTM(3, 4, num_layers=2, bidirectional=True, batch_first=True)
    x, state = torch.randn(2, 5, 3), (torch.randn(4, 2, 4), torch.randn(4, 2, 4))
    expected, (h, c) = layer(x, state)
    got = torch.lstm(x, state, list(layer.parameters()), True, 2, 0.0, True, True, True)
    assert all(torch.equal(a, b) for a, b in zip(got, (expected, h, c), strict=True))
    with pytest.raises(RuntimeError, match="incorrect number of RNN parameters"):
        torch.lstm(x, state, list(layer.parameters())[:-1], True, 2, 0.0, True, True, True)


@pytest.mark.parametrize("space", _refused.NAMES)
def test_refusals_name_themselves(space):
    home = torch
    for part in space.split(".")[1:]:
        home = getattr(home, part)
    for name in _refused.NAMES[space]:
        with pytest.raises(NotImplementedError, match=f"^{space}.{name} is not implemented: "):
            getattr(home, name)(1, 2, dtype=None)


def test_reinforce_was_removed():
    with pytest.raises(RuntimeError, match=r"reinforce\(\) was removed"):
        torch.ones(1).reinforce(1)
