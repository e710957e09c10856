"""Settings of torch.save and torch.load (2.x); before 1.0 the reader of Lua Torch's files, which is refused here."""

from . import config

__all__ = ["T7Reader", "config", "load_lua", "read_lua_file"]


def load_lua(filename, **kwargs):
    """Refused: files of Lua Torch (.t7) are not read."""
    raise NotImplementedError(
        f"torch.utils.serialization.load_lua({filename!r}): files of Lua Torch are not read by shimtorch. Convert the "
        "file with a reader of its own, such as the package torchfile, which gives NumPy arrays for torch.from_numpy."
    )


read_lua_file = load_lua


class T7Reader:
    """Refused, as `load_lua` is."""

    def __init__(self, fileobj, **kwargs):
        load_lua(getattr(fileobj, "name", fileobj))
