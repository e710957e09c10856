"""``torch.cpu``: the CPU seen as a device like others. Work on it is done when a call returns; streams do nothing."""
from contextlib import contextmanager

from . import amp  # noqa: F401  (an attribute)

__all__ = ["Event", "Stream", "current_device", "current_stream", "device_count", "is_available", "is_initialized",
           "set_device", "stream", "synchronize"]


class Stream:
    """A queue of work; on the CPU calls are done when they return."""

    def __init__(self, priority=-1):
        self.priority = priority

    def wait_stream(self, stream):
        """Returns at once."""

    def record_event(self):
        """Returns at once."""

    def wait_event(self, event):
        """Returns at once."""


class Event:
    """A point in a queue of work."""

    def query(self):
        """Whether all work before it is done: True."""
        return True

    def record(self, stream=None):
        """Returns at once."""

    def synchronize(self):
        """Returns at once."""

    def wait(self, stream=None):
        """Returns at once."""


_default = Stream()
_current = [_default]


def is_available():
    """Whether there is a CPU: True."""
    return True


def is_initialized():
    """Whether it was started: True."""
    return True


def device_count():
    """How many devices of this kind there are: 1."""
    return 1


def current_device():
    """The name of the device: "cpu"."""
    return "cpu"


def set_device(device):
    """Accepted: there is one device."""


def synchronize(device=None):
    """Returns at once: all work is done."""


def current_stream(device=None):
    """The stream that ``stream`` chose."""
    return _current[-1]


@contextmanager
def stream(stream):
    """A context in which *stream* is the current one; None does nothing."""
    if stream is None:
        yield
        return
    _current.append(stream)
    try:
        yield
    finally:
        _current.pop()
