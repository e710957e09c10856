"""``torch.utils.cpp_extension``: extensions in C++ need real torch's headers, and cannot be built here."""

__all__ = ["BuildExtension", "CUDAExtension", "CUDA_HOME", "CppExtension", "include_paths", "is_ninja_available",
           "library_paths", "load", "load_inline", "verify_ninja_availability"]

CUDA_HOME = None


def _refuse(name):
    def refuse(*args, **kwargs):
        raise NotImplementedError(f"torch.utils.cpp_extension.{name} is not implemented: extensions need the headers "
                                  "and libraries of real torch")
    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Not implemented: extensions need the headers and libraries of real torch."
    return refuse


CppExtension, CUDAExtension, BuildExtension, load, load_inline, include_paths, library_paths = map(_refuse, (
    "CppExtension", "CUDAExtension", "BuildExtension", "load", "load_inline", "include_paths", "library_paths"))


def is_ninja_available():
    """Whether the program ``ninja`` can be run."""
    import shutil
    return shutil.which("ninja") is not None


def verify_ninja_availability():
    """RuntimeError where the program ``ninja`` cannot be run."""
    if not is_ninja_available():
        raise RuntimeError("Ninja is required to load C++ extensions (pip install ninja to get it)")
