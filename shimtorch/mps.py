"""``torch.mps``: there is no such device, and what asks for it is answered so."""


def is_available():
    """Whether there is such a device: False."""
    return False


def device_count():
    """How many there are: 0."""
    return 0


def manual_seed(seed):
    """Accepted: there is no generator to seed."""
    int(seed)


def seed():
    """Accepted: there is no generator to seed."""


def empty_cache():
    """Does nothing without a device."""


def synchronize():
    """Not to be had: RuntimeError."""
    raise RuntimeError("Cannot execute deviceSynchronize() without MPS backend.")
