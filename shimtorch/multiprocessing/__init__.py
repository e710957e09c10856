"""Python's multiprocessing, with tensors sent between processes in shared memory (torch.multiprocessing)."""

import multiprocessing
from multiprocessing import *  # noqa: F403

from .reductions import init_reductions
from .spawn import (
    ProcessContext,
    ProcessException,
    ProcessExitedException,
    ProcessRaisedException,
    SpawnContext,
    spawn,
    start_processes,
)

__all__ = ["set_sharing_strategy", "get_sharing_strategy", "get_all_sharing_strategies", "spawn", "start_processes",
           "ProcessContext", "SpawnContext", "ProcessException", "ProcessExitedException", "ProcessRaisedException"]
__all__ += multiprocessing.__all__

init_reductions()

_STRATEGY = "file_descriptor"


def get_all_sharing_strategies():
    """The ways in which tensors are sent: by the descriptor of an anonymous file, which leaves nothing behind."""
    return {_STRATEGY}


def get_sharing_strategy():
    """How tensors are sent."""
    return _STRATEGY


def set_sharing_strategy(new_strategy):
    """Choose how tensors are sent. ``"file_system"`` is accepted: it differs in what a process leaves behind alone."""
    if new_strategy not in (_STRATEGY, "file_system"):
        raise AssertionError(f"unknown sharing strategy {new_strategy!r}")
