"""Adamax (torch.optim.adamax)."""

from .. import _ops
from .._core import stepping
from .optimizer import (
    Optimizer,
    _as_real,
    _check_betas,
    _check_differentiable,
    _check_lr,
    _number,
    _scalar_tensor,
)

__all__ = ["Adamax"]


class Adamax(Optimizer):
    """Adam with the decaying maximum of the gradient in place of the root mean square."""

    _compiled = stepping.ADAMAX
    _dense_only = "Adamax"
    _step_is_tensor = True
    _later_options = {"foreach": None, "maximize": False, "differentiable": False, "capturable": False}

    def __init__(
        self,
        params,
        lr=2e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        foreach=None,
        *,
        maximize=False,
        differentiable=False,
        capturable=False,
    ):
        _check_differentiable("Adamax", differentiable)
        _check_lr(lr)
        if not 0.0 <= eps:
            raise ValueError(f"Invalid epsilon value: {eps}")
        _check_betas(betas)
        if not 0.0 <= weight_decay:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _start(self, p, group):
        state = self.state[p]
        state["step"] = _scalar_tensor(0.0)
        state["exp_avg"] = _ops.zeros_like(p)
        state["exp_inf"] = _ops.zeros_like(p)

    def _kept(self, group):
        return "exp_avg", "exp_inf"

    def _numbers(self, group, count, state):
        beta1, beta2 = group["betas"]
        step_size = _number(group["lr"]) / (1 - beta1**count)
        return -1 if group["maximize"] else 1, group["weight_decay"], beta1, beta2, group["eps"], step_size

    def _step_by_ops(self, group, p, grad, state, numbers):
        sign, decay, beta1, beta2, eps, step_size = numbers
        mean, largest = state["exp_avg"], state["exp_inf"]
        if sign < 0:
            grad = -grad
        if decay != 0:
            grad = grad.add(p, alpha=decay)
        if p.is_complex():
            p, grad, mean, largest = _as_real(p, grad, mean, largest)
        mean.lerp_(grad, 1 - beta1)
        _ops.maximum(largest.mul_(beta2), grad.abs().add_(eps), out=largest)
        p.addcdiv_(mean, largest, value=-step_size)
