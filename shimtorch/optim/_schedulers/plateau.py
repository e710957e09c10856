"""ReduceLROnPlateau: lower the rate when a metric stops improving."""

import math
import warnings

from ..._core.policy import policy
from .base import EPOCH_DEPRECATION_WARNING, LRScheduler, check_optimizer, group_values, set_group_value

_OPTIONS = ("threshold", "threshold_mode", "cooldown", "min_lr", "eps")


class ReduceLROnPlateau(LRScheduler):
    """Times *factor* when the metric given to ``step`` has not improved for more than *patience* epochs.

    ``ReduceLROnPlateau(optimizer, mode="min", factor=0.1, patience=10, threshold=1e-4, threshold_mode="rel",
    cooldown=0, min_lr=0, eps=1e-8)``. The older order, with the bool *verbose* after patience, is understood too.
    """

    def __init__(self, optimizer, mode="min", factor=0.1, patience=10, *args, **kwargs):
        verbose = kwargs.pop("verbose", False)
        if args and isinstance(args[0], bool):
            verbose, args = args[0], args[1:]
        options = {"threshold": 1e-4, "threshold_mode": "rel", "cooldown": 0, "min_lr": 0, "eps": 1e-8}
        options.update(zip(_OPTIONS, args, strict=False))
        for name in kwargs:
            if name not in options:
                raise TypeError(f"ReduceLROnPlateau.__init__() got an unexpected keyword argument '{name}'")
        options.update(kwargs)

        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        self.factor = factor
        check_optimizer(optimizer)
        self.optimizer = optimizer
        groups = len(optimizer.param_groups)
        min_lr = options["min_lr"]
        if isinstance(min_lr, (list, tuple)):
            if len(min_lr) != groups:
                raise ValueError(f"expected {groups} min_lrs, got {len(min_lr)}")
            self.default_min_lr = None
            self.min_lrs = list(min_lr)
        else:
            self.default_min_lr = min_lr
            self.min_lrs = [min_lr] * groups
        self.patience = patience
        if verbose:
            self.verbose = verbose
        self.cooldown = options["cooldown"]
        self.eps = options["eps"]
        self.last_epoch = policy.plateau_last_epoch
        self._last_lr = group_values(optimizer, "lr")
        self._init_is_better(mode, options["threshold"], options["threshold_mode"])
        self._reset()

    def _init_is_better(self, mode, threshold, threshold_mode):
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.mode = mode
        self.threshold = threshold
        self.threshold_mode = threshold_mode

    def _reset(self):
        """Start counting again."""
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    def step(self, metrics, epoch=None):
        """Take note of the metric of one epoch, and lower the rates if it is time."""
        current = float(metrics)
        if epoch is None:
            epoch = self.last_epoch + 1
        else:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self.last_epoch = epoch
        if self._is_better(current, self.best):
            self.best = current
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0  # epochs while cooling down do not count
        if self.num_bad_epochs > self.patience:
            self._reduce_lr(epoch)
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = group_values(self.optimizer, "lr")

    def _reduce_lr(self, epoch):
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(
                    f"The number of param groups in the `optimizer` ({len(groups)}) differs from when "
                    f"`ReduceLROnPlateau` was initialized ({len(self.min_lrs)}), usually due to a new param group "
                    "being added to the optimizer. Please modify the `min_lrs` field to match the length of the "
                    "`optimizer` param groups."
                )
            self.min_lrs = [self.default_min_lr] * len(groups)
        for i, group in enumerate(groups):
            old_lr = float(group["lr"])
            new_lr = max(old_lr * self.factor, self.min_lrs[i])
            if old_lr - new_lr > self.eps:
                set_group_value(group, "lr", new_lr)
                if self.__dict__.get("verbose"):
                    number = f"{epoch:05d}" if policy.texts_of in (None, "1.11") else f"{epoch:5d}"
                    print(f"Epoch {number}: reducing learning rate of group {i} to {new_lr:.4e}.")

    @property
    def in_cooldown(self):
        """Whether the last reduction is too recent to count bad epochs."""
        return self.cooldown_counter > 0

    def _is_better(self, a, best):
        if self.mode == "min":
            return a < (best * (1.0 - self.threshold) if self.threshold_mode == "rel" else best - self.threshold)
        return a > (best * (self.threshold + 1.0) if self.threshold_mode == "rel" else best + self.threshold)

    def is_better(self, a, best):
        """Whether the metric *a* is better than *best* by more than the threshold."""
        return self._is_better(a, best)

    def load_state_dict(self, state_dict):
        self.__dict__.update(state_dict)
        self._init_is_better(self.mode, self.threshold, self.threshold_mode)
