"""Messages between a loader and its worker: bytes, and with them at most one file descriptor.

A descriptor on its way belongs to the kernel: it is not lost when the sender ends, nor left when the receiver does.
"""

import os
import select
import socket
import struct
import weakref

_HEADER = struct.Struct("<QB")  # bytes of the message, whether a descriptor comes with it
_LOADERS_ENDS = weakref.WeakSet()


class Closed(Exception):
    """The other end is closed."""


def pair():
    """The ends of a channel: the loader's and the worker's."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    ours.setblocking(False)
    end = LoaderEnd(ours)
    _LOADERS_ENDS.add(end)
    return end, theirs


def close_inherited():
    """Close the loader's ends that a forked process has inherited, so that it shows when the loader's own are gone."""
    for end in list(_LOADERS_ENDS):
        end.close()


class LoaderEnd:
    """The loader's end: never waits unless `wait` is called."""

    def __init__(self, sock):
        self._socket = sock
        self._unsent = bytearray()
        self._received = bytearray()
        self._descriptors = []
        self.closed = False

    def fileno(self):
        return self._socket.fileno()

    def send(self, payload):
        """Send a message, as much of it now as goes."""
        self._unsent += _HEADER.pack(len(payload), False) + payload
        self.flush()

    def flush(self):
        """Go on sending."""
        try:
            while self._unsent:
                del self._unsent[: self._socket.send(self._unsent)]
        except BlockingIOError:
            pass
        except OSError:
            self.closed = True

    def receive(self):
        """The messages that have arrived: (payload, descriptor or None)."""
        while True:
            try:
                data, descriptors, _, _ = socket.recv_fds(self._socket, 1 << 18, 64)
            except BlockingIOError:
                break
            except OSError:
                data, descriptors = b"", []
            self._descriptors += descriptors
            if not data:
                self.closed = True
                break
            self._received += data
        messages = []
        while len(self._received) >= _HEADER.size:
            length, has_descriptor = _HEADER.unpack_from(self._received)
            end = _HEADER.size + length
            if len(self._received) < end:
                break
            payload = bytes(self._received[_HEADER.size:end])
            messages.append((payload, self._descriptors.pop(0) if has_descriptor else None))
            del self._received[:end]
        return messages

    def close(self):
        """Close this end; the worker ends when it sees that."""
        _LOADERS_ENDS.discard(self)
        self._socket.close()
        self.closed = True
        while self._descriptors:
            os.close(self._descriptors.pop())


def wait(ends, timeout):
    """Wait until something has arrived at one of the open ends; those that have something, or were closed."""
    poll = select.poll()
    by_number = {}
    for end in ends:
        by_number[end.fileno()] = end
        poll.register(end.fileno(), select.POLLIN | (select.POLLOUT if end._unsent else 0))
    ready = []
    for number, event in poll.poll(None if timeout is None else timeout * 1000):
        if event & select.POLLOUT:
            by_number[number].flush()
        if event & ~select.POLLOUT:
            ready.append(by_number[number])
    return ready


class WorkerEnd:
    """The worker's end: sending and receiving wait; `Closed` is raised when the loader is gone."""

    def __init__(self, sock, parent):
        self._socket = sock
        self._parent = parent
        sock.setblocking(True)

    def receive(self):
        """The next message."""
        length, _ = _HEADER.unpack(self._take(_HEADER.size))
        return self._take(length)

    def _take(self, n):
        data = bytearray()
        while len(data) < n:
            self._wait()
            try:
                piece = self._socket.recv(n - len(data))
            except OSError as error:
                raise Closed from error
            if not piece:
                raise Closed
            data += piece
        return bytes(data)

    def _wait(self):
        """Wait for something to read. Whether the parent lives is looked at, too: others may hold its end open."""
        while not select.select([self._socket], [], [], 5)[0]:
            if os.getppid() != self._parent:
                raise Closed

    def send(self, payload, descriptor=None):
        """Send a message, and a descriptor with it."""
        header = _HEADER.pack(len(payload), descriptor is not None)
        try:
            if descriptor is None:
                self._socket.sendall(header)
            else:
                sent = socket.send_fds(self._socket, [header], [descriptor])
                self._socket.sendall(header[sent:])
            self._socket.sendall(payload)
        except OSError as error:
            raise Closed from error
