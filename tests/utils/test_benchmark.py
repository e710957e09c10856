"""torch.utils.benchmark: texts and tables as PyTorch prints them, and how often Timer runs a statement."""
import pickle

import pytest

import shimtorch as torch
from shimtorch.utils import benchmark


def measured(times, number_per_run=1, **about):
    about = {"stmt": "x + y", "setup": "pass", "label": "add", "sub_label": "small", "description": "desc", **about}
    return benchmark.Measurement(number_per_run, times, benchmark.TaskSpec(**about))


def text(measurement):
    return repr(measurement).split("\n", 1)[1]


def test_text_of_one_time():
    assert text(measured([1e-3])) == "add: small\ndesc\n  1.00 ms\n  1 measurement, 1 runs , 1 thread"


def test_text_of_times_that_vary():
    assert text(measured([1e-3, 1.1e-3, 1.2e-3, 1.25e-3, 1.3e-3], 1000, num_threads=2)) == (
        "add: small\ndesc\n  Median: 1.20 us\n  IQR:    0.15 us (1.10 to 1.25)\n"
        "  5 measurements, 1000 runs per measurement, 2 threads\n"
        "  WARNING: Interquartile range is 12.5% of the median measurement.\n"
        "           This could indicate system fluctuation.")
    assert text(measured([1., 2.])).endswith("           This suggests significant environmental influence.")


@pytest.mark.parametrize("about, expected", (
    ({"label": None, "sub_label": None}, "x + y\ndesc"),
    ({"label": None, "stmt": "x\ny", "description": None}, "stmt: (small)\n  x\n  y\n"),
    ({"setup": "import os"}, "add: small\ndesc\nsetup: import os"),
    ({"setup": "import os\nx = 1"}, "add: small\ndesc\nsetup:\n  import os\n  x = 1\n"),
))
def test_summary(about, expected):
    assert measured([1.], **about).task_spec.summarize() == expected


def test_numbers():
    m = measured([1e-3, 1.1e-3, 1.2e-3, 1.25e-3, 1.3e-3], 10)
    assert (m.median, m.mean) == pytest.approx((1.2e-4, 1.17e-4)) and m.iqr == pytest.approx(1.5e-5)
    assert m.significant_figures == 1 and measured([5.] * 5).significant_figures == 4
    assert m.has_warnings and not m.meets_confidence() and m.meets_confidence(0.5)
    assert pickle.loads(pickle.dumps(m)) == m
    one, other = benchmark.Measurement.merge([measured([1.], 2), measured([2.], label="b"), measured([3.], 3)])
    assert (one.number_per_run, one.raw_times, other.label) == (1, [0.5, 1.], "b")
    with pytest.raises(AttributeError):
        m.task_spec.label = "other"


def test_units():
    units = [benchmark.select_unit(t)[0] for t in (1.5e-9, 1e-6, 5e-4, 1e-3, .2, 50)]
    assert units == ["ns", "us", "us", "ms", "ms", "s"]
    assert [benchmark.trim_sigfig(x, 2) for x in (0, 123456., 5.5555)] == pytest.approx([0, 120000, 5.6])
    assert benchmark.unit_to_english("us") == "microsecond" and benchmark.ordered_unique([3, 1, 3]) == [3, 1]


TIMES = (("L1", "a", "d1", 1, 1.), ("L1", "a", "d2", 1, 12.345), ("L1", "b", "d1", 1, 1000.), ("L1", "b", "d2", 1, 3.3),
         ("L1", "a", "d1", 4, 2.), ("L2", "zz", "q", 1, 5e6))
TABLE = """[----------- L1 ----------]
         |    d1    |   d2 
1 threads: ----------------
      a  |    1.0   |  12.3
      b  |  1000.0  |   3.3
4 threads: ----------------
      a  |    2.0   |      

Times are in microseconds (us).

[----- L2 -----]
          |   q 
1 threads: -----
      zz  |  5.0

Times are in seconds (s).
"""  # noqa: W291
TRIMMED = """[--------- L1 --------]
         |   d1   |  d2
1 threads: ------------
      a  |    1   |  12
      b  |  1000  |   3
4 threads: ------------
      a  |    2   |    
"""  # noqa: W291
WARNED = """[----------------- k ------------------]
            |      u       |      w     
1 threads: -----------------------------
  (A)  x+1  |  2 (! 110%)  |            
       x+2  |  8 (! 110%)  |            
2 threads: -----------------------------
  (B)  x+2  |              |  6 (! 118%)

Times are in microseconds (us).
(! XX%) Measurement has high variance, where XX is the IQR / median * 100.
"""  # noqa: W291


def compared():
    return benchmark.Compare([
        measured([us * 1e-6] * 5, label=label, sub_label=sub, description=description, num_threads=threads)
        for label, sub, description, threads, us in TIMES])


def test_table(capsys):
    compare = compared()
    assert str(compare) == TABLE
    compare.print()
    assert capsys.readouterr().out == TABLE + "\n"
    compare.trim_significant_figures()
    assert str(compare).startswith(TRIMMED)


def test_colours():
    compare = compared()
    compare.colorize()
    row = "\x1b[92m\x1b[1m  1.0 \x1b[0m\x1b[0m  |  \x1b[2m\x1b[91m12.3\x1b[0m\x1b[0m"
    assert str(compare).split("\n")[3] == f"      a  |  {row}"
    compare.colorize(rowwise=True)
    row = "\x1b[31m\x1b[1m1000.0\x1b[0m\x1b[0m  |  \x1b[92m\x1b[1m 3.3\x1b[0m\x1b[0m"
    assert str(compare).split("\n")[4] == f"      b  |  {row}"


def test_marked_variance():
    compare = benchmark.Compare([
        measured([us * k * 1e-6 for k in (1, 2, 3, 9)], label="k", sub_label=None, description=d, num_threads=threads,
                 stmt=stmt, env=env)
        for stmt, threads, us, env, d in (("x+1", 1, 1., "A", "u"), ("x+2", 1, 3., "A", "u"), ("x+2", 2, 2., "B", "w"),
                                          ("x+2", 2, 2.5, "B", "w"))])
    compare.trim_significant_figures()
    compare.highlight_warnings()
    assert str(compare) == WARNED


def test_what_is_compared_is_measured():
    with pytest.raises(ValueError, match="Expected an instance of `Measurement`, got <class 'int'> instead."):
        benchmark.Compare([]).extend_results([1])


class Clock:
    """A quarter of a second passes between two looks."""

    def __init__(self):
        self.now = 0.

    def __call__(self):
        self.now += .25
        return self.now


def test_timeit():
    runs = []
    m = benchmark.Timer("\n    runs.append(n)\n", "\n    n = 3\n", globals={"runs": runs}).timeit(1000)
    assert runs == [3] * 1010 and m.number_per_run == 1000 and len(m.raw_times) == 1
    assert (m.stmt, m.setup) == ("runs.append(n)", "n = 3")


def test_ranges():
    seen = []
    timer = benchmark.Timer("1", timer=Clock())
    m = timer.adaptive_autorange(min_run_time=1., callback=lambda *got: seen.append(got))
    assert m.number_per_run == 1 and m.raw_times == [.25] * 4 and seen == [(1, .25)] * 4
    m = timer.blocked_autorange(min_run_time=.2)
    assert m.number_per_run == 1 and m.raw_times == [.25]


def test_block_is_long_enough():
    m = benchmark.Timer("x + 1", "x = torch.ones(3)").blocked_autorange(min_run_time=.02)
    assert sum(m.raw_times) >= .02 and m.number_per_run >= 10


def test_number_of_threads():
    before, seen = torch.get_num_threads(), []
    benchmark.Timer("seen.append(torch.get_num_threads())", globals={"seen": seen}, num_threads=before + 1).timeit(1)
    assert set(seen) == {before + 1} and torch.get_num_threads() == before


def test_refusals():
    for call in (benchmark.Fuzzer, benchmark.CallgrindStats, benchmark.Timer().collect_callgrind,
                 lambda: benchmark.Timer(language="c++")):
        with pytest.raises(NotImplementedError, match="torch.utils.benchmark"):
            call()
    for name in ("repeat", "autorange"):
        with pytest.raises(NotImplementedError, match="See `Timer.blocked_autorange.`"):
            getattr(benchmark.Timer(), name)()
    with pytest.raises(ValueError, match="Currently only a `str` stmt is supported."):
        benchmark.Timer(len)
    with pytest.raises(ValueError, match="Invalid language `rust`."):
        benchmark.Timer(language="rust")
    with pytest.raises(ValueError, match="global_setup"):
        benchmark.Timer(global_setup="#include <x>")
