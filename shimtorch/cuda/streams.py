"""Streams, which order the work of a device, and events, which mark places in them."""
from .._core.device import device as _device_class
from .._gpu import load as _load


class Stream:
    """A queue of work of a device; work of different streams may run at once.

    ``Stream(device=None, priority=0)`` takes one from the device's pool; priorities make no difference.
    """

    def __init__(self, device=None, priority=0, *, _handle=None):
        self._index = _load.index_of(device)
        self.cuda_stream = _load.runtime().new_stream(self._index) if _handle is None else _handle

    @property
    def device(self):
        """The device whose stream it is."""
        return _device_class("cuda", self._index)

    priority = 0

    @staticmethod
    def priority_range():
        """The least and the greatest priority that is taken; they make no difference."""
        return 0, -1

    def synchronize(self):
        """Wait for all work that the stream has now."""
        _load.runtime().stream_synchronize(self.cuda_stream)

    def query(self):
        """Whether all work is done."""
        return _load.runtime().stream_query(self.cuda_stream)

    def record_event(self, event=None):
        """Put an event behind the work that the stream has now; a new one unless given."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event):
        """Let further work of this stream begin after the event."""
        event.wait(self)

    def wait_stream(self, stream):
        """Let further work of this stream begin after the work that another one has now."""
        self.wait_event(stream.record_event())

    def __eq__(self, other):
        return isinstance(other, Stream) and (self.cuda_stream, self._index) == (other.cuda_stream, other._index)

    def __hash__(self):
        return hash((self.cuda_stream, self._index))

    def __repr__(self):
        return f"<torch.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"


class ExternalStream(Stream):
    """A stream of another library, by its address."""

    def __init__(self, stream_ptr, device=None):
        super().__init__(device, _handle=stream_ptr)


class Event:
    """A place in a stream. ``enable_timing`` lets ``elapsed_time`` measure; events are not shared between processes."""

    _device = None

    def __init__(self, enable_timing=False, blocking=False, interprocess=False):
        if interprocess:
            raise NotImplementedError("torch.cuda.Event: interprocess events are not implemented")
        from .._gpu._rt import EventHandle
        _load.runtime()
        self._event = EventHandle(enable_timing, blocking)

    @property
    def cuda_event(self):
        """The address of the event; 0 before it is recorded."""
        return self._event.handle

    @property
    def device(self):
        """The device whose stream the event was recorded in; None before."""
        return self._device

    def ipc_handle(self):
        """Raises NotImplementedError: events are not shared between processes."""
        raise NotImplementedError("torch.cuda.Event.ipc_handle is not implemented")

    @classmethod
    def from_ipc_handle(cls, device, handle):
        """Raises NotImplementedError: events are not shared between processes."""
        raise NotImplementedError("torch.cuda.Event.from_ipc_handle is not implemented")

    def record(self, stream=None):
        """Stand behind the work that a stream, by default the current one, has now."""
        stream = current_stream() if stream is None else stream
        self._event.record(stream.cuda_stream)
        self._device = stream.device

    def wait(self, stream=None):
        """Let further work of a stream, by default the current one, begin after the event."""
        stream = current_stream() if stream is None else stream
        self._event.wait(stream.cuda_stream)

    def query(self):
        """Whether the work before the event is done."""
        return self._event.query()

    def synchronize(self):
        """Wait for the work before the event."""
        self._event.synchronize()

    def elapsed_time(self, end_event):
        """Milliseconds from this event to another."""
        return self._event.elapsed_time(end_event._event)

    def __repr__(self):
        return f"<torch.cuda.Event {self.cuda_event:#x}>" if self.cuda_event else "<torch.cuda.Event uninitialized>"


def current_stream(device=None):
    """This thread's current stream of a device."""
    index = _load.index_of(device)
    return Stream(index, _handle=_load.runtime().current_stream(index))


def default_stream(device=None):
    """The stream that is current at first: the legacy default stream."""
    return Stream(device, _handle=0)


def get_stream_from_external(data_ptr, device=None):
    """A stream of another library, by its address."""
    return ExternalStream(data_ptr, device)


def set_stream(stream):
    """Make a stream this thread's current one of its device."""
    if stream is not None:
        _load.runtime().set_stream(stream._index, stream.cuda_stream)


class StreamContext:
    """A context in which a stream is the current one of its device, and its device the current one."""

    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        if self.stream is None:
            return
        rt, index = _load.runtime(), self.stream._index
        self.before = rt.current_device(), current_stream(index)
        rt.set_device(index)
        set_stream(self.stream)

    def __exit__(self, *exc):
        if self.stream is not None:
            index, stream = self.before
            set_stream(stream)
            _load.runtime().set_device(index)
        return False


def stream(stream):
    """A context in which a stream is the current one; None changes nothing."""
    return StreamContext(stream)
