"""How many threads the kernels and the libraries of linear algebra use."""
import os

from .._kernels import table

_wanted = None


def set_num_threads(n):
    """Use at most n threads from now on, also in the libraries that are loaded later."""
    global _wanted
    if not isinstance(n, int) or isinstance(n, bool):
        raise RuntimeError(f"set_num_threads expects an int, but got {type(n).__name__}")
    if n <= 0:
        raise RuntimeError("set_num_threads expects a positive integer")
    _wanted = n
    table.set_threads(n)
    apply()


def apply():
    """Tell the libraries that are loaded now what was set."""
    if _wanted is not None:
        from threadpoolctl import threadpool_limits
        threadpool_limits(_wanted)


def get_num_threads():
    """The number that was set; at first that of OMP_NUM_THREADS, or of the processors that this process may use."""
    if table.threaded():
        return table.threads()
    if _wanted is not None:
        return _wanted
    given = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    if given.isdigit() and int(given) > 0:
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
