"""L-BFGS (torch.optim.lbfgs)."""

from .. import _ops, enable_grad, no_grad
from ._line_search import strong_wolfe
from .optimizer import Optimizer, _check_lr, _number

__all__ = ["LBFGS"]


class LBFGS(Optimizer):
    """Quasi-Newton steps from the last *history_size* changes of parameters and gradient.

    One group only; ``step(closure)`` needs a closure, which it calls up to *max_eval* times in *max_iter*
    iterations. line_search_fn is None (fixed steps of lr) or "strong_wolfe".
    """

    def __init__(
        self,
        params,
        lr=1,
        max_iter=20,
        max_eval=None,
        tolerance_grad=1e-7,
        tolerance_change=1e-9,
        history_size=100,
        line_search_fn=None,
    ):
        _check_lr(lr)
        if max_eval is None:
            max_eval = max_iter * 5 // 4
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def _gather_flat_grad(self):
        """All gradients as one vector; zeros for a parameter without."""
        parts = []
        for p in self._params:
            grad = p.grad
            if grad is None:
                grad = _ops.zeros_like(p)
            elif grad.is_sparse:
                grad = grad.to_dense()
            if grad.is_complex():
                grad = _ops.view_as_real(grad)
            parts.append(grad.reshape(-1))
        return _ops.cat(parts)

    def _add_grad(self, step_size, update):
        """Move the parameters by step_size * update."""
        start = 0
        for p in self._params:
            if p.is_complex():
                p = _ops.view_as_real(p)
            size = p.numel()
            p.add_(update[start : start + size].view_as(p), alpha=float(step_size))
            start += size

    def _directional_evaluate(self, closure, x, t, d):
        """Loss and gradient at x + t * d; the parameters are left at x."""
        self._add_grad(t, d)
        loss = float(closure())
        flat_grad = self._gather_flat_grad()
        for p, value in zip(self._params, x, strict=True):
            p.copy_(value)
        return loss, flat_grad

    def __setstate__(self, state):
        super().__setstate__(state)
        for param_state in self.state.values():
            if None in param_state.get("ro", ()):       # states of 1.1 and before, which computed them in every step
                pairs = zip(param_state["old_dirs"], param_state["old_stps"], strict=True)
                param_state["ro"] = [1.0 / change.dot(move) for change, move in pairs]

    def step(self, closure):
        """Minimise for up to max_iter iterations; returns the first loss."""

        def evaluate():
            with enable_grad():
                return closure()

        with no_grad():
            return self._minimise(evaluate)

    def _minimise(self, closure):
        group = self.param_groups[0]
        lr = _number(group["lr"])
        max_iter, max_eval = group["max_iter"], group["max_eval"]
        tolerance_grad, tolerance_change = group["tolerance_grad"], group["tolerance_change"]
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)

        first_loss = closure()
        loss = float(first_loss)
        evals = 1
        state["func_evals"] += 1
        grad = self._gather_flat_grad()
        if grad.abs().max() <= tolerance_grad:
            return first_loss

        previous_grad = state.get("prev_flat_grad")
        for n_iter in range(1, max_iter + 1):
            state["n_iter"] += 1
            if state["n_iter"] == 1:
                state.update(d=grad.neg(), old_dirs=[], old_stps=[], ro=[], H_diag=1)
            else:
                state["d"] = self._direction(state, grad, previous_grad, group["history_size"])
            direction = state["d"]
            if previous_grad is None:
                previous_grad = state["prev_flat_grad"] = grad.clone()
            else:
                previous_grad.copy_(grad)
            previous_loss = state["prev_loss"] = loss

            if state["n_iter"] == 1:
                inverse = 1.0 / grad.abs().sum()
                t = inverse * lr if inverse < 1.0 else lr
            else:
                t = lr
            state["t"] = t
            slope = grad.dot(direction)
            if slope > -tolerance_change:
                break

            new_evals = 0
            if group["line_search_fn"] is not None:
                if group["line_search_fn"] != "strong_wolfe":
                    raise RuntimeError("only 'strong_wolfe' is supported")
                start = [p.clone() for p in self._params]
                loss, grad, t, new_evals = strong_wolfe(
                    lambda t, x=start, d=direction: self._directional_evaluate(closure, x, t, d),
                    t,
                    direction,
                    loss,
                    grad,
                    slope,
                    max_ls=max_eval - evals,
                )
                state["t"] = t
                self._add_grad(t, direction)
                converged = grad.abs().max() <= tolerance_grad
            else:
                self._add_grad(t, direction)
                converged = False
                if n_iter != max_iter:
                    loss = float(closure())
                    grad = self._gather_flat_grad()
                    converged = grad.abs().max() <= tolerance_grad
                    new_evals = 1
            evals += new_evals
            state["func_evals"] += new_evals
            if (
                n_iter == max_iter
                or evals >= max_eval
                or converged
                or direction.mul(t).abs().max() <= tolerance_change
                or abs(loss - previous_loss) < tolerance_change
            ):
                break
        return first_loss

    @staticmethod
    def _direction(state, grad, previous_grad, history_size):
        """The next direction, after the last step has been added to the history (two-loop recursion)."""
        dirs, steps, inverses = state["old_dirs"], state["old_stps"], state["ro"]
        y = grad.sub(previous_grad)
        s = state["d"].mul(state["t"])
        ys = y.dot(s)
        if ys > 1e-10:
            if len(dirs) == history_size:
                for history in (dirs, steps, inverses):
                    history.pop(0)
            dirs.append(y)
            steps.append(s)
            inverses.append(1.0 / ys)
            state["H_diag"] = ys / y.dot(y)
        q = grad.neg()
        weights = [None] * len(dirs)
        for i in reversed(range(len(dirs))):
            weights[i] = steps[i].dot(q) * inverses[i]
            q.add_(dirs[i], alpha=-float(weights[i]))
        r = q.mul(state["H_diag"])
        for i in range(len(dirs)):
            r.add_(steps[i], alpha=float(weights[i] - dirs[i].dot(r) * inverses[i]))
        return r
