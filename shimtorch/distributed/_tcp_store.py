"""A store that one process holds and the others reach through a socket.

A client asks ``read``, or ``write``: then the server sends the dict, waits for what the client makes of it, and lets
nobody else write meanwhile; a client that dies leaves the dict as it was.
"""

import socket
import struct
import threading
import time
from datetime import timedelta

from ._peers import _exactly
from ._stores import DistNetworkError, DistStoreError, Store, _dumps, _loads

__all__ = ["TCPStore"]

_LENGTH = struct.Struct("<q")
_JOIN, _READ, _WRITE = b"j", b"r", b"w"


class _Server:
    """Holds the dict, and answers each connection in a thread."""

    def __init__(self, host, port, listener):
        self._held, self._lock, self.joined = {}, threading.Lock(), 0
        self._listener = listener or socket.create_server(("" if host == "localhost" else host, port), backlog=128)
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection):
        with connection:
            try:
                while True:
                    request = _exactly(connection, 1)
                    with self._lock:
                        if request == _JOIN:
                            self.joined += 1
                            continue
                        _send(connection, self._held)
                        if request == _WRITE:
                            self._held = _receive(connection)
            except (OSError, EOFError, ValueError):
                pass

    def close(self):
        self._listener.close()


class TCPStore(Store):
    """A store at *host_name*:*port*, where the process with *is_master* holds it; port 0 takes a free one.

    The master waits, unless *wait_for_workers* is False, until *world_size* processes have come. What is stored can
    be read and changed by everybody who reaches the port.
    """

    libuvBackend = False

    def __init__(self, host_name, port, world_size=None, is_master=False, timeout=timedelta(seconds=300),
                 wait_for_workers=True, multi_tenant=False, master_listen_fd=None, use_libuv=True):
        self.host, self.timeout, self._server = host_name, timeout, None
        if is_master:
            listener = None if master_listen_fd is None else socket.socket(fileno=master_listen_fd)
            self._server = _listen(host_name, port, listener)
            port = self._server.port
        self.port = port
        self._asking = threading.Lock()
        self._socket = _reach(host_name, port, timeout.total_seconds())
        self._socket.sendall(_JOIN)
        if is_master and wait_for_workers and world_size is not None and world_size > 0:
            self._wait_for(world_size)

    def _wait_for(self, size):
        seconds = self.timeout.total_seconds()
        end = time.monotonic() + seconds
        while self._server.joined < size:
            if time.monotonic() > end:
                raise DistStoreError(f"Timed out after {int(seconds) + 1} seconds waiting for clients. "
                                     f"{self._server.joined}/{size} clients joined.")
            time.sleep(0.01)

    def clone(self):
        """Another connection to the same store."""
        return TCPStore(self.host, self.port, timeout=self.timeout)

    def _read(self):
        return self._ask(_READ, None)

    def _write(self, change):
        return self._ask(_WRITE, change)

    def _ask(self, request, change):
        with self._asking:
            try:
                self._socket.sendall(request)
                held = _receive(self._socket)
                if request == _READ:
                    return held
                kept = dict(held)
                try:
                    return change(held)
                except BaseException:
                    held = kept
                    raise
                finally:
                    _send(self._socket, held)
            except EOFError as error:
                raise DistNetworkError("Failed to recv, got 0 bytes. Connection was likely closed. Did the remote "
                                       "server shutdown or crash?") from error
            except OSError as error:
                raise DistNetworkError(error.strerror or str(error)) from error

    def __repr__(self):
        return f"TCPStore(host={self.host}, port={self.port}, is_master={self._server is not None})"

    def __del__(self):
        for part in (getattr(self, "_socket", None), getattr(self, "_server", None)):
            if part is not None:
                part.close()


def _listen(host, port, listener):
    try:
        return _Server(host, port, listener)
    except OSError as error:
        raise DistNetworkError("The server socket has failed to listen on any local network address. port: "
                               f"{port}, message: {error.strerror}") from error


def _reach(host, port, seconds):
    """A socket to the server, which may start later than this."""
    end = time.monotonic() + seconds
    while True:
        try:
            connection = socket.create_connection((host, port), timeout=max(0.01, end - time.monotonic()))
            connection.settimeout(None)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection
        except OSError as error:
            if time.monotonic() > end:
                raise DistNetworkError(f"The client socket has timed out after {round(seconds * 1000)}ms while trying "
                                       f"to connect to ({host}, {port}).") from error
            time.sleep(0.02)


def _send(connection, held):
    data = _dumps(held)
    connection.sendall(_LENGTH.pack(len(data)) + data)


def _receive(connection):
    length, = _LENGTH.unpack(_exactly(connection, _LENGTH.size))
    return _loads(_exactly(connection, length))
