"""Marks for NVIDIA's profilers: ``torch.cuda.nvtx``. The library that takes them is not linked, and so all of it is
refused, as it is by a PyTorch without it."""
from contextlib import contextmanager

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]


def _fail(*args, **kwargs):
    raise RuntimeError("NVTX functions not installed. Are you sure you have a CUDA build?")


def range_push(msg):
    """Begin a range within the one that this thread is in: refused."""
    return _fail(msg)


def range_pop():
    """End the innermost range: refused."""
    return _fail()


def range_start(msg):
    """Begin a range that may end in another thread: refused."""
    return _fail(msg)


def range_end(range_id):
    """End a range: refused."""
    return _fail(range_id)


def mark(msg):
    """Mark a moment: refused."""
    return _fail(msg)


@contextmanager
def range(msg, *args, **kwargs):
    """A range as a context or decorator: refused."""
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
