"""What the package was built with (torch.__config__)."""

__all__ = ["parallel_info", "show"]


def show():
    """A text about the package, what it stands on, and the processor."""
    import platform

    import numpy
    import scipy

    from . import __version__
    from ._version import __version__ as own

    return "\n".join([
        f"shimtorch {own} as PyTorch {__version__}, built with:",
        f"  - Python {platform.python_version()} on {platform.system()} {platform.machine()}",
        f"  - NumPy {numpy.__version__}, SciPy {scipy.__version__}",
        *(f"  - {_line(library)}" for library in _libraries()), ""])


def parallel_info():
    """A text about the threads."""
    import os

    from ._settings import get_num_interop_threads, get_num_threads

    variables = (f"\t{name} : {os.environ.get(name, '[not set]')}" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"))
    return "\n".join([
        "Threads:", f"\ttorch.get_num_threads() : {get_num_threads()}",
        f"\ttorch.get_num_interop_threads() : {get_num_interop_threads()}",
        *(f"\t{_line(library)}" for library in _libraries()), f"processors : {os.cpu_count()}",
        "Environment variables:", *variables, ""])


def _libraries():
    import threadpoolctl

    return threadpoolctl.threadpool_info()


def _line(library):
    return f"{library['internal_api']} {library['version']}: {library['num_threads']} threads"
