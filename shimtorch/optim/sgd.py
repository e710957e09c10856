"""Stochastic gradient descent (torch.optim.sgd)."""

from .._core import stepping
from .optimizer import Optimizer, _check_differentiable, _check_lr, _number

__all__ = ["SGD"]


class SGD(Optimizer):
    """``p -= lr * g``, with momentum and weight decay; sparse gradients need momentum 0."""

    _compiled = stepping.SGD
    _later_options = {
        "nesterov": False,
        "maximize": False,
        "foreach": None,
        "differentiable": False,
        "fused": False,
    }

    def __init__(
        self,
        params,
        lr=1e-3,
        momentum=0,
        dampening=0,
        weight_decay=0,
        nesterov=False,
        *,
        maximize=False,
        foreach=None,
        differentiable=False,
        fused=None,
    ):
        _check_differentiable("SGD", differentiable)
        _check_lr(lr)
        if momentum < 0.0:
            raise ValueError(f"Invalid momentum value: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)

    def _kept(self, group):
        return ("momentum_buffer",) if group["momentum"] != 0 else ()

    def _numbers(self, group, count, state):
        sign = -1 if group["maximize"] else 1
        return (sign, _number(group["weight_decay"]), group["momentum"], 1 - group["dampening"], _number(group["lr"]),
                group["nesterov"])

    def _step_by_ops(self, group, p, grad, state, numbers):
        sign, decay, momentum, gain, lr, nesterov = numbers
        if sign < 0:
            grad = -grad
        if decay != 0:
            grad = grad.add(p, alpha=decay)
        if momentum != 0:
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = grad.detach().clone()
            else:
                buffer.mul_(momentum).add_(grad, alpha=gain)
            grad = grad.add(buffer, alpha=momentum) if nesterov else buffer
        p.add_(grad, alpha=-lr)
