"""Groups of processes, and what is going on in them."""

from concurrent.futures import ThreadPoolExecutor

from .._tensor import Tensor

__all__ = ["ProcessGroup", "Work"]


class Work:
    """An operation of a group, done in the background or already over."""

    def __init__(self, future=None, tensors=()):
        self._future, self._tensors = future, list(tensors)

    def wait(self, timeout=None):
        """Wait until it is over; raises what it raised."""
        if self._future is not None:
            self._future.result(None if timeout is None else timeout.total_seconds())
        return True

    def is_completed(self):
        """Whether it is over."""
        return self._future is None or self._future.done()

    def is_success(self):
        """Whether it is over and raised nothing."""
        return self.is_completed() and self.exception() is None

    def exception(self):
        """What it raised, if it is over."""
        return None if self._future is None or not self._future.done() else self._future.exception()

    def result(self):
        """The tensors that it wrote."""
        self.wait()
        return self._tensors


class ProcessGroup:
    """Some of the processes, by their ranks among all; *peers* are this one's connections, None in a group of one."""

    def __init__(self, name, ranks, own, peers, backend):
        self.group_name, self.ranks, self.backend, self._peers = name, list(ranks), backend, peers
        self._rank = self.ranks.index(own)
        self._threads = {}

    def rank(self):
        """This process's rank in the group."""
        return self._rank

    def size(self):
        """How many processes are in it."""
        return len(self.ranks)

    def name(self):
        """The name of the backend."""
        return self.backend

    def start(self, function, tensors=(), lane="collectives"):
        """Run a function in the background, after what was started in this lane before; the Work of it."""
        if self._peers is None:
            function()
            return Work(tensors=tensors)
        if lane not in self._threads:
            self._threads[lane] = ThreadPoolExecutor(1)
        return Work(self._threads[lane].submit(function), tensors)

    def exchange(self, message):
        """The messages (bytes) that all members gave, by rank."""
        if self._peers is None:
            return [message]
        if self._rank:
            self._peers.send(self.ranks[0], self.group_name, message)
            return [self._take([self.ranks[0]])[1] for _ in self.ranks]
        messages = [message] + [self._take([other])[1] for other in self.ranks[1:]]
        for other in self.ranks[1:]:
            for part in messages:
                self._peers.send(other, self.group_name, part)
        return messages

    def combine(self, message, function):
        """What *function* makes, at the first member, of the messages of all."""
        if self._peers is None:
            return function([message])
        if self._rank:
            self._peers.send(self.ranks[0], self.group_name, message)
            return self._take([self.ranks[0]])[1]
        result = function([message] + [self._take([other])[1] for other in self.ranks[1:]])
        for other in self.ranks[1:]:
            self._peers.send(other, self.group_name, result)
        return result

    def send(self, message, rank, channel):
        """Send bytes to a member."""
        self._peers.send(self.ranks[rank], f"{self.group_name}/{channel}", message)

    def receive(self, rank, channel):
        """(rank, bytes) from a member, or from any if *rank* is None."""
        ranks = [r for i, r in enumerate(self.ranks) if i != self._rank] if rank is None else [self.ranks[rank]]
        sender, message = self._peers.receive(ranks, f"{self.group_name}/{channel}")
        return self.ranks.index(sender), message

    def close(self):
        """End what runs in the background."""
        for threads in self._threads.values():
            threads.shutdown()

    def _take(self, ranks):
        return self._peers.receive(ranks, self.group_name)


def as_bytes(tensor):
    """The elements of a tensor, in order."""
    from .. import uint8

    return tensor.detach().contiguous().reshape(-1).view(uint8).numpy().tobytes()


def as_tensor(message, like):
    """The tensor in the shape and dtype of another whose elements these bytes are."""
    from .. import empty, frombuffer

    if len(message) != like.numel() * like.element_size():
        raise RuntimeError(f"received {len(message)} bytes for a tensor of {like.numel() * like.element_size()}")
    if not message:
        return empty(like.shape, dtype=like.dtype)
    return frombuffer(bytearray(message), dtype=like.dtype).view(like.shape)


def write(tensor, message):
    """Give a tensor the elements in these bytes."""
    from .. import no_grad

    with no_grad():
        tensor.copy_(as_tensor(message, tensor))


def is_tensors(value):
    """Whether a value is a list or tuple of tensors."""
    return isinstance(value, (list, tuple)) and all(isinstance(t, Tensor) for t in value)
