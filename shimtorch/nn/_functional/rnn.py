"""Recurrent networks: one step of each kind of cell, and the scan over time of whole layers.

A layer's weights come as (w_ih, w_hh, b_ih, b_hh, w_hr); biases and the projection w_hr may be None. The gates are
stacked in w_ih and w_hh as in PyTorch: input, forget, cell, output for the LSTM; reset, update, new for the GRU.
"""

from ... import _ops
from ..._core.recurrent import takes
from ..._ops.recurrent import recurrent_layer
from .dropout import dropout
from .linear import linear


def _tanh_step(gates, hidden, weights):
    h = (gates + linear(hidden[0], weights[1], weights[3])).tanh()
    return (h,)


def _relu_step(gates, hidden, weights):
    h = (gates + linear(hidden[0], weights[1], weights[3])).relu()
    return (h,)


def _lstm_step(gates, hidden, weights):
    h, c = hidden
    i, f, g, o = (gates + linear(h, weights[1], weights[3])).chunk(4, -1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    h = o.sigmoid() * c.tanh()
    if weights[4] is not None:
        h = linear(h, weights[4])
    return h, c


def _gru_step(gates, hidden, weights):
    h = hidden[0]
    r, z, n = gates.chunk(3, -1)
    r_h, z_h, n_h = linear(h, weights[1], weights[3]).chunk(3, -1)
    r = (r + r_h).sigmoid()
    z = (z + z_h).sigmoid()
    n = (n + r * n_h).tanh()
    return ((h - n) * z + n,)


STEPS = {"RNN_TANH": _tanh_step, "RNN_RELU": _relu_step, "LSTM": _lstm_step, "GRU": _gru_step}


def cell(mode, input, hidden, weights):
    """One step: *input* (B, I), *hidden* a tuple of (B, H); returns the new hidden tuple."""
    _check_cell(input, hidden, weights[1].size(1), weights[0].size(1))
    return STEPS[mode](linear(input, weights[0], weights[2]), hidden, weights)


def _check_cell(input, hidden, hidden_size, input_size):
    if input.size(1) != input_size:
        raise RuntimeError(f"input has inconsistent input_size: got {input.size(1)} expected {input_size}")
    for i, h in enumerate(hidden):
        if h.size(0) != input.size(0):
            raise RuntimeError(f"Input batch size {input.size(0)} doesn't match hidden{i} batch size {h.size(0)}")
        if h.size(1) != hidden_size:
            raise RuntimeError(f"hidden{i} has inconsistent hidden_size: got {h.size(1)}, expected {hidden_size}")


def scan_steps(step, gates, hidden, weights, reverse):
    """All steps of equal batch size; returns the outputs in the order of time, and the last hidden tuple."""
    outputs = []
    for gate in reversed(gates) if reverse else gates:
        hidden = step(gate, hidden, weights)
        outputs.append(hidden[0])
    if reverse:
        outputs.reverse()
    return outputs, hidden


def _sequence(mode, gates, hidden, weights, reverse):
    """A layer over all steps of equal batch size: as one op where the kernels can."""
    if not takes(gates) or gates.numel() == 0:
        outputs, last = scan_steps(STEPS[mode], gates.unbind(0), hidden, weights, reverse)
        return _ops.stack(outputs), last
    weight, bias = weights[1], weights[3]
    if weight.dtype is not gates.dtype or hidden[0].dtype is not gates.dtype:
        raise RuntimeError(
            f"Input and hidden tensors are not the same dtype, found input tensor with {gates.dtype} and hidden tensor "
            f"with {hidden[0].dtype}"
        )
    if mode == "LSTM":
        output, cell = recurrent_layer(mode, gates, hidden[0], hidden[1], weight, bias, weights[4], reverse)
        return output, (output[0 if reverse else -1], cell)
    output = recurrent_layer(mode, gates, hidden[0], None, weight, bias, None, reverse)
    return output, (output[0 if reverse else -1],)


# Added to an LSTM's gates where a sequence has ended: nothing is let in, all is kept, nothing goes out.
_SHUT = 1e4


def _packed(mode, gates, batch_sizes, hidden, weights, reverse):
    """A layer over a packed batch, *gates* (total, K * H): as one over padded sequences, all of which start at step 0.

    Returns the packed outputs and the last hidden tuple.
    """
    steps, batch = len(batch_sizes), batch_sizes[0]
    lengths = [sum(size > b for size in batch_sizes) for b in range(batch)]
    # Where the packed rows lie among the padded ones; the other direction runs from each sequence's end.
    places = [
        ((lengths[b] - 1 - t) if reverse else t) * batch + b for t, size in enumerate(batch_sizes) for b in range(size)
    ]
    places = _ops.tensor(places, device=gates.device)
    ends = _ops.tensor([(length - 1) * batch + b for b, length in enumerate(lengths)], device=gates.device)
    padding = gates.new_zeros(gates.size(1))
    if mode == "LSTM":
        entry, keep, _, out = padding.chunk(4)
        entry.fill_(-_SHUT)
        keep.fill_(_SHUT)
        out.fill_(-_SHUT)
    padded = padding.repeat(steps * batch, 1).index_copy(0, places, gates).view(steps, batch, -1)
    output, last = _sequence(mode, padded, hidden, weights, False)
    rows = output.flatten(0, 1)
    return rows.index_select(0, places), (rows.index_select(0, ends), *last[1:])


def rnn(mode, input, batch_sizes, hidden, layers, directions, dropout_p, training):
    """A whole recurrent network.

    *input* is (T, B, I), or packed (total, I) with *batch_sizes* as a list; *hidden* a tuple of
    (layers * directions, B, H); *layers* the weights of every layer and direction in order. Returns the output like
    the input, and the hidden tuple.
    """
    packed = batch_sizes is not None
    last_hidden = []
    for layer in range(0, len(layers), directions):
        if layer and dropout_p:
            input = dropout(input, dropout_p, training)
        sides = []
        for direction in range(directions):
            index = layer + direction
            weights = layers[index]
            initial = tuple(h[index] for h in hidden)
            gates = linear(input, weights[0], weights[2])
            if packed:
                output, last = _packed(mode, gates, batch_sizes, initial, weights, direction == 1)
            else:
                output, last = _sequence(mode, gates, initial, weights, direction == 1)
            sides.append(output)
            last_hidden.append(last)
        input = sides[0] if directions == 1 else _ops.cat(sides, -1)
    return input, tuple(_ops.stack(parts) for parts in zip(*last_hidden, strict=True))
