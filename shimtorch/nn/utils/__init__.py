"""Helpers around parameters and sequences (torch.nn.utils)."""

import sys

from . import rnn
from .clip_grad import (
    clip_grad_norm,
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from .convert_parameters import parameters_to_vector, vector_to_parameters

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "convert_conv2d_weight_memory_format",
    "convert_conv3d_weight_memory_format",
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
    "get_total_norm",
    "parameters_to_vector",
    "remove_spectral_norm",
    "remove_weight_norm",
    "rnn",
    "skip_init",
    "spectral_norm",
    "vector_to_parameters",
    "weight_norm",
]

# Modules that are imported when they are first named.
_MODULES = ("fusion", "init", "memory_format", "parametrizations", "parametrize", "prune", "stateless")
# Rarely used, and resting on Module: loaded when asked for.
_LATER = {
    "weight_norm": "weight_norm",
    "remove_weight_norm": "weight_norm",
    "spectral_norm": "spectral_norm",
    "remove_spectral_norm": "spectral_norm",
    "fuse_conv_bn_eval": "fusion",
    "fuse_conv_bn_weights": "fusion",
    "fuse_linear_bn_eval": "fusion",
    "fuse_linear_bn_weights": "fusion",
    "skip_init": "init",
    "convert_conv2d_weight_memory_format": "memory_format",
    "convert_conv3d_weight_memory_format": "memory_format",
}


def __getattr__(name):
    if name in _LATER:
        from importlib import import_module

        found = getattr(import_module(f".{_LATER[name]}", __name__), name)
        globals()[name] = found  # the function, not the module of the same name
        return found
    if name in _MODULES:
        from importlib import import_module

        return import_module("." + name, __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *_LATER])


class _Package(type(sys)):
    def __setattr__(self, name, value):
        """Where a module and its function have one name, importing the module leaves the name to the function."""
        if not (name in _LATER and isinstance(value, type(sys))):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
