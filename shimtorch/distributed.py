"""torch.distributed of a PyTorch that was built without it: scripts may import it and ask; it is not there."""

__all__ = ["is_available", "is_initialized", "is_torchelastic_launched"]


def is_available():
    """Whether processes can work together: False."""
    return False


def is_initialized():
    """Whether there is a process group: False."""
    return False


def is_torchelastic_launched():
    """Whether torchelastic started this process: False."""
    return False


def __getattr__(name):
    from ._refused import attribute

    return attribute("torch.distributed", name)
