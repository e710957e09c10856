"""Stochastic gradient descent (torch.optim.sgd)."""

from .._core import stepping
from .optimizer import Optimizer, _check_differentiable, _check_lr, _number

__all__ = ["SGD"]


class SGD(Optimizer):
    """``p -= lr * g``, with momentum and weight decay; sparse gradients need momentum 0."""

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

    def _update(self, group):
        step_size = -_number(group["lr"])
        momentum = group["momentum"]
        weight_decay = _number(group["weight_decay"])
        maximize = group["maximize"]
        gain = 1 - group["dampening"]
        nesterov = group["nesterov"]
        all_state = self.state
        for p in group["params"]:
            grad = p.grad
            if grad is None:
                continue
            buffer = None
            if momentum != 0:
                state = all_state[p]
                buffer = state.get("momentum_buffer")
                if buffer is None and not grad.is_sparse:
                    buffer = grad.detach().clone()
                    if stepping.sgd(p, grad, buffer, True, nesterov, maximize, weight_decay, momentum, gain,
                                    -step_size):
                        state["momentum_buffer"] = buffer
                        continue
                    buffer = None
            if (momentum == 0 or buffer is not None) and stepping.sgd(
                    p, grad, buffer, False, nesterov, maximize, weight_decay, momentum, gain, -step_size):
                continue
            if maximize:
                grad = -grad
            if weight_decay != 0:
                grad = grad.add(p, alpha=weight_decay)
            if momentum != 0:
                if buffer is None:
                    buffer = state["momentum_buffer"] = grad.detach().clone()
                else:
                    buffer.mul_(momentum).add_(grad, alpha=gain)
                grad = grad.add(buffer, alpha=momentum) if nesterov else buffer
            p.add_(grad, alpha=step_size)
