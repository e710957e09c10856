"""How processes find each other: what the address of `init_process_group` says."""

import os
from urllib.parse import parse_qs, urlsplit

from ._peers import through_first, through_store
from ._stores import FileStore


def members(init_method, rank, world_size, timeout):
    """(rank, number of processes, peers) for an address; the peers are None when there is one process.

    ``env://`` reads RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT; ``tcp://host:port`` is where rank 0 listens;
    ``file://path`` is a file for the processes of one machine, which the last of them need not remove.
    """
    parts = urlsplit(init_method)
    asked = {key: values[-1] for key, values in parse_qs(parts.query).items()}
    rank, world_size = int(asked.get("rank", rank)), int(asked.get("world_size", world_size))
    if parts.scheme == "env":
        rank = int(_variable("RANK")) if rank < 0 else rank
        world_size = int(_variable("WORLD_SIZE")) if world_size < 0 else world_size
        address = _variable("MASTER_ADDR"), int(_variable("MASTER_PORT"))
    elif parts.scheme == "tcp":
        if parts.port is None:
            raise _missing("tcp", "port number missing")
        address = parts.hostname, parts.port
    elif parts.scheme == "file":
        if not parts.path:
            raise _missing("file", "path missing")
    else:
        raise RuntimeError(f"No rendezvous handler for {parts.scheme}://")
    if rank < 0:
        raise _missing(parts.scheme, "rank parameter missing")
    if world_size < 0:
        raise _missing(parts.scheme, "world size parameter missing")
    check(rank, world_size)
    if world_size == 1:
        return rank, world_size, None
    if parts.scheme == "file":
        return rank, world_size, through_store(rank, FileStore(parts.path, world_size), timeout)
    return rank, world_size, through_first(rank, world_size, address, timeout)


def check(rank, world_size):
    """A rank is one of the processes."""
    if not 0 <= rank < world_size:
        raise ValueError(f"Rank {rank} is out of range: there are {world_size} processes")


def _variable(name):
    value = os.environ.get(name)
    if value is None:
        raise _missing("env", f"environment variable {name} expected, but not set")
    return value


def _missing(scheme, what):
    return ValueError(f"Error initializing torch.distributed using {scheme}:// rendezvous: {what}")
