"""``torch.backends.mps``: there is no such device."""


def is_available():
    """Whether the device can be used: no."""
    return False


def is_built():
    """Whether it was built in: no."""
    return False
