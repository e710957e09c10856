"""What was timed (TaskSpec), the times and what can be said of them (Measurement), and units."""

import math
from contextlib import contextmanager
from statistics import fmean, median, pstdev

__all__ = ["TaskSpec", "Measurement", "select_unit", "unit_to_english", "trim_sigfig", "ordered_unique",
           "set_torch_threads"]

_MOST_FIGURES = 4
_RESOLUTION = 25e-9          # no time is known better than that
_NOISY, _VERY_NOISY = 0.1, 0.25     # interquartile range in medians
_UNITS = {-3: ("ns", 1e-9), -2: ("us", 1e-6), -1: ("ms", 1e-3)}
_ENGLISH = {"ns": "nanosecond", "us": "microsecond", "ms": "millisecond", "s": "second"}


class TaskSpec:
    """A statement to be timed, its setup, and how tables and texts are to call it."""

    __slots__ = ("stmt", "setup", "global_setup", "label", "sub_label", "description", "env", "num_threads")

    def __init__(self, stmt, setup, global_setup="", label=None, sub_label=None, description=None, env=None,
                 num_threads=1):
        given = stmt, setup, global_setup, label, sub_label, description, env, num_threads
        for name, value in zip(self.__slots__, given, strict=True):
            object.__setattr__(self, name, value)

    def __setattr__(self, name, value):
        raise AttributeError(f"cannot assign to field {name!r}")

    def _key(self):
        return tuple(getattr(self, name) for name in self.__slots__)

    def __eq__(self, other):
        return self._key() == other._key() if isinstance(other, TaskSpec) else NotImplemented

    def __hash__(self):
        return hash(self._key())

    def __reduce__(self):
        return TaskSpec, self._key()

    @property
    def title(self):
        """The label, or the statement, and the sub-label."""
        if self.label is not None:
            return self.label + (f": {self.sub_label}" if self.sub_label else "")
        if "\n" not in self.stmt:
            return self.stmt + (f": {self.sub_label}" if self.sub_label else "")
        return f"stmt:{f' ({self.sub_label})' if self.sub_label else ''}\n{_indented(self.stmt)}"

    def setup_str(self):
        """The setup as texts show it; nothing for one that does nothing."""
        if self.setup == "pass" or not self.setup:
            return ""
        return f"setup:\n{_indented(self.setup)}" if "\n" in self.setup else f"setup: {self.setup}"

    def summarize(self):
        """Title, description and setup, each beginning a line; an empty line follows what has several."""
        parts = [self.title, self.description or "", self.setup_str()]
        return "\n".join(f"{part}\n" if "\n" in part else part for part in parts if part)


def _indented(text):
    return "\n".join(f"  {line}" if line.strip() else line for line in text.split("\n"))


class Measurement:
    """Times of a task: *raw_times* in seconds, each of *number_per_run* runs."""

    def __init__(self, number_per_run, raw_times, task_spec, metadata=None):
        self.number_per_run, self.raw_times = number_per_run, raw_times
        self.task_spec, self.metadata = task_spec, metadata

    def __getattr__(self, name):
        if name.startswith("__") or name == "task_spec":
            raise AttributeError(name)
        return getattr(self.task_spec, name)

    def __eq__(self, other):
        return self.__dict__ == other.__dict__ if isinstance(other, Measurement) else NotImplemented

    __hash__ = None

    @property
    def times(self):
        """Seconds for one run."""
        return [t / self.number_per_run for t in self.raw_times]

    @property
    def median(self):
        """The middle of the times; NaN without any."""
        return median(self.times) if self.raw_times else math.nan

    @property
    def mean(self):
        """The mean of the times; NaN without any."""
        return fmean(self.times) if self.raw_times else math.nan

    def _quartile(self, number):
        times = sorted(self.times)
        place = number / 4 * (len(times) - 1)
        low, high = times[math.floor(place)], times[math.ceil(place)]
        return low + (high - low) * (place - math.floor(place))

    @property
    def iqr(self):
        """The distance between the first and the third quartile."""
        return self._quartile(3) - self._quartile(1) if self.raw_times else math.nan

    @property
    def significant_figures(self):
        """How many figures of the median can be trusted, 1 to 4: by the spread of the times between the quartiles."""
        n = len(self.raw_times)
        inner = sorted(self.times)[n // 4:math.ceil(3 * n / 4)]
        spread = pstdev(inner) if len(inner) > 1 else 0.0
        interval = max(1.645 * spread / math.sqrt(len(inner)), _RESOLUTION) if inner else _RESOLUTION
        return min(max(math.floor(math.log10(self.median / interval)), 1), _MOST_FIGURES)

    @property
    def has_warnings(self):
        """Whether the times vary so much that a text would warn."""
        return bool(self._warning())

    def meets_confidence(self, threshold=_NOISY):
        """Whether the interquartile range is below *threshold* medians."""
        return self.iqr / self.median < threshold

    @property
    def title(self):
        """What was timed."""
        return self.task_spec.title

    @property
    def env(self):
        """The environment that the task names."""
        return self.task_spec.env

    @property
    def as_row_name(self):
        """The name in a table's first column."""
        return self.sub_label or self.stmt or "[Unknown]"

    def _warning(self):
        if len(self.raw_times) < 2 or self.meets_confidence(_NOISY):
            return ""
        reason = ("This could indicate system fluctuation." if self.meets_confidence(_VERY_NOISY)
                  else "This suggests significant environmental influence.")
        return (f"  WARNING: Interquartile range is {self.iqr / self.median * 100:.1f}% of the median measurement.\n"
                f"           {reason}")

    def __repr__(self):
        lines = [object.__repr__(self), self.task_spec.summarize()]
        n = len(self.raw_times)
        unit, scale = select_unit(self.median)
        if n == 1:
            lines.append(f"  {self.median / scale:.2f} {unit}")
        else:
            lines.append(f"  Median: {self.median / scale:.2f} {unit}")
        if n >= 4:
            lines.append(f"  IQR:    {self.iqr / scale:.2f} {unit} "
                         f"({self._quartile(1) / scale:.2f} to {self._quartile(3) / scale:.2f})")
        lines.append(f"  {n} measurement{'s' * (n > 1)}, {self.number_per_run} runs {'per measurement' * (n > 1)}, "
                     f"{self.num_threads} thread{'s' * (self.num_threads > 1)}")
        return "\n".join([*lines, *filter(None, [self._warning()])])

    @staticmethod
    def merge(measurements):
        """Measurements of equal tasks as one each, in the order in which the tasks appear first."""
        groups = {}
        for measurement in measurements:
            groups.setdefault(measurement.task_spec, []).append(measurement)
        return [Measurement(1, [t for m in group for t in m.times], spec) for spec, group in groups.items()]


def select_unit(t):
    """The unit for a time in seconds, "ns", "us", "ms" or "s", and how many seconds it has."""
    if not t > 0:
        return "s", 1
    return _UNITS.get(math.floor(math.log10(t) / 3 + 1e-9), ("s", 1))


def unit_to_english(u):
    """The name of a unit."""
    return _ENGLISH[u]


def trim_sigfig(x, n):
    """*x* rounded to n significant figures."""
    if n != int(n):
        raise ValueError(f"expected a whole number of figures, got {n}")
    if x == 0:
        return 0.0
    unit = 10 ** (math.ceil(math.log10(abs(x))) - n)
    return float(round(x / unit) * unit)


def ordered_unique(elements):
    """The elements in the order in which they appear first."""
    return list(dict.fromkeys(elements))


@contextmanager
def set_torch_threads(n):
    """Work on n threads within the context."""
    from .... import get_num_threads, set_num_threads

    before = get_num_threads()
    try:
        set_num_threads(n)
        yield
    finally:
        set_num_threads(before)
