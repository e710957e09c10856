"""Recording work of a device once, to run it again: ``torch.cuda.graphs``. All of it is refused."""

__all__ = ["CUDAGraph", "graph", "graph_pool_handle", "is_current_stream_capturing", "make_graphed_callables"]


def _refuse(name):
    raise NotImplementedError(f"torch.cuda.{name} is not implemented: work is not recorded")


def is_current_stream_capturing():
    """Whether work is being recorded: never."""
    return False


class CUDAGraph:
    """A recording: refused."""

    def __new__(cls, *args, **kwargs):
        _refuse("CUDAGraph")


class graph:
    """A context that records what is done in it: refused."""

    def __new__(cls, *args, **kwargs):
        _refuse("graph")


def graph_pool_handle():
    """A pool of memory for recordings: refused."""
    _refuse("graph_pool_handle")


def make_graphed_callables(*args, **kwargs):
    """Functions or modules that replay recordings: refused."""
    _refuse("make_graphed_callables")
