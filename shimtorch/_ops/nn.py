"""The ops of neural network layers: linear maps, look-ups, losses on indices."""
from .._core import lookups, products
from .._core.declaring import op
from .._core.deferred import Deferred
from .._core.dtype import scalar_type
from .._core.grad_mode import is_grad_enabled
from .._core.pointwise import pointwise1
from .samples import Draw, Samples, call, integers

_SPACE = dict(namespace="torch.nn.functional", method=False)


def _linear_name(input, bias):
    if input.dim() == 2:
        return "MmBackward0" if bias is None else "AddmmBackward0"
    return "UnsafeViewBackward0" if bias is None else "ViewBackward0"


@op(**_SPACE, out=True, backward_name=_linear_name,
    samples=Samples([call(Draw(2, 3), Draw(4, 3), Draw(4)), call(Draw(2, 3), Draw(4, 3)),
                     call(Draw(3), Draw(4, 3), Draw(4)),
                     call(Draw(5, 2, 3), Draw(4, 3), Draw(4))]),
    grads={"input": lambda g, weight: g.matmul(weight),
           "weight": lambda g, input: _rows(g).t().mm(_rows(input)),
           "bias": lambda g: g})
def linear(input, weight, bias=None):
    """``input @ weight.T + bias``: (..., in) with (out, in) and (out) gives (..., out)."""
    return products.linear_product(input, weight, bias)


def _rows(x):
    return x if x.dim() == 2 else x.reshape(-1, x.shape[-1])


@op(**_SPACE, samples=Samples([call(Draw(5, 3), Draw(2, 4, low=0, high=5, dtype="int64")),
                               call(Draw(5, 3), Draw(4, low=0, high=5, dtype="int64"), 1)],
                              gradcheck=(0,), reference=lambda torch: torch.embedding), name="embedding_lookup",
    backward_name="EmbeddingBackward0",
    grads={"weight": lambda g, weight_shape, indices, padding_idx: embedding_dense_backward(
        g, indices, weight_shape[0], padding_idx)})
def embedding_lookup(weight, indices, padding_idx=-1):
    """The rows of weight that indices name."""
    if indices.dtype.name not in ("int64", "int32"):
        raise RuntimeError("Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, "
                           f"Int; but got torch.{scalar_type(indices.dtype)}Tensor instead (while checking arguments "
                           "for embedding)")
    return lookups.rows(weight, indices)


@op(**_SPACE, function=False, grads={"grad": lambda g, indices, padding_idx: _masked_rows(
    embedding_lookup(g, indices), indices, padding_idx)})
def embedding_dense_backward(grad, indices, num_weights, padding_idx=-1):
    """The gradient of an embedding's weight: rows summed where they were looked up, the padding row left out."""
    return lookups.rows_backward(grad, indices, num_weights, padding_idx)


def _masked_rows(x, indices, padding_idx):
    return x if padding_idx < 0 else x * (indices != padding_idx).unsqueeze(-1).to(x.dtype)


@op(**_SPACE, name="nll_sum", backward_name="NllLossBackward0", aux=("total",),
    samples=Samples([call(Draw(4, 3), integers(4)), call(Draw(4, 3), integers(4), Draw(3, low=0.1)),
                     call(Draw(4, 3), integers(4), None, 1),
                     call(Draw(4, 3), integers(4), Draw(3, low=0.1), -100, True)],
                    gradcheck=(0, 2), reference=lambda torch: lambda x, target, weight=None, ignored=-100, mean=False: (
                        torch.nn.functional.nll_loss(x, target, weight, ignore_index=ignored,
                                                     reduction="mean" if mean else "sum"))),
    grads={"input": lambda g, input_shape, target, weight, ignore_index, mean, total: _nll_gradient(
        g, input_shape, target, weight, ignore_index, mean, total)})
def nll_sum(input, target, weight=None, ignore_index=-100, mean=False):
    """Minus the sum (or weighted mean) of input (N, C) at the classes target (N), which may be ignored."""
    return lookups.nll(input, target, weight, ignore_index, mean)


@op(**_SPACE, function=False, grads={"grad": lambda g, target, weight, ignore_index, mean, total: _nll_linear(
    g, target, weight, ignore_index, mean, total)})
def nll_backward(grad, size, target, weight, ignore_index, mean, total):
    """The gradient of ``nll_sum`` with respect to its input of the given size."""
    return lookups.nll_backward(grad, size, target, weight, ignore_index, mean, total)


def _nll_gradient(g, *about):
    if is_grad_enabled() or not lookups.is_plain(g):
        return nll_backward(g, *about)
    return Deferred("LogSoftmaxBackward0", nll_backward, (g, *about))


def _nll_linear(g, target, weight, ignore_index, mean, total):
    result = nll_sum(g, target, weight, ignore_index, False)
    return result / total if mean else result


@op(**_SPACE, function=False,
    backward_name=lambda input: "NllLossBackward0" if input.dim() == 2 else "NllLoss2DBackward0",
    samples=Samples([call(Draw(4, 3), integers(4)), call(Draw(4, 3), integers(4), Draw(3, low=0.1)),
                     call(Draw(2, 3, 2, 2), integers(2, 2, 2), None, 1),
                     call(Draw(2, 3, 4), integers(2, 4), Draw(3, low=0.1), 0)],
                    gradcheck=(0, 2), reference=lambda torch: lambda x, target, weight=None, ignored=-100: (
                        torch.nn.functional.nll_loss(x, target, weight, ignore_index=ignored, reduction="none"))),
    grads={"input": lambda g, input_shape, target, weight, ignore_index: nll_spread(
        g, input_shape[1], target, weight, ignore_index)})
def nll_each(input, target, weight=None, ignore_index=-100):
    """Minus input (N, C, ...) at the classes target (N, ...), each on its own, 0 where ignored."""
    return lookups.nll_each(input, target, weight, ignore_index)


@op(**_SPACE, function=False, grads={"grad": lambda g, target, weight, ignore_index: nll_each(
    g, target, weight, ignore_index)})
def nll_spread(grad, classes, target, weight, ignore_index):
    """The gradient of ``nll_each`` with respect to its input of so many classes."""
    return lookups.nll_spread(grad, classes, target, weight, ignore_index)


@op(**_SPACE, function=False, backward_name="HuberLossBackward0",
    samples=Samples([call(Draw(3, 4, low=-3, high=3, away_from="integer"), 1.0),
                     call(Draw(3, 4, low=-3, high=3, away_from="integer"), 2.0), call(Draw(12, special=True), 1.0)],
                    reference=lambda torch: lambda difference, delta: torch.nn.functional.huber_loss(
                        difference, torch.zeros_like(difference), reduction="none", delta=delta)),
    grads={"difference": lambda g, difference, delta: g * difference.clamp(-delta, delta)})
def huber(difference, delta):
    """difference ** 2 / 2 where that is smaller than delta, and a straight line beyond."""
    return pointwise1("huber", difference, (delta,))


@op(**_SPACE, function=False, backward_name="BinaryCrossEntropyBackward0",
    samples=Samples([call(Draw(3, 4, low=0.05, high=0.95), Draw(3, 4, low=0, high=1)),
                     call(Draw(2, low=0, high=0), Draw(2, low=0, high=1))], gradcheck=(0,),
                    reference=lambda torch: lambda input, target: torch.nn.functional.binary_cross_entropy(
                        input, target, reduction="none")),
    grads={"input": lambda g, input, target: g * (input - target) / (input * (1 - input)).clamp(min=1e-12),
           "target": lambda g, input: g * ((-input).log1p() - input.log())})
def cross_entropy_terms(input, target):
    """``-(target * log(input) + (1 - target) * log(1 - input))``, the logarithms at least -100."""
    return (target - 1) * (-input).log1p().clamp_(min=-100) - target * input.log().clamp_(min=-100)
