"""``torch.utils.cpp_extension``: extensions in C++ need real torch's headers, and cannot be built here."""

from .._refused import attribute

__all__ = ["CUDA_HOME", "is_ninja_available", "verify_ninja_availability"]

CUDA_HOME = None


def __getattr__(name):
    return attribute("torch.utils.cpp_extension", name)


def is_ninja_available():
    """Whether the program ``ninja`` can be run."""
    import shutil
    return shutil.which("ninja") is not None


def verify_ninja_availability():
    """RuntimeError where the program ``ninja`` cannot be run."""
    if not is_ninja_available():
        raise RuntimeError("Ninja is required to load C++ extensions (pip install ninja to get it)")
