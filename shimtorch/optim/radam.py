"""RAdam (torch.optim.radam)."""

from .. import _ops
from .._core import stepping
from .optimizer import (
    Optimizer,
    _as_real,
    _check_betas,
    _check_differentiable,
    _check_lr,
    _decay,
    _number,
    _scalar_tensor,
)

__all__ = ["RAdam"]


class RAdam(Optimizer):
    """Adam that adapts only once the variance of its scale can be estimated, and rectifies it."""

    _compiled = stepping.RADAM
    _dense_only = "RAdam"
    _step_is_tensor = True
    _later_options = {
        "foreach": None,
        "maximize": False,
        "differentiable": False,
        "decoupled_weight_decay": False,
        "capturable": False,
    }

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        decoupled_weight_decay=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
    ):
        _check_differentiable("RAdam", differentiable)
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
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _start(self, p, group):
        state = self.state[p]
        state["step"] = _scalar_tensor(0.0)
        state["exp_avg"] = _ops.zeros_like(p)
        state["exp_avg_sq"] = _ops.zeros_like(p)

    def _kept(self, group):
        return "exp_avg", "exp_avg_sq"

    def _numbers(self, group, count, state):
        lr = _number(group["lr"])
        beta1, beta2 = group["betas"]
        added, shrink = _decay(group, lr)
        rho_inf = 2 / (1 - beta2) - 1
        correction, rectified = 1 - beta2**count, 0.0
        rho = rho_inf - 2 * count * (beta2**count) / correction
        if rho > 5.0:
            ratio = (rho - 4) * (rho - 2) * rho_inf / ((rho_inf - 4) * (rho_inf - 2) * rho)
            rectified = (correction * ratio) ** 0.5
        sign = -1 if group["maximize"] else 1
        return sign, added, shrink, beta1, beta2, group["eps"], lr / (1 - beta1**count), rectified

    def _step_by_ops(self, group, p, grad, state, numbers):
        sign, added, shrink, beta1, beta2, eps, step_size, rectified = numbers
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        if sign < 0:
            grad = -grad
        if p.is_complex():
            p, grad, mean, square = _as_real(p, grad, mean, square)
        if shrink != 1:
            p.mul_(shrink)
        if added != 0:
            grad = grad.add(p, alpha=added)
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        update = mean.mul(step_size)
        if rectified != 0:
            update.mul_(rectified / square.sqrt().add_(eps))
        p.sub_(update)
