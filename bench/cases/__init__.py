"""The cases, a module for each group with a list `CASES`."""

import importlib
import zlib
from typing import NamedTuple

GROUPS = ("overhead", "elementwise", "linalg", "sparse", "einsum", "models")


class Case(NamedTuple):
    """`build(t, numbers)` gets a torch-like module and a NumPy generator and returns the function to time.

    The generator's seed is the case's name, so that every module gets the same numbers; what the function returns is
    compared between the modules. `peers` has such functions for other libraries, by the name of the module.
    """

    name: str
    build: object
    peers: dict = {}

    def seed(self):
        return zlib.crc32(self.name.encode())


def load(group):
    """The cases of a group."""
    return importlib.import_module(f"{__name__}.{group}").CASES


def tensor(t, numbers, *shape):
    """A float32 tensor of normal numbers."""
    return t.tensor(numbers.standard_normal(shape).astype("float32"))


def fill(t, numbers, model):
    """Give the parameters of a model the same values in every module; return the model."""
    with t.no_grad():
        for parameter in model.parameters():
            scale = parameter.shape[-1] ** -0.5
            parameter.copy_(tensor(t, numbers, *parameter.shape) * scale)
    return model
