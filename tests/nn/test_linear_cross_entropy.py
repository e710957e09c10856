"""linear_cross_entropy is cross_entropy of linear; its layer owns the linear map."""

import copy
import pickle

import pytest

import shimtorch as torch
from shimtorch import nn
from shimtorch.nn import functional as F


def inputs(places=(), bias=True):
    torch.manual_seed(0)
    weight = torch.randn(10, *places, 5, dtype=torch.float64, requires_grad=True)
    return (torch.randn(3, 5, dtype=torch.float64, requires_grad=True), weight,
            torch.randn(10, *places, dtype=torch.float64, requires_grad=True) if bias else None)


@pytest.mark.parametrize("places", [(), (4,), (4, 2)])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("options", [{}, {"reduction": "none"}, {"reduction": "sum", "ignore_index": 1},
                                     {"label_smoothing": 0.25, "weight": torch.arange(10, dtype=torch.float64)}])
@pytest.mark.parametrize("classes", [True, False])
def test_value_and_gradients(places, bias, options, classes):
    if not classes and "ignore_index" in options:
        return
    x, w, b = inputs(places, bias)
    target = torch.randint(0, 10, (3, *places)) if classes else torch.rand(3, 10, *places, dtype=torch.float64)
    scores = torch.einsum("ni,c...i->nc...", x, w) + (b if bias else 0)
    expected = F.cross_entropy(scores, target, **options)
    loss = F.linear_cross_entropy(x, w, target, linear_bias=b, **options)
    assert loss.shape == expected.shape and torch.allclose(loss, expected)
    given = [t for t in (x, w, b) if t is not None]
    for ours, plain in zip(torch.autograd.grad(loss.sum(), given), torch.autograd.grad(expected.sum(), given),
                           strict=True):
        assert torch.allclose(ours, plain)


def test_single_example():
    x, w, b = inputs()
    one = F.linear_cross_entropy(x[0], w, torch.tensor(3), linear_bias=b)
    assert torch.allclose(one, F.linear_cross_entropy(x[:1], w, torch.tensor([3]), linear_bias=b))


@pytest.mark.parametrize("call, message", [
    (lambda x, w, y: F.linear_cross_entropy(x, w[:, :4], y),
     r"expected equal input and linear_weight last dimensions \(in_features\), got 5 and 4, respectively"),
    (lambda x, w, y: F.linear_cross_entropy(x, w[0], y),
     "expected linear_weight with dimensionality at least 2, got 1"),
    (lambda x, w, y: F.linear_cross_entropy(x[None], w, y), "expected input with dimensionality 1 or 2, got 3"),
    (lambda x, w, y: F.linear_cross_entropy(x, w, y, linear_bias=w[:9, 0]),
     r"expected linear_bias shape \(10,\), got \(9,\)"),
    (lambda x, w, y: F.linear_cross_entropy(x[0], w.reshape(5, 2, 5), y),
     r"K-dimensional loss defined by linear_weight shape \(5, 2, 5\) requires batched input, \(N, 5\), got unbatched "
     r"input with shape \(5,\)"),
    (lambda x, w, y: F.linear_cross_entropy(x, w, torch.rand(3, 10), ignore_index=2),
     "ignore_index cannot be specified when target contains probabilities"),
    (lambda x, w, y: nn.LinearCrossEntropyLoss(5, 10, weight=torch.ones(3)),
     r"expected weight shape to be \(10,\), got \(3,\)"),
    (lambda x, w, y: nn.LinearCrossEntropyLoss(5, 10, label_smoothing=3.0),
     r"expected label_smoothing to be in range \[0, 1\], got 3.0"),
])
def test_errors(call, message):
    x, w, _ = inputs()
    with pytest.raises(RuntimeError, match=message):
        call(x, w, torch.tensor([1, 2, 3]))


def test_layer():
    torch.manual_seed(1)
    layer = nn.LinearCrossEntropyLoss(5, 10, out_features=(4, 3), bias=True, reduction="sum", label_smoothing=0.1)
    assert repr(layer) == (
        "LinearCrossEntropyLoss(\n  in_features=5, num_classes=10, out_features=(4, 3), bias=True, reduction=sum, "
        "ignore_index=None, label_smoothing=0.1, options=None\n  (linear): Linear(in_features=5, out_features=120, "
        "bias=True)\n)")
    assert {name: tuple(value.shape) for name, value in layer.state_dict().items()} == {
        "linear.weight": (120, 5), "linear.bias": (120,)}
    x, target = torch.randn(2, 5), torch.randint(0, 10, (2, 4, 3))
    scores = F.linear(x, layer.linear.weight, layer.linear.bias).reshape(2, 10, 4, 3)
    assert torch.equal(layer(x, target), F.cross_entropy(scores, target, reduction="sum", label_smoothing=0.1))
    assert list(nn.LinearCrossEntropyLoss(5, 3, weight=torch.ones(3)).state_dict()) == ["weight", "linear.weight"]


def test_options():
    options = nn.LinearCrossEntropyOptions(batch_chunk_size=2, chunking_method="aspect_ratio:3")
    assert repr(options) == ("LinearCrossEntropyOptions(allow_retain_graph=False, batch_chunk_size=2, "
                             "chunking_method='aspect_ratio:3', acc_policy='auto', acc_dtype=None)")
    for other in (copy.deepcopy(options), pickle.loads(pickle.dumps(options))):
        assert other == options and hash(other) == hash(options)
    assert options != nn.LinearCrossEntropyOptions()
    x, w, b = inputs()
    target = torch.tensor([1, 2, 3])
    assert torch.equal(F.linear_cross_entropy(x, w, target, linear_bias=b, options=options),
                       F.linear_cross_entropy(x, w, target, linear_bias=b))
    with pytest.raises(AttributeError, match="cannot assign to field 'acc_policy'"):
        options.acc_policy = "compact"
    for wrong, message in (({"batch_chunk_size": 0}, "batch_chunk_size must be positive int or None, got 0"),
                           ({"chunking_method": "x"}, "invalid chunking_method: 'x'"),
                           ({"acc_policy": "x"}, "invalid acc_policy: 'x'"),
                           ({"acc_dtype": 3}, "acc_dtype must be one")):
        with pytest.raises(ValueError, match=message):
            nn.LinearCrossEntropyOptions(**wrong)
