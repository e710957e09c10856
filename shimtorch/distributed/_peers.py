"""Messages between the processes of a group, over sockets."""

import json
import socket
import struct
import threading
import time
from collections import defaultdict, deque

from ._stores import DistError

_HEADER = struct.Struct("<qqq")      # sender, length of the channel's name, length of the message


class Peers:
    """The sockets of one process to the others.

    Each process listens, and one thread for each connection sorts what arrives by sender and channel, so that a sender
    never waits for its receiver. *listener* is the socket at which this process listens, and *find(rank)* says where
    another does.
    """

    def __init__(self, rank, timeout, listener, find):
        self.rank, self._timeout, self._listener, self._find = rank, timeout, listener, find
        self._arrived = defaultdict(deque)          # (sender, channel): messages
        self._gone = set()                          # senders whose connection has ended
        self._change = threading.Condition()
        self._outgoing = {}
        self._sending = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def send(self, rank, channel, message):
        """Send bytes to a process."""
        name = channel.encode()
        with self._sending:
            connection = self._outgoing.get(rank)
            if connection is None:
                connection = self._outgoing[rank] = _connect(self._find(rank), self._timeout)
            try:
                connection.sendall(_HEADER.pack(self.rank, len(name), len(message)) + name)
                connection.sendall(message)
            except OSError as error:
                raise DistError(f"Connection to rank {rank} is closed: {error}") from error

    def receive(self, ranks, channel, timeout=None):
        """(sender, bytes) of the next message from one of the ranks."""
        end = time.monotonic() + (self._timeout if timeout is None else timeout)
        with self._change:
            while True:
                for rank in ranks:
                    if self._arrived[rank, channel]:
                        return rank, self._arrived[rank, channel].popleft()
                if self._gone.issuperset(ranks):
                    raise DistError(f"Connection closed by peer: rank {', '.join(map(str, ranks))}")
                if not self._change.wait(max(0.0, end - time.monotonic())) and time.monotonic() >= end:
                    raise DistError(f"Timed out waiting for rank {', '.join(map(str, ranks))}")

    def close(self):
        """End all connections."""
        self._listener.close()
        for connection in self._outgoing.values():
            connection.close()

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._sort, args=(connection,), daemon=True).start()

    def _sort(self, connection):
        sender = None
        with connection:
            try:
                while True:
                    sender, name, length = _HEADER.unpack(_exactly(connection, _HEADER.size))
                    channel = _exactly(connection, name).decode()
                    message = _exactly(connection, length)
                    with self._change:
                        self._arrived[sender, channel].append(message)
                        self._change.notify_all()
            except (OSError, EOFError):
                with self._change:
                    self._gone.add(sender)
                    self._change.notify_all()


def through_store(rank, store, timeout):
    """The peers of a process that tell each other by a store where they listen.

    They are on this machine unless the store is reached through an address of another.
    """
    known, base = {}, store
    while hasattr(base, "underlying_store"):
        base = base.underlying_store
    host = _host_towards((base.host, base.port)) if hasattr(base, "host") else "127.0.0.1"

    def find(other):
        if other not in known:
            where, _, port = store.get(f"address/{other}").decode().rpartition(":")
            known[other] = where, int(port)
        return known[other]
    listener = socket.create_server((host, 0), backlog=128)
    store.set(f"address/{rank}", f"{host}:{listener.getsockname()[1]}")
    return Peers(rank, timeout, listener, find)


def through_first(rank, size, address, timeout):
    """The peers of a process that know where the first of them listens, who tells the others where the rest does."""
    known = {0: address}
    own = address if rank == 0 else (_host_towards(address), 0)
    listener = socket.create_server(own, backlog=128)
    peers = Peers(rank, timeout, listener, known.__getitem__)
    if rank:
        peers.send(0, "address", json.dumps(listener.getsockname()).encode())
        _, table = peers.receive([0], "address")
        known.update({int(other): tuple(where) for other, where in json.loads(table).items()})
    else:
        while len(known) < size:
            other, where = peers.receive([r for r in range(size) if r not in known], "address")
            known[other] = tuple(json.loads(where))
        for other in range(1, size):
            peers.send(other, "address", json.dumps(known).encode())
    return peers


def _connect(address, timeout):
    """A socket to an address at which somebody will listen soon."""
    end = time.monotonic() + timeout
    while True:
        try:
            connection = socket.create_connection(address, timeout=max(0.1, end - time.monotonic()))
            connection.settimeout(None)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection
        except OSError as error:
            if time.monotonic() > end:
                raise DistError(f"Connection to {address[0]}:{address[1]} failed: {error}") from error
            time.sleep(0.05)


def _host_towards(address):
    """The address of this machine that a packet to another would bear; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(address)
        return probe.getsockname()[0]


def _exactly(connection, count):
    parts = []
    while count:
        part = connection.recv(min(count, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
