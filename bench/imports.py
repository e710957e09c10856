"""Whether importing costs no more than it may: time as a multiple of NumPy's, and resident memory.

    python -m bench.imports                          1.6 times NumPy's processor time, 60 MiB
    python -m bench.imports --factor 1.4 --rounds 21

Each import runs in a process of its own, the two modules in turn; the minima are compared. The exit status is 1 where
one of them is over its limit.
"""
import argparse
import sys

from .process import Module
from .startup import cost


def main():
    parser = argparse.ArgumentParser(prog="python -m bench.imports", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--factor", type=float, default=1.6, help="of NumPy's time (default 1.6)")
    parser.add_argument("--memory", type=float, default=60, metavar="MIB", help="resident (default 60)")
    options = parser.parse_args()
    options.cpu_time, options.threads, options.timeout = True, 1, 60
    modules = Module("numpy"), Module("shimtorch")
    taken = [[cost(module, f"import {module.name}", options) for module in modules] for _ in range(options.rounds)]
    factor = min(shimtorch[0] for _, shimtorch in taken) / min(numpy[0] for numpy, _ in taken)
    memory = min(shimtorch[1] for _, shimtorch in taken)
    print(f"import shimtorch: {factor:.2f} times numpy's time (at most {options.factor:g}), "
          f"{memory:.0f} MiB resident (at most {options.memory:g})")
    return int(factor > options.factor or memory > options.memory)


if __name__ == "__main__":
    sys.exit(main())
