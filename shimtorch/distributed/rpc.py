"""torch.distributed.rpc: calls in other processes are not there, as in a torch that was built without them."""

from .. import _refused

__all__ = ["is_available"]


def is_available():
    """Whether remote calls are there: they are not."""
    return False


def __getattr__(name):
    return _refused.attribute("torch.distributed.rpc", name)
