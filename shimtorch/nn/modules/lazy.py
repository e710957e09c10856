"""Layers that learn the size of their input from the first one they see (torch.nn.modules.lazy)."""

from ..parameter import is_lazy

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin:
    """Makes a Module wait for its first input, or for a state to load, before its parameters have a shape.

    A subclass sets uninitialized parameters, and gives them their shapes in ``initialize_parameters(*input)``, which
    is called before the first forward. After that the module's class is ``cls_to_become``, if that is not None.
    """

    cls_to_become = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        buffers = {name: b for name, b in self._buffers.items() if name not in self._non_persistent_buffers_set}
        for name, value in (*self._parameters.items(), *buffers.items()):
            if value is not None:
                destination[prefix + name] = value if keep_vars or is_lazy(value) else value.detach()

    def _lazy_load_hook(
        self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
    ):
        """Take the shapes of what is about to be loaded."""
        for name, own in (*self._parameters.items(), *self._buffers.items()):
            value = state_dict.get(prefix + name)
            if own is not None and value is not None and is_lazy(own) and not is_lazy(value):
                own.materialize(value.shape)

    def initialize_parameters(self, *args, **kwargs):
        """Give the parameters the shapes that the input asks for; a subclass defines it."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self):
        """Whether any parameter or buffer of this module (not of its children) has no shape yet."""
        return any(is_lazy(value) for value in (*self._parameters.values(), *self._buffers.values()))

    def _infer_parameters(self, module, args, kwargs=None):
        """The hook of the first forward."""
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook, module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _replicate_for_data_parallel(self):
        raise RuntimeError(
            "Modules with uninitialized parameters can't be used with `DataParallel`. Run a dummy forward pass to "
            "correctly initialize the modules"
        )
