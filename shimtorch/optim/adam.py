"""Adam (torch.optim.adam)."""

from .. import _ops
from .._core import stepping
from .._core.policy import policy
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

__all__ = ["Adam"]


class Adam(Optimizer):
    """Steps by the running mean of the gradient over the root of the running mean of its square.

    *amsgrad* divides by the largest such root so far; *decoupled_weight_decay* shrinks the parameters instead of
    adding to the gradient.
    """

    _compiled = stepping.ADAM
    _dense_only = "Adam"
    _step_is_tensor = True
    _later_options = {
        "amsgrad": False,
        "maximize": False,
        "foreach": None,
        "capturable": False,
        "differentiable": False,
        "decoupled_weight_decay": False,
        "fused": None,
    }

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        amsgrad=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
        fused=None,
        decoupled_weight_decay=False,
    ):
        _check_differentiable(type(self).__name__, differentiable)
        _check_lr(lr)
        if not 0.0 <= eps:
            raise ValueError(f"Invalid epsilon value: {eps}")
        betas = tuple(_number(beta) for beta in betas)
        _check_betas(betas)
        if not 0.0 <= weight_decay:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)

    def _start(self, p, group):
        state = self.state[p]
        state["step"] = _scalar_tensor(0.0)
        state["exp_avg"] = _ops.zeros_like(p)
        state["exp_avg_sq"] = _ops.zeros_like(p)
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = _ops.zeros_like(p)

    def _kept(self, group):
        return "exp_avg", "exp_avg_sq", "max_exp_avg_sq" if group["amsgrad"] else None

    def _numbers(self, group, count, state):
        lr = _number(group["lr"])
        beta1, beta2 = group["betas"]
        added, shrink = _decay(group, lr)
        step_size = lr / (1 - beta1**count)
        correction = (1 - beta2**count) ** 0.5
        if not policy.adam_corrects_root:
            step_size, correction = step_size * correction, 1
        return -1 if group["maximize"] else 1, added, shrink, beta1, beta2, group["eps"], step_size, correction

    def _step_by_ops(self, group, p, grad, state, numbers):
        sign, added, shrink, beta1, beta2, eps, step_size, correction = numbers
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        if sign < 0:
            grad = -grad
        if shrink != 1:
            p.mul_(shrink)
        if added != 0:
            grad = grad.add(p, alpha=added)
        largest = state["max_exp_avg_sq"] if group["amsgrad"] else None
        if p.is_complex():
            p, grad, mean, square = _as_real(p, grad, mean, square)
            if largest is not None:
                largest = _as_real(largest)[0]
        if policy.adam_corrects_root:
            mean.lerp_(grad, 1 - beta1)
        else:
            mean.mul_(beta1).add_(grad, alpha=1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        if largest is not None:
            _ops.maximum(largest, square, out=largest)
            square = largest
        p.addcdiv_(mean, _root(square, correction).add_(eps), value=-step_size)


def _root(square, correction):
    """The root of the mean square, divided by its bias correction."""
    root = square.sqrt()
    return root if correction == 1 else root.div_(correction)
