"""Averaged stochastic gradient descent (torch.optim.asgd)."""

from .. import _ops
from .._core import stepping
from .optimizer import Optimizer, _as_real, _check_differentiable, _check_lr, _number, _scalar_tensor

__all__ = ["ASGD"]


class ASGD(Optimizer):
    """Gradient descent with a decaying rate; the average of the parameters after *t0* steps is state["ax"]."""

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

    def _start(self, p, lr):
        state = self.state[p]
        state["step"] = _scalar_tensor(0.0)
        state["eta"] = _scalar_tensor(float(lr))
        state["mu"] = _scalar_tensor(1.0)
        state["ax"] = _ops.zeros_like(p)
        return state

    def _update(self, group):
        lr = _number(group["lr"])
        lambd, alpha, t0 = group["lambd"], group["alpha"], group["t0"]
        weight_decay = group["weight_decay"]
        all_state = self.state
        for p in group["params"]:
            grad = p.grad
            if grad is None:
                continue
            if grad.is_sparse:
                raise RuntimeError("ASGD does not support sparse gradients, please consider SparseAdam instead")
            state = all_state[p] or self._start(p, lr)
            average, eta, mu = state["ax"], state["eta"], state["mu"]
            count = state["step"].add_(1).item()
            rate, share = eta.item(), mu.item()
            if not stepping.asgd(p, grad, average, group["maximize"], weight_decay, 1 - lambd * rate, rate, share):
                if group["maximize"]:
                    grad = -grad
                if p.is_complex():
                    p, grad, average = _as_real(p, grad, average)
                if weight_decay != 0:
                    grad = grad.add(p, alpha=weight_decay)
                p.mul_(1 - lambd * rate).add_(grad, alpha=-rate)
                if share == 1:
                    average.copy_(p)
                else:
                    average.add_(p.sub(average).mul_(share))
            eta.copy_(_scalar_tensor(lr / ((1 + lambd * lr * count) ** alpha)))
            mu.copy_(_scalar_tensor(1 / max(1, count - t0)))
