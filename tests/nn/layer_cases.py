"""Layers whose repr, state, initial values, outputs and gradients are recorded from PyTorch."""

from recorded import answer, digest, grid

CASES = """
Identity() : x
Linear(6, 3) : x
Linear(6, 3, bias=False) : x
Linear(6, 3, dtype=torch.float64) :
Bilinear(6, 6, 2) : x, x
Embedding(7, 3) : rows
Embedding(7, 3, padding_idx=-2, max_norm=2.0, norm_type=1.0, scale_grad_by_freq=True, sparse=True) : rows
EmbeddingBag(7, 3, mode="sum", padding_idx=2) : rows
EmbeddingBag(7, 3, max_norm=1.5) : rows
ReLU(True) :
ReLU6() : x
Threshold(0.1, 20.0) : x
RReLU(0.1, 0.3) : x
Hardtanh(-2, 2) : x
ELU(0.5) : x
CELU() : x
LeakyReLU(0.2, True) :
PReLU() : x
PReLU(6, 0.1) : x
GLU() : x
GELU("tanh") : x
Hardshrink() : x
Softshrink(1) : x
Softplus(2, 10) : x
Softmin(dim=1) : x
Softmax(dim=-1) : x
Softmax2d() : image
LogSoftmax(dim=0) : x
Tanh() : x
LogSigmoid() : x
Dropout(0.2) : x
Dropout1d(0.3) : x3
Dropout2d(0.3) : image
Dropout3d(0.3) : volume
AlphaDropout(0.2) : x
FeatureAlphaDropout(0.2) : image
Dropout(2) :
BatchNorm1d(6) : x
BatchNorm1d(3, momentum=None) : x3
BatchNorm1d(6, affine=False, track_running_stats=False) : x
BatchNorm1d(6) : image
BatchNorm2d(2, eps=0.1, bias=False) : image
BatchNorm3d(2) : volume
InstanceNorm1d(3) : x3
InstanceNorm2d(2, affine=True, track_running_stats=True) : image
InstanceNorm2d(3, affine=True) : image
SyncBatchNorm(2) :
LayerNorm(6) : x
LayerNorm([3, 6], bias=False) : x3
GroupNorm(2, 6) : x
GroupNorm(4, 6) :
RMSNorm(6) : x
LocalResponseNorm(2) : image
Flatten() : image
Unflatten(1, (2, 3)) : x
CosineSimilarity() : x, x
PairwiseDistance() : x, x
RNN(6, 3) : x3
RNN(6, 3, 2, "relu", bidirectional=True) : x3
LSTM(6, 3) : x3
LSTM(6, 4, 2, batch_first=True, dropout=0.25, bidirectional=True, proj_size=2) : x3
LSTM(6, 3, bias=False) : x
GRU(6, 3) : x3
GRU(6, 3, 2, batch_first=True, bidirectional=True) : x3
GRU(6, 3) : x3.double()
GRU(5, 3) : x3
RNNCell(6, 3) : x
RNNCell(6, 3, nonlinearity="relu", bias=False) : x
LSTMCell(6, 3) : x
GRUCell(6, 3) : x
GRUCell(6, 3) : x3
Conv1d(3, 4, 3) : x3
Conv1d(3, 4, 3, padding=1, padding_mode="circular", bias=False) : x3
Conv2d(2, 4, (1, 2), stride=(2, 1), padding="same") :
Conv2d(2, 4, (1, 2), padding="same", groups=2) : image
Conv2d(2, 3, 2, padding=1, dilation=2, padding_mode="reflect") :
Conv2d(2, 3, 2, groups=2) :
Conv3d(2, 1, (1, 2, 2)) : volume
ConvTranspose1d(3, 2, 3, stride=2) : x3
ConvTranspose2d(2, 4, 2, stride=2, padding=1, output_padding=1) : image
ConvTranspose2d(2, 4, 2, padding_mode="reflect") :
MaxPool1d(2) : x3
MaxPool2d(2, ceil_mode=True) : image
AvgPool1d(3, 2, 1) : x3
AvgPool2d((1, 2), stride=1) : image
LPPool2d(2, 2) :
AdaptiveAvgPool2d((1, None)) : image
AdaptiveMaxPool1d(3) : x3
ReflectionPad2d(1) : image
ReplicationPad1d((2, 1)) : x3
ConstantPad2d((1, 0, 2, 1), 3.5) : image
ZeroPad2d(1) : image
CircularPad3d(1) :
PixelShuffle(2) :
ChannelShuffle(2) : image
Upsample(scale_factor=2, mode="bilinear") : image
Upsample((3, 4)) : image
UpsamplingBilinear2d(scale_factor=2) : image
UpsamplingNearest2d(size=(3, 3)) : image
Fold((3, 4), 2) :
Unfold(2, stride=2) : image.repeat(1, 1, 1, 2)
L1Loss(reduction="sum") : x, x * 2
CrossEntropyLoss(label_smoothing=0.1) : x, classes
BCEWithLogitsLoss(pos_weight=torch.ones(6)) : x, x.sigmoid().detach()
MultiMarginLoss(margin=0.5) : x, classes
TripletMarginLoss(swap=True) : x, x * 2, x * 3
GaussianNLLLoss(full=True) : x, x * 2, (x * x).detach() + 1
Sequential(nn.Linear(6, 4), nn.Tanh(), nn.Sequential(nn.Linear(4, 2), nn.ReLU())) : x
ModuleList([nn.Linear(2, 2), nn.Linear(2, 2), nn.Tanh(), nn.Linear(3, 2)]) :
ModuleDict({"a": nn.Tanh(), "b": nn.Linear(1, 1)}) :
ParameterList([torch.zeros(2), nn.Parameter(torch.ones(1, 3)), "text"]) :
ParameterDict({"b": torch.zeros(2), "a": nn.Parameter(torch.ones(1, 3))}) :
DataParallel(nn.Linear(6, 2)) : x
""".strip().split("\n")


def _sum_of(torch, out):
    """A number that depends on every element of a nested result, each in its own measure."""
    if isinstance(out, (tuple, list)):
        return sum(_sum_of(torch, o) for o in out)
    return (out * grid(torch, *out.shape, dtype=out.dtype, start=100)).sum()


def run(torch, case):
    """A layer made from seed 3, and called once in training and once in evaluation mode."""
    nn = torch.nn
    source, _, inputs = case.partition(" : ")
    source = source.rstrip(" :")

    def call():
        torch.manual_seed(3)
        namespace = {name: getattr(nn, name) for name in [source[: source.index("(")]]}
        layer = eval(source, dict(namespace, torch=torch, nn=nn))
        state = layer.state_dict()
        result = {
            "repr": repr(layer),
            "state": [[k, str(v.dtype), digest(v)] if hasattr(v, "dtype") else [k, v] for k, v in state.items()],
            "metadata": state._metadata,
            "constants": list(getattr(layer, "__constants__", [])),
        }
        if inputs:
            values = {
                "x": grid(torch, 4, 6).requires_grad_(),
                "x3": grid(torch, 2, 3, 6, start=5).requires_grad_(),
                "image": grid(torch, 2, 2, 2, 3, start=7).requires_grad_(),
                "volume": grid(torch, 2, 2, 1, 2, 2, start=9).requires_grad_(),
                "rows": torch.tensor([[1, 2, 2], [6, 0, 1]]),
                "classes": torch.tensor([0, 5, 2, 3]),
            }
            args = eval(f"({inputs},)", dict(values, torch=torch))
            out = layer(*args)
            _sum_of(torch, out).backward()
            result["out"] = out
            result["grads"] = {k: p.grad for k, p in layer.named_parameters()}
            result["input grads"] = {k: v.grad for k, v in values.items() if v.grad is not None}
            result["buffers"] = dict(layer.named_buffers())
            result["evaluated"] = layer.eval()(*args)
            result["next draw"] = torch.rand(1).item()
        return result

    return answer(call)
