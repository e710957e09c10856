"""Pools of processes that tensors can be sent to (torch.multiprocessing.pool): Python's own."""

from multiprocessing.pool import Pool

__all__ = ["Pool"]
