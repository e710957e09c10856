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
    _number,
    _scalar_tensor,
)

__all__ = ["Adam"]


class Adam(Optimizer):
    """Steps by the running mean of the gradient over the root of the running mean of its square.

    *amsgrad* divides by the largest such root so far; *decoupled_weight_decay* shrinks the parameters instead of
    adding to the gradient.
    """

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

    def _start(self, p, amsgrad):
        state = self.state[p]
        state["step"] = _scalar_tensor(0.0)
        state["exp_avg"] = _ops.zeros_like(p)
        state["exp_avg_sq"] = _ops.zeros_like(p)
        if amsgrad:
            state["max_exp_avg_sq"] = _ops.zeros_like(p)
        return state

    def _update(self, group):
        lr = _number(group["lr"])
        beta1, beta2 = group["betas"]
        eps = group["eps"]
        weight_decay = group["weight_decay"]
        decoupled = group["decoupled_weight_decay"]
        amsgrad = group["amsgrad"]
        maximize = group["maximize"]
        all_state = self.state
        steps = None
        for p in group["params"]:
            grad = p.grad
            if grad is None:
                continue
            if grad.is_sparse:
                raise RuntimeError("Adam does not support sparse gradients, please consider SparseAdam instead")
            state = all_state[p] or self._start(p, amsgrad)
            mean, square = state["exp_avg"], state["exp_avg_sq"]
            largest = state["max_exp_avg_sq"] if amsgrad else None
            count = state["step"].add_(1).item()
            if count != steps:  # the same for all parameters that started together
                steps = count
                step_size = -(lr / (1 - beta1**count))
                correction = (1 - beta2**count) ** 0.5
                if not policy.adam_corrects_root:
                    step_size, correction = step_size * correction, 1
            if stepping.adam(p, grad, mean, square, largest, maximize, 0 if decoupled else weight_decay,
                             1 - lr * weight_decay if decoupled else 1, beta1, beta2, eps, -step_size, correction):
                continue
            if maximize:
                grad = -grad
            if weight_decay != 0:
                if decoupled:
                    p.mul_(1 - lr * weight_decay)
                else:
                    grad = grad.add(p, alpha=weight_decay)
            if p.is_complex():
                p, grad, mean, square = _as_real(p, grad, mean, square)
                if amsgrad:
                    largest = _as_real(largest)[0]
            if policy.adam_corrects_root:
                mean.lerp_(grad, 1 - beta1)
            else:
                mean.mul_(beta1).add_(grad, alpha=1 - beta1)
            square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
            if amsgrad:
                _ops.maximum(largest, square, out=largest)
                square = largest
            p.addcdiv_(mean, _root(square, correction).add_(eps), value=step_size)


def _root(square, correction):
    """The root of the mean square, divided by its bias correction."""
    root = square.sqrt()
    return root if correction == 1 else root.div_(correction)
