"""``torch.backends.cuda``: not used by this build."""


def is_built():
    """Whether the library is used: no."""
    return False
