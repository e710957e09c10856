"""Schedules that multiply the rates by factors: by functions, at milestones, along lines and powers."""

from bisect import bisect_right
from collections import Counter

from .base import ChainableLR, LambdaState, LRScheduler


class LambdaLR(LambdaState, LRScheduler):
    """The initial rate times ``lr_lambda(epoch)``; one function, or one for every group."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1, verbose=None):
        self.optimizer = optimizer
        self.lr_lambdas = self._functions(optimizer, lr_lambda)
        super().__init__(optimizer, last_epoch, verbose)

    def get_lr(self):
        self._warn_outside_step()
        return [base_lr * fn(self.last_epoch) for fn, base_lr in zip(self.lr_lambdas, self.base_lrs, strict=True)]


class MultiplicativeLR(LambdaState, LRScheduler):
    """The present rate times ``lr_lambda(epoch)``; one function, or one for every group."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1, verbose=None):
        self.optimizer = optimizer
        self.lr_lambdas = self._functions(optimizer, lr_lambda)
        for fn in self.lr_lambdas:
            if not callable(fn):
                raise TypeError(f"lr_lambda should be a function, but got {type(fn).__name__}")
        super().__init__(optimizer, last_epoch, verbose)

    def get_lr(self):
        self._warn_outside_step()
        groups = self.optimizer.param_groups
        if self._is_initial:
            return [group["lr"] for group in groups]
        return [group["lr"] * fn(self.last_epoch) for fn, group in zip(self.lr_lambdas, groups, strict=True)]


class StepLR(ChainableLR):
    """Times *gamma* every *step_size* epochs."""

    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1, verbose=None):
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch, verbose)

    def _get_chained_lr(self):
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return self._current()
        return self._current(self.gamma)

    def _get_closed_form_lr(self):
        factor = self.gamma ** (self.last_epoch // self.step_size)
        return [base_lr * factor for base_lr in self.base_lrs]


class MultiStepLR(ChainableLR):
    """Times *gamma* at each of the *milestones*."""

    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1, verbose=None):
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch, verbose)

    def _get_chained_lr(self):
        if self.last_epoch not in self.milestones:
            return self._current()
        return self._current(self.gamma ** self.milestones[self.last_epoch])

    def _get_closed_form_lr(self):
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base_lr * self.gamma**passed for base_lr in self.base_lrs]


class ConstantLR(ChainableLR):
    """Times *factor* for the first *total_iters* epochs."""

    def __init__(self, optimizer, factor=1.0 / 3, total_iters=5, last_epoch=-1, verbose=None):
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch, verbose)

    def _get_chained_lr(self):
        if self.last_epoch == 0:
            return self._current(self.factor)
        if self.last_epoch != self.total_iters:
            return self._current()
        return self._current(1.0 / self.factor)

    def _get_closed_form_lr(self):
        over = self.last_epoch >= self.total_iters
        return [base_lr * (self.factor + over * (1 - self.factor)) for base_lr in self.base_lrs]


class LinearLR(ChainableLR):
    """Times a factor that goes from *start_factor* to *end_factor* along a line of *total_iters* epochs."""

    def __init__(
        self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1, verbose=None
    ):
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less or equal to 1."
            )
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch, verbose)

    def _get_chained_lr(self):
        if self.last_epoch == 0:
            return self._current(self.start_factor)
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._current()
        slope = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * slope
        return self._current(1.0 + slope / before)

    def _get_closed_form_lr(self):
        slope = self.end_factor - self.start_factor
        reached = min(self.total_iters, self.last_epoch)
        return [base_lr * (self.start_factor + slope * reached / self.total_iters) for base_lr in self.base_lrs]


class ExponentialLR(ChainableLR):
    """Times *gamma* every epoch."""

    def __init__(self, optimizer, gamma, last_epoch=-1, verbose=None):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch, verbose)

    def _get_chained_lr(self):
        return self._current(None if self._is_initial else self.gamma)

    def _get_closed_form_lr(self):
        return [base_lr * self.gamma**self.last_epoch for base_lr in self.base_lrs]


class PolynomialLR(ChainableLR):
    """Down to zero in *total_iters* epochs, as ``(1 - epoch / total_iters) ** power``."""

    def __init__(self, optimizer, total_iters=5, power=1.0, last_epoch=-1, verbose=None):
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch, verbose)

    def _get_chained_lr(self):
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._current()
        now = 1.0 - self.last_epoch / self.total_iters
        before = 1.0 - (self.last_epoch - 1) / self.total_iters
        return self._current((now / before) ** self.power)

    def _get_closed_form_lr(self):
        reached = min(self.total_iters, self.last_epoch)
        return [base_lr * (1.0 - reached / self.total_iters) ** self.power for base_lr in self.base_lrs]
