"""Times of a few operations on a CUDA device, as JSON: ``python -m bench.gpu``. Run by tools/gpu_lane.sh."""
import json
import sys

import shimtorch as torch

CASES = {}


def case(name):
    def keep(make):
        CASES[name] = make
        return make
    return keep


@case("mm float32 2048")
def _mm():
    a, b = torch.rand(2048, 2048, device="cuda"), torch.rand(2048, 2048, device="cuda")
    return lambda: a.mm(b)


@case("einsum bij,bjk->bik 64x256")
def _einsum():
    a, b = torch.rand(64, 256, 256, device="cuda"), torch.rand(64, 256, 256, device="cuda")
    return lambda: torch.einsum("bij,bjk->bik", a, b)


@case("add 16M float32")
def _add():
    a, b = torch.rand(1 << 24, device="cuda"), torch.rand(1 << 24, device="cuda")
    return lambda: a + b


@case("sum 16M float32")
def _sum():
    a = torch.rand(1 << 24, device="cuda")
    return lambda: a.sum()


@case("launch: add of 10 elements")
def _launch():
    a = torch.rand(10, device="cuda")
    return lambda: a + a


@case("training step, 512-1024-512 perceptron, batch 256")
def _step():
    net = torch.nn.Sequential(torch.nn.Linear(512, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 512)).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    x, y = torch.rand(256, 512, device="cuda"), torch.rand(256, 512, device="cuda")

    def step():
        optimizer.zero_grad()
        ((net(x) - y) ** 2).mean().backward()
        optimizer.step()
    return step


def milliseconds(f, repeats=20):
    """The mean time of a call, by events of the device."""
    for _ in range(3):
        f()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(repeats):
        f()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / repeats


def main():
    """Print the times; the exit status."""
    if not torch.cuda.is_available():
        print("there is no CUDA device", file=sys.stderr)
        return 1
    times = {name: round(milliseconds(make()), 4) for name, make in CASES.items()}
    print(json.dumps({"device": torch.cuda.get_device_name(), "milliseconds": times}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
