"""Optimizer, the base class (torch.optim.optimizer), and what the optimisers share."""

from collections import OrderedDict, defaultdict
from functools import wraps

from .. import _ops, enable_grad, no_grad
from .._core import Tensor, stepping
from .._core.dtype import float32, float64, get_default_dtype
from .._core.policy import policy
from ..utils._zero_grad import zero_grads
from ..utils.hooks import RemovableHandle

__all__ = ["Optimizer", "register_optimizer_step_pre_hook", "register_optimizer_step_post_hook"]

_global_optimizer_pre_hooks = OrderedDict()
_global_optimizer_post_hooks = OrderedDict()

_HOOK_REGISTRIES = (
    "_optimizer_step_pre_hooks",
    "_optimizer_step_post_hooks",
    "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks",
    "_optimizer_load_state_dict_pre_hooks",
    "_optimizer_load_state_dict_post_hooks",
)


class _RequiredParameter:
    """Stands for an option that has no default value."""

    def __repr__(self):
        return "<required parameter>"


required = _RequiredParameter()

# Options that versions did not have, and so did not print.
_LATER = {"1.11": ("capturable", "decoupled_weight_decay", "differentiable", "foreach", "fused")}
_LATER["1.1"] = _LATER["1.0"] = _LATER["1.11"] + ("maximize",)


def _register(registry, hook, prepend=False):
    handle = RemovableHandle(registry)
    registry[handle.id] = hook
    if prepend:
        registry.move_to_end(handle.id, last=False)
    return handle


def register_optimizer_step_pre_hook(hook):
    """Call ``hook(optimizer, args, kwargs)`` before every step of every optimiser."""
    return _register(_global_optimizer_pre_hooks, hook)


def register_optimizer_step_post_hook(hook):
    """Call ``hook(optimizer, args, kwargs)`` after every step of every optimiser."""
    return _register(_global_optimizer_post_hooks, hook)


def _hooked(step):
    """*step* with the step hooks around it."""

    @wraps(step)
    def hooked_step(self, *args, **kwargs):
        self._opt_called = True  # schedulers warn when they are stepped first
        if not (
            self._optimizer_step_pre_hooks
            or self._optimizer_step_post_hooks
            or _global_optimizer_pre_hooks
            or _global_optimizer_post_hooks
        ):
            return step(self, *args, **kwargs)
        call = (self, *args)
        for hook in (*_global_optimizer_pre_hooks.values(), *self._optimizer_step_pre_hooks.values()):
            replaced = hook(self, call, kwargs)
            if replaced is not None:
                if not (isinstance(replaced, tuple) and len(replaced) == 2):
                    raise RuntimeError(
                        f"{step} must return None or a tuple of (new_args, new_kwargs), but got {replaced}."
                    )
                call, kwargs = replaced
        result = step(*call, **kwargs)
        for hook in (*self._optimizer_step_post_hooks.values(), *_global_optimizer_post_hooks.values()):
            hook(self, call, kwargs)
        return result

    hooked_step.hooked = True
    return hooked_step


class Optimizer:
    """Base class: keeps parameters in groups, each with its options, and the state of every parameter.

    *params* are tensors, (name, tensor) pairs, or dicts with ``"params"`` and options that differ from *defaults*.
    A subclass defines ``step(closure=None)``, or only ``_update(group)``, which moves the parameters of one group and
    runs without grad, or only what ``stepping.take`` asks for and ``_step_by_ops``.
    """

    # Options and their values in groups that were saved before the option existed.
    _later_options = {}
    # Whether the state's "step" is a tensor; older states hold a number.
    _step_is_tensor = False
    # Which pass over memory takes the steps, under which name sparse gradients are refused (None: they are not), and
    # whether parameters that have taken as many steps may differ in the numbers of the next one.
    _compiled = None
    _dense_only = None
    _numbers_differ = False

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        step = cls.__dict__.get("step")
        if step is not None and not getattr(step, "hooked", False):
            cls.step = _hooked(step)

    def __init__(self, params, defaults):
        self.defaults = defaults
        for name in _HOOK_REGISTRIES:
            setattr(self, name, OrderedDict())
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                + _typename(params)
            )
        self.state = defaultdict(dict)
        self.param_groups = []
        groups = list(params)
        if len(groups) == 0:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def step(self, closure=None):
        """Move all parameters once; returns what *closure*, which computes the loss anew, returned."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            for group in self.param_groups:
                self._update(group)
        return loss

    def _update(self, group):
        """Move the parameters of a group: in one pass those that one can move, the others by ops."""
        if self._compiled is None:
            raise NotImplementedError
        for p, grad, state, numbers in stepping.take(self, group):
            self._step_by_ops(group, p, grad, state, numbers)

    def zero_grad(self, set_to_none=None):
        """Forget the gradients of all parameters, or fill them with zeros when not *set_to_none*.

        The default is to forget them, and to fill with zeros in the eras before 2.0.
        """
        for group in self.param_groups:
            zero_grads(group["params"], set_to_none)

    def add_param_group(self, param_group):
        """Add a group: a dict with ``"params"`` and, if they differ from the defaults, its options."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, Tensor):
            params = [params]
        elif isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in "
                "sets will change between runs. Please use a list instead."
            )
        params = list(params)
        names = [p[0] for p in params if isinstance(p, tuple)]
        if names:
            if len(names) != len(params):
                raise ValueError("all optimizer params should be with/without names. Some param names are missing")
            params = [p[1] for p in params]
            param_group["param_names"] = names
        param_group["params"] = params
        for param in params:
            if not isinstance(param, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {_typename(param)}")
            if not (param.is_leaf or param.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        self._check_new_group(param_group)
        self.param_groups.append(param_group)

    def _check_new_group(self, param_group):
        params = set(param_group["params"])
        if len(params) != len(param_group["params"]):
            import warnings

            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; "
                "see github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=4,
            )
        named = "param_names" in param_group
        for group in self.param_groups:
            if named != ("param_names" in group):
                kind = "with names" if named else "without names"
                raise ValueError(
                    "all optimizer param groups should be with/without names. cannot add param group "
                    f"{kind} to the optimizer"
                )
            if not params.isdisjoint(group["params"]):
                raise ValueError("some parameters appear in more than one parameter group")

    # State

    def state_dict(self):
        """The state by the number of the parameter, and the groups with numbers in place of the parameters."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        numbers = {}
        groups = []
        start = 0
        for group in self.param_groups:
            packed = {key: value for key, value in group.items() if key != "params"}
            for number, param in enumerate(group["params"], start):
                numbers.setdefault(id(param), number)
            packed["params"] = [numbers[id(param)] for param in group["params"]]
            start += len(packed["params"])
            groups.append(packed)
        state = {(numbers[id(k)] if isinstance(k, Tensor) else k): v for k, v in self.state.items()}
        if not policy.optimizer_number_tensors:
            state = {k: _with_numbers(v) for k, v in state.items()}
        result = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            replaced = hook(self, result)
            if replaced is not None:
                result = replaced
        return result

    def load_state_dict(self, state_dict):
        """Take over the state and the options of a ``state_dict()`` with groups of the same sizes."""
        from copy import deepcopy

        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            replaced = hook(self, state_dict)
            if replaced is not None:
                state_dict = replaced
        groups, saved = self.param_groups, deepcopy(state_dict["param_groups"])
        if len(groups) != len(saved):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(g["params"]) != len(s["params"]) for g, s in zip(groups, saved, strict=True)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        by_number = {}
        for group, new in zip(groups, saved, strict=True):
            by_number.update(zip(new["params"], group["params"], strict=True))
            new["params"] = group["params"]
            if "param_names" in group:
                new.setdefault("param_names", group["param_names"])
        state = defaultdict(dict)
        for key, value in state_dict["state"].items():
            if key in by_number:
                param = by_number[key]
                state[param] = _like_param(param, value)
            else:
                state[key] = value
        self.__setstate__({"state": state, "param_groups": saved})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    def __getstate__(self):
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state):
        own = self.__dict__
        own.update(state)
        for name in _HOOK_REGISTRIES:
            if name not in own:
                own[name] = OrderedDict()
        for group in self.param_groups:
            for name, value in self._later_options.items():
                group.setdefault(name, value)
        if self._step_is_tensor:
            for param_state in self.state.values():
                step = param_state.get("step")
                if step is not None and not isinstance(step, Tensor):
                    param_state["step"] = _scalar_tensor(float(step))

    def __repr__(self):
        text = f"{type(self).__name__} ("
        later = _LATER.get(policy.texts_of, ())
        for i, group in enumerate(self.param_groups):
            text += f"\nParameter Group {i}\n"
            for key in sorted(group):
                if key != "params" and key not in later:
                    text += f"    {key}: {group[key]}\n"
        return text + ")"

    # Hooks

    def register_step_pre_hook(self, hook):
        """Call ``hook(optimizer, args, kwargs)`` before every step; a returned pair replaces the arguments."""
        return _register(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook):
        """Call ``hook(optimizer, args, kwargs)`` after every step."""
        return _register(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook, prepend=False):
        """Call ``hook(optimizer)`` before ``state_dict()``."""
        return _register(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook, prepend=False):
        """Call ``hook(optimizer, state_dict)`` after ``state_dict()``; a result replaces it."""
        return _register(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook, prepend=False):
        """Call ``hook(optimizer, state_dict)`` before loading; a result replaces the state_dict."""
        return _register(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook, prepend=False):
        """Call ``hook(optimizer)`` after loading."""
        return _register(self._optimizer_load_state_dict_post_hooks, hook, prepend)


# torch marks the wrapped form; the base class's own step is wrapped like any other.
Optimizer.step = _hooked(Optimizer.step)


def _typename(value):
    from .. import typename

    return typename(value)


def _with_numbers(state):
    """The state of a parameter with the counts and rates in it as numbers, as versions before 1.12 saved them."""
    if not isinstance(state, dict):
        return state
    numbers = {k: state[k].item() for k in ("step", "eta", "mu", "mu_product") if isinstance(state.get(k), Tensor)}
    if "step" in numbers:
        numbers["step"] = int(numbers["step"])
    return {**state, **numbers}


def _like_param(param, value, key=None):
    """A loaded piece of state in the dtype and on the device of its parameter; the step count as it is."""
    if isinstance(value, Tensor):
        if key == "step":
            return value
        if param.is_floating_point():
            return value.to(dtype=param.dtype, device=param.device)
        return value.to(device=param.device)
    if isinstance(value, dict):
        return {k: _like_param(param, v, k) for k, v in value.items()}
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
        return value
    return type(value)(_like_param(param, v) for v in value)


def _scalar_tensor(value):
    """A number as the 0-dim tensor that state_dicts keep it in: float32, or the default dtype float64."""
    return _ops.tensor(value, dtype=float64 if get_default_dtype() == float64 else float32)


def _number(value):
    """A learning rate as a Python number."""
    return value.item() if isinstance(value, Tensor) else value


def _decay(group, lr):
    """(what is added of a parameter to its gradient, what the parameter is multiplied by) for the weight decay."""
    decay = group["weight_decay"]
    return (0.0, 1 - lr * decay) if group["decoupled_weight_decay"] else (decay, 1.0)


def _as_real(*tensors):
    """Complex tensors as real ones with a last dimension of 2, on the same memory."""
    return tuple(_ops.view_as_real(t) for t in tensors)


def _check_scalar_lr(lr):
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")


def _check_lr(lr, positive=False):
    _check_scalar_lr(lr)
    if not (0.0 < lr if positive else 0.0 <= lr):
        raise ValueError(f"Invalid learning rate: {lr}")


def _check_betas(betas):
    for i, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta}")


def _check_differentiable(name, differentiable):
    if differentiable:
        raise NotImplementedError(f"torch.optim.{name}(differentiable=True) is not implemented")
