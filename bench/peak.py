"""How much memory a training step takes: the peak of resident memory above what the import took, beside torch's.

    python -m bench.peak                                       shimtorch and, where it is installed, torch
    python -m bench.peak --against torch@/path/to/python       torch of another interpreter

Every step runs in a process of its own, a few times, with one thread (from /proc, so on Linux only). The exit status
is 1 where shimtorch takes more than the limit times torch's.
"""

import argparse
import importlib
import subprocess
import sys

from . import CLONE
from .process import Module


def resident(key):
    """A figure of this process's memory in KiB: VmRSS now, VmHWM at most so far."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(key + ":"))


def perceptron(t):
    """784-256-10, batch 64."""
    nn = t.nn
    net = nn.Sequential(nn.Flatten(), nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))
    return net, t.randn(64, 1, 28, 28), t.randint(0, 10, (64,))


def convnet(t):
    """The MNIST convnet, batch 64."""
    nn = t.nn
    net = nn.Sequential(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
                        nn.Dropout(0.25), nn.Flatten(), nn.Linear(9216, 128), nn.ReLU(), nn.Dropout(),
                        nn.Linear(128, 10))
    return net, t.randn(64, 1, 28, 28), t.randint(0, 10, (64,))


def language_model(t):
    """An LSTM language model: 2000 words, 2 layers of 64, 20 steps, batch 20."""
    nn = t.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder, self.rnn, self.decoder = nn.Embedding(2000, 64), nn.LSTM(64, 64, 2), nn.Linear(64, 2000)

        def forward(self, x):
            return self.decoder(self.rnn(self.encoder(x))[0]).view(-1, 2000)

    return Net(), t.randint(0, 2000, (20, 20)), t.randint(0, 2000, (400,))


def resnet18(t):
    """ResNet18, 8 images of 128x128."""
    nn = t.nn

    class Block(nn.Module):
        def __init__(self, i, o, stride):
            super().__init__()
            self.conv1, self.bn1 = nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o)
            self.conv2, self.bn2 = nn.Conv2d(o, o, 3, 1, 1, bias=False), nn.BatchNorm2d(o)
            self.relu, self.down = nn.ReLU(inplace=True), nn.Sequential()
            if stride != 1 or i != o:
                self.down = nn.Sequential(nn.Conv2d(i, o, 1, stride, bias=False), nn.BatchNorm2d(o))

        def forward(self, x):
            y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
            y += self.down(x)
            return self.relu(y)

    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    i = 64
    for o, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [Block(i, o, stride), Block(o, o, 1)]
        i = o
    net = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))
    return net, t.randn(8, 3, 128, 128), t.randint(0, 1000, (8,))


STEPS = {step.__name__: step for step in (perceptron, convnet, language_model, resnet18)}


def measure(module, name, times):
    """In this process: the KiB that training `times` steps takes at most, above what the imports took."""
    t = importlib.import_module(module)
    for part in ("nn", "nn.functional", "optim"):
        importlib.import_module(f"{module}.{part}")
    t.set_num_threads(1)
    before = resident("VmRSS")
    net, x, y = STEPS[name](t)
    optimizer, criterion = t.optim.SGD(net.parameters(), lr=0.01, momentum=0.9), t.nn.CrossEntropyLoss()
    for _ in range(times):
        optimizer.zero_grad()
        criterion(net(x), y).backward()
        optimizer.step()
    return resident("VmHWM") - before


def in_process(module, name, times):
    """The same in MiB, in a fresh process."""
    command = [module.python, "-m", "bench.peak", "--measure", name, "--torch", module.name, "--times", str(times)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=CLONE, env=module.environment(1), check=True)
    return int(done.stdout) / 1024


def main():
    parser = argparse.ArgumentParser(prog="python -m bench.peak", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch", default="shimtorch", metavar="MODULE")
    parser.add_argument("--against", default="torch", metavar="MODULE")
    parser.add_argument("--step", help="only these, by comma: " + ", ".join(STEPS))
    parser.add_argument("--times", type=int, default=5, help="how many steps (default 5)")
    parser.add_argument("--limit", type=float, default=1.2, help="how many times torch's memory (default 1.2)")
    parser.add_argument("--measure", choices=STEPS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(measure(options.torch, options.measure, options.times))
        return 0
    ours, other = Module(options.torch), Module(options.against)
    there, above = other.importable(), 0
    for name in options.step.split(",") if options.step else STEPS:
        mib = in_process(ours, name, options.times)
        line = f"{name:16} {ours.label} {mib:7.1f} MiB"
        if there:
            theirs = in_process(other, name, options.times)
            line += f"   {other.label} {theirs:7.1f} MiB   ratio {mib / theirs:.2f}"
            above += mib > options.limit * theirs
        print(line, flush=True)
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
