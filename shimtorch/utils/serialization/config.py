"""Settings of torch.save and torch.load (torch.utils.serialization.config)."""

__all__ = ["load", "save"]


class _Settings:
    """Named settings; there are no others."""

    __slots__ = ()

    def __init__(self, **values):
        for name, value in values.items():
            setattr(self, name, value)


class _Load(_Settings):
    """What ``torch.load`` does unless told otherwise: *mmap*, whether tensors of zip files lie on the file.

    *calculate_storage_offsets* is accepted: offsets are always read from the file.
    """

    __slots__ = ("mmap", "calculate_storage_offsets")


class _Save(_Settings):
    """How ``torch.save`` writes: *storage_alignment*, to which multiple of bytes payloads of zip files are moved."""

    __slots__ = ("storage_alignment",)


load = _Load(mmap=False, calculate_storage_offsets=False)
save = _Save(storage_alignment=64)
