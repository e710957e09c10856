"""Normalisation: of rows (layers, groups, single channels), and of channels over a whole batch.

The gradients are compiled too. Where they are to be differentiated again, they are put together from tensor ops.
"""
from .._core import normalisation
from .._core.declaring import op
from .._core.grad_mode import is_grad_enabled
from .samples import Draw, Samples, call

_SPACE = dict(namespace="torch.nn.functional", method=False)


def _rows_reference(torch):
    def f(x, weight, bias, rows, run, groups, eps, what):
        if what == "layer_norm":
            shape = x.shape[-weight.dim():] if weight is not None else x.shape[-1:]
            return torch.nn.functional.layer_norm(x, shape, weight, bias, eps)
        return torch.nn.functional.group_norm(x, groups, weight, bias, eps)
    return f


@op(**_SPACE, aux=("mean", "scale"), backward_name="NativeLayerNormBackward0",
    samples=Samples([call(Draw(4, 5), Draw(5), Draw(5), 4, 1, 1, 1e-5, "layer_norm"),
                     call(Draw(2, 3, 2, 4), Draw(2, 4), Draw(2, 4), 6, 1, 1, 1e-3, "layer_norm"),
                     call(Draw(2, 3, 70), None, None, 6, 1, 1, 1e-5, "layer_norm"),
                     call(Draw(2, 4, 3), Draw(4), Draw(4), 4, 3, 2, 1e-5, "group_norm"),
                     call(Draw(2, 4, 2, 3), Draw(4), None, 8, 6, 4, 1e-5, "group_norm"),
                     call(Draw(2, 4), None, Draw(4), 4, 1, 2, 1e-5, "group_norm")], reference=_rows_reference),
    grads={("input", "weight", "bias"): lambda g, input, weight, bias, rows, run, groups, eps, mean, scale, needs: (
        _rows_gradients(g, input, weight, bias, rows, run, groups, eps) if is_grad_enabled() else
        normalisation.rows_backward(g, input, weight, bias, mean, scale, rows, run, groups, needs))})
def normalise_rows(input, weight, bias, rows, run, groups, eps, what):
    """The elements of input as rows, each less its mean and over its standard deviation, times weight plus bias.

    A weight belongs to ``run`` neighbouring elements, and every group of rows has its own.
    """
    return normalisation.rows(input, weight, bias, rows, run, groups, eps, what)


def _rows_gradients(g, input, weight, bias, rows, run, groups, eps):
    shape = (rows // groups, groups, -1, run)      # examples, groups, weights, elements of one
    x, h, dims = input.reshape(shape), g.reshape(shape), (2, 3)
    centered = x - x.mean(dims, True)
    scale = ((centered * centered).mean(dims, True) + eps).rsqrt()
    x = centered * scale
    k = h if weight is None else h * weight.reshape(groups, -1, 1)
    dx = scale * (k - k.mean(dims, True) - x * (k * x).mean(dims, True))
    return (dx.reshape(input.shape), None if weight is None else (h * x).sum((0, 3)).reshape(weight.shape),
            None if bias is None else h.sum((0, 3)).reshape(bias.shape))


def _batch_reference(torch):
    return lambda x, weight, bias, mean, var, training, eps, what: (
        torch.nn.functional.batch_norm(x, mean, var, weight, bias, training, 0.1, eps))


def _eval_calls(*rest):
    return [call(Draw(3, 2, 4), Draw(2), Draw(2), Draw(2), Draw(2, low=0.5), *rest),
            call(Draw(4, 3), None, None, Draw(3), Draw(3, low=0.5), *rest),
            call(Draw(2, 3, 2, 2), Draw(3), None, Draw(3), Draw(3, low=0.5), *rest)]


@op(**_SPACE, backward_name="NativeBatchNormBackward0",
    samples=Samples(_eval_calls(False, 1e-5, "batch_norm"), gradcheck=False, reference=_batch_reference),
    grads={("input", "weight", "bias"): lambda g, input, weight, bias_shape, mean, var, training, eps, needs: (
        _channels_gradients(g, input, weight, mean, var, training, eps) if is_grad_enabled() else
        _channels_backward(g, input, weight, mean, var, training, eps, needs))})
def normalise_channels(input, weight, bias, mean, var, training, eps, what):
    """Every channel (dimension 1) less its mean and over its standard deviation, times weight plus bias.

    ``training``: mean and var are the input's own.
    """
    factor = (var + eps).rsqrt_()
    if weight is not None:
        factor = factor * weight
    summand = (mean * factor).neg_()
    return normalisation.affine(input, factor, summand if bias is None else summand + bias, what)


def _channels_backward(g, input, weight, mean, var, training, eps, needs):
    scale = (var + eps).rsqrt_()
    factor = scale if weight is None else scale * weight
    sum_g, sum_gx = normalisation.sums(g, input, mean.to(scale.dtype))
    dx = None
    if needs[0] and training:
        n = input.numel() // input.shape[1]
        slope = factor * scale * scale * sum_gx / -n
        dx = normalisation.blend(g, input, factor, slope, -(factor * sum_g / n) - slope * mean)
    elif needs[0]:
        dx = normalisation.affine(g, factor, factor.new_zeros(factor.shape), "batch_norm")
    return dx, (sum_gx * scale).to(weight.dtype) if needs[1] else None, sum_g if needs[2] else None


def _channels_gradients(g, input, weight, mean, var, training, eps):
    shape = (1, -1, *(1,) * (input.dim() - 2))
    dims = [0, *range(2, input.dim())]
    if training:
        centered = input - input.mean(dims, True)
        scale = ((centered * centered).mean(dims, True) + eps).rsqrt()
    else:
        centered, scale = input - mean.reshape(shape), (var.reshape(shape) + eps).rsqrt()
    x = centered * scale
    k = g if weight is None else g * weight.reshape(shape)
    dx = scale * (k - k.mean(dims, True) - x * (k * x).mean(dims, True)) if training else scale * k
    return dx, (g * x).sum(dims) if weight is not None else None, g.sum(dims)
