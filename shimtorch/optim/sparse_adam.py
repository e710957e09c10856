"""Adam for sparse gradients (torch.optim.sparse_adam)."""

from .. import _ops
from .optimizer import Optimizer, _check_betas, _check_lr, _number

__all__ = ["SparseAdam"]


class SparseAdam(Optimizer):
    """Adam that moves only the elements for which the sparse gradient has entries."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, maximize=False):
        _check_lr(lr, positive=True)
        if not 0.0 < eps:
            raise ValueError(f"Invalid epsilon value: {eps}")
        _check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        places = [(g, i, p) for g, group in enumerate(self.param_groups) for i, p in enumerate(group["params"])]
        sparse = [[g, i] for g, i, p in places if p.is_sparse]
        if sparse:
            raise ValueError(f"Sparse params at indices {sparse}: SparseAdam requires dense parameter tensors")
        complex_ = [[g, i] for g, i, p in places if p.is_complex()]
        if complex_:
            raise ValueError(
                f"Complex params at indices {complex_}: SparseAdam does not support complex parameters"
            )

    def _update(self, group):
        lr = _number(group["lr"])
        beta1, beta2 = group["betas"]
        eps = group["eps"]
        for p in group["params"]:
            grad = p.grad
            if grad is None:
                continue
            if not grad.is_sparse:
                raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
            state = self.state[p]
            if not state:
                state["step"] = 0
                state["exp_avg"] = _ops.zeros_like(p)
                state["exp_avg_sq"] = _ops.zeros_like(p)
            state["step"] += 1
            if group.get("maximize", False):
                grad = -grad
            grad = grad.coalesce()
            values = grad._values()
            if values.numel() == 0:
                continue
            where = grad._indices().unbind(0)
            mean, square = state["exp_avg"], state["exp_avg_sq"]
            old = mean[where]
            numer = values.sub(old).mul_(1 - beta1).add_(old)
            mean[where] = numer
            old = square[where]
            denom = values.pow(2).sub_(old).mul_(1 - beta2).add_(old)
            square[where] = denom
            count = state["step"]
            step_size = lr * (1 - beta2**count) ** 0.5 / (1 - beta1**count)
            p[where] = p[where].add_(numer.div(denom.sqrt().add_(eps)).mul_(-step_size))
