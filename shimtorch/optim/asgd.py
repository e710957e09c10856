"""Averaged stochastic gradient descent (torch.optim.asgd)."""

from .. import _ops
from .._core import stepping
from .optimizer import Optimizer, _as_real, _check_differentiable, _check_lr, _number, _scalar_tensor

__all__ = ["ASGD"]


class ASGD(Optimizer):
    """Gradient descent with a decaying rate; the average of the parameters after *t0* steps is state["ax"]."""

    _compiled = stepping.ASGD
    _dense_only = "ASGD"
    _numbers_differ = True
    _step_is_tensor = True
    _later_options = {"foreach": None, "maximize": False, "differentiable": False, "capturable": False}

    def __init__(
        self,
        params,
        lr=1e-2,
        lambd=1e-4,
        alpha=0.75,
        t0=1e6,
        weight_decay=0,
        foreach=None,
        maximize=False,
        differentiable=False,
        capturable=False,
    ):
        _check_differentiable("ASGD", differentiable)
        _check_lr(lr)
        if not 0.0 <= weight_decay:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state):
        super().__setstate__(state)
        for param_state in self.state.values():
            for name in ("eta", "mu"):
                if isinstance(param_state.get(name), (int, float)):  # states from before 1.12
                    param_state[name] = _scalar_tensor(float(param_state[name]))

    def _start(self, p, group):
        state = self.state[p]
        state["step"] = _scalar_tensor(0.0)
        state["eta"] = _scalar_tensor(float(_number(group["lr"])))
        state["mu"] = _scalar_tensor(1.0)
        state["ax"] = _ops.zeros_like(p)

    def _kept(self, group):
        return ("ax",)

    def _numbers(self, group, count, state):
        """The numbers of this step; the rates of the next one are left in *state*."""
        lr, lambd = _number(group["lr"]), group["lambd"]
        eta, mu = state["eta"], state["mu"]
        rate, share = eta.item(), mu.item()
        eta.fill_(lr / ((1 + lambd * lr * count) ** group["alpha"]))
        mu.fill_(1 / max(1, count - group["t0"]))
        return -1 if group["maximize"] else 1, group["weight_decay"], 1 - lambd * rate, rate, share

    def _step_by_ops(self, group, p, grad, state, numbers):
        sign, decay, shrink, rate, share = numbers
        average = state["ax"]
        if sign < 0:
            grad = -grad
        if p.is_complex():
            p, grad, average = _as_real(p, grad, average)
        if decay != 0:
            grad = grad.add(p, alpha=decay)
        p.mul_(shrink).add_(grad, alpha=-rate)
        if share == 1:
            average.copy_(p)
        else:
            average.add_(p.sub(average).mul_(share))
