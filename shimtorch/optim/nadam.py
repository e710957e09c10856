"""NAdam (torch.optim.nadam)."""

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

__all__ = ["NAdam"]


class NAdam(Optimizer):
    """Adam with Nesterov momentum that grows over the steps by *momentum_decay*."""

    _compiled = stepping.NADAM
    _dense_only = "NAdam"
    _numbers_differ = True
    _step_is_tensor = True
    _later_options = {
        "maximize": False,
        "foreach": None,
        "capturable": False,
        "differentiable": False,
        "decoupled_weight_decay": False,
    }

    def __init__(
        self,
        params,
        lr=2e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        momentum_decay=4e-3,
        decoupled_weight_decay=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
    ):
        _check_differentiable("NAdam", differentiable)
        _check_lr(lr)
        if not 0.0 <= eps:
            raise ValueError(f"Invalid epsilon value: {eps}")
        _check_betas(betas)
        if not 0.0 <= weight_decay:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        if not 0.0 <= momentum_decay:
            raise ValueError(f"Invalid momentum_decay value: {momentum_decay}")
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state):
        super().__setstate__(state)
        for param_state in self.state.values():
            product = param_state.get("mu_product")
            if isinstance(product, (int, float)):  # states from before 1.12
                param_state["mu_product"] = _scalar_tensor(float(product))

    def _start(self, p, group):
        state = self.state[p]
        state["step"] = _scalar_tensor(0.0)
        state["mu_product"] = _scalar_tensor(1.0)
        state["exp_avg"] = _ops.zeros_like(p)
        state["exp_avg_sq"] = _ops.zeros_like(p)

    def _kept(self, group):
        return "exp_avg", "exp_avg_sq"

    def _numbers(self, group, count, state):
        """The numbers of this step, whose momentum is multiplied into the product that *state* keeps."""
        lr, decay = _number(group["lr"]), group["momentum_decay"]
        beta1, beta2 = group["betas"]
        added, shrink = _decay(group, lr)
        mu = beta1 * (1.0 - 0.5 * 0.96 ** (count * decay))
        mu_next = beta1 * (1.0 - 0.5 * 0.96 ** ((count + 1) * decay))
        product = state["mu_product"].mul_(mu).item()
        step_size = lr * (1.0 - mu) / (1.0 - product)
        step_of_mean = lr * mu_next / (1.0 - product * mu_next)
        sign = -1 if group["maximize"] else 1
        return sign, added, shrink, beta1, beta2, group["eps"], 1 - beta2**count, step_size, step_of_mean

    def _step_by_ops(self, group, p, grad, state, numbers):
        sign, added, shrink, beta1, beta2, eps, correction, step_size, step_of_mean = numbers
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
        denom = square.div(correction).sqrt_().add_(eps)
        p.addcdiv_(grad, denom, value=-step_size)
        p.addcdiv_(mean, denom, value=-step_of_mean)
