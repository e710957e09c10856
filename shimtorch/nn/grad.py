"""The gradients of convolutions as functions of their own (torch.nn.grad)."""

from .. import _ops

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]


def _gradient(n, input, weight, which, grad_output, stride, padding, dilation, groups):
    """The gradient of an n-dimensional convolution for its input (0) or its weight (1), differentiable in the rest."""
    from .. import autograd
    from .._core.grad_mode import enable_grad, is_grad_enabled
    from . import functional

    wanted = (input, weight)[which]
    with enable_grad():
        wanted = wanted.detach().requires_grad_()
        pair = (wanted, weight) if which == 0 else (input, wanted)
        out = getattr(functional, f"conv{n}d")(
            *pair, stride=stride, padding=padding, dilation=dilation, groups=groups
        )
        if out.shape != grad_output.shape:
            raise RuntimeError(
                f"Expected grad_output to have shape {list(out.shape)} for these sizes, but got "
                f"{list(grad_output.shape)}"
            )
        (result,) = autograd.grad(out, wanted, grad_output, create_graph=True)
    return result if is_grad_enabled() else result.detach()


def _for_input(n, input_size, weight, grad_output, stride, padding, dilation, groups):
    input = _ops.zeros(1, dtype=grad_output.dtype, device=grad_output.device).expand(input_size)
    return _gradient(n, input, weight, 0, grad_output, stride, padding, dilation, groups)


def _for_weight(n, input, weight_size, grad_output, stride, padding, dilation, groups):
    weight = _ops.zeros(1, dtype=grad_output.dtype, device=grad_output.device).expand(weight_size)
    return _gradient(n, input, weight, 1, grad_output, stride, padding, dilation, groups)


def conv1d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of conv1d for an input of *input_size*, given that of its output."""
    return _for_input(1, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv1d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of conv1d for a weight of *weight_size*, given that of its output."""
    return _for_weight(1, input, weight_size, grad_output, stride, padding, dilation, groups)


def conv2d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of conv2d for an input of *input_size*, given that of its output."""
    return _for_input(2, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv2d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of conv2d for a weight of *weight_size*, given that of its output."""
    return _for_weight(2, input, weight_size, grad_output, stride, padding, dilation, groups)


def conv3d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of conv3d for an input of *input_size*, given that of its output."""
    return _for_input(3, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv3d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of conv3d for a weight of *weight_size*, given that of its output."""
    return _for_weight(3, input, weight_size, grad_output, stride, padding, dilation, groups)
