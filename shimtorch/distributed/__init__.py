"""torch.distributed: processes that work together, over sockets (what gloo is to torch), or a single one.

A group of one process needs no connection. Between several, tensors go through sockets to the first member of the
group, which combines them in the order of the ranks, and back. NCCL and MPI are not there.
"""

from . import _stores, distributed_c10d
from ._stores import DistError, DistNetworkError, DistStoreError, FileStore, HashStore, PrefixStore, Store
from ._tcp_store import TCPStore
from .distributed_c10d import *  # noqa: F403

__all__ = [*distributed_c10d.__all__, *_stores.__all__, "TCPStore", "is_available"]


def is_available():
    """Whether this package is there: it is."""
    return True


def __getattr__(name):
    if name in ("optim", "rpc"):
        from importlib import import_module

        return import_module(f".{name}", __name__)
    from .. import _refused

    return _refused.attribute("torch.distributed", name)
