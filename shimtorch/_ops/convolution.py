"""Convolutions of one to three dimensions, on maps with a batch dimension.

Three ops that are each other's derivatives: ``conv_gather`` makes a small map of a big one (the forward pass of conv),
``conv_spread`` a big map of a small one (the forward pass of conv_transpose), ``conv_weigh`` is the gradient of
the weight in both. ``before`` is the padding in front, ``out`` the spatial size of the result, so padding may differ at
both ends.
"""
from .._core import convolution
from .._core.declaring import op
from .samples import Draw, Samples, call

_SPACE = dict(namespace="torch.nn.functional", method=False)


def _bias_gradient(g):
    return g.sum([0, *range(2, g.dim())])


def _reference(transposed):
    """Real torch's function for the sample calls, all of which have the same padding at both ends."""
    def function(torch):
        def f(map_, weight, bias, out, stride, before, dilation, groups):
            extra = [0] * len(out)
            if transposed:
                extra = [o - (i - 1) * s + 2 * p - d * (k - 1) - 1 for o, i, s, p, d, k in zip(
                    out, map_.shape[2:], stride, before, dilation, weight.shape[2:], strict=True)]
            return torch.convolution(map_, weight, bias, stride, before, dilation, transposed, extra, groups)
        return f
    return function


_gather_calls = [
    call(Draw(2, 3, 5), Draw(4, 3, 2), Draw(4), (4,), (1,), (0,), (1,), 1),
    call(Draw(2, 4, 7), Draw(6, 2, 3), None, (4,), (2,), (1,), (1,), 2),
    call(Draw(2, 2, 5, 6), Draw(3, 2, 3, 2), Draw(3), (5, 3), (1, 2), (1, 0), (1, 1), 1),
    call(Draw(1, 3, 6, 7), Draw(3, 1, 2, 2), Draw(3), (6, 5), (1, 1), (1, 0), (2, 2), 3),
    call(Draw(1, 2, 4, 3, 5), Draw(2, 2, 2, 1, 3), None, (2, 2, 2), (2, 2, 2), (0, 0, 0), (1, 1, 1), 1),
]
_spread_calls = [
    call(Draw(2, 3, 4), Draw(3, 2, 3), Draw(2), (6,), (1,), (0,), (1,), 1),
    call(Draw(2, 4, 3), Draw(4, 3, 3), None, (6,), (2,), (1,), (1,), 2),
    call(Draw(2, 2, 3, 4), Draw(2, 3, 2, 3), Draw(3), (3, 8), (1, 2), (1, 1), (2, 1), 1),
    call(Draw(1, 2, 2, 2, 2), Draw(2, 1, 2, 1, 2), None, (5, 4, 3), (3, 2, 1), (0, 0, 0), (1, 1, 1), 1),
]


@op(**_SPACE, backward_name="ConvolutionBackward0", samples=Samples(_gather_calls, reference=_reference(False)), grads={
    "big": lambda g, big_shape, weight, stride, before, dilation, groups: conv_spread(
        g, weight, None, tuple(big_shape[2:]), stride, before, dilation, groups),
    "weight": lambda g, big, weight_shape, stride, before, dilation, groups: conv_weigh(
        g, big, tuple(weight_shape[2:]), stride, before, dilation, groups),
    "bias": _bias_gradient})
def conv_gather(big, weight, bias, out, stride, before, dilation, groups):
    """(N, groups * b, *big) seen through the weight (groups * s, b, *kernel): (N, groups * s, *out)."""
    return convolution.gather(big, weight, bias, out, stride, before, dilation, groups)


@op(**_SPACE, backward_name="ConvolutionBackward0", samples=Samples(_spread_calls, reference=_reference(True)), grads={
    "small": lambda g, small_shape, weight, stride, before, dilation, groups: conv_gather(
        g, weight, None, tuple(small_shape[2:]), stride, before, dilation, groups),
    "weight": lambda g, small, weight_shape, stride, before, dilation, groups: conv_weigh(
        small, g, tuple(weight_shape[2:]), stride, before, dilation, groups),
    "bias": _bias_gradient})
def conv_spread(small, weight, bias, out, stride, before, dilation, groups):
    """(N, groups * s, *small) spread through the weight (groups * s, b, *kernel): (N, groups * b, *out)."""
    return convolution.spread(small, weight, bias, out, stride, before, dilation, groups)


@op(**_SPACE, function=False, backward_name="ConvolutionBackwardBackward0", grads={
    "small": lambda g, small_shape, big, stride, before, dilation, groups: conv_gather(
        big, g, None, tuple(small_shape[2:]), stride, before, dilation, groups),
    "big": lambda g, small, big_shape, stride, before, dilation, groups: conv_spread(
        small, g, None, tuple(big_shape[2:]), stride, before, dilation, groups)})
def conv_weigh(small, big, kernel, stride, before, dilation, groups):
    """The products of a small and a big map summed up for every element of the weight."""
    return convolution.weigh(small, big, kernel, stride, before, dilation, groups)
