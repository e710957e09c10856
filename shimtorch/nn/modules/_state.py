"""Saving and loading the state of modules: state_dict and load_state_dict."""

from collections import OrderedDict, namedtuple

from ..._core import Tensor
from ...utils.hooks import RemovableHandle
from ._hooks import _WrappedHook

_EXTRA_STATE_KEY_SUFFIX = "_extra_state"


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What load_state_dict returns: the keys it looked for in vain, and those it had no use for."""

    __slots__ = ()

    def __repr__(self):
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class StateMethods:
    """The part of Module that saves and loads."""

    _version = 1
    dump_patches = False

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        """An OrderedDict of all parameters and persistent buffers, by their dotted names.

        The values share memory with the module and are detached unless *keep_vars*. The dictionary's ``_metadata``
        holds the version of every module.
        """
        if args:
            import warnings

            warnings.warn(
                "Positional args are being deprecated, use kwargs instead. Refer to "
                "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict for details.",
                FutureWarning,
                stacklevel=2,
            )
            if destination is None:
                destination = args[0]
            if len(args) > 1 and prefix == "":
                prefix = args[1]
            if len(args) > 2 and keep_vars is False:
                keep_vars = args[2]
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            replaced = hook(self, destination, prefix, local_metadata)
            if replaced is not None:
                if getattr(hook, "_from_public_api", False):
                    raise RuntimeError("state_dict post-hook must return None")
                destination = replaced
        return destination

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        """Put this module's own entries (not its children's) into *destination*."""
        for name, param in self._parameters.items():
            if param is not None:
                destination[prefix + name] = param if keep_vars else param.data
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = buffer if keep_vars else buffer.detach()
        if type(self).get_extra_state is not StateMethods.get_extra_state:
            destination[prefix + _EXTRA_STATE_KEY_SUFFIX] = self.get_extra_state()

    def get_extra_state(self):
        """Override together with set_extra_state to keep more than tensors in the state_dict."""
        raise RuntimeError(f"{type(self).__name__} defines no extra state")

    def set_extra_state(self, state):
        """Take back what get_extra_state returned."""
        raise RuntimeError(f"{type(self).__name__} defines no extra state")

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Copy the values of *state_dict* into this module and its children.

        With *strict*, the keys must be exactly those of ``state_dict()``: RuntimeError lists what is missing, what is
        unexpected and every wrong size. With *assign* the tensors themselves are taken over instead of copied.
        Returns the missing and the unexpected keys.
        """
        from collections.abc import Mapping

        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing, unexpected, errors = [], [], []
        metadata = getattr(state_dict, "_metadata", None)
        state_dict = OrderedDict(state_dict)  # a copy, which hooks may change
        if metadata is not None:
            state_dict._metadata = metadata

        def load(module, entries, prefix):
            local_metadata = {} if metadata is None else metadata.get(prefix[:-1], {})
            if assign:
                local_metadata["assign_to_params_buffers"] = assign
            module._load_from_state_dict(entries, prefix, local_metadata, True, missing, unexpected, errors)
            for name, child in module._modules.items():
                if child is not None:
                    child_prefix = f"{prefix}{name}."
                    load(child, {k: v for k, v in entries.items() if k.startswith(child_prefix)}, child_prefix)
            for hook in module._load_state_dict_post_hooks.values():
                if hook(module, _IncompatibleKeys(missing, unexpected)) is not None:
                    raise AssertionError(
                        "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new "
                        "values, if incompatible_keys need to be modified, it should be done inplace."
                    )

        load(self, state_dict, "")
        if strict:
            for title, keys in (("Unexpected", unexpected), ("Missing", missing)):
                if keys:
                    listed = ", ".join(f'"{k}"' for k in keys)
                    errors.insert(0, f"{title} key(s) in state_dict: {listed}. ")
        if errors:
            report = "\n\t".join(errors)
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{report}")
        return _IncompatibleKeys(missing, unexpected)

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
    ):
        """Load this module's own entries; a subclass overrides it to read older versions of its state."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        own = {name: p for name, p in self._parameters.items() if p is not None}
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                own[name] = buffer
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, target in own.items():
            key = prefix + name
            if key in state_dict:
                error = self._load_entry(name, key, target, state_dict[key], assign)
                if error is not None:
                    error_msgs.append(error)
            elif strict:
                missing_keys.append(key)

        extra_key = prefix + _EXTRA_STATE_KEY_SUFFIX
        if type(self).set_extra_state is not StateMethods.set_extra_state:
            if extra_key in state_dict:
                self.set_extra_state(state_dict[extra_key])
            elif strict:
                missing_keys.append(extra_key)
        elif strict and extra_key in state_dict:
            unexpected_keys.append(extra_key)
        if strict:
            for key in state_dict:
                if key.startswith(prefix) and key != extra_key:
                    name, dot, _ = key[len(prefix) :].partition(".")
                    if name not in (self._modules if dot else own):
                        unexpected_keys.append(key)

    def _load_entry(self, name, key, target, value, assign):
        """Copy (or assign) one value; returns the error message, or None."""
        from ... import no_grad
        from ..parameter import Parameter, is_lazy

        if not (isinstance(value, Tensor) or hasattr(type(value), "__torch_function__")):
            return (
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                f"checkpoint but received {type(value)}"
            )
        lazy = is_lazy(target)
        if not lazy and target.dim() == 0 and value.dim() == 1 and value.shape[0] == 1:
            value = value[0]  # before 0.4 there were no 0-dim tensors
        if not lazy and value.shape != target.shape:
            return (
                f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, "
                f"the shape in current model is {target.shape}."
            )
        try:
            with no_grad():
                if not assign:
                    target.copy_(value)
                elif isinstance(target, Parameter):
                    if isinstance(value, Parameter):
                        value.requires_grad_(target.requires_grad)
                    else:
                        value = Parameter(value, requires_grad=target.requires_grad)
                    setattr(self, name, value)
                else:
                    setattr(self, name, value)
        except Exception as error:
            return (
                f'While copying the parameter named "{key}", whose dimensions in the model are {target.size()} and '
                f"whose dimensions in the checkpoint are {value.size()}, an exception occurred : {error.args}."
            )
        return None

    def _register_state_dict_hook(self, hook):
        """Call ``hook(module, state_dict, prefix, local_metadata)`` after saving; a result replaces the state_dict."""
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was previously registered via "
                "register_state_dict_post_hook"
            )
        return self._keep_hook(self._state_dict_hooks, hook)

    def register_state_dict_post_hook(self, hook):
        """Call ``hook(module, state_dict, prefix, local_metadata)`` after saving; it must return None."""
        hook._from_public_api = True
        return self._keep_hook(self._state_dict_hooks, hook)

    def register_state_dict_pre_hook(self, hook):
        """Call ``hook(module, prefix, keep_vars)`` before saving."""
        return self._keep_hook(self._state_dict_pre_hooks, hook)

    def _register_load_state_dict_pre_hook(self, hook, with_module=False):
        wrapped = _WrappedHook(hook, self if with_module else None)
        return self._keep_hook(self._load_state_dict_pre_hooks, wrapped)

    def register_load_state_dict_pre_hook(self, hook):
        """Call ``hook(module, state_dict, prefix, local_metadata, strict, missing, unexpected, errors)`` before
        this module loads."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def register_load_state_dict_post_hook(self, hook):
        """Call ``hook(module, incompatible_keys)`` after loading; it may change the two lists, and returns None."""
        return self._keep_hook(self._load_state_dict_post_hooks, hook)

    @staticmethod
    def _keep_hook(registry, hook):
        handle = RemovableHandle(registry)
        registry[handle.id] = hook
        return handle
