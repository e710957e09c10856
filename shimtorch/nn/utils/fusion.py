"""Batch normalisation folded into the layer before it, for evaluation (torch.nn.utils.fusion)."""

import copy

from ... import _ops
from ..parameter import Parameter

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]


def _check(layer, bn):
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")


def _fused(weight, bias, mean, var, eps, gain, shift, shape):
    """Weight and bias with the scale and shift of the normalisation in them; shape spreads a number an output."""
    if bias is None:
        bias = _ops.zeros_like(mean)
    if gain is None:
        gain = _ops.ones_like(mean)
    if shift is None:
        shift = _ops.zeros_like(mean)
    scale = gain * (var + eps).rsqrt()
    new_weight = (weight * scale.reshape(shape)).to(weight.dtype)
    new_bias = ((bias - mean) * scale + shift).to(bias.dtype)
    return Parameter(new_weight, weight.requires_grad), Parameter(new_bias, bias.requires_grad)


def fuse_conv_bn_eval(conv, bn, transpose=False):
    """A convolution that does what *conv* and then *bn* do, both in evaluation mode."""
    _check(conv, bn)
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    return fused


def fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose=False):
    """The weight and bias of such a convolution, as Parameters."""
    outputs = (1, -1) if transpose else (-1, 1)
    shape = (*outputs, *(1,) * (conv_w.dim() - 2))
    return _fused(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, shape)


def fuse_linear_bn_eval(linear, bn):
    """A linear layer that does what *linear* and then *bn* do, both in evaluation mode."""
    _check(linear, bn)
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError("To fuse, linear.out_features == bn.num_features or bn.num_features == 1")
    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused


def fuse_linear_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    """The weight and bias of such a linear layer, as Parameters."""
    return _fused(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, (-1, 1))
