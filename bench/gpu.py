"""Times of dense operations on a CUDA device, beside torch and CuPy on the same card, as JSON.

    python -m bench.gpu [--smoke] [shimtorch] [torch] [cupy]

Libraries that are not installed are left out. Run by tools/gpu_lane.sh; not run yet, for want of a machine with a GPU.
"""
import sys

from .gpu_measure import Arrays, Tensors, main


class Alike:
    """The operations that all three libraries spell alike."""

    def einsum(self, equation, *shapes):
        operands = [self.rand(*[self.size(n, 3) for n in shape]) for shape in shapes]
        return lambda: self.t.einsum(equation, *operands)

    def add(self):
        a, b = self.rand(self.size(1 << 24, 99)), self.rand(self.size(1 << 24, 99))
        return lambda: a + b

    def sum(self):
        a = self.rand(self.size(1 << 24, 99))
        return lambda: a.sum()

    def launch(self):
        a = self.rand(10)
        return lambda: a + a

    def fft(self):
        a = self.rand(self.size(4096, 3), self.size(1024, 16))
        return lambda: self.t.fft.rfft(a)


class DenseTensors(Alike, Tensors):
    """The operations of shimtorch and torch."""

    def mm(self, dtype):
        n = self.size(4096, 32)
        a, b = (self.rand(n, n).to(getattr(self.t, dtype)) for _ in range(2))
        return lambda: a.mm(b)

    def sort(self):
        a = self.rand(self.size(1 << 20, 99))
        return lambda: a.sort()

    def randn(self):
        return lambda: self.t.randn(self.size(1 << 24, 99), device="cuda")

    def solve(self):
        n = self.size(32, 4)
        a = self.rand(self.size(1024, 2), n, n) + n * self.t.eye(n, device="cuda")
        return lambda: self.t.linalg.solve(a, a)

    def svd(self):
        n = self.size(32, 4)
        a = self.rand(self.size(1024, 2), n, n)
        return lambda: self.t.linalg.svd(a)

    def conv(self):
        n, c, side = self.size(32, 1), self.size(64, 2), self.size(56, 6)
        x, w = self.rand(n, c, side, side), self.rand(c, c, 3, 3, requires_grad=True)
        return lambda: self.t.nn.functional.conv2d(x, w, padding=1).sum().backward()

    def layer_norm(self):
        x, layer = self.rand(self.size(8192, 4), 1024), self.t.nn.LayerNorm(1024).cuda()
        return lambda: layer(x).sum().backward()

    def lstm(self):
        n = self.size(512, 4)
        net, x = self.t.nn.LSTM(n, n).cuda(), self.rand(self.size(64, 3), self.size(64, 2), n)
        return lambda: net(x)[0].sum().backward()

    def adam(self):
        p = self.rand(self.size(1 << 26, 99), requires_grad=True)
        p.grad = self.rand(*p.shape)
        return self.t.optim.Adam([p]).step

    def training(self):
        nn, n, batch = self.t.nn, self.size(512, 8), self.size(256, 4)
        net = nn.Sequential(nn.Linear(n, 2 * n), nn.ReLU(), nn.Linear(2 * n, n)).cuda()
        optimizer = self.t.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
        x, y = self.rand(batch, n), self.rand(batch, n)

        def step():
            optimizer.zero_grad()
            ((net(x) - y) ** 2).mean().backward()
            optimizer.step()
        return step


class DenseArrays(Alike, Arrays):
    """Those that CuPy has."""

    def mm(self, dtype):
        if dtype == "bfloat16":
            return None
        n = self.size(4096, 32)
        a, b = (self.rand(n, n).astype(dtype) for _ in range(2))
        return lambda: a @ b

    def sort(self):
        a = self.rand(self.size(1 << 20, 99))
        return lambda: self.t.sort(a)

    def randn(self):
        return lambda: self.t.random.randn(self.size(1 << 24, 99), dtype=self.t.float32)

    def solve(self):
        n = self.size(32, 4)
        a = self.rand(self.size(1024, 2), n, n) + n * self.t.eye(n, dtype=self.t.float32)
        return lambda: self.t.linalg.solve(a, a)

    def svd(self):
        a = self.rand(self.size(1024, 2), self.size(32, 4), self.size(32, 4))
        return lambda: self.t.linalg.svd(a)


CASES = {
    "mm float32 4096": ("mm", "float32"),
    "mm float16 4096": ("mm", "float16"),
    "mm bfloat16 4096": ("mm", "bfloat16"),
    "mm float64 4096": ("mm", "float64"),
    "einsum bij,bjk->bik, 64 of 256": ("einsum", "bij,bjk->bik", (64, 256, 256), (64, 256, 256)),
    "einsum ij,jk,kl->il, 1024": ("einsum", "ij,jk,kl->il", (1024, 1024), (1024, 1024), (1024, 16)),
    "einsum bhqd,bhkd->bhqk, 16 of 8 heads, 256 of 64": (
        "einsum", "bhqd,bhkd->bhqk", (16, 8, 256, 64), (16, 8, 256, 64)),
    "add 16M float32": ("add",),
    "sum 16M float32": ("sum",),
    "launch: add of 10 elements": ("launch",),
    "sort 1M float32": ("sort",),
    "randn 16M float32": ("randn",),
    "rfft 4096 of 1024": ("fft",),
    "solve 1024 of 32x32": ("solve",),
    "svd 1024 of 32x32": ("svd",),
    "conv2d 32x64x56x56, 64 of 3x3, forward and backward": ("conv",),
    "layer_norm 8192x1024, forward and backward": ("layer_norm",),
    "LSTM 64 steps, batch 64, 512 to 512": ("lstm",),
    "Adam step of 64M parameters": ("adam",),
    "training step, 512-1024-512 perceptron, batch 256": ("training",),
}

if __name__ == "__main__":
    sys.exit(main(CASES, DenseTensors, DenseArrays))
