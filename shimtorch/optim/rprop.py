"""Resilient backpropagation (torch.optim.rprop)."""

from .. import _ops
from .._core import stepping
from .optimizer import Optimizer, _as_real, _check_differentiable, _check_lr, _number, _scalar_tensor

__all__ = ["Rprop"]


class Rprop(Optimizer):
    """Steps by the sign of the gradient; each element's step grows while the sign stays and shrinks when it turns."""

    _compiled = stepping.RPROP
    _dense_only = "Rprop"
    _step_is_tensor = True
    _later_options = {"foreach": None, "maximize": False, "differentiable": False, "capturable": False}

    def __init__(
        self,
        params,
        lr=1e-2,
        etas=(0.5, 1.2),
        step_sizes=(1e-6, 50),
        *,
        capturable=False,
        foreach=None,
        maximize=False,
        differentiable=False,
    ):
        _check_differentiable("Rprop", differentiable)
        _check_lr(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _start(self, p, group):
        state = self.state[p]
        state["step"] = _scalar_tensor(0.0)
        state["prev"] = _ops.zeros_like(p)
        lr = _number(group["lr"])
        state["step_size"] = _ops.full_like(p.grad, complex(lr, lr) if p.is_complex() else lr)

    def _kept(self, group):
        return "prev", "step_size"

    def _numbers(self, group, count, state):
        return -1 if group["maximize"] else 1, *group["etas"], *group["step_sizes"]

    def _step_by_ops(self, group, p, grad, state, numbers):
        sign, shrink, grow, smallest, largest = numbers
        previous, step_size = state["prev"], state["step_size"]
        if sign < 0:
            grad = -grad
        if p.is_complex():
            p, grad, previous, step_size = _as_real(p, grad, previous, step_size)
        agreement = grad.mul(previous)
        turned = agreement < 0
        factor = _ops.ones_like(agreement).masked_fill_(agreement > 0, grow).masked_fill_(turned, shrink)
        step_size.mul_(factor).clamp_(smallest, largest)
        grad = grad.masked_fill(turned, 0)  # no step where the sign has just turned
        p.addcmul_(grad.sign(), step_size, value=-1)
        previous.copy_(grad)
