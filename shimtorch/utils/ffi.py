"""``torch.utils.ffi``: extensions in C of PyTorch 0.x, which cannot be built here."""
from .._refused import attribute


def __getattr__(name):
    return attribute("torch.utils.ffi", name)
