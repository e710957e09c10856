"""What ``shimtorch env`` shows."""

import os
import platform
import sys


def version_line():
    """shimtorch's own version, and the PyTorch version of the era."""
    import shimtorch

    return f"shimtorch {_own_version()} (torch {shimtorch.__version__})"


def lines():
    """One line per fact, ready to paste into a bug report. A fact that cannot be found out says why."""
    width = max(map(len, _FACTS))
    return [f"{name:<{width}}  {_answer(fact)}" for name, fact in _FACTS.items()]


def _answer(fact):
    try:
        return fact()
    except Exception as error:  # the report is for installations where something is wrong
        return f"unknown: {type(error).__name__}: {error}"


def _own():
    import shimtorch

    return f"{_own_version()}, answering as torch {shimtorch.__version__}"


def _folder():
    return os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _era():
    return os.environ.get("SHIMTORCH_ERA", "modern")


def _python():
    return f"{platform.python_version()} ({platform.python_implementation()}, {sys.executable})"


def _threads():
    import shimtorch

    return f"{shimtorch.get_num_threads()} of {os.cpu_count()}"


def _kernels():
    from .._kernels.table import isa, threaded

    return f"for {isa()}, {'with a pool of threads' if threaded() else 'without threads'}"


def _own_version():
    from .._version import __version__

    return __version__


def _installed_version(package):
    """The version of an installed package, which is not imported for it."""
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def _blas():
    import numpy

    try:
        import threadpoolctl
    except ImportError:
        blas = numpy.show_config(mode="dicts").get("Build Dependencies", {}).get("blas", {})
        return f"{blas.get('name', 'unknown')} {blas.get('version', '')}".strip()
    pools = [pool for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]
    return ", ".join(
        f"{pool['internal_api']} {pool['version']} ({pool.get('architecture', 'any')}, {pool['num_threads']} threads)"
        for pool in pools
    ) or "unknown"


def _cuda():
    from ..version import cuda

    return "not built" if cuda is None else f"built for {cuda}"


_FACTS = {
    "shimtorch": _own,
    "from": _folder,
    "era": _era,
    "Python": _python,
    "platform": platform.platform,
    "NumPy": lambda: _installed_version("numpy"),
    "SciPy": lambda: _installed_version("scipy"),
    "ml_dtypes": lambda: _installed_version("ml_dtypes"),
    "threadpoolctl": lambda: _installed_version("threadpoolctl"),
    "BLAS": _blas,
    "threads": _threads,
    "kernels": _kernels,
    "CUDA": _cuda,
}
