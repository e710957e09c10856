"""Stores: small dicts from str to bytes that processes find each other by."""

import os
import time
from datetime import timedelta

__all__ = ["DistError", "DistNetworkError", "DistStoreError", "FileStore", "HashStore", "PrefixStore", "Store"]


class DistError(RuntimeError):
    """Something between processes went wrong."""


class DistNetworkError(DistError):
    """A connection failed."""


class DistStoreError(DistError):
    """A store did not get a key in time."""


class Store:
    """The interface of stores; a subclass says how the dict is read (`_read`) and written (`_write`) undisturbed."""

    timeout = timedelta(seconds=300)

    def _read(self):
        """The dict of what is stored."""
        raise NotImplementedError

    def _write(self, change):
        """Apply a function to the dict and return its result; nobody else writes meanwhile."""
        raise NotImplementedError

    def set_timeout(self, timeout):
        """How long `get` and `wait` wait for a key."""
        self.timeout = timeout

    def set(self, key, value):
        """Store a str or bytes under a key."""
        self._write(lambda held: held.__setitem__(key, _as_bytes(value)))

    def get(self, key):
        """The bytes under a key, which is waited for."""
        self.wait([key])
        return self._read()[key]

    def add(self, key, amount):
        """Add to the number under a key, which is 0 if there is none, and return it."""
        def change(held):
            total = int(held.get(key, b"0")) + amount
            held[key] = str(total).encode()
            return total
        return self._write(change)

    def compare_set(self, key, expected_value, desired_value):
        """Store the value if the key holds what is expected, or is new and "" is expected; what it holds then."""
        def change(held):
            if held.get(key, b"") == _as_bytes(expected_value):
                held[key] = _as_bytes(desired_value)
            return held.get(key, _as_bytes(expected_value))
        return self._write(change)

    def append(self, key, value):
        """Add a str or bytes to the end of what a key holds."""
        self._write(lambda held: held.__setitem__(key, held.get(key, b"") + _as_bytes(value)))

    def multi_get(self, keys):
        """The bytes under several keys, which are waited for."""
        self.wait(keys)
        held = self._read()
        return [held[key] for key in keys]

    def multi_set(self, keys, values):
        """Store several values at once."""
        pairs = [(key, _as_bytes(value)) for key, value in zip(keys, values, strict=True)]
        self._write(lambda held: held.update(pairs))

    def has_extended_api(self):
        """Whether there are `append`, `multi_get` and `multi_set`: yes."""
        return True

    def list_keys(self):
        """All keys."""
        return list(self._read())

    def delete_key(self, key):
        """Remove a key; whether it was there."""
        return self._write(lambda held: held.pop(key, None) is not None)

    def check(self, keys):
        """Whether all keys are there."""
        return self._read().keys() >= set(keys)

    def num_keys(self):
        """How many keys there are."""
        return len(self._read())

    def wait(self, keys, timeout=None):
        """Wait until all keys are there."""
        seconds = (self.timeout if timeout is None else timeout).total_seconds()
        end = time.monotonic() + seconds
        while not self.check(keys):
            if time.monotonic() > end:
                raise DistStoreError(f"wait timeout after {round(seconds * 1000)}ms, keys: {', '.join(keys)}")
            time.sleep(0.01)


class HashStore(Store):
    """A store within this process."""

    def __init__(self):
        self._held = {}

    def _read(self):
        return self._held

    def _write(self, change):
        return change(self._held)


class PrefixStore(Store):
    """The keys of another store that begin with ``prefix/``."""

    def __init__(self, prefix, store):
        self.underlying_store = store
        self._prefix = f"{prefix}/"
        self.timeout = store.timeout

    def _read(self):
        n = len(self._prefix)
        return {k[n:]: v for k, v in self.underlying_store._read().items() if k.startswith(self._prefix)}

    def _write(self, change):
        def change_part(held):
            part = {k: v for k, v in held.items() if k.startswith(self._prefix)}
            mine = {k[len(self._prefix):]: v for k, v in part.items()}
            result = change(mine)
            for key in part:
                del held[key]
            held.update({self._prefix + k: v for k, v in mine.items()})
            return result
        return self.underlying_store._write(change_part)


class FileStore(Store):
    """A store in a file that all processes can open."""

    def __init__(self, file_name, world_size=-1):
        self.path = os.fspath(file_name)
        self.world_size = world_size

    def _open(self):
        import fcntl

        file = open(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600), "r+b")
        fcntl.flock(file, fcntl.LOCK_EX)
        return file

    def _read(self):
        with self._open() as file:
            return _loads(file.read())

    def _write(self, change):
        with self._open() as file:
            held = _loads(file.read())
            result = change(held)
            file.seek(0)
            file.write(_dumps(held))
            file.truncate()
        return result


def _as_bytes(value):
    return value.encode() if isinstance(value, str) else bytes(value)


def _dumps(held):
    """Keys and values as hexadecimal words, a pair a line: reading it executes nothing."""
    return b"".join(b"%s %s\n" % (k.encode().hex().encode(), v.hex().encode()) for k, v in held.items())


def _loads(data):
    pairs = (line.split(b" ") for line in data.splitlines())
    return {bytes.fromhex(k.decode()).decode(): bytes.fromhex(v.decode()) for k, v in pairs}
