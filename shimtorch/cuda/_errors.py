"""Errors of the CUDA runtime by their numbers."""


class cudaStatus:
    """Numbers that the runtime's calls return."""

    SUCCESS = 0
    ERROR_NOT_READY = 34


class CudaError(RuntimeError):
    """A call of the runtime failed, with a number."""

    def __init__(self, code):
        from .._gpu import load
        super().__init__(f"{load.runtime().error_text(int(code))} ({int(code)})")


class DeferredCudaCallError(Exception):
    """What was to be done when CUDA starts has failed."""


def check_error(res):
    """Raise CudaError unless a call of the runtime returned ``cudaStatus.SUCCESS``."""
    if res != cudaStatus.SUCCESS:
        raise CudaError(res)
