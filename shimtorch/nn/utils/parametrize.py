"""Parameters that are computed from others each time they are read (torch.nn.utils.parametrize)."""

import copy
from collections.abc import Sequence
from contextlib import contextmanager

from ..._core import Tensor
from ..._core.grad_mode import no_grad
from ..modules.container import ModuleDict, ModuleList
from ..parameter import Parameter

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]

_cache_enabled = 0
_cache = {}


@contextmanager
def cached():
    """Inside, every parametrized tensor is computed once, when it is first read."""
    global _cache_enabled
    _cache_enabled += 1
    try:
        yield
    finally:
        _cache_enabled -= 1
        if not _cache_enabled:
            _cache.clear()


def _keep(module, name, value):
    """Register *value* as a parameter or a buffer, whichever it is."""
    if isinstance(value, Parameter):
        module.register_parameter(name, value)
    else:
        module.register_buffer(name, value)


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, applied one after the other to what is stored.

    What is stored is ``original``, or ``original0``, ``original1`` ... where the first parametrization's
    ``right_inverse`` gives several tensors. With *unsafe*, shape and dtype of the tensor may change.
    """

    def __init__(self, modules, original, unsafe=False):
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        with no_grad():
            stored = original
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    try:
                        stored = module.right_inverse(stored)
                    except NotImplementedError:
                        pass  # the stored tensor is then the value itself
        if not isinstance(stored, Tensor) and not isinstance(stored, Sequence):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got {type(stored).__name__}"
            )
        self.is_tensor = isinstance(stored, Tensor)
        self.ntensors = 1 if self.is_tensor else len(stored)
        if self.is_tensor:
            self._store_one(original, stored)
        else:
            self._store_many(original, stored)
        if not self.unsafe:
            self._check_value(self(), shape, dtype)

    def _store_one(self, original, stored):
        for what in ("dtype", "device"):
            if getattr(original, what) != getattr(stored, what):
                raise ValueError(
                    f"When `right_inverse` outputs one tensor, it may not change the {what}.\n"
                    f"original.{what}: {getattr(original, what)}\n"
                    f"right_inverse(original).{what}: {getattr(stored, what)}"
                )
        with no_grad():
            original.set_(stored)  # the same object: an optimizer may hold it
        _keep(self, "original", original)

    def _store_many(self, original, stored):
        for i, part in enumerate(stored):
            if not isinstance(part, Tensor):
                raise ValueError(
                    "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got element "
                    f"{i} of the sequence with type {type(part).__name__}."
                )
            if isinstance(original, Parameter):
                part = Parameter(part, original.requires_grad)
            part.requires_grad_(original.requires_grad)
            _keep(self, f"original{i}", part)

    @staticmethod
    def _check_value(value, shape, dtype):
        if not isinstance(value, Tensor):
            raise ValueError(f"A parametrization must return a tensor. Got {type(value).__name__}.")
        for what, before in (("dtype", dtype), ("shape", shape)):
            if getattr(value, what) != before:
                raise ValueError(
                    f"Registering a parametrization may not change the {what} of the tensor, unless `unsafe` flag is "
                    f"enabled.\nunparametrized {what}: {before}\nparametrized {what}: {getattr(value, what)}"
                )

    def right_inverse(self, value):
        """Store what the parametrizations make *value* of; RuntimeError if one has no ``right_inverse``."""
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
            if self.is_tensor:
                self._set_one(value)
            else:
                self._set_many(value)

    def _set_one(self, value):
        if not isinstance(value, Tensor):
            raise ValueError(f"`right_inverse` should return a tensor. Got {type(value).__name__}")
        if value.dtype != self.original.dtype:
            raise ValueError(
                f"The tensor returned by `right_inverse` has dtype {value.dtype} while `original` has dtype "
                f"{self.original.dtype}"
            )
        self.original.set_(value)

    def _set_many(self, value):
        if not isinstance(value, Sequence):
            raise ValueError(f"'right_inverse' must return a sequence of tensors. Got {type(value).__name__}.")
        if len(value) != self.ntensors:
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got a sequence of "
                f"length {len(value)}."
            )
        for i, part in enumerate(value):
            stored = getattr(self, f"original{i}")
            if not isinstance(part, Tensor):
                raise ValueError(
                    "'right_inverse' must return a sequence of tensors or reference-type opaques. Got element "
                    f"{i} of type {type(part).__name__}."
                )
            if stored.dtype != part.dtype:
                raise ValueError(
                    f"Tensor {i} returned by `right_inverse` has dtype {part.dtype} while `original{i}` has dtype "
                    f"{stored.dtype}"
                )
            stored.set_(part)

    def forward(self):
        """The tensor as the parametrizations make it of what is stored."""
        first, *rest = self
        if self.is_tensor:
            value = first(self.original)
        else:
            value = first(*(getattr(self, f"original{i}") for i in range(self.ntensors)))
        for module in rest:
            value = module(value)
        return value


def _refuse_pickling(self):
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(). See:\n"
        "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
        "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
    )


def _deepcopy(self, memo):
    known = memo.get(id(self))
    if known is None:
        known = memo[id(self)] = self.__new__(type(self))
        known.__dict__ = copy.deepcopy(self.__dict__, memo)
    return known


def _give_own_class(module):
    """Make the module's class one of its own, so that properties can be put on it."""
    cls = type(module)
    members = {"__getstate__": _refuse_pickling}
    if not hasattr(cls, "__deepcopy__"):
        members["__deepcopy__"] = _deepcopy  # copy would ask __getstate__
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), members)


def _put_property(module, name):
    def get(self):
        if not _cache_enabled:
            return self.parametrizations[name]()
        key = id(module), name
        if key not in _cache:
            _cache[key] = self.parametrizations[name]()
        return _cache[key]

    def set(self, value):
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(get, set))


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    """Make ``module.<tensor_name>``, a parameter or a buffer, the value of ``parametrization(original)``.

    *parametrization* is a Module; its ``right_inverse``, if it has one, says what is stored when the tensor is
    assigned to, and for its present value. A second call adds a parametrization of the first one's result. Unless
    *unsafe*, shape and dtype must stay. Returns *module*.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_added(module, tensor_name, parametrization)
        parametrizations = module.parametrizations[tensor_name]
        parametrizations.append(parametrization)
        parametrizations.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        parametrizations = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _give_own_class(module)
            module.parametrizations = ModuleDict()
        _put_property(module, tensor_name)
        module.parametrizations[tensor_name] = parametrizations
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    return module


def _check_added(module, name, parametrization):
    """ValueError if one more parametrization would change the shape or the dtype of the tensor."""
    before = getattr(module, name)
    after = parametrization(before)
    if not isinstance(after, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(after).__name__}.")
    for what in ("dtype", "shape"):
        if getattr(after, what) != getattr(before, what):
            raise ValueError(
                f"Registering a parametrization may not change the {what} of the tensor, unless the `unsafe` flag is "
                f"enabled.\nmodule.{name}.{what}: {getattr(before, what)}\n"
                f"parametrization(module.{name}).{what}: {getattr(after, what)}"
            )
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        back = parametrization.right_inverse(after)
    except NotImplementedError:
        return
    if not isinstance(back, Tensor):
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}")
    for what in ("dtype", "shape"):
        if getattr(back, what) != getattr(before, what):
            raise ValueError(
                f"The tensor returned by parametrization.right_inverse must have the same {what} as module.{name}, "
                f"unless the `unsafe` flag is enabled.\nmodule.{name}.{what}: {getattr(before, what)}\n"
                f"returned {what}: {getattr(back, what)}"
            )


def is_parametrized(module, tensor_name=None):
    """Whether the tensor of that name, or any if None, has a parametrization."""
    parametrizations = getattr(module, "parametrizations", None)
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    """Make the tensor a plain one again: of its present value, or of what is stored. Returns *module*."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    parametrizations = module.parametrizations[tensor_name]
    if parametrizations.is_tensor:
        result = parametrizations.original
        if leave_parametrized:
            with no_grad():
                result.set_(getattr(module, tensor_name))
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        result = Parameter(value) if value.requires_grad else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a "
            "sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _keep(module, tensor_name, result)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module):
    """The class of a module, as it was before it was given a parametrization."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module, to_module, tensor_name=None):
    """Give *to_module* the parametrizations of *from_module*, with what they store; all, or those of one tensor.

    Tensors that *to_module* lacks are made. The parametrizations themselves are shared. Returns *to_module*.
    """
    if not is_parametrized(from_module):
        return to_module
    names = from_module.parametrizations if tensor_name is None else [tensor_name]
    for name in names:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        source = from_module.parametrizations[name]
        for parametrization in source:
            register_parametrization(to_module, name, parametrization)
        target = to_module.parametrizations[name]
        if hasattr(source, "original"):
            target.original = source.original
        else:
            for i in range(source.ntensors):
                setattr(target, f"original{i}", getattr(source, f"original{i}"))
    return to_module
