"""Adadelta (torch.optim.adadelta)."""

from .. import _ops
from .._core import stepping
from .optimizer import Optimizer, _as_real, _check_differentiable, _check_lr, _number, _scalar_tensor

__all__ = ["Adadelta"]


class Adadelta(Optimizer):
    """Scales the gradient by the ratio of the root mean squares of past steps and of past gradients."""

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

    def _start(self, p):
        state = self.state[p]
        state["step"] = _scalar_tensor(0.0)
        state["square_avg"] = _ops.zeros_like(p)
        state["acc_delta"] = _ops.zeros_like(p)
        return state

    def _update(self, group):
        step_size = -_number(group["lr"])
        rho, eps = group["rho"], group["eps"]
        weight_decay = group["weight_decay"]
        all_state = self.state
        for p in group["params"]:
            grad = p.grad
            if grad is None:
                continue
            if grad.is_sparse:
                raise RuntimeError("Adadelta does not support sparse gradients, please consider SparseAdam instead")
            state = all_state[p] or self._start(p)
            square, steps = state["square_avg"], state["acc_delta"]
            state["step"].add_(1)
            if stepping.adadelta(p, grad, square, steps, group["maximize"], weight_decay, rho, eps, -step_size):
                continue
            if group["maximize"]:
                grad = -grad
            if weight_decay != 0:
                grad = grad.add(p, alpha=weight_decay)
            if p.is_complex():
                p, grad, square, steps = _as_real(p, grad, square, steps)
            square.mul_(rho).addcmul_(grad, grad, value=1 - rho)
            delta = steps.add(eps).sqrt_().div_(square.add(eps).sqrt_()).mul_(grad)
            steps.mul_(rho).addcmul_(delta, delta, value=1 - rho)
            p.add_(delta, alpha=step_size)
