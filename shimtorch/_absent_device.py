"""What a kind of device answers that is not there: the names that programs ask for before they would use it."""

__all__ = ["device_count", "empty_cache", "is_available", "manual_seed", "seed"]


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
