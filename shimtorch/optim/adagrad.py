"""Adagrad (torch.optim.adagrad)."""

from .. import _ops
from .._core import stepping
from .optimizer import Optimizer, _as_real, _check_differentiable, _check_lr, _number, _scalar_tensor

__all__ = ["Adagrad"]


class Adagrad(Optimizer):
    """Divides the gradient by the root of the sum of all its squares; takes sparse gradients."""

    _compiled = stepping.ADAGRAD
    _step_is_tensor = True
    _later_options = {"eps": 1e-10, "foreach": None, "maximize": False, "differentiable": False, "fused": None}

    def __init__(
        self,
        params,
        lr=1e-2,
        lr_decay=0,
        weight_decay=0,
        initial_accumulator_value=0,
        eps=1e-10,
        foreach=None,
        *,
        maximize=False,
        differentiable=False,
        fused=None,
    ):
        _check_differentiable("Adagrad", differentiable)
        _check_lr(lr)
        for name, value in (
            ("lr_decay", lr_decay),
            ("weight_decay", weight_decay),
            ("initial_accumulator_value", initial_accumulator_value),
            ("epsilon", eps),
        ):
            if not 0.0 <= value:
                raise ValueError(f"Invalid {name} value: {value}")
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                self._start(p, group)

    def _start(self, p, group):
        value = self.defaults["initial_accumulator_value"]
        state = self.state[p]
        state["step"] = _scalar_tensor(0.0)
        state["sum"] = _ops.full_like(p, complex(value, value) if p.is_complex() else value)
        return state

    def share_memory(self):
        """Move the accumulated sums to shared memory."""
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["sum"].share_memory_()

    def _kept(self, group):
        return ("sum",)

    def _numbers(self, group, count, state):
        step_size = _number(group["lr"]) / (1 + (count - 1) * group["lr_decay"])
        return -1 if group["maximize"] else 1, group["weight_decay"], group["eps"], step_size

    def _step_by_ops(self, group, p, grad, state, numbers):
        sign, decay, eps, step_size = numbers
        total = state["sum"]
        if sign < 0:
            grad = -grad
        if decay != 0:
            if grad.is_sparse:
                raise RuntimeError("weight_decay option is not compatible with sparse gradients")
            grad = grad.add(p, alpha=decay)
        if grad.is_sparse:
            _update_rows(p, grad.coalesce(), total, -step_size, eps)
            return
        if p.is_complex():
            p, grad, total = _as_real(p, grad, total)
        total.addcmul_(grad, grad, value=1)
        p.addcdiv_(grad, total.sqrt().add_(eps), value=-step_size)


def _update_rows(p, grad, total, step_size, eps):
    """The update where the sparse, coalesced *grad* has entries, and nowhere else."""
    where = grad._indices().unbind(0)
    values = grad._values()
    sums = total[where].add_(values.pow(2))
    total[where] = sums
    p[where] = p[where].add_(values / sums.sqrt().add_(eps), alpha=step_size)
