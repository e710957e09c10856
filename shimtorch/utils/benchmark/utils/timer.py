"""Timer: how long a statement takes, on a settled number of threads."""

import enum
import textwrap
import timeit
from importlib import import_module

from .common import Measurement, TaskSpec, set_torch_threads

__all__ = ["Timer", "timer", "Language"]


def timer():
    """The clock, in seconds, once the device in use has done all its work."""
    from .... import cuda

    if cuda.is_initialized():
        cuda.synchronize()
    return timeit.default_timer()


class Language(enum.Enum):
    """What a statement is written in."""

    PYTHON = 0
    CPP = 1


def _language(given):
    if given in (Language.PYTHON, "py", "python"):
        return Language.PYTHON
    if given in (Language.CPP, "cpp", "c++"):
        raise NotImplementedError("torch.utils.benchmark.Timer of C++ is not implemented: there is no compiler")
    raise ValueError(f"Invalid language `{given}`.")


class Timer:
    """Times *stmt* after *setup*, both texts of Python, with the names in *globals*.

    The labels and *env* name the task in texts and tables; *num_threads* threads work on its ops.
    """

    _timer_cls = timeit.Timer

    def __init__(self, stmt="pass", setup="pass", global_setup="", timer=timer, globals=None, label=None,
                 sub_label=None, description=None, env=None, num_threads=1, language=Language.PYTHON):
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        _language(language)
        if global_setup:
            raise ValueError(f"global_setup is C++ only, got `{global_setup}`. Most likely this code can simply be "
                             "moved to `setup`.")
        names = dict(globals or {})
        names.setdefault("torch", import_module(__name__.partition(".")[0]))
        stmt, setup = (textwrap.dedent(text).strip("\n").rstrip() for text in (stmt, setup))
        self._timer = self._timer_cls(stmt=stmt, setup=setup, timer=timer, globals=names)
        self._task_spec = TaskSpec(stmt, setup, global_setup, label, sub_label, description, env, num_threads)

    def _timeit(self, number):
        """Seconds for so many runs; never quite 0, so that it can be divided by."""
        return max(self._timer.timeit(number), 1e-9)

    def timeit(self, number=1000000):
        """The time of *number* runs, measured once after a hundredth as many to warm up."""
        with set_torch_threads(self._task_spec.num_threads):
            self._timeit(max(number // 100, 2))
            return Measurement(number, [self._timeit(number)], self._task_spec)

    def repeat(self, repeat=-1, number=-1):
        """Refused: `blocked_autorange` settles both numbers."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def autorange(self, callback=None):
        """Refused: see `blocked_autorange`."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def _block_size(self, min_run_time):
        """How many runs take so long together that the clock and the loop do not count: 10 ** k."""
        with set_torch_threads(self._task_spec.num_threads):
            overhead = sorted(self._timeit(0) for _ in range(5))[2]
            number = 1
            while number * 10 <= 0x7FFFFFFF:
                taken = self._timeit(number)
                if taken > min_run_time or overhead / taken <= 1e-4 and taken >= min_run_time / 1000:
                    break
                number *= 10
        return number

    def _measure(self, number, stops, min_run_time, max_run_time, callback):
        times, total = [], 0.0
        with set_torch_threads(self._task_spec.num_threads):
            while total < min_run_time or not stops(times) and total < max_run_time:
                taken = self._timeit(number)
                times.append(taken)
                total += taken
                if callback is not None:
                    callback(number, taken)
        return Measurement(number, times, self._task_spec)

    def blocked_autorange(self, callback=None, min_run_time=0.2):
        """Many times of blocks of runs, at least *min_run_time* seconds in all; few enough that they show the spread.

        After each block ``callback(number, seconds)`` is called.
        """
        number = self._block_size(min_run_time)
        return self._measure(number, lambda times: True, min_run_time, min_run_time, callback)

    def adaptive_autorange(self, threshold=0.1, *, min_run_time=0.01, max_run_time=10.0, callback=None):
        """blocked_autorange until the interquartile range is below *threshold* medians, or *max_run_time* is over."""
        number = self._block_size(0.05)

        def stops(times):
            return len(times) > 3 and Measurement(number, times, self._task_spec).meets_confidence(threshold)

        return self._measure(number, stops, min_run_time, max_run_time, callback)

    def collect_callgrind(self, number=100, *, repeats=None, collect_baseline=True, retain_out_file=False):
        """Refused: instructions are not counted."""
        raise NotImplementedError("torch.utils.benchmark.Timer.collect_callgrind is not implemented: instructions are "
                                  "not counted")
