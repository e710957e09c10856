"""The exceptions of CUDA devices."""


class OutOfMemoryError(RuntimeError):
    """A device's memory is used up."""

    __module__ = "torch"
