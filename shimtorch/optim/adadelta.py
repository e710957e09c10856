"""Adadelta (torch.optim.adadelta)."""

from .. import _ops
from .._core import stepping
from .optimizer import Optimizer, _as_real, _check_differentiable, _check_lr, _number, _scalar_tensor

__all__ = ["Adadelta"]


class Adadelta(Optimizer):
    """Scales the gradient by the ratio of the root mean squares of past steps and of past gradients."""

    _compiled = stepping.ADADELTA
    _dense_only = "Adadelta"
    _step_is_tensor = True
    _later_options = {"foreach": None, "maximize": False, "differentiable": False, "capturable": False}

    def __init__(
        self,
        params,
        lr=1.0,
        rho=0.9,
        eps=1e-6,
        weight_decay=0,
        foreach=None,
        *,
        capturable=False,
        maximize=False,
        differentiable=False,
    ):
        _check_differentiable("Adadelta", differentiable)
        _check_lr(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        if not 0.0 <= eps:
            raise ValueError(f"Invalid epsilon value: {eps}")
        if not 0.0 <= weight_decay:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _start(self, p, group):
        state = self.state[p]
        state["step"] = _scalar_tensor(0.0)
        state["square_avg"] = _ops.zeros_like(p)
        state["acc_delta"] = _ops.zeros_like(p)

    def _kept(self, group):
        return "square_avg", "acc_delta"

    def _numbers(self, group, count, state):
        sign = -1 if group["maximize"] else 1
        return sign, group["weight_decay"], group["rho"], group["eps"], _number(group["lr"])

    def _step_by_ops(self, group, p, grad, state, numbers):
        sign, decay, rho, eps, lr = numbers
        square, steps = state["square_avg"], state["acc_delta"]
        if sign < 0:
            grad = -grad
        if decay != 0:
            grad = grad.add(p, alpha=decay)
        if p.is_complex():
            p, grad, square, steps = _as_real(p, grad, square, steps)
        square.mul_(rho).addcmul_(grad, grad, value=1 - rho)
        delta = steps.add(eps).sqrt_().div_(square.add(eps).sqrt_()).mul_(grad)
        steps.mul_(rho).addcmul_(delta, delta, value=1 - rho)
        p.add_(delta, alpha=-lr)
