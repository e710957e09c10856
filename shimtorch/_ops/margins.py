"""Losses with margins between the scores (N, C) of classes, one for each row.

Their gradients are kernels too, unless these are to be differentiated again: then they are made of other ops.
"""
from .._core import OPS, margins
from .._core.declaring import op
from .._core.dtype import int64
from ._rules import by_kernel
from .samples import Draw, Samples, call, integers

_SPACE = dict(namespace="torch.nn.functional", method=False, function=False)


def multi_slopes(g, x, target, weight, squared, margin):
    """What ``multi_margin_backward`` gives, made of ops."""
    place = target.unsqueeze(1)
    hinge = (margin - x.gather(1, place) + x).clamp(min=0).scatter(1, place, 0)
    slope = hinge * 2 if squared else (hinge > 0).to(x.dtype)
    scale = g / x.shape[1] if weight is None else g * weight.index_select(0, target) / x.shape[1]
    slope = slope * scale.unsqueeze(1)
    return slope.scatter_add(1, place, -slope.sum(1, keepdim=True))


def multilabel_parts(x, target):
    """The targets before the first negative one with 0 for the others, which those are, and which classes are none."""
    listed = (target >= 0).to(int64).cumprod(1)
    safe = target * listed
    others = OPS["torch.zeros_like"](target).scatter_add(1, safe, listed) == 0
    return safe, listed.to(x.dtype), others.to(x.dtype)


def multilabel_slopes(g, x, target):
    """What ``multilabel_margin_backward`` gives, made of ops."""
    safe, listed, others = multilabel_parts(x, target)
    hinge = 1 - x.gather(1, safe).unsqueeze(2) + x.unsqueeze(1)
    slope = (hinge > 0).to(x.dtype) * listed.unsqueeze(2) * others.unsqueeze(1) * (g / x.shape[1]).reshape(-1, 1, 1)
    return slope.sum(1).scatter_add(1, safe, -slope.sum(2))


@op(**_SPACE)
def multi_margin_backward(grad, x, target, weight, squared, margin):
    """The gradient of ``multi_margin`` with respect to x."""
    return margins.multi_margin_backward(grad, x, target, weight, squared, margin)


@op(**_SPACE)
def multilabel_margin_backward(grad, x, target):
    """The gradient of ``multilabel_margin`` with respect to x."""
    return margins.multilabel_margin_backward(grad, x, target)


_slope = by_kernel(multi_margin_backward, multi_slopes)
_label_slope = by_kernel(multilabel_margin_backward, multilabel_slopes)


@op(**_SPACE, backward_name="MultiMarginLossBackward0",
    samples=Samples([call(Draw(4, 3), integers(4)), call(Draw(4, 12), integers(4), Draw(12, low=0.1), True, 0.5),
                     call(Draw(1, 3), integers(1), None, False, 2.0)],
                    gradcheck=(0, 2),
                    reference=lambda torch: lambda x, y, weight=None, squared=False, margin=1.0: (
                        torch.nn.functional.multi_margin_loss(x, y, 1 + squared, margin, weight, reduction="none"))),
    grads={"x": lambda g, x, target, weight, squared, margin: _slope(g, x, target, weight, squared, margin)})
def multi_margin(x, target, weight=None, squared=False, margin=1.0):
    """The mean over classes j but the target y of ``weight[y] * max(0, margin - x[y] + x[j])``, or of its square."""
    return margins.multi_margin(x, target, weight, squared, margin)


@op(**_SPACE, backward_name="MultilabelMarginLossBackward0",
    samples=Samples([call(Draw(4, 3), integers(4, 3, low=-1)), call(Draw(2, 12), integers(2, 12, low=-1, high=12))],
                    reference=lambda torch: lambda x, target: torch.nn.functional.multilabel_margin_loss(
                        x, target, reduction="none")),
    grads={"x": lambda g, x, target: _label_slope(g, x, target)})
def multilabel_margin(x, target):
    """The mean over classes of the hinges between every target and every class that is none."""
    return margins.multilabel_margin(x, target)
