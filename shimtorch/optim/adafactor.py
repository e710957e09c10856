"""Adafactor (torch.optim.Adafactor, new in 2.5)."""

from .. import _ops
from .optimizer import Optimizer, _check_scalar_lr, _number, _scalar_tensor

__all__ = ["Adafactor"]


class Adafactor(Optimizer):
    """Adam without a mean, whose second moment of a matrix is the product of a column and a row.

    *lr* bounds the relative step size and scales the decay of the weights; *eps* is (least denominator, least scale of
    a parameter), where None stands for the dtype's epsilon; *d* is the root mean square past which updates are clipped.
    """

    _later_options = {"foreach": None}

    def __init__(self, params, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0, *, foreach=None,
                 maximize=False):
        _check_scalar_lr(lr)
        if not 0.0 <= lr:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if not 0.0 >= beta2_decay:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        for number, value in enumerate(eps, 1):
            if value is not None and not 0.0 <= value:
                raise ValueError(f"epsilon{number} should be >= 0 but is: {value}")
        if not 1.0 <= d:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        if not 0.0 <= weight_decay:
            raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")
        super().__init__(params, {
            "lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay,
            "foreach": foreach, "maximize": maximize,
        })

    def _start(self, p, grad):
        state = self.state[p]
        state["step"] = _scalar_tensor(0.0)
        if grad.dim() > 1:
            state["row_var"] = grad.new_zeros((*grad.shape[:-1], 1))
            state["col_var"] = grad.new_zeros((*grad.shape[:-2], 1, grad.shape[-1]))
        else:
            state["variance"] = _ops.zeros_like(grad)
        return state

    def _update(self, group):
        lr = _number(group["lr"])
        least, least_scale = group["eps"]
        for p in group["params"]:
            grad = p.grad
            if grad is None:
                continue
            if p.is_complex():
                raise RuntimeError("Adafactor does not support complex parameters")
            if grad.is_sparse:
                raise RuntimeError("Adafactor does not support sparse gradients")
            state = self.state[p] or self._start(p, grad)
            if group["maximize"]:
                grad = -grad
            count = state["step"].add_(1).item()
            scale = max(least_scale, p.norm(2).item() / p.numel() ** 0.5)
            alpha = scale * min(lr, count**-0.5)
            if group["weight_decay"] != 0:
                p.mul_(1 - lr * group["weight_decay"])
            epsilon = _epsilon(p.dtype) if least is None else least
            update = _variance(state, grad, count ** group["beta2_decay"], epsilon)
            update.clamp_(min=epsilon * epsilon).rsqrt_().mul_(grad)
            clip = max(1.0, update.norm(2).item() / (update.numel() ** 0.5 * group["d"]))
            p.add_(update, alpha=-alpha / clip)


def _epsilon(dtype):
    from .. import finfo

    return finfo(dtype).eps


def _variance(state, grad, weight, epsilon):
    """The estimate of the squares of the gradient, after *weight* parts of the new ones have been taken into it."""
    if grad.dim() < 2:
        return state["variance"].lerp_(grad.square(), weight).clone()
    rows, columns = state["row_var"], state["col_var"]
    rows.lerp_(grad.norm(dim=-1, keepdim=True).square_().div_(grad.size(-1)), weight)
    columns.lerp_(grad.norm(dim=-2, keepdim=True).square_().div_(grad.size(-2)), weight)
    return (rows @ columns).div_(rows.mean(dim=-2, keepdim=True).clamp_(min=epsilon))
