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


@case("conv2d 32x64x56x56, 64 of 3x3, forward and backward")
def _conv():
    x, w = torch.rand(32, 64, 56, 56, device="cuda"), torch.rand(64, 64, 3, 3, device="cuda", requires_grad=True)
    return lambda: torch.nn.functional.conv2d(x, w, padding=1).sum().backward()


@case("layer_norm 8192x1024, forward and backward")
def _layer_norm():
    x, layer = torch.rand(8192, 1024, device="cuda"), torch.nn.LayerNorm(1024).cuda()
    return lambda: layer(x).sum().backward()


@case("LSTM 64 steps, batch 64, 512 to 512")
def _lstm():
    net, x = torch.nn.LSTM(512, 512).cuda(), torch.rand(64, 64, 512, device="cuda")
    return lambda: net(x)[0].sum().backward()


@case("sort 1M float32")
def _sort():
    x = torch.rand(1 << 20, device="cuda")
    return lambda: x.sort()


@case("randn 16M float32")
def _randn():
    return lambda: torch.randn(1 << 24, device="cuda")


@case("Adam step of 64M parameters")
def _adam():
    p = torch.rand(1 << 26, device="cuda", requires_grad=True)
    p.grad = torch.rand(1 << 26, device="cuda")
    return torch.optim.Adam([p]).step


@case("solve 1024 of 32x32")
def _solve():
    a = torch.rand(1024, 32, 32, device="cuda") + 32 * torch.eye(32, device="cuda")
    return lambda: torch.linalg.solve(a, a)


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
