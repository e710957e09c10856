"""Layers and whole networks on the device: outputs, gradients and steps are those of the CPU."""
import copy

import pytest

import shimtorch as torch
from shimtorch import nn
from shimtorch.nn import functional as F

pytestmark = pytest.mark.usefixtures("no_leak")


def agree(got, want, tolerance=1e-4):
    assert got.is_cuda and got.shape == want.shape and got.dtype is want.dtype
    assert torch.allclose(got.detach().cpu(), want.detach(), rtol=tolerance, atol=tolerance, equal_nan=True)


def compare(f, *inputs, tolerance=1e-4):
    """f of tensors (and other things) on the CPU and on the device, and the gradients of the floats among them."""
    def leaf(x, device):
        if not isinstance(x, torch.Tensor):
            return x
        t = x.detach().clone().to(device)
        return t.requires_grad_() if t.is_floating_point() else t
    here, there = ([leaf(x, device) for x in inputs] for device in ("cpu", "cuda"))
    want, got = f(*here), f(*there)
    agree(got, want, tolerance)
    weights = torch.randn(want.shape, dtype=want.dtype)
    (want * weights).sum().backward()
    (got * weights.cuda()).sum().backward()
    for x, y in zip(here, there):
        if isinstance(x, torch.Tensor) and x.grad is not None:
            agree(y.grad, x.grad, tolerance)


@pytest.mark.parametrize("shape, weight, options", [
    ((2, 3, 7), (4, 3, 3), dict(stride=2, padding=1)),
    ((2, 4, 6, 5), (6, 2, 3, 2), dict(groups=2, dilation=(1, 2))),
    ((1, 4, 6, 6), (4, 1, 3, 3), dict(groups=4, padding=1)),
    ((3, 4, 5, 5), (6, 4, 1, 1), {}),
    ((2, 2, 4, 5, 3), (3, 2, 2, 3, 2), dict(stride=(1, 2, 1), padding=(1, 0, 1))),
    ((0, 3, 5, 5), (2, 3, 3, 3), {}),
])
def test_convolutions(shape, weight, options):
    torch.manual_seed(0)
    n = len(shape) - 2
    x, w = torch.randn(shape), torch.randn(weight)
    compare(lambda x, w, b: getattr(F, f"conv{n}d")(x, w, b, **options), x, w, torch.randn(weight[0]))
    groups = options.get("groups", 1)
    transposed = torch.randn(shape[1], weight[0] // groups, *weight[2:])
    compare(lambda x, w: getattr(F, f"conv_transpose{n}d")(x, w, **options), x, transposed)


def test_convolutions_of_many_examples_are_done_in_pieces(monkeypatch):
    from shimtorch._gpu import windows
    monkeypatch.setattr(windows, "_MOST", 300)
    compare(lambda x, w: F.conv2d(x, w, padding=1), torch.randn(5, 2, 4, 4), torch.randn(3, 2, 3, 3))
    compare(lambda x, w: F.conv_transpose2d(x, w), torch.randn(5, 2, 4, 4), torch.randn(2, 3, 3, 3))


def test_second_derivative_of_a_convolution():
    grads = []
    for device in ("cpu", "cuda"):
        torch.manual_seed(1)
        x, w = torch.randn(1, 2, 5, 5).to(device).requires_grad_(), torch.randn(2, 2, 3, 3).to(device).requires_grad_()
        first, = torch.autograd.grad(F.conv2d(x, w).square().sum(), x, create_graph=True)
        grads.append(torch.autograd.grad(first.square().sum(), (x, w)))
    for want, got in zip(*grads):
        agree(got, want, 1e-3)


@pytest.mark.parametrize("f", [
    lambda x: F.max_pool2d(x, 3, 2, 1), lambda x: F.max_pool2d(x, 2, 1, dilation=2), lambda x: F.avg_pool2d(x, 2),
    lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True),
    lambda x: F.avg_pool2d(x, 2, divisor_override=3), lambda x: F.adaptive_avg_pool2d(x, (3, 2)),
    lambda x: F.adaptive_max_pool2d(x, 3), lambda x: F.lp_pool2d(x.abs() + 1, 2, 2),
    lambda x: F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2, output_size=(6, 7)),
    lambda x: F.interpolate(x, scale_factor=2), lambda x: F.interpolate(x, size=(5, 9), mode="bilinear"),
    lambda x: F.interpolate(x, scale_factor=1.5, mode="bilinear", align_corners=True),
    lambda x: F.interpolate(x, scale_factor=2, mode="bicubic"), lambda x: F.pad(x, (1, 2, 0, 1)),
    lambda x: F.pad(x, (1, 2, 2, 1), mode="reflect"), lambda x: F.pad(x, (1, 2, 0, 1), mode="replicate"),
    lambda x: F.pad(x, (1, 2, 0, 1), mode="circular"), lambda x: F.pixel_shuffle(x.repeat(1, 2, 1, 1), 2),
    lambda x: F.unfold(x, 3, padding=1), lambda x: F.local_response_norm(x, 2),
    lambda x: F.affine_grid(x[:, 0, :2, :3], (2, 2, 4, 4), align_corners=False),
    lambda x: F.grid_sample(x, torch.linspace(-1, 1, 2 * 3 * 3 * 2, device=x.device).reshape(2, 3, 3, 2),
                            align_corners=True),
    lambda x: x.flip(1, 2), lambda x: x.roll((1, -2), (0, 3)), lambda x: x.tril(1), lambda x: x.triu(-1),
    lambda x: x.sort(2)[0], lambda x: x.topk(2, 1, False)[0], lambda x: x.kthvalue(3, -1)[0], lambda x: x.median(2)[0],
    lambda x: x.cummax(2)[0], lambda x: x.cumprod(3), lambda x: torch.cdist(x[0], x[1]),
])
def test_maps(f):
    torch.manual_seed(2)
    compare(f, torch.randn(2, 2, 6, 7))


@pytest.mark.parametrize("f, shape", [
    (lambda x: F.max_pool1d(x, 3, 2), (2, 3, 8)), (lambda x: F.avg_pool1d(x, 3, 2, 1), (2, 3, 8)),
    (lambda x: F.adaptive_avg_pool1d(x, 3), (2, 3, 8)), (lambda x: F.max_pool3d(x, 2), (1, 2, 4, 4, 4)),
    (lambda x: F.avg_pool3d(x, (1, 2, 3)), (1, 2, 4, 4, 4)), (lambda x: F.adaptive_max_pool3d(x, 2), (1, 2, 3, 4, 5)),
    (lambda x: F.interpolate(x, scale_factor=2, mode="linear"), (2, 3, 4)),
    (lambda x: F.interpolate(x, scale_factor=2, mode="trilinear"), (1, 1, 2, 3, 2)),
])
def test_maps_of_other_dimensions(f, shape):
    torch.manual_seed(3)
    compare(f, torch.randn(shape))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_normalisation(dtype):
    torch.manual_seed(4)
    dtype = getattr(torch, dtype)
    tolerance = {torch.float16: 2e-2, torch.bfloat16: 1e-1}.get(dtype, 1e-4)
    x, w, b = (torch.randn(s).to(dtype) for s in ((3, 4, 5), 4, 4))
    compare(lambda x, w, b: F.layer_norm(x, (4, 5), w, b), x, torch.randn(4, 5).to(dtype), torch.randn(4, 5).to(dtype),
            tolerance=tolerance)
    compare(lambda x: F.layer_norm(x, (5,)), x, tolerance=tolerance)
    compare(lambda x, w, b: F.group_norm(x, 2, w, b), x, w, b, tolerance=tolerance)
    compare(lambda x, w, b: F.batch_norm(x, torch.zeros(4).to(x), torch.ones(4).to(x), w, b, True), x, w, b,
            tolerance=tolerance)
    compare(lambda x, w, b: F.batch_norm(x, torch.ones(4).to(x), torch.full((4,), 2.).to(x), w, b), x, w, b,
            tolerance=tolerance)
    compare(lambda x: F.instance_norm(x), x, tolerance=tolerance)


def test_running_statistics():
    norms = nn.BatchNorm2d(3), nn.BatchNorm2d(3).cuda()
    for _ in range(2):
        x = torch.randn(4, 3, 2, 2)
        agree(norms[1](x.cuda()), norms[0](x))
    agree(norms[1].running_mean, norms[0].running_mean)
    agree(norms[1].running_var, norms[0].running_var)
    agree(norms[1].eval()(x.cuda()), norms[0].eval()(x))


@pytest.mark.parametrize("make", [
    lambda: nn.LSTM(3, 4), lambda: nn.GRU(3, 4), lambda: nn.RNN(3, 4), lambda: nn.RNN(3, 4, nonlinearity="relu"),
    lambda: nn.LSTM(3, 4, 2, bidirectional=True), lambda: nn.GRU(3, 4, 2, bias=False, batch_first=True),
    lambda: nn.LSTM(3, 4, proj_size=2),
])
def test_recurrent_layers(make):
    torch.manual_seed(5)
    net = make()
    nets, x = (net, copy.deepcopy(net).cuda()), torch.randn(5, 2, 3)
    results = []
    for model, device in zip(nets, ("cpu", "cuda")):
        given = x.detach().to(device).requires_grad_()
        output, last = model(given)
        last = last if isinstance(last, tuple) else (last,)
        (output.square().sum() + sum(t.sum() for t in last)).backward()
        results.append([output, *last, given.grad, *(p.grad for p in model.parameters())])
    for want, got in zip(*results):
        agree(got, want)


def test_packed_sequences_and_cells():
    torch.manual_seed(6)
    net, cell = nn.GRU(3, 4), nn.LSTMCell(3, 4)
    x = torch.randn(4, 3, 3)
    want, got = (model(nn.utils.rnn.pack_padded_sequence(x.to(d), [4, 3, 1]))[0].data
                 for model, d in ((net, "cpu"), (copy.deepcopy(net).cuda(), "cuda")))
    agree(got, want)
    for want, got in zip(cell(x[0]), copy.deepcopy(cell).cuda()(x[0].cuda())):
        agree(got, want)


@pytest.mark.parametrize("loss", [
    lambda x, y: F.mse_loss(x, y), lambda x, y: F.l1_loss(x, y), lambda x, y: F.smooth_l1_loss(x, y),
    lambda x, y: F.huber_loss(x, y), lambda x, y: F.kl_div(x.log_softmax(1), y.softmax(1), reduction="batchmean"),
    lambda x, y: F.binary_cross_entropy(x.sigmoid(), y.sigmoid()), lambda x, y: F.poisson_nll_loss(x, y),
    lambda x, y: F.binary_cross_entropy_with_logits(x, y.sigmoid()), lambda x, y: F.cosine_similarity(x, y),
    lambda x, y: F.triplet_margin_loss(x, y, x + 1), lambda x, y: F.hinge_embedding_loss(x, y.sign()),
    lambda x, y: F.margin_ranking_loss(x, y, torch.ones_like(x)), lambda x, y: F.soft_margin_loss(x, y.sign()),
    lambda x, y: F.pairwise_distance(x, y), lambda x, y: F.gaussian_nll_loss(x, y, torch.ones_like(x)),
    lambda x, y: F.cosine_embedding_loss(x, y, torch.ones(4, device=x.device)),
    lambda x, y: F.cross_entropy(x, y.softmax(1)), lambda x, y: F.cross_entropy(x, torch.tensor([0, 2, 1, 1]).to(
        x.device), label_smoothing=0.1),
    lambda x, y: F.multi_margin_loss(x, torch.tensor([0, 2, 1, 1]).to(x.device)),
    lambda x, y: F.multilabel_margin_loss(x, torch.tensor([[0, -1, 1], [2, 0, -1], [-1, 0, 0], [2, 1, 0]]).to(
        x.device)),
    lambda x, y: F.multilabel_soft_margin_loss(x, y.sigmoid()),
])
def test_losses(loss):
    torch.manual_seed(7)
    compare(loss, torch.randn(4, 3), torch.randn(4, 3))


def test_embedding_bags_and_attention():
    torch.manual_seed(8)
    words, offsets = torch.tensor([1, 2, 4, 5, 4, 3, 0, 9]), torch.tensor([0, 3, 4])
    for mode in ("sum", "mean", "max"):
        compare(lambda w, i, o: F.embedding_bag(i, w, o, mode=mode), torch.randn(10, 3), words, offsets)  # noqa: B023
    compare(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), *torch.randn(3, 2, 2, 5, 4))
    compare(lambda a, b, w: F.bilinear(a, b, w), torch.randn(3, 4), torch.randn(3, 5), torch.randn(2, 4, 5))
    layer = nn.TransformerEncoderLayer(8, 2, 16, 0.0)
    there, x = copy.deepcopy(layer).cuda(), torch.randn(5, 2, 8)
    agree(there(x.cuda()), layer(x))


@pytest.mark.parametrize("optimizer", [
    lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9), lambda p: torch.optim.SGD(p, lr=0.05, nesterov=True,
                                                                                   momentum=0.5, weight_decay=0.1),
    lambda p: torch.optim.Adam(p, lr=0.01, amsgrad=True), lambda p: torch.optim.AdamW(p, lr=0.01),
    lambda p: torch.optim.Adadelta(p), lambda p: torch.optim.Adagrad(p), lambda p: torch.optim.Adamax(p),
    lambda p: torch.optim.RMSprop(p, centered=True), lambda p: torch.optim.NAdam(p), lambda p: torch.optim.RAdam(p),
    lambda p: torch.optim.Rprop(p), lambda p: torch.optim.ASGD(p), lambda p: torch.optim.LBFGS(p, max_iter=3),
])
def test_a_convolutional_network_learns_as_on_the_cpu(optimizer):
    torch.manual_seed(9)
    net = nn.Sequential(nn.Conv2d(1, 3, 3, bias=False), nn.BatchNorm2d(3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                        nn.Linear(27, 4))
    nets, x, y = (net, copy.deepcopy(net).cuda()), torch.randn(6, 1, 8, 8), torch.tensor([0, 1, 2, 3, 0, 1])
    losses = []
    for model, device in zip(nets, ("cpu", "cuda")):
        steps = optimizer(model.parameters())
        losses.append([])

        def closure(model=model, device=device, steps=steps):
            steps.zero_grad()
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            loss.backward()
            return loss
        for _ in range(3):
            losses[-1].append(float(steps.step(closure)))
    assert losses[1] == pytest.approx(losses[0], rel=1e-3)
    for p, q in zip(nets[0].parameters(), nets[1].parameters()):
        agree(q, p, 1e-3)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_convolution_without_channels(device):
    x = torch.ones(2, 0, 5, 5, device=device, requires_grad=True)
    w = torch.ones(3, 0, 3, 3, device=device, requires_grad=True)
    y = torch.nn.functional.conv2d(x, w)
    y.sum().backward()
    assert y.shape == (2, 3, 3, 3) and not y.any()
    assert x.grad.shape == x.shape and w.grad.shape == w.shape
