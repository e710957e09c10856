"""Pipes that become several: each child gets all items, or those that are its own."""

from collections import deque

from .datapipe import IterDataPipe, length_of

__all__ = ["DemultiplexerIterDataPipe", "ForkerIterDataPipe"]


class ForkerIterDataPipe:
    """``fork``: a list of pipes that all give the items of one, of which at most *buffer_size* wait for the last."""

    def __new__(cls, datapipe, num_instances, buffer_size=1000):
        _check(num_instances)
        if num_instances == 1:
            return datapipe
        return _Source(datapipe, num_instances, buffer_size, cls.__name__, "").children

    def __init__(self, datapipe, num_instances, buffer_size=1000):
        """Never called: what is made is a list."""


class DemultiplexerIterDataPipe:
    """``demux``: a list of pipes, each with the items for which a function gives its number.

    Items of None are left out if *drop_none*. At most *buffer_size* wait for those that have not asked yet.
    """

    def __new__(cls, datapipe, num_instances, classifier_fn, drop_none=False, buffer_size=1000):
        _check(num_instances)
        return _Source(datapipe, num_instances, buffer_size, cls.__name__, " ", classifier_fn, drop_none).children

    def __init__(self, datapipe, num_instances, classifier_fn, drop_none=False, buffer_size=1000):
        """Never called: what is made is a list."""


def _check(num_instances):
    if num_instances < 1:
        raise ValueError(f"Expected `num_instaces` larger than 0, but {num_instances} is found")


class _Source:
    """The pipe that children read from, and what waits for each of them; an item that all get is held once."""

    def __init__(self, datapipe, count, buffer_size, name, space, classify=None, drop_none=False):
        self.datapipe, self.buffer_size, self.classify, self.drop_none = datapipe, buffer_size, classify, drop_none
        self._overflow = f"{name} buffer overflow,{space}buffer size {buffer_size} is insufficient."
        self.children = [_Child(self, i) for i in range(count)]
        self.restart()

    def restart(self):
        """Begin a pass for all children."""
        self.items = None
        self.waiting = [deque() for _ in self.children]
        self.started = [False for _ in self.children]

    def next(self, number):
        """The next item of a child; StopIteration at the end."""
        waiting = self.waiting[number]
        if self.items is None:
            self.items = iter(self.datapipe)
        while not waiting:
            item = next(self.items)
            owners = self._owners(item)
            for owner in owners:
                self.waiting[owner].append(item)
            held = max(map(len, self.waiting)) if self.classify is None else sum(map(len, self.waiting))
            if 0 <= self.buffer_size < held - (number in owners and self.classify is not None):
                raise BufferError(self._overflow)
        return waiting.popleft()

    def _owners(self, item):
        if self.classify is None:
            return range(len(self.children))
        owner = self.classify(item)
        if owner is None and self.drop_none:
            return ()
        if owner is None or not 0 <= owner < len(self.children):
            raise ValueError(f"Output of the classification fn should be between 0 and {len(self.children) - 1}. "
                             f"{owner} is returned.")
        return (owner,)


class _Child(IterDataPipe):
    """One of the pipes; a second pass over it begins one for all."""

    def __init__(self, source, number):
        self.source, self.number = source, number

    def __iter__(self):
        if self.source.started[self.number]:
            self.source.restart()
        self.source.started[self.number] = True
        return self._items()

    def _items(self):
        while True:
            try:
                yield self.source.next(self.number)
            except StopIteration:
                return

    def __len__(self):
        if self.source.classify is not None:
            raise TypeError("object of type '_DemultiplexerIterDataPipe' has no len()")
        return length_of(self.source.datapipe, self)
