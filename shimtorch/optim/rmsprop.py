"""RMSprop (torch.optim.rmsprop)."""

from .. import _ops
from .._core import stepping
from .optimizer import Optimizer, _as_real, _check_differentiable, _check_lr, _number, _scalar_tensor

__all__ = ["RMSprop"]


class RMSprop(Optimizer):
    """Divides the gradient by the root of the running mean of its square (of its variance if *centered*)."""

    _compiled = stepping.RMSPROP
    _dense_only = "RMSprop"
    _step_is_tensor = True
    _later_options = {
        "momentum": 0,
        "centered": False,
        "foreach": None,
        "maximize": False,
        "differentiable": False,
        "capturable": False,
    }

    def __init__(
        self,
        params,
        lr=1e-2,
        alpha=0.99,
        eps=1e-8,
        weight_decay=0,
        momentum=0,
        centered=False,
        capturable=False,
        foreach=None,
        maximize=False,
        differentiable=False,
    ):
        _check_differentiable("RMSprop", differentiable)
        _check_lr(lr)
        for name, value in (
            ("epsilon", eps),
            ("momentum", momentum),
            ("weight_decay", weight_decay),
            ("alpha", alpha),
        ):
            if not 0.0 <= value:
                raise ValueError(f"Invalid {name} value: {value}")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _start(self, p, group):
        state = self.state[p]
        state["step"] = _scalar_tensor(0.0)
        state["square_avg"] = _ops.zeros_like(p)
        if group["momentum"] > 0:
            state["momentum_buffer"] = _ops.zeros_like(p)
        if group["centered"]:
            state["grad_avg"] = _ops.zeros_like(p)

    def _kept(self, group):
        return ("square_avg", "grad_avg" if group["centered"] else None,
                "momentum_buffer" if group["momentum"] > 0 else None)

    def _numbers(self, group, count, state):
        sign = -1 if group["maximize"] else 1
        return sign, group["weight_decay"], group["alpha"], group["momentum"], group["eps"], _number(group["lr"])

    def _step_by_ops(self, group, p, grad, state, numbers):
        sign, decay, alpha, momentum, eps, lr = numbers
        square = state["square_avg"]
        mean = state["grad_avg"] if group["centered"] else None
        buffer = state["momentum_buffer"] if momentum > 0 else None
        if sign < 0:
            grad = -grad
        if decay != 0:
            grad = grad.add(p, alpha=decay)
        if p.is_complex():
            p, grad, square = _as_real(p, grad, square)
            mean = None if mean is None else _as_real(mean)[0]
            buffer = None if buffer is None else _as_real(buffer)[0]
        square.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        if mean is not None:
            mean.lerp_(grad, 1 - alpha)
            denom = square.addcmul(mean, mean, value=-1).sqrt_().add_(eps)
        else:
            denom = square.sqrt().add_(eps)
        if buffer is not None:
            buffer.mul_(momentum).addcdiv_(grad, denom)
            p.add_(buffer, alpha=-lr)
        else:
            p.addcdiv_(grad, denom, value=-lr)
