"""What ``shimtorch env`` shows."""

import os
import platform
import sys


def version_line():
    """shimtorch's own version, and the PyTorch version of the era."""
    import shimtorch

    return f"shimtorch {_own_version()} (torch {shimtorch.__version__})"


def lines():
    """One line per fact, ready to paste into a bug report."""
    facts = list(_facts())
    width = max(len(name) for name, _ in facts)
    return [f"{name:<{width}}  {value}" for name, value in facts]


def _facts():
    import numpy

    import shimtorch

    from .._kernels.table import isa

    yield "shimtorch", f"{_own_version()}, answering as torch {shimtorch.__version__}"
    yield "from", os.path.dirname(shimtorch.__file__)
    yield "era", os.environ.get("SHIMTORCH_ERA", "modern")
    yield "Python", f"{platform.python_version()} ({platform.python_implementation()}, {sys.executable})"
    yield "platform", platform.platform()
    yield "NumPy", numpy.__version__
    for name, package in (("SciPy", "scipy"), ("ml_dtypes", "ml_dtypes"), ("threadpoolctl", "threadpoolctl")):
        yield name, _installed_version(package)
    yield "BLAS", _blas()
    yield "threads", f"{shimtorch.get_num_threads()} of {os.cpu_count()}"
    yield "kernels", f"for {isa()}"
    yield "CUDA", _cuda()


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
    try:
        import threadpoolctl
    except ImportError:
        import numpy

        blas = numpy.show_config(mode="dicts").get("Build Dependencies", {}).get("blas", {})
        return f"{blas.get('name', 'unknown')} {blas.get('version', '')}".strip()
    pools = [pool for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]
    return ", ".join(
        f"{pool['internal_api']} {pool['version']} ({pool.get('architecture', 'any')}, {pool['num_threads']} threads)"
        for pool in pools
    ) or "unknown"


def _cuda():
    from importlib.util import find_spec

    return "built" if find_spec("shimtorch._cuda") is not None else "not built"
