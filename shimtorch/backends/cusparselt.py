"""``torch.backends.cusparselt``: not used by this build."""


def is_available():
    """Whether the library is used: no."""
    return False
