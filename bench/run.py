"""The runner: takes samples of each case on each module in turn and prints the table.

A ratio is that of the minima, below 1 where the first module is faster; `~` marks one whose medians tell otherwise.
A result that differs from the reference's is `wrong`, a case that a module cannot run is `missing`; both count for
nothing in the means, and make the exit status 1.
"""

import argparse
import json
import math
import os
import re
import statistics
import time

from . import report, startup
from .cases import GROUPS, load
from .process import Module, WorkerProcess

PEERS = ("scipy.sparse", "sparse", "numpy", "opt_einsum")      # libraries that some cases are built for too
TOLERANCE = 5e-4                  # of float32 results, relative to the largest number


def parse(arguments):
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch", default="shimtorch", metavar="MODULE[@PYTHON]", help="what to measure")
    parser.add_argument("--against", default="torch", metavar="MODULE[@PYTHON]",
                        help="what to compare with; left out where it is not installed")
    parser.add_argument("--group", help="only these, by comma: " + ", ".join((*GROUPS, "startup")))
    parser.add_argument("--case", metavar="REGEX", help="only cases whose name matches")
    parser.add_argument("--quick", action="store_true", help="3 short rounds in place of 9: to see that all runs")
    parser.add_argument("--threads", type=int, help="threads of each module (default: its own choice)")
    parser.add_argument("--cpu-time", action="store_true",
                        help="processor time: with --threads 1, what to use on a busy machine")
    parser.add_argument("--timeout", type=float, default=60, metavar="S", help="seconds for one step of one case")
    parser.add_argument("--json", metavar="FILE", help="write every figure there too")
    parser.add_argument("--list", action="store_true", help="print the cases and stop")
    options = parser.parse_args(arguments)
    options.groups = options.group.split(",") if options.group else [*GROUPS, "startup"]
    unknown = set(options.groups) - {*GROUPS, "startup"}
    if unknown:
        parser.error("no such group: " + ", ".join(sorted(unknown)))
    return options


def difference(result, want):
    """What differs between two plain results, or None."""
    if [shape for shape, _ in result] != [shape for shape, _ in want]:
        return "other shapes"
    for (_, got), (_, expected) in zip(result, want, strict=True):
        scale = max((abs(number) for number in expected), default=0) + 1e-30
        error = max((abs(a - b) for a, b in zip(got, expected, strict=True)), default=0) / scale
        if math.isnan(error) or error > TOLERANCE:
            return f"other numbers, relative difference {error:.1e}"
    return None


def measure(group, case, workers, reference, options):
    """One row: set the case up in every worker, then one sample of each in turn, round after round."""
    seconds = 0.003 if options.quick else 0.02
    workers = {name: worker for name, worker in workers.items() if name not in PEERS or name in case.peers}
    cells = {name: worker.ask(setup=[group, case.name], seconds=seconds) for name, worker in workers.items()}
    results = {name: cell.pop("result") for name, cell in cells.items() if "result" in cell}
    samples = {name: [] for name in results}
    for _ in range(3 if options.quick else 9):
        for name in list(samples):
            got = workers[name].ask(sample=cells[name]["loops"])
            if "seconds" in got:
                samples[name].append(got["seconds"])
            else:
                cells[name] = got
                del samples[name]
    for name, times in samples.items():
        cells[name].update(min=min(times), median=statistics.median(times))
        if name != reference and reference in results:
            wrong = difference(results[name], results[reference])
            cells[name].update({"wrong": wrong} if wrong else {})
    return {"group": group, "case": case.name, "unit": "s", "columns": cells}


def chosen(options):
    """(group, case) pairs to run."""
    return [(group, case) for group in options.groups if group != "startup" for case in load(group)
            if not options.case or re.search(options.case, case.name)]


def run(options, subject, reference):
    """Measure and print; return the rows."""
    modules = [subject] + ([reference] if reference else [])
    asked = {name for _, case in chosen(options) for name in case.peers}
    peers = [peer for peer in map(Module, PEERS) if peer.name in asked and peer.importable()]
    names = subject.label, reference.label if reference else None
    workers = {module.label: WorkerProcess(module, options) for module in modules + peers}
    rows, last = [], None
    for group, case in chosen(options):
        if group != last:
            shown = [peer.label for peer in peers if any(peer.name in case.peers for case in load(group))]
            print(f"\n{group}\n{report.head(*names, shown)}")
            last = group
        rows.append(measure(group, case, workers, names[1], options))
        report.add_ratios(rows[-1], *names, shown)
        print(report.line(rows[-1], *names, shown), flush=True)
    for worker in workers.values():
        worker.stop()
    if "startup" in options.groups and not options.case:
        print(f"\nstartup\n{report.head(*names)}")
        for row in startup.measure(modules, options):
            report.add_ratios(row, *names)
            rows.append(row)
            print(report.startup_line(row, *names), flush=True)
    return rows


def main(arguments=None):
    options = parse(arguments)
    if options.list:
        for group, case in chosen(options):
            print(f"{group:12}{case.name}")
        return 0
    subject, reference = Module(options.torch), Module(options.against)
    if not subject.importable():
        raise SystemExit(f"{subject.name} is not installed for {subject.python}")
    if not reference.importable():
        print(f"{reference.name} is not installed: times without ratios")
        reference = None
    elif reference.name == subject.name:
        reference.label += ", other"
    load_before = os.getloadavg()[0]
    rows = run(options, subject, reference)
    means = report.geometric_means(rows, subject.label)
    if means:
        print(f"\ngeometric mean of {subject.label}/{reference.label} (number of cases)")
    for group, (mean, count) in means.items():
        print(f"{group:32}{mean:.3f} ({count})")
    if load_before > 0.5 and not options.cpu_time:
        print(f"the machine was busy (load {load_before:.1f}): take no ratio of threaded code from this run")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"date": time.strftime("%Y-%m-%d"), "torch": options.torch, "against": options.against,
                       "threads": options.threads, "cpu_time": options.cpu_time, "rows": rows,
                       "means": {group: mean for group, (mean, _) in means.items()}}, file, indent=1)
    failed = [row["case"] for row in rows if report.failure(row["columns"].get(subject.label, {}))]
    if failed:
        print(f"{len(failed)} cases of {subject.name} failed: " + ", ".join(failed))
    return 1 if failed else 0
