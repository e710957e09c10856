"""``torch.utils.backcompat``: warnings of PyTorch 0.2 about what changed in it; they can be set and are never given."""


class Warning:
    """Whether a kind of warning is given: ``enabled``, False at first."""

    def __init__(self):
        self._enabled = False

    def set_enabled(self, value):
        """Switch it on or off."""
        self._enabled = bool(value)

    def get_enabled(self):
        """Whether it is on."""
        return self._enabled

    enabled = property(get_enabled, set_enabled)


broadcast_warning = Warning()
keepdim_warning = Warning()
