"""Calls whose values, gradients and errors are recorded from PyTorch: what no row of the op table says."""

from recorded import answer, grid

CASES = """
torch.masked.sum(x, mask=m)
torch.masked.sum(x, 1, keepdim=True, mask=m)
torch.masked.sum(i, 0, mask=m)
torch.masked.prod(x, (0, 1), mask=m)
torch.masked.prod(i, 1, mask=m[:1])
torch.masked.cumsum(x, 0, mask=m)
torch.masked.cumprod(x, -1, mask=m)
torch.masked.amax(x, 0, mask=m)
torch.masked.amin(x, 1, mask=none)
torch.masked.amax(i, 0, mask=none)
torch.masked.argmax(x, 0, mask=m)
torch.masked.argmin(i, mask=m)
torch.masked.mean(x, 1, mask=m)
torch.masked.mean(x, mask=none)
torch.masked.mean(i, 1, dtype=torch.float64)
torch.masked.median(x, 1, mask=m)
torch.masked.median(i, 0, mask=none)
torch.masked.norm(x, 2.0, 1, mask=m)
torch.masked.norm(x, float("-inf"), 0, mask=m)
torch.masked.var(x, 1, mask=m)
torch.masked.std(x, (0, 1), unbiased=False, mask=m)
torch.masked.var(i, 0, correction=0)
torch.masked.logsumexp(x, 1, mask=m)
torch.masked.softmax(x, 1, mask=m)
torch.masked.log_softmax(x.detach(), 1, mask=m)
torch.masked.softmin(x, 0, mask=m)
torch.masked.normalize(x, 2.0, 1, mask=m)
torch.masked.logaddexp(x, y, input_mask=m)
torch.masked.sum(x, (0, 0), mask=m)
torch.masked.sum(x, 0, mask=m.unsqueeze(0))
torch.masked.is_masked_tensor(x)
torch.signal.windows.bartlett(7)
torch.signal.windows.bartlett(6, sym=False)
torch.signal.windows.blackman(6, dtype=torch.float64)
torch.signal.windows.cosine(0)
torch.signal.windows.cosine(5, sym=False)
torch.signal.windows.exponential(6, tau=2.0)
torch.signal.windows.exponential(5, center=1, sym=False)
torch.signal.windows.exponential(5, center=1)
torch.signal.windows.exponential(5, tau=0)
torch.signal.windows.gaussian(6, std=1.5)
torch.signal.windows.gaussian(6, std=0.0)
torch.signal.windows.general_cosine(6, a=[0.46, 0.23, 0.31], sym=False)
torch.signal.windows.general_cosine(6, a=[])
torch.signal.windows.general_cosine(6, a=0.5)
torch.signal.windows.general_hamming(6, alpha=0.6)
torch.signal.windows.hamming(1)
torch.signal.windows.hann(6, sym=False)
torch.signal.windows.hann(-1)
torch.signal.windows.hann(3, dtype=torch.int64)
torch.signal.windows.kaiser(6, beta=3.0)
torch.signal.windows.kaiser(6, beta=-3.0)
torch.signal.windows.nuttall(6)
torch.native_layer_norm(x, (6,), None, None, 1e-5)
torch.native_group_norm(image, None, None, 1, 2, 12, 2, 1e-5)[0]
torch.native_batch_norm(image, None, None, None, None, True, 0.1, 1e-5)
torch.native_dropout(x, 1.0, True)
torch.native_dropout(x, 0.5, False)
torch.grid_sampler(image, flow, 0, 0, False)
torch.grid_sampler_2d(image, flow, 1, 1, True)
torch.constant_pad_nd(x, (1, -2), 0.5)
torch.constant_pad_nd(x, (1, 2, 3))
torch.maximum(x, 2)
torch.atan2(2, x)
torch.logical_and(i, 1)
torch.gcd(i, 2)
torch.cov(x, fweights=torch.tensor([1.5] * 6))
torch.cov(x, fweights=torch.tensor([1, 2]))
torch.cov(x, aweights=torch.tensor([-1.0] * 6))
torch.aminmax(x[:0])
torch.mean(x, dtype=torch.int64)
torch.empty_permuted((2, 3), (0, 0))
torch.linspace(x[0], x[1], 3)
torch.gradient(x, spacing=[1.0])
torch.gradient(x, dim=(0, 0))
torch.diff(x, prepend=x[:1, :3])
torch.trapezoid(m)
torch.unravel_index(x, (2, 3))
torch.unravel_index(i, (2, -3))
torch.take_along_dim(x, i.int(), 1)
torch.logcumsumexp(x, 3)
torch.roll(x[0, 0], 1, 0)
torch.fft.fftn(x[0, 0], dim=0)
torch.unbind(x[0, 0])
torch.heaviside(x + 0j, x + 0j)
torch.arange(0, 3, 0.5, dtype=torch.int64)
torch.logspace(0, 1, 3, dtype=torch.bool)
torch.stack([image, image], 1).expand(1, 2, 2, 2, 3, 4).stride()
torch.cat([image.contiguous(memory_format=torch.channels_last)] * 2, 1).stride()
x.t().flip(0).stride()
x.flatten()[1::2].as_strided((2, 2), (1, 2), 0)
x[1:].as_strided((2, 3), (3, 1))
x[:, :1].expand(4, 2).as_strided((3,), (6,))
torch.linspace(-3, 7.3, 50, dtype=torch.bfloat16).double()
torch.linspace(0, 1, 5, dtype=torch.float16).double()
x.bfloat16().masked_fill(m, float("nan")).sort(1)[0].float()
torch.kthvalue(x.new_tensor(3.0), 2)
""".strip().split("\n")


def _inputs(torch):
    def leaf(*shape, start=0):
        return grid(torch, *shape, start=start).requires_grad_()

    keep = torch.tensor([[1, 0, 1, 1, 0, 1], [0, 0, 1, 0, 1, 1], [1, 1, 1, 1, 1, 1], [0, 1, 0, 0, 0, 0]]).bool()
    return {
        "x": leaf(4, 6), "y": leaf(4, 6, start=50), "image": leaf(1, 2, 3, 4, start=9),
        "flow": grid(torch, 1, 2, 3, 2, start=20) / 2, "i": torch.arange(24).view(4, 6) % 7,
        "m": keep, "none": keep & torch.tensor([True, False, True, True]).unsqueeze(1),
    }


def run(torch, case):
    """The value of one call, and the gradients of the inputs for the sum of the squares of its first result."""
    inputs = _inputs(torch)

    def call():
        out = eval(case, dict(inputs, torch=torch))
        first = out[0] if isinstance(out, tuple) else out
        grads = {}
        if isinstance(first, torch.Tensor) and first.requires_grad:
            (first * first).sum().backward()
            grads = {key: value.grad for key, value in inputs.items() if value.grad is not None}
        return {"value": list(out) if isinstance(out, tuple) else out, "grads": grads}

    return answer(call)
