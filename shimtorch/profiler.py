"""``torch.profiler``: there is no profiler here. Python's ``cProfile`` and ``perf`` see all of it."""
from enum import Enum

from .autograd.profiler import record_function

__all__ = ["ProfilerAction", "ProfilerActivity", "profile", "record_function", "schedule", "supported_activities",
           "tensorboard_trace_handler"]


class ProfilerActivity(Enum):
    """What a profiler could watch."""
    CPU = 0
    CUDA = 2


class ProfilerAction(Enum):
    """What a profiler does in a step."""
    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


class profile:
    """Not implemented."""

    def __init__(self, **options):
        raise NotImplementedError("torch.profiler.profile is not implemented")


def supported_activities():
    """What could be watched: nothing."""
    return set()


def schedule(*, wait, warmup, active, repeat=0, skip_first=0, skip_first_wait=0):
    """A function from the number of a step to a ProfilerAction: *wait*, then *warmup*, then *active* steps, *repeat*
    times (0: for ever), after the first *skip_first*."""
    if min(wait, warmup, repeat, skip_first) < 0 or active <= 0:
        raise AssertionError("Invalid profiler schedule arguments")

    def action(step):
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        step -= skip_first
        if step < 0:
            return ProfilerAction.NONE
        length = wait + warmup + active
        skipped = wait if skip_first_wait else 0
        step += skipped
        if repeat > 0 and step / length >= repeat:
            return ProfilerAction.NONE
        step %= length
        if step < wait:
            return ProfilerAction.NONE
        if step < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if step < length - 1 else ProfilerAction.RECORD_AND_SAVE
    return action


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False):
    """Not implemented."""
    raise NotImplementedError("torch.profiler.tensorboard_trace_handler is not implemented")
