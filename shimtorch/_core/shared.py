"""Memory that processes share: anonymous files, so that nothing is left behind however a process ends."""
import os

from .storage import SharedBlock


class Block(SharedBlock):
    """A SharedBlock that weak references can be made of."""

    __slots__ = ("__weakref__",)


def new_block(nbytes):
    """A block of shared memory."""
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("shimtorch", os.MFD_CLOEXEC)
    else:
        import tempfile
        fd, path = tempfile.mkstemp(prefix="shimtorch")
        os.unlink(path)
    try:
        os.ftruncate(fd, max(nbytes, 1))
    except OSError:
        os.close(fd)
        raise
    return Block(fd, nbytes)


def share(storage):
    """Move a storage's memory to shared memory, unless it is there; returns the block."""
    root = storage.root()
    if root.shared is None or root.shared.fd < 0:
        root.adopt(new_block(len(root)))
    if storage is not root:
        storage.follow(root)
    return root.shared
