"""``torch.save`` and ``torch.load``."""


def save(obj, f, pickle_module=None, pickle_protocol=2, _use_new_zipfile_serialization=True):
    """Write an object to a file: not implemented yet (``pickle.dump`` takes tensors)."""
    raise NotImplementedError("torch.save is not implemented")


def load(f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, **pickle_load_args):
    """Read an object that ``save`` wrote: not implemented yet (``pickle.load`` reads what ``pickle.dump`` wrote)."""
    raise NotImplementedError("torch.load is not implemented")
