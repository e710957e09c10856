"""Functions of the torch namespace that ``torch.nn.functional`` has in another form.

They take reductions and modes as numbers, and all weights of a recurrent network as one list.
"""
from ._core import OPS, TensorBase
from .nn import functional as F
from .nn._functional import conv as _conv
from .nn._functional import rnn as _rnn
from .nn._functional.sparse import _renorm_rows

_cat = OPS["torch.cat"]
_REDUCTIONS = ("none", "mean", "sum")


def _reduction(number):
    if isinstance(number, str) or number not in (0, 1, 2):
        raise TypeError(f"reduction must be 0 (none), 1 (mean) or 2 (sum), not {number!r}")
    return _REDUCTIONS[number]


# ---------------------------------------------------------------- losses

def binary_cross_entropy_with_logits(input, target, weight=None, pos_weight=None, reduction=0):
    """Cross entropy of targets in [0, 1] and the sigmoid of input."""
    return F.binary_cross_entropy_with_logits(input, target, weight, pos_weight=pos_weight,
                                              reduction=_reduction(reduction))


def cosine_embedding_loss(input1, input2, target, margin=0.0, reduction=0):
    """1 - cos of pairs that belong together, and what cos exceeds margin by of others."""
    return F.cosine_embedding_loss(input1, input2, target, margin, reduction=_reduction(reduction))


def hinge_embedding_loss(input, target, margin=1.0, reduction=0):
    """Distances of pairs that belong together, and what is missing to margin of others."""
    return F.hinge_embedding_loss(input, target, margin, reduction=_reduction(reduction))


def margin_ranking_loss(input1, input2, target, margin=0.0, reduction=0):
    """What is missing for input1 to be beyond input2 by margin, on the side that target says."""
    return F.margin_ranking_loss(input1, input2, target, margin, reduction=_reduction(reduction))


def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2.0, eps=1e-6, swap=False, reduction=0):
    """What is missing for the negative to be farther from the anchor than the positive by margin."""
    return F.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction=_reduction(reduction))


def kl_div(input, target, reduction=0, *, log_target=False):
    """The divergence of target from the distribution of the log-probabilities input."""
    return F.kl_div(input, target, reduction=_reduction(reduction), log_target=log_target)


def poisson_nll_loss(input, target, log_input, full, eps, reduction):
    """Minus the log-probability of counts under Poisson distributions."""
    return F.poisson_nll_loss(input, target, log_input, full, None, eps, None, _reduction(reduction))


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction=0, zero_infinity=False):
    """Minus the log-probability of sequences of labels, summed over their alignments."""
    return F.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, _reduction(reduction), zero_infinity)


# ---------------------------------------------------------------- normalisation

def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True):
    """Each block of the last dimensions with mean 0 and variance 1."""
    return F.layer_norm(input, normalized_shape, weight, bias, eps)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5, cudnn_enabled=True):
    """Each group of channels with mean 0 and variance 1."""
    return F.group_norm(input, num_groups, weight, bias, eps)


def batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled):
    """Each channel with mean 0 and variance 1 over the batch, or by the running statistics."""
    return F.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled):
    """Each channel of each sample with mean 0 and variance 1, or by the running statistics."""
    return F.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


def norm_except_dim(v, pow=2, dim=0):
    """The norms over all dimensions but one, which keep their places; dim -1: over all."""
    if dim == -1:
        return v.norm(pow)
    return v.norm(pow, [d for d in range(v.dim()) if d != dim], keepdim=True)


# ---------------------------------------------------------------- tables of rows, images

def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    """The rows of weight that indices name."""
    if padding_idx < 0 or padding_idx >= weight.size(0):
        padding_idx = None
    return F.embedding(indices, weight, padding_idx, None, 2.0, scale_grad_by_freq, sparse)


def embedding_bag(weight, indices, offsets, scale_grad_by_freq=False, mode=0, sparse=False, per_sample_weights=None,
                  include_last_offset=False, padding_idx=None):
    """Sums (mode 0), means (1) or maxima (2) of bags of rows; the bag of each index; sizes of bags; rows of maxima.

    With sums only the first is filled, as in PyTorch.
    """
    how = ("sum", "mean", "max")[mode]
    result = F.embedding_bag(indices, weight, offsets, None, 2.0, scale_grad_by_freq, how, sparse, per_sample_weights,
                             include_last_offset, padding_idx)
    bags = result.size(0)
    if how == "sum":
        none = indices.new_zeros(offsets.size(0))
        return result, indices.new_empty(0), none, none.clone()
    starts = offsets[:bags]
    sizes = _cat([starts[1:], starts.new_full((1,), indices.numel())]) - starts
    bag = sizes.new_ones((bags,)).cumsum(0).sub(1).repeat_interleave(sizes)
    if how == "mean":
        return result, bag, sizes, sizes.clone()
    rows = indices.new_zeros((bags, weight.size(1)))
    for i, (start, size) in enumerate(zip(starts.tolist(), sizes.tolist(), strict=True)):
        if size:
            own = indices[start:start + size]
            rows[i] = own[weight.detach()[own].argmax(0)]
    return result, bag, sizes, rows


def embedding_renorm_(weight, indices, max_norm, norm_type):
    """Scale the rows that indices name down to a norm of at most max_norm, in place."""
    _renorm_rows(weight, indices, max_norm, norm_type)
    return weight


def affine_grid_generator(theta, size, align_corners):
    """The places that affine maps send the pixels of an image of a size to."""
    return F.affine_grid(theta, size, bool(align_corners))


def adaptive_max_pool1d(input, output_size):
    """The maxima of output_size stretches of the last dimension, and where they are."""
    return F.adaptive_max_pool1d_with_indices(input, output_size)


def channel_shuffle(input, groups):
    """Channels of a number of groups in turn."""
    return F.channel_shuffle(input, groups)


native_channel_shuffle = channel_shuffle


def rms_norm(input, normalized_shape, weight=None, eps=None):
    """Each block of the last dimensions with root mean square 1."""
    return F.rms_norm(input, normalized_shape, weight, eps)


# ---------------------------------------------------------------- convolutions

def convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    """A convolution of as many dimensions as the weight has beyond two, or a transposed one."""
    n = weight.dim() - 2
    if not 1 <= n <= 3:
        raise RuntimeError(f"Expected 3D, 4D or 5D weight, but got weight of size {list(weight.shape)}")
    if transposed:
        f = (_conv.conv_transpose1d, _conv.conv_transpose2d, _conv.conv_transpose3d)[n - 1]
        return f(input, weight, bias, stride, padding, output_padding, groups, dilation)
    return (_conv.conv1d, _conv.conv2d, _conv.conv3d)[n - 1](input, weight, bias, stride, padding, dilation, groups)


def conv_tbc(input, weight, bias, pad=0):
    """A convolution of (time, batch, channels) with a weight of (width, channels, channels of the result)."""
    if input.dim() != 3 or weight.dim() != 3:
        raise RuntimeError("Input and weight must have 3 dims: time, batch, in_channel" if input.dim() != 3 else
                           "Weight tensor must have 3 dims: kernel_width, in_channels, out_channels.")
    return _conv.conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad).permute(2, 0, 1)


# ---------------------------------------------------------------- recurrent networks

def _network(mode):
    def run(input, *args, **kwargs):
        """The output, and the last hidden state(s), of a recurrent network given by the list of its weights.

        ``(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)``, or of packed
        sequences ``(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional)``.
        """
        if len(args) + len(kwargs) != 8:
            raise TypeError(f"{run.__name__}() takes 9 arguments but {len(args) + len(kwargs) + 1} were given")
        names = ("hx", "params", "has_biases", "num_layers", "dropout", "train", "bidirectional", "batch_first")
        packed = "batch_sizes" in kwargs or bool(args) and isinstance(args[0], TensorBase) and (
            len(args) > 2 and not isinstance(args[2], bool))
        values = dict(zip(("batch_sizes", *names[:-1]) if packed else names, args)) | kwargs
        hx = values["hx"]
        hidden = tuple(hx) if isinstance(hx, (tuple, list)) else (hx,)
        sides = 2 if values["bidirectional"] else 1
        layers = _layers(list(values["params"]), values["has_biases"], values["num_layers"] * sides)
        swapped = values.get("batch_first", False)
        sizes = values["batch_sizes"].tolist() if packed else None
        output, last = _rnn.rnn(mode, input.transpose(0, 1) if swapped else input, sizes, hidden, layers, sides,
                                values["dropout"], values["train"])
        return (output.transpose(0, 1) if swapped else output, *last)
    run.__name__ = run.__qualname__ = mode.lower()
    return run


def _layers(params, has_biases, n):
    """The weights (w_ih, w_hh, b_ih, b_hh, w_hr) of n layers in a flat list, where only some are given."""
    each, rest = divmod(len(params), n)
    if rest or each not in ((4, 5) if has_biases else (2, 3)):
        raise RuntimeError(f"got an incorrect number of RNN parameters: {len(params)} for {n} layers and directions")
    layers = []
    for i in range(0, len(params), each):
        own = params[i:i + each]
        biases, projection = (own[2:4], own[4:]) if has_biases else ([None, None], own[2:])
        layers.append((own[0], own[1], *biases, projection[0] if projection else None))
    return layers


def _cell(mode):
    def cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
        """One step of a recurrent network: the new hidden state (of an LSTM the two of them)."""
        hidden = tuple(hx) if isinstance(hx, (tuple, list)) else (hx,)
        result = _rnn.cell(mode, input, hidden, (w_ih, w_hh, b_ih, b_hh, None))
        return result if len(result) > 1 else result[0]
    cell.__name__ = cell.__qualname__ = mode.lower() + "_cell"
    return cell


lstm, gru, rnn_tanh, rnn_relu = map(_network, ("LSTM", "GRU", "RNN_TANH", "RNN_RELU"))
lstm_cell, gru_cell, rnn_tanh_cell, rnn_relu_cell = map(_cell, ("LSTM", "GRU", "RNN_TANH", "RNN_RELU"))


# ---------------------------------------------------------------- what a tensor is

def get_device(input):
    """The index of a tensor's CUDA device, -1 on the CPU."""
    return input.get_device()


def is_signed(input):
    """Whether a tensor's dtype can hold negative numbers."""
    return input.is_signed()


def is_conj(input):
    """Whether a tensor's conjugation was put off: never, here."""
    return input.is_conj()


def is_neg(input):
    """Whether a tensor's negation was put off: never, here."""
    return input.is_neg()


def is_inference(input):
    """Whether a tensor was made in inference mode."""
    return input.is_inference()


def is_distributed(input):
    """Whether a tensor lies on several machines: never."""
    return input.is_distributed()


def detach_(input):
    """Cut a tensor from the graph, in place."""
    return input.detach_()


def pin_memory(input):
    """A copy of a tensor in memory that a device can read."""
    return input.pin_memory()
