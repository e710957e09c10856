"""Queues that tensors can be sent through (torch.multiprocessing.queue): Python's own."""

from multiprocessing.connection import Connection
from multiprocessing.queues import Queue, SimpleQueue

__all__ = ["Connection", "Queue", "SimpleQueue"]
