"""Whether memory stays flat: forward, backward and optimizer step, a million times.

    python -m bench.memory                                     all loops, 1,000,000 times each
    python -m bench.memory --iterations 50000 --loop sparse    one of them, shorter

Resident memory is read twenty times (from /proc, so on Linux only). After the first quarter, which fills caches and
free lists, it may grow by a limit that is far below one leaked object per iteration. The exit status is 1 where it
grew more.
"""

import argparse
import importlib
import sys
import time

READINGS = 20


def training(t):
    """A perceptron's step with SGD."""
    nn = t.nn
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    optimizer, criterion = t.optim.SGD(net.parameters(), lr=1e-3), nn.CrossEntropyLoss()
    x, y = t.ones(3, 4), t.tensor([0, 1, 1])

    def step():
        optimizer.zero_grad()
        criterion(net(x), y).backward()
        optimizer.step()

    return step


def sparse(t):
    """A product with an uncoalesced matrix whose values are trained."""
    indices, dense = t.tensor([[0, 1, 1, 1], [2, 0, 2, 2]]), t.ones(3, 2)
    values = t.ones(4, requires_grad=True)
    optimizer = t.optim.SGD([values], lr=1e-3)

    def step():
        optimizer.zero_grad()
        matrix = t.sparse_coo_tensor(indices, values, (2, 3)).coalesce()
        t.sparse.mm(matrix, dense).sum().backward()
        optimizer.step()

    return step


def views(t):
    """Views changed in place, and their history."""
    weight = t.ones(3, 3, requires_grad=True)
    optimizer = t.optim.SGD([weight], lr=1e-3)

    def step():
        optimizer.zero_grad()
        y = weight * 2
        y[0].mul_(3)
        y.t()[1].add_(weight[2])
        y.sum().backward()
        optimizer.step()

    return step


def refusals(t):
    """Errors raised in forward and in backward."""
    x = t.ones(3, requires_grad=True)

    def step():
        try:
            x + t.ones(2)
        except RuntimeError:
            pass
        y = x.exp()
        z = y.sum()
        y.add_(1)
        try:
            z.backward()
        except RuntimeError:
            pass

    return step


LOOPS = {loop.__name__: loop for loop in (training, sparse, views, refusals)}


def resident():
    """Resident memory of this process in KiB."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))


def watch(step, iterations):
    """Run `step`; return the readings of resident memory, in KiB."""
    readings = []
    for _ in range(READINGS):
        for _ in range(iterations // READINGS):
            step()
        readings.append(resident())
    return readings


def main():
    parser = argparse.ArgumentParser(prog="python -m bench.memory", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch", default="shimtorch", metavar="MODULE")
    parser.add_argument("--iterations", type=int, default=1_000_000)
    parser.add_argument("--loop", help="only these, by comma: " + ", ".join(LOOPS))
    parser.add_argument("--limit", type=int, default=1024, metavar="KIB", help="how much it may grow (default 1024)")
    options = parser.parse_args()
    module, grown = importlib.import_module(options.torch), []
    for name in options.loop.split(",") if options.loop else LOOPS:
        begin = time.perf_counter()
        readings = watch(LOOPS[name](module), max(options.iterations, READINGS))
        seconds = time.perf_counter() - begin
        growth = readings[-1] - readings[READINGS // 4]
        print(f"{name:10} {options.iterations} times in {seconds:.1f} s: resident {readings[0] / 1024:.1f} MiB, "
              f"grown by {growth} KiB after the first quarter", flush=True)
        if growth > options.limit:
            grown.append(name)
            print("    readings in KiB: " + " ".join(map(str, readings)))
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
