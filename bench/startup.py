"""What `import` costs: time and resident memory, each import in a fresh process, beside those of NumPy."""

import statistics
import subprocess

from .process import ELSEWHERE, Module

MEASURE = """
import time, resource, sys
begin = time.{clock}()
{imports}
seconds = time.{clock}() - begin
try:
    with open("/proc/self/status") as status:
        kib = next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))
except OSError:
    kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(seconds, kib / 1024)
"""
FIRST_OPERATION = "import {0} as m; (m.ones(3) + 1).sum()"


def cost(module, imports, options):
    """(seconds, MiB) of running `imports` in a fresh process."""
    clock = "process_time" if options.cpu_time else "perf_counter"
    done = subprocess.run([module.python, "-c", MEASURE.format(clock=clock, imports=imports)], capture_output=True,
                          text=True, cwd=ELSEWHERE, env=module.environment(options.threads), timeout=options.timeout,
                          check=True)
    return [float(word) for word in done.stdout.split()[-2:]]


def measure(modules, options):
    """The rows of the startup group: a column for each module and one for NumPy, whose imports are taken in turn."""
    columns = [*modules, Module(f"numpy@{modules[0].python}")]
    imports, first = {}, {}
    for _ in range(3 if options.quick else 7):
        for module in columns:
            imports.setdefault(module.label, []).append(cost(module, f"import {module.name}", options))
        for module in modules:
            first.setdefault(module.label, []).append(cost(module, FIRST_OPERATION.format(module.name), options))
    return [row("import", "s", imports, 0), row("import and first operation", "s", first, 0),
            row("resident after import", "MiB", imports, 1)]


def row(case, unit, samples, index):
    """A row of the figures at `index` of the samples of each column."""
    figures = {label: [sample[index] for sample in taken] for label, taken in samples.items()}
    return {"group": "startup", "case": case, "unit": unit, "columns": {
        label: {"min": min(values), "median": statistics.median(values)} for label, values in figures.items()}}
