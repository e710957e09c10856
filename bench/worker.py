"""The process that runs the cases of one module: `python -m bench.worker MODULE [--cpu-time] [--threads N]`.

It reads requests and writes answers, a line of JSON each:

    {"setup": [group, name], "seconds": 0.02}  ->  {"loops": ..., "result": ...}   builds a case, finds its loops
    {"sample": loops}                          ->  {"seconds": ...}                of one call, mean over the loops

A failure is answered with {"missing": why} where the module lacks something, else with {"error": why}.
"""

import argparse
import contextlib
import gc
import importlib
import json
import os
import sys
import time
import warnings

import numpy

from .cases import load

SUBMODULES = ("nn", "nn.functional", "optim", "autograd", "sparse", "utils.data")
KEPT = 2000                       # numbers of a result that are compared
WARM_UP = 0.05                    # seconds of calls before the first sample


def plain(result):
    """A result as a list of [shape, numbers], for comparison with another module's."""
    if result is None:
        return []
    if isinstance(result, (list, tuple)):
        return [part for item in result for part in plain(item)]
    array = numpy.asarray(entries(result))
    step = max(1, array.size // KEPT)
    return [[list(array.shape), array.reshape(-1)[::step].astype("float64").tolist()]]


def entries(result):
    """A dense result as it is, and the values of a sparse one in the order of their places."""
    if hasattr(result, "detach"):
        result = result.detach()
        if result.is_sparse:
            result = result.coalesce().values()
        elif str(result.layout) != "torch.strided":
            result = result.values()
        return result.numpy()
    if hasattr(result, "tocsr"):
        result = result.tocsr()
        result.sort_indices()
        return result.data
    return result.data if hasattr(result, "todense") else result


class Worker:
    def __init__(self, module, clock):
        self.module, self.clock, self.function = module, clock, None
        self.empty_loop = min(self._time(lambda: None, 10000) for _ in range(5))

    def _time(self, function, loops):
        begin = self.clock()
        for _ in range(loops):
            function()
        return (self.clock() - begin) / loops

    def setup(self, group, name, seconds):
        """Build a case, run it warm, and find the number of loops that takes about `seconds`."""
        gc.unfreeze()
        self.function = None
        gc.collect()
        case = next(case for case in load(group) if case.name == name)
        build = case.peers.get(self.module.__name__, case.build)
        self.function = build(self.module, numpy.random.default_rng(case.seed()))
        result = plain(self.function())
        begin = time.perf_counter()
        while time.perf_counter() - begin < WARM_UP:
            self.function()
        loops = 1
        while (spent := self._time(self.function, loops) * loops) < seconds / 2:
            loops = min(loops * 10, max(loops * 2, int(loops * seconds / max(spent, 1e-6))))
        gc.collect()
        gc.freeze()
        return {"loops": loops, "result": result}

    def sample(self, loops):
        return {"seconds": max(self._time(self.function, loops) - self.empty_loop, 1e-9)}


def why(error):
    return f"{type(error).__name__}: {error}".splitlines()[0][:200]


def answer(worker, request):
    """The worker's answer to a request, a failure included."""
    try:
        if "setup" in request:
            return worker.setup(*request["setup"], request["seconds"])
        return worker.sample(request["sample"])
    except (AttributeError, ImportError, NotImplementedError) as error:
        return {"missing": why(error)}
    except Exception as error:
        return {"error": why(error)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("module")
    parser.add_argument("--cpu-time", action="store_true")
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)                 # what a module prints must not get between the answers
    warnings.simplefilter("ignore")
    module = importlib.import_module(options.module)
    for name in SUBMODULES:
        with contextlib.suppress(ImportError):
            importlib.import_module(f"{options.module}.{name}")
    if options.threads:
        with contextlib.suppress(AttributeError):      # else the environment's word for its thread pools must do
            module.set_num_threads(options.threads)
    worker = Worker(module, time.process_time if options.cpu_time else time.perf_counter)
    for line in sys.stdin:
        print(json.dumps(answer(worker, json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
