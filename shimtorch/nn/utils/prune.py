"""Pruning: elements of parameters masked out (torch.nn.utils.prune).

A pruned parameter ``name`` becomes ``name_orig``, the mask a buffer ``name_mask``, and before every forward pass their
product is set as the attribute ``name``.
"""

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable

from ... import _ops

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "PruningContainer",
    "RandomStructured", "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity", "is_pruned",
    "l1_unstructured", "ln_structured", "random_structured", "random_unstructured", "remove",
]


class BasePruningMethod(ABC):
    """A way of choosing what to prune. A subclass sets PRUNING_TYPE and defines ``compute_mask(t, default_mask)``."""

    _tensor_name = None

    def __call__(self, module, inputs):
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t, default_mask):
        """A mask for *t*, on top of *default_mask*."""

    def apply_mask(self, module):
        """The parameter times its mask."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        mask = getattr(module, self._tensor_name + "_mask")
        original = getattr(module, self._tensor_name + "_orig")
        return mask.to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        """Prune the parameter *name* of a module; what is pruned already stays so."""
        hooks = module._forward_pre_hooks
        found = [k for k, h in hooks.items() if isinstance(h, BasePruningMethod) and h._tensor_name == name]
        if len(found) > 1:
            raise AssertionError(
                f"Avoid adding multiple pruning hooks to the same tensor {name} of module {module}. "
                "Use a PruningContainer."
            )
        method = cls(*args, **kwargs)
        method._tensor_name = name
        if found:
            old = hooks.pop(found[0])
            container = old if isinstance(old, PruningContainer) else PruningContainer(old)
            container._tensor_name = name
            container.add_pruning_method(method)
            method = container
        first = not found
        original = getattr(module, name)
        if importance_scores is None:
            importance_scores = original
        elif importance_scores.shape != original.shape:
            raise AssertionError(f"importance_scores should have the same shape as parameter {name} of {module}")
        if first:
            module.register_parameter(name + "_orig", original)
            del module._parameters[name]
            default_mask = _ops.ones_like(original)
        else:
            default_mask = getattr(module, name + "_mask").detach().clone()
        try:
            mask = method.compute_mask(importance_scores, default_mask=default_mask)
            module.register_buffer(name + "_mask", mask)
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if first:
                del module._parameters[name + "_orig"]
                module.register_parameter(name, original)
            raise
        return method

    def prune(self, t, default_mask=None, importance_scores=None):
        """*t* times the mask that this method chooses for it."""
        if importance_scores is None:
            importance_scores = t
        elif importance_scores.shape != t.shape:
            raise AssertionError("importance_scores should have the same shape as tensor t")
        if default_mask is None:
            default_mask = _ops.ones_like(t)
        return t * self.compute_mask(importance_scores, default_mask=default_mask)

    def remove(self, module):
        """Make the pruning permanent: the parameter holds the product, the mask is gone."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        name = self._tensor_name
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters.pop(name + "_orig")
        original.data = weight.data
        del module._buffers[name + "_mask"]
        module.register_parameter(name, original)


class PruningContainer(BasePruningMethod):
    """Several methods one after another on one parameter."""

    def __init__(self, *args):
        self._pruning_methods = ()
        if len(args) == 1 and not isinstance(args[0], Iterable):
            self._tensor_name = args[0]._tensor_name
            self.add_pruning_method(args[0])
        else:
            methods = args[0] if len(args) == 1 else args
            for method in methods:
                self.add_pruning_method(method)

    def add_pruning_method(self, method):
        """Append a method for the same parameter."""
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name and self._tensor_name is not None:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._tensor_name = method._tensor_name if self._tensor_name is None else self._tensor_name
        self._pruning_methods += (method,)

    def __len__(self):
        return len(self._pruning_methods)

    def __iter__(self):
        return iter(self._pruning_methods)

    def __getitem__(self, idx):
        return self._pruning_methods[idx]

    def compute_mask(self, t, default_mask):
        """The mask of the last method, chosen among what the earlier ones left."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype)
        if method.PRUNING_TYPE == "unstructured":
            kept = mask == 1
        elif method.PRUNING_TYPE == "structured":
            dim = method.dim % t.dim()
            whole = mask.sum([d for d in range(t.dim()) if d != dim]) != 0
            kept = tuple(whole if d == dim else slice(None) for d in range(t.dim()))
        elif method.PRUNING_TYPE == "global":
            kept = tuple(slice(None) for _ in range(t.dim()))
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        result = mask.clone()
        result[kept] = method.compute_mask(t[kept], default_mask=mask[kept]).to(mask.dtype)
        return result


class Identity(BasePruningMethod):
    """Prunes nothing, but sets up mask and hook."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        return default_mask

    @classmethod
    def apply(cls, module, name):
        return super().apply(module, name)


def _check_amount(amount):
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if amount < 0 or (not isinstance(amount, numbers.Integral) and amount > 1.0):
        raise ValueError(
            f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer"
        )


def _how_many(amount, size):
    """The number of elements, from a number or a share."""
    if not isinstance(amount, numbers.Integral):
        return round(amount * size)
    if amount > size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={size}")
    return amount


class _ByAmount(BasePruningMethod):
    def __init__(self, amount):
        _check_amount(amount)
        self.amount = amount


class RandomUnstructured(_ByAmount):
    """Prunes elements at random."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        n = _how_many(self.amount, t.nelement())
        mask = default_mask.clone()
        if n:
            mask.view(-1)[_ops.rand_like(t).view(-1).topk(n)[1]] = 0
        return mask

    @classmethod
    def apply(cls, module, name, amount):
        return super().apply(module, name, amount=amount)


class L1Unstructured(_ByAmount):
    """Prunes the elements of smallest absolute value."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        n = _how_many(self.amount, t.nelement())
        mask = default_mask.clone()
        if n:
            mask.view(-1)[t.detach().abs().view(-1).topk(n, largest=False).indices] = 0
        return mask

    @classmethod
    def apply(cls, module, name, amount, importance_scores=None):
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


def _whole_mask(t, dim, kept):
    """A mask that keeps the given slices of a dimension."""
    mask = _ops.zeros_like(t)
    mask[tuple(kept if d == dim % t.dim() else slice(None) for d in range(t.dim()))] = 1
    return mask


class _Structured(_ByAmount):
    PRUNING_TYPE = "structured"

    def _slices(self, t):
        if t.dim() <= 1:
            raise ValueError(
                "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
                f"{t.shape} with {t.dim()} dims"
            )
        if self.dim >= t.dim():
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        return t.shape[self.dim]


class RandomStructured(_Structured):
    """Prunes whole slices of a dimension at random."""

    def __init__(self, amount, dim=-1):
        super().__init__(amount)
        self.dim = dim

    def compute_mask(self, t, default_mask):
        size = self._slices(t)
        n = _how_many(self.amount, size)
        if n == 0:
            return default_mask
        chances = _ops.rand(size)
        kept = chances > chances.kthvalue(n)[0]
        return _whole_mask(t, self.dim, kept) * default_mask.to(t.dtype)

    @classmethod
    def apply(cls, module, name, amount, dim=-1):
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(_Structured):
    """Prunes the slices of a dimension whose n-norm is smallest."""

    def __init__(self, amount, n, dim=-1):
        super().__init__(amount)
        self.n = n
        self.dim = dim

    def compute_mask(self, t, default_mask):
        size = self._slices(t)
        n = _how_many(self.amount, size)
        if n == 0:
            return default_mask
        dims = [d for d in range(t.dim()) if d != self.dim % t.dim()]
        norms = t.detach().norm(p=self.n, dim=dims)
        kept = norms.topk(size - n)[1]
        return _whole_mask(t, self.dim, kept) * default_mask.to(t.dtype)

    @classmethod
    def apply(cls, module, name, amount, n, dim, importance_scores=None):
        return super().apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)


class CustomFromMask(BasePruningMethod):
    """Prunes by a given mask."""

    PRUNING_TYPE = "global"

    def __init__(self, mask):
        self.mask = mask

    def compute_mask(self, t, default_mask):
        if default_mask.shape != self.mask.shape:
            raise AssertionError("default_mask and self.mask must have the same shape")
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module, name, mask):
        return super().apply(module, name, mask=mask)


def identity(module, name):
    """Set up the mask of a parameter without pruning it."""
    Identity.apply(module, name)
    return module


def random_unstructured(module, name, amount):
    """Prune elements at random: a number of them, or a share."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module, name, amount, importance_scores=None):
    """Prune the elements of smallest absolute value."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module, name, amount, dim):
    """Prune slices of a dimension at random."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module, name, amount, n, dim, importance_scores=None):
    """Prune the slices of a dimension with the smallest n-norm."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module, name, mask):
    """Prune by a given mask."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs):
    """Prune (module, name) pairs together, as if they were one tensor."""
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    parameters = list(parameters)
    importance_scores = {} if importance_scores is None else importance_scores
    if not isinstance(importance_scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    scores = _ops.cat([importance_scores.get((m, n), getattr(m, n)).detach().reshape(-1) for m, n in parameters])
    default = _ops.cat([
        getattr(m, n + "_mask", _ops.ones_like(getattr(m, n))).detach().reshape(-1) for m, n in parameters
    ])
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    container.add_pruning_method(method)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            f'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method {pruning_method} of '
            f"type {method.PRUNING_TYPE}"
        )
    mask, at = container.compute_mask(scores, default), 0
    for module, name in parameters:
        param = getattr(module, name)
        n = param.numel()
        custom_from_mask(module, name, mask[at : at + n].view_as(param))
        at += n


def remove(module, name):
    """Make the pruning of a parameter permanent."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module):
    """Whether a module or one in it has a pruned parameter."""
    return any(
        isinstance(hook, BasePruningMethod) for m in module.modules() for hook in m._forward_pre_hooks.values()
    )


