"""Worker processes of a loader."""

__all__ = ["get_worker_info"]


def get_worker_info():
    """What a worker process knows of itself; None in the main process."""
    return None
