"""Calls of torch.nn.functional whose values, gradients and errors are recorded from PyTorch."""

from recorded import answer, grid

CASES = """
relu(x)
relu6(x)
hardtanh(x, -0.5, 1.0)
hardtanh(x, 1.0, -1.0)
elu(x)
elu(x, 0.7)
selu(x)
celu(x, 0.7)
leaky_relu(x, 0.1)
prelu(x, w1)
prelu(x, w6)
prelu(x, w4)
rrelu(x)
glu(x)
glu(x, 0)
glu(x[0, :3])
gelu(x)
gelu(x, approximate="tanh")
silu(x)
mish(x)
hardsigmoid(x)
hardswish(x)
softplus(x)
softplus(x, 2, 1.5)
softsign(x)
softshrink(x)
hardshrink(x)
tanhshrink(x)
logsigmoid(x)
tanh(x)
sigmoid(x)
threshold(x, 0.1, 5.0)
softmax(x)
softmax(x, 0)
softmax(x, -1)
softmin(x, 1)
log_softmax(x, 1)
log_softmax(x, 1, dtype=torch.float64)
softmax(x, 5)
linear(x, weight, bias)
linear(x, weight)
linear(x[0], weight, bias)
linear(x3, weight, bias)
bilinear(x, y, w3, bias)
bilinear(x, y[:2], w3, bias)
bilinear(x[:, :2], y, w3, bias)
embedding(rows, table)
embedding(rows, table, 2)
embedding(rows, table, padding_idx=-1)
embedding(rows, table, padding_idx=12)
embedding(rows, table, scale_grad_by_freq=True)
embedding(rows, table, max_norm=1.0)
embedding_bag(rows, table)
embedding_bag(rows, table, mode="sum")
embedding_bag(rows, table, mode="max")
embedding_bag(rows, table, mode="x")
embedding_bag(rows[0], table, offsets)
embedding_bag(rows[0], table, offsets, mode="max")
embedding_bag(rows[0], table)
embedding_bag(rows, table, offsets)
embedding_bag(rows, table, mode="sum", per_sample_weights=x[:2, :3])
embedding_bag(rows, table, mode="mean", per_sample_weights=x[:2, :3])
one_hot(rows)
one_hot(rows, 9)
one_hot(rows, 2)
dropout(x, 0.0)
dropout(x, 0.3, False)
dropout(x, 1.0)
dropout(x, 1.5)
batch_norm(x, None, None, w6, y[0], True)
batch_norm(x3, mean3, var3, training=False)
batch_norm(x3, mean3, var3, mean3, var3, True, 0.3)
batch_norm(x[:1], None, None, training=True)
batch_norm(x, None, None)
instance_norm(x3)
instance_norm(x3, weight=mean3, bias=var3)
instance_norm(x3[:, :, :1])
layer_norm(x, (6,))
layer_norm(x3, (3, 6), w36, w36)
layer_norm(x, (5,))
layer_norm(x, (6,), w4)
group_norm(x, 2)
group_norm(x3, 3, mean3, var3)
group_norm(x, 4)
rms_norm(x, (6,), w6)
local_response_norm(x3, 2, 0.5)
local_response_norm(x, 2)
normalize(x)
normalize(x, 1.0, 0)
cosine_similarity(x, y)
cosine_similarity(x, y, 0)
pairwise_distance(x, y)
pairwise_distance(x, y, 1.0, keepdim=True)
l1_loss(x, y)
mse_loss(x, y)
mse_loss(x, y, reduction="none")
mse_loss(x, y, size_average=False)
mse_loss(x, y, reduce=False)
mse_loss(x, y, reduction="elementwise_mean")
mse_loss(x, y, reduction="average")
mse_loss(x, y[0])
mse_loss(x, y[:, :5])
mse_loss(x, y, weight=y.detach() ** 2)
smooth_l1_loss(x, y)
smooth_l1_loss(x, y, beta=0.3)
huber_loss(x, y, delta=0.4)
kl_div(x.log_softmax(1), y.softmax(1).detach(), reduction="batchmean")
kl_div(x.log_softmax(1), y.softmax(1).detach())
kl_div(x.log_softmax(1), y.log_softmax(1).detach(), reduction="sum", log_target=True)
poisson_nll_loss(x, counts)
poisson_nll_loss(x * x + 1, counts, log_input=False, full=True)
gaussian_nll_loss(x, y, y.detach() ** 2 + 0.1)
gaussian_nll_loss(x, y, y.detach()[:, :1] ** 2 + 0.1, full=True, reduction="sum")
gaussian_nll_loss(x, y, -y.detach() ** 2)
nll_loss(x, classes)
nll_loss(x, classes, w6.detach())
nll_loss(x, ignored)
nll_loss(x, ignored, w6.detach(), reduction="sum")
nll_loss(x, classes, reduction="none")
nll_loss(x, classes, ignore_index=2)
nll_loss(x[0], classes[0])
nll_loss(x3, places)
nll_loss(x, classes[:3])
nll_loss(x, classes + 3)
nll_loss(x, w4.detach())
nll_loss(x, classes, w4.detach())
nll_loss(x3, places[:, :2])
cross_entropy(x, classes)
cross_entropy(x, ignored, w6.detach())
cross_entropy(x, classes, label_smoothing=0.2)
cross_entropy(x, ignored, w6.detach(), label_smoothing=0.2)
cross_entropy(x, classes, label_smoothing=0.2, reduction="none")
cross_entropy(x, y.softmax(1).detach())
cross_entropy(x, y.softmax(1).detach(), w6.detach(), label_smoothing=0.2)
cross_entropy(x[0], classes[0])
cross_entropy(x3, places, reduction="sum")
cross_entropy(x, classes, label_smoothing=2.0)
binary_cross_entropy(x.sigmoid(), unit)
binary_cross_entropy(x.sigmoid(), unit.round(), y.detach() ** 2)
binary_cross_entropy(x, unit)
binary_cross_entropy(x.sigmoid(), unit[0])
binary_cross_entropy_with_logits(x, unit)
binary_cross_entropy_with_logits(x * 50, unit, y.detach() ** 2, pos_weight=unit[0])
binary_cross_entropy_with_logits(x, unit[0])
hinge_embedding_loss(x, signs)
margin_ranking_loss(x, y, signs, 0.3)
margin_ranking_loss(x, y, signs[0], 0.3)
soft_margin_loss(x, signs)
multilabel_soft_margin_loss(x, unit)
multilabel_soft_margin_loss(x, unit, w6.detach())
multi_margin_loss(x, classes)
multi_margin_loss(x, classes, 2, 0.5, w6.detach())
multi_margin_loss(x[0], classes[0])
multi_margin_loss(x, classes, p=3)
multilabel_margin_loss(x, labels)
multilabel_margin_loss(x[0], labels[0], reduction="sum")
cosine_embedding_loss(x, y, signs[:, 0], 0.1)
cosine_embedding_loss(x, y, signs, 0.1)
triplet_margin_loss(x, y, unit)
triplet_margin_loss(x, y, unit, 0.5, 1, swap=True, reduction="sum")
triplet_margin_loss(x, y, unit, -1.0)
triplet_margin_with_distance_loss(x, y, unit, distance_function=lambda a, b: (a - b).abs().sum(1))
""".strip().split("\n")


def _inputs(torch):
    def leaf(*shape, start=0):
        return grid(torch, *shape, start=start).requires_grad_()

    return {
        "x": leaf(4, 6),
        "x3": leaf(2, 3, 6, start=5),
        "y": leaf(4, 6, start=50),
        "w1": leaf(1, start=3),
        "w4": leaf(4, start=4),
        "w6": (grid(torch, 6, start=6) ** 2 + 0.1).requires_grad_(),
        "w36": leaf(3, 6, start=9),
        "w3": leaf(5, 6, 6, start=11),
        "weight": leaf(5, 6, start=20),
        "bias": leaf(5, start=30),
        "table": leaf(7, 3, start=40),
        "mean3": grid(torch, 3, start=8),
        "var3": grid(torch, 3, start=9) ** 2 + 0.1,
        "unit": grid(torch, 4, 6, start=70).sigmoid(),
        "signs": torch.tensor([[1.0, -1.0, 1.0, 1.0, -1.0, -1.0]] * 2 + [[-1.0, 1.0, 1.0, -1.0, 1.0, 1.0]] * 2),
        "counts": torch.tensor([[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]] * 4),
        "rows": torch.tensor([[1, 2, 2], [6, 0, 1]]),
        "offsets": torch.tensor([0, 2, 2]),
        "classes": torch.tensor([0, 5, 2, 3]),
        "ignored": torch.tensor([0, -100, 2, 3]),
        "places": torch.tensor([[0, 1, 2, 0, 1, 2], [2, 2, 1, 1, 0, 0]]),
        "labels": torch.tensor([[0, 3, -1, 2, 1, 1], [-1, 0, 0, 0, 0, 0], [5, 4, 3, 2, 1, 0], [2, -1, 2, -1, 1, 1]]),
    }


def run(torch, case):
    """The value of one call, and the gradients of the inputs for unequal weights of its elements."""
    inputs = _inputs(torch)

    def call():
        namespace = dict(inputs, torch=torch)
        name = case[: case.index("(")]
        namespace[name] = getattr(torch.nn.functional, name)
        out = eval(case, namespace)
        grads = {}
        if out.requires_grad:
            (out * grid(torch, *out.shape, dtype=out.dtype, start=100)).sum().backward()
            grads = {key: value.grad for key, value in inputs.items() if getattr(value, "grad", None) is not None}
        return {"value": out, "grads": grads, "mean3": inputs["mean3"], "var3": inputs["var3"]}

    return answer(call)
