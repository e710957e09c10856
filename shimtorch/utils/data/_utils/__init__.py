"""Parts of the loader: making batches, fetching samples."""

from . import collate, fetch, worker

__all__ = ["collate", "fetch", "worker"]
