"""Muon (torch.optim.Muon, new in 2.9)."""

from .. import _ops
from .._core.dtype import bfloat16
from .optimizer import Optimizer, _check_scalar_lr, _number

__all__ = ["Muon"]


class Muon(Optimizer):
    """Momentum whose step is made orthogonal; for matrices alone.

    *ns_coefficients* and *ns_steps* are the polynomial of the Newton-Schulz iteration and how often it is applied, in
    bfloat16. *adjust_lr_fn* says how the step is scaled to the shape of the matrix: ``"original"`` (also None) or
    ``"match_rms_adamw"``.
    """

    def __init__(self, params, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True,
                 ns_coefficients=(3.4445, -4.7750, 2.0315), eps=1e-7, ns_steps=5, adjust_lr_fn=None):
        _check_scalar_lr(lr)
        for name, value in (("Learning rate", lr), ("momentum", momentum), ("weight decay", weight_decay)):
            if not 0.0 <= value:
                raise ValueError(f"{name} should be >= 0 but is: {value}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        super().__init__(params, {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
            "ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps, "adjust_lr_fn": adjust_lr_fn,
        })
        for group in self.param_groups:
            for p in group["params"]:
                if p.dim() != 2:
                    raise ValueError(
                        f"Muon only supports 2D parameters whereas we found a parameter with size: {p.size()}"
                    )

    def _update(self, group):
        lr, momentum = _number(group["lr"]), group["momentum"]
        for p in group["params"]:
            grad = p.grad
            if grad is None:
                continue
            if p.is_complex():
                raise RuntimeError("Muon does not support complex parameters")
            if grad.is_sparse:
                raise RuntimeError("Muon does not support sparse gradients")
            state = self.state[p]
            if not state:
                state["momentum_buffer"] = _ops.zeros_like(grad)
            mean = state["momentum_buffer"].lerp_(grad, 1 - momentum)
            update = grad.lerp(mean, momentum) if group["nesterov"] else mean
            update = _orthogonal(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
            p.mul_(1 - lr * group["weight_decay"])
            p.add_(update, alpha=-lr * _scale(group["adjust_lr_fn"], *p.shape))


def _scale(name, rows, columns):
    """What the learning rate is multiplied by for a matrix of this size."""
    if name == "match_rms_adamw":
        return 0.2 * max(rows, columns) ** 0.5
    return max(1, rows / columns) ** 0.5


def _orthogonal(matrix, coefficients, steps, epsilon):
    """Roughly U V* of the singular value decomposition of a matrix, in bfloat16."""
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    tall = matrix.size(0) > matrix.size(1)
    x = matrix.to(bfloat16)
    if tall:
        x = x.t()
    x = x / x.norm().clamp(min=epsilon)
    for _ in range(steps):
        gram = x @ x.t()
        x = _ops.addmm(x, _ops.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return (x.t() if tall else x).to(matrix.dtype)
