"""What layers and functions do differently in the eras before 2.0."""

import warnings

import pytest

import shimtorch as torch
from shimtorch import nn
from shimtorch.nn import functional as F

ONES = [1.0] * 64


@pytest.mark.parametrize("era, trains", [("0.4", False), ("1.0", True), ("modern", True)])
def test_default_of_functional_dropout(era, trains):
    with torch.era(era):
        torch.manual_seed(0)
        assert (F.dropout(torch.tensor(ONES)).tolist() != ONES) is trains


@pytest.mark.parametrize("era, uniform", [("0.4", True), ("1.0", True), ("1.1", True), ("1.11", False)])
def test_initial_weight_of_batch_norm(era, uniform):
    with torch.era(era):
        weight = nn.BatchNorm1d(3).weight.tolist()
    assert (weight != [1, 1, 1]) is uniform and all(0 <= w <= 1 for w in weight)


def test_batches_are_not_counted_before_1_0():
    newer = nn.BatchNorm1d(3).state_dict()
    with torch.era("0.4"):
        norm = nn.BatchNorm1d(3)
        assert list(norm.state_dict()) == ["weight", "bias", "running_mean", "running_var"]
        norm.load_state_dict(newer)
        older = norm.state_dict()
        assert norm(torch.ones(2, 3)).shape == (2, 3)
    nn.BatchNorm1d(3).load_state_dict(older)


@pytest.mark.parametrize("era, second", [("0.3", 1 / 3), ("0.4", 0.25), ("modern", 0.25)])
def test_default_of_align_corners(era, second):
    image = torch.tensor([[[[0.0, 1.0], [2.0, 3.0]]]])
    with torch.era(era):
        result = F.interpolate(image, scale_factor=2, mode="bilinear")
    assert result.tolist()[0][0][0] == pytest.approx([0.0, second, 1 - second, 1.0])


def test_gradient_norm_of_python_numbers():
    """In 0.3 the norm of a Tensor is a Python number."""
    with torch.era("0.3"):
        parameter = nn.Parameter(torch.ones(4))
        parameter.sum().backward()
        assert nn.utils.clip_grad_norm_([parameter], 1.0) == pytest.approx(2.0)
        assert parameter.grad.data.tolist() == pytest.approx([0.5] * 4)


@pytest.mark.parametrize("era, warns", [("0.4", False), ("1.0", True), ("modern", True)])
def test_size_average_warns_since_it_is_deprecated(era, warns):
    with torch.era(era), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        loss = nn.MSELoss(size_average=False)(torch.ones(2), torch.zeros(2))
    assert float(loss) == 2
    assert bool(caught) is warns


def test_elementwise_mean_is_understood():
    with pytest.warns(UserWarning, match="elementwise_mean"):
        loss = F.mse_loss(torch.ones(2), torch.zeros(2), reduction="elementwise_mean")
    assert loss.item() == 1


@pytest.mark.parametrize("era, forgets", [("0.3", False), ("1.1", False), ("1.11", False), ("modern", True)])
def test_zero_grad_forgets_the_gradients_since_2_0(era, forgets):
    with torch.era(era):
        linear = nn.Linear(2, 1)
        optimizer = torch.optim.SGD(linear.parameters(), lr=0.1)
        for zero_grad in (linear.zero_grad, optimizer.zero_grad):
            linear(torch.autograd.Variable(torch.Tensor([[1, 2]]))).sum().backward()
            zero_grad()
            assert [p.grad is None for p in linear.parameters()] == [forgets] * 2
            assert forgets or all(p.grad.data.abs().sum() == 0 for p in linear.parameters())
