"""What the benchmarks of CUDA devices share: which libraries are there, times by events of the device, the JSON."""
import argparse
import importlib
import importlib.util
import json
import sys


class Library:
    """A library under measurement, a subclass for each way of spelling its calls; smoke: sizes only to see it run."""

    def __init__(self, module, smoke=False):
        self.t, self.smoke = module, smoke

    def size(self, full, small):
        return small if self.smoke else full


class Tensors(Library):
    """shimtorch and torch, which are spelled alike."""

    def __init__(self, module, smoke=False):
        super().__init__(module, smoke)
        self.device = module.cuda.get_device_name()

    def rand(self, *shape, **options):
        return self.t.rand(*shape, device="cuda", **options)

    def milliseconds(self, f, repeats):
        start, end = (self.t.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(repeats):
            f()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / repeats


class Arrays(Library):
    """CuPy."""

    def __init__(self, module, smoke=False):
        super().__init__(module, smoke)
        self.device = module.cuda.runtime.getDeviceProperties(0)["name"].decode()

    def rand(self, *shape):
        return self.t.random.rand(*shape, dtype=self.t.float32)

    def milliseconds(self, f, repeats):
        start, end = (self.t.cuda.Event() for _ in range(2))
        start.record()
        for _ in range(repeats):
            f()
        end.record()
        end.synchronize()
        return self.t.cuda.get_elapsed_time(start, end) / repeats


def measured(library, cases, repeats):
    """The device, and the milliseconds of each case that the library has, or what it says of one that fails."""
    times = {}
    for name, (which, *args) in cases.items():
        try:
            make = getattr(library, which, None)
            f = None if make is None else make(*args)      # None: the library has nothing of the kind
            if f is not None:
                library.milliseconds(f, 3 if repeats > 1 else 1)
                times[name] = round(library.milliseconds(f, repeats), 4)
        except Exception as error:                         # the other cases and libraries are still of interest
            times[name] = f"{type(error).__name__}: {error}"
    return {"device": library.device, "milliseconds": times}


def main(cases, tensors, arrays):
    """Print the times of the libraries that are named, or of all; the exit status."""
    parser = argparse.ArgumentParser(description="Times on a CUDA device, as JSON")
    parser.add_argument("libraries", nargs="*", help="shimtorch, torch, cupy (default: those that are there)")
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, each once: only to see that all of it runs")
    options = parser.parse_args()
    results = {}
    for name in options.libraries or ("shimtorch", "torch", "cupy"):
        if importlib.util.find_spec(name) is None:
            continue
        library = importlib.import_module(name)
        if not library.cuda.is_available():
            print(f"{name}: there is no CUDA device", file=sys.stderr)
            continue
        kind = arrays if name == "cupy" else tensors
        results[name] = measured(kind(library, options.smoke), cases, 1 if options.smoke else 20)
    print(json.dumps(results, indent=1))
    return 0 if results else 1
