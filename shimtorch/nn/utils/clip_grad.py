"""Limiting gradients (torch.nn.utils.clip_grad)."""

from collections.abc import Sequence

from ... import _ops
from ..._core import Tensor, stepping
from ..._core.grad_mode import is_grad_enabled
from ..._core.policy import policy
from ..._core.reductions import reduce_each

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"]


def _gradients(parameters):
    if isinstance(parameters, Tensor):
        parameters = (parameters,)
    return [grad for p in parameters if (grad := p.grad) is not None]


def _norms(tensors, norm_type):
    """The norm of every tensor, as the elements of one."""
    if norm_type == 2 and not policy.two_types and not (
            is_grad_enabled() and any(t.requires_grad for t in tensors)):
        squares = reduce_each(tensors, "sumsq")
        if squares is not None:
            return squares.sqrt_()
    norms = [t.norm(norm_type) for t in tensors]
    if not isinstance(norms[0], Tensor):  # 0.3: the norm of a Tensor is a Python number
        return _ops.tensor(norms)
    device = norms[0].device
    return _ops.stack([n if n.device == device else n.to(device) for n in norms])


def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The *norm_type*-norm of all tensors taken as one vector."""
    tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    norm_type = float(norm_type)
    if not tensors:
        return _ops.tensor(0.0)
    total = _norms(tensors, norm_type).norm(norm_type) if len(tensors) > 1 else tensors[0].norm(norm_type)
    if error_if_nonfinite and not abs(float(total)) < float("inf"):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be "
            "clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )
    return total


def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    """Scale the gradients in place so that a *total_norm* above *max_norm* becomes *max_norm*."""
    from ... import no_grad

    with no_grad():
        scale = float(max_norm) / (total_norm + 1e-6)
        scale = scale.clamp(max=1.0) if isinstance(scale, Tensor) else min(scale, 1.0)
        grads = _gradients(parameters)
        if not (isinstance(scale, Tensor) and scale.is_cuda):  # whose number would have to be waited for
            grads = stepping.alter(stepping.SCALE, grads, float(scale))
        for grad in grads:
            grad.mul_(scale)


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Limit the norm of all gradients together, in place; returns what it was before."""
    from ... import no_grad

    exhausted = not isinstance(parameters, (Tensor, Sequence))
    parameters = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    if exhausted and not parameters:
        import warnings

        warnings.warn("`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=2)
    with no_grad():
        total = get_total_norm(_gradients(parameters), norm_type, error_if_nonfinite)
        clip_grads_with_norm_(parameters, max_norm, total)
    return total


def clip_grad_norm(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The old name of clip_grad_norm_; deprecated."""
    import warnings

    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(parameters, clip_value, foreach=None):
    """Limit every element of the gradients to [-clip_value, clip_value], in place."""
    from ... import no_grad

    clip_value = float(clip_value)
    with no_grad():
        for grad in stepping.alter(stepping.CLAMP, _gradients(parameters), -clip_value, clip_value):
            grad.clamp_(min=-clip_value, max=clip_value)
