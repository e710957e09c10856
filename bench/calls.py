"""What one call of every op costs, on the few numbers of its sample calls in the op table, beside real torch.

    python -m bench.calls                   every op
    python -m bench.calls 'index|scatter'   ops whose names match

Needs both in one interpreter, and runs them with one thread, in turn. Shown are the geometric mean over all calls and,
of each op that is slower than torch in most of its calls, the call in the middle: ratio, microseconds here, in torch.
"""

import argparse
import math
import pathlib
import re
import sys
import time
import warnings

WORTH = 3e-4                           # seconds that a repetition lasts
ROUNDS = 6


def repeat(call):
    """How often to call for a repetition, once warm."""
    call()
    start = time.perf_counter()
    call()
    return max(1, min(50, int(WORTH / max(time.perf_counter() - start, 1e-7))))


def cost(calls):
    """Microseconds of each of several calls, measured in turn: the least of some rounds."""
    counts, best = [repeat(call) for call in calls], [math.inf] * len(calls)
    for _ in range(ROUNDS):
        for i, call in enumerate(calls):
            start = time.perf_counter()
            for _ in range(counts[i]):
                call()
            best[i] = min(best[i], (time.perf_counter() - start) / counts[i])
    return [1e6 * seconds for seconds in best]


def measured(pattern):
    """(ratio, microseconds here, in torch, name) of each call that works on both."""
    import torch

    import shimtorch
    sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tests" / "_ops"))
    from table import DTYPES, arguments, for_torch, full_name, sampled_ops, torch_function
    torch.set_num_threads(1)
    shimtorch.set_num_threads(1)
    for op in sampled_ops():
        theirs = torch_function(op, torch)
        if theirs is None or not pattern.search(full_name(op)):
            continue
        for index in range(len(op.samples.calls)):
            dtype = DTYPES[op.samples.dtypes][0]
            args, kwargs = arguments(op, index, dtype, shimtorch.from_numpy)
            others, options = for_torch(*arguments(op, index, dtype, torch.from_numpy), torch)
            try:
                ours, real = cost([lambda op=op, args=args, kwargs=kwargs: op(*args, **kwargs),
                                   lambda f=theirs, others=others, options=options: f(*others, **options)])
            except Exception:          # a call that is there to be refused, by one of them
                continue
            yield ours / real, ours, real, full_name(op)


def main():
    parser = argparse.ArgumentParser(prog="python -m bench.calls", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pattern", nargs="?", default="", help="a regular expression of names")
    warnings.simplefilter("ignore")
    ops = {}
    for row in measured(re.compile(parser.parse_args().pattern)):
        ops.setdefault(row[3], []).append(row)
    rows = [row for calls in ops.values() for row in calls]
    if not rows:
        sys.exit("no op has such a name")
    mean = math.exp(sum(math.log(row[0]) for row in rows) / len(rows))
    print(f"{len(rows)} calls of {len(ops)} ops: {mean:.2f} of torch's time, "
          f"{sum(row[0] > 1 for row in rows)} of them slower")
    middles = sorted((sorted(calls)[len(calls) // 2] for calls in ops.values()), reverse=True)
    for ratio, ours, real, name in middles:
        if ratio > 1:
            print(f"{ratio:6.2f} {ours:8.1f} {real:8.1f}  {name}")


if __name__ == "__main__":
    main()
