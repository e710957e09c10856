"""LRScheduler, the base class of schedules."""

import warnings

from ..._core import Tensor
from ..._core.policy import policy
from ..optimizer import Optimizer

EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use "
    "`scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from None, the closed "
    "form is used instead of the new chainable form, where available. Please open an issue if you are unable to "
    "replicate your use case: https://github.com/pytorch/pytorch/issues/new/choose."
)
_ORDER = "See more details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"


def check_optimizer(optimizer):
    """TypeError for anything but an Optimizer."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def group_values(optimizer, key):
    """The option *key* of every group; a tensor is copied."""
    values = [group[key] for group in optimizer.param_groups]
    return [value.clone() if isinstance(value, Tensor) else value for value in values]


def set_group_value(group, key, value):
    """Set an option; a tensor keeps its identity."""
    if isinstance(group[key], Tensor):
        group[key].fill_(float(value))
    else:
        group[key] = value


def one_for_each_group(name, optimizer, value):
    """*value* as a list with one entry for every group."""
    groups = len(optimizer.param_groups)
    if isinstance(value, (list, tuple)):
        if len(value) != groups:
            raise ValueError(
                f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} values, "
                f"param_groups has {groups}."
            )
        values = list(value)
    else:
        values = [value] * groups
    return [v.clone() if isinstance(v, Tensor) else v for v in values]


class LRScheduler:
    """Sets the learning rates of an optimiser's groups, epoch after epoch.

    A subclass defines ``get_lr()``, which gives the rates for ``self.last_epoch``. Construction sets the rates of
    epoch 0; ``step()`` goes to the next epoch. Before 1.1 the first ``step()`` set epoch 0 again. With *verbose* the
    rates are printed whenever they are set.
    """

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer, last_epoch=-1, verbose=None):
        check_optimizer(optimizer)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                lr = group["lr"]
                group.setdefault("initial_lr", lr.clone() if isinstance(lr, Tensor) else lr)
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with "
                    "last_epoch >= 0.\nThis typically happens when:\n1. You're trying to resume training from a "
                    "checkpoint but haven't properly loaded the optimizer state\n2. You're using last_epoch >= 0 for "
                    "a fresh training run (not recommended)"
                )
        self.base_lrs = group_values(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        if verbose:
            self.verbose = verbose
        if not hasattr(optimizer, "_is_scheduled"):
            optimizer._is_scheduled = True
            optimizer._opt_called = False
        self._initial_step()

    def _initial_step(self):
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False
        if policy.scheduler_first_step == "sets_epoch0":
            self.last_epoch -= 1

    def state_dict(self):
        """Everything but the optimiser."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict):
        """Take over what state_dict returned."""
        self.__dict__.update(state_dict)

    def get_last_lr(self):
        """The rates last set, one for every group."""
        return self._last_lr

    def get_lr(self):
        """The rates for ``self.last_epoch``, one for every group."""
        raise NotImplementedError

    def step(self, epoch=None):
        """Go to the next epoch, or to *epoch* (deprecated), and set the rates."""
        if self._step_count == 1 and policy.scheduler_first_step != "sets_epoch0":
            self._check_order()
        self._step_count += 1
        if epoch is not None:
            if policy.scheduler_first_step != "sets_epoch0":
                warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _check_order(self):
        if not getattr(self.optimizer.step, "hooked", False):
            warnings.warn(
                "Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. "
                "Please, make sure to call `optimizer.step()` before `lr_scheduler.step()`. " + _ORDER,
                UserWarning,
                stacklevel=3,
            )
        elif not self.optimizer._opt_called:
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you "
                "should call them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure "
                "to do this will result in PyTorch skipping the first value of the learning rate schedule. " + _ORDER,
                UserWarning,
                stacklevel=3,
            )

    def _update_lr(self, epoch=None):
        self._get_lr_called_within_step = True
        try:
            if epoch is None:
                self.last_epoch += 1
                values = self.get_lr()
            else:
                self.last_epoch = epoch
                closed_form = getattr(self, "_get_closed_form_lr", None)
                values = self.get_lr() if closed_form is None else closed_form()
        finally:
            self._get_lr_called_within_step = False
        self._set_lr(values, epoch)

    def _set_lr(self, values, epoch=None):
        verbose = self.__dict__.get("verbose", False)
        for i, (group, lr) in enumerate(zip(self.optimizer.param_groups, values, strict=True)):
            set_group_value(group, "lr", lr)
            self.print_lr(verbose, i, lr, epoch)
        self._last_lr = group_values(self.optimizer, "lr")

    def print_lr(self, is_verbose, group, lr, epoch=None):
        """Print the rate *lr* of the group of that number, if *is_verbose*, as PyTorch did up to 2.3."""
        if is_verbose and epoch is None:
            print(f"Adjusting learning rate of group {group} to {lr:.4e}.")
        elif is_verbose:
            number = f"{epoch:.2f}" if isinstance(epoch, float) else f"{epoch:05d}"
            print(f"Epoch {number}: adjusting learning rate of group {group} to {lr:.4e}.")

    def _warn_outside_step(self):
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.",
                UserWarning,
                stacklevel=3,
            )


class ChainableLR(LRScheduler):
    """A schedule that changes the rates as it finds them (``_get_chained_lr``), so that several can act together.

    Before 1.1, and for an explicit epoch, the rates follow from the initial ones (``_get_closed_form_lr``).
    """

    def get_lr(self):
        if policy.scheduler_closed_form:
            return self._get_closed_form_lr()
        self._warn_outside_step()
        return self._get_chained_lr()

    def _current(self, factor=None):
        """The present rates, times *factor*."""
        if factor is None:
            return group_values(self.optimizer, "lr")
        return [group["lr"] * factor for group in self.optimizer.param_groups]


class LambdaState:
    """Saving of schedules with functions of the user's: of a callable object its attributes, of a function nothing."""

    def state_dict(self):
        state = {key: value for key, value in self.__dict__.items() if key not in ("optimizer", "lr_lambdas")}
        state["lr_lambdas"] = [saved_function(fn) for fn in self.lr_lambdas]
        return state

    def load_state_dict(self, state_dict):
        state = dict(state_dict)
        saved = state.pop("lr_lambdas")
        self.__dict__.update(state)
        for fn, attributes in zip(self.lr_lambdas, saved, strict=False):
            if attributes is not None:
                fn.__dict__.update(attributes)

    @staticmethod
    def _functions(optimizer, lr_lambda):
        groups = len(optimizer.param_groups)
        if not isinstance(lr_lambda, (list, tuple)):
            return [lr_lambda] * groups
        if len(lr_lambda) != groups:
            raise ValueError(f"Expected {groups} lr_lambdas, but got {len(lr_lambda)}")
        return list(lr_lambda)


def saved_function(fn):
    """What can be saved of a function: the attributes of a callable object, None for a plain function."""
    from types import FunctionType

    return None if isinstance(fn, FunctionType) else fn.__dict__.copy()
