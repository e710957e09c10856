"""Data pipes (torch.utils.data.datapipes): data sets made of steps that are chained by methods."""

from . import iter, map

__all__ = ["iter", "map"]
